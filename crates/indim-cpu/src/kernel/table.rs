//! Kernels by operation, element type and level. Holds unsafe code.
//!
//! The shells are the only functions with `#[target_feature]`; each is a body of `block.rs`
//! compiled for one level.

use indim_graph::{
    Binary, ConvertTo, ConvertVisitor, DType, Element, FromWide, Op, OpVisitor, Ternary, Unary,
    Widened, visit_convert,
};

use super::KernelFn;
use super::block::{BinaryBody, Body, ConvertBody, TernaryBody, UnaryBody};
use super::chain::{ChainBody, ChainFn, ChainVisitor, Link, Rows};
use super::chain_links::visit_chain;
use super::instructions::Baseline;
#[cfg(target_arch = "x86_64")]
use super::instructions::{Avx2, Avx512};
use super::widened::{
    Shells, WidenedBinary, WidenedTernary, WidenedUnary, Widening, widened_kernel,
};
use crate::level::{Kind, Level};

/// The kernel of `op` whose last operand has elements of type `dtype`; `None` where the operation
/// does not take the type.
pub fn elementwise_kernel(op: Op, dtype: DType, level: Level) -> Option<KernelFn> {
    op.visit(dtype, Lookup { level })
}

/// The kernel that converts elements; `None` where a type is not evaluated.
pub fn convert_kernel(from: DType, to: DType, level: Level) -> Option<KernelFn> {
    visit_convert(from, to, Lookup { level })
}

/// The chains of elements of type `dtype`; `None` where the type has none.
pub(crate) fn chain_kernel(dtype: DType, level: Level) -> Option<ChainFn> {
    visit_chain(dtype, Lookup { level })
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
    fn shell<B: Body>(self) -> KernelFn {
        match self.level.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => Avx512::shell::<B>(),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => Avx2::shell::<B>(),
            _ => Baseline::shell::<B>(),
        }
    }

    fn widened<W: Widening>(self) -> KernelFn {
        match self.level.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => widened_kernel::<Avx512, W>,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => widened_kernel::<Avx2, W>,
            _ => widened_kernel::<Baseline, W>,
        }
    }
}

impl Shells for Baseline {
    fn shell<B: Body>() -> KernelFn {
        baseline::<B>
    }
}

#[cfg(target_arch = "x86_64")]
impl Shells for Avx2 {
    fn shell<B: Body>() -> KernelFn {
        avx2::<B>
    }
}

#[cfg(target_arch = "x86_64")]
impl Shells for Avx512 {
    fn shell<B: Body>() -> KernelFn {
        avx512::<B>
    }
}

impl OpVisitor for Lookup {
    type Output = KernelFn;

    fn unary<O: Unary<T> + 'static, T: Element>(self) -> KernelFn {
        self.shell::<UnaryBody<O, T>>()
    }

    fn binary<O: Binary<T> + 'static, T: Element>(self) -> KernelFn {
        self.shell::<BinaryBody<O, T>>()
    }

    fn ternary<O: Ternary<T> + 'static, T: Element>(self) -> KernelFn {
        self.shell::<TernaryBody<O, T>>()
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
        self.shell::<ConvertBody<A, B>>()
    }
}

impl ChainVisitor for Lookup {
    fn chain<B: ChainBody>(self) -> ChainFn {
        match self.level.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => avx512_chain::<B>,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => avx2_chain::<B>,
            _ => baseline_chain::<B>,
        }
    }
}

/// # Safety
/// As [`KernelFn`].
unsafe fn baseline<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Baseline>(destination, sources, count) }
}

/// # Safety
/// As [`KernelFn`]; the processor has AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx2>(destination, sources, count) }
}

/// # Safety
/// As [`KernelFn`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn avx512<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx512>(destination, sources, count) }
}

/// # Safety
/// As [`ChainFn`].
unsafe fn baseline_chain<B: ChainBody>(destination: *mut u8, links: &mut [Link], rows: Rows) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Baseline>(destination, links, rows) }
}

/// # Safety
/// As [`ChainFn`]; the processor has AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2_chain<B: ChainBody>(destination: *mut u8, links: &mut [Link], rows: Rows) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx2>(destination, links, rows) }
}

/// # Safety
/// As [`ChainFn`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn avx512_chain<B: ChainBody>(destination: *mut u8, links: &mut [Link], rows: Rows) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx512>(destination, links, rows) }
}
