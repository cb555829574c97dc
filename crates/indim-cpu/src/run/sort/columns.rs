//! Sorts of short rows, several rows together: each row is a column of a sorting network. Holds unsafe code.

use indim_kernels::{
    COLUMN_BYTES, ColumnOrder, ColumnRow, SortColumnsFn, SortElement, SortRows,
    sort_columns_function,
};
use indim_ops::{DType, Level};

/// Maximum elements of a row, whose columns, of 64 bytes an element, stay in L1 or L2. At this length a
/// network takes 1.5 to 6 nanoseconds an element, and a radix sort 3 to 20; both the least for the narrowest
/// types.
const MAX_LENGTH: usize = 1024;

/// Minimum number of rows.
const MIN_ROWS: usize = 5;

/// Number of rows of `length` elements that are sorted together; 1 if each is sorted alone.
pub(super) fn rows_together(dtype: DType, length: usize) -> usize {
    match ColumnOrder::new(dtype, false) {
        Some(_) if (2..=MAX_LENGTH).contains(&length) => COLUMN_BYTES / dtype.size(),
        _ => 1,
    }
}

/// Whether sorts of single rows take less time than a network. The time of a network does not depend on the
/// number of rows.
fn are_few(rows: usize, element_size: usize) -> bool {
    rows < MIN_ROWS.max(COLUMN_BYTES / element_size / 4)
}

/// The sort of rows of one length, with its scratch memory.
pub(super) struct ColumnSort {
    sort: SortColumnsFn,
    order: ColumnOrder,
    /// One row of columns for each position.
    positions: Vec<ColumnRow>,
}

impl ColumnSort {
    /// `None` if rows of `length` elements are sorted one by one.
    pub(super) fn new(dtype: DType, is_descending: bool, length: usize) -> Option<ColumnSort> {
        if rows_together(dtype, length) == 1 {
            return None;
        }
        let order = ColumnOrder::new(dtype, is_descending)?;
        // All levels give the same bits, so this is the function of the processor's highest level.
        let sort = sort_columns_function(dtype.size(), Level::detect())?;
        Some(ColumnSort { sort, order, positions: vec![ColumnRow([0; COLUMN_BYTES]); length] })
    }

    /// Sorts the rows of `keys` and writes them to each of `stores`. Returns `false`, and writes nothing, if
    /// rows must be sorted one by one: they are few, or a network might exchange elements that are equal.
    ///
    /// # Safety
    /// - the rows of `keys` are readable, and those of `stores` writable, with elements of type `T`;
    /// - all blocks have the same number of rows, at most [`rows_together`], of the length of this sort.
    pub(super) unsafe fn sort<T: SortElement>(
        &mut self,
        keys: &SortRows,
        stores: impl Iterator<Item = SortRows>,
    ) -> bool {
        if are_few(keys.rows.len(), size_of::<T::Storage>()) {
            return false;
        }
        if keys.rows.len() < COLUMN_BYTES / size_of::<T::Storage>() {
            self.positions.fill(ColumnRow([0; COLUMN_BYTES]));
        }
        let columns = self.positions.as_mut_ptr().cast::<T::Storage>();
        // SAFETY:
        // - the caller ensures readable rows, as many as a row of `positions` has room for, and a
        //   position for each element;
        // - the function was looked up for a level of this processor.
        let is_sorted = unsafe {
            keys.read_columns::<T>(columns);
            (self.sort)(&mut self.positions, &self.order)
        };
        for store in stores.filter(|_| is_sorted) {
            // SAFETY: like the rows of `keys`; the caller ensures that the rows of a store are writable.
            unsafe { store.write_columns::<T>(self.positions.as_ptr().cast::<T::Storage>()) }
        }
        is_sorted
    }
}
