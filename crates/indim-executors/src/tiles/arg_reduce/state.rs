//! The state of the arg-reduction of one store: extremes and indices in the memory of a thread, and the
//! results of segments in shared memory. Holds unsafe code.
//!
//! If few long units are cut along the reduced axis so that threads share them, a *segment* is one part of a
//! unit. Each segment has its own extremes and indices, which are merged after all segments have run.

use core::ops::Range;

use indim_kernels::{ArgReduceFunctions, ArgReduceRows, ColumnExtremes};
use indim_loops::walk::reduction::{UnitForm, max_nodes};
use indim_ops::meaning::reduction::REDUCTION_LANES;

use crate::tiles::code::TileCode;
use crate::tiles::memory::{ElementRun, gather};
use crate::tiles::store_fold::{RESULT_ALIGNMENT, StoreFold};
use crate::tiles::tree::{ColumnTree, StepValues, is_sequential};

/// The arg-reduction of one store: its functions, and the layout of its memory.
#[derive(Debug)]
pub(super) struct StoreArgReduction {
    pub(super) store: usize,
    pub(super) functions: ArgReduceFunctions,
    /// Number of columns, or of short rows, that are reduced together.
    width: usize,
    /// Whether the fold of a block is sequential.
    is_sequential: bool,
    /// Stride between results of a tile, in bytes.
    result_stride: isize,
    offsets: StateOffsets,
    /// Offset of the results of all segments in shared memory, in bytes.
    segment_extremes: usize,
}

/// Offsets in the memory of a thread, in bytes. The transposed block of short rows takes the place of the
/// lanes.
#[derive(Debug)]
struct StateOffsets {
    lanes: usize,
    nodes: usize,
    extremes: usize,
    indices: usize,
}

/// Reserves `elements` elements of `size` bytes at `end`, which grows; returns their offset.
pub(super) fn reserve(end: &mut usize, elements: usize, size: usize) -> usize {
    let first = *end;
    *end += (elements * size).next_multiple_of(64);
    first
}

/// Axes of fewer elements are short: one pass for extremes with indices costs less than one pass for extremes
/// and a search for each.
const MIN_LONG_AXIS: usize = 64;

/// Elements of short rows that are transposed together: source and transposed block stay in L1.
const TRANSPOSED_ELEMENTS: usize = 2048;

/// Upper bound of the rows that are transposed together.
const MAX_TRANSPOSED_ROWS: usize = 256;

/// Whether an axis of this length is short.
pub(super) fn is_short(length: usize) -> bool {
    length < MIN_LONG_AXIS
}

/// Number of short rows of this length that are transposed together.
fn transposed_rows(length: usize) -> usize {
    (TRANSPOSED_ELEMENTS / length / REDUCTION_LANES * REDUCTION_LANES)
        .clamp(REDUCTION_LANES, MAX_TRANSPOSED_ROWS)
}

impl StoreArgReduction {
    /// The arg-reduction of `store` over units of this form, in blocks of at most `block` steps: positions
    /// along the reduced axis for columns, whole rows for rows. Its memory is reserved at `end`, which grows.
    pub(super) fn new(
        code: &TileCode,
        store: usize,
        (form, block): (UnitForm, usize),
        result_stride: isize,
        end: &mut usize,
    ) -> StoreArgReduction {
        let fold = &code.folds[store];
        let (width, lanes) = match form {
            UnitForm::Columns(columns) => (columns, REDUCTION_LANES * columns),
            UnitForm::Row(length) if is_short(length) => {
                (transposed_rows(length), length * transposed_rows(length))
            }
            UnitForm::Row(_) => (1, REDUCTION_LANES),
        };
        let nodes = match form {
            UnitForm::Columns(columns) => max_nodes(block) * columns,
            UnitForm::Row(_) => block,
        };
        StoreArgReduction {
            store,
            functions: fold
                .arg_reduce
                .expect("invariant: every store of such a nest has an arg-reduction"),
            width,
            is_sequential: is_sequential(fold, width, block),
            result_stride,
            offsets: StateOffsets {
                lanes: reserve(end, lanes, fold.size),
                nodes: reserve(end, nodes, fold.size),
                extremes: reserve(end, width, fold.size),
                indices: reserve(end, width, size_of::<usize>()),
            },
            segment_extremes: 0,
        }
    }

    /// Reserves shared memory for the results of `segments` segments at offset `first`; returns its end.
    pub(super) fn reserve_segments(
        &mut self,
        first: usize,
        segments: usize,
        fold: &StoreFold,
    ) -> usize {
        self.segment_extremes = first;
        first + segments * self.segment_bytes(fold)
    }

    /// Bytes of the result of a segment: extremes, then indices.
    fn segment_bytes(&self, fold: &StoreFold) -> usize {
        let indices = (self.width * size_of::<usize>()).next_multiple_of(RESULT_ALIGNMENT);
        self.extremes_bytes(fold) + indices
    }

    /// Bytes of the extremes of a segment.
    fn extremes_bytes(&self, fold: &StoreFold) -> usize {
        (self.width * fold.size).next_multiple_of(RESULT_ALIGNMENT)
    }
}

/// The arg-reduction of one store with the memory of a run.
pub(super) struct StoreState<'a> {
    pub(super) reduction: &'a StoreArgReduction,
    pub(super) fold: &'a StoreFold,
    /// Memory of the thread.
    pub(super) memory: *mut u8,
    /// Memory that all threads of the run share.
    pub(super) shared: *mut u8,
}

impl<'a> StoreState<'a> {
    /// The tree that folds the columns of a block to their extremes.
    pub(super) fn columns(&self) -> ColumnTree<'a> {
        let StoreArgReduction { width, is_sequential, ref offsets, .. } = *self.reduction;
        let (lanes, nodes) = (offsets.lanes, offsets.nodes);
        let [lanes, nodes] = [lanes, nodes].map(|offset| self.memory.wrapping_add(offset));
        ColumnTree { fold: self.fold, width, lanes, nodes, is_sequential }
    }

    /// Memory of the extremes and indices: of a segment in shared memory, or of the thread without a segment.
    pub(super) fn extremes_of(&self, shared_segment: Option<usize>) -> ColumnExtremes {
        let StateOffsets { extremes, indices, .. } = self.reduction.offsets;
        match shared_segment {
            Some(segment) => self.segment_extremes(segment),
            None => ColumnExtremes {
                extremes: self.memory.wrapping_add(extremes),
                indices: self.memory.wrapping_add(indices).cast(),
            },
        }
    }

    /// The result of a segment in shared memory.
    fn segment_extremes(&self, segment: usize) -> ColumnExtremes {
        let offset =
            self.reduction.segment_extremes + segment * self.reduction.segment_bytes(self.fold);
        let extremes = self.shared.wrapping_add(offset);
        let indices = extremes.wrapping_add(self.reduction.extremes_bytes(self.fold));
        ColumnExtremes { extremes, indices: indices.cast() }
    }

    /// Merges the results of the segments of a unit.
    ///
    /// # Safety
    /// - each segment has its extremes in shared memory, with indices along the whole axis;
    /// - no thread writes them, and `memory` belongs to this thread.
    pub(super) unsafe fn combine(&self, segments: Range<usize>) -> ColumnExtremes {
        let StoreArgReduction { functions, width, .. } = *self.reduction;
        let best = self.extremes_of(None);
        // SAFETY:
        // - the caller ensures the extremes and indices of each segment, which `reserve` and `segment_bytes`
        //   align;
        // - `merge` leaves in each index the position of a segment among `segments`, which the loop replaces.
        unsafe {
            for (index, segment) in segments.clone().enumerate() {
                (functions.merge)(best, self.segment_extremes(segment).extremes, width, index);
            }
            for column in 0..width {
                let index = best.indices.add(column);
                *index = *self.segment_extremes(segments.start + *index).indices.add(column);
            }
        }
        best
    }

    /// Reduces `count` rows of `length` contiguous elements and writes the indices of their extremes.
    ///
    /// # Safety
    /// - `rows` are valid for reads of `count` rows;
    /// - the results from `target` on are valid for writes;
    /// - `count` is at most the number of rows of a block, for which `new` reserved memory of this thread.
    pub(super) unsafe fn reduce_rows(
        &self,
        rows: StepValues,
        (count, length): (usize, usize),
        target: *mut u8,
    ) {
        if is_short(length) {
            // SAFETY: the caller has the same obligations, and the rows are short.
            return unsafe { self.reduce_transposed(rows, (count, length), target) };
        }
        let (tree, size) = (self.columns(), self.fold.size);
        // SAFETY:
        // - the caller ensures readable rows and writable results;
        // - `fold_rows` writes the extreme of each row to a node, and a block has nodes for `count` rows.
        unsafe {
            tree.fold_rows(rows, count, length);
            for row in 0..count {
                let (find, extreme) = (self.reduction.functions.find, tree.nodes.add(row * size));
                let index = find(rows.at(row), length, size as isize, extreme);
                self.write_one(target, row, index);
            }
        }
    }

    /// Reduces short rows as the columns of a transposed block.
    ///
    /// # Safety
    /// - the obligations of [`StoreState::reduce_rows`];
    /// - `length` is that of a short axis.
    unsafe fn reduce_transposed(
        &self,
        rows: StepValues,
        (count, length): (usize, usize),
        target: *mut u8,
    ) {
        let (size, best) = (self.fold.size, self.extremes_of(None));
        let transposed = self.memory.wrapping_add(self.reduction.offsets.lanes);
        for first in (0..count).step_by(self.reduction.width) {
            // The kernel is slow for columns that do not fill a vector, so the last block overlaps the block
            // before it.
            let width = (count - first).min(self.reduction.width);
            let width = width.next_multiple_of(REDUCTION_LANES).min(count);
            let first = first.min(count - width);
            let steps = ElementRun { count: length, stride: size as isize };
            let run = ElementRun { count: width, stride: rows.step_stride };
            let arg_rows =
                ArgReduceRows { count: length, stride: (width * size) as isize, width, start: 0 };
            // SAFETY:
            // - the caller ensures readable rows and writable results;
            // - `new` reserved a transposed block of `width` rows, and an extreme and an index of each;
            // - `first + width` is at most `count`.
            unsafe {
                gather(transposed, rows.at(first), steps, run, size);
                (self.reduction.functions.update)(best, transposed, arg_rows);
                for row in 0..width {
                    self.write_one(target, first + row, *best.indices.add(row));
                }
            }
        }
    }

    /// Adds `start` to the indices of a segment, so that they count from the start of the axis.
    ///
    /// # Safety
    /// - `best` has the index of each column, counted from step `start`;
    /// - no other thread accesses them.
    pub(super) unsafe fn shift(&self, best: ColumnExtremes, start: usize) {
        // SAFETY: the caller ensures an index for each of `width` columns.
        (0..self.reduction.width).for_each(|column| unsafe { *best.indices.add(column) += start });
    }

    /// Writes the indices of the extremes.
    ///
    /// # Safety
    /// - `best` has the index of each column;
    /// - the results from `target` on are valid for writes.
    pub(super) unsafe fn write(&self, target: *mut u8, best: ColumnExtremes) {
        for column in 0..self.reduction.width {
            // SAFETY: `column` is below `width`, the caller's number of indices and results.
            unsafe { self.write_one(target, column, *best.indices.add(column)) }
        }
    }

    /// Writes one result.
    ///
    /// # Safety
    /// The result is valid for writes.
    unsafe fn write_one(&self, target: *mut u8, result: usize, index: usize) {
        let to = target.wrapping_offset(result as isize * self.reduction.result_stride);
        // SAFETY: the caller ensures that the result is writable; it need not be aligned.
        unsafe { to.cast::<i64>().write_unaligned(index as i64) }
    }
}
