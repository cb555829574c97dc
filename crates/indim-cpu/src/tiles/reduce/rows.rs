//! Reductions of rows in place: kernels or a function fold each row, without the general walk. Holds unsafe
//! code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::SizedNest;
use indim_loops::walk::reduction::{DirectRows, ReductionNest, max_nodes};
use indim_ops::meaning::reduction::LANES;
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::folded::FoldedTile;
use crate::tiles::folding::Folding;
use crate::tiles::memory::Run;
use crate::tiles::reduce::accumulators::{Accumulators, Counts};
use crate::tiles::tile::WORKSPACE;
use crate::tiles::tree::Values;

/// Rows that are reduced in place.
#[derive(Debug)]
pub(super) struct BoundRows {
    code: Arc<TileCode>,
    rows: DirectRows,
    tile_elements: usize,
    /// The function that folds what it computes; `None` for kernels.
    folding: Option<Folding>,
    accumulators: Accumulators,
}

impl BoundRows {
    /// Returns `None` if the machine code lacks a function.
    pub(super) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        of: &ReductionNest<'_>,
        rows: DirectRows,
    ) -> Option<Self> {
        let functions = code.folding.as_deref().filter(|_| of.folds);
        let folding = match functions {
            Some(functions) => {
                let (mut along, mut across) = (SmallVec::new(), SmallVec::new());
                for slot in &functions.inputs {
                    let operand = code.operand(*slot);
                    along.push(of.axes.along[operand]);
                    across.push(rows.across[operand]);
                }
                Some(Folding::of_rows(code, nest, along, across)?)
            }
            None => None,
        };
        let (length, results) = (rows.length, rows.tile_rows);
        let lanes = match &folding {
            Some(folding) => folding.row_accumulators(results, length),
            None => LANES,
        };
        let nodes = max_nodes(length) * folding.as_ref().map_or(1, |_| results);
        let counts = Counts { lanes, nodes, results };
        let accumulators = Accumulators::new(&code.folds, counts, |_| false);
        let tile_elements = nest.points_per(rows.rows.div_ceil(rows.tile_rows));
        Some(BoundRows { code: Arc::clone(code), rows, tile_elements, folding, accumulators })
    }

    /// Reduces `count` rows and writes their results.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for these rows; `memory` has room for the accumulators of a tile.
    unsafe fn reduce(&self, bases: &[*mut u8], first: usize, count: usize, memory: *mut u8) {
        let at = |operand: usize| {
            bases[operand].wrapping_offset(first as isize * self.rows.across[operand])
        };
        let folds = &self.code.folds;
        if let Some(folding) = &self.folding {
            let columns = self.accumulators.folded_columns(memory, folds, 1);
            let columns = &columns[..folds.len()];
            // SAFETY: the caller vouches for the rows.
            FoldedTile::of_operands((&self.code, folding), columns, at, |tile| unsafe {
                tile.take_rows(count, self.rows.length);
            });
        }
        for ((store, fold), from) in folds.iter().enumerate().zip(&self.code.nest.stores) {
            let columns = self.accumulators.columns(memory, (store, fold), 1);
            // SAFETY: the caller vouches for the rows and their results.
            unsafe {
                if self.folding.is_none() {
                    let operand = self.code.operand(self.code.slot(from.source));
                    let step_stride = self.rows.across[operand];
                    let values = Values { first: at(operand).cast_const(), step_stride };
                    columns.fold_rows(values, count, self.rows.length);
                }
                let run = Run { count, stride: self.rows.across[store] };
                columns.write(at(store), run);
            }
        }
    }
}

impl BoundNest for BoundRows {
    fn tiles(&self) -> usize {
        self.rows.rows.div_ceil(self.rows.tile_rows)
    }

    fn tile_elements(&self) -> usize {
        self.tile_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.accumulators.bytes);
            for tile in tiles {
                let first = tile * self.rows.tile_rows;
                let count = self.rows.tile_rows.min(self.rows.rows - first);
                // SAFETY: the caller vouches for the tile; `memory` has the room that `new` counted.
                unsafe { self.reduce(bases.operands, first, count, memory) }
            }
        });
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundRows>(1);
        held.small(&self.rows.across);
        self.accumulators.count_bytes(held);
        self.folding.iter().for_each(|folding| folding.count_bytes(held));
    }
}
