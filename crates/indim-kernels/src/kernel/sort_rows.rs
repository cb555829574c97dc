//! Rows of an operand of a sort in memory: reads to dense elements or to columns, and writes of them. Holds
//! unsafe code.

use core::ops::{ControlFlow, Range};

use crate::sort_keys::SortElement;
use crate::sort_order::{ITEMS_PER_CALL, SortProgress};

use super::sort_columns::COLUMN_BYTES;

/// Calls `run` with parts of `0..count`, until `progress` stops the run. A part takes about a millisecond.
fn in_parts(
    count: usize,
    progress: &mut SortProgress<'_>,
    mut run: impl FnMut(Range<usize>),
) -> ControlFlow<()> {
    for first in (0..count).step_by(ITEMS_PER_CALL) {
        let part = first..count.min(first + ITEMS_PER_CALL);
        run(part.clone());
        progress(part.len())?;
    }
    ControlFlow::Continue(())
}

/// Rows of an operand of a sort.
#[derive(Debug)]
pub struct SortRows {
    /// The first element of each row.
    pub rows: Vec<*mut u8>,
    /// Elements of a row.
    pub length: usize,
    /// Stride in bytes along a row.
    pub element_stride: isize,
    /// Whether elements of one row are visited together, and not those of one position.
    pub is_by_rows: bool,
}

impl SortRows {
    /// The elements of the rows at these positions.
    pub fn part(&self, positions: Range<usize>) -> SortRows {
        let offset = self.element_stride.wrapping_mul(positions.start as isize);
        SortRows {
            rows: self.rows.iter().map(|row| row.wrapping_offset(offset)).collect(),
            length: positions.len(),
            ..*self
        }
    }

    /// Replaces `elements` by those of the rows, after `map`, which also takes the position in the row; any
    /// nonzero byte of a `bool` becomes 1.
    ///
    /// # Safety
    /// Each row has `length` readable elements of type `T`.
    #[inline(always)]
    pub unsafe fn read<T: SortElement, M: Copy + Default>(
        &self,
        elements: &mut Vec<M>,
        map: impl Fn(usize, T::Storage) -> M,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        let count = self.rows.len() * self.length;
        elements.clear();
        elements.reserve_exact(count);
        in_parts(count, progress, |part| elements.resize(part.end, M::default()))?;
        self.visit(size_of::<T>(), progress, |row, position, from| {
            // SAFETY: `visit` passes the elements of the rows, which the caller ensures are readable.
            let stored = unsafe { from.cast::<T::Storage>().read_unaligned() };
            let element = map(position, T::from_storage(stored).to_storage());
            elements[row * self.length + position] = element;
        })
    }

    /// Replaces `elements` by those at `positions`, which are those of each row in turn.
    ///
    /// # Safety
    /// The rows have readable elements of type `T` at these positions.
    pub unsafe fn gather<T: SortElement>(&self, positions: &[i64], elements: &mut Vec<T::Storage>) {
        elements.clear();
        let rows = positions.chunks_exact((positions.len() / self.rows.len().max(1)).max(1));
        for (&row, positions) in self.rows.iter().zip(rows) {
            elements.extend(positions.iter().map(|&position| {
                let from = row.wrapping_offset(self.element_stride.wrapping_mul(position as isize));
                // SAFETY: the caller ensures that the element is readable.
                let stored = unsafe { from.cast::<T::Storage>().read_unaligned() };
                T::from_storage(stored).to_storage()
            }));
        }
    }

    /// Writes dense elements to the rows, after `map`.
    ///
    /// # Safety
    /// Each row has `length` writable elements of type `S`.
    pub unsafe fn write<M: Copy, S: Copy>(
        &self,
        elements: &[M],
        map: impl Fn(M) -> S,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        self.visit(size_of::<S>(), progress, |row, position, to| {
            let element = map(elements[row * self.length + position]);
            // SAFETY: `visit` passes the elements of the rows, which the caller ensures are writable.
            unsafe { to.cast::<S>().write_unaligned(element) }
        })
    }

    /// Calls `each` with the row, the position and the address of each element, until `progress` stops the
    /// run.
    #[inline(always)]
    fn visit(
        &self,
        size: usize,
        progress: &mut SortProgress<'_>,
        mut each: impl FnMut(usize, usize, *mut u8),
    ) -> ControlFlow<()> {
        if !self.is_by_rows {
            return in_parts(self.length, progress, |part| {
                for position in part {
                    let offset = self.element_stride.wrapping_mul(position as isize);
                    for (row, first) in self.rows.iter().enumerate() {
                        each(row, position, first.wrapping_offset(offset));
                    }
                }
            });
        }
        for (row, &first) in self.rows.iter().enumerate() {
            in_parts(self.length, progress, |part| {
                let mut visit_elements = |stride: isize| {
                    for position in part.clone() {
                        let offset = stride.wrapping_mul(position as isize);
                        each(row, position, first.wrapping_offset(offset));
                    }
                };
                // A constant stride lets the compiler use vectors.
                match self.element_stride == size as isize {
                    true => visit_elements(size as isize),
                    false => visit_elements(self.element_stride),
                }
            })?;
        }
        ControlFlow::Continue(())
    }

    /// Copies the element at `position` of row `row` to `columns[position][row]`.
    ///
    /// # Safety
    /// - each row has readable elements of type `T`;
    /// - `columns` has room for a [`super::sort_columns::ColumnRow`] for each position.
    pub unsafe fn read_columns<T: SortElement>(&self, columns: *mut T::Storage) {
        self.visit_columns::<T::Storage>(|column, from| {
            // SAFETY: `visit_columns` passes the elements of the rows and the indices of `columns`, all of
            // which the caller ensures are valid.
            unsafe {
                let stored = from.cast::<T::Storage>().read_unaligned();
                columns.add(column).write(T::from_storage(stored).to_storage());
            }
        });
    }

    /// Copies `columns[position][row]` to the element at `position` of row `row`.
    ///
    /// # Safety
    /// - each row has writable elements of type `T`;
    /// - `columns` has a [`super::sort_columns::ColumnRow`] for each position.
    pub unsafe fn write_columns<T: SortElement>(&self, columns: *const T::Storage) {
        self.visit_columns::<T::Storage>(|column, to| {
            // SAFETY: like in `read_columns`, with reads and writes exchanged.
            unsafe { to.cast::<T::Storage>().write_unaligned(columns.add(column).read()) }
        });
    }

    /// Calls `each` with the index of each element in rows of columns, and its address.
    #[inline(always)]
    fn visit_columns<S>(&self, mut each: impl FnMut(usize, *mut u8)) {
        let width = COLUMN_BYTES / size_of::<S>();
        let size = size_of::<S>() as isize;
        let is_dense = self.rows.windows(2).all(|pair| pair[1] == pair[0].wrapping_offset(size));
        if is_dense && let Some(&first) = self.rows.first() {
            for position in 0..self.length {
                let first = first.wrapping_offset(self.element_stride * position as isize);
                // A constant stride lets the compiler use vectors.
                for row in 0..self.rows.len() {
                    each(position * width + row, first.wrapping_offset(size * row as isize));
                }
            }
            return;
        }
        for (row, first) in self.rows.iter().enumerate() {
            for position in 0..self.length {
                let offset = self.element_stride.wrapping_mul(position as isize);
                each(position * width + row, first.wrapping_offset(offset));
            }
        }
    }
}
