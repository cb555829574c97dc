//! Kernels by operation, element type and level. Holds unsafe code.

#[cfg(target_arch = "x86_64")]
use indim_ops::InstructionSet;
use indim_ops::{
    Binary, ConvertTo, ConvertVisitor, DType, Element, Fold, FoldVisitor, FromWide, Level,
    NarrowElement, Op, OpVisitor, ReduceOp, Ternary, Unary, bf16, f16, for_each_widening,
    operations, visit_convert,
};

use super::arg_reduce::{ArgReduceBody, ArgReduceFunctions, functions};
use super::block::{BinaryBody, ConvertBody, KernelBody, KernelFn, TernaryBody, UnaryBody};
use super::fold::{Accumulator, FoldBody, FoldFn, FoldRows, FromNarrow, LoadOperand, SameType};
#[cfg(target_arch = "x86_64")]
use super::instructions::Avx2;
use super::instructions::Baseline;
use super::row_fold::{RowBody, RowFoldFn};
#[cfg(target_arch = "x86_64")]
use super::shells::Avx512;
use super::shells::{Shells, SortShells};
use super::signs::{is_compiled, is_conversion_compiled, kernel_conversion, kernel_dtype};
use super::sort_columns::{ColumnOrder, ColumnRow, NetworkBody, SortColumnsFn};
use super::strided::{ConstantStride, StridedCopyFn};
use super::widened::{WidenedBinary, WidenedTernary, WidenedUnary, Widening, widened_kernel};

/// Evaluates `$expression` with `$shells` as the type of the level's shells. The level of AVX-512 has
/// those of AVX2.
macro_rules! at_level {
    ($level:expr, $shells:ident => $expression:expr) => {
        match $level.instruction_set() {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 | InstructionSet::Avx512 => {
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

/// The kernel of `op` whose last operand has elements of type `dtype`; `None` if the operation does not take
/// the type.
pub fn elementwise_kernel(op: Op, dtype: DType, level: Level) -> Option<KernelFn> {
    op.visit(kernel_dtype(op, dtype), Lookup { level })
}

/// The kernel that converts elements.
///
/// # Panics
/// If the conversion is composed of two ([`indim_ops::conversion_through`]).
pub fn convert_kernel(from: DType, to: DType, level: Level) -> KernelFn {
    let (from, to) = kernel_conversion(from, to);
    visit_convert(from, to, Lookup { level })
}

/// The kernel that copies elements as wide as `dtype`, the same at every level.
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
    // SAFETY: the caller ensures `count` readable and writable elements of `SIZE` bytes, without overlap.
    unsafe { core::ptr::copy_nonoverlapping(sources[0], destination, count * SIZE) }
}

/// The fold of `op` from elements of type `source` into accumulators of type `dtype`, which is the same or a
/// wider type.
pub fn fold_function(op: ReduceOp, source: DType, dtype: DType, level: Level) -> FoldFn {
    let lookup = FoldLookup { level };
    let found = match source == dtype {
        true if is_half(dtype) => lookup.extreme_of_halves(op, dtype),
        true => op.visit(kernel_dtype(op.operation(), dtype), lookup),
        false => lookup.widening(source, dtype),
    };
    found.expect("invariant: lowering admits only element types of folds")
}

/// Looks up the fold of an operation and element type for a level.
struct FoldLookup {
    level: Level,
}

const fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16)
}

impl FoldLookup {
    /// The fold to an extreme of 16-bit floats; `None` for any other fold, because none takes this type.
    fn extreme_of_halves(self, op: ReduceOp, dtype: DType) -> Option<FoldFn> {
        macro_rules! find {
            ($($op:ident)*) => {
                match (op, dtype) {
                    $((ReduceOp::$op, DType::F16) => self.half::<operations::$op, f16>(),
                    (ReduceOp::$op, _) => self.half::<operations::$op, bf16>(),)*
                    _ => return None,
                }
            };
        }
        Some(find!(Max Min Fmax Fmin))
    }

    /// The fold `F` of elements of the 16-bit float type `A`, computed in `f32`.
    fn half<F: Fold<f32>, A>(self) -> FoldFn
    where
        FromNarrow<A>: LoadOperand<f32> + Accumulator<f32>,
        A: 'static,
    {
        type Half<F, A> = FoldBody<F, FromNarrow<A>, f32, FromNarrow<A>>;
        at_level!(self.level, S => S::fold::<Half<F, A>>())
    }

    /// The sum of widened elements; `None` if `dtype` does not widen `source`.
    fn widening(self, source: DType, dtype: DType) -> Option<FoldFn> {
        macro_rules! find {
            ($($narrow:ident $lane:ident $wide:ident;)*) => {
                $(if source == $narrow::DTYPE && dtype == $wide::DTYPE {
                    return Some(self.of::<operations::Add, FromNarrow<$narrow>, $wide>());
                })*
            };
        }
        for_each_widening!(find);
        None
    }

    /// The fold `F` in type `T` of operands that `R` reads.
    fn of<F: Fold<T>, R: LoadOperand<T> + 'static, T: Element>(self) -> FoldFn {
        at_level!(self.level, S => S::fold::<FoldBody<F, R, T>>())
    }
}

impl FoldVisitor for FoldLookup {
    type Output = FoldFn;

    fn fold<F: Fold<T>, T: Element>(self) -> FoldFn {
        match const { is_compiled(F::OP, T::DTYPE) && !is_half(T::DTYPE) } {
            true => self.of::<F, SameType, T>(),
            false => unreachable!("{NOT_COMPILED}"),
        }
    }
}

/// The fold of `op` over whole rows, for sums, products of floats and the most frequent other reductions.
/// Each function takes long to build, so other reductions have none, nor has the fallback level;
/// [`fold_function`] folds them more slowly.
pub fn row_fold_function(
    op: ReduceOp,
    source: DType,
    dtype: DType,
    level: Level,
) -> Option<RowFoldFn> {
    let is_widened = source != dtype;
    let dtype = if is_widened { dtype } else { kernel_dtype(op.operation(), dtype) };
    let source = if is_widened { source } else { dtype };
    macro_rules! find {
        ($($fold:ident $read:ty, $lanes:ty, $source:ident $element:ident;)*) => {
            $(if op == ReduceOp::$fold && source == $source::DTYPE && dtype == $element::DTYPE {
                type Row = RowBody<operations::$fold, $read, $lanes, $element>;
                return at_level!(level, S => row_fold::<S, Row>());
            })*
        };
    }
    macro_rules! read_lane {
        (f64) => { SameType };
        (i64) => { SameType };
        (u64) => { SameType };
        ($lane:ident) => { FromNarrow<$lane> };
    }
    macro_rules! find_sum_of_widened {
        ($($narrow:ident $lane:ident $wide:ident;)*) => {
            find! { $(Add FromNarrow<$narrow>, read_lane!($lane), $narrow $wide;)* }
        };
    }
    for_each_widening!(find_sum_of_widened);
    find! {
        Add SameType, SameType, f64 f64;
        Add SameType, SameType, u64 u64;
        Mul FromNarrow<f32>, SameType, f32 f64;
        Mul SameType, SameType, f64 f64;
        Max SameType, SameType, f32 f32;
        Max SameType, SameType, f64 f64;
        Min SameType, SameType, f32 f32;
        Min SameType, SameType, f64 f64;
        And SameType, SameType, bool bool;
        Or SameType, SameType, bool bool;
    }
    None
}

/// The fold `B` of whole rows; `None` at the fallback level.
fn row_fold<S: Shells, B: FoldRows>() -> Option<RowFoldFn> {
    match const { S::IS_FALLBACK } {
        true => None,
        false => Some(S::fold::<B>()),
    }
}

/// The functions of the arg-reduction `op` for elements of type `dtype`; `None` if `op` is not an
/// arg-reduction or does not take the type.
pub fn arg_reduce_functions(
    op: ReduceOp,
    dtype: DType,
    level: Level,
) -> Option<ArgReduceFunctions> {
    macro_rules! find {
        ($($element:ident)*) => {
            $(if dtype == $element::DTYPE {
                return match op {
                    ReduceOp::ArgMax => {
                        let update = at_level!(level, S => S::arg_reduce::<ArgReduceBody<true, $element>>());
                        Some(functions::<operations::Max, $element>(update))
                    }
                    ReduceOp::ArgMin => {
                        let update = at_level!(level, S => S::arg_reduce::<ArgReduceBody<false, $element>>());
                        Some(functions::<operations::Min, $element>(update))
                    }
                    _ => None,
                };
            })*
        };
    }
    find! { bool f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 }
    None
}

/// The copy of `size`-byte elements at a stride of `stride` elements; `None` if a loop over a variable
/// stride is at least as fast.
pub fn strided_copy_function(size: usize, stride: usize, level: Level) -> Option<StridedCopyFn> {
    fn at<S: Shells>(size: usize, stride: usize) -> Option<StridedCopyFn> {
        Some(match (size, stride) {
            // At the baseline of x86-64, permutations of bytes take longer than single loads.
            _ if S::IS_FALLBACK => return None,
            (1, 2) => S::strided_copy::<ConstantStride<u8, 2>>(),
            (1, 3) => S::strided_copy::<ConstantStride<u8, 3>>(),
            (1, 4) => S::strided_copy::<ConstantStride<u8, 4>>(),
            (2, 2) => S::strided_copy::<ConstantStride<u16, 2>>(),
            (2, 3) => S::strided_copy::<ConstantStride<u16, 3>>(),
            (2, 4) => S::strided_copy::<ConstantStride<u16, 4>>(),
            (4, 2) => S::strided_copy::<ConstantStride<u32, 2>>(),
            (4, 3) => S::strided_copy::<ConstantStride<u32, 3>>(),
            (4, 4) => S::strided_copy::<ConstantStride<u32, 4>>(),
            (8, 2) => S::strided_copy::<ConstantStride<u64, 2>>(),
            _ => return None,
        })
    }
    at_level!(level, S => at::<S>(size, stride))
}

/// The sort of columns of `size`-byte elements; `None` for other sizes than 1, 2, 4 and 8.
pub fn sort_columns_function(size: usize, level: Level) -> Option<SortColumnsFn> {
    fn at<S: SortShells>(size: usize) -> Option<SortColumnsFn> {
        Some(match size {
            1 => S::sort_columns::<NetworkBody<i8, 64>>(),
            2 => S::sort_columns::<NetworkBody<i16, 32>>(),
            4 => S::sort_columns::<NetworkBody<i32, 16>>(),
            8 => S::sort_columns::<NetworkBody<i64, 8>>(),
            _ => return None,
        })
    }
    #[cfg(target_arch = "x86_64")]
    if level.instruction_set() == InstructionSet::Avx512 {
        return at::<Avx512>(size);
    }
    at_level!(level, S => at::<S>(size))
}

/// Sorts each of the columns of 64-bit words at the highest level of this processor. Returns
/// `false` and changes nothing if no function exists.
pub(crate) fn sort_word_columns(rows: &mut [ColumnRow]) -> bool {
    let sort = sort_columns_function(size_of::<u64>(), Level::detect());
    let order = ColumnOrder::new(DType::U64, false);
    let (Some(sort), Some(order)) = (sort, order) else { return false };
    // SAFETY: `Level::detect` gives a level of this processor.
    unsafe { sort(rows, &order) }
}

/// Reason why operations without a kernel are unreachable.
const NOT_COMPILED: &str = "invariant: the look-up maps the type to one with a kernel";

/// Looks up the kernel of an operation and element type for a level.
struct Lookup {
    level: Level,
}

impl Lookup {
    fn kernel<B: KernelBody>(self) -> KernelFn {
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

    fn convert_through(self, _: DType, _: DType, _: DType) -> KernelFn {
        unreachable!("invariant: lowering divides composed conversions")
    }
}
