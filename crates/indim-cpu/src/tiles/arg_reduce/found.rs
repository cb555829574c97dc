//! State of a store's arg-reduction: extremes and indices in a thread's memory, and the results of pieces
//! in shared memory. Holds unsafe code.

use core::ops::Range;

use indim_kernels::{ColumnExtremes, SearchFunctions, SearchedRows};
use indim_loops::walk::reduction::{UnitForm, max_nodes};
use indim_ops::meaning::reduction::LANES;

use crate::tiles::code::TileCode;
use crate::tiles::memory::{Run, gather};
use crate::tiles::store_fold::{RESULT_ALIGNMENT, StoreFold};
use crate::tiles::tree::{Columns, Values, takes_in_turn};

/// The arg-reduction of a store.
#[derive(Debug)]
pub(super) struct StoreArgReduction {
    pub(super) store: usize,
    pub(super) functions: SearchFunctions,
    /// Columns or rows that are searched together.
    width: usize,
    /// Whether the values of a block are folded in turn.
    in_turn: bool,
    /// Stride between results of a tile, in bytes.
    result_stride: isize,
    places: Places,
    /// Offset of the pieces' results in shared memory, in bytes.
    left: usize,
}

/// Offsets in a thread's memory, in bytes.
#[derive(Debug)]
struct Places {
    lanes: usize,
    nodes: usize,
    extremes: usize,
    indices: usize,
}

/// Appends `elements` elements of `size` bytes and returns their offset; `end` grows.
pub(super) fn place(end: &mut usize, elements: usize, size: usize) -> usize {
    let first = *end;
    *end += (elements * size).next_multiple_of(64);
    first
}

/// Axes of fewer elements are short: there one pass for extremes and indices costs less than one pass for
/// extremes and a search for each.
const SHORT_AXIS: usize = 64;

/// Elements of short rows that are searched together: they and their transposition stay in L1.
const TOGETHER_ELEMENTS: usize = 2048;

/// Upper bound of the rows that are searched together.
const TOGETHER_ROWS: usize = 256;

/// Whether an axis of this length is short.
pub(super) fn is_short(length: usize) -> bool {
    length < SHORT_AXIS
}

/// Number of short rows of this length that are searched together.
fn rows_together(length: usize) -> usize {
    (TOGETHER_ELEMENTS / length / LANES * LANES).clamp(LANES, TOGETHER_ROWS)
}

impl StoreArgReduction {
    /// The arg-reduction of `store` over units of this form, in blocks of at most `block` steps; its memory
    /// follows `end`.
    pub(super) fn new(
        code: &TileCode,
        store: usize,
        (form, block): (UnitForm, usize),
        result_stride: isize,
        end: &mut usize,
    ) -> StoreArgReduction {
        let fold = &code.folds[store];
        let (width, lanes) = match form {
            UnitForm::Columns(columns) => (columns, LANES * columns),
            UnitForm::Row(length) if is_short(length) => {
                (rows_together(length), length * rows_together(length))
            }
            UnitForm::Row(_) => (1, LANES),
        };
        let nodes = match form {
            UnitForm::Columns(columns) => max_nodes(block) * columns,
            UnitForm::Row(_) => block,
        };
        StoreArgReduction {
            store,
            functions: fold.search.expect("invariant: every reduction of such a nest is a search"),
            width,
            in_turn: takes_in_turn(fold, width, block),
            result_stride,
            places: Places {
                lanes: place(end, lanes, fold.size),
                nodes: place(end, nodes, fold.size),
                extremes: place(end, width, fold.size),
                indices: place(end, width, size_of::<usize>()),
            },
            left: 0,
        }
    }

    /// Places the results of `pieces` pieces in shared memory from `first` on; returns their end.
    pub(super) fn leave_from(&mut self, first: usize, pieces: usize, fold: &StoreFold) -> usize {
        self.left = first;
        first + pieces * self.left_bytes(fold)
    }

    /// Bytes of a piece's result.
    fn left_bytes(&self, fold: &StoreFold) -> usize {
        let indices = (self.width * size_of::<usize>()).next_multiple_of(RESULT_ALIGNMENT);
        self.extremes_left(fold) + indices
    }

    fn extremes_left(&self, fold: &StoreFold) -> usize {
        (self.width * fold.size).next_multiple_of(RESULT_ALIGNMENT)
    }
}

/// The arg-reduction of a store with its memory.
pub(super) struct Finding<'a> {
    pub(super) search: &'a StoreArgReduction,
    pub(super) fold: &'a StoreFold,
    pub(super) memory: *mut u8,
    pub(super) shared: *mut u8,
}

impl<'a> Finding<'a> {
    /// The tree that folds a block to its extremes.
    pub(super) fn columns(&self) -> Columns<'a> {
        let StoreArgReduction { width, in_turn, ref places, .. } = *self.search;
        let (lanes, nodes) = (places.lanes, places.nodes);
        let [lanes, nodes] = [lanes, nodes].map(|place| self.memory.wrapping_add(place));
        Columns { fold: self.fold, width, lanes, nodes, in_turn }
    }

    /// Memory of the extremes and indices: the thread's, or that of a piece in shared memory.
    pub(super) fn found(&self, left_by: Option<usize>) -> ColumnExtremes {
        let Places { extremes, indices, .. } = self.search.places;
        match left_by {
            Some(piece) => self.left(piece),
            None => ColumnExtremes {
                extremes: self.memory.wrapping_add(extremes),
                indices: self.memory.wrapping_add(indices).cast(),
            },
        }
    }

    fn left(&self, piece: usize) -> ColumnExtremes {
        let offset = self.search.left + piece * self.search.left_bytes(self.fold);
        let extremes = self.shared.wrapping_add(offset);
        let indices = extremes.wrapping_add(self.search.extremes_left(self.fold));
        ColumnExtremes { extremes, indices: indices.cast() }
    }

    /// Combines the results of a unit's pieces.
    ///
    /// # Safety
    /// Every piece has left its extremes, with indices along the whole axis.
    pub(super) unsafe fn combine(&self, pieces: Range<usize>) -> ColumnExtremes {
        let StoreArgReduction { functions, width, .. } = *self.search;
        let found = self.found(None);
        // SAFETY: the caller vouches for the pieces' results.
        unsafe {
            for (index, piece) in pieces.clone().enumerate() {
                (functions.keep)(found, self.left(piece).extremes, width, index);
            }
            for column in 0..width {
                let index = found.indices.add(column);
                *index = *self.left(pieces.start + *index).indices.add(column);
            }
        }
        found
    }

    /// Searches `count` dense rows, one by one, and writes the indices of their extremes.
    ///
    /// # Safety
    /// The rows are valid for reads and the results from `target` on for writes; a block has at least
    /// `count` rows.
    pub(super) unsafe fn search_rows(
        &self,
        rows: Values,
        (count, length): (usize, usize),
        target: *mut u8,
    ) {
        if is_short(length) {
            // SAFETY: the caller vouches for rows and results, and the axis is short.
            return unsafe { self.search_together(rows, (count, length), target) };
        }
        let (tree, size) = (self.columns(), self.fold.size);
        // SAFETY: the caller vouches for rows and results.
        unsafe {
            tree.fold_rows(rows, count, length);
            for row in 0..count {
                let (find, extreme) = (self.search.functions.find, tree.nodes.add(row * size));
                let index = find(rows.at(row), length, size as isize, extreme);
                self.write_one(target, row, index);
            }
        }
    }

    /// Searches short rows side by side, as the columns of a transposed block.
    ///
    /// # Safety
    /// Like [`Finding::search_rows`], for rows of a short axis.
    unsafe fn search_together(
        &self,
        rows: Values,
        (count, length): (usize, usize),
        target: *mut u8,
    ) {
        let (size, found) = (self.fold.size, self.found(None));
        let transposed = self.memory.wrapping_add(self.search.places.lanes);
        for first in (0..count).step_by(self.search.width) {
            // The kernel is slow for columns that fill no vector, so the last block overlaps the one
            // before.
            let width = (count - first).min(self.search.width);
            let width = width.next_multiple_of(LANES).min(count);
            let first = first.min(count - width);
            let steps = Run { count: length, stride: size as isize };
            let run = Run { count: width, stride: rows.step_stride };
            let searched =
                SearchedRows { count: length, stride: (width * size) as isize, width, start: 0 };
            // SAFETY:
            // - the caller vouches for rows and results;
            // - `StoreArgReduction::new` has reserved memory for a transposed block, and for an extreme and
            // an   index of each row.
            unsafe {
                gather(transposed, rows.at(first), steps, run, size);
                (self.search.functions.take)(found, transposed, searched);
                for row in 0..width {
                    self.write_one(target, first + row, *found.indices.add(row));
                }
            }
        }
    }

    /// Adds `start` to a piece's indices, so that they count along the whole axis.
    ///
    /// # Safety
    /// `found` has the indices of all columns, counted from step `start`.
    pub(super) unsafe fn shift(&self, found: ColumnExtremes, start: usize) {
        // SAFETY: the caller vouches for the indices.
        (0..self.search.width).for_each(|column| unsafe { *found.indices.add(column) += start });
    }

    /// Writes the indices of the extremes.
    ///
    /// # Safety
    /// `found` has the indices of all columns; the results from `target` on are valid for writes.
    pub(super) unsafe fn write(&self, target: *mut u8, found: ColumnExtremes) {
        for column in 0..self.search.width {
            // SAFETY: the caller vouches for `found` and for the results.
            unsafe { self.write_one(target, column, *found.indices.add(column)) }
        }
    }

    /// # Safety
    /// The result is valid for writes.
    unsafe fn write_one(&self, target: *mut u8, result: usize, index: usize) {
        let place = target.wrapping_offset(result as isize * self.search.result_stride);
        // SAFETY: the caller vouches for the result.
        unsafe { place.cast::<i64>().write_unaligned(index as i64) }
    }
}
