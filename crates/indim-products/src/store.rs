//! Stores of wide sums: rounding to the result's type, at any strides. Holds unsafe code.

use crate::element::{ProductElement, Round, WideSum};

/// The arguments of a store. Offsets are in bytes.
pub(crate) struct StoreArguments {
    /// The wide sums, or rounded elements, row by row.
    pub(crate) from: *const u8,
    /// Sums from one row to the next.
    pub(crate) width: usize,
    pub(crate) out: *mut u8,
    /// Offsets of the result for each row.
    pub(crate) rows: *const isize,
    pub(crate) row_count: usize,
    /// Offsets of the result for each column.
    pub(crate) columns: *const isize,
    pub(crate) column_count: usize,
}

/// A store compiled for a level.
///
/// # Safety
/// - `from` is valid for reads of `row_count` rows, aligned to the sums;
/// - the offsets are valid for reads, and the result for writes at the sum of each row offset and each
///   column offset;
/// - the processor has the level.
pub(crate) type StoreFn = unsafe fn(&StoreArguments);

/// Rounds and stores each sum.
///
/// # Safety
/// Like [`StoreFn`].
#[inline(always)]
pub(crate) unsafe fn run<W: Round<O> + Copy, O>(store: &StoreArguments) {
    for row in 0..store.row_count {
        // SAFETY: the caller ensures offsets, sums and results.
        unsafe {
            let from = store.from.cast::<W>().add(row * store.width);
            let to = store.out.wrapping_offset(*store.rows.add(row));
            for column in 0..store.column_count {
                let place = to.wrapping_offset(*store.columns.add(column));
                place.cast::<O>().write_unaligned(from.add(column).read().round());
            }
        }
    }
}

/// Stores rounded elements, which `from` holds instead of wide sums.
///
/// # Safety
/// Like [`StoreFn`], with elements of type `E`; needs no level.
pub(crate) unsafe fn copy<E: ProductElement>(store: &StoreArguments) {
    for row in 0..store.row_count {
        // SAFETY: the caller ensures offsets, elements and results.
        unsafe {
            let from = store.from.cast::<E>().add(row * store.width);
            let to = store.out.wrapping_offset(*store.rows.add(row));
            for column in 0..store.column_count {
                let place = to.wrapping_offset(*store.columns.add(column));
                place.cast::<E>().write_unaligned(from.add(column).read());
            }
        }
    }
}

/// The arguments of an addition of wide sums.
pub(crate) struct AddArguments {
    pub(crate) to: *mut u8,
    pub(crate) from: *const u8,
    pub(crate) count: usize,
}

/// An addition of wide sums compiled for a level.
///
/// # Safety
/// - `to` and `from` are valid for `count` sums, aligned to them, and do not overlap;
/// - the processor has the level.
pub(crate) type AddFn = unsafe fn(&AddArguments);

/// Adds each sum of `from` to the sum at the same position of `to`.
///
/// # Safety
/// Like [`AddFn`].
#[inline(always)]
pub(crate) unsafe fn add<E: ProductElement>(add: &AddArguments) {
    let (to, from) = (add.to.cast::<E::Wide>(), add.from.cast::<E::Wide>());
    for index in 0..add.count {
        // SAFETY: the caller ensures `count` sums of both.
        unsafe {
            let sum = to.add(index);
            sum.write(sum.read().add(from.add(index).read()));
        }
    }
}
