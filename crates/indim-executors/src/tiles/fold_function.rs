//! Functions that fold the values they compute: the choice of the function for a nest, and its operand
//! layout. `fold_tile.rs` calls it in a tile.

use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::SizedNest;
use indim_loops::walk::reduction::{DirectColumns, NestPartition, UnitForm};
use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_targets::{Function, OperandForm};
use smallvec::SmallVec;

use crate::tiles::code::{INLINE_ITEMS, TileCode, short_list};
use crate::tiles::functions::Functions;
use crate::tiles::tree::is_sequential;
use crate::tiles::wiring::{FunctionWiring, Wiring};

/// Rows per call if operands are prefetched from memory. More rows would evict one another before the next
/// strip of columns.
const PREFETCHED_ROWS: usize = 4;

/// Upper bound of the blocks of one column that a call folds as units.
pub(super) const MAX_BLOCKS: usize = 16;

/// Minimum bytes moved by a nest whose operands are prefetched. Fewer bytes, at most half of an L2 of 1 MiB
/// or 2 MiB, may stay in L2.
const PREFETCH_BYTES: usize = 512 * 1024;

/// A function that folds the values of a nest or of a partition, with the strides of its inputs.
#[derive(Debug)]
pub(super) struct FoldFunction {
    pub(super) function: Arc<Function>,
    /// Stride of each input along the reduced axis, in bytes.
    pub(super) reduced_strides: SmallVec<[isize; INLINE_ITEMS]>,
    /// Stride of each input between rows, in bytes, if units are rows.
    pub(super) row_strides: SmallVec<[isize; INLINE_ITEMS]>,
    /// Whether consecutive steps are contiguous in each input, so that `REDUCTION_LANES` steps are one row of
    /// a call.
    pub(super) is_contiguous: bool,
    /// Whether the order of the fold changes the bits of results.
    pub(super) is_ordered: bool,
    /// Whether a row is read to its end before the next row. Reading a block of each long row in turn is half
    /// as fast, even from L2.
    pub(super) is_row_by_row: bool,
    /// Upper bound of the rows that a call folds into one lane. A call reads all its rows for one strip of
    /// columns, then for the next, so their cache lines have to stay resident in between.
    pub(super) rows_per_call: usize,
}

impl FoldFunction {
    /// The function for the tiles of a partition; `None` if it is not available, or if a unit has too few
    /// columns.
    pub(super) fn new(
        code: &TileCode,
        nest: &SizedNest<'_>,
        partition: &NestPartition,
        wiring: &Wiring,
        width: usize,
    ) -> Option<Self> {
        let FunctionWiring { forms, row_strides, .. } = wiring.function.as_ref()?;
        let functions = code.fold_functions.as_deref()?;
        let is_row = matches!(partition.form, UnitForm::Row(_));
        let forms = forms.iter().map(|form| match form {
            // A single element per row is the same for all folded values.
            OperandForm::RowScalar if is_row => OperandForm::UnitScalar,
            form => *form,
        });
        let bytes = functions.inputs.iter().map(|&register| code.element_size(register) as isize);
        let inputs = forms.clone().zip(row_strides).zip(bytes);
        let reduced_strides = match is_row {
            true => short_list(
                inputs.map(|((form, _), bytes)| if form == OperandForm::Dense { bytes } else { 0 }),
            ),
            false => row_strides.clone(),
        };
        let is_whole = |steps: usize| steps.is_multiple_of(REDUCTION_LANES);
        let is_contiguous = is_row
            || continues(code, functions, forms.clone(), row_strides, width)
                && (is_whole(partition.walk.tile_steps) || partition.walk.tiles_along_axis == 1);
        let (columns_before, row_strides) = (partition.columns_before, row_strides.clone());
        let folds = FoldSpec { code, nest, width, columns_before, is_row, is_contiguous };
        folds.fold_function(forms, reduced_strides, row_strides)
    }

    /// The function for rows in place; `reduced_strides` and `row_strides` are the strides within and between
    /// rows, in bytes. `None` if it is not available, or if rows have too few elements.
    pub(super) fn of_rows(
        code: &TileCode,
        nest: &SizedNest<'_>,
        reduced_strides: SmallVec<[isize; INLINE_ITEMS]>,
        row_strides: SmallVec<[isize; INLINE_ITEMS]>,
    ) -> Option<Self> {
        let forms = reduced_strides
            .iter()
            .map(|stride| if *stride == 0 { OperandForm::UnitScalar } else { OperandForm::Dense });
        let forms: SmallVec<[OperandForm; INLINE_ITEMS]> = short_list(forms);
        let folds =
            FoldSpec { code, nest, width: 1, columns_before: 0, is_row: true, is_contiguous: true };
        folds.fold_function(forms.iter().copied(), reduced_strides, row_strides)
    }

    /// The function for columns in place; `reduced_strides` are the strides between steps, in bytes. `None`
    /// if it is not available, or if a unit has too few columns.
    pub(super) fn of_columns(
        code: &TileCode,
        nest: &SizedNest<'_>,
        of: &DirectColumns,
        reduced_strides: &[isize],
    ) -> Option<Self> {
        let (functions, width) = (code.fold_functions.as_deref()?, of.unit_columns);
        let operands = || functions.inputs.iter().map(|&register| code.operand(register));
        let form =
            |operand: usize| match (width, reduced_strides[operand], of.column_stride(operand)) {
                (1, 0, _) | (_, 0, 0) => OperandForm::UnitScalar,
                (2.., _, 0) => OperandForm::RowScalar,
                _ => OperandForm::Dense,
            };
        let reduced_strides: SmallVec<[isize; INLINE_ITEMS]> =
            short_list(operands().map(|operand| reduced_strides[operand]));
        let is_contiguous = of.is_even()
            && continues(code, functions, operands().map(form), &reduced_strides, width);
        let folds = FoldSpec { code, nest, width, columns_before: 0, is_row: false, is_contiguous };
        let row_strides = SmallVec::from_elem(0, reduced_strides.len());
        folds.fold_function(operands().map(form), reduced_strides, row_strides)
    }

    /// Whether a call over this many elements of a row combines their lanes to a node.
    pub(super) fn reduces_lanes(&self, elements: usize) -> bool {
        self.is_ordered
            && self.function.can_reduce_lanes()
            && elements.is_multiple_of(REDUCTION_LANES)
    }

    /// Counts the memory of the strides. The function is not included.
    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.reduced_strides);
        memory_use.add_small_vec(&self.row_strides);
    }

    /// Whether the fold is sequential: each column has one accumulator.
    pub(super) fn is_sequential(&self) -> bool {
        !self.is_ordered && !self.is_contiguous
    }

    /// Number of accumulators of one column of a partition, or of all rows of its tile.
    pub(super) fn accumulators(&self, partition: &NestPartition) -> usize {
        match partition.form {
            UnitForm::Row(length) => self.row_accumulators(partition.walk.tile_steps, length),
            UnitForm::Columns(width) => self.column_accumulators(width),
        }
    }

    /// Number of accumulators of one of `width` columns: lanes, and nodes of calls over several blocks.
    pub(super) fn column_accumulators(&self, width: usize) -> usize {
        match width {
            1 if self.is_contiguous => (REDUCTION_LANES + 1) * MAX_BLOCKS,
            _ => REDUCTION_LANES,
        }
    }

    /// Number of accumulators of `count` rows of this length: lanes and a node for each block.
    pub(super) fn row_accumulators(&self, count: usize, length: usize) -> usize {
        let blocks = if self.is_ordered { length.div_ceil(REDUCTION_BLOCK) } else { 1 };
        (REDUCTION_LANES + 1) * blocks * count
    }
}

/// Whether each step begins at the end of the step before, in all inputs that move.
fn continues(
    code: &TileCode,
    functions: &Functions,
    forms: impl Iterator<Item = OperandForm>,
    reduced_strides: &[isize],
    width: usize,
) -> bool {
    let bytes = functions.inputs.iter().map(|&register| code.element_size(register) as isize);
    forms.zip(reduced_strides).zip(bytes).all(|((form, &stride), bytes)| match form {
        OperandForm::Dense => stride == width as isize * bytes,
        form => form == OperandForm::UnitScalar,
    })
}

/// The facts that decide the function for a fold.
struct FoldSpec<'a> {
    code: &'a TileCode,
    nest: &'a SizedNest<'a>,
    /// Columns of a unit.
    width: usize,
    /// Columns in memory before each unit, which the function may read.
    columns_before: usize,
    /// Whether units are rows.
    is_row: bool,
    is_contiguous: bool,
}

impl FoldSpec<'_> {
    /// The function for inputs of these forms, with its strides; `None` if it is not available, or if a step
    /// of its loop would read elements that do not exist.
    fn fold_function(
        &self,
        forms: impl Iterator<Item = OperandForm> + Clone,
        reduced_strides: SmallVec<[isize; INLINE_ITEMS]>,
        row_strides: SmallVec<[isize; INLINE_ITEMS]>,
    ) -> Option<FoldFunction> {
        let FoldSpec { code, nest, width, columns_before, is_row, is_contiguous } = *self;
        let (functions, length) = (code.fold_functions.as_deref()?, nest.length());
        let has_prefetch = !is_contiguous && nest.bytes_moved() >= PREFETCH_BYTES;
        let rows_per_call =
            if has_prefetch { PREFETCHED_ROWS } else { REDUCTION_BLOCK / REDUCTION_LANES };
        let accumulators = core::iter::repeat_n(OperandForm::Accumulator, functions.outputs.len());
        let (forms, is_streamed) =
            (forms.chain(accumulators), functions.outputs.iter().map(|_| false));
        let function = functions.find_or_compile(forms, is_streamed, false, has_prefetch)?;
        // The last step of the function's loop ends with the last column and overlaps columns before it.
        let readable = if is_contiguous { length * width } else { width + columns_before };
        let has_kernels = width > 1 || code.folds.iter().all(|fold| fold.lanes.is_some());
        if readable < function.step() || !has_kernels {
            return None;
        }
        let is_ordered =
            code.folds.iter().any(|fold| !is_sequential(fold, REDUCTION_LANES, length));
        let is_row_by_row = is_row && is_ordered && length > REDUCTION_BLOCK;
        Some(FoldFunction {
            function,
            reduced_strides,
            row_strides,
            is_contiguous,
            is_ordered,
            is_row_by_row,
            rows_per_call,
        })
    }
}
