//! Arg-reductions of computed values, tile by tile, while each tile is in L1. Holds unsafe code.
//!
//! If at least `REDUCTION_LANES` columns are reduced together, one pass over a tile updates extremes and
//! indices. For fewer columns a tile is folded to its extremes, and only a tile with a new extreme is
//! searched for its index.

use core::ops::Range;
use std::sync::Arc;

use indim_kernels::ArgReduceRows;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reduction::{NestPartition, ReductionNest, UnitForm};
use indim_ops::meaning::reduction::REDUCTION_LANES;
use indim_targets::Function;
use smallvec::SmallVec;

use super::state::{StoreArgReduction, is_short};
use super::{ArgReductionPartition, PartitionOperand, PartitionRun};
use crate::tiles::code::{INLINE_ITEMS, TileCode, element_sizes};
use crate::tiles::reduce::reducing;
use crate::tiles::tile::{Tile, Workspace};
use crate::tiles::tree::StepValues;
use crate::tiles::wiring::Wiring;

/// The tiles of a partition. The operands of the walk are those of the nest.
#[derive(Debug)]
pub(super) struct ComputedOperand {
    wiring: Wiring,
    function: Option<Arc<Function>>,
    /// Columns that are reduced together; 1 if units are rows.
    width: usize,
}

/// The partitions of a nest whose arg-reductions have computed operands; `None` if there is nothing to
/// reduce, or if a function is not available.
pub(super) fn partitions(
    code: &TileCode,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
) -> Option<Vec<ArgReductionPartition>> {
    let sizes = element_sizes(nest.nest);
    let axes = nest.reduced_axes(nest.nest.reduced?, strides)?;
    let partitions = || {
        let of_nest = reducing(code, nest, &axes, &sizes, false);
        let has_row_kernels = of_nest.has_row_kernels || is_short(axes.length);
        let partitions = ReductionNest { has_row_kernels, ..of_nest }.partitions().into_iter();
        partitions
            .map(|partition| bind_partition(code, nest, partition))
            .collect::<Option<Vec<_>>>()
    };
    let first = partitions()?;
    match first.iter().any(|it| it.has_short_rows(code)) {
        // The function just compiled has longer steps than assumed and would run these rows slowly, so this
        // binding gathers them.
        true => partitions(),
        false => Some(first),
    }
}

/// The arg-reductions of all stores over a partition, with the layout of their memory; `None` if the function
/// is not available.
fn bind_partition(
    code: &TileCode,
    nest: &SizedNest<'_>,
    partition: NestPartition,
) -> Option<ArgReductionPartition> {
    let mut in_blocks: SmallVec<[bool; INLINE_ITEMS]> = SmallVec::from_slice(&code.needs_block);
    for store in &code.nest.stores {
        if let Local::Access(index) = store.source {
            in_blocks[index] = true;
        }
    }
    let wiring = Wiring::new(code, nest, &partition.walk, &in_blocks, &[], false);
    let function = wiring.find_function(code)?;
    let width = match partition.form {
        UnitForm::Columns(columns) => columns,
        UnitForm::Row(_) => 1,
    };
    let tile = partition.walk.tile_steps;
    let block = match partition.form {
        UnitForm::Columns(_) => (partition.form, tile),
        UnitForm::Row(_) => (partition.form, partition.results(tile)),
    };
    let mut bytes = 0;
    let reduction =
        |(store, &stride)| StoreArgReduction::new(code, store, block, stride, &mut bytes);
    let reductions = partition.result_strides.iter().enumerate().map(reduction).collect();
    let operand = PartitionOperand::Computed(Box::new(ComputedOperand { wiring, function, width }));
    Some(ArgReductionPartition { partition, reductions, bytes, operand })
}

impl ArgReductionPartition {
    /// Whether the function would run rows shorter than its step, which is slow.
    fn has_short_rows(&self, code: &TileCode) -> bool {
        let PartitionOperand::Computed(computed) = &self.operand else { return false };
        !self.partition.has_few_rows() && computed.wiring.has_short_rows(code, &self.partition.walk)
    }
}

impl ComputedOperand {
    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        self.wiring.count_bytes(memory_use);
    }

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
        let PartitionRun {
            code, partition: ArgReductionPartition { partition, .. }, bases, ..
        } = partition_run;
        workspace.prepare(code, &self.wiring);
        let Workspace { registers, operands, gathered, outer, offsets, .. } = workspace;
        let (walk, wiring, function) = (&partition.walk, &self.wiring, self.function.as_deref());
        let bases = bases.operands;
        let mut tile = Tile { code, walk, wiring, function, bases, registers, operands, gathered };
        let mut position =
            Position::new(walk, partition.tiles_of(segments.start).0, outer, offsets);
        for segment in segments {
            let (_, tiles) = partition.tiles_of(segment);
            for index in 0..tiles {
                // SAFETY:
                // - `position` is at a tile of one of the caller's segments, and `prepare` has run for this
                //   wiring, which has no direct stores;
                // - each tile is reduced before the next one overwrites its values;
                // - all tiles of a segment are reduced before `end_segment`.
                unsafe {
                    tile.compute(&position);
                    match partition.form {
                        UnitForm::Columns(_) => {
                            let start = index * walk.tile_steps;
                            self.reduce_tile(
                                partition_run,
                                &tile,
                                segment,
                                start..start + position.steps,
                            );
                            if index + 1 == tiles {
                                partition_run.end_segment(&position, segment);
                            }
                        }
                        UnitForm::Row(length) => {
                            for (reduction, state) in partition_run.states().enumerate() {
                                let rows = values(&tile, state.reduction.store, partition.form);
                                let target = partition_run.target(reduction, &position);
                                let count = partition.results(position.steps);
                                state.reduce_rows(rows, (count, length), target);
                            }
                        }
                    }
                }
                position.advance();
            }
        }
    }

    /// Updates the extreme and index of each column by a tile with the values of `steps`. Indices and steps
    /// count from the start of the segment.
    ///
    /// # Safety
    /// - the values of the tile have been computed;
    /// - all earlier tiles of the segment have been reduced;
    /// - the memory of `partition_run` belongs to this thread.
    unsafe fn reduce_tile(
        &self,
        partition_run: &PartitionRun<'_>,
        tile: &Tile<'_>,
        segment: usize,
        steps: Range<usize>,
    ) {
        for state in partition_run.states() {
            let best = state.extremes_of(partition_run.shared_segment(segment));
            let form = partition_run.partition.partition.form;
            let (tree, values) = (state.columns(), values(tile, state.reduction.store, form));
            let (functions, size) = (&state.reduction.functions, state.fold.size);
            if self.width >= REDUCTION_LANES {
                let (count, stride) = (steps.len(), values.step_stride);
                let rows = ArgReduceRows { count, stride, width: self.width, start: steps.start };
                // SAFETY: the tile has `count` dense rows of `width` values; `best` is initialised by the
                // tile with step 0, and belongs to this thread or to the segment.
                unsafe { (functions.update)(best, values.first, rows) }
                continue;
            }
            // SAFETY:
            // - the tile has `steps.len()` dense rows of `width` values, and the tree has memory for a tile;
            // - after `finish` the first node has the extremes of the tile;
            // - `best` is initialised by the tile with step 0, and belongs to this thread or to the segment;
            // - a column with index `steps.start` has its extreme among the values of this tile.
            unsafe {
                tree.fold(values, 0..steps.len());
                tree.finish(steps.len());
                (functions.merge)(best, tree.nodes, self.width, steps.start);
                for column in 0..self.width {
                    let index = best.indices.add(column);
                    // `merge` has set the index of a new extreme to the first of the tile.
                    if *index == steps.start {
                        let first = values.first.wrapping_add(column * size);
                        let extreme = best.extremes.add(column * size);
                        let stride = values.step_stride;
                        *index += (functions.find)(first, steps.len(), stride, extreme);
                    }
                }
            }
        }
    }
}

/// The computed values of a store, with contiguous steps or rows.
fn values(tile: &Tile<'_>, store: usize, form: UnitForm) -> StepValues {
    let source = tile.code.nest.stores[store].source;
    let size = tile.code.nest.dtype(source).size();
    StepValues {
        first: tile.address(tile.code.register(source)),
        step_stride: (form.dense_stride() * size) as isize,
    }
}
