//! The loop of reductions: folds rows of elements into a row of accumulators. Holds unsafe code.
//!
//! Lanes of a block, adjacent columns, lanes combined by halves and the tree over blocks differ only in
//! which rows go into which accumulators. `row_fold.rs` has the whole tree for dense rows.

use core::marker::PhantomData;

use indim_ops::{Element, Fold, ScalarBackend, bf16, f16};

use super::block::Unaligned;

/// Rows that are folded into one row of accumulators, in order.
#[derive(Debug, Clone, Copy)]
pub struct FoldedRows {
    /// Number of rows.
    pub count: usize,
    /// Byte stride from row to row.
    pub stride: isize,
    /// Elements of a row, and number of accumulators.
    pub width: usize,
    /// Whether the accumulators start from the identity; otherwise from their values in memory.
    pub begins: bool,
}

/// Folds rows into accumulators.
///
/// # Safety
/// - `accumulators` is valid for writes of `rows.width` elements of the accumulators' type, and for reads of
///   them unless they begin here;
/// - `source` plus each of `rows.count` multiples of `rows.stride` is valid for reads of `rows.width`
///   elements of the source's type; none of them is an accumulator;
/// - no pointer needs to be aligned;
/// - the processor has the level for which the function was looked up.
pub type FoldFn = unsafe fn(accumulators: *mut u8, source: *const u8, rows: FoldedRows);

/// The body of a fold.
pub(crate) trait FoldRows {
    /// # Safety
    /// Like [`FoldFn`].
    unsafe fn run(accumulators: *mut u8, source: *const u8, rows: FoldedRows);
}

/// The element type that a fold of elements of type `T` reads.
pub(super) trait Read<T> {
    type Source: Element;
    fn read(x: Self::Source) -> T;
}

/// Reads elements of the type itself.
pub(super) struct Same;

impl<T: Element> Read<T> for Same {
    type Source = T;
    #[inline(always)]
    fn read(x: T) -> T {
        x
    }
}

/// Reads narrower elements and widens them. A NaN may have any bits.
pub(super) struct Narrow<A>(PhantomData<A>);

macro_rules! read_floats {
    ($($narrow:ident |$x:ident| $wide:expr;)*) => {$(
        impl Read<f64> for Narrow<$narrow> {
            type Source = $narrow;
            #[inline(always)]
            fn read($x: $narrow) -> f64 {
                f64::from($wide)
            }
        }
    )*};
}

read_floats! {
    f32 |x| x;
    f16 |x| x.to_f32();
    bf16 |x| x.to_f32();
}

macro_rules! read_integers {
    ($($narrow:ident $($wide:ident)*;)*) => {$($(
        impl Read<$wide> for Narrow<$narrow> {
            type Source = $narrow;
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

/// The fold `F` of elements of type `T`, read by `R`.
pub(super) struct FoldBody<F, R, T>(PhantomData<(F, R, T)>);

/// Number of accumulators held in registers while rows are folded: the lanes of a block, in at most 256
/// bytes.
pub(super) const fn strip<T>() -> usize {
    if size_of::<T>() > 8 { 16 } else { 32 }
}

impl<F: Fold<T>, R: Read<T>, T: Element> FoldRows for FoldBody<F, R, T> {
    #[inline(always)]
    unsafe fn run(accumulators: *mut u8, source: *const u8, rows: FoldedRows) {
        let mut column = 0;
        while column < rows.width {
            let to = accumulators.wrapping_add(column * size_of::<T::Storage>());
            let from = source.wrapping_add(column * size_of::<<R::Source as Element>::Storage>());
            let width = (rows.width - column).min(strip::<T>());
            let rows = FoldedRows { width, ..rows };
            // SAFETY: the caller's promise, for some of the columns.
            unsafe {
                match const { strip::<T>() } {
                    _ if width < strip::<T>() => Self::narrow(to, from, rows),
                    16 => Self::strip::<16>(to, from, rows),
                    _ => Self::strip::<32>(to, from, rows),
                }
            }
            column += width;
        }
    }
}

impl<F: Fold<T>, R: Read<T>, T: Element> FoldBody<F, R, T> {
    /// # Safety
    /// Like [`FoldFn`], for `WIDTH` columns.
    #[inline(always)]
    unsafe fn strip<const WIDTH: usize>(to: *mut u8, source: *const u8, rows: FoldedRows) {
        // SAFETY: the caller's promise; nobody else uses the accumulators.
        let places = unsafe { &mut *to.cast::<[Unaligned<T>; WIDTH]>() };
        let mut held = match rows.begins {
            true => [F::identity::<ScalarBackend>(); WIDTH],
            false => core::array::from_fn(|column| places[column].get()),
        };
        for row in 0..rows.count as isize {
            let from = source.wrapping_offset(row * rows.stride);
            // SAFETY: the caller's promise.
            let row = unsafe { &*from.cast::<[Unaligned<R::Source>; WIDTH]>() };
            for column in 0..WIDTH {
                held[column] =
                    F::combine::<ScalarBackend>(held[column], R::read(row[column].get()));
            }
        }
        for (place, held) in places.iter_mut().zip(held) {
            *place = Unaligned(held.to_storage());
        }
    }

    /// Folds column by column, not vectorised: a vectorised version would cost more build time than it
    /// saves.
    ///
    /// # Safety
    /// Like [`FoldFn`], for fewer columns than a strip has.
    #[inline(always)]
    unsafe fn narrow(to: *mut u8, source: *const u8, rows: FoldedRows) {
        for column in 0..rows.width {
            let place = to.cast::<Unaligned<T>>().wrapping_add(column);
            let source = source.cast::<Unaligned<R::Source>>().wrapping_add(column);
            // SAFETY: the caller's promise, for one of the columns.
            unsafe {
                let mut held = match rows.begins {
                    true => F::identity::<ScalarBackend>(),
                    false => (*place).get(),
                };
                for row in 0..rows.count as isize {
                    let x = *source.wrapping_byte_offset(row * rows.stride);
                    held = F::combine::<ScalarBackend>(held, R::read(x.get()));
                }
                *place = Unaligned(held.to_storage());
            }
        }
    }
}
