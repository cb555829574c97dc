//! Nests that reduce rows which are read where they lie: kernels or a function that folds go along each row,
//! without looking for anything else. Holds unsafe code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::HeldBytes;
use indim_loops::resize::SizedNest;
use indim_loops::walk::reducing::{DirectRows, Reducing, most_nodes};
use indim_ops::meaning::reduction::LANES;
use indim_targets::MOST_FOLDS;
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::folding::{FoldedTile, Folding};
use crate::tiles::memory::Run;
use crate::tiles::store_fold::StoreFold;
use crate::tiles::tile::WORKSPACE;
use crate::tiles::tree::{Columns, Values};

/// A function that folds has at most so many inputs.
const MOST_INPUTS: usize = 16;

/// Rows that are reduced where they lie.
#[derive(Debug)]
pub(super) struct BoundRows {
    code: Arc<TileCode>,
    rows: DirectRows,
    tile_elements: usize,
    /// Where a function folds what it computes; kernels do otherwise.
    folding: Option<Folding>,
    /// For each store where its accumulators begin, in bytes, and its nodes.
    places: SmallVec<[[usize; 2]; 2]>,
    bytes: usize,
}

impl BoundRows {
    /// The nest, if it is such a one, and there is a function if it needs one.
    pub(super) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        of: &Reducing<'_>,
    ) -> Option<Self> {
        let rows = of.direct_rows()?;
        let functions = code.folding.as_deref().filter(|_| of.folds);
        let folding = match functions {
            Some(functions) => {
                let (mut along, mut across) = (SmallVec::new(), SmallVec::new());
                for slot in &functions.inputs {
                    let operand = of_access(code, *slot);
                    along.push(of.strides[operand][of.reduced]);
                    across.push(rows.across[operand]);
                }
                Some(Folding::of_rows(code, rows.length, along, across)?)
            }
            None => None,
        };
        let (mut places, mut bytes) = (SmallVec::new(), 0);
        let lanes = match &folding {
            Some(folding) => folding.row_accumulators(rows.tile_rows, rows.length),
            None => LANES,
        };
        for fold in &code.folds {
            let first = bytes;
            // The lanes make room for the finished results.
            let most = (lanes * fold.size).max(rows.tile_rows * fold.result_size);
            bytes += most.next_multiple_of(64);
            places.push([first, bytes]);
            let width = folding.as_ref().map_or(1, |_| rows.tile_rows);
            let nodes = (most_nodes(rows.length) * width).max(rows.tile_rows);
            bytes += (nodes * fold.size).next_multiple_of(64);
        }
        let tile_elements = nest.points_per(rows.rows.div_ceil(rows.tile_rows));
        Some(BoundRows { code: Arc::clone(code), rows, tile_elements, folding, places, bytes })
    }

    fn columns<'f>(&self, store: usize, fold: &'f StoreFold, memory: *mut u8) -> Columns<'f> {
        let [lanes, nodes] = self.places[store].map(|place| memory.wrapping_add(place));
        Columns { fold, width: 1, lanes, nodes, in_turn: false }
    }

    /// Reduces so many rows, and writes what comes of them.
    ///
    /// # Safety
    /// As [`BoundNest::run`]; the memory has room for the accumulators of a tile.
    unsafe fn reduce(&self, bases: &[*mut u8], first: usize, count: usize, memory: *mut u8) {
        let at = |operand: usize| {
            bases[operand].wrapping_offset(first as isize * self.rows.across[operand])
        };
        let folds = &self.code.folds;
        // SAFETY: the caller's promise.
        unsafe {
            match &self.folding {
                Some(folding) => self.fold(folding, at, count, memory),
                None => {
                    for (store, fold) in folds.iter().enumerate() {
                        let source = self.code.slot(self.code.nest.stores[store].source);
                        let operand = of_access(&self.code, source);
                        let step_stride = self.rows.across[operand];
                        let values = Values { first: at(operand).cast_const(), step_stride };
                        let columns = self.columns(store, fold, memory);
                        columns.fold_rows(values, count, self.rows.length);
                    }
                }
            }
            for (store, fold) in folds.iter().enumerate() {
                let run = Run { count, stride: self.rows.across[store] };
                self.columns(store, fold, memory).write(at(store), run);
            }
        }
    }

    /// Folds so many rows as they are computed, into nodes.
    ///
    /// # Safety
    /// As [`BoundRows::reduce`].
    unsafe fn fold(
        &self,
        folding: &Folding,
        at: impl Fn(usize) -> *mut u8,
        count: usize,
        memory: *mut u8,
    ) {
        let Some(functions) = &self.code.folding else { return };
        let folds = &self.code.folds;
        let mut inputs = [core::ptr::null_mut(); MOST_INPUTS];
        for (input, slot) in inputs.iter_mut().zip(&functions.inputs) {
            *input = at(of_access(&self.code, *slot));
        }
        let columns: [Columns<'_>; MOST_FOLDS] = core::array::from_fn(|store| {
            let store = store.min(folds.len() - 1);
            self.columns(store, &folds[store], memory)
        });
        let (columns, inputs) = (&columns[..folds.len()], &inputs[..functions.inputs.len()]);
        let tile = FoldedTile { folding, columns, inputs, first: 0 };
        // SAFETY: the caller's promise.
        unsafe { tile.take_rows(count, self.rows.length) }
    }
}

/// The operand of the nest in the slot of an access.
fn of_access(code: &TileCode, slot: usize) -> usize {
    code.nest.stores.len() + slot
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
            let memory = workspace.accumulators(self.bytes);
            for tile in tiles {
                let first = tile * self.rows.tile_rows;
                let count = self.rows.tile_rows.min(self.rows.rows - first);
                // SAFETY: the caller's promise, for one of the tiles; there is room for what was counted.
                unsafe { self.reduce(bases.operands, first, count, memory) }
            }
        });
    }

    fn count_bytes(&self, held: &mut HeldBytes) {
        held.own::<BoundRows>(1);
        held.small(&self.rows.across);
        held.small(&self.places);
        self.folding.iter().for_each(|folding| folding.count_bytes(held));
    }
}
