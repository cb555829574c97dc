//! Kernels by operation, element type and level. Holds unsafe code.

use indim_ops::{
    Binary, ConvertTo, ConvertVisitor, DType, Element, Fold, FoldVisitor, FromWide, NarrowElement,
    Op, OpVisitor, ReduceOp, Ternary, Unary, bf16, f16, for_each_widening, operations,
    visit_convert,
};

use super::block::{BinaryBody, Body, ConvertBody, KernelFn, TernaryBody, UnaryBody};
use super::fold::{FoldBody, FoldFn, Narrow, Read, Same};
#[cfg(target_arch = "x86_64")]
use super::instructions::Avx2;
use super::instructions::Baseline;
use super::row_fold::{RowBody, RowFoldFn};
use super::search::{SearchBody, SearchFunctions, functions};
use super::shells::Shells;
use super::signs::{compiled, compiled_conversion, is_compiled, is_conversion_compiled};
use super::strided::{Every, StridedCopyFn};
use super::widened::{WidenedBinary, WidenedTernary, WidenedUnary, Widening, widened_kernel};
#[cfg(target_arch = "x86_64")]
use crate::level::Kind;
use crate::level::Level;

/// An expression of the shells `S` of the level.
macro_rules! at_level {
    ($level:expr, $shells:ident => $expression:expr) => {
        match $level.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 | Kind::Avx512 => {
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

/// The kernel of `op` whose last operand has elements of type `dtype`; `None` where the operation
/// does not take the type.
pub fn elementwise_kernel(op: Op, dtype: DType, level: Level) -> Option<KernelFn> {
    op.visit(compiled(op, dtype), Lookup { level })
}

/// The kernel that converts elements.
pub fn convert_kernel(from: DType, to: DType, level: Level) -> KernelFn {
    let (from, to) = compiled_conversion(from, to);
    visit_convert(from, to, Lookup { level })
}

/// The kernel that copies elements as wide as those of type `dtype`; the same at every level.
pub fn bitcast_kernel(dtype: DType) -> KernelFn {
    match dtype.size() {
        1 => copy::<1>,
        2 => copy::<2>,
        4 => copy::<4>,
        8 => copy::<8>,
        _ => copy::<16>,
    }
}

/// # Safety
/// Like [`KernelFn`], for operands and results of `SIZE` bytes.
unsafe fn copy<const SIZE: usize>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise; they do not overlap.
    unsafe { core::ptr::copy_nonoverlapping(sources[0], destination, count * SIZE) }
}

/// The fold of `op` over accumulators of type `dtype` that reads elements of type `source`: the same type,
/// or a narrower one.
pub fn fold_function(op: ReduceOp, source: DType, dtype: DType, level: Level) -> FoldFn {
    let lookup = FoldLookup { level };
    let found = match source == dtype {
        true => op.visit(compiled(op.operation(), dtype), lookup),
        false => lookup.widening(source, dtype),
    };
    found.expect("invariant: lowering admits only what folds take")
}

struct FoldLookup {
    level: Level,
}

impl FoldLookup {
    /// The sum of widened elements.
    fn widening(self, source: DType, dtype: DType) -> Option<FoldFn> {
        macro_rules! find {
            ($($narrow:ident $lane:ident $wide:ident;)*) => {
                $(if source == $narrow::DTYPE && dtype == $wide::DTYPE {
                    return Some(self.of::<operations::Add, Narrow<$narrow>, $wide>());
                })*
            };
        }
        for_each_widening!(find);
        None
    }

    fn of<F: Fold<T>, R: Read<T> + 'static, T: Element>(self) -> FoldFn {
        at_level!(self.level, S => S::fold::<FoldBody<F, R, T>>())
    }
}

impl FoldVisitor for FoldLookup {
    type Output = FoldFn;

    fn fold<F: Fold<T>, T: Element>(self) -> FoldFn {
        match const { is_compiled(F::OP, T::DTYPE) } {
            true => self.of::<F, Same, T>(),
            false => unreachable!("{NOT_COMPILED}"),
        }
    }
}

/// Like [`fold_function`], for whole rows: sums and the most frequent other reductions. Each takes long to
/// compile; `None` for the rest, which other functions fold, if more slowly.
pub fn row_fold_function(
    op: ReduceOp,
    source: DType,
    dtype: DType,
    level: Level,
) -> Option<RowFoldFn> {
    let is_widened = source != dtype;
    let dtype = if is_widened { dtype } else { compiled(op.operation(), dtype) };
    let source = if is_widened { source } else { dtype };
    macro_rules! find {
        ($($fold:ident $read:ty, $lanes:ty, $source:ident $element:ident;)*) => {
            $(if op == ReduceOp::$fold && source == $source::DTYPE && dtype == $element::DTYPE {
                type Row = RowBody<operations::$fold, $read, $lanes, $element>;
                return Some(at_level!(level, S => S::fold::<Row>()));
            })*
        };
    }
    macro_rules! read_lane {
        (f64) => { Same };
        (i64) => { Same };
        (u64) => { Same };
        ($lane:ident) => { Narrow<$lane> };
    }
    macro_rules! find_sum_of_widened {
        ($($narrow:ident $lane:ident $wide:ident;)*) => {
            find! { $(Add Narrow<$narrow>, read_lane!($lane), $narrow $wide;)* }
        };
    }
    for_each_widening!(find_sum_of_widened);
    find! {
        Add Same, Same, f64 f64;
        Add Same, Same, u64 u64;
        Max Same, Same, f32 f32;
        Max Same, Same, f64 f64;
        Min Same, Same, f32 f32;
        Min Same, Same, f64 f64;
        And Same, Same, bool bool;
        Or Same, Same, bool bool;
    }
    None
}

/// The functions of the arg-reduction `op` for elements of type `dtype`; `None` if it does not take the
/// type.
pub fn search_functions(op: ReduceOp, dtype: DType, level: Level) -> Option<SearchFunctions> {
    macro_rules! find {
        ($($element:ident)*) => {
            $(if dtype == $element::DTYPE {
                return match op {
                    ReduceOp::ArgMax => {
                        let take = at_level!(level, S => S::search::<SearchBody<true, $element>>());
                        Some(functions::<operations::Max, $element>(take))
                    }
                    ReduceOp::ArgMin => {
                        let take = at_level!(level, S => S::search::<SearchBody<false, $element>>());
                        Some(functions::<operations::Min, $element>(take))
                    }
                    _ => None,
                };
            })*
        };
    }
    find! { bool f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 }
    None
}

/// The copy of `size`-byte elements at a stride of `stride` elements; `None` if a loop over any stride is
/// as fast.
pub fn strided_copy_function(size: usize, stride: usize, level: Level) -> Option<StridedCopyFn> {
    fn at<S: Shells>(size: usize, stride: usize) -> Option<StridedCopyFn> {
        Some(match (size, stride) {
            // With the baseline of x86-64 permutations of bytes take longer than single loads.
            _ if S::IS_LAST_RESORT => return None,
            (1, 2) => S::strided_copy::<Every<u8, 2>>(),
            (1, 3) => S::strided_copy::<Every<u8, 3>>(),
            (1, 4) => S::strided_copy::<Every<u8, 4>>(),
            (2, 2) => S::strided_copy::<Every<u16, 2>>(),
            (2, 3) => S::strided_copy::<Every<u16, 3>>(),
            (2, 4) => S::strided_copy::<Every<u16, 4>>(),
            (4, 2) => S::strided_copy::<Every<u32, 2>>(),
            (4, 3) => S::strided_copy::<Every<u32, 3>>(),
            (4, 4) => S::strided_copy::<Every<u32, 4>>(),
            (8, 2) => S::strided_copy::<Every<u64, 2>>(),
            _ => return None,
        })
    }
    at_level!(level, S => at::<S>(size, stride))
}

/// Reason why operations without kernels are unreachable.
const NOT_COMPILED: &str = "invariant: what is compiled instead is looked up";

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
        match const { is_compiled(O::OP, T::DTYPE) } {
            true => self.kernel::<UnaryBody<O, T>>(),
            false => unreachable!("{NOT_COMPILED}"),
        }
    }

    fn binary<O: Binary<T> + 'static, T: Element>(self) -> KernelFn {
        match const { is_compiled(O::OP, T::DTYPE) } {
            true => self.kernel::<BinaryBody<O, T>>(),
            false => unreachable!("{NOT_COMPILED}"),
        }
    }

    fn ternary<O: Ternary<T> + 'static, T: Element>(self) -> KernelFn {
        match const { is_compiled(O::OP, T::DTYPE) } {
            true => self.kernel::<TernaryBody<O, T>>(),
            false => unreachable!("{NOT_COMPILED}"),
        }
    }

    fn widened_unary<O, T>(self) -> KernelFn
    where
        O: Unary<T, Result: FromWide<<O as Unary<T::Wide>>::Result>> + Unary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.widened::<WidenedUnary<O, T>>()
    }

    fn widened_binary<O, T>(self) -> KernelFn
    where
        O: Binary<T, Result: FromWide<<O as Binary<T::Wide>>::Result>> + Binary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.widened::<WidenedBinary<O, T>>()
    }

    fn widened_ternary<O, T>(self) -> KernelFn
    where
        O: Ternary<T, Result: FromWide<<O as Ternary<T::Wide>>::Result>>
            + Ternary<T::Wide>
            + 'static,
        T: NarrowElement,
    {
        self.widened::<WidenedTernary<O, T>>()
    }
}

impl ConvertVisitor for Lookup {
    type Output = KernelFn;

    fn convert<A: ConvertTo<B>, B: Element>(self) -> KernelFn {
        match const { is_conversion_compiled(A::DTYPE, B::DTYPE) } {
            true => self.kernel::<ConvertBody<A, B>>(),
            false => unreachable!("{NOT_COMPILED}"),
        }
    }
}
