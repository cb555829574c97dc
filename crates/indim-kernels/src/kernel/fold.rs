//! The loop of a reduction: folds rows of elements into one row of accumulators. Holds unsafe code.
//!
//! Every step of the reduction tree is such a fold: elements into lanes, lanes into a node, nodes into a
//! result. The executor chooses the rows and the accumulators. `row_fold.rs` has the whole tree for dense
//! rows.

use core::hint::black_box;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::{Element, Fold, FromWide, NarrowElement, Op, ScalarBackend, bf16, f16};

use super::block::Unaligned;

/// The rows of a fold, folded in order into one row of accumulators.
#[derive(Debug, Clone, Copy)]
pub struct FoldedRows {
    /// Number of rows.
    pub count: usize,
    /// Stride between rows, in bytes.
    pub stride: isize,
    /// Elements of a row, and number of accumulators.
    pub width: usize,
    /// Whether accumulators start from the identity; otherwise they start from their values in memory.
    pub starts_from_identity: bool,
}

/// Folds rows into accumulators. Row `i` begins at `source + i * rows.stride`. Pointers need no alignment.
///
/// # Safety
/// - `accumulators` is valid for writes of `rows.width` elements of the accumulators' type, and for reads
///   unless `rows.starts_from_identity`;
/// - each of `rows.count` rows is valid for reads of `rows.width` elements of the source's type;
/// - no row overlaps the accumulators;
/// - the processor has the level for which the function was looked up.
pub type FoldFn = unsafe fn(accumulators: *mut u8, source: *const u8, rows: FoldedRows);

/// The body of a fold, independent of the level.
pub(crate) trait FoldRows {
    /// # Safety
    /// Like [`FoldFn`].
    unsafe fn run(accumulators: *mut u8, source: *const u8, rows: FoldedRows);
}

/// The conversion of operands to accumulators of type `T`.
pub(super) trait LoadOperand<T> {
    /// The element type in memory.
    type Operand: Element;
    fn read(x: Self::Operand) -> T;
}

/// Operands and accumulators have the same type.
pub(super) struct SameType;

impl<T: Element> LoadOperand<T> for SameType {
    type Operand = T;
    #[inline(always)]
    fn read(x: T) -> T {
        x
    }
}

/// Operands are widened from the narrower type `A`. A widened NaN may have any bits.
pub(super) struct FromNarrow<A>(PhantomData<A>);

macro_rules! read_floats {
    ($($narrow:ident $type:ident |$x:ident| $wide:expr;)*) => {$(
        impl LoadOperand<$type> for FromNarrow<$narrow> {
            type Operand = $narrow;
            #[inline(always)]
            fn read($x: $narrow) -> $type {
                $wide
            }
        }
    )*};
}

read_floats! {
    f32 f64 |x| f64::from(x);
    f16 f64 |x| f64::from(x.to_f32());
    bf16 f64 |x| f64::from(x.to_f32());
    f16 f32 |x| x.to_f32();
    bf16 f32 |x| x.to_f32();
}

/// An accumulator of type `T` in memory.
pub(super) trait Accumulator<T> {
    /// The element type in memory.
    type Stored: Element;
    fn load(stored: Self::Stored) -> T;
    fn store(folded: T) -> Self::Stored;
}

impl<T: Element> Accumulator<T> for SameType {
    type Stored = T;
    #[inline(always)]
    fn load(stored: T) -> T {
        stored
    }
    #[inline(always)]
    fn store(folded: T) -> T {
        folded
    }
}

/// Extremes of 16-bit floats are found in `f32`, which represents each 16-bit float exactly.
impl<A: NarrowElement<Wide = f32> + FromWide<f32>> Accumulator<f32> for FromNarrow<A> {
    type Stored = A;
    #[inline(always)]
    fn load(stored: A) -> f32 {
        A::widen::<ScalarBackend>(stored)
    }
    #[inline(always)]
    fn store(folded: f32) -> A {
        A::from_wide::<ScalarBackend>(folded)
    }
}

macro_rules! read_integers {
    ($($narrow:ident $($wide:ident)*;)*) => {$($(
        impl LoadOperand<$wide> for FromNarrow<$narrow> {
            type Operand = $narrow;
            #[inline(always)]
            fn read(x: $narrow) -> $wide {
                x.into()
            }
        }
    )*)*};
}

read_integers! {
    bool u8 i64;
    i8 i16 i64; i16 i32 i64; i32 i64;
    u8 i64 u16 u64; u16 u32 u64; u32 u64;
}

/// The fold `F` in type `T`; `R` reads the operands, and `A` reads and writes the accumulators.
pub(super) struct FoldBody<F, R, T, A = SameType>(PhantomData<(F, R, T, A)>);

/// Number of columns whose accumulators, of type `T`, stay in registers while rows are folded: 32, the
/// lanes of a block, or 16 if an accumulator has more than 8 bytes. The accumulators take at most 256
/// bytes.
pub(super) const fn strip<T>() -> usize {
    if size_of::<T>() > 8 { 16 } else { 32 }
}

impl<F: Fold<T>, R: LoadOperand<T>, T: Element, A: Accumulator<T>> FoldRows
    for FoldBody<F, R, T, A>
{
    #[inline(always)]
    unsafe fn run(accumulators: *mut u8, source: *const u8, rows: FoldedRows) {
        let mut column = 0;
        while column < rows.width {
            let to =
                accumulators.wrapping_add(column * size_of::<<A::Stored as Element>::Storage>());
            let from = source.wrapping_add(column * size_of::<<R::Operand as Element>::Storage>());
            let width = (rows.width - column).min(strip::<T>());
            let rows = FoldedRows { width, ..rows };
            // SAFETY:
            // - columns `column..column + width` are part of the caller's rows and accumulators;
            // - the arms with a constant run only for strips of that width.
            unsafe {
                match const { strip::<T>() } {
                    _ if width < strip::<T>() => Self::tail(to, from, rows),
                    16 => Self::strip::<16>(to, from, rows),
                    _ => Self::strip::<32>(to, from, rows),
                }
            }
            column += width;
        }
    }
}

impl<F: Fold<T>, R: LoadOperand<T>, T: Element, A: Accumulator<T>> FoldBody<F, R, T, A> {
    /// Folds `WIDTH` columns, vectorised.
    ///
    /// # Safety
    /// Like [`FoldFn`], for `WIDTH` columns.
    #[inline(always)]
    unsafe fn strip<const WIDTH: usize>(to: *mut u8, source: *const u8, rows: FoldedRows) {
        // SAFETY:
        // - the caller ensures `WIDTH` writable accumulators that overlap no row, so nothing else accesses
        //   them;
        // - `Unaligned` needs no alignment, and `MaybeUninit` no initialisation.
        let accumulators = unsafe { &mut *to.cast::<[MaybeUninit<Unaligned<A::Stored>>; WIDTH]>() };
        let mut held = match rows.starts_from_identity {
            true => [F::identity::<ScalarBackend>(); WIDTH],
            false => core::array::from_fn(|column| {
                // SAFETY: the caller ensures initialised accumulators if they start from their values.
                let stored = unsafe { accumulators[column].assume_init() };
                A::load(stored.get())
            }),
        };
        // With a known number of columns, the compiler unrolls sums and products of bytes before it could
        // vectorise them.
        let columns = match const { size_of::<T>() == 1 && matches!(F::OP, Op::Add | Op::Mul) } {
            true => black_box(WIDTH).min(WIDTH),
            false => WIDTH,
        };
        for row in 0..rows.count as isize {
            let from = source.wrapping_offset(row * rows.stride);
            // SAFETY: the caller ensures `WIDTH` readable elements in each of `rows.count` rows.
            let row = unsafe { &*from.cast::<[Unaligned<R::Operand>; WIDTH]>() };
            for column in 0..columns {
                held[column] =
                    F::combine::<ScalarBackend>(held[column], R::read(row[column].get()));
            }
        }
        for (accumulator, held) in accumulators.iter_mut().zip(held) {
            accumulator.write(Unaligned(A::store(held).to_storage()));
        }
    }

    /// Folds the last columns one by one: vectorising them would cost more build time than it saves.
    ///
    /// # Safety
    /// Like [`FoldFn`], for fewer columns than a strip has.
    #[inline(always)]
    unsafe fn tail(to: *mut u8, source: *const u8, rows: FoldedRows) {
        for column in 0..rows.width {
            let accumulator = to.cast::<Unaligned<A::Stored>>().wrapping_add(column);
            let source = source.cast::<Unaligned<R::Operand>>().wrapping_add(column);
            // SAFETY: `column` is below `rows.width`, so the caller ensures access to this accumulator and to
            // the element of each row.
            unsafe {
                let mut held = match rows.starts_from_identity {
                    true => F::identity::<ScalarBackend>(),
                    false => A::load((*accumulator).get()),
                };
                for row in 0..rows.count as isize {
                    let x = *source.wrapping_byte_offset(row * rows.stride);
                    held = F::combine::<ScalarBackend>(held, R::read(x.get()));
                }
                *accumulator = Unaligned(A::store(held).to_storage());
            }
        }
    }
}
