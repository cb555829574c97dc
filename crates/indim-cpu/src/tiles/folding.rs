//! Functions that fold what they compute: which one does for a nest, and how it lies in memory. How it goes
//! through a tile is in `folded.rs`.

use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::SizedNest;
use indim_loops::walk::reducing::{DirectColumns, NestRegion, UnitForm};
use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_targets::{Function, OperandForm};
use smallvec::SmallVec;

use crate::tiles::code::{FEW, TileCode, few};
use crate::tiles::functions::Functions;
use crate::tiles::tree::takes_in_turn;
use crate::tiles::wiring::{FunctionWiring, Wiring};

/// Of rows that come from no cache so many are read side by side: more that are far apart would drive one
/// another out of the caches.
const ROWS_FROM_FAR: usize = 4;

/// So many blocks of one column are folded by one call.
pub(super) const MAX_BLOCKS: usize = 16;

/// A nest that reads so many bytes finds them in no cache near by: the second one has 1 MiB or 2.
const FETCHED_BYTES: usize = 512 * 1024;

/// How a part of a nest is folded.
#[derive(Debug)]
pub(super) struct Folding {
    pub(super) function: Arc<Function>,
    /// For each input in bytes, from one element along the reduced axis to the next.
    pub(super) along: SmallVec<[isize; FEW]>,
    /// And from one row to the next, where units are rows.
    pub(super) across: SmallVec<[isize; FEW]>,
    /// Whether 32 steps are one row.
    pub(super) is_joined: bool,
    /// Whether the results depend on the order in which values are taken, other than one after another.
    pub(super) is_ordered: bool,
    /// Whether all of a row is read before the next: of long rows a block of each, one after another, would
    /// be read half as fast, even from a near cache.
    pub(super) is_row_by_row: bool,
    /// So many rows of a lane are read side by side.
    pub(super) rows_at_once: usize,
}

impl Folding {
    /// That of a part; `None` where there is no function, or too few columns for it.
    pub(super) fn new(
        code: &TileCode,
        nest: &SizedNest<'_>,
        part: &NestRegion,
        wiring: &Wiring,
        width: usize,
    ) -> Option<Self> {
        let FunctionWiring { forms, row_strides, .. } = wiring.function.as_ref()?;
        let functions = code.folding.as_deref()?;
        let is_row = matches!(part.form, UnitForm::Row(_));
        let forms = forms.iter().map(|form| match form {
            // What is single in a row is the same for all that is folded.
            OperandForm::Single if is_row => OperandForm::Same,
            form => *form,
        });
        let bytes = functions.inputs.iter().map(|&slot| code.element_size(slot) as isize);
        let inputs = forms.clone().zip(row_strides).zip(bytes);
        let along =
            match is_row {
                true => few(inputs
                    .map(|((form, _), bytes)| if form == OperandForm::Dense { bytes } else { 0 })),
                false => row_strides.clone(),
            };
        let is_whole = |steps: usize| steps.is_multiple_of(LANES);
        let is_joined = is_row
            || continues(code, functions, forms.clone(), row_strides, width)
                && (is_whole(part.walk.tile_steps) || part.walk.tiles_along_axis == 1);
        let (before, across) = (part.columns_before, row_strides.clone());
        let folds = Folds { code, nest, width, before, is_row, is_joined };
        folds.folding(forms, along, across)
    }

    /// That of rows which are read where they lie, each input so far along them in bytes, and from one to the
    /// next; `None` where there is no function, or too few elements for it.
    pub(super) fn of_rows(
        code: &TileCode,
        nest: &SizedNest<'_>,
        along: SmallVec<[isize; FEW]>,
        across: SmallVec<[isize; FEW]>,
    ) -> Option<Self> {
        let forms = along
            .iter()
            .map(|along| if *along == 0 { OperandForm::Same } else { OperandForm::Dense });
        let forms: SmallVec<[OperandForm; FEW]> = few(forms);
        let folds = Folds { code, nest, width: 1, before: 0, is_row: true, is_joined: true };
        folds.folding(forms.iter().copied(), along, across)
    }

    /// That of columns which are read where they lie, each operand of the nest so far from one step to the
    /// next, in bytes; `None` where there is no function, or too few columns for it.
    pub(super) fn of_columns(
        code: &TileCode,
        nest: &SizedNest<'_>,
        of: &DirectColumns,
        along: &[isize],
    ) -> Option<Self> {
        let (functions, width) = (code.folding.as_deref()?, of.unit_columns);
        let operands = || functions.inputs.iter().map(|&slot| code.operand(slot));
        let form = |operand: usize| match (width, along[operand], of.across(operand)) {
            (1, 0, _) | (_, 0, 0) => OperandForm::Same,
            (2.., _, 0) => OperandForm::Single,
            _ => OperandForm::Dense,
        };
        let along: SmallVec<[isize; FEW]> = few(operands().map(|operand| along[operand]));
        let is_joined =
            of.is_even() && continues(code, functions, operands().map(form), &along, width);
        let folds = Folds { code, nest, width, before: 0, is_row: false, is_joined };
        let across = SmallVec::from_elem(0, along.len());
        folds.folding(operands().map(form), along, across)
    }

    /// Whether the function makes a node of the lanes of so many elements of a row.
    pub(super) fn joins(&self, elements: usize) -> bool {
        self.is_ordered && self.function.joins_lanes() && elements.is_multiple_of(LANES)
    }

    /// Counts the memory that it holds beside the function.
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.along);
        held.small(&self.across);
    }

    /// Whether each column has one accumulator, which takes all values in turn.
    pub(super) fn is_in_turn(&self) -> bool {
        !self.is_ordered && !self.is_joined
    }

    /// The accumulators of a column that are used at once, and the finished ones beside them.
    pub(super) fn accumulators(&self, part: &NestRegion) -> usize {
        match part.form {
            UnitForm::Row(length) => self.row_accumulators(part.walk.tile_steps, length),
            UnitForm::Columns(width) => self.column_accumulators(width),
        }
    }

    /// Those of one of so many columns.
    pub(super) fn column_accumulators(&self, width: usize) -> usize {
        match width {
            1 if self.is_joined => (LANES + 1) * MAX_BLOCKS,
            _ => LANES,
        }
    }

    /// Those of so many rows of this length.
    pub(super) fn row_accumulators(&self, count: usize, length: usize) -> usize {
        let blocks = if self.is_ordered { length.div_ceil(BLOCK) } else { 1 };
        (LANES + 1) * blocks * count
    }
}

/// Whether each step of so many columns begins where the one before it ends, for all inputs that move.
fn continues(
    code: &TileCode,
    functions: &Functions,
    forms: impl Iterator<Item = OperandForm>,
    along: &[isize],
    width: usize,
) -> bool {
    let bytes = functions.inputs.iter().map(|&slot| code.element_size(slot) as isize);
    forms.zip(along).zip(bytes).all(|((form, &stride), bytes)| match form {
        OperandForm::Dense => stride == width as isize * bytes,
        form => form == OperandForm::Same,
    })
}

/// What is folded, wherever it lies.
struct Folds<'a> {
    code: &'a TileCode,
    nest: &'a SizedNest<'a>,
    /// The columns of a unit, and those before any.
    width: usize,
    before: usize,
    is_row: bool,
    is_joined: bool,
}

impl Folds<'_> {
    /// The function for inputs that lie so, and what it goes through; `None` where there is none, or too
    /// little for it.
    fn folding(
        &self,
        forms: impl Iterator<Item = OperandForm> + Clone,
        along: SmallVec<[isize; FEW]>,
        across: SmallVec<[isize; FEW]>,
    ) -> Option<Folding> {
        let Folds { code, nest, width, before, is_row, is_joined } = *self;
        let (functions, length) = (code.folding.as_deref()?, nest.length());
        let is_fetched_ahead = !is_joined && nest.bytes_moved() >= FETCHED_BYTES;
        let rows_at_once = if is_fetched_ahead { ROWS_FROM_FAR } else { BLOCK / LANES };
        let accumulators = core::iter::repeat_n(OperandForm::Accumulator, functions.outputs.len());
        let (forms, streams) = (forms.chain(accumulators), functions.outputs.iter().map(|_| false));
        let function = functions.function_of(forms, streams, false, is_fetched_ahead)?;
        // What is lacking to a step of the function is read before the columns, where others are.
        let read = if is_joined { length * width } else { width + before };
        let has_kernels = width > 1 || code.folds.iter().all(|fold| fold.lanes.is_some());
        if read < function.step() || !has_kernels {
            return None;
        }
        let is_ordered = code.folds.iter().any(|fold| !takes_in_turn(fold, LANES, length));
        let is_row_by_row = is_row && is_ordered && length > BLOCK;
        Some(Folding {
            function,
            along,
            across,
            is_joined,
            is_ordered,
            is_row_by_row,
            rows_at_once,
        })
    }
}
