//! A nest whose reductions say where an element is, bound to strides. Holds unsafe code.
//!
//! Of a short row the extreme is found, and then it is searched for. Otherwise elements are folded block by
//! block, and of each column the extreme so far is kept, with the first block that has it: at the end that
//! block alone is searched. What is searched among lies in memory, so that it can be read again. Where an
//! axis is cut, the same is done once more with what pieces have found.

use core::ops::Range;
use std::sync::Arc;

use indim_kernels::{Found, SearchFunctions, search_functions};
use indim_loops::HeldBytes;
use indim_loops::loop_nest::{Local, Reduction, Store};
use indim_loops::resize::SizedNest;
use indim_loops::strides::AxisStrides;
use indim_loops::walk::position::Position;
use indim_loops::walk::reducing::{Part, Reducing, UnitForm, most_nodes, own_pieces};
use indim_ops::DType;
use indim_ops::meaning::reduction::{BLOCK, LANES};

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::memory::{Run, gather};
use crate::tiles::store_fold::{LEFT_ALIGNMENT, StoreFold, accumulator_bytes, piece_bytes};
use crate::tiles::tile::{WORKSPACE, Workspace};
use crate::tiles::tree::{Columns, Values, takes_in_turn};

/// The code of a nest of searches under walks.
#[derive(Debug)]
pub(crate) struct BoundSearch {
    code: Arc<TileCode>,
    parts: Vec<SearchPart>,
    /// The pieces of all parts, and the most elements of one.
    tiles: usize,
    tile_elements: usize,
}

/// A part of one of the searches; the walk's operands are the target and what is searched among.
#[derive(Debug)]
struct SearchPart {
    part: Part,
    store: usize,
    /// The operand of the nest that is searched among.
    source: usize,
    functions: SearchFunctions,
    /// The columns that are searched together.
    width: usize,
    /// From one column to the next, or from one element of a row, in bytes.
    inner_stride: isize,
    /// The columns of a step, or the elements of a row.
    inner: usize,
    /// The most steps of a block.
    block: usize,
    places: Places,
    /// Where pieces leave what they find in shared memory, in bytes.
    left: usize,
}

/// Where everything stands in a thread's memory, in bytes.
#[derive(Debug, Default)]
struct Places {
    lanes: usize,
    nodes: usize,
    /// The elements of a block that do not lie dense.
    gathered: usize,
    extremes: usize,
    indices: usize,
    end: usize,
}

impl BoundSearch {
    /// See [`bind`](crate::tiles::bind); the nest is one of searches.
    pub(crate) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        strides: &[AxisStrides],
    ) -> Option<Self> {
        let mut parts = Vec::new();
        let mut shared = 0;
        for store in 0..nest.nest.stores.len() {
            for mut part in SearchPart::of_store(code, nest, store, strides)? {
                if part.part.is_cut() {
                    part.left = shared;
                    shared += part.part.pieces() * part.left_bytes(code);
                }
                parts.push(part);
            }
        }
        let most = parts.iter().map(|part| part.places.end).max().unwrap_or(0);
        debug_assert!(most <= accumulator_bytes(nest, &code.folds), "it has been counted");
        debug_assert!(shared <= piece_bytes(nest, &code.folds), "it has been counted");
        let tiles = parts.iter().map(|part| part.part.pieces()).sum();
        let tile_elements = nest.points_per(tiles);
        Some(BoundSearch { code: Arc::clone(code), parts, tiles, tile_elements })
    }
}

impl SearchPart {
    fn of_store(
        code: &TileCode,
        nest: &SizedNest<'_>,
        store: usize,
        strides: &[AxisStrides],
    ) -> Option<Vec<Self>> {
        let Local::Access(access) = nest.nest.stores[store].source else {
            unreachable!("invariant: lowering keeps in memory what is searched among")
        };
        let source = nest.nest.stores.len() + access;
        let fold = &code.folds[store];
        let reduced = nest.nest.reduced?;
        let length = nest.shape[reduced];
        let parts = Reducing {
            sizes: &nest.shape,
            reduced,
            strides: &[strides[store].clone(), strides[source].clone()],
            element_sizes: &[DType::I64.size(), fold.source_size],
            targets: 1,
            main: 1,
            block: code.block,
            minimum_row: None,
            folds: false,
            is_direct: true,
            has_row_kernels: fold.rows.is_some() && length <= ROW_BLOCK,
            has_lanes: false,
        }
        .parts()?;
        Some(parts.into_iter().map(|part| SearchPart::new(code, store, source, part)).collect())
    }

    fn new(code: &TileCode, store: usize, source: usize, part: Part) -> SearchPart {
        let fold = &code.folds[store];
        // The steps of rows are rows, which go through memory as columns of one block do.
        let (width, block, inner) = match part.form {
            UnitForm::Columns(columns) => (columns, block_steps(columns), columns),
            UnitForm::Row(length) => (1, part.walk.tile_steps, length),
        };
        let mut places = Places::default();
        let mut room = |elements: usize, size: usize| {
            let first = places.end;
            places.end += (elements * size).next_multiple_of(64);
            first
        };
        let lanes = room(LANES * width, fold.size);
        let nodes = room((most_nodes(block) * width).max(block), fold.size);
        let gathered = room(if part.is_direct { 0 } else { block * inner }, fold.size);
        let extremes = room(width, fold.size);
        let indices = room(width, size_of::<usize>());
        let places = Places { lanes, nodes, gathered, extremes, indices, ..places };
        SearchPart {
            functions: functions(&code.nest.stores[store]),
            inner_stride: part.walk.operands[1].inner_stride(fold.size),
            width,
            inner,
            block,
            places,
            left: 0,
            part,
            store,
            source,
        }
    }

    /// The bytes that a piece leaves.
    fn left_bytes(&self, code: &TileCode) -> usize {
        let extremes = self.width * code.folds[self.store].size;
        extremes.next_multiple_of(LEFT_ALIGNMENT)
            + (self.width * size_of::<usize>()).next_multiple_of(LEFT_ALIGNMENT)
    }
}

/// The steps of a block of one column; rows that are no longer are searched several in a tile.
const ROW_BLOCK: usize = 2 * BLOCK;

/// The steps of a block of so many columns: one that is searched fast, and folded at once.
fn block_steps(columns: usize) -> usize {
    match columns {
        1 => ROW_BLOCK,
        _ if columns < LANES => BLOCK,
        _ => 16,
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
            unsafe { Searching { code: &self.code, part, bases }.run(own) }
        }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for part in self.parts.iter().filter(|part| part.part.is_cut()) {
            let along = part.part.pieces_along_axis();
            for first in (0..part.part.pieces()).step_by(along) {
                let searching = Searching { code: &self.code, part, bases };
                // SAFETY: the caller's promise.
                unsafe { searching.combine_pieces(first..first + along) }
            }
        }
    }

    fn count_bytes(&self, held: &mut HeldBytes) {
        held.own::<BoundSearch>(1);
        held.own::<SearchPart>(self.parts.capacity());
        for part in &self.parts {
            part.part.walk.count_bytes(held);
            held.small(&part.part.result_strides);
        }
    }
}

/// A part of a search in a run.
struct Searching<'a> {
    code: &'a TileCode,
    part: &'a SearchPart,
    bases: &'a Bases<'a>,
}

impl Searching<'_> {
    fn fold(&self) -> &StoreFold {
        &self.code.folds[self.part.store]
    }

    /// Calls `work` with memory of the thread, and the position where a piece begins.
    fn at(&self, piece: usize, work: impl FnOnce(*mut u8, &mut Position<'_>)) {
        let part = &self.part.part;
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.part.places.end);
            let Workspace { outer, offsets, .. } = workspace;
            let tile = part.tiles_of(piece).0;
            work(memory, &mut Position::new(&part.walk, tile, outer, offsets));
        });
    }

    /// Where the results are written.
    fn target(&self, position: &Position<'_>) -> *mut u8 {
        self.bases.operands[self.part.store].wrapping_offset(position.offset(0))
    }

    /// What is searched among.
    fn source(&self, position: &Position<'_>) -> *const u8 {
        self.bases.operands[self.part.source].wrapping_offset(position.offset(1))
    }

    /// # Safety
    /// As [`BoundNest::run`], for pieces of this part.
    unsafe fn run(&self, pieces: Range<usize>) {
        self.at(pieces.start, |memory, position| {
            for piece in pieces {
                // SAFETY: the caller's promise; the thread's memory has room for what `SearchPart::new`
                // counted.
                unsafe {
                    match self.part.part.form {
                        UnitForm::Columns(_) => self.search_piece(memory, position, piece),
                        UnitForm::Row(length) => self.search_rows(memory, position, length),
                    }
                }
                (0..self.part.part.tiles_of(piece).1).for_each(|_| position.advance());
            }
        });
    }

    /// Searches a tile of whole rows, each at once.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for the tile at `position`; `memory` has room.
    unsafe fn search_rows(&self, memory: *mut u8, position: &Position<'_>, length: usize) {
        let tree = self.columns(memory);
        let (size, result_stride) = (self.fold().size, self.part.part.result_strides[0]);
        // SAFETY: the caller's promise.
        unsafe {
            let rows = self.values(memory, self.source(position), 0, position.steps);
            tree.fold_rows(rows, position.steps, length);
            for row in 0..position.steps {
                let (find, extreme) = (self.part.functions.find, tree.nodes.add(row * size));
                let index = find(rows.at(row), length, size as isize, extreme);
                let target = self.target(position).wrapping_offset(row as isize * result_stride);
                target.cast::<i64>().write_unaligned(index as i64);
            }
        }
    }

    /// Searches a piece of a unit of columns.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for this piece, which begins at `position`; `memory` has room.
    unsafe fn search_piece(&self, memory: *mut u8, position: &Position<'_>, piece: usize) {
        let Part { walk, .. } = &self.part.part;
        let (first, tiles) = self.part.part.tiles_of(piece);
        let start = first % walk.tiles_along_axis * walk.tile_steps;
        let end = walk.tile_axis.min(start + tiles * walk.tile_steps);
        let is_cut = self.part.part.is_cut();
        let found = if is_cut { self.left(piece) } else { self.found(memory) };
        // SAFETY: the caller's promise; shared memory has room for what the piece leaves.
        unsafe {
            self.search(memory, self.source(position), end - start, found);
            match is_cut {
                true => (0..self.part.width).for_each(|c| *found.indices.add(c) += start),
                false => self.write(self.target(position), found),
            }
        }
    }

    /// Where a thread keeps what it finds.
    fn found(&self, memory: *mut u8) -> Found {
        let Places { extremes, indices, .. } = self.part.places;
        Found {
            extremes: memory.wrapping_add(extremes),
            indices: memory.wrapping_add(indices).cast(),
        }
    }

    /// Where a piece leaves what it finds.
    fn left(&self, piece: usize) -> Found {
        let offset = self.part.left + piece * self.part.left_bytes(self.code);
        let extremes = self.bases.shared.wrapping_add(offset);
        let bytes = (self.part.width * self.fold().size).next_multiple_of(LEFT_ALIGNMENT);
        Found { extremes, indices: extremes.wrapping_add(bytes).cast() }
    }

    /// Finds the extremes of so many steps from `source` on, and where they are.
    ///
    /// # Safety
    /// The steps are valid for reads, `memory` and `found` have room.
    unsafe fn search(&self, memory: *mut u8, source: *const u8, steps: usize, found: Found) {
        let SearchPart { functions, width, block, .. } = *self.part;
        let tree = self.columns(memory);
        let size = self.fold().size;
        for (index, start) in (0..steps).step_by(block).enumerate() {
            let count = block.min(steps - start);
            // SAFETY: the caller's promise.
            unsafe {
                tree.take(self.values(memory, source, start, count), 0..count);
                tree.finish(count);
                (functions.keep)(found, tree.nodes, width, index);
            }
        }
        for column in 0..width {
            // SAFETY: the caller's promise; a block has been noted for each column, and has its extreme.
            unsafe {
                let index = found.indices.add(column);
                let start = *index * block;
                let step_stride = self.part.part.walk.operands[1].step_stride;
                let along = start as isize * step_stride + column as isize * self.part.inner_stride;
                let (count, first) = (block.min(steps - start), source.wrapping_offset(along));
                let extreme = found.extremes.add(column * size);
                *index = start + (functions.find)(first, count, step_stride, extreme);
            }
        }
    }

    /// Some steps, with columns, or elements of rows, that lie one after another.
    ///
    /// # Safety
    /// As [`Searching::search`].
    unsafe fn values(
        &self,
        memory: *mut u8,
        source: *const u8,
        start: usize,
        count: usize,
    ) -> Values {
        let step_stride = self.part.part.walk.operands[1].step_stride;
        let first = source.wrapping_offset(start as isize * step_stride);
        if self.part.part.is_direct {
            return Values { first, step_stride };
        }
        let size = self.fold().size;
        let gathered = memory.wrapping_add(self.part.places.gathered);
        let steps = Run { count, stride: step_stride };
        let run = Run { count: self.part.inner, stride: self.part.inner_stride };
        // SAFETY: the caller's promise.
        unsafe { gather(gathered, first, steps, run, size) }
        Values { first: gathered, step_stride: (self.part.inner * size) as isize }
    }

    fn columns(&self, memory: *mut u8) -> Columns<'_> {
        let SearchPart { width, block, places, .. } = self.part;
        Columns {
            fold: self.fold(),
            width: *width,
            lanes: memory.wrapping_add(places.lanes),
            nodes: memory.wrapping_add(places.nodes),
            in_turn: takes_in_turn(self.fold(), *width, *block),
        }
    }

    /// Combines what the pieces of a unit have left.
    ///
    /// # Safety
    /// As [`BoundNest::finish`], for the unit of these pieces.
    unsafe fn combine_pieces(&self, pieces: Range<usize>) {
        let SearchPart { functions, width, .. } = self.part;
        self.at(pieces.start, |memory, position| {
            let found = self.found(memory);
            // SAFETY: the caller's promise; every piece has left what it has found.
            unsafe {
                for (index, piece) in pieces.clone().enumerate() {
                    (functions.keep)(found, self.left(piece).extremes, *width, index);
                }
                for column in 0..*width {
                    let index = found.indices.add(column);
                    *index = *self.left(pieces.start + *index).indices.add(column);
                }
                self.write(self.target(position), found);
            }
        });
    }

    /// Writes what has been found.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for the results from `target` on.
    unsafe fn write(&self, target: *mut u8, found: Found) {
        let stride = self.part.part.result_strides[0];
        for column in 0..self.part.width {
            let place = target.wrapping_offset(column as isize * stride).cast::<i64>();
            // SAFETY: the caller's promise.
            unsafe { place.write_unaligned(*found.indices.add(column) as i64) }
        }
    }
}

fn functions(store: &Store) -> SearchFunctions {
    let found = store.reduction.and_then(|Reduction { op, dtype }| search_functions(op, dtype));
    found.expect("invariant: a graph's searches take their operands")
}
