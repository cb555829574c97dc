//! Folds by a function that computes the folded values: the calls of one tile. Holds unsafe code.
//!
//! Each step is folded into the accumulators that `tree.rs` defines. If consecutive steps are contiguous in
//! memory, `REDUCTION_LANES` steps are one row of a call, which folds it into all lanes of a block.

use core::ops::Range;

use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_targets::{FoldArgs, MAX_FOLD_OPERANDS};

use crate::tiles::code::{TileCode, short_list};
use crate::tiles::fold_function::{FoldFunction, MAX_BLOCKS};
use crate::tiles::tree::ColumnTree;

/// A tile to fold.
pub(super) struct FoldTile<'a> {
    pub(super) fold_function: &'a FoldFunction,
    /// For each store, the tree over its columns.
    pub(super) columns: &'a [ColumnTree<'a>],
    /// For each input, the address of its first element in the tile.
    pub(super) inputs: &'a [*mut u8],
    /// The first step of the tile.
    pub(super) first: usize,
}

/// Layout of the accumulators of units: the lanes of all units, then one node for each.
struct UnitLayout {
    /// Number of units in the layout before the first unit of a call.
    first: usize,
    /// Distance in the layout between two units of a call.
    stride: usize,
    /// Number of units in the layout.
    unit_count: usize,
}

/// The arguments of one call of the function, in steps and accumulators. A *unit* of a call has
/// accumulators of its own: it is a unit of the reduction, a block of such a unit, or a lane of a block.
#[derive(Default, Clone, Copy)]
struct FoldCall {
    /// Index of the first accumulator.
    accumulator: usize,
    /// Distance between two units, in accumulators.
    accumulator_stride: usize,
    /// The first row, if units are rows.
    row: usize,
    /// The first step, in the row or in the tile.
    step: usize,
    /// Number of units.
    unit_count: usize,
    /// Distance between two units, in steps; `None` if units are rows.
    unit_stride: Option<usize>,
    /// Distance between two rows of a unit, in steps.
    row_stride: usize,
    /// Number of rows of a unit.
    row_count: usize,
    /// Number of elements of a row.
    column_count: usize,
    /// Whether the accumulators start from the identity.
    starts_from_identity: bool,
    /// Whether the call combines the lanes of each unit to a node.
    reduces_lanes: bool,
}

impl FoldTile<'_> {
    /// Calls `work` with a tile that reads the operands in place; `at` returns their addresses.
    pub(super) fn of_operands(
        (code, fold_function): (&TileCode, &FoldFunction),
        columns: &[ColumnTree<'_>],
        at: impl Fn(usize) -> *mut u8,
        work: impl FnOnce(&FoldTile<'_>),
    ) {
        let Some(functions) = &code.fold_functions else { return };
        let inputs =
            short_list(functions.inputs.iter().map(|&register| at(code.operand(register))));
        work(&FoldTile { fold_function, columns, inputs: &inputs, first: 0 });
    }

    /// Columns of a step; 1 if units are rows.
    fn width(&self) -> usize {
        self.columns.first().map_or(1, |columns| columns.width)
    }

    /// Folds `count` steps; complete blocks become nodes.
    ///
    /// # Safety
    /// - `inputs` are valid for reads at these steps, with the strides of `fold_function`;
    /// - if a unit has fewer columns than a step of the function's loop, the missing elements are readable
    ///   before it: the columns before the unit, or [`MARGIN_BYTES`](crate::tiles::tile::MARGIN_BYTES);
    /// - steps `0..first` have been folded, and no others;
    /// - lanes and nodes are memory of this thread, with room for the accumulators that `FoldFunction`
    ///   counts, and overlap no input.
    pub(super) unsafe fn fold(&self, count: usize) {
        let steps = self.first..self.first + count;
        // SAFETY: the caller has the same obligations, and each arm folds `steps` in order.
        unsafe {
            match (self.fold_function.is_ordered, self.fold_function.is_contiguous) {
                (false, true) => self.fold_contiguous(steps, self.first == 0),
                (false, false) => self.fold_sequentially(steps),
                (true, _) => self.fold_by_blocks(steps),
            }
        }
    }

    /// Folds steps block by block, and adds complete blocks to the tree.
    ///
    /// # Safety
    /// Like [`FoldTile::fold`], for `steps`.
    unsafe fn fold_by_blocks(&self, steps: Range<usize>) {
        let (is_contiguous, width) = (self.fold_function.is_contiguous, self.width());
        let mut step = steps.start;
        while step < steps.end {
            let blocks = ((steps.end - step) / REDUCTION_BLOCK).min(MAX_BLOCKS);
            // SAFETY:
            // - each call folds a part of `steps`, in order: whole blocks, or steps of one block;
            // - if `end` is a multiple of `REDUCTION_BLOCK`, all steps of its block have been folded into the
            //   lanes.
            unsafe {
                if is_contiguous && width == 1 && blocks > 0 && step.is_multiple_of(REDUCTION_BLOCK)
                {
                    self.fold_column_blocks(step, blocks);
                    step += blocks * REDUCTION_BLOCK;
                    continue;
                }
                let end = steps.end.min((step / REDUCTION_BLOCK + 1) * REDUCTION_BLOCK);
                match is_contiguous {
                    true => self.fold_contiguous(step..end, step.is_multiple_of(REDUCTION_BLOCK)),
                    false => self.fold_by_lanes(step..end),
                }
                if end.is_multiple_of(REDUCTION_BLOCK) {
                    for columns in self.columns {
                        columns.add_block(end / REDUCTION_BLOCK - 1);
                    }
                }
                step = end;
            }
        }
    }

    /// Folds whole blocks of one contiguous column, each as a unit, and adds them to the tree.
    ///
    /// # Safety
    /// - the obligations of [`FoldTile::fold`], for `blocks` blocks from `step` on;
    /// - `blocks` is at most [`MAX_BLOCKS`].
    unsafe fn fold_column_blocks(&self, step: usize, blocks: usize) {
        let call = FoldCall {
            step: step - self.first,
            unit_count: blocks,
            unit_stride: Some(REDUCTION_BLOCK),
            ..FoldCall::default()
        };
        // SAFETY:
        // - the units are the caller's blocks;
        // - `column_accumulators` counts lanes and a node for each of `MAX_BLOCKS` blocks, and the nodes
        //   follow the lanes;
        // - after the call or `fold_each`, the node of each block is initialised, and blocks are added in
        //   order.
        unsafe {
            self.fold_units(
                call,
                REDUCTION_BLOCK,
                UnitLayout { first: 0, stride: 1, unit_count: MAX_BLOCKS },
            );
            for columns in self.columns {
                let nodes =
                    columns.lanes.wrapping_add(MAX_BLOCKS * REDUCTION_LANES * columns.fold.size);
                if !self.fold_function.reduces_lanes(REDUCTION_BLOCK) {
                    columns.fold_each(nodes, blocks, REDUCTION_LANES);
                }
                for block in 0..blocks {
                    let lanes = nodes.wrapping_add(block * columns.fold.size);
                    ColumnTree { lanes, ..*columns }.add_node(step / REDUCTION_BLOCK + block);
                }
            }
        }
    }

    /// Folds each of `count` rows of this length to one of the first nodes.
    ///
    /// # Safety
    /// - `inputs` are valid for reads at all elements of the rows, with the strides of `fold_function`;
    /// - a row has at least as many elements as a step of the function's loop;
    /// - lanes and nodes are memory of this thread, with room for the accumulators that `FoldFunction`
    ///   counts, and overlap no input.
    pub(super) unsafe fn fold_rows(&self, count: usize, length: usize) {
        let block = if self.fold_function.is_ordered { REDUCTION_BLOCK } else { length };
        let blocks = length.div_ceil(block);
        // SAFETY:
        // - `row_accumulators` counts lanes and a node for each block of each row, and the nodes follow the
        //   lanes;
        // - after the calls or `fold_each`, the nodes of each block of all rows are initialised, and blocks
        //   are added in order.
        unsafe {
            match self.fold_function.is_row_by_row {
                true => (0..count).for_each(|row| self.fold_row(row, count, length)),
                false => self.fold_rows_by_block(count, length, block),
            }
            for columns in self.columns {
                let rows = ColumnTree { width: count, ..*columns };
                for index in 0..blocks {
                    let elements = block.min(length - index * block);
                    let accumulator =
                        |index: usize| columns.lanes.wrapping_add(index * columns.fold.size);
                    let node = accumulator(blocks * count * REDUCTION_LANES + index * count);
                    if !self.fold_function.reduces_lanes(elements) {
                        let lanes = ColumnTree {
                            lanes: accumulator(index * count * REDUCTION_LANES),
                            ..*columns
                        };
                        lanes.fold_each(node, count, elements.min(REDUCTION_LANES));
                    }
                    ColumnTree { lanes: node, ..rows }.add_node(index);
                }
                rows.merge_all(blocks);
            }
        }
    }

    /// Folds the first block of each row, then the next block of each row, and so on.
    ///
    /// # Safety
    /// Like [`FoldTile::fold_rows`].
    unsafe fn fold_rows_by_block(&self, count: usize, length: usize, block: usize) {
        let blocks = length.div_ceil(block);
        for index in 0..blocks {
            let step = index * block;
            let call =
                FoldCall { step, unit_count: count, unit_stride: None, ..FoldCall::default() };
            let layout = UnitLayout { first: index * count, stride: 1, unit_count: blocks * count };
            // SAFETY: the units are parts of the caller's rows, because `block.min(length - step)` ends
            // within a row; the layout has one unit for each block of each row.
            unsafe { self.fold_units(call, block.min(length - step), layout) }
        }
    }

    /// Folds all blocks of a row.
    ///
    /// # Safety
    /// - the obligations of [`FoldTile::fold_rows`];
    /// - `row` is below `count`.
    unsafe fn fold_row(&self, row: usize, count: usize, length: usize) {
        let (whole, rest) = (length / REDUCTION_BLOCK, length % REDUCTION_BLOCK);
        let unit_count = length.div_ceil(REDUCTION_BLOCK) * count;
        let blocks = FoldCall {
            row,
            unit_count: whole,
            unit_stride: Some(REDUCTION_BLOCK),
            ..FoldCall::default()
        };
        // SAFETY: the units are the blocks of one of the caller's rows; the layout has one unit for each
        // block of each row.
        unsafe {
            if whole > 0 {
                self.fold_units(
                    blocks,
                    REDUCTION_BLOCK,
                    UnitLayout { first: row, stride: count, unit_count },
                );
            }
            if rest > 0 {
                let last = FoldCall { step: whole * REDUCTION_BLOCK, unit_count: 1, ..blocks };
                let first = whole * count + row;
                self.fold_units(last, rest, UnitLayout { first, stride: count, unit_count });
            }
        }
    }

    /// Folds each unit of `elements` elements into its lanes, or to its node if the function combines lanes.
    ///
    /// # Safety
    /// - `inputs` are valid for reads at the elements of the units, with the strides of `fold_function`;
    /// - if units have fewer elements than a step of the function's loop, the missing ones are readable
    ///   before them;
    /// - the accumulators have room for the layout.
    unsafe fn fold_units(&self, call: FoldCall, elements: usize, layout: UnitLayout) {
        let UnitLayout { first, stride, unit_count } = layout;
        let (rows, rest) = (elements / REDUCTION_LANES, elements % REDUCTION_LANES);
        let whole = FoldCall {
            row_count: rows,
            row_stride: REDUCTION_LANES,
            column_count: REDUCTION_LANES,
            starts_from_identity: true,
            ..call
        };
        let lanes = FoldCall {
            accumulator: first * REDUCTION_LANES,
            accumulator_stride: stride * REDUCTION_LANES,
            ..whole
        };
        // SAFETY:
        // - the calls fold all elements of the caller's units, rows of `REDUCTION_LANES` before the remaining
        //   ones;
        // - lanes `first * REDUCTION_LANES` and node `unit_count * REDUCTION_LANES + first` of the first unit
        //   are in the layout, and so are those of each further unit, `stride` units on.
        unsafe {
            if self.fold_function.reduces_lanes(elements) {
                return self.call(FoldCall {
                    accumulator: unit_count * REDUCTION_LANES + first,
                    accumulator_stride: stride,
                    reduces_lanes: true,
                    ..whole
                });
            }
            if rows > 0 {
                self.call(lanes);
            }
            if rest > 0 {
                let step = call.step + rows * REDUCTION_LANES;
                self.call(FoldCall {
                    step,
                    row_count: 1,
                    column_count: rest,
                    starts_from_identity: rows == 0,
                    ..lanes
                });
            }
        }
    }

    /// Folds contiguous steps into lanes: rows of `REDUCTION_LANES` steps, then the remaining steps.
    ///
    /// # Safety
    /// - the obligations of [`FoldTile::fold`], for `steps`, with contiguous steps;
    /// - the first step belongs to the first lane;
    /// - the lanes are initialised unless `starts_from_identity`.
    unsafe fn fold_contiguous(&self, steps: Range<usize>, starts_from_identity: bool) {
        let (rows, rest) = (steps.len() / REDUCTION_LANES, steps.len() % REDUCTION_LANES);
        let width = self.width();
        let whole = FoldCall {
            step: steps.start - self.first,
            unit_count: 1,
            unit_stride: Some(0),
            row_stride: REDUCTION_LANES,
            row_count: rows,
            column_count: REDUCTION_LANES * width,
            starts_from_identity,
            ..FoldCall::default()
        };
        let last = FoldCall {
            step: whole.step + rows * REDUCTION_LANES,
            row_count: 1,
            column_count: rest * width,
            starts_from_identity: starts_from_identity && rows == 0,
            ..whole
        };
        // SAFETY:
        // - both calls fold parts of `steps`, in order;
        // - the remaining columns overlap those of earlier steps, which precede them in memory.
        unsafe {
            if rows > 0 {
                self.call(whole);
            }
            if rest > 0 {
                self.call(last);
            }
        }
    }

    /// Folds steps of one block, each into its lane.
    ///
    /// # Safety
    /// Like [`FoldTile::fold`], for `steps` of one block.
    unsafe fn fold_by_lanes(&self, steps: Range<usize>) {
        let rows_per_call = self.fold_function.rows_per_call;
        let mut step = steps.start;
        while step < steps.end {
            let (lane, left) = (step % REDUCTION_LANES, steps.end - step);
            // Steps `REDUCTION_LANES` apart share a lane. Each unit is a lane, its rows are the steps of that
            // lane.
            let (units, folded) = match lane == 0 && left >= REDUCTION_LANES {
                true => (REDUCTION_LANES, left),
                false => ((REDUCTION_LANES - lane).min(left), (REDUCTION_LANES - lane).min(left)),
            };
            let call = |unit_count: usize, rows: Range<usize>| FoldCall {
                accumulator: lane,
                step: step + rows.start * REDUCTION_LANES - self.first,
                unit_count,
                unit_stride: Some(1),
                accumulator_stride: 1,
                row_stride: REDUCTION_LANES,
                row_count: rows.len(),
                column_count: self.width(),
                starts_from_identity: step % REDUCTION_BLOCK < REDUCTION_LANES && rows.start == 0,
                ..FoldCall::default()
            };
            let (rows, longer) = (folded / units, folded % units);
            // SAFETY:
            // - the calls fold steps `step..step + folded` of `steps`: `rows` rows of all units, then one
            //   more row of the first `longer` units;
            // - the lanes are initialised by earlier steps of the block unless the call begins them.
            unsafe {
                for first in (0..rows).step_by(rows_per_call) {
                    self.call(call(units, first..rows.min(first + rows_per_call)));
                }
                if longer > 0 {
                    self.call(call(longer, rows..rows + 1));
                }
            }
            step += folded;
        }
    }

    /// Folds steps into the first node of each column.
    ///
    /// # Safety
    /// Like [`FoldTile::fold`], for `steps`.
    unsafe fn fold_sequentially(&self, steps: Range<usize>) {
        // Rows of consecutive steps are adjacent in memory, so twice as many stay resident.
        let rows_per_call = 2 * self.fold_function.rows_per_call;
        for first in steps.clone().step_by(rows_per_call) {
            let call = FoldCall {
                step: first - self.first,
                unit_count: 1,
                unit_stride: Some(0),
                row_stride: 1,
                row_count: rows_per_call.min(steps.end - first),
                column_count: self.width(),
                starts_from_identity: first == 0,
                ..FoldCall::default()
            };
            // SAFETY:
            // - the rows are steps `first..first + row_count` of the caller's `steps`, in order;
            // - the first node of each column is initialised by step 0, which begins it;
            // - `FoldSpec` requires readable columns before the unit for the last step of the function's
            //   loop.
            unsafe { self.call_into(|columns| columns.nodes, call) }
        }
    }

    /// Calls the function with the lanes of each store as accumulators.
    ///
    /// # Safety
    /// Like [`FoldTile::call_into`], with the lanes as accumulators.
    unsafe fn call(&self, call: FoldCall) {
        // SAFETY: the caller has the same obligations.
        unsafe { self.call_into(|columns| columns.lanes, call) }
    }

    /// Calls the function with these accumulators of each store.
    ///
    /// # Safety
    /// - `inputs` are valid for reads at each column of each row of each unit of `call`;
    /// - if `call.column_count` is less than a step of the function's loop, the missing elements are readable
    ///   before the first column of each row;
    /// - the accumulators of each unit are memory of this thread, initialised unless
    ///   `call.starts_from_identity`, and overlap no input.
    unsafe fn call_into(&self, accumulators: impl Fn(&ColumnTree<'_>) -> *mut u8, call: FoldCall) {
        let FoldFunction { function, reduced_strides, row_strides, .. } = self.fold_function;
        let width = self.width();
        let (stores, count) = (self.columns.len(), self.columns.len() + self.inputs.len());
        let mut operands = [core::ptr::null_mut(); MAX_FOLD_OPERANDS];
        let mut strides = [0; 2 * MAX_FOLD_OPERANDS];
        for (store, tree) in self.columns.iter().enumerate() {
            operands[store] =
                accumulators(tree).wrapping_add(call.accumulator * width * tree.fold.size);
            strides[store] = (call.accumulator_stride * width * tree.fold.size) as isize;
        }
        for (input, &first) in self.inputs.iter().enumerate() {
            let (step_stride, row_stride) = (reduced_strides[input], row_strides[input]);
            let from = call.row as isize * row_stride + call.step as isize * step_stride;
            operands[stores + input] = first.wrapping_offset(from);
            strides[stores + input] =
                call.unit_stride.map_or(row_stride, |steps| steps as isize * step_stride);
            strides[count + stores + input] = call.row_stride as isize * step_stride;
        }
        let strides = &strides[..2 * count];
        // SAFETY:
        // - operands and strides address the rows of `call` in the caller's inputs, and its accumulators;
        // - `FoldSpec::fold_function` chose the function for the forms of these inputs.
        unsafe {
            let arguments = FoldArgs {
                strides,
                units: call.unit_count,
                rows: call.row_count,
                columns: call.column_count,
                starts_from_identity: call.starts_from_identity,
                reduces_lanes: call.reduces_lanes,
            };
            function.fold(&operands[..count], arguments);
        }
    }

    /// Combines the lanes and nodes into the first node, after `length` steps.
    ///
    /// # Safety
    /// - `length` steps have been folded, and no others;
    /// - `length` is not 0.
    pub(super) unsafe fn finish(&self, length: usize) {
        for columns in self.columns {
            // SAFETY: the caller ensures that `length` steps have been folded: into a tree or the first node,
            // or by contiguous unordered steps into the first `length.min(REDUCTION_LANES)` lanes.
            unsafe {
                match self.fold_function.is_ordered || !self.fold_function.is_contiguous {
                    true => columns.finish(length),
                    false => columns.fold_lanes_to_node(length.min(REDUCTION_LANES)),
                }
            }
        }
    }
}
