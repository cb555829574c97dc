//! Functions that fold what they compute, over the tiles of a reduced axis. Holds unsafe code.
//!
//! In which accumulators a step goes is as in `tree.rs`. Where the columns of one step lie right behind those
//! of the step before, 32 steps are one row, which goes into all lanes of a block at once.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::loop_nest::LoopNest;
use indim_loops::walk::reducing::{Part, UnitForm};
use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_targets::{Folded, Form, Function};
use smallvec::SmallVec;

use crate::tiles::code::{FEW, TileCode, bytes_moved};
use crate::tiles::tree::{Columns, takes_in_turn};
use crate::tiles::wiring::{FunctionWiring, Wiring};

/// A function has at most so many operands: four accumulators, and nine inputs.
const MOST_OPERANDS: usize = 16;

/// Of rows that come from no cache so many are read side by side: more that are far apart would drive one
/// another out of the caches.
const ROWS_FROM_FAR: usize = 4;

/// So many blocks of one column are folded by one call.
pub(super) const MOST_BLOCKS: usize = 16;

/// A nest that reads so many bytes finds them in no cache near by.
const FETCHED_BYTES: usize = 4 * 1024 * 1024;

/// How a part of a nest is folded.
#[derive(Debug)]
pub(super) struct Folding {
    function: Arc<Function>,
    /// For each input in bytes, from one element along the reduced axis to the next.
    along: SmallVec<[isize; FEW]>,
    /// And from one row to the next, where units are rows.
    across: SmallVec<[isize; FEW]>,
    width: usize,
    /// Whether 32 steps are one row.
    is_joined: bool,
    /// Whether the results depend on the order in which values are taken, other than one after another.
    is_ordered: bool,
    /// So many rows of a lane are read side by side.
    rows_at_once: usize,
}

impl Folding {
    /// `None` where there is no function, or too few columns for it.
    pub(super) fn new(
        code: &TileCode,
        nest: &LoopNest,
        part: &Part,
        wiring: &Wiring,
        width: usize,
    ) -> Option<Self> {
        let FunctionWiring { layout, row_strides } = wiring.folding.as_ref()?;
        let functions = code.folding.as_ref()?;
        let mut layout = layout.clone();
        let is_row = matches!(part.form, UnitForm::Row(_));
        for form in layout.inputs.iter_mut().filter(|form| is_row && **form == Form::Single) {
            // What is single in a row is the same for all that is folded.
            *form = Form::Same;
        }
        let bytes = functions.inputs.iter().map(|&slot| code.element_size(slot) as isize);
        let inputs = layout.inputs.iter().zip(row_strides).zip(bytes);
        let continues = inputs.clone().all(|((form, &stride), bytes)| match form {
            Form::Dense => stride == width as isize * bytes,
            form => *form == Form::Same,
        });
        let along = match is_row {
            true => inputs
                .map(|((form, _), bytes)| if *form == Form::Dense { bytes } else { 0 })
                .collect(),
            false => row_strides.clone(),
        };
        let length = nest.reduced.map_or(0, |axis| nest.shape[axis]);
        let is_whole = |steps: usize| steps.is_multiple_of(LANES);
        let is_joined = is_row
            || continues && (is_whole(part.walk.tile_steps) || part.walk.tiles_along_axis == 1);
        layout.is_fetched_ahead = !is_joined && bytes_moved(nest) >= FETCHED_BYTES;
        let rows_at_once = if layout.is_fetched_ahead { ROWS_FROM_FAR } else { BLOCK / LANES };
        let function = functions.function(&layout)?;
        // What is lacking to a step of the function is read before the columns, where others are.
        let columns = if is_joined { length * width } else { width + part.columns_before };
        let has_kernels = width > 1 || code.folds.iter().all(|fold| fold.lanes.is_some());
        if columns < function.step() || !has_kernels {
            return None;
        }
        let is_ordered = code.folds.iter().any(|fold| !takes_in_turn(fold, LANES, length));
        let across = row_strides.clone();
        Some(Folding { function, along, across, width, is_joined, is_ordered, rows_at_once })
    }

    /// Whether each column has one accumulator, which takes all values in turn.
    pub(super) fn is_in_turn(&self) -> bool {
        !self.is_ordered && !self.is_joined
    }

    /// The accumulators of a column that are used at once, and the finished ones beside them.
    pub(super) fn accumulators(&self, part: &Part) -> usize {
        match part.form {
            UnitForm::Row(_) => (LANES + 1) * part.walk.tile_steps,
            UnitForm::Columns(1) if self.is_joined => (LANES + 1) * MOST_BLOCKS,
            UnitForm::Columns(_) => LANES,
        }
    }
}

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

/// What one call folds, in steps.
struct Call {
    /// The first accumulator, from the first lane on.
    lane: usize,
    /// The first step in the tile.
    step: usize,
    units: usize,
    /// From one unit to the next, unless units are rows, and from one row of a unit to the next.
    unit_steps: Option<usize>,
    row_steps: usize,
    rows: usize,
    columns: usize,
    begins: bool,
}

impl FoldedTile<'_> {
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
        let Folding { is_joined, width, .. } = *self.folding;
        let mut step = steps.start;
        while step < steps.end {
            let blocks = ((steps.end - step) / BLOCK).min(MOST_BLOCKS);
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
        let call = Call {
            lane: 0,
            step: step - self.first,
            units: blocks,
            unit_steps: Some(BLOCK),
            row_steps: LANES,
            rows: BLOCK / LANES,
            columns: LANES,
            begins: true,
        };
        // SAFETY: the caller's promise; there is room for the lanes and nodes of so many blocks.
        unsafe {
            self.call(call);
            for columns in self.columns {
                let nodes = columns.fold_each(blocks, MOST_BLOCKS, LANES);
                for block in 0..blocks {
                    let lanes = nodes.wrapping_add(block * columns.fold.size);
                    Columns { lanes, ..*columns }.add_node(step / BLOCK + block);
                }
            }
        }
    }

    /// Makes a node of each of so many rows, all of this length; there is room for `most`.
    ///
    /// # Safety
    /// As [`FoldedTile::take`], for all elements of the rows.
    pub(super) unsafe fn take_rows(&self, count: usize, most: usize, length: usize) {
        let block = if self.folding.is_ordered { BLOCK } else { length };
        for first in (0..length).step_by(block) {
            let elements = block.min(length - first);
            let (rows, rest) = (elements / LANES, elements % LANES);
            let call = |first: usize, rows: usize, columns: usize, begins: bool| Call {
                lane: 0,
                step: first,
                units: count,
                unit_steps: None,
                row_steps: LANES,
                rows,
                columns,
                begins,
            };
            // SAFETY: the caller's promise; there is room for the lanes and nodes of all rows.
            unsafe {
                if rows > 0 {
                    self.call(call(first, rows, LANES, true));
                }
                if rest > 0 {
                    self.call(call(first + rows * LANES, 1, rest, rows == 0));
                }
                for columns in self.columns {
                    let lanes = columns.fold_each(count, most, elements.min(LANES));
                    Columns { lanes, width: count, ..*columns }.add_node(first / block);
                }
            }
        }
        for columns in self.columns {
            // SAFETY: the nodes of all blocks have been added.
            unsafe { Columns { width: count, ..*columns }.merge_all(length.div_ceil(block)) }
        }
    }

    /// Takes steps of a block, 32 at a time, or all there are.
    ///
    /// # Safety
    /// As [`FoldedTile::take`]; the first goes into the first lane.
    unsafe fn take_joined(&self, steps: Range<usize>, begins: bool) {
        let (rows, rest) = (steps.len() / LANES, steps.len() % LANES);
        let width = self.folding.width;
        let whole = Call {
            lane: 0,
            step: steps.start - self.first,
            units: 1,
            unit_steps: Some(0),
            row_steps: LANES,
            rows,
            columns: LANES * width,
            begins,
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
                row_steps: LANES,
                rows: rows.len(),
                columns: self.folding.width,
                begins: step % BLOCK < LANES && rows.start == 0,
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
                lane: 0,
                step: first - self.first,
                units: 1,
                unit_steps: Some(0),
                row_steps: 1,
                rows: rows_at_once.min(steps.end - first),
                columns: self.folding.width,
                begins: first == 0,
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
        let Folding { function, along, across, width, .. } = self.folding;
        let Call { lane, step, units, unit_steps, row_steps, rows, columns, begins } = call;
        let (stores, count) = (self.columns.len(), self.columns.len() + self.inputs.len());
        let mut operands = [core::ptr::null_mut(); MOST_OPERANDS];
        let mut strides = [0; 2 * MOST_OPERANDS];
        for (store, tree) in self.columns.iter().enumerate() {
            operands[store] = accumulators(tree).wrapping_add(lane * width * tree.fold.size);
            // A row has lanes of its own, however few there are.
            let unit = if unit_steps.is_none() { LANES } else { columns };
            strides[store] = (unit * tree.fold.size) as isize;
        }
        for (input, &first) in self.inputs.iter().enumerate() {
            let (along, across) = (along[input], across[input]);
            operands[stores + input] = first.wrapping_offset(step as isize * along);
            strides[stores + input] = unit_steps.map_or(across, |steps| steps as isize * along);
            strides[count + stores + input] = row_steps as isize * along;
        }
        let strides = &strides[..2 * count];
        // SAFETY: the caller's promise; accumulators are memory of this thread.
        unsafe {
            function.fold(&operands[..count], Folded { strides, units, rows, columns, begins });
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
