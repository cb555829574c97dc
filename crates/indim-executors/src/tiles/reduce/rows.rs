//! Reductions of rows in place: kernels or a function fold each row, without the general walk. Holds unsafe
//! code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::SizedNest;
use indim_loops::walk::reduction::{DirectRows, ReductionNest, max_nodes};
use indim_ops::meaning::reduction::REDUCTION_LANES;
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::fold_function::FoldFunction;
use crate::tiles::fold_tile::FoldTile;
use crate::tiles::memory::ElementRun;
use crate::tiles::reduce::accumulators::{AccumulatorCounts, Accumulators};
use crate::tiles::tile::WORKSPACE;
use crate::tiles::tree::StepValues;

/// A nest of rows that are reduced in place.
#[derive(Debug)]
pub(super) struct BoundRows {
    code: Arc<TileCode>,
    rows: DirectRows,
    tile_elements: usize,
    /// The function that folds the values it computes; `None` if kernels fold values in memory.
    fold_function: Option<FoldFunction>,
    accumulators: Accumulators,
}

impl BoundRows {
    /// Returns `None` if the function is not available.
    pub(super) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        of: &ReductionNest<'_>,
        rows: DirectRows,
    ) -> Option<Self> {
        let functions = code.fold_functions.as_deref().filter(|_| of.folds);
        let fold_function = match functions {
            Some(functions) => {
                let (mut reduced_strides, mut row_strides) = (SmallVec::new(), SmallVec::new());
                for register in &functions.inputs {
                    let operand = code.operand(*register);
                    reduced_strides.push(of.axes.reduced_strides[operand]);
                    row_strides.push(rows.row_strides[operand]);
                }
                Some(FoldFunction::of_rows(code, nest, reduced_strides, row_strides)?)
            }
            None => None,
        };
        let (length, results) = (rows.length, rows.tile_rows);
        let lanes = match &fold_function {
            Some(fold_function) => fold_function.row_accumulators(results, length),
            None => REDUCTION_LANES,
        };
        let nodes = max_nodes(length) * fold_function.as_ref().map_or(1, |_| results);
        let counts = AccumulatorCounts { lanes, nodes, results };
        let accumulators = Accumulators::new(&code.folds, counts, |_| false);
        let tile_elements = nest.points_per(rows.rows.div_ceil(rows.tile_rows));
        Some(BoundRows { code: Arc::clone(code), rows, tile_elements, fold_function, accumulators })
    }

    /// Reduces `count` rows, at most those of a tile, and writes their results.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for these rows;
    /// - `memory` belongs to this thread and has `accumulators.bytes`.
    unsafe fn reduce(&self, bases: &[*mut u8], first: usize, count: usize, memory: *mut u8) {
        let at = |operand: usize| {
            bases[operand].wrapping_offset(first as isize * self.rows.row_strides[operand])
        };
        let folds = &self.code.folds;
        if let Some(fold_function) = &self.fold_function {
            let columns = self.accumulators.folded_columns(memory, folds, 1);
            let columns = &columns[..folds.len()];
            // SAFETY:
            // - `at` returns addresses at the first row, and the caller ensures `count` readable rows;
            // - `FoldSpec` requires that a row has at least a step of the function's loop;
            // - `accumulators` counts the lanes and nodes of a tile.
            FoldTile::of_operands((&self.code, fold_function), columns, at, |tile| unsafe {
                tile.fold_rows(count, self.rows.length);
            });
        }
        for ((store, fold), from) in folds.iter().enumerate().zip(&self.code.nest.stores) {
            let columns = self.accumulators.columns(memory, (store, fold), 1);
            // SAFETY:
            // - the caller ensures `count` readable rows and writable results;
            // - each row has become one of the first nodes when `write` reads them;
            // - `accumulators` counts the nodes and results of a tile.
            unsafe {
                if self.fold_function.is_none() {
                    let operand = self.code.operand(self.code.register(from.source));
                    let step_stride = self.rows.row_strides[operand];
                    let values = StepValues { first: at(operand).cast_const(), step_stride };
                    columns.fold_rows(values, count, self.rows.length);
                }
                let run = ElementRun { count, stride: self.rows.row_strides[store] };
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
                // SAFETY: the rows are those of `tile`, one of the caller's `tiles`; `memory` belongs to this
                // thread and has `accumulators.bytes`.
                unsafe { self.reduce(bases.operands, first, count, memory) }
            }
        });
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundRows>(1);
        memory_use.add_small_vec(&self.rows.row_strides);
        self.accumulators.count_bytes(memory_use);
        self.fold_function.iter().for_each(|fold_function| fold_function.count_bytes(memory_use));
    }
}
