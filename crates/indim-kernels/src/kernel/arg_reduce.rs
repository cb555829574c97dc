//! Arg-reductions (argmax and argmin): the merge of extremes of two blocks, the search for an extreme in a
//! block, and the update of extremes and indices by rows. Holds unsafe code.
//!
//! A NaN is an extreme that nothing replaces. Among equal elements the first is the extreme; zeros of either
//! sign are equal.

use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::{Element, Fold, Op, ScalarBackend, bf16, f16};

use super::block::Unaligned;
use super::fold::strip;

/// The extremes of some columns so far, with their indices.
#[derive(Debug, Clone, Copy)]
pub struct ColumnExtremes {
    /// One element per column.
    pub extremes: *mut u8,
    /// One index per column.
    pub indices: *mut usize,
}

/// The functions of an arg-reduction for one element type.
#[derive(Debug, Clone, Copy)]
pub struct ArgReduceFunctions {
    /// Merges `extremes`, those of block `index`, into `found`. If the block replaces the extreme of a
    /// column, the entry of the column in `found.indices` becomes `index`. Block 0 initialises `found`.
    ///
    /// # Safety
    /// - `found` is valid for writes of `columns` extremes and indices, and for reads unless `index` is 0;
    /// - `extremes` is valid for reads of `columns` elements;
    /// - `found.extremes`, `found.indices` and `extremes` are aligned, and none overlaps another.
    pub merge: unsafe fn(found: ColumnExtremes, extremes: *const u8, columns: usize, index: usize),
    /// The index of the first of `count` elements, `stride` bytes apart, that is a NaN or equals the
    /// extreme; 0 if there is none. If an element is a NaN, so is their extreme, and no element equals
    /// it.
    ///
    /// # Safety
    /// - `first + i * stride` is valid for reads of an element, for each `i` below `count`;
    /// - `extreme` is valid for reads of an element.
    pub find: unsafe fn(first: *const u8, count: usize, stride: isize, extreme: *const u8) -> usize,
    /// Updates the extremes of columns by rows.
    pub update: ArgReduceFn,
}

/// The rows of an update, in order. Each column is one arg-reduction.
#[derive(Debug, Clone, Copy)]
pub struct ArgReduceRows {
    /// Number of rows, below 2^32; at least 1 if `start` is 0.
    pub count: usize,
    /// Stride between rows, in bytes.
    pub stride: isize,
    /// Elements of a row, and number of columns.
    pub width: usize,
    /// Index of the first row. Row 0 initialises the extremes.
    pub start: usize,
}

/// Updates the extremes and indices of columns by rows. Row `i` begins at `source + i * rows.stride`.
/// Elements need no alignment.
///
/// # Safety
/// - `found` is valid for writes of `rows.width` extremes and aligned indices, and for reads unless
///   `rows.start` is 0;
/// - `rows.count` is at least 1 if `rows.start` is 0;
/// - each of `rows.count` rows is valid for reads of `rows.width` elements;
/// - no two of rows, extremes and indices overlap;
/// - the processor has the level for which the function was looked up.
pub type ArgReduceFn = unsafe fn(found: ColumnExtremes, source: *const u8, rows: ArgReduceRows);

/// The functions of an arg-reduction. `F` is the fold of the searched values, [`Op::Max`] or [`Op::Min`];
/// `update` is the kernel for rows, compiled for the level.
pub(super) fn functions<F: Fold<T>, T: Element>(update: ArgReduceFn) -> ArgReduceFunctions {
    const { assert!(matches!(F::OP, Op::Max | Op::Min), "an arg-reduction takes extremes") };
    ArgReduceFunctions { merge: merge::<F, T>, find: find::<T>, update }
}

/// # Safety
/// See [`ArgReduceFunctions::merge`].
unsafe fn merge<F: Fold<T>, T: Element>(
    found: ColumnExtremes,
    extremes: *const u8,
    columns: usize,
    index: usize,
) {
    let (extremes, found_extremes) =
        (extremes.cast::<T::Storage>(), found.extremes.cast::<T::Storage>());
    if index == 0 {
        // SAFETY:
        // - the caller ensures `columns` aligned elements that are readable, `columns` extremes and indices
        //   that are writable, and that none overlaps another;
        // - a copy through pointers needs no initialised destination, and the bits 0 are an index.
        unsafe {
            found_extremes.copy_from_nonoverlapping(extremes, columns);
            found.indices.write_bytes(0, columns);
        }
        return;
    }
    // SAFETY:
    // - the caller ensures `columns` aligned elements in each, and that none overlaps another;
    // - block 0 has initialised `found`, and any bits are a stored element or an index.
    let (extreme, indices, extremes) = unsafe {
        (
            core::slice::from_raw_parts_mut(found_extremes, columns),
            core::slice::from_raw_parts_mut(found.indices, columns),
            core::slice::from_raw_parts(extremes, columns),
        )
    };
    for ((extreme, column_index), &stored) in extreme.iter_mut().zip(indices).zip(extremes) {
        let (old, new) = (T::from_storage(*extreme), T::from_storage(stored));
        // `combine` makes every NaN a new extreme, because a NaN equals nothing.
        let is_new = !is_nan(old) & (F::combine::<ScalarBackend>(old, new) != old);
        *extreme = if is_new { stored } else { *extreme };
        *column_index = if is_new { index } else { *column_index };
    }
}

/// The body of an arg-reduction over rows, independent of the level.
pub(crate) trait ArgReduce {
    /// # Safety
    /// Like [`ArgReduceFn`].
    unsafe fn run(found: ColumnExtremes, source: *const u8, rows: ArgReduceRows);
}

/// An element type whose elements map to keys. Processors compare keys in fewer instructions than
/// elements.
pub(super) trait ArgReduceElement: Element {
    /// Key type, in the order of the elements. Zeros of either sign have one key.
    type Key: Copy + PartialOrd;

    /// The key of an element. The key of a NaN is a NaN or, if keys are integers, the most extreme key:
    /// the largest for a maximum, the smallest for a minimum.
    fn key<const IS_MAX: bool>(self) -> Self::Key;

    /// An element with this key.
    fn from_key(key: Self::Key) -> Self;
}

macro_rules! key_by_value {
    ($($element:ident)*) => {$(
        impl ArgReduceElement for $element {
            type Key = $element;
            #[inline(always)]
            fn key<const IS_MAX: bool>(self) -> $element {
                self
            }
            #[inline(always)]
            fn from_key(key: $element) -> $element {
                key
            }
        }
    )*};
}

key_by_value! { f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 }

impl ArgReduceElement for bool {
    type Key = u8;
    #[inline(always)]
    fn key<const IS_MAX: bool>(self) -> u8 {
        self.into()
    }
    #[inline(always)]
    fn from_key(key: u8) -> bool {
        key != 0
    }
}

/// Keys of 16-bit floats: magnitudes have the order of their bits. Bits above those of infinity
/// (`$infinity`) are NaNs.
macro_rules! key_by_bits {
    ($($element:ident $infinity:literal;)*) => {$(
        impl ArgReduceElement for $element {
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
            fn from_key(key: i16) -> $element {
                let sign = if key < 0 { 0x8000 } else { 0 };
                $element::from_bits(key.unsigned_abs() | sign)
            }
        }
    )*};
}

key_by_bits! { f16 0x7c00; bf16 0x7f80; }

/// The arg-reduction of maxima, or of minima.
pub(super) struct ArgReduceBody<const IS_MAX: bool, T>(PhantomData<T>);

impl<const IS_MAX: bool, T: ArgReduceElement> ArgReduce for ArgReduceBody<IS_MAX, T> {
    #[inline(always)]
    unsafe fn run(found: ColumnExtremes, source: *const u8, rows: ArgReduceRows) {
        let mut column = 0;
        while column < rows.width {
            let offset = column * size_of::<T::Storage>();
            let (extremes, source) =
                (found.extremes.wrapping_add(offset), source.wrapping_add(offset));
            let found = ColumnExtremes { extremes, indices: found.indices.wrapping_add(column) };
            let left = rows.width - column;
            // SAFETY:
            // - at least one column from `column` on is part of the caller's rows and extremes;
            // - an arm with 16 or 32 columns runs only if that many are left.
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

impl<const IS_MAX: bool, T: ArgReduceElement> ArgReduceBody<IS_MAX, T> {
    /// Whether an element replaces the extreme so far. A NaN replaces any other element, and nothing replaces
    /// a NaN.
    #[inline(always)]
    fn is_new(new: T::Key, old: T::Key) -> bool {
        let is_no_better = if IS_MAX { new <= old } else { new >= old };
        !is_no_better & !is_nan(old)
    }

    /// Updates `WIDTH` columns.
    ///
    /// # Safety
    /// Like [`ArgReduceFn`], for `WIDTH` columns.
    #[inline(always)]
    unsafe fn strip<const WIDTH: usize>(
        found: ColumnExtremes,
        source: *const u8,
        rows: ArgReduceRows,
    ) {
        // SAFETY:
        // - the caller ensures `WIDTH` writable extremes and aligned indices that overlap nothing, so nothing
        //   else accesses them;
        // - `MaybeUninit` needs no initialisation.
        let (extremes, indices) = unsafe {
            let extremes = &mut *found.extremes.cast::<[MaybeUninit<Unaligned<T>>; WIDTH]>();
            (extremes, &mut *found.indices.cast::<[MaybeUninit<usize>; WIDTH]>())
        };
        let row = |row: usize| {
            let from = source.wrapping_offset(row as isize * rows.stride);
            // SAFETY: `row` is below `rows.count`, so the caller ensures `WIDTH` readable elements.
            unsafe { &*from.cast::<[Unaligned<T>; WIDTH]>() }
        };
        let begins = rows.start == 0;
        let mut keys: [T::Key; WIDTH] = match begins {
            true => {
                let first = row(0);
                core::array::from_fn(|column| first[column].get().key::<IS_MAX>())
            }
            false => core::array::from_fn(|column| {
                // SAFETY: the caller ensures initialised extremes unless `rows.start` is 0.
                let old = unsafe { extremes[column].assume_init() };
                old.get().key::<IS_MAX>()
            }),
        };
        // For each column, 1 + the position of the row with the extreme; 0 if a row of an earlier call has
        // it.
        let mut rows_taken = [u32::from(begins); WIDTH];
        for index in usize::from(begins)..rows.count {
            let row = row(index);
            for column in 0..WIDTH {
                let new = row[column].get().key::<IS_MAX>();
                let is_new = Self::is_new(new, keys[column]);
                // An `if` would compile to a masked store, on which the next row would wait.
                keys[column] = select_unpredictable(is_new, new, keys[column]);
                rows_taken[column] =
                    select_unpredictable(is_new, index as u32 + 1, rows_taken[column]);
            }
        }
        for column in 0..WIDTH {
            extremes[column].write(Unaligned(T::from_key(keys[column]).to_storage()));
            if rows_taken[column] > 0 {
                indices[column].write(rows.start + rows_taken[column] as usize - 1);
            }
        }
    }
}

/// Numbers of elements that are compared without a branch between them. Long scans run up to the first
/// that has a match, short scans from there on; single elements follow.
const LONG_SCAN: usize = 32;
const SHORT_SCAN: usize = 8;

/// # Safety
/// See [`ArgReduceFunctions::find`].
unsafe fn find<T: Element>(
    first: *const u8,
    count: usize,
    stride: isize,
    extreme: *const u8,
) -> usize {
    // SAFETY: the caller ensures that `extreme` is readable.
    let extreme = T::from_storage(unsafe { extreme.cast::<T::Storage>().read_unaligned() });
    let is_match = |place: *const u8| {
        // SAFETY: `place` is one of the caller's `count` readable elements.
        let x = T::from_storage(unsafe { place.cast::<T::Storage>().read_unaligned() });
        (x == extreme) | is_nan(x)
    };
    let size = size_of::<T::Storage>();
    let mut start = 0;
    if stride == size as isize {
        let has_match = |start: usize, count: usize| {
            let places = (start..start + count).map(|index| first.wrapping_add(index * size));
            places.fold(false, |any, place| any | is_match(place))
        };
        while start + LONG_SCAN <= count && !has_match(start, LONG_SCAN) {
            start += LONG_SCAN;
        }
        while start + SHORT_SCAN <= count && !has_match(start, SHORT_SCAN) {
            start += SHORT_SCAN;
        }
    }
    // A match exists, unless another process writes to a mapped file meanwhile.
    let is_at = |&index: &usize| is_match(first.wrapping_offset(index as isize * stride));
    (start..count).find(is_at).unwrap_or(0)
}

#[expect(clippy::eq_op, reason = "a NaN differs from itself")]
fn is_nan<T: Copy + PartialEq>(x: T) -> bool {
    x != x
}
