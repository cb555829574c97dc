//! The code of a nest with a reduced axis, bound to strides. Holds unsafe code.
//!
//! Dense rows and columns are reduced in place: `rows.rs`, `columns.rs`. Otherwise the values of a tile are
//! computed or gathered as in any nest, and the tree over their columns folds them; `whole.rs` is the case
//! of a single tile. If an axis is cut, each piece leaves its node of the tree in shared memory, and the
//! nodes are combined at the end: `pieces.rs`. `accumulators.rs` is the layout of lanes and nodes.

mod accumulators;
mod columns;
mod pieces;
mod rows;
mod whole;

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Local, Store};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reduction::{
    NestRegion, ReducedAxes, ReductionNest, ReductionWalk, UnitForm, max_nodes, split_pieces,
};
use indim_ops::meaning::reduction::LANES;
use indim_targets::Function;
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::{FEW, TileCode, element_sizes, few};
use crate::tiles::folded::FoldedTile;
use crate::tiles::folding::Folding;
use crate::tiles::functions::Functions;
use crate::tiles::memory::Run;
use crate::tiles::store_fold::piece_bytes;
use crate::tiles::tile::{Tile, WORKSPACE, Workspace};
use crate::tiles::tree::{Columns, Values, takes_in_turn};
use crate::tiles::wiring::Wiring;
use accumulators::{Accumulators, Counts};
use columns::BoundColumns;
use pieces::PieceResults;
use rows::BoundRows;
use whole::WholeTile;

/// The code of a nest with a reduced axis under walks.
#[derive(Debug)]
pub(crate) struct BoundReduction {
    code: Arc<TileCode>,
    parts: Vec<BoundPart>,
    /// Pieces of all parts, and the elements of the largest.
    tiles: usize,
    tile_elements: usize,
}

#[derive(Debug)]
struct BoundPart {
    part: NestRegion,
    wiring: Wiring,
    function: Option<Arc<Function>>,
    /// The function that folds what it computes; `None` if the tile's values are computed first.
    folding: Option<Folding>,
    stores: SmallVec<[BoundStore; 2]>,
    accumulators: Accumulators,
    left: PieceResults,
    /// The single tile, if it needs no other calls.
    whole: Option<WholeTile>,
}

/// The fold of one store.
#[derive(Debug, Clone, Copy)]
struct BoundStore {
    source: Source,
    /// Stride between results of a tile, in bytes.
    result_stride: isize,
}

/// The values of a store in a tile.
#[derive(Debug, Clone, Copy)]
struct Source {
    slot: usize,
    /// Stride between steps, in bytes.
    step_stride: isize,
}

/// See [`bind`](crate::tiles::bind); the nest has a reduced axis.
pub(super) fn bind(
    code: &Arc<TileCode>,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
) -> Option<Arc<dyn BoundNest>> {
    let axes = nest.reduced_axes(nest.nest.reduced?, strides)?;
    let may_fold = code.folding.as_deref().is_some_and(Functions::may_be_made);
    let folded = may_fold.then(|| bind_with(code, nest, &axes, true)).flatten();
    folded.or_else(|| bind_with(code, nest, &axes, false))
}

/// Like [`bind`]; `folds` tells whether functions fold what they compute.
fn bind_with(
    code: &Arc<TileCode>,
    nest: &SizedNest<'_>,
    axes: &ReducedAxes,
    folds: bool,
) -> Option<Arc<dyn BoundNest>> {
    let sizes = element_sizes(nest.nest);
    let reducing = reducing(code, nest, axes, &sizes, folds);
    Some(match reducing.walk() {
        ReductionWalk::Rows(rows) => Arc::new(BoundRows::new(code, nest, &reducing, rows)?),
        ReductionWalk::Columns(columns) => {
            Arc::new(BoundColumns::new(code, nest, &reducing, columns)?)
        }
        ReductionWalk::Regions(parts) => {
            Arc::new(BoundReduction::new(code, nest, &reducing, parts)?)
        }
    })
}

/// The reduction of the nest over these axes; operands have elements of these sizes in bytes.
pub(super) fn reducing<'a>(
    code: &TileCode,
    nest: &SizedNest<'_>,
    axes: &'a ReducedAxes,
    element_sizes: &'a [usize],
    folds: bool,
) -> ReductionNest<'a> {
    ReductionNest {
        axes,
        element_sizes,
        targets: nest.nest.stores.len(),
        block: code.block,
        minimum_row: code.minimum_row(),
        is_direct: !code.computes(),
        folds,
        has_row_kernels: code.folds.iter().all(|fold| fold.rows.is_some()),
        has_lanes: code.folds.iter().any(|fold| !takes_in_turn(fold, LANES, axes.length)),
    }
}

impl BoundReduction {
    /// See [`bind`]; also returns `None` if the machine code lacks a function.
    fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        reducing: &ReductionNest<'_>,
        walked: Vec<NestRegion>,
    ) -> Option<Self> {
        let mut parts = Vec::with_capacity(walked.len());
        // Regions are large, so a push for each is faster than `collect`.
        for part in walked {
            parts.push(BoundPart::new(code, nest, part)?);
        }
        let has_short_rows = |bound: &BoundPart| {
            let is_computed = bound.folding.is_none() && !bound.part.has_few_rows();
            is_computed && bound.wiring.has_short_rows(code, &bound.part.walk)
        };
        if parts.iter().any(has_short_rows) {
            // A function with long steps would run these short rows slowly, so they are gathered.
            let reducing = ReductionNest { minimum_row: code.minimum_row(), ..*reducing };
            return BoundReduction::new(code, nest, &reducing, reducing.regions());
        }
        let mut shared = 0;
        for bound in parts.iter_mut().filter(|bound| bound.part.is_cut()) {
            bound.left = PieceResults::new(shared, &code.folds, width(&bound.part));
            shared = bound.left.end(bound.part.pieces());
        }
        debug_assert!(shared <= piece_bytes(nest, &code.folds), "what is shared has been counted");
        let tiles = parts.iter().map(|bound| bound.part.pieces()).sum();
        let tile_elements = nest.points_per(tiles);
        Some(BoundReduction { code: Arc::clone(code), parts, tiles, tile_elements })
    }
}

impl BoundPart {
    /// Returns `None` if the machine code lacks a function.
    fn new(code: &TileCode, nest: &SizedNest<'_>, part: NestRegion) -> Option<Self> {
        let folds = part.folds;
        let mut in_blocks: SmallVec<[bool; FEW]> = SmallVec::from_slice(&code.needs_block);
        for store in code.nest.stores.iter().filter(|_| !part.is_direct && !folds) {
            if let Local::Access(index) = store.source {
                in_blocks[index] = true;
            }
        }
        let wiring = Wiring::new(code, nest, &part.walk, &in_blocks, &[], folds);
        let width = width(&part);
        let (function, folding) = match folds {
            true => (None, Some(Folding::new(code, nest, &part, &wiring, width)?)),
            false => (wiring.find_function(code)?, None),
        };
        let finished = match part.form {
            UnitForm::Columns(columns) => columns,
            UnitForm::Row(_) => part.walk.tile_steps,
        };
        let length = nest.length();
        let lanes = folding.as_ref().map_or(LANES, |folding| folding.accumulators(&part));
        let columns = if folds { finished.max(width) } else { width };
        let nodes = max_nodes(length) * columns;
        let counts = Counts { lanes: lanes * width, nodes, results: finished };
        let accumulators = Accumulators::new(&code.folds, counts, |fold| match &folding {
            Some(folding) => folding.is_in_turn(),
            None => takes_in_turn(fold, width, length),
        });
        let mut stores = SmallVec::new();
        for (store, result_stride) in code.nest.stores.iter().zip(&part.result_strides) {
            let source = source(code, &part, store);
            stores.push(BoundStore { source, result_stride: *result_stride });
        }
        let whole = WholeTile::new(code, &part.walk, &wiring, accumulators.bytes);
        let left = PieceResults::default();
        Some(BoundPart { part, wiring, function, folding, stores, accumulators, left, whole })
    }
}

/// Columns that are reduced together.
fn width(part: &NestRegion) -> usize {
    match part.form {
        UnitForm::Columns(columns) => columns,
        UnitForm::Row(_) => 1,
    }
}

fn source(code: &TileCode, part: &NestRegion, store: &Store) -> Source {
    let dense = (part.walk.step_elements * code.nest.dtype(store.source).size()) as isize;
    let step_stride = match store.source {
        Local::Access(index) if part.is_direct => {
            part.walk.operands[code.operand(index)].step_stride
        }
        _ => dense,
    };
    Source { slot: code.slot(store.source), step_stride }
}

impl BoundNest for BoundReduction {
    fn tiles(&self) -> usize {
        self.tiles
    }

    fn tile_elements(&self) -> usize {
        self.tile_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        if let [only] = &self.parts[..] {
            // SAFETY: the caller vouches for `tiles`, which are tiles of the only part.
            return unsafe { only.run(&self.code, bases, tiles) };
        }
        let pieces = split_pieces(self.parts.iter().map(|bound| &bound.part), tiles);
        for (bound, own) in self.parts.iter().zip(pieces).filter(|(_, own)| !own.is_empty()) {
            // SAFETY: the caller vouches for `tiles`, and `own` are those of this part.
            unsafe { bound.run(&self.code, bases, own) }
        }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for bound in self.parts.iter().filter(|bound| bound.part.is_cut()) {
            // SAFETY: the caller vouches for all tiles, which have run.
            unsafe { bound.finish(&self.code, bases) }
        }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundReduction>(1);
        held.own::<BoundPart>(self.parts.capacity());
        for part in &self.parts {
            part.part.walk.count_bytes(held);
            part.wiring.count_bytes(held);
            held.small(&part.stores);
            part.folding.iter().for_each(|folding| folding.count_bytes(held));
            part.accumulators.count_bytes(held);
            part.left.count_bytes(held);
            held.small(&part.part.result_strides);
            part.whole.iter().for_each(|whole| whole.count_bytes(held));
        }
    }
}

impl BoundPart {
    /// # Safety
    /// Like [`BoundNest::run`], for pieces of this part.
    unsafe fn run(&self, code: &TileCode, bases: &Bases<'_>, pieces: Range<usize>) {
        if let Some(whole) = &self.whole {
            // SAFETY: the caller vouches for the only piece.
            return unsafe { whole.run(self, code, bases.operands) };
        }
        let (first, _) = self.part.tiles_of(pieces.start);
        self.reduce(code, bases, |reduction, outer, offsets| {
            let mut position = Position::new(&self.part.walk, first, outer, offsets);
            for piece in pieces {
                // SAFETY: the caller vouches for `pieces`; `accumulators` has the room that `new` counted.
                unsafe {
                    match self.part.form {
                        UnitForm::Columns(_) => reduction.reduce_columns(&mut position, piece),
                        UnitForm::Row(length) => reduction.reduce_rows(&mut position, length),
                    }
                }
            }
        });
    }

    /// # Safety
    /// Like [`BoundNest::finish`], for the units of this part, whose axis is cut.
    unsafe fn finish(&self, code: &TileCode, bases: &Bases<'_>) {
        let along = self.part.pieces_along_axis();
        self.reduce(code, bases, |reduction, outer, offsets| {
            for first in (0..self.part.pieces()).step_by(along) {
                let tile = self.part.tiles_of(first).0;
                let position = Position::new(&self.part.walk, tile, outer, offsets);
                // SAFETY: the caller vouches for all pieces of the unit, which have run.
                unsafe { reduction.combine_pieces(&position, first..first + along) }
            }
        });
    }

    /// Calls `work` with the state that pieces share and memory for positions.
    fn reduce(
        &self,
        code: &TileCode,
        bases: &Bases<'_>,
        work: impl FnOnce(&mut NestReduction<'_>, &mut Vec<usize>, &mut Vec<isize>),
    ) {
        let (walk, wiring) = (&self.part.walk, &self.wiring);
        WORKSPACE.with_borrow_mut(|workspace| {
            workspace.prepare(code, wiring);
            let accumulators = workspace.accumulators(self.accumulators.bytes);
            let Workspace { slots, operands, gathered, outer, offsets, .. } = workspace;
            let function = self.function.as_deref();
            let tile = Tile {
                code,
                walk,
                wiring,
                function,
                bases: bases.operands,
                slots,
                operands,
                gathered,
            };
            let width = width(&self.part);
            let folds = code.folds.iter().enumerate();
            let trees = folds.map(|fold| self.accumulators.columns(accumulators, fold, width));
            let trees = few(trees);
            let shared = bases.shared;
            work(&mut NestReduction { bound: self, trees, tile, shared }, outer, offsets);
        });
    }
}

/// The state that the pieces of a run share.
struct NestReduction<'a> {
    bound: &'a BoundPart,
    /// The trees of all stores.
    trees: SmallVec<[Columns<'a>; FEW]>,
    tile: Tile<'a>,
    shared: *mut u8,
}

impl NestReduction<'_> {
    /// Reduces a piece of a unit of columns and advances the position.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for this piece, which begins at `position`.
    unsafe fn reduce_columns(&mut self, position: &mut Position<'_>, piece: usize) {
        let BoundPart { part, folding, left, .. } = self.bound;
        let (_, tiles) = part.tiles_of(piece);
        let mut step = 0;
        for index in 0..tiles {
            let steps = step..step + position.steps;
            step = steps.end;
            let is_last = index + 1 == tiles;
            // SAFETY: the caller vouches for the piece; each tile's values are folded before the next
            // tile's are computed.
            unsafe {
                match folding {
                    Some(folding) => self.fold(folding, position, steps.start, |tile| {
                        tile.take(steps.len());
                        if is_last {
                            tile.finish(steps.end);
                        }
                    }),
                    None => self.take(position, steps, is_last),
                }
                for (store, columns) in self.trees.iter().enumerate().filter(|_| is_last) {
                    match part.is_cut() {
                        true => left.leave(self.shared, store, piece, columns),
                        false => self.write(position, store, columns.width),
                    }
                }
            }
            position.advance();
        }
    }

    /// The values of a store in a computed tile.
    fn values(&self, store: usize) -> Values {
        let Source { slot, step_stride } = self.bound.stores[store].source;
        Values { first: self.tile.slot(slot), step_stride }
    }

    /// Computes the values of a tile and folds them.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for the tile at `position`; the tiles of its piece before it have been
    /// folded.
    unsafe fn take(&mut self, position: &Position<'_>, steps: Range<usize>, is_last: bool) {
        // SAFETY: the caller vouches for the tile, and `compute` fills the registers that `values` names.
        unsafe {
            self.tile.compute(position);
            for (store, columns) in self.trees.iter().enumerate() {
                columns.take(self.values(store), steps.clone());
                if is_last {
                    columns.finish(steps.end);
                }
            }
        }
    }

    /// Folds the values of a tile while it computes them; `first` is the tile's first step.
    ///
    /// # Safety
    /// Like [`NestReduction::take`].
    unsafe fn fold(
        &mut self,
        folding: &Folding,
        position: &Position<'_>,
        first: usize,
        work: impl FnOnce(&FoldedTile<'_>),
    ) {
        // SAFETY: the caller vouches for the tile at `position`.
        unsafe { self.tile.bind(position) }
        let Some(functions) = &self.tile.code.folding else { return };
        self.tile.operands.clear();
        self.tile.operands.extend(functions.inputs.iter().map(|&slot| self.tile.slots[slot]));
        let (columns, inputs) = (&self.trees[..], &self.tile.operands[..]);
        work(&FoldedTile { folding, columns, inputs, first });
    }

    /// Reduces a tile of whole rows and advances the position.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for the tile at `position`.
    unsafe fn reduce_rows(&mut self, position: &mut Position<'_>, length: usize) {
        let count = position.steps;
        // SAFETY: the caller vouches for the tile; the accumulators have room for its results.
        unsafe {
            if let Some(folding) = &self.bound.folding {
                self.fold(folding, position, 0, |tile| tile.take_rows(count, length));
            } else {
                self.tile.compute(position);
                for (store, columns) in self.trees.iter().enumerate() {
                    columns.fold_rows(self.values(store), count, length);
                }
            }
            (0..self.trees.len()).for_each(|store| self.write(position, store, count));
        }
        position.advance();
    }

    /// Combines the partial results of the pieces of one unit.
    ///
    /// # Safety
    /// Like [`BoundNest::finish`], for the unit at `position`.
    unsafe fn combine_pieces(&self, position: &Position<'_>, pieces: Range<usize>) {
        for (store, columns) in self.trees.iter().enumerate() {
            // SAFETY: the caller vouches for the unit, whose pieces have left their nodes.
            unsafe {
                self.bound.left.combine(self.shared, store, pieces.clone(), columns);
                self.write(position, store, columns.width);
            }
        }
    }

    /// Writes `count` results from the first nodes.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for the results at `position`; the lanes have been folded, so their memory is
    /// free.
    unsafe fn write(&self, position: &Position<'_>, store: usize, count: usize) {
        let to = self.tile.tile_address(store, position);
        let run = Run { count, stride: self.bound.stores[store].result_stride };
        // SAFETY: the caller vouches for the results; the lanes' memory has room for the finished ones.
        unsafe { self.trees[store].write(to, run) }
    }
}
