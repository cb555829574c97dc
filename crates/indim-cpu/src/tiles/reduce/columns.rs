//! Reductions of columns in place: kernels or a function fold them step by step, without the general walk.
//! Holds unsafe code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::SizedNest;
use indim_loops::strides::AxisStrides;
use indim_loops::walk::reduction::{
    DirectColumns, MAX_DIRECT_STEPS, ReductionNest, Unit, max_nodes,
};
use indim_ops::meaning::reduction::LANES;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::folded::FoldedTile;
use crate::tiles::folding::Folding;
use crate::tiles::memory::Run;
use crate::tiles::reduce::accumulators::{Accumulators, Counts};
use crate::tiles::reduce::pieces::PieceResults;
use crate::tiles::store_fold::piece_bytes;
use crate::tiles::tile::WORKSPACE;
use crate::tiles::tree::{Columns, Values, takes_in_turn};

/// Columns that are reduced in place.
#[derive(Debug)]
pub(super) struct BoundColumns {
    code: Arc<TileCode>,
    columns: DirectColumns,
    /// Stride of each operand between steps, in bytes.
    along: AxisStrides,
    tile_elements: usize,
    /// The function that folds what it computes; `None` for kernels.
    folding: Option<Folding>,
    accumulators: Accumulators,
    left: PieceResults,
}

impl BoundColumns {
    /// Returns `None` if the machine code lacks a function.
    pub(super) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        of: &ReductionNest<'_>,
        columns: DirectColumns,
    ) -> Option<Self> {
        let along = AxisStrides::from_slice(&of.axes.along);
        let folding = match of.folds {
            true => Some(Folding::of_columns(code, nest, &columns, &along)?),
            false => None,
        };
        let (width, length) = (columns.unit_columns, columns.length);
        let lanes = folding.as_ref().map_or(LANES, |folding| folding.column_accumulators(width));
        let nodes = max_nodes(length) * width;
        let counts = Counts { lanes: lanes * width, nodes, results: width };
        let accumulators = Accumulators::new(&code.folds, counts, |fold| match &folding {
            Some(folding) => folding.is_in_turn(),
            None => takes_in_turn(fold, width, length),
        });
        let left = match columns.pieces {
            1 => PieceResults::default(),
            _ => PieceResults::new(0, &code.folds, width),
        };
        let tiles = columns.units * columns.pieces;
        debug_assert!(left.end(tiles) <= piece_bytes(nest, &code.folds), "it has been counted");
        let (code, tile_elements) = (Arc::clone(code), nest.points_per(tiles));
        Some(BoundColumns { code, columns, along, tile_elements, folding, accumulators, left })
    }

    /// Address of the first column of a unit in an operand.
    fn first(&self, bases: &Bases<'_>, unit: &Unit, operand: usize) -> *mut u8 {
        bases.operands[operand].wrapping_offset(self.columns.offset(unit, operand))
    }

    /// The tree of each store over the columns of a unit.
    fn trees(&self, memory: *mut u8, unit: &Unit) -> impl Iterator<Item = Columns<'_>> {
        let (folds, width) = (self.code.folds.iter().enumerate(), unit.columns);
        folds.map(move |fold| self.accumulators.columns(memory, fold, width))
    }

    /// Reduces a piece of a unit: writes the results, or leaves the nodes if the unit has other pieces.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for this tile; `memory` has room for the accumulators.
    unsafe fn reduce(&self, bases: &Bases<'_>, tile: usize, memory: *mut u8) {
        let DirectColumns { pieces, piece_steps, .. } = self.columns;
        let (unit, piece) = self.columns.piece(tile);
        let first = piece * piece_steps;
        let count = piece_steps.min(self.columns.length - first);
        let folds = &self.code.folds;
        let at = |operand: usize| {
            let along = first as isize * self.along[operand];
            self.first(bases, &unit, operand).wrapping_offset(along)
        };
        // SAFETY: the caller vouches for the tile and the room.
        unsafe {
            match &self.folding {
                Some(folding) => {
                    let trees = self.accumulators.folded_columns(memory, folds, unit.columns);
                    let trees = &trees[..folds.len()];
                    FoldedTile::of_operands((&self.code, folding), trees, at, |tile| {
                        tile.take(count);
                        tile.finish(count);
                    });
                }
                None => self.take(|| self.trees(memory, &unit), at, count),
            }
            for (store, columns) in self.trees(memory, &unit).enumerate() {
                match pieces {
                    1 => self.write(bases, &unit, store, &columns),
                    _ => self.left.leave(bases.shared, store, tile, &columns),
                }
            }
        }
    }

    /// Folds values into the first nodes; `at` gives their addresses.
    ///
    /// # Safety
    /// Like [`BoundColumns::reduce`].
    unsafe fn take<'t, T: Iterator<Item = Columns<'t>>>(
        &self,
        trees: impl Fn() -> T,
        at: impl Fn(usize) -> *mut u8,
        count: usize,
    ) {
        let stores = &self.code.nest.stores;
        // Several stores may fold the same values, so chunks stay in L1.
        let mut start = 0;
        while start < count {
            let end = count.min(start + MAX_DIRECT_STEPS);
            for (columns, store) in trees().zip(stores) {
                let operand = self.code.operand(self.code.slot(store.source));
                let step_stride = self.along[operand];
                let first = at(operand).wrapping_offset(start as isize * step_stride);
                // SAFETY: the caller vouches for the steps of the tile, which are folded in order.
                unsafe { columns.take(Values { first, step_stride }, start..end) }
            }
            start = end;
        }
        // SAFETY: all steps have been folded.
        trees().for_each(|columns| unsafe { columns.finish(count) });
    }

    /// Writes the results of a unit from the first nodes.
    ///
    /// # Safety
    /// Like [`BoundNest::run`].
    unsafe fn write(&self, bases: &Bases<'_>, unit: &Unit, store: usize, columns: &Columns<'_>) {
        let results = Run { count: unit.columns, stride: self.columns.across(store) };
        // SAFETY: the caller vouches for the unit's results.
        unsafe { columns.write(self.first(bases, unit, store), results) }
    }
}

impl BoundNest for BoundColumns {
    fn tiles(&self) -> usize {
        self.columns.units * self.columns.pieces
    }

    fn tile_elements(&self) -> usize {
        self.tile_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.accumulators.bytes);
            for tile in tiles {
                // SAFETY: the caller vouches for the tile; `memory` has the room that `new` counted.
                unsafe { self.reduce(bases, tile, memory) }
            }
        });
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        let pieces = self.columns.pieces;
        if pieces == 1 {
            return;
        }
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.accumulators.bytes);
            for index in 0..self.columns.units {
                let unit = self.columns.unit(index);
                let own = index * pieces..(index + 1) * pieces;
                for (store, columns) in self.trees(memory, &unit).enumerate() {
                    // SAFETY: the caller vouches that all pieces have run, so each has left its nodes.
                    unsafe {
                        self.left.combine(bases.shared, store, own.clone(), &columns);
                        self.write(bases, &unit, store, &columns);
                    }
                }
            }
        });
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundColumns>(1);
        self.columns.count_bytes(held);
        held.small(&self.along);
        self.folding.iter().for_each(|folding| folding.count_bytes(held));
        self.accumulators.count_bytes(held);
        self.left.count_bytes(held);
    }
}
