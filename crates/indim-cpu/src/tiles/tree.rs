//! The fold tree of `indim_ops::fold`, over columns side by side. Holds unsafe code.
//!
//! Rows of values go into lanes: `LANES` rows of accumulators, one accumulator per column. When a block of
//! the tree is complete, its lanes are folded into one row, a node, which is combined with the nodes before
//! it. If the order does not matter, or if the axis is short, values are folded in turn into one row, the
//! first node.

use core::ops::Range;

use indim_kernels::{FoldedRows, RowFoldFn};
use indim_ops::meaning::reduction::{BLOCK, LANES};

use crate::tiles::memory::{Run, scatter};
use crate::tiles::store_fold::StoreFold;

/// The values of a tile.
#[derive(Clone, Copy)]
pub(super) struct Values {
    pub(super) first: *const u8,
    /// Stride between steps, in bytes.
    pub(super) step_stride: isize,
}

impl Values {
    pub(super) fn at(self, step: usize) -> *const u8 {
        self.first.wrapping_offset(step as isize * self.step_stride)
    }
}

/// The tree over some columns, under construction.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) fold: &'a StoreFold,
    pub(super) width: usize,
    pub(super) lanes: *mut u8,
    pub(super) nodes: *mut u8,
    /// Whether values are folded in turn.
    pub(super) in_turn: bool,
}

/// Longest axis for which folding in turn gives the bits of the tree, if an identity changes no value.
const IN_TURN: usize = 4;

/// Rows folded in turn over all columns before the next rows.
const ROWS_IN_TURN: usize = 16;

/// Whether the values of `width` columns along an axis of this length are folded in turn.
pub(super) fn takes_in_turn(fold: &StoreFold, width: usize, length: usize) -> bool {
    let is_short = length <= IN_TURN && fold.is_neutral;
    // A single column goes through lanes unless a kernel folds it as a row.
    let is_vector = width >= LANES || (width == 1 && fold.rows.is_some());
    is_short || (!fold.is_ordered && is_vector)
}

impl Columns<'_> {
    fn lane(&self, lane: usize) -> *mut u8 {
        self.lanes.wrapping_add(lane * self.width * self.fold.size)
    }

    fn node(&self, node: usize) -> *mut u8 {
        self.nodes.wrapping_add(node * self.width * self.fold.size)
    }

    /// Folds these steps along the reduced axis; complete blocks become nodes.
    ///
    /// # Safety
    /// The values of the steps are valid for reads; all steps before have been folded.
    pub(super) unsafe fn take(&self, values: Values, steps: Range<usize>) {
        if self.in_turn {
            // SAFETY: the caller vouches for the steps.
            return unsafe { self.take_in_turn(values, steps) };
        }
        let mut step = steps.start;
        while step < steps.end {
            let values = Values { first: values.at(step - steps.start), ..values };
            if let Some((fold, node)) = self.row_of_a_node(values, step..steps.end) {
                // SAFETY: the caller vouches for the steps, which the loop folds in order.
                unsafe {
                    let rows = FoldedRows { count: 1, stride: 0, width: node, begins: false };
                    fold(self.lanes, values.first, rows);
                    self.add_node(step / node);
                }
                step += node;
                continue;
            }
            let end = steps.end.min((step / BLOCK + 1) * BLOCK);
            // SAFETY: the caller vouches for the steps, which the loop folds in order.
            unsafe {
                self.take_in_block(values, step % BLOCK..step % BLOCK + (end - step));
                if end.is_multiple_of(BLOCK) {
                    self.add_block(end / BLOCK - 1);
                }
            }
            step = end;
        }
    }

    /// Folds these steps into the first node.
    ///
    /// # Safety
    /// Like [`Columns::take`].
    unsafe fn take_in_turn(&self, values: Values, steps: Range<usize>) {
        if let Some(fold) = self.fold.rows.filter(|_| self.is_row(values)) {
            let rows = FoldedRows { count: 1, stride: 0, width: steps.len(), begins: false };
            // SAFETY: the caller vouches for the steps.
            unsafe {
                fold(self.lanes, values.first, rows);
                match steps.start {
                    0 => self.leave(0),
                    _ => self.combine(self.nodes, self.lanes, 1, 1),
                }
            }
            return;
        }
        for step in steps.clone().step_by(ROWS_IN_TURN) {
            let count = ROWS_IN_TURN.min(steps.end - step);
            let (stride, begins) = (values.step_stride, step == 0);
            let rows = FoldedRows { count, stride, width: self.width, begins };
            // SAFETY: the caller vouches for these rows.
            unsafe { (self.fold.take)(self.nodes, values.at(step - steps.start), rows) }
        }
    }

    /// Whether the values are one contiguous column.
    fn is_row(&self, values: Values) -> bool {
        self.width == 1 && values.step_stride == self.fold.source_size as isize
    }

    /// The kernel that folds a dense row into a node, and how many of these steps it takes.
    fn row_of_a_node(&self, values: Values, steps: Range<usize>) -> Option<(RowFoldFn, usize)> {
        let blocks = steps.len() / BLOCK;
        if !self.is_row(values) || blocks == 0 || !steps.start.is_multiple_of(BLOCK) {
            return None;
        }
        let level = (steps.start / BLOCK).trailing_zeros().min(blocks.ilog2());
        Some((self.fold.rows?, BLOCK << level))
    }

    /// Folds each of `count` whole rows into a node.
    ///
    /// # Safety
    /// The rows, which are dense, are `step_stride` bytes apart and valid for reads.
    pub(super) unsafe fn fold_rows(&self, values: Values, count: usize, length: usize) {
        // A single row is dense, and faster loops exist for that.
        let dense = (length * self.fold.source_size) as isize;
        let stride = if count == 1 { dense } else { values.step_stride };
        let rows = FoldedRows { count, stride, width: length, begins: false };
        let fold = self.fold.rows.expect("invariant: rows are walked where there are kernels");
        // SAFETY: the caller vouches for the rows; the accumulators have room for `count` nodes.
        unsafe { fold(self.nodes, values.first, rows) }
    }

    /// Folds these steps of one block into its lanes.
    ///
    /// # Safety
    /// The values are valid for reads; all steps of the block before have been folded.
    unsafe fn take_in_block(&self, values: Values, steps: Range<usize>) {
        let row_bytes = (self.width * self.fold.source_size) as isize;
        let stride = LANES as isize * values.step_stride;
        let mut step = steps.start;
        if values.step_stride != row_bytes {
            let lanes_end = steps.end.min(steps.start + LANES);
            for step in steps.start..lanes_end {
                let count = (steps.end - step).div_ceil(LANES);
                let rows = FoldedRows { count, stride, width: self.width, begins: step < LANES };
                let (lane, values) = (self.lane(step % LANES), values.at(step - steps.start));
                // SAFETY: the caller vouches for the steps; these share a lane.
                unsafe { (self.fold.take)(lane, values, rows) }
            }
            return;
        }
        while step < steps.end {
            let (lane, left) = (step % LANES, steps.end - step);
            let (count, lanes) = match lane == 0 && left >= LANES {
                true => (left / LANES, LANES),
                false => (1, left.min(LANES - lane)),
            };
            let rows =
                FoldedRows { count, stride, width: lanes * self.width, begins: step < LANES };
            let values = values.at(step - steps.start);
            // SAFETY: the caller vouches for the steps; contiguous steps are one row.
            unsafe { (self.fold.take)(self.lane(lane), values, rows) }
            step += count * lanes;
        }
    }

    /// Folds the lanes of block `index` into its node.
    ///
    /// # Safety
    /// All steps of the block have been folded; the nodes of all blocks before exist.
    pub(super) unsafe fn add_block(&self, index: usize) {
        // SAFETY: the caller vouches for the lanes and nodes.
        unsafe {
            self.fold_lanes(LANES);
            self.add_node(index);
        }
    }

    /// Folds each of `count` groups of 32 lanes, `live` of them with values, into an element from `to` on.
    ///
    /// # Safety
    /// The lanes are accumulators with room after them; a kernel for rows exists.
    pub(super) unsafe fn fold_each(&self, to: *mut u8, count: usize, live: usize) {
        let stride = (LANES * self.fold.size) as isize;
        let rows = FoldedRows { count, stride, width: live, begins: false };
        let fold = self.fold.lanes.expect("invariant: asked for where there is a kernel");
        // SAFETY: the caller vouches for the lanes, and `width` limits each group to those with values.
        unsafe { fold(to, self.lanes, rows) }
    }

    /// Folds `live` lanes into the first node.
    ///
    /// # Safety
    /// These lanes are accumulators.
    pub(super) unsafe fn leave_lanes(&self, live: usize) {
        // SAFETY: the caller vouches for the lanes.
        unsafe {
            self.fold_lanes(live);
            self.leave(0);
        }
    }

    /// Folds `live` lanes into the first lane.
    ///
    /// # Safety
    /// These lanes are accumulators.
    unsafe fn fold_lanes(&self, mut live: usize) {
        // SAFETY: the caller vouches for the lanes; upper and lower lanes are disjoint.
        unsafe {
            for half in [16, 8, 4] {
                if live > half {
                    self.combine(self.lane(0), self.lane(half), 1, (live - half) * self.width);
                    live = half;
                }
            }
            self.combine(self.lane(0), self.lane(1), live - 1, self.width);
        }
    }

    /// Makes the first lane node `index` and combines it with the nodes before it of equal size.
    ///
    /// # Safety
    /// The first lane is the result of a block, or of a piece with as many blocks as the pieces before; all
    /// their nodes exist.
    pub(super) unsafe fn add_node(&self, index: usize) {
        let top = index.count_ones() as usize;
        // SAFETY: the caller vouches for the first lane and the nodes.
        unsafe {
            self.leave(top);
            self.merge(top, index.trailing_ones() as usize);
        }
    }

    /// Writes results from the first nodes.
    ///
    /// # Safety
    /// The results at `to` are valid for writes; the lanes have been folded, so their memory is free.
    pub(super) unsafe fn write(&self, to: *mut u8, results: Run) {
        let &Columns { fold, lanes: finished, nodes, .. } = self;
        // SAFETY: the caller vouches for the results and the lanes' memory.
        unsafe {
            if results.count == 1 || results.stride == fold.result_size as isize {
                return (fold.finish)(to, [nodes.cast_const(); 3], results.count);
            }
            (fold.finish)(finished, [nodes.cast_const(); 3], results.count);
            scatter(to, finished, Run { count: 1, stride: 0 }, results, fold.result_size);
        }
    }

    /// Copies the first lane to a node.
    ///
    /// # Safety
    /// The first lane is an accumulator.
    unsafe fn leave(&self, node: usize) {
        // SAFETY: the caller vouches for the lane; lanes and nodes are disjoint.
        unsafe {
            let bytes = self.width * self.fold.size;
            core::ptr::copy_nonoverlapping(self.lanes, self.node(node), bytes);
        }
    }

    /// Combines the node at `top` with the one below it, `times` times.
    ///
    /// # Safety
    /// These nodes are accumulators.
    unsafe fn merge(&self, top: usize, times: usize) {
        for node in (top - times + 1..=top).rev() {
            // SAFETY: the caller vouches for the nodes, which are disjoint.
            unsafe { self.combine(self.node(node - 1), self.node(node), 1, self.width) }
        }
    }

    /// Combines all nodes and lanes into one node, after `length` steps.
    ///
    /// # Safety
    /// All steps have been folded.
    pub(super) unsafe fn finish(&self, length: usize) {
        if self.in_turn {
            return;
        }
        let (blocks, rest) = (length / BLOCK, length % BLOCK);
        // SAFETY: all steps have been folded, so the lanes and nodes of `length` steps exist.
        unsafe {
            if rest > 0 {
                self.fold_lanes(rest.min(LANES));
                self.add_node(blocks);
            }
            self.merge_all(length.div_ceil(BLOCK));
        }
    }

    /// Combines the nodes that remain of `count` nodes into one.
    ///
    /// # Safety
    /// All of them have been added.
    pub(super) unsafe fn merge_all(&self, count: usize) {
        let top = count.count_ones() as usize - 1;
        // SAFETY: the caller vouches for the nodes.
        unsafe { self.merge(top, top) }
    }

    /// # Safety
    /// `to` has `width` accumulators and `from` `rows` times as many; the two are disjoint.
    unsafe fn combine(&self, to: *mut u8, from: *const u8, rows: usize, width: usize) {
        let stride = (width * self.fold.size) as isize;
        // SAFETY: the caller vouches for both sides.
        unsafe {
            (self.fold.combine)(to, from, FoldedRows { count: rows, stride, width, begins: false })
        }
    }
}
