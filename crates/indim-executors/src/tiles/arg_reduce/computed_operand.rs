//! Arg-reductions of computed values, tile by tile, while each tile is in L1. Holds unsafe code.
//!
//! If at least `LANES` columns are reduced together, one pass over a tile updates extremes and indices. For
//! fewer columns a tile is folded to its extremes, and only a tile with a new extreme is searched for its
//! index.

use core::ops::Range;
use std::sync::Arc;

use indim_kernels::ArgReduceRows;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reduction::{NestRegion, ReductionNest, UnitForm};
use indim_ops::meaning::reduction::LANES;
use indim_targets::Function;
use smallvec::SmallVec;

use super::state::{StoreArgReduction, is_short};
use super::{ArgReductionRegion, RegionOperand, RegionRun};
use crate::tiles::code::{FEW, TileCode, element_sizes};
use crate::tiles::reduce::reducing;
use crate::tiles::tile::{Tile, Workspace};
use crate::tiles::tree::Values;
use crate::tiles::wiring::Wiring;

/// The tiles of a region. The operands of the walk are those of the nest.
#[derive(Debug)]
pub(super) struct ComputedOperand {
    wiring: Wiring,
    function: Option<Arc<Function>>,
    /// Columns that are reduced together; 1 if units are rows.
    width: usize,
}

/// The regions of a nest whose arg-reductions have computed operands; `None` if there is nothing to reduce,
/// or if a function is not available.
pub(super) fn regions(
    code: &TileCode,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
) -> Option<Vec<ArgReductionRegion>> {
    let sizes = element_sizes(nest.nest);
    let axes = nest.reduced_axes(nest.nest.reduced?, strides)?;
    let regions = || {
        let of_nest = reducing(code, nest, &axes, &sizes, false);
        let has_row_kernels = of_nest.has_row_kernels || is_short(axes.length);
        let regions = ReductionNest { has_row_kernels, ..of_nest }.regions().into_iter();
        regions.map(|region| bind_region(code, nest, region)).collect::<Option<Vec<_>>>()
    };
    let first = regions()?;
    match first.iter().any(|it| it.has_short_rows(code)) {
        // The function just compiled has longer steps than assumed and would run these rows slowly, so this
        // binding gathers them.
        true => regions(),
        false => Some(first),
    }
}

/// The arg-reductions of all stores over a region, with the layout of their memory; `None` if the function is
/// not available.
fn bind_region(
    code: &TileCode,
    nest: &SizedNest<'_>,
    region: NestRegion,
) -> Option<ArgReductionRegion> {
    let mut in_blocks: SmallVec<[bool; FEW]> = SmallVec::from_slice(&code.needs_block);
    for store in &code.nest.stores {
        if let Local::Access(index) = store.source {
            in_blocks[index] = true;
        }
    }
    let wiring = Wiring::new(code, nest, &region.walk, &in_blocks, &[], false);
    let function = wiring.find_function(code)?;
    let width = match region.form {
        UnitForm::Columns(columns) => columns,
        UnitForm::Row(_) => 1,
    };
    let block = (region.form, region.walk.tile_steps);
    let mut bytes = 0;
    let reduction =
        |(store, &stride)| StoreArgReduction::new(code, store, block, stride, &mut bytes);
    let reductions = region.result_strides.iter().enumerate().map(reduction).collect();
    let operand = RegionOperand::Computed(Box::new(ComputedOperand { wiring, function, width }));
    Some(ArgReductionRegion { region, reductions, bytes, operand })
}

impl ArgReductionRegion {
    /// Whether the function would run rows shorter than its step, which is slow.
    fn has_short_rows(&self, code: &TileCode) -> bool {
        let RegionOperand::Computed(computed) = &self.operand else { return false };
        !self.region.has_few_rows() && computed.wiring.has_short_rows(code, &self.region.walk)
    }
}

impl ComputedOperand {
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        self.wiring.count_bytes(held);
    }

    /// Reduces these pieces.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`](crate::executor::BoundNest::run), for pieces of this region;
    /// - the memory of `region_run` belongs to this thread and has the region's `bytes`.
    pub(super) unsafe fn reduce(
        &self,
        region_run: &RegionRun<'_>,
        workspace: &mut Workspace,
        pieces: Range<usize>,
    ) {
        let RegionRun { code, region: ArgReductionRegion { region, .. }, bases, .. } = region_run;
        workspace.prepare(code, &self.wiring);
        let Workspace { registers, operands, gathered, outer, offsets, .. } = workspace;
        let (walk, wiring, function) = (&region.walk, &self.wiring, self.function.as_deref());
        let bases = bases.operands;
        let mut tile = Tile { code, walk, wiring, function, bases, registers, operands, gathered };
        let mut position = Position::new(walk, region.tiles_of(pieces.start).0, outer, offsets);
        for piece in pieces {
            let (_, tiles) = region.tiles_of(piece);
            for index in 0..tiles {
                // SAFETY:
                // - `position` is at a tile of one of the caller's pieces, and `prepare` has run for this
                //   wiring, which has no direct stores;
                // - each tile is reduced before the next one overwrites its values;
                // - all tiles of a piece are reduced before `end_piece`.
                unsafe {
                    tile.compute(&position);
                    match region.form {
                        UnitForm::Columns(_) => {
                            let start = index * walk.tile_steps;
                            self.reduce_tile(
                                region_run,
                                &tile,
                                piece,
                                start..start + position.steps,
                            );
                            if index + 1 == tiles {
                                region_run.end_piece(&position, piece);
                            }
                        }
                        UnitForm::Row(length) => {
                            for (reduction, state) in region_run.states().enumerate() {
                                let rows = values(&tile, state.reduction.store);
                                let target = region_run.target(reduction, &position);
                                state.reduce_rows(rows, (position.steps, length), target);
                            }
                        }
                    }
                }
                position.advance();
            }
        }
    }

    /// Updates the extreme and index of each column by a tile with the values of `steps`. Indices and steps
    /// count from the start of the piece.
    ///
    /// # Safety
    /// - the values of the tile have been computed;
    /// - all earlier tiles of the piece have been reduced;
    /// - the memory of `region_run` belongs to this thread.
    unsafe fn reduce_tile(
        &self,
        region_run: &RegionRun<'_>,
        tile: &Tile<'_>,
        piece: usize,
        steps: Range<usize>,
    ) {
        for state in region_run.states() {
            let best = state.extremes_of(region_run.shared_piece(piece));
            let (tree, values) = (state.columns(), values(tile, state.reduction.store));
            let (functions, size) = (&state.reduction.functions, state.fold.size);
            if self.width >= LANES {
                let (count, stride) = (steps.len(), values.step_stride);
                let rows = ArgReduceRows { count, stride, width: self.width, start: steps.start };
                // SAFETY: the tile has `count` dense rows of `width` values; `best` is initialised by the
                // tile with step 0, and belongs to this thread or to the piece.
                unsafe { (functions.update)(best, values.first, rows) }
                continue;
            }
            // SAFETY:
            // - the tile has `steps.len()` dense rows of `width` values, and the tree has memory for a tile;
            // - after `finish` the first node has the extremes of the tile;
            // - `best` is initialised by the tile with step 0, and belongs to this thread or to the piece;
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

/// The computed values of a store, with contiguous steps.
fn values(tile: &Tile<'_>, store: usize) -> Values {
    let source = tile.code.nest.stores[store].source;
    let size = tile.code.nest.dtype(source).size();
    Values {
        first: tile.address(tile.code.register(source)),
        step_stride: (tile.walk.step_elements * size) as isize,
    }
}
