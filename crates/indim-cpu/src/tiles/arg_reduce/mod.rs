//! Arg-reductions: the code of a nest of argmax and argmin, bound to strides. Holds unsafe code.
//!
//! A short row is folded to its extreme and then searched for it. Otherwise elements are folded block by
//! block, and each column keeps its extreme so far with its index. `in_memory.rs` searches arrays,
//! `computed.rs` computed values while a tile is in L1. If an axis is cut, the results of the pieces are
//! combined in the same way (`found.rs`).

mod computed;
mod found;
mod in_memory;

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
use computed::Computed;
use found::{Finding, StoreArgReduction};
use in_memory::InMemory;

/// The code of a nest of arg-reductions under walks.
#[derive(Debug)]
pub(crate) struct BoundArgReduction {
    code: Arc<TileCode>,
    parts: Vec<SearchPart>,
    /// Pieces of all parts, and the elements of the largest.
    tiles: usize,
    tile_elements: usize,
}

/// A part of the arg-reductions.
#[derive(Debug)]
struct SearchPart {
    part: NestRegion,
    searches: SmallVec<[StoreArgReduction; 1]>,
    /// Bytes of a thread's memory.
    bytes: usize,
    among: Among,
}

/// The searched values.
#[derive(Debug)]
enum Among {
    /// An array in memory, for one store.
    Memory(InMemory),
    /// Computed values, for all stores.
    Computed(Box<Computed>),
}

impl BoundArgReduction {
    /// See [`bind`](crate::tiles::bind); the nest has arg-reductions. Also returns `None` if the machine
    /// code lacks a function.
    pub(crate) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
    ) -> Option<Self> {
        let accesses = nest.nest.stores.iter().map(|store| match store.source {
            Local::Access(access) => Some(access),
            Local::Instruction(_) => None,
        });
        let mut parts = match accesses.collect::<Option<SmallVec<[usize; 2]>>>() {
            Some(accesses) => in_memory::parts(code, nest, &accesses, strides)?,
            None => computed::parts(code, nest, strides)?,
        };
        let mut shared = 0;
        for SearchPart { part, searches, .. } in parts.iter_mut().filter(|it| it.part.is_cut()) {
            for search in searches {
                shared = search.leave_from(shared, part.pieces(), &code.folds[search.store]);
            }
        }
        let most = parts.iter().map(|part| part.bytes).max().unwrap_or(0);
        debug_assert!(most <= accumulator_bytes(nest, &code.folds), "it has been counted");
        debug_assert!(shared <= piece_bytes(nest, &code.folds), "it has been counted");
        let tiles = parts.iter().map(|part| part.part.pieces()).sum();
        let tile_elements = nest.points_per(tiles);
        Some(BoundArgReduction { code: Arc::clone(code), parts, tiles, tile_elements })
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
        let pieces = split_pieces(self.parts.iter().map(|part| &part.part), tiles);
        for (part, own) in self.parts.iter().zip(pieces).filter(|(_, own)| !own.is_empty()) {
            // SAFETY: the caller vouches for `tiles`, and `own` are those of this part.
            unsafe { part.run(&self.code, bases, own) }
        }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for part in self.parts.iter().filter(|part| part.part.is_cut()) {
            // SAFETY: the caller vouches for all tiles, which have run.
            unsafe { part.finish(&self.code, bases) }
        }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundArgReduction>(1);
        held.own::<SearchPart>(self.parts.capacity());
        for part in &self.parts {
            part.part.walk.count_bytes(held);
            held.small(&part.part.result_strides);
            held.small(&part.searches);
            if let Among::Computed(computed) = &part.among {
                held.own::<Computed>(1);
                computed.count_bytes(held);
            }
        }
    }
}

impl SearchPart {
    /// # Safety
    /// Like [`BoundNest::run`], for pieces of this part.
    unsafe fn run(&self, code: &TileCode, bases: &Bases<'_>, pieces: Range<usize>) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let searching = Searching { code, part: self, bases, memory };
            // SAFETY: the caller vouches for the pieces; the thread's memory has the room that was counted.
            unsafe {
                match &self.among {
                    Among::Memory(among) => among.search(&searching, workspace, pieces),
                    Among::Computed(among) => among.search(&searching, workspace, pieces),
                }
            }
        });
    }

    /// # Safety
    /// Like [`BoundNest::finish`], for the units of this part, whose axis is cut.
    unsafe fn finish(&self, code: &TileCode, bases: &Bases<'_>) {
        let along = self.part.pieces_along_axis();
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let searching = Searching { code, part: self, bases, memory };
            for first in (0..self.part.pieces()).step_by(along) {
                let position = searching.position(workspace, first);
                for (index, finding) in searching.findings().enumerate() {
                    // SAFETY: the caller vouches for all pieces, which have left their results.
                    unsafe {
                        let found = finding.combine(first..first + along);
                        finding.write(searching.target(index, &position), found);
                    }
                }
            }
        });
    }
}

/// A part of the arg-reductions in a run.
struct Searching<'a> {
    code: &'a TileCode,
    part: &'a SearchPart,
    bases: &'a Bases<'a>,
    memory: *mut u8,
}

impl<'a> Searching<'a> {
    /// The arg-reductions of the part, in its order.
    fn findings(&self) -> impl Iterator<Item = Finding<'a>> {
        let Searching { code, part, bases, memory } = *self;
        part.searches.iter().map(move |search| {
            let fold = &code.folds[search.store];
            Finding { search, fold, memory, shared: bases.shared }
        })
    }

    /// The position of a piece's first tile.
    fn position<'w>(&self, workspace: &'w mut Workspace, piece: usize) -> Position<'w>
    where
        'a: 'w,
    {
        let Workspace { outer, offsets, .. } = workspace;
        let part = &self.part.part;
        Position::new(&part.walk, part.tiles_of(piece).0, outer, offsets)
    }

    /// Address of the results of an arg-reduction; targets are the walk's first operands.
    fn target(&self, search: usize, position: &Position<'_>) -> *mut u8 {
        let store = self.part.searches[search].store;
        self.bases.operands[store].wrapping_offset(position.offset(search))
    }

    /// The number of the piece, if it leaves its result in shared memory.
    fn left_by(&self, piece: usize) -> Option<usize> {
        self.part.part.is_cut().then_some(piece)
    }

    /// Steps of a piece along the reduced axis.
    fn steps(&self, piece: usize) -> Range<usize> {
        let NestRegion { walk, .. } = &self.part.part;
        let (first, tiles) = self.part.part.tiles_of(piece);
        let start = first % walk.tiles_along_axis * walk.tile_steps;
        start..walk.tile_axis.min(start + tiles * walk.tile_steps)
    }

    /// Writes the results of a piece, or leaves them in shared memory.
    ///
    /// # Safety
    /// All tiles of the piece have been searched; `position` is one of its tiles.
    unsafe fn end_piece(&self, position: &Position<'_>, piece: usize) {
        for (index, finding) in self.findings().enumerate() {
            let left_by = self.left_by(piece);
            let found = finding.found(left_by);
            // SAFETY: the caller vouches for the piece, whose results are complete.
            unsafe {
                match left_by {
                    Some(_) => finding.shift(found, self.steps(piece).start),
                    None => finding.write(self.target(index, position), found),
                }
            }
        }
    }
}
