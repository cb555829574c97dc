//! A nest whose reductions say where an element is, bound to strides. Holds unsafe code.
//!
//! Of a short row the extreme is found, and then it is searched for. Otherwise elements are folded block by
//! block, and of each column the extreme so far is kept, with where it is. What lies in memory is searched
//! there (`in_memory.rs`), what is computed while a tile of it is in the near cache (`computed.rs`). Where an
//! axis is cut, the same is done once more with what pieces have found (`found.rs`).

mod computed;
mod found;
mod in_memory;

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reducing::{NestRegion, own_pieces};
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::store_fold::{accumulator_bytes, piece_bytes};
use crate::tiles::tile::{WORKSPACE, Workspace};
use computed::Computed;
use found::{Finding, StoreSearch};
use in_memory::InMemory;

/// The code of a nest of searches under walks.
#[derive(Debug)]
pub(crate) struct BoundSearch {
    code: Arc<TileCode>,
    parts: Vec<SearchPart>,
    /// The pieces of all parts, and the most elements of one.
    tiles: usize,
    tile_elements: usize,
}

/// A part of the searches.
#[derive(Debug)]
struct SearchPart {
    part: NestRegion,
    searches: SmallVec<[StoreSearch; 1]>,
    /// Those of a thread's memory.
    bytes: usize,
    among: Among,
}

/// What is searched among.
#[derive(Debug)]
enum Among {
    /// Of one store what lies in memory.
    Memory(InMemory),
    /// Of all stores what is computed.
    Computed(Box<Computed>),
}

impl BoundSearch {
    /// See [`bind`](crate::tiles::bind); the nest is one of searches. `None` also where a function is
    /// lacking.
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
        Some(BoundSearch { code: Arc::clone(code), parts, tiles, tile_elements })
    }
}

impl BoundNest for BoundSearch {
    fn tiles(&self) -> usize {
        self.tiles
    }

    fn tile_elements(&self) -> usize {
        self.tile_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        let pieces = own_pieces(self.parts.iter().map(|part| &part.part), tiles);
        for (part, own) in self.parts.iter().zip(pieces).filter(|(_, own)| !own.is_empty()) {
            // SAFETY: the caller's promise, for some of the tiles.
            unsafe { part.run(&self.code, bases, own) }
        }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for part in self.parts.iter().filter(|part| part.part.is_cut()) {
            // SAFETY: the caller's promise.
            unsafe { part.finish(&self.code, bases) }
        }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundSearch>(1);
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
    /// As [`BoundNest::run`], for pieces of this part.
    unsafe fn run(&self, code: &TileCode, bases: &Bases<'_>, pieces: Range<usize>) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let searching = Searching { code, part: self, bases, memory };
            // SAFETY: the caller's promise; the thread's memory has room for what has been counted.
            unsafe {
                match &self.among {
                    Among::Memory(among) => among.search(&searching, workspace, pieces),
                    Among::Computed(among) => among.search(&searching, workspace, pieces),
                }
            }
        });
    }

    /// # Safety
    /// As [`BoundNest::finish`], for the units of this part, which are cut.
    unsafe fn finish(&self, code: &TileCode, bases: &Bases<'_>) {
        let along = self.part.pieces_along_axis();
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let searching = Searching { code, part: self, bases, memory };
            for first in (0..self.part.pieces()).step_by(along) {
                let position = searching.position(workspace, first);
                for (index, finding) in searching.findings().enumerate() {
                    // SAFETY: the caller's promise; every piece has left what it has found.
                    unsafe {
                        let found = finding.combine(first..first + along);
                        finding.write(searching.target(index, &position), found);
                    }
                }
            }
        });
    }
}

/// A part of a search in a run.
struct Searching<'a> {
    code: &'a TileCode,
    part: &'a SearchPart,
    bases: &'a Bases<'a>,
    memory: *mut u8,
}

impl<'a> Searching<'a> {
    /// The searches of the part, in its order.
    fn findings(&self) -> impl Iterator<Item = Finding<'a>> {
        let Searching { code, part, bases, memory } = *self;
        part.searches.iter().map(move |search| {
            let fold = &code.folds[search.store];
            Finding { search, fold, memory, shared: bases.shared }
        })
    }

    /// The position where a piece begins.
    fn position<'w>(&self, workspace: &'w mut Workspace, piece: usize) -> Position<'w>
    where
        'a: 'w,
    {
        let Workspace { outer, offsets, .. } = workspace;
        let part = &self.part.part;
        Position::new(&part.walk, part.tiles_of(piece).0, outer, offsets)
    }

    /// Where the results of one of the searches are written; their targets are the walk's first operands.
    fn target(&self, search: usize, position: &Position<'_>) -> *mut u8 {
        let store = self.part.searches[search].store;
        self.bases.operands[store].wrapping_offset(position.offset(search))
    }

    /// The piece, if it leaves what it finds.
    fn left_by(&self, piece: usize) -> Option<usize> {
        self.part.part.is_cut().then_some(piece)
    }

    /// The steps of a piece along the reduced axis.
    fn steps(&self, piece: usize) -> Range<usize> {
        let NestRegion { walk, .. } = &self.part.part;
        let (first, tiles) = self.part.part.tiles_of(piece);
        let start = first % walk.tiles_along_axis * walk.tile_steps;
        start..walk.tile_axis.min(start + tiles * walk.tile_steps)
    }

    /// Leaves, or writes, what a piece has found.
    ///
    /// # Safety
    /// All of it has been searched; the position is one of its tiles.
    unsafe fn end_piece(&self, position: &Position<'_>, piece: usize) {
        for (index, finding) in self.findings().enumerate() {
            let left_by = self.left_by(piece);
            let found = finding.found(left_by);
            // SAFETY: the caller's promise.
            unsafe {
                match left_by {
                    Some(_) => finding.shift(found, self.steps(piece).start),
                    None => finding.write(self.target(index, position), found),
                }
            }
        }
    }
}
