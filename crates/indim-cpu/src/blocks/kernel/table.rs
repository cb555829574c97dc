//! Kernels by operation, element type and level. Holds unsafe code.

use indim_ops::{
    Binary, ConvertTo, ConvertVisitor, DType, Element, FromWide, Op, OpVisitor, Ternary, Unary,
    Widened, visit_convert,
};

use super::block::{BinaryBody, Body, ConvertBody, KernelFn, TernaryBody, UnaryBody};
use super::instructions::Baseline;
#[cfg(target_arch = "x86_64")]
use super::instructions::{Avx2, Avx512};
use super::shells::Shells;
use super::widened::{WidenedBinary, WidenedTernary, WidenedUnary, Widening, widened_kernel};
use crate::blocks::chain::links::chain_function;
use crate::blocks::chain::pieces::ChainFn;
#[cfg(target_arch = "x86_64")]
use crate::level::Kind;
use crate::level::Level;

/// An expression of the shells `S` of the level.
macro_rules! at_level {
    ($level:expr, $shells:ident => $expression:expr) => {
        match $level.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => {
                type $shells = Avx512;
                $expression
            }
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => {
                type $shells = Avx2;
                $expression
            }
            _ => {
                type $shells = Baseline;
                $expression
            }
        }
    };
}

pub(super) use at_level;

/// The kernel of `op` whose last operand has elements of type `dtype`; `None` where the operation
/// does not take the type.
pub fn elementwise_kernel(op: Op, dtype: DType, level: Level) -> Option<KernelFn> {
    op.visit(dtype, Lookup { level })
}

/// The kernel that converts elements.
pub fn convert_kernel(from: DType, to: DType, level: Level) -> KernelFn {
    visit_convert(from, to, Lookup { level })
}

/// The chains of elements of type `dtype`; `None` where the type has none.
pub(crate) fn chain_kernel(dtype: DType, level: Level) -> Option<ChainFn> {
    at_level!(level, S => chain_function::<S>(dtype))
}

/// The kernel that copies elements as wide as those of type `dtype`; the same at every level.
pub(crate) fn bitcast_kernel(dtype: DType) -> KernelFn {
    match dtype.size() {
        1 => copy::<1>,
        2 => copy::<2>,
        4 => copy::<4>,
        8 => copy::<8>,
        _ => copy::<16>,
    }
}

/// # Safety
/// As [`KernelFn`], for operands and results of `SIZE` bytes.
unsafe fn copy<const SIZE: usize>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise; they do not overlap.
    unsafe { core::ptr::copy_nonoverlapping(sources[0], destination, count * SIZE) }
}

struct Lookup {
    level: Level,
}

impl Lookup {
    fn kernel<B: Body>(self) -> KernelFn {
        at_level!(self.level, S => S::kernel::<B>())
    }

    fn widened<W: Widening>(self) -> KernelFn {
        at_level!(self.level, S => widened_kernel::<S, W>)
    }
}

impl OpVisitor for Lookup {
    type Output = KernelFn;

    fn unary<O: Unary<T> + 'static, T: Element>(self) -> KernelFn {
        self.kernel::<UnaryBody<O, T>>()
    }

    fn binary<O: Binary<T> + 'static, T: Element>(self) -> KernelFn {
        self.kernel::<BinaryBody<O, T>>()
    }

    fn ternary<O: Ternary<T> + 'static, T: Element>(self) -> KernelFn {
        self.kernel::<TernaryBody<O, T>>()
    }

    fn widened_unary<O, T>(self) -> KernelFn
    where
        O: Unary<T, Result: FromWide<<O as Unary<T::Wide>>::Result>> + Unary<T::Wide> + 'static,
        T: Widened,
    {
        self.widened::<WidenedUnary<O, T>>()
    }

    fn widened_binary<O, T>(self) -> KernelFn
    where
        O: Binary<T, Result: FromWide<<O as Binary<T::Wide>>::Result>> + Binary<T::Wide> + 'static,
        T: Widened,
    {
        self.widened::<WidenedBinary<O, T>>()
    }

    fn widened_ternary<O, T>(self) -> KernelFn
    where
        O: Ternary<T, Result: FromWide<<O as Ternary<T::Wide>>::Result>>
            + Ternary<T::Wide>
            + 'static,
        T: Widened,
    {
        self.widened::<WidenedTernary<O, T>>()
    }
}

impl ConvertVisitor for Lookup {
    type Output = KernelFn;

    fn convert<A: ConvertTo<B>, B: Element>(self) -> KernelFn {
        self.kernel::<ConvertBody<A, B>>()
    }
}
