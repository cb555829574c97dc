//! The reduction tree of `indim_ops::meaning::reduction`, over adjacent columns. Holds unsafe code.
//!
//! Rows of values are folded into lanes: `REDUCTION_LANES` rows of accumulators, with one accumulator per
//! column. When a block of the tree is complete, its lanes are folded into one row, a node, and the node is
//! combined with nodes of the same size. If the order does not change the bits, or if the axis is short, the
//! fold is sequential: one row of accumulators, the first node, takes all values.

use core::ops::Range;

use indim_kernels::{FoldedRows, RowFoldFn};
use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};

use crate::tiles::memory::{ElementRun, scatter};
use crate::tiles::store_fold::StoreFold;

/// The values of some steps: rows of columns.
#[derive(Clone, Copy)]
pub(super) struct StepValues {
    pub(super) first: *const u8,
    /// Stride between steps, in bytes.
    pub(super) step_stride: isize,
}

impl StepValues {
    /// Address of the values of a step.
    pub(super) fn at(self, step: usize) -> *const u8 {
        self.first.wrapping_offset(step as isize * self.step_stride)
    }
}

/// The state of the tree over some columns: memory of its lanes and nodes.
#[derive(Clone, Copy)]
pub(super) struct ColumnTree<'a> {
    pub(super) fold: &'a StoreFold,
    pub(super) width: usize,
    pub(super) lanes: *mut u8,
    pub(super) nodes: *mut u8,
    /// Whether all values are folded into the first node, without lanes.
    pub(super) is_sequential: bool,
}

/// Longest axis for which a sequential fold gives the bits of the tree, provided that the identity is
/// neutral.
const MAX_SEQUENTIAL_STEPS: usize = 4;

/// Rows that a sequential fold takes over all columns before the next rows.
const SEQUENTIAL_ROWS: usize = 16;

/// Whether the fold of `width` columns along an axis of this length is sequential.
pub(super) fn is_sequential(fold: &StoreFold, width: usize, length: usize) -> bool {
    let is_short = length <= MAX_SEQUENTIAL_STEPS && fold.is_neutral;
    // Fewer columns than lanes are folded by lanes; a single column only if no kernel folds it as a row.
    let is_vector = width >= REDUCTION_LANES || (width == 1 && fold.rows.is_some());
    is_short || (!fold.is_ordered && is_vector)
}

impl ColumnTree<'_> {
    /// Address of a lane: a row of accumulators.
    fn lane(&self, lane: usize) -> *mut u8 {
        self.lanes.wrapping_add(lane * self.width * self.fold.size)
    }

    /// Address of a node: a row of accumulators.
    fn node(&self, node: usize) -> *mut u8 {
        self.nodes.wrapping_add(node * self.width * self.fold.size)
    }

    /// Folds these steps along the reduced axis; complete blocks become nodes.
    ///
    /// # Safety
    /// - `values` starts at the first of `steps`, and each step is valid for reads of `width` elements;
    /// - steps `0..steps.start` have been folded, and no others;
    /// - lanes and nodes are memory of this thread with room for those of the tree, and disjoint from the
    ///   values.
    pub(super) unsafe fn fold(&self, values: StepValues, steps: Range<usize>) {
        if self.is_sequential {
            // SAFETY: the caller has the same obligations.
            return unsafe { self.fold_sequentially(values, steps) };
        }
        let mut step = steps.start;
        while step < steps.end {
            let values = StepValues { first: values.at(step - steps.start), ..values };
            if let Some((fold, node)) = self.kernel_of_node(values, step..steps.end) {
                // SAFETY:
                // - `kernel_of_node` returns a count of steps within `steps`, whose values are contiguous;
                // - `step` is a multiple of that count, so the nodes of equal and of larger size exist.
                unsafe {
                    let rows = FoldedRows {
                        count: 1,
                        stride: 0,
                        width: node,
                        starts_from_identity: false,
                    };
                    fold(self.lanes, values.first, rows);
                    self.add_node(step / node);
                }
                step += node;
                continue;
            }
            let end = steps.end.min((step / REDUCTION_BLOCK + 1) * REDUCTION_BLOCK);
            // SAFETY:
            // - these steps are a part of `steps` in one block, and the loop folds blocks in order;
            // - if `end` is a multiple of `REDUCTION_BLOCK`, all steps of its block have been folded.
            unsafe {
                self.fold_in_block(
                    values,
                    step % REDUCTION_BLOCK..step % REDUCTION_BLOCK + (end - step),
                );
                if end.is_multiple_of(REDUCTION_BLOCK) {
                    self.add_block(end / REDUCTION_BLOCK - 1);
                }
            }
            step = end;
        }
    }

    /// Folds these steps into the first node.
    ///
    /// # Safety
    /// Like [`ColumnTree::fold`], for a sequential fold.
    unsafe fn fold_sequentially(&self, values: StepValues, steps: Range<usize>) {
        if let Some(fold) = self.fold.rows.filter(|_| self.is_row(values)) {
            let rows =
                FoldedRows { count: 1, stride: 0, width: steps.len(), starts_from_identity: false };
            // SAFETY:
            // - the values of `steps` are one contiguous row, which the caller ensures to be readable;
            // - the first lane, which holds nothing in a sequential fold, has room for the result;
            // - after step 0 the first node is initialised.
            unsafe {
                fold(self.lanes, values.first, rows);
                match steps.start {
                    0 => self.store_node(0),
                    _ => self.combine(self.nodes, self.lanes, 1, 1),
                }
            }
            return;
        }
        for step in steps.clone().step_by(SEQUENTIAL_ROWS) {
            let count = SEQUENTIAL_ROWS.min(steps.end - step);
            let (stride, starts_from_identity) = (values.step_stride, step == 0);
            let rows = FoldedRows { count, stride, width: self.width, starts_from_identity };
            // SAFETY: these rows are a part of the caller's `steps`; the first node has `width` accumulators,
            // which earlier steps have initialised unless `starts_from_identity`.
            unsafe { (self.fold.accumulate)(self.nodes, values.at(step - steps.start), rows) }
        }
    }

    /// Whether the values are one contiguous column.
    fn is_row(&self, values: StepValues) -> bool {
        self.width == 1 && values.step_stride == self.fold.source_size as isize
    }

    /// The kernel that folds a contiguous column to one node, and the number of steps of that node: a power
    /// of two of blocks. `None` if the next steps are not such a column.
    fn kernel_of_node(
        &self,
        values: StepValues,
        steps: Range<usize>,
    ) -> Option<(RowFoldFn, usize)> {
        let blocks = steps.len() / REDUCTION_BLOCK;
        if !self.is_row(values) || blocks == 0 || !steps.start.is_multiple_of(REDUCTION_BLOCK) {
            return None;
        }
        let level = (steps.start / REDUCTION_BLOCK).trailing_zeros().min(blocks.ilog2());
        Some((self.fold.rows?, REDUCTION_BLOCK << level))
    }

    /// Folds each of `count` whole rows to a node.
    ///
    /// # Safety
    /// - `count` rows of `length` contiguous values, `step_stride` bytes apart, are valid for reads;
    /// - `nodes` is memory of this thread with room for `count` accumulators.
    pub(super) unsafe fn fold_rows(&self, values: StepValues, count: usize, length: usize) {
        // A single row counts as one of contiguous rows, for which the kernel has faster loops.
        let dense = (length * self.fold.source_size) as isize;
        let stride = if count == 1 { dense } else { values.step_stride };
        let rows = FoldedRows { count, stride, width: length, starts_from_identity: false };
        let fold = self.fold.rows.expect("invariant: rows are walked where there are kernels");
        // SAFETY: the caller ensures the readable rows and room for the nodes; a single row has no next row.
        unsafe { fold(self.nodes, values.first, rows) }
    }

    /// Folds these steps of one block into its lanes. Steps are counted from the start of the block.
    ///
    /// # Safety
    /// - the values of `steps` are valid for reads of `width` elements;
    /// - the steps of this block before `steps` have been folded;
    /// - `lanes` is memory of this thread with room for `REDUCTION_LANES * width` accumulators.
    unsafe fn fold_in_block(&self, values: StepValues, steps: Range<usize>) {
        let row_bytes = (self.width * self.fold.source_size) as isize;
        let stride = REDUCTION_LANES as isize * values.step_stride;
        let mut step = steps.start;
        if values.step_stride != row_bytes {
            let lanes_end = steps.end.min(steps.start + REDUCTION_LANES);
            for step in steps.start..lanes_end {
                let count = (steps.end - step).div_ceil(REDUCTION_LANES);
                let rows = FoldedRows {
                    count,
                    stride,
                    width: self.width,
                    starts_from_identity: step < REDUCTION_LANES,
                };
                let (lane, values) =
                    (self.lane(step % REDUCTION_LANES), values.at(step - steps.start));
                // SAFETY: steps `REDUCTION_LANES` apart share a lane; the rows at that distance from `step`
                // on are part of `steps`, and an earlier step has initialised the lane unless `step` is its
                // first.
                unsafe { (self.fold.accumulate)(lane, values, rows) }
            }
            return;
        }
        while step < steps.end {
            let (lane, left) = (step % REDUCTION_LANES, steps.end - step);
            let (count, lanes) = match lane == 0 && left >= REDUCTION_LANES {
                true => (left / REDUCTION_LANES, REDUCTION_LANES),
                false => (1, left.min(REDUCTION_LANES - lane)),
            };
            let rows = FoldedRows {
                count,
                stride,
                width: lanes * self.width,
                starts_from_identity: step < REDUCTION_LANES,
            };
            let values = values.at(step - steps.start);
            // SAFETY: the rows are part of `steps`, each of `lanes` contiguous steps; earlier steps have
            // initialised the lanes unless `step` is in the first row.
            unsafe { (self.fold.accumulate)(self.lane(lane), values, rows) }
            step += count * lanes;
        }
    }

    /// Folds the lanes of block `index` to its node and adds the node to the tree.
    ///
    /// # Safety
    /// - all steps of the block have been folded into the lanes;
    /// - the nodes of all blocks before it have been added.
    pub(super) unsafe fn add_block(&self, index: usize) {
        // SAFETY: the caller ensures that all lanes are initialised; `fold_lanes` leaves the block's result
        // in the first lane.
        unsafe {
            self.fold_lanes(REDUCTION_LANES);
            self.add_node(index);
        }
    }

    /// Folds each of `count` groups of `REDUCTION_LANES` contiguous lanes to one accumulator, from `to` on.
    /// The first `live` lanes of each group have values.
    ///
    /// # Safety
    /// - `lanes` is valid for reads of `count` groups, whose first `live` lanes are initialised;
    /// - `to` is valid for writes of `count` accumulators and overlaps none of these groups.
    pub(super) unsafe fn fold_each(&self, to: *mut u8, count: usize, live: usize) {
        let stride = (REDUCTION_LANES * self.fold.size) as isize;
        let rows = FoldedRows { count, stride, width: live, starts_from_identity: false };
        let fold = self.fold.lanes.expect("invariant: `FoldSpec` requires this kernel");
        // SAFETY: the caller ensures the groups and the room; `width` limits each group to its live lanes.
        unsafe { fold(to, self.lanes, rows) }
    }

    /// Folds `live` lanes to the first node.
    ///
    /// # Safety
    /// - the first `live` lanes are initialised, and `live` is not 0;
    /// - `nodes` has room for `width` accumulators.
    pub(super) unsafe fn fold_lanes_to_node(&self, live: usize) {
        // SAFETY: the caller ensures the lanes; `fold_lanes` leaves the result in the first lane.
        unsafe {
            self.fold_lanes(live);
            self.store_node(0);
        }
    }

    /// Folds `live` lanes into the first lane.
    ///
    /// # Safety
    /// The first `live` lanes are initialised, and `live` is not 0.
    unsafe fn fold_lanes(&self, mut live: usize) {
        // SAFETY: lanes `half..live` and `0..live - half` are live and disjoint, because `live` is at most
        // `2 * half`; so are the first lane and the lanes after it.
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

    /// Adds the first lane as node `index` to the tree, and combines it with the nodes of equal size before
    /// it.
    ///
    /// # Safety
    /// - the first lane is initialised: the result of block `index`, or of segment `index` of segments that
    ///   all have the same number of blocks, except the last;
    /// - nodes `0..index` have been added.
    pub(super) unsafe fn add_node(&self, index: usize) {
        let top = index.count_ones() as usize;
        // SAFETY: after `index` nodes, as many remain as `index` has bits set, so `top` is the next free
        // node, and as many nodes of equal size precede it as `index` has trailing ones.
        unsafe {
            self.store_node(top);
            self.merge(top, index.trailing_ones() as usize);
        }
    }

    /// Writes `results.count` results from the first nodes. Overwrites the lanes.
    ///
    /// # Safety
    /// - the first `results.count` accumulators of `nodes` are initialised;
    /// - `to` plus each of `results.count` multiples of `results.stride` is valid for writes of a result, and
    ///   results overlap neither each other nor lanes and nodes;
    /// - `lanes` has room for `results.count` results.
    pub(super) unsafe fn write(&self, to: *mut u8, results: ElementRun) {
        let &ColumnTree { fold, lanes: finished, nodes, .. } = self;
        // SAFETY: the caller ensures the nodes, the results, and room in the lanes for a dense copy of the
        // results; all are disjoint.
        unsafe {
            if results.count == 1 || results.stride == fold.result_size as isize {
                return (fold.finish)(to, [nodes.cast_const(); 3], results.count);
            }
            (fold.finish)(finished, [nodes.cast_const(); 3], results.count);
            scatter(to, finished, ElementRun { count: 1, stride: 0 }, results, fold.result_size);
        }
    }

    /// Copies the first lane to a node.
    ///
    /// # Safety
    /// - the first lane is initialised;
    /// - `nodes` has room for this node.
    unsafe fn store_node(&self, node: usize) {
        // SAFETY: the caller ensures `width` accumulators in both; lanes and nodes are disjoint memory.
        unsafe {
            let bytes = self.width * self.fold.size;
            core::ptr::copy_nonoverlapping(self.lanes, self.node(node), bytes);
        }
    }

    /// Combines the top node with the node below it, `times` times.
    ///
    /// # Safety
    /// Nodes `top - times..=top` are initialised.
    unsafe fn merge(&self, top: usize, times: usize) {
        for node in (top - times + 1..=top).rev() {
            // SAFETY: the caller ensures both nodes, which are disjoint.
            unsafe { self.combine(self.node(node - 1), self.node(node), 1, self.width) }
        }
    }

    /// Combines the lanes and nodes into the first node, after `length` steps.
    ///
    /// # Safety
    /// - `length` steps have been folded, and no others;
    /// - `length` is not 0.
    pub(super) unsafe fn finish(&self, length: usize) {
        if self.is_sequential {
            return;
        }
        let (blocks, rest) = (length / REDUCTION_BLOCK, length % REDUCTION_BLOCK);
        // SAFETY: after `length` steps `blocks` nodes have been added, and the lanes of `rest` steps are
        // initialised.
        unsafe {
            if rest > 0 {
                self.fold_lanes(rest.min(REDUCTION_LANES));
                self.add_node(blocks);
            }
            self.merge_all(length.div_ceil(REDUCTION_BLOCK));
        }
    }

    /// Combines the nodes that remain after `count` nodes into the first node.
    ///
    /// # Safety
    /// `count` nodes have been added, and `count` is not 0.
    pub(super) unsafe fn merge_all(&self, count: usize) {
        let top = count.count_ones() as usize - 1;
        // SAFETY: after `count` nodes, as many remain as `count` has bits set.
        unsafe { self.merge(top, top) }
    }

    /// Folds `rows` rows of accumulators into the row at `to`.
    ///
    /// # Safety
    /// - `to` has `width` initialised accumulators;
    /// - `from` has `rows` rows of `width` initialised accumulators;
    /// - the two are disjoint.
    unsafe fn combine(&self, to: *mut u8, from: *const u8, rows: usize, width: usize) {
        let stride = (width * self.fold.size) as isize;
        // SAFETY: the caller ensures the accumulators; the function was looked up for a level of this
        // processor.
        unsafe {
            (self.fold.combine)(
                to,
                from,
                FoldedRows { count: rows, stride, width, starts_from_identity: false },
            )
        }
    }
}
