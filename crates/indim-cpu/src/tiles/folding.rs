//! Functions that fold what they compute: the choice of the function for a nest, and its operand layout.
//! `folded.rs` runs it over a tile.

use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::SizedNest;
use indim_loops::walk::reduction::{DirectColumns, NestRegion, UnitForm};
use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_targets::{Function, OperandForm};
use smallvec::SmallVec;

use crate::tiles::code::{FEW, TileCode, few};
use crate::tiles::functions::Functions;
use crate::tiles::tree::takes_in_turn;
use crate::tiles::wiring::{FunctionWiring, Wiring};

/// Rows read side by side if they come from memory: more rows at a distance would evict one another.
const ROWS_FROM_FAR: usize = 4;

/// Upper bound of the blocks of one column that a call folds.
pub(super) const MAX_BLOCKS: usize = 16;

/// Bytes of operands above which they are prefetched: they do not stay in L2, which has 1 MiB or 2 MiB.
const FETCHED_BYTES: usize = 512 * 1024;

/// A function that folds a part of a nest, with its strides.
#[derive(Debug)]
pub(super) struct Folding {
    pub(super) function: Arc<Function>,
    /// Stride of each input along the reduced axis, in bytes.
    pub(super) along: SmallVec<[isize; FEW]>,
    /// Stride of each input between rows, in bytes, if units are rows.
    pub(super) across: SmallVec<[isize; FEW]>,
    /// Whether 32 steps are one row.
    pub(super) is_joined: bool,
    /// Whether the result depends on the order of the fold.
    pub(super) is_ordered: bool,
    /// Whether a row is read to its end before the next. Reading a block of each long row in turn is half
    /// as fast, even from L2.
    pub(super) is_row_by_row: bool,
    /// Rows of a lane that are read side by side.
    pub(super) rows_at_once: usize,
}

impl Folding {
    /// The fold of tiles; `None` without a function, or with too few columns for it.
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
            // A single element per row is the same for all folded values.
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

    /// The fold of rows in place. `along` and `across` are the strides in bytes within rows and between
    /// them. `None` without a function, or with too few elements for it.
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

    /// The fold of columns in place; the strides are those between steps, in bytes. `None` without a
    /// function, or with too few columns for it.
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

    /// Whether the function joins the lanes of this many elements of a row into a node.
    pub(super) fn joins(&self, elements: usize) -> bool {
        self.is_ordered && self.function.joins_lanes() && elements.is_multiple_of(LANES)
    }

    /// Counts the memory of the strides, without the function.
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.along);
        held.small(&self.across);
    }

    /// Whether each column has one accumulator, which takes all values in turn.
    pub(super) fn is_in_turn(&self) -> bool {
        !self.is_ordered && !self.is_joined
    }

    /// Accumulators of a column, for lanes and nodes.
    pub(super) fn accumulators(&self, part: &NestRegion) -> usize {
        match part.form {
            UnitForm::Row(length) => self.row_accumulators(part.walk.tile_steps, length),
            UnitForm::Columns(width) => self.column_accumulators(width),
        }
    }

    /// Accumulators of one of `width` columns.
    pub(super) fn column_accumulators(&self, width: usize) -> usize {
        match width {
            1 if self.is_joined => (LANES + 1) * MAX_BLOCKS,
            _ => LANES,
        }
    }

    /// Accumulators of `count` rows of this length.
    pub(super) fn row_accumulators(&self, count: usize, length: usize) -> usize {
        let blocks = if self.is_ordered { length.div_ceil(BLOCK) } else { 1 };
        (LANES + 1) * blocks * count
    }
}

/// Whether each step begins where the one before ends, for all inputs that move.
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

/// The fold of a nest, independent of its strides.
struct Folds<'a> {
    code: &'a TileCode,
    nest: &'a SizedNest<'a>,
    /// Columns of a unit, and columns before it.
    width: usize,
    before: usize,
    is_row: bool,
    is_joined: bool,
}

impl Folds<'_> {
    /// The function for inputs of these forms, with its strides; `None` without a function, or with too
    /// little work.
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
        // The last step overlaps the columns before it.
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
