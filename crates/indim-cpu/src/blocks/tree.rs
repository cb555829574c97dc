//! The tree that `indim_ops::fold` defines, over columns side by side. Holds unsafe code.
//!
//! Rows of values go into lanes: `LANES` rows of accumulators, one accumulator a column. When a block of the
//! tree is complete its lanes are folded into one row, a node, which joins the nodes before it.

use core::ops::Range;

use indim_kernels::FoldedRows;
use indim_ops::meaning::reduction::{BLOCK, LANES};

use crate::blocks::store_fold::StoreFold;

/// The values of a tile.
#[derive(Clone, Copy)]
pub(super) struct Values {
    pub(super) first: *const u8,
    /// From one step to the next, in bytes.
    pub(super) step_stride: isize,
}

impl Values {
    fn at(self, step: usize) -> *const u8 {
        self.first.wrapping_offset(step as isize * self.step_stride)
    }
}

/// The tree over some columns, in the making.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) fold: &'a StoreFold,
    pub(super) width: usize,
    pub(super) lanes: *mut u8,
    pub(super) nodes: *mut u8,
}

impl Columns<'_> {
    fn lane(&self, lane: usize) -> *mut u8 {
        self.lanes.wrapping_add(lane * self.width * self.fold.size)
    }

    fn node(&self, node: usize) -> *mut u8 {
        self.nodes.wrapping_add(node * self.width * self.fold.size)
    }

    /// Takes these steps along the reduced axis; blocks that are complete become nodes.
    ///
    /// # Safety
    /// The values of the steps are valid for reads; all steps before them have been taken.
    pub(super) unsafe fn take(&self, values: Values, steps: Range<usize>) {
        let mut step = steps.start;
        while step < steps.end {
            let end = steps.end.min((step / BLOCK + 1) * BLOCK);
            let values = Values { first: values.at(step - steps.start), ..values };
            // SAFETY: the caller's promise.
            unsafe {
                self.take_in_block(values, step % BLOCK..step % BLOCK + (end - step));
                if end.is_multiple_of(BLOCK) {
                    self.fold_lanes(LANES);
                    self.add_node(end / BLOCK - 1);
                }
            }
            step = end;
        }
    }

    /// Takes these steps of one block into its lanes.
    ///
    /// # Safety
    /// The values are valid for reads; all steps of the block before them have been taken.
    pub(super) unsafe fn take_in_block(&self, values: Values, steps: Range<usize>) {
        let row_bytes = (self.width * self.fold.source_size) as isize;
        let stride = LANES as isize * values.step_stride;
        let mut step = steps.start;
        if values.step_stride != row_bytes {
            let lanes_end = steps.end.min(steps.start + LANES);
            for step in steps.start..lanes_end {
                let count = (steps.end - step).div_ceil(LANES);
                let rows = FoldedRows { count, stride, width: self.width, begins: step < LANES };
                let (lane, values) = (self.lane(step % LANES), values.at(step - steps.start));
                // SAFETY: the caller's promise, for every 32nd step.
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
            // SAFETY: the caller's promise; steps that lie one after another are a row.
            unsafe { (self.fold.take)(self.lane(lane), values, rows) }
            step += count * lanes;
        }
    }

    /// Folds so many lanes into the first.
    ///
    /// # Safety
    /// They hold accumulators.
    pub(super) unsafe fn fold_lanes(&self, mut live: usize) {
        // SAFETY: the caller's promise; the upper lanes are none of the lower ones.
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

    /// Makes the first lane the node of this index, and combines it with those before it that are as large.
    ///
    /// # Safety
    /// The first lane holds what comes of a block, or of a piece of the same number of blocks as those before
    /// it; the nodes of all of these are there.
    pub(super) unsafe fn add_node(&self, index: usize) {
        let top = index.count_ones() as usize;
        // SAFETY: the caller's promise.
        unsafe {
            self.leave(top);
            self.merge(top, index.trailing_ones() as usize);
        }
    }

    /// Copies the first lane to a node.
    ///
    /// # Safety
    /// It holds accumulators.
    pub(super) unsafe fn leave(&self, node: usize) {
        // SAFETY: the caller's promise; lanes are no nodes.
        unsafe {
            let bytes = self.width * self.fold.size;
            core::ptr::copy_nonoverlapping(self.lanes, self.node(node), bytes);
        }
    }

    /// Combines the node at `top` with the one below it, and again, so many times.
    ///
    /// # Safety
    /// These nodes hold accumulators.
    unsafe fn merge(&self, top: usize, times: usize) {
        for node in (top - times + 1..=top).rev() {
            // SAFETY: the caller's promise; nodes are apart.
            unsafe { self.combine(self.node(node - 1), self.node(node), 1, self.width) }
        }
    }

    /// Makes one node of all, after `length` steps.
    ///
    /// # Safety
    /// All steps have been taken.
    pub(super) unsafe fn finish(&self, length: usize) {
        let (blocks, rest) = (length / BLOCK, length % BLOCK);
        // SAFETY: the caller's promise.
        unsafe {
            if rest > 0 {
                self.fold_lanes(rest.min(LANES));
                self.add_node(blocks);
            }
            self.merge_all(length.div_ceil(BLOCK));
        }
    }

    /// Makes one node of those that are left of so many.
    ///
    /// # Safety
    /// They have been added.
    pub(super) unsafe fn merge_all(&self, count: usize) {
        let top = count.count_ones() as usize - 1;
        // SAFETY: the caller's promise.
        unsafe { self.merge(top, top) }
    }

    /// # Safety
    /// Both hold so many accumulators; the second `rows` times so many, which are none of the first.
    unsafe fn combine(&self, to: *mut u8, from: *const u8, rows: usize, width: usize) {
        let stride = (width * self.fold.size) as isize;
        // SAFETY: the caller's promise.
        unsafe {
            (self.fold.combine)(to, from, FoldedRows { count: rows, stride, width, begins: false })
        }
    }
}
