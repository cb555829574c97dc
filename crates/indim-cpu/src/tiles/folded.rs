//! The tiles of a reduced axis, folded by a function as it computes them. Holds unsafe code.
//!
//! In which accumulators a step goes is as in `tree.rs`. Where the columns of one step lie right behind those
//! of the step before, 32 steps are one row, which goes into all lanes of a block at once.

use core::ops::Range;

use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_targets::Folded;

use crate::tiles::code::{TileCode, few};
use crate::tiles::folding::{Folding, MAX_BLOCKS};
use crate::tiles::tree::Columns;

/// A function has at most so many operands: four accumulators, and nine inputs.
const MAX_OPERANDS: usize = 16;

/// A tile that is folded.
pub(super) struct FoldedTile<'a> {
    pub(super) folding: &'a Folding,
    /// For each store the tree over its columns.
    pub(super) columns: &'a [Columns<'a>],
    /// The address of the first element of each input in the tile.
    pub(super) inputs: &'a [*mut u8],
    /// The first step of the tile.
    pub(super) first: usize,
}

/// Where units have their lanes, and, behind the lanes of `all` of them, their nodes: those of the `first`,
/// and how many are between two of them.
struct UnitPlaces {
    first: usize,
    apart: usize,
    all: usize,
}

/// What one call folds, in steps.
#[derive(Default, Clone, Copy)]
struct Call {
    /// The first accumulator, from the first lane on, and from those of one unit to those of the next.
    lane: usize,
    unit_lanes: usize,
    /// The row, where tiles are rows, and the first step in it, or in the tile.
    row: usize,
    step: usize,
    units: usize,
    /// From one unit to the next, unless units are rows, and from one row of a unit to the next.
    unit_steps: Option<usize>,
    row_steps: usize,
    rows: usize,
    columns: usize,
    begins: bool,
    /// Whether the lanes of a unit become a node.
    joins: bool,
}

impl FoldedTile<'_> {
    /// Calls `work` with a tile, from its first step on, of what a function of this code folds: operands that
    /// are read where they lie, `at` their places.
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

    /// The columns of a step; one where units are rows.
    fn width(&self) -> usize {
        self.columns.first().map_or(1, |columns| columns.width)
    }

    /// Takes all of so many steps; blocks that are complete become nodes.
    ///
    /// # Safety
    /// The inputs of the steps are valid for reads as the function reads them; all steps before have been
    /// taken.
    pub(super) unsafe fn take(&self, count: usize) {
        let steps = self.first..self.first + count;
        // SAFETY: the caller's promise.
        unsafe {
            match (self.folding.is_ordered, self.folding.is_joined) {
                (false, true) => self.take_joined(steps, self.first == 0),
                (false, false) => self.take_in_turn(steps),
                (true, _) => self.take_in_blocks(steps),
            }
        }
    }

    /// # Safety
    /// As [`FoldedTile::take`].
    unsafe fn take_in_blocks(&self, steps: Range<usize>) {
        let (is_joined, width) = (self.folding.is_joined, self.width());
        let mut step = steps.start;
        while step < steps.end {
            let blocks = ((steps.end - step) / BLOCK).min(MAX_BLOCKS);
            // SAFETY: the caller's promise.
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

    /// Takes whole blocks of one column.
    ///
    /// # Safety
    /// As [`FoldedTile::take`].
    unsafe fn take_blocks(&self, step: usize, blocks: usize) {
        let (from, unit_steps) = (step - self.first, Some(BLOCK));
        let call = Call { step: from, units: blocks, unit_steps, ..Call::default() };
        // SAFETY: the caller's promise; there is room for the lanes and nodes of so many blocks.
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

    /// Makes a node of each of so many rows, all of this length.
    ///
    /// # Safety
    /// As [`FoldedTile::take`], for all elements of the rows.
    pub(super) unsafe fn take_rows(&self, count: usize, length: usize) {
        let block = if self.folding.is_ordered { BLOCK } else { length };
        let blocks = length.div_ceil(block);
        // SAFETY: the caller's promise; there is room for the lanes and nodes of all blocks of all rows.
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

    /// Takes a block of all rows, then the next.
    ///
    /// # Safety
    /// As [`FoldedTile::take_rows`].
    unsafe fn take_side_by_side(&self, count: usize, length: usize, block: usize) {
        let blocks = length.div_ceil(block);
        for index in 0..blocks {
            let step = index * block;
            let call = Call { step, units: count, unit_steps: None, ..Call::default() };
            let places = UnitPlaces { first: index * count, apart: 1, all: blocks * count };
            // SAFETY: the caller's promise.
            unsafe { self.take_units(call, block.min(length - step), places) }
        }
    }

    /// Takes all blocks of a row, one after another.
    ///
    /// # Safety
    /// As [`FoldedTile::take_rows`], for one of the rows.
    unsafe fn take_row(&self, row: usize, count: usize, length: usize) {
        let (whole, rest) = (length / BLOCK, length % BLOCK);
        let all = length.div_ceil(BLOCK) * count;
        let blocks = Call { row, units: whole, unit_steps: Some(BLOCK), ..Call::default() };
        // SAFETY: the caller's promise.
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

    /// Takes units of so many elements one after another, each into lanes of its own, or into a node where
    /// lanes are joined. `call` says where they are.
    ///
    /// # Safety
    /// As [`FoldedTile::take`]; there is room for the lanes and nodes of all units.
    unsafe fn take_units(&self, call: Call, elements: usize, places: UnitPlaces) {
        let UnitPlaces { first, apart, all } = places;
        let (rows, rest) = (elements / LANES, elements % LANES);
        let whole = Call { rows, row_steps: LANES, columns: LANES, begins: true, ..call };
        let lanes = Call { lane: first * LANES, unit_lanes: apart * LANES, ..whole };
        // SAFETY: the caller's promise.
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

    /// Takes steps of a block, 32 at a time, or all there are.
    ///
    /// # Safety
    /// As [`FoldedTile::take`]; the first goes into the first lane.
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
        // SAFETY: the caller's promise.
        unsafe {
            if rows > 0 {
                self.call(whole);
            }
            if rest > 0 {
                self.call(last);
            }
        }
    }

    /// Takes steps of a block, each into its lane.
    ///
    /// # Safety
    /// As [`FoldedTile::take`].
    unsafe fn take_by_lanes(&self, steps: Range<usize>) {
        let rows_at_once = self.folding.rows_at_once;
        let mut step = steps.start;
        while step < steps.end {
            let (lane, left) = (step % LANES, steps.end - step);
            // Every 32nd step goes into the same lane.
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
            // SAFETY: the caller's promise.
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

    /// Takes steps into the first nodes.
    ///
    /// # Safety
    /// As [`FoldedTile::take`].
    unsafe fn take_in_turn(&self, steps: Range<usize>) {
        // They are neighbours.
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
            // SAFETY: the caller's promise.
            unsafe { self.call_into(|columns| columns.nodes, call) }
        }
    }

    /// Folds into lanes.
    ///
    /// # Safety
    /// As [`FoldedTile::take`], for what the call says.
    unsafe fn call(&self, call: Call) {
        // SAFETY: the caller's promise.
        unsafe { self.call_into(|columns| columns.lanes, call) }
    }

    /// # Safety
    /// As [`FoldedTile::take`], for what the call says.
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
        // SAFETY: the caller's promise; accumulators are memory of this thread.
        unsafe {
            let folded = Folded { strides, units, rows, columns, begins, joins };
            function.fold(&operands[..count], folded);
        }
    }

    /// Makes one node of what the lanes hold, after so many steps.
    ///
    /// # Safety
    /// All steps have been taken.
    pub(super) unsafe fn finish(&self, length: usize) {
        for columns in self.columns {
            // SAFETY: the caller's promise.
            unsafe {
                match self.folding.is_ordered || !self.folding.is_joined {
                    true => columns.finish(length),
                    false => columns.leave_lanes(length.min(LANES)),
                }
            }
        }
    }
}
