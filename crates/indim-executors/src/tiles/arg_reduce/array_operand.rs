//! Arg-reductions of arrays in memory, whose blocks can be read twice. Holds unsafe code.
//!
//! Each column keeps its extreme so far and the first block with that extreme. At the end only this block
//! is searched for the index. A *block* here is a number of steps that depends on the columns
//! (`block_steps`).

use core::ops::Range;

use indim_kernels::{ArgReduceRows, ColumnExtremes};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_loops::walk::reduction::{NestPartition, ReducedAxes, ReductionNest, UnitForm};
use indim_ops::DType;
use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use smallvec::smallvec;

use super::state::{StoreArgReduction, StoreState, is_short, reserve};
use super::{ArgReductionPartition, PartitionOperand, PartitionRun};
use crate::tiles::code::TileCode;
use crate::tiles::memory::{ElementRun, gather};
use crate::tiles::tile::Workspace;
use crate::tiles::tree::StepValues;

/// The array of one arg-reduction. The operands of the walk are the target and this array.
#[derive(Debug)]
pub(super) struct ArrayOperand {
    /// The operand of the nest.
    source: usize,
    /// Columns that are reduced together; 1 if units are rows.
    width: usize,
    /// Stride between columns, or between elements of a row, in bytes.
    inner_stride: isize,
    /// Columns of a step, or elements of a row.
    inner: usize,
    /// Upper bound of the steps of a block.
    block: usize,
    /// Offset in the memory of a thread of the gathered block, for a strided array.
    gathered: usize,
}

/// The partitions of the arg-reductions of these accesses, one for each store.
pub(super) fn partitions(
    code: &TileCode,
    nest: &SizedNest<'_>,
    accesses: &[usize],
    strides: NestStrides<'_>,
) -> Option<Vec<ArgReductionPartition>> {
    let strides = nest.list_strides(strides);
    let mut partitions = Vec::new();
    for (store, &access) in accesses.iter().enumerate() {
        let source = code.operand(access);
        let fold = &code.folds[store];
        let of_store = [&strides[store], &strides[source]].map(AxisStrides::clone);
        let axes = ReducedAxes::new(&nest.shape, nest.nest.reduced?, &of_store, 1)?;
        let has_row_kernels =
            fold.rows.is_some() && axes.length <= ROW_BLOCK || is_short(axes.length);
        let of_store = ReductionNest {
            axes: &axes,
            element_sizes: &[DType::I64.size(), fold.source_size],
            targets: 1,
            block: code.block_elements,
            minimum_row: None,
            folds: false,
            is_direct: true,
            has_row_kernels,
            has_lanes: false,
            joins_axes: false,
        }
        .partitions();
        partitions.extend(
            of_store.into_iter().map(|partition| bind_partition(code, store, source, partition)),
        );
    }
    Some(partitions)
}

/// The arg-reduction of one store over a partition, with the layout of its memory.
fn bind_partition(
    code: &TileCode,
    store: usize,
    source: usize,
    partition: NestPartition,
) -> ArgReductionPartition {
    let size = code.folds[store].size;
    // If units are rows, a step is a row, and a tile is one block.
    let (width, block, inner) = match partition.form {
        UnitForm::Columns(columns) => (columns, block_steps(columns), columns),
        UnitForm::Row(length) => (1, partition.walk.tile_steps, length),
    };
    let mut bytes = 0;
    let stride = partition.result_strides[0];
    let reduction =
        StoreArgReduction::new(code, store, (partition.form, block), stride, &mut bytes);
    let gathered = reserve(&mut bytes, if partition.is_direct { 0 } else { block * inner }, size);
    let inner_stride = partition.walk.operands[1].inner_stride(size);
    let operand = PartitionOperand::Array(ArrayOperand {
        source,
        width,
        inner_stride,
        inner,
        block,
        gathered,
    });
    ArgReductionPartition { partition, reductions: smallvec![reduction], bytes, operand }
}

/// Steps of a block of one column. Rows of at most this length are reduced as rows, several in a tile.
const ROW_BLOCK: usize = 2 * REDUCTION_BLOCK;

/// Steps of a block of `columns` columns: few enough for a fast search.
fn block_steps(columns: usize) -> usize {
    match columns {
        1 => ROW_BLOCK,
        _ if columns < REDUCTION_LANES => REDUCTION_BLOCK,
        _ => 16,
    }
}

impl ArrayOperand {
    /// Reduces these segments.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`](crate::executor::BoundNest::run), for segments of this
    ///   partition;
    /// - the memory of `partition_run` belongs to this thread and has the partition's `bytes`.
    pub(super) unsafe fn reduce(
        &self,
        partition_run: &PartitionRun<'_>,
        workspace: &mut Workspace,
        segments: Range<usize>,
    ) {
        let Some(state) = partition_run.states().next() else { return };
        let mut position = partition_run.position(workspace, segments.start);
        for segment in segments {
            let source =
                partition_run.bases.operands[self.source].wrapping_offset(position.offset(1));
            // SAFETY:
            // - `source` is the operand at the first tile of one of the caller's segments, so its steps are
            //   readable;
            // - extremes and indices are memory of this thread, or that of the segment in shared memory;
            // - all steps of the segment are reduced before `end_segment`.
            unsafe {
                match partition_run.partition.partition.form {
                    UnitForm::Columns(_) => {
                        let best = state.extremes_of(partition_run.shared_segment(segment));
                        let steps = partition_run.steps(segment).len();
                        self.reduce_columns(partition_run, &state, source, steps, best);
                        partition_run.end_segment(&position, segment);
                    }
                    UnitForm::Row(length) => {
                        let rows = self.values(partition_run, source, 0, position.steps);
                        let target = partition_run.target(0, &position);
                        state.reduce_rows(rows, (position.steps, length), target);
                    }
                }
            }
            (0..partition_run.partition.partition.tiles_of(segment).1)
                .for_each(|_| position.advance());
        }
    }

    /// Finds the extremes of `steps` steps from `source` on, with their indices.
    ///
    /// # Safety
    /// - `steps` steps from `source` on are valid for reads;
    /// - `best` has room for `width` columns, and no other thread accesses it;
    /// - the memory of `partition_run` belongs to this thread.
    unsafe fn reduce_columns(
        &self,
        partition_run: &PartitionRun<'_>,
        state: &StoreState<'_>,
        source: *const u8,
        steps: usize,
        best: ColumnExtremes,
    ) {
        let ArrayOperand { width, block, .. } = *self;
        if width >= REDUCTION_LANES && is_short(partition_run.partition.partition.walk.tile_axis) {
            // SAFETY: the caller has the same obligations.
            return unsafe { self.reduce_short(partition_run, state, source, steps, best) };
        }
        let (tree, functions) = (state.columns(), &state.reduction.functions);
        for (index, start) in (0..steps).step_by(block).enumerate() {
            let count = block.min(steps - start);
            // SAFETY:
            // - `count` steps from `start` on are a part of the caller's `steps`;
            // - `values` returns them dense, so each is a row for the tree, whose memory `new` reserved;
            // - after `finish` the first node has the extremes of the block.
            unsafe {
                tree.fold(self.values(partition_run, source, start, count), 0..count);
                tree.finish(count);
                (functions.merge)(best, tree.nodes, width, index);
            }
        }
        let step_stride = partition_run.partition.partition.walk.operands[1].step_stride;
        for column in 0..width {
            // SAFETY:
            // - `merge` has left in each index the number of a block of these steps;
            // - so `count` steps from its start on are readable, and one of them is the extreme.
            unsafe {
                let index = best.indices.add(column);
                let start = *index * block;
                let offset = start as isize * step_stride + column as isize * self.inner_stride;
                let (count, first) = (block.min(steps - start), source.wrapping_offset(offset));
                let extreme = best.extremes.add(column * state.fold.size);
                *index = start + (functions.find)(first, count, step_stride, extreme);
            }
        }
    }

    /// Like [`ArrayOperand::reduce_columns`], for at least `REDUCTION_LANES` columns along a short axis: one
    /// pass for extremes with indices.
    ///
    /// # Safety
    /// Like [`ArrayOperand::reduce_columns`].
    unsafe fn reduce_short(
        &self,
        partition_run: &PartitionRun<'_>,
        state: &StoreState<'_>,
        source: *const u8,
        steps: usize,
        best: ColumnExtremes,
    ) {
        let ArrayOperand { width, block, .. } = *self;
        for start in (0..steps).step_by(block) {
            let count = block.min(steps - start);
            // SAFETY: `count` steps from `start` on are a part of the caller's `steps`; the first block
            // initialises `best`, and further blocks follow in order.
            unsafe {
                let rows = self.values(partition_run, source, start, count);
                let arg_rows = ArgReduceRows { count, stride: rows.step_stride, width, start };
                (state.reduction.functions.update)(best, rows.first, arg_rows);
            }
        }
    }

    /// The values of some steps. Strided values are gathered into a dense block.
    ///
    /// # Safety
    /// - `count` steps from step `start` after `source` on are valid for reads;
    /// - `count` is at most `block`, and the memory of `partition_run` belongs to this thread.
    unsafe fn values(
        &self,
        partition_run: &PartitionRun<'_>,
        source: *const u8,
        start: usize,
        count: usize,
    ) -> StepValues {
        let partition = &partition_run.partition.partition;
        let step_stride = partition.walk.operands[1].step_stride;
        let first = source.wrapping_offset(start as isize * step_stride);
        if partition.is_direct {
            return StepValues { first, step_stride };
        }
        let size = partition_run.code.folds[partition_run.partition.reductions[0].store].size;
        let gathered = partition_run.memory.wrapping_add(self.gathered);
        let steps = ElementRun { count, stride: step_stride };
        let run = ElementRun { count: self.inner, stride: self.inner_stride };
        // SAFETY: the caller ensures the readable steps; `bind_partition` reserved `block * inner` elements.
        unsafe { gather(gathered, first, steps, run, size) }
        StepValues { first: gathered, step_stride: (self.inner * size) as isize }
    }
}
