//! Arg-reductions: the code of a nest of argmax and argmin, bound to strides. Holds unsafe code.
//!
//! Columns are reduced block by block: each column keeps its extreme so far, with its index or its block.
//! Long rows are folded to their extreme and then searched for it; short rows are transposed and reduced as
//! columns. If the axis is cut, the results of the pieces are merged in the same way.
//!
//! - `array_operand.rs`: arrays in memory, whose blocks can be read twice;
//! - `computed_operand.rs`: computed values, tile by tile, while each tile is in L1;
//! - `state.rs`: the memory of extremes and indices.

mod array_operand;
mod computed_operand;
mod state;

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reduction::{NestRegion, split_pieces};
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::store_fold::{accumulator_bytes, piece_bytes};
use crate::tiles::tile::{WORKSPACE, Workspace};
use array_operand::ArrayOperand;
use computed_operand::ComputedOperand;
use state::{StoreArgReduction, StoreState};

/// The code of a nest of arg-reductions, bound to the walks of its regions.
#[derive(Debug)]
pub(crate) struct BoundArgReduction {
    code: Arc<TileCode>,
    regions: Vec<ArgReductionRegion>,
    /// Pieces of all regions.
    tiles: usize,
    tile_elements: usize,
}

/// A region of the nest with its arg-reductions.
#[derive(Debug)]
struct ArgReductionRegion {
    region: NestRegion,
    reductions: SmallVec<[StoreArgReduction; 1]>,
    /// Bytes of memory that a thread needs.
    bytes: usize,
    operand: RegionOperand,
}

/// The operand of arg-reductions.
#[derive(Debug)]
enum RegionOperand {
    /// An array in memory, for one store.
    Array(ArrayOperand),
    /// Computed values, for all stores.
    Computed(Box<ComputedOperand>),
}

impl BoundArgReduction {
    /// See [`bind`](crate::tiles::bind); the nest has arg-reductions. Also returns `None` if a function is
    /// not available.
    pub(crate) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
    ) -> Option<Self> {
        let accesses = nest.nest.stores.iter().map(|store| match store.source {
            Local::Access(access) => Some(access),
            Local::Instruction(_) => None,
        });
        let mut regions = match accesses.collect::<Option<SmallVec<[usize; 2]>>>() {
            Some(accesses) => array_operand::regions(code, nest, &accesses, strides)?,
            None => computed_operand::regions(code, nest, strides)?,
        };
        let mut shared = 0;
        for ArgReductionRegion { region, reductions, .. } in
            regions.iter_mut().filter(|it| it.region.is_cut())
        {
            for reduction in reductions {
                shared =
                    reduction.place_pieces(shared, region.pieces(), &code.folds[reduction.store]);
            }
        }
        let max_bytes = regions.iter().map(|region| region.bytes).max().unwrap_or(0);
        debug_assert!(max_bytes <= accumulator_bytes(nest, &code.folds), "it has been counted");
        debug_assert!(shared <= piece_bytes(nest, &code.folds), "it has been counted");
        let tiles = regions.iter().map(|region| region.region.pieces()).sum();
        let tile_elements = nest.points_per(tiles);
        Some(BoundArgReduction { code: Arc::clone(code), regions, tiles, tile_elements })
    }
}

impl BoundNest for BoundArgReduction {
    fn tiles(&self) -> usize {
        self.tiles
    }

    fn tile_elements(&self) -> usize {
        self.tile_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        let pieces = split_pieces(self.regions.iter().map(|region| &region.region), tiles);
        for (region, own) in self.regions.iter().zip(pieces).filter(|(_, own)| !own.is_empty()) {
            // SAFETY: `split_pieces` returns for each region its pieces among the caller's `tiles`.
            unsafe { region.run(&self.code, bases, own) }
        }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for region in self.regions.iter().filter(|region| region.region.is_cut()) {
            // SAFETY: the caller ensures that all tiles have run, which are the pieces of all regions.
            unsafe { region.finish(&self.code, bases) }
        }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundArgReduction>(1);
        held.own::<ArgReductionRegion>(self.regions.capacity());
        for region in &self.regions {
            region.region.walk.count_bytes(held);
            held.small(&region.region.result_strides);
            held.small(&region.reductions);
            if let RegionOperand::Computed(computed) = &region.operand {
                held.own::<ComputedOperand>(1);
                computed.count_bytes(held);
            }
        }
    }
}

impl ArgReductionRegion {
    /// Reduces these pieces.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for pieces of this region.
    unsafe fn run(&self, code: &TileCode, bases: &Bases<'_>, pieces: Range<usize>) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let region_run = RegionRun { code, region: self, bases, memory };
            // SAFETY: the caller has the obligations for these pieces; `memory` belongs to this thread and
            // has `bytes`.
            unsafe {
                match &self.operand {
                    RegionOperand::Array(operand) => operand.reduce(&region_run, workspace, pieces),
                    RegionOperand::Computed(operand) => {
                        operand.reduce(&region_run, workspace, pieces)
                    }
                }
            }
        });
    }

    /// Merges the results of the pieces of each unit and writes the results.
    ///
    /// # Safety
    /// Like [`BoundNest::finish`], for the units of this region, whose axis is cut.
    unsafe fn finish(&self, code: &TileCode, bases: &Bases<'_>) {
        let along = self.region.pieces_along_axis();
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let region_run = RegionRun { code, region: self, bases, memory };
            for first in (0..self.region.pieces()).step_by(along) {
                let position = region_run.position(workspace, first);
                for (index, state) in region_run.states().enumerate() {
                    // SAFETY: the caller ensures that all pieces of the unit have run, so each has its
                    // extremes in shared memory, with indices along the whole axis.
                    unsafe {
                        let best = state.combine(first..first + along);
                        state.write(region_run.target(index, &position), best);
                    }
                }
            }
        });
    }
}

/// A run of a region: its operands and the memory of the thread.
struct RegionRun<'a> {
    code: &'a TileCode,
    region: &'a ArgReductionRegion,
    bases: &'a Bases<'a>,
    memory: *mut u8,
}

impl<'a> RegionRun<'a> {
    /// The arg-reductions of the region with their memory, in the order of `reductions`.
    fn states(&self) -> impl Iterator<Item = StoreState<'a>> {
        let RegionRun { code, region, bases, memory } = *self;
        region.reductions.iter().map(move |reduction| {
            let fold = &code.folds[reduction.store];
            StoreState { reduction, fold, memory, shared: bases.shared }
        })
    }

    /// The position of a piece's first tile.
    fn position<'w>(&self, workspace: &'w mut Workspace, piece: usize) -> Position<'w>
    where
        'a: 'w,
    {
        let Workspace { outer, offsets, .. } = workspace;
        let region = &self.region.region;
        Position::new(&region.walk, region.tiles_of(piece).0, outer, offsets)
    }

    /// Address of the results of an arg-reduction. The targets are the first operands of the walk.
    fn target(&self, reduction: usize, position: &Position<'_>) -> *mut u8 {
        let store = self.region.reductions[reduction].store;
        self.bases.operands[store].wrapping_offset(position.offset(reduction))
    }

    /// The number of the piece if its result goes to shared memory; `None` if it goes to the output.
    fn shared_piece(&self, piece: usize) -> Option<usize> {
        self.region.region.is_cut().then_some(piece)
    }

    /// The steps of a piece along the reduced axis.
    fn steps(&self, piece: usize) -> Range<usize> {
        let NestRegion { walk, .. } = &self.region.region;
        let (first, tiles) = self.region.region.tiles_of(piece);
        let start = first % walk.tiles_along_axis * walk.tile_steps;
        start..walk.tile_axis.min(start + tiles * walk.tile_steps)
    }

    /// Writes the results of a piece, or completes its results in shared memory.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this piece;
    /// - all its tiles have been reduced, with indices from the start of the piece;
    /// - `position` is at one of its tiles.
    unsafe fn end_piece(&self, position: &Position<'_>, piece: usize) {
        for (index, state) in self.states().enumerate() {
            let shared_piece = self.shared_piece(piece);
            let best = state.extremes_of(shared_piece);
            // SAFETY: the caller ensures that `best` has the index of each column, and that the results at
            // `position` are writable.
            unsafe {
                match shared_piece {
                    Some(_) => state.shift(best, self.steps(piece).start),
                    None => state.write(self.target(index, position), best),
                }
            }
        }
    }
}
