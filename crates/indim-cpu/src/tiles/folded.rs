//! Folds by a function that computes the folded values: the calls of one tile. Holds unsafe code.
//!
//! Each step goes into the accumulators that `tree.rs` defines. If the columns of consecutive steps are
//! contiguous, 32 steps are one row, which goes into all lanes of a block at once.

use core::ops::Range;

use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_targets::FoldArgs;

use crate::tiles::code::{TileCode, few};
use crate::tiles::folding::{Folding, MAX_BLOCKS};
use crate::tiles::tree::Columns;

/// Upper bound of the operands of a function: four accumulators and nine inputs.
const MAX_OPERANDS: usize = 16;

/// A tile to fold.
pub(super) struct FoldedTile<'a> {
    pub(super) folding: &'a Folding,
    /// For each store, the tree over its columns.
    pub(super) columns: &'a [Columns<'a>],
    /// Address of the first element of each input in the tile.
    pub(super) inputs: &'a [*mut u8],
    /// The first step of the tile.
    pub(super) first: usize,
}

/// Layout of accumulators: the lanes of `all` units, then their tree nodes. `first` is the position of the
/// first node, `stride` the distance between the nodes of two units.
struct UnitPlaces {
    first: usize,
    apart: usize,
    all: usize,
}

/// One call of the function, in steps.
#[derive(Default, Clone, Copy)]
struct Call {
    /// The first lane, and the distance between the lanes of two units.
    lane: usize,
    unit_lanes: usize,
    /// The row, if units are rows, and the first step in the row or tile.
    row: usize,
    step: usize,
    units: usize,
    /// Distance between units (`None` if units are rows), and between rows of a unit.
    unit_steps: Option<usize>,
    row_steps: usize,
    rows: usize,
    columns: usize,
    begins: bool,
    /// Whether the call joins the lanes of a unit into a node.
    joins: bool,
}

impl FoldedTile<'_> {
    /// Calls `work` with a tile whose operands are folded in place; `at` gives their addresses.
    pub(super) fn of_operands(
        (code, folding): (&TileCode, &Folding),
        columns: &[Columns<'_>],
        at: impl Fn(usize) -> *mut u8,
        work: impl FnOnce(&FoldedTile<'_>),
    ) {
        let Some(functions) = &code.folding else { return };
        let inputs = few(functions.inputs.iter().map(|&slot| at(code.operand(slot))));
        work(&FoldedTile { folding, columns, inputs: &inputs, first: 0 });
    }

    /// Columns of a step; 1 if units are rows.
    fn width(&self) -> usize {
        self.columns.first().map_or(1, |columns| columns.width)
    }

    /// Folds `count` steps; complete blocks become nodes.
    ///
    /// # Safety
    /// The inputs of the steps are valid for reads in the function's layout; all steps before have been
    /// folded.
    pub(super) unsafe fn take(&self, count: usize) {
        let steps = self.first..self.first + count;
        // SAFETY: the caller vouches for these steps, which the calls take in order.
        unsafe {
            match (self.folding.is_ordered, self.folding.is_joined) {
                (false, true) => self.take_joined(steps, self.first == 0),
                (false, false) => self.take_in_turn(steps),
                (true, _) => self.take_in_blocks(steps),
            }
        }
    }

    /// # Safety
    /// Like [`FoldedTile::take`].
    unsafe fn take_in_blocks(&self, steps: Range<usize>) {
        let (is_joined, width) = (self.folding.is_joined, self.width());
        let mut step = steps.start;
        while step < steps.end {
            let blocks = ((steps.end - step) / BLOCK).min(MAX_BLOCKS);
            // SAFETY: the caller vouches for `steps`; each call takes some of one block.
            unsafe {
                if is_joined && width == 1 && blocks > 0 && step.is_multiple_of(BLOCK) {
                    self.take_blocks(step, blocks);
                    step += blocks * BLOCK;
                    continue;
                }
                let end = steps.end.min((step / BLOCK + 1) * BLOCK);
                match is_joined {
                    true => self.take_joined(step..end, step.is_multiple_of(BLOCK)),
                    false => self.take_by_lanes(step..end),
                }
                if end.is_multiple_of(BLOCK) {
                    for columns in self.columns {
                        columns.add_block(end / BLOCK - 1);
                    }
                }
                step = end;
            }
        }
    }

    /// Folds whole blocks of one column.
    ///
    /// # Safety
    /// Like [`FoldedTile::take`].
    unsafe fn take_blocks(&self, step: usize, blocks: usize) {
        let (from, unit_steps) = (step - self.first, Some(BLOCK));
        let call = Call { step: from, units: blocks, unit_steps, ..Call::default() };
        // SAFETY: the caller vouches for the blocks; the accumulators have room for the lanes and nodes of
        // `blocks`.
        unsafe {
            self.take_units(call, BLOCK, UnitPlaces { first: 0, apart: 1, all: MAX_BLOCKS });
            for columns in self.columns {
                let nodes = columns.lanes.wrapping_add(MAX_BLOCKS * LANES * columns.fold.size);
                if !self.folding.joins(BLOCK) {
                    columns.fold_each(nodes, blocks, LANES);
                }
                for block in 0..blocks {
                    let lanes = nodes.wrapping_add(block * columns.fold.size);
                    Columns { lanes, ..*columns }.add_node(step / BLOCK + block);
                }
            }
        }
    }

    /// Folds each of `count` rows of this length into a node.
    ///
    /// # Safety
    /// Like [`FoldedTile::take`], for all elements of the rows.
    pub(super) unsafe fn take_rows(&self, count: usize, length: usize) {
        let block = if self.folding.is_ordered { BLOCK } else { length };
        let blocks = length.div_ceil(block);
        // SAFETY: the caller vouches for the rows; the accumulators have room for the lanes and nodes of
        // all their blocks.
        unsafe {
            match self.folding.is_row_by_row {
                true => (0..count).for_each(|row| self.take_row(row, count, length)),
                false => self.take_side_by_side(count, length, block),
            }
            for columns in self.columns {
                let rows = Columns { width: count, ..*columns };
                for index in 0..blocks {
                    let elements = block.min(length - index * block);
                    let place = |accumulators: usize| {
                        columns.lanes.wrapping_add(accumulators * columns.fold.size)
                    };
                    let node = place(blocks * count * LANES + index * count);
                    if !self.folding.joins(elements) {
                        let lanes = Columns { lanes: place(index * count * LANES), ..*columns };
                        lanes.fold_each(node, count, elements.min(LANES));
                    }
                    Columns { lanes: node, ..rows }.add_node(index);
                }
                rows.merge_all(blocks);
            }
        }
    }

    /// Folds one block of all rows, then the next block.
    ///
    /// # Safety
    /// Like [`FoldedTile::take_rows`].
    unsafe fn take_side_by_side(&self, count: usize, length: usize, block: usize) {
        let blocks = length.div_ceil(block);
        for index in 0..blocks {
            let step = index * block;
            let call = Call { step, units: count, unit_steps: None, ..Call::default() };
            let places = UnitPlaces { first: index * count, apart: 1, all: blocks * count };
            // SAFETY: the caller vouches for the rows, and `block.min(length - step)` stays within each.
            unsafe { self.take_units(call, block.min(length - step), places) }
        }
    }

    /// Folds all blocks of a row, one after another.
    ///
    /// # Safety
    /// Like [`FoldedTile::take_rows`], for one of the rows.
    unsafe fn take_row(&self, row: usize, count: usize, length: usize) {
        let (whole, rest) = (length / BLOCK, length % BLOCK);
        let all = length.div_ceil(BLOCK) * count;
        let blocks = Call { row, units: whole, unit_steps: Some(BLOCK), ..Call::default() };
        // SAFETY: the caller vouches for this row.
        unsafe {
            if whole > 0 {
                self.take_units(blocks, BLOCK, UnitPlaces { first: row, apart: count, all });
            }
            if rest > 0 {
                let last = Call { step: whole * BLOCK, units: 1, ..blocks };
                let first = whole * count + row;
                self.take_units(last, rest, UnitPlaces { first, apart: count, all });
            }
        }
    }

    /// Folds units of `elements` elements, each into its own lanes, or into a node if the call joins lanes.
    ///
    /// # Safety
    /// Like [`FoldedTile::take`]; the accumulators have room for the lanes and nodes of all units.
    unsafe fn take_units(&self, call: Call, elements: usize, places: UnitPlaces) {
        let UnitPlaces { first, apart, all } = places;
        let (rows, rest) = (elements / LANES, elements % LANES);
        let whole = Call { rows, row_steps: LANES, columns: LANES, begins: true, ..call };
        let lanes = Call { lane: first * LANES, unit_lanes: apart * LANES, ..whole };
        // SAFETY: the caller vouches for the units and for the room.
        unsafe {
            if self.folding.joins(elements) {
                let (lane, unit_lanes) = (all * LANES + first, apart);
                return self.call(Call { lane, unit_lanes, joins: true, ..whole });
            }
            if rows > 0 {
                self.call(lanes);
            }
            if rest > 0 {
                let step = call.step + rows * LANES;
                self.call(Call { step, rows: 1, columns: rest, begins: rows == 0, ..lanes });
            }
        }
    }

    /// Folds steps of a block, 32 at a time, then the remaining ones.
    ///
    /// # Safety
    /// Like [`FoldedTile::take`]; the first step belongs into the first lane.
    unsafe fn take_joined(&self, steps: Range<usize>, begins: bool) {
        let (rows, rest) = (steps.len() / LANES, steps.len() % LANES);
        let width = self.width();
        let whole = Call {
            step: steps.start - self.first,
            units: 1,
            unit_steps: Some(0),
            row_steps: LANES,
            rows,
            columns: LANES * width,
            begins,
            ..Call::default()
        };
        let last = Call {
            step: whole.step + rows * LANES,
            rows: 1,
            columns: rest * width,
            begins: begins && rows == 0,
            ..whole
        };
        // SAFETY: the caller vouches for `steps`.
        unsafe {
            if rows > 0 {
                self.call(whole);
            }
            if rest > 0 {
                self.call(last);
            }
        }
    }

    /// Folds steps of a block, each into its lane.
    ///
    /// # Safety
    /// Like [`FoldedTile::take`].
    unsafe fn take_by_lanes(&self, steps: Range<usize>) {
        let rows_at_once = self.folding.rows_at_once;
        let mut step = steps.start;
        while step < steps.end {
            let (lane, left) = (step % LANES, steps.end - step);
            // Steps at a distance of 32 share a lane.
            let (units, taken) = match lane == 0 && left >= LANES {
                true => (LANES, left),
                false => ((LANES - lane).min(left), (LANES - lane).min(left)),
            };
            let call = |units: usize, rows: Range<usize>| Call {
                lane,
                step: step + rows.start * LANES - self.first,
                units,
                unit_steps: Some(1),
                unit_lanes: 1,
                row_steps: LANES,
                rows: rows.len(),
                columns: self.width(),
                begins: step % BLOCK < LANES && rows.start == 0,
                ..Call::default()
            };
            let (rows, longer) = (taken / units, taken % units);
            // SAFETY: the caller vouches for `steps`.
            unsafe {
                for first in (0..rows).step_by(rows_at_once) {
                    self.call(call(units, first..rows.min(first + rows_at_once)));
                }
                if longer > 0 {
                    self.call(call(longer, rows..rows + 1));
                }
            }
            step += taken;
        }
    }

    /// Folds steps into the first nodes, in turn.
    ///
    /// # Safety
    /// Like [`FoldedTile::take`].
    unsafe fn take_in_turn(&self, steps: Range<usize>) {
        // Rows of consecutive steps are neighbours, so twice as many stay resident.
        let rows_at_once = 2 * self.folding.rows_at_once;
        for first in steps.clone().step_by(rows_at_once) {
            let call = Call {
                step: first - self.first,
                units: 1,
                unit_steps: Some(0),
                row_steps: 1,
                rows: rows_at_once.min(steps.end - first),
                columns: self.width(),
                begins: first == 0,
                ..Call::default()
            };
            // SAFETY: the caller vouches for `steps`.
            unsafe { self.call_into(|columns| columns.nodes, call) }
        }
    }

    /// Calls the function with lanes as accumulators.
    ///
    /// # Safety
    /// Like [`FoldedTile::take`], for the steps of `call`.
    unsafe fn call(&self, call: Call) {
        // SAFETY: the caller vouches for the steps of `call`.
        unsafe { self.call_into(|columns| columns.lanes, call) }
    }

    /// # Safety
    /// Like [`FoldedTile::take`], for the steps of `call`.
    unsafe fn call_into(&self, accumulators: impl Fn(&Columns<'_>) -> *mut u8, call: Call) {
        let Folding { function, along, across, .. } = self.folding;
        let width = self.width();
        let Call { lane, row, step, units, unit_steps, row_steps, rows, columns, .. } = call;
        let Call { begins, joins, .. } = call;
        let (stores, count) = (self.columns.len(), self.columns.len() + self.inputs.len());
        let mut operands = [core::ptr::null_mut(); MAX_OPERANDS];
        let mut strides = [0; 2 * MAX_OPERANDS];
        for (store, tree) in self.columns.iter().enumerate() {
            operands[store] = accumulators(tree).wrapping_add(lane * width * tree.fold.size);
            strides[store] = (call.unit_lanes * width * tree.fold.size) as isize;
        }
        for (input, &first) in self.inputs.iter().enumerate() {
            let (along, across) = (along[input], across[input]);
            let from = row as isize * across + step as isize * along;
            operands[stores + input] = first.wrapping_offset(from);
            strides[stores + input] = unit_steps.map_or(across, |steps| steps as isize * along);
            strides[count + stores + input] = row_steps as isize * along;
        }
        let strides = &strides[..2 * count];
        // SAFETY:
        // - the caller vouches for the inputs;
        // - the accumulators are memory of this thread, with room for all lanes and nodes.
        unsafe {
            let folded = FoldArgs { strides, units, rows, columns, begins, joins };
            function.fold(&operands[..count], folded);
        }
    }

    /// Combines the lanes and nodes into one node, after `length` steps.
    ///
    /// # Safety
    /// All steps have been folded.
    pub(super) unsafe fn finish(&self, length: usize) {
        for columns in self.columns {
            // SAFETY: all steps have been folded, so the lanes and nodes are initialised.
            unsafe {
                match self.folding.is_ordered || !self.folding.is_joined {
                    true => columns.finish(length),
                    false => columns.leave_lanes(length.min(LANES)),
                }
            }
        }
    }
}
