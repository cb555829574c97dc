//! Arg-reductions: comparison of the extremes of blocks, the search within the winning block, and rows
//! searched column by column. Holds unsafe code.

use core::hint::select_unpredictable;
use core::marker::PhantomData;

use indim_ops::{Element, Fold, Op, ScalarBackend, bf16, f16};

use super::block::Unaligned;
use super::fold::strip;

/// Extremes found so far in some columns, with their indices.
#[derive(Debug, Clone, Copy)]
pub struct ColumnExtremes {
    /// Elements, one for each column.
    pub extremes: *mut u8,
    /// Their indices.
    pub indices: *mut usize,
}

/// The functions of an arg-reduction for one element type.
#[derive(Debug, Clone, Copy)]
pub struct SearchFunctions {
    /// Merges two extremes of each column into the first: the one found first, or the one found at a new
    /// index. Index 0 means that none was found before.
    ///
    /// Safety: both hold `columns` columns.
    pub keep: unsafe fn(found: ColumnExtremes, extremes: *const u8, columns: usize, index: usize),
    /// The index of the first NaN among `count` strided elements, or else of the first element equal to the
    /// extreme, which is among them.
    ///
    /// Safety: the elements are valid for reads, and so is the extreme.
    pub find: unsafe fn(first: *const u8, count: usize, stride: isize, extreme: *const u8) -> usize,
    /// Searches rows.
    pub take: SearchRowsFn,
}

/// Rows searched column by column, in order.
#[derive(Debug, Clone, Copy)]
pub struct SearchedRows {
    /// Number of rows, below 2^32.
    pub count: usize,
    /// Byte stride from row to row.
    pub stride: isize,
    /// The elements of a row.
    pub width: usize,
    /// Index of the first row. Index 0 means that no extreme was found before.
    pub start: usize,
}

/// Updates the extreme of each column: the one found before, or the first one in the rows.
///
/// # Safety
/// - `found` has `rows.width` columns, and the extremes need not be aligned;
/// - `source` plus each of `rows.count` multiples of `rows.stride` is valid for reads of `rows.width`
///   elements, which need not be aligned;
/// - the processor has the level for which the function was looked up.
pub type SearchRowsFn = unsafe fn(found: ColumnExtremes, source: *const u8, rows: SearchedRows);

/// Functions of an arg-reduction by the fold `F`, with this kernel for rows.
pub(super) fn functions<F: Fold<T>, T: Element>(take: SearchRowsFn) -> SearchFunctions {
    const { assert!(matches!(F::OP, Op::Max | Op::Min), "extremes are searched") };
    SearchFunctions { keep: keep::<F, T>, find: find::<T>, take }
}

/// # Safety
/// See [`SearchFunctions::keep`].
unsafe fn keep<F: Fold<T>, T: Element>(
    found: ColumnExtremes,
    extremes: *const u8,
    columns: usize,
    index: usize,
) {
    // SAFETY: the caller's promise; all memory of threads, and what pieces leave, is aligned.
    let (kept, indices, extremes) = unsafe {
        (
            core::slice::from_raw_parts_mut(found.extremes.cast::<T::Storage>(), columns),
            core::slice::from_raw_parts_mut(found.indices, columns),
            core::slice::from_raw_parts(extremes.cast::<T::Storage>(), columns),
        )
    };
    if index == 0 {
        kept.copy_from_slice(extremes);
        indices.fill(0);
        return;
    }
    for ((kept, place), &stored) in kept.iter_mut().zip(indices).zip(extremes) {
        let (before, new) = (T::from_storage(*kept), T::from_storage(stored));
        // A NaN is the end of a search; nothing is equal to one. -0 and +0 are equal.
        let is_further = !is_nan(before) & (F::combine::<ScalarBackend>(before, new) != before);
        *kept = if is_further { stored } else { *kept };
        *place = if is_further { index } else { *place };
    }
}

/// The body of a search of rows.
pub(crate) trait SearchRows {
    /// # Safety
    /// Like [`SearchRowsFn`].
    unsafe fn run(found: ColumnExtremes, source: *const u8, rows: SearchedRows);
}

/// An element as a key that processors compare.
pub(super) trait Searched: Element {
    /// Key type: in the order of the elements, with one key for zeros of either sign.
    type Key: Copy + PartialOrd;

    /// The key of an element. The key of a NaN is a key of its own, or the end of the order towards which
    /// the search goes.
    fn key<const IS_MAX: bool>(self) -> Self::Key;

    /// An element of this key.
    fn of_key(key: Self::Key) -> Self;
}

macro_rules! search_as_they_are {
    ($($element:ident)*) => {$(
        impl Searched for $element {
            type Key = $element;
            #[inline(always)]
            fn key<const IS_MAX: bool>(self) -> $element {
                self
            }
            #[inline(always)]
            fn of_key(key: $element) -> $element {
                key
            }
        }
    )*};
}

search_as_they_are! { f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 }

impl Searched for bool {
    type Key = u8;
    #[inline(always)]
    fn key<const IS_MAX: bool>(self) -> u8 {
        self.into()
    }
    #[inline(always)]
    fn of_key(key: u8) -> bool {
        key != 0
    }
}

/// Floats of 16 bits, and the bits of infinity: their magnitudes are in the order of their bits.
macro_rules! search_by_bits {
    ($($element:ident $infinity:literal;)*) => {$(
        impl Searched for $element {
            type Key = i16;
            #[inline(always)]
            fn key<const IS_MAX: bool>(self) -> i16 {
                let magnitude = (self.to_bits() & 0x7fff) as i16;
                let is_negative = self.to_bits() > 0x7fff;
                let signed = if is_negative { -magnitude } else { magnitude };
                let end = if IS_MAX { i16::MAX } else { -i16::MAX };
                if magnitude > $infinity { end } else { signed }
            }
            #[inline(always)]
            fn of_key(key: i16) -> $element {
                let sign = if key < 0 { 0x8000 } else { 0 };
                $element::from_bits(key.unsigned_abs() | sign)
            }
        }
    )*};
}

search_by_bits! { f16 0x7c00; bf16 0x7f80; }

/// The search for the largest elements, or for the smallest.
pub(super) struct SearchBody<const IS_MAX: bool, T>(PhantomData<T>);

impl<const IS_MAX: bool, T: Searched> SearchRows for SearchBody<IS_MAX, T> {
    #[inline(always)]
    unsafe fn run(found: ColumnExtremes, source: *const u8, rows: SearchedRows) {
        let mut column = 0;
        while column < rows.width {
            let offset = column * size_of::<T::Storage>();
            let (extremes, source) =
                (found.extremes.wrapping_add(offset), source.wrapping_add(offset));
            let found = ColumnExtremes { extremes, indices: found.indices.wrapping_add(column) };
            let left = rows.width - column;
            // SAFETY: the caller's promise, for some of the columns.
            unsafe {
                match const { strip::<T>() } {
                    width if left < width => Self::strip::<1>(found, source, rows),
                    16 => Self::strip::<16>(found, source, rows),
                    _ => Self::strip::<32>(found, source, rows),
                }
            }
            column += if left < strip::<T>() { 1 } else { strip::<T>() };
        }
    }
}

impl<const IS_MAX: bool, T: Searched> SearchBody<IS_MAX, T> {
    /// Whether an element beats the one found before. A NaN does, and ends the search.
    #[inline(always)]
    fn is_further(new: T::Key, before: T::Key) -> bool {
        let is_behind = if IS_MAX { new <= before } else { new >= before };
        !is_behind & !is_nan(before)
    }

    /// # Safety
    /// Like [`SearchRowsFn`], for `WIDTH` columns.
    #[inline(always)]
    unsafe fn strip<const WIDTH: usize>(
        found: ColumnExtremes,
        source: *const u8,
        rows: SearchedRows,
    ) {
        // SAFETY: the caller's promise; nobody else uses what has been found.
        let (extremes, indices) = unsafe {
            let extremes = &mut *found.extremes.cast::<[Unaligned<T>; WIDTH]>();
            (extremes, &mut *found.indices.cast::<[usize; WIDTH]>())
        };
        let row = |row: usize| {
            let from = source.wrapping_offset(row as isize * rows.stride);
            // SAFETY: the caller's promise; only rows that there are are asked for.
            unsafe { &*from.cast::<[Unaligned<T>; WIDTH]>() }
        };
        let begins = rows.start == 0;
        let before = if begins { row(0) } else { &*extremes };
        let mut held: [T::Key; WIDTH] =
            core::array::from_fn(|column| before[column].get().key::<IS_MAX>());
        // How many rows have been taken with the one that has the extreme; 0 if none of them has.
        let mut taken = [u32::from(begins); WIDTH];
        for index in usize::from(begins)..rows.count {
            let row = row(index);
            for column in 0..WIDTH {
                let new = row[column].get().key::<IS_MAX>();
                let is_further = Self::is_further(new, held[column]);
                // An `if` would become a store under a mask, which the next row waits for.
                held[column] = select_unpredictable(is_further, new, held[column]);
                taken[column] = select_unpredictable(is_further, index as u32 + 1, taken[column]);
            }
        }
        for column in 0..WIDTH {
            extremes[column] = Unaligned(T::of_key(held[column]).to_storage());
            if taken[column] > 0 {
                indices[column] = rows.start + taken[column] as usize - 1;
            }
        }
    }
}

/// Number of elements compared at once; then, among those with a match, at once again.
const COMPARED: usize = 32;
const COMPARED_LAST: usize = 8;

/// # Safety
/// See [`SearchFunctions::find`].
unsafe fn find<T: Element>(
    first: *const u8,
    count: usize,
    stride: isize,
    extreme: *const u8,
) -> usize {
    // SAFETY: the caller's promise.
    let extreme = T::from_storage(unsafe { extreme.cast::<T::Storage>().read_unaligned() });
    let is_found = |place: *const u8| {
        // SAFETY: the caller guarantees `count` readable elements; only these are read.
        let x = T::from_storage(unsafe { place.cast::<T::Storage>().read_unaligned() });
        (x == extreme) | is_nan(x)
    };
    let size = size_of::<T::Storage>();
    let mut start = 0;
    if stride == size as isize {
        let has_it = |start: usize, count: usize| {
            let places = (start..start + count).map(|index| first.wrapping_add(index * size));
            places.fold(false, |any, place| any | is_found(place))
        };
        while start + COMPARED <= count && !has_it(start, COMPARED) {
            start += COMPARED;
        }
        while start + COMPARED_LAST <= count && !has_it(start, COMPARED_LAST) {
            start += COMPARED_LAST;
        }
    }
    // It is there, unless others write to a mapped file meanwhile.
    let is_at = |&index: &usize| is_found(first.wrapping_offset(index as isize * stride));
    (start..count).find(is_at).unwrap_or(0)
}

#[expect(clippy::eq_op, reason = "a NaN differs from itself")]
fn is_nan<T: Copy + PartialEq>(x: T) -> bool {
    x != x
}
