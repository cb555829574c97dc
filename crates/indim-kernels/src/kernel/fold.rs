//! The loop of reductions: rows of elements taken into a row of accumulators. Holds unsafe code.
//!
//! The lanes of a block, several columns side by side, the folding of lanes by halves and the tree over
//! blocks differ only in which rows go into which accumulators. `row_fold.rs` has the whole tree for dense
//! rows.

use core::marker::PhantomData;

use indim_ops::{Element, Fold, ScalarBackend, bf16, f16};

use super::block::Unaligned;

/// The rows that go into a row of accumulators, one after another.
#[derive(Debug, Clone, Copy)]
pub struct FoldedRows {
    /// How many there are.
    pub count: usize,
    /// From one to the next, in bytes.
    pub stride: isize,
    /// The elements of a row, and the number of accumulators.
    pub width: usize,
    /// Whether the accumulators begin here, from the identity; they hold something otherwise.
    pub begins: bool,
}

/// Takes rows into accumulators.
///
/// # Safety
/// - `accumulators` is valid for writes of `rows.width` elements of the accumulators' type, and for reads of
///   them unless they begin here;
/// - `source` plus each of `rows.count` multiples of `rows.stride` is valid for reads of `rows.width`
///   elements of the source's type; none of them is an accumulator;
/// - no pointer needs to be aligned;
/// - the processor has the level for which the function was looked up.
pub type FoldFn = unsafe fn(accumulators: *mut u8, source: *const u8, rows: FoldedRows);

/// What a fold does with rows.
pub(crate) trait FoldRows {
    /// # Safety
    /// As [`FoldFn`].
    unsafe fn run(accumulators: *mut u8, source: *const u8, rows: FoldedRows);
}

/// What elements a fold of elements of type `T` reads.
pub(super) trait Read<T> {
    type Source: Element;
    fn read(x: Self::Source) -> T;
}

/// Those of the type itself.
pub(super) struct Same;

impl<T: Element> Read<T> for Same {
    type Source = T;
    #[inline(always)]
    fn read(x: T) -> T {
        x
    }
}

/// Narrower ones. A NaN may have any bits.
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

/// The fold `F` of elements of type `T`, which are read as `R` says.
pub(super) struct FoldBody<F, R, T>(PhantomData<(F, R, T)>);

/// The accumulators that are held in registers while rows go into them: as many as the lanes of a block,
/// in at most 256 bytes.
pub(super) const fn strip<T>() -> usize {
    if size_of::<T>() > 8 { 16 } else { 32 }
}

impl<F: Fold<T>, R: Read<T>, T: Element> FoldRows for FoldBody<F, R, T> {
    #[inline(always)]
    unsafe fn run(accumulators: *mut u8, source: *const u8, rows: FoldedRows) {
        let mut column = 0;
        while column < rows.width {
            let to = accumulators.wrapping_add(column * size_of::<T::Stored>());
            let from = source.wrapping_add(column * size_of::<<R::Source as Element>::Stored>());
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
    /// As [`FoldFn`], for `WIDTH` columns.
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
            *place = Unaligned(held.to_stored());
        }
    }

    /// Column by column: that is not vectorized, for which a build would take longer than it is worth.
    ///
    /// # Safety
    /// As [`FoldFn`], for fewer columns than a strip has.
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
                *place = Unaligned(held.to_stored());
            }
        }
    }
}
