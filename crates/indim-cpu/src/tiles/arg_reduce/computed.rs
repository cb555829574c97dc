//! Arg-reductions of computed values, tile by tile, while each tile is in L1. Holds unsafe code.
//!
//! Wide columns are searched row by row, and each keeps its extreme so far with its index. For narrow
//! columns and for rows the extremes of a tile are found first. Only a tile that has a new extreme is
//! searched for its index.

use core::ops::Range;
use std::sync::Arc;

use indim_kernels::SearchedRows;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reduction::{NestRegion, ReductionNest, UnitForm};
use indim_ops::meaning::reduction::LANES;
use indim_targets::Function;
use smallvec::SmallVec;

use super::found::{StoreArgReduction, is_short};
use super::{Among, SearchPart, Searching};
use crate::tiles::code::{FEW, TileCode, element_sizes};
use crate::tiles::reduce::reducing;
use crate::tiles::tile::{Tile, Workspace};
use crate::tiles::tree::Values;
use crate::tiles::wiring::Wiring;

/// The tiles of a region; the walk's operands are those of the nest.
#[derive(Debug)]
pub(super) struct Computed {
    wiring: Wiring,
    function: Option<Arc<Function>>,
    /// Columns that are searched together.
    width: usize,
}

/// The parts of a nest whose searched values are computed; `None` also if the machine code lacks a
/// function.
pub(super) fn parts(
    code: &TileCode,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
) -> Option<Vec<SearchPart>> {
    let sizes = element_sizes(nest.nest);
    let axes = nest.reduced_axes(nest.nest.reduced?, strides)?;
    let parts = || {
        let of_nest = reducing(code, nest, &axes, &sizes, false);
        let has_row_kernels = of_nest.has_row_kernels || is_short(axes.length);
        let parts = ReductionNest { has_row_kernels, ..of_nest }.regions().into_iter();
        parts.map(|part| search_part(code, nest, part)).collect::<Option<Vec<_>>>()
    };
    let first = parts()?;
    match first.iter().any(|it| it.has_short_rows(code)) {
        // A function with long steps would run these short rows slowly, so they are gathered.
        true => parts(),
        false => Some(first),
    }
}

fn search_part(code: &TileCode, nest: &SizedNest<'_>, part: NestRegion) -> Option<SearchPart> {
    let mut in_blocks: SmallVec<[bool; FEW]> = SmallVec::from_slice(&code.needs_block);
    for store in &code.nest.stores {
        if let Local::Access(index) = store.source {
            in_blocks[index] = true;
        }
    }
    let wiring = Wiring::new(code, nest, &part.walk, &in_blocks, &[], false);
    let function = wiring.find_function(code)?;
    let width = match part.form {
        UnitForm::Columns(columns) => columns,
        UnitForm::Row(_) => 1,
    };
    let block = (part.form, part.walk.tile_steps);
    let mut bytes = 0;
    let search = |(store, &stride)| StoreArgReduction::new(code, store, block, stride, &mut bytes);
    let searches = part.result_strides.iter().enumerate().map(search).collect();
    let among = Among::Computed(Box::new(Computed { wiring, function, width }));
    Some(SearchPart { part, searches, bytes, among })
}

impl SearchPart {
    /// Whether a function would run rows shorter than its step.
    fn has_short_rows(&self, code: &TileCode) -> bool {
        let Among::Computed(computed) = &self.among else { return false };
        !self.part.has_few_rows() && computed.wiring.has_short_rows(code, &self.part.walk)
    }
}

impl Computed {
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        self.wiring.count_bytes(held);
    }

    /// Searches these pieces.
    ///
    /// # Safety
    /// Like [`BoundNest::run`](crate::executor::BoundNest::run), for pieces of this part.
    pub(super) unsafe fn search(
        &self,
        searching: &Searching<'_>,
        workspace: &mut Workspace,
        pieces: Range<usize>,
    ) {
        let Searching { code, part: SearchPart { part, .. }, bases, .. } = searching;
        workspace.prepare(code, &self.wiring);
        let Workspace { slots, operands, gathered, outer, offsets, .. } = workspace;
        let (walk, wiring, function) = (&part.walk, &self.wiring, self.function.as_deref());
        let bases = bases.operands;
        let mut tile = Tile { code, walk, wiring, function, bases, slots, operands, gathered };
        let mut position = Position::new(walk, part.tiles_of(pieces.start).0, outer, offsets);
        for piece in pieces {
            let (_, tiles) = part.tiles_of(piece);
            for index in 0..tiles {
                // SAFETY: the caller vouches for the pieces; each tile is searched before the next is
                // computed.
                unsafe {
                    tile.compute(&position);
                    match part.form {
                        UnitForm::Columns(_) => {
                            let start = index * walk.tile_steps;
                            self.search_tile(
                                searching,
                                &tile,
                                piece,
                                start..start + position.steps,
                            );
                            if index + 1 == tiles {
                                searching.end_piece(&position, piece);
                            }
                        }
                        UnitForm::Row(length) => {
                            for (search, finding) in searching.findings().enumerate() {
                                let rows = values(&tile, finding.search.store);
                                let target = searching.target(search, &position);
                                finding.search_rows(rows, (position.steps, length), target);
                            }
                        }
                    }
                }
                position.advance();
            }
        }
    }

    /// Updates each column's extreme and its index, counted from the piece's first step; the tile has the
    /// values of `steps`.
    ///
    /// # Safety
    /// The tile is computed, and all tiles of the piece before it have been searched.
    unsafe fn search_tile(
        &self,
        searching: &Searching<'_>,
        tile: &Tile<'_>,
        piece: usize,
        steps: Range<usize>,
    ) {
        for finding in searching.findings() {
            let found = finding.found(searching.left_by(piece));
            let (tree, values) = (finding.columns(), values(tile, finding.search.store));
            let (functions, size) = (&finding.search.functions, finding.fold.size);
            if self.width >= LANES {
                let (count, stride) = (steps.len(), values.step_stride);
                let rows = SearchedRows { count, stride, width: self.width, start: steps.start };
                // SAFETY: the caller vouches for the tile's values and for `found`.
                unsafe { (functions.take)(found, values.first, rows) }
                continue;
            }
            // SAFETY: the caller vouches for the tile's values and for `found`.
            unsafe {
                tree.take(values, 0..steps.len());
                tree.finish(steps.len());
                (functions.keep)(found, tree.nodes, self.width, steps.start);
                for column in 0..self.width {
                    let index = found.indices.add(column);
                    // The first index of a tile marks a new extreme: no earlier one has it.
                    if *index == steps.start {
                        let first = values.first.wrapping_add(column * size);
                        let extreme = found.extremes.add(column * size);
                        let stride = values.step_stride;
                        *index += (functions.find)(first, steps.len(), stride, extreme);
                    }
                }
            }
        }
    }
}

/// The searched values of a store: dense, one step after another.
fn values(tile: &Tile<'_>, store: usize) -> Values {
    let source = tile.code.nest.stores[store].source;
    let size = tile.code.nest.dtype(source).size();
    Values {
        first: tile.slot(tile.code.slot(source)),
        step_stride: (tile.walk.step_elements * size) as isize,
    }
}
