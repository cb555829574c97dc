//! Reductions of columns in place: kernels or a function fold them without the general walk. Holds unsafe
//! code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::SizedNest;
use indim_loops::strides::AxisStrides;
use indim_loops::walk::reduction::{
    DirectColumns, MAX_DIRECT_STEPS, ReductionNest, Unit, max_nodes,
};
use indim_ops::meaning::reduction::REDUCTION_LANES;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::fold_function::FoldFunction;
use crate::tiles::fold_tile::FoldTile;
use crate::tiles::memory::ElementRun;
use crate::tiles::reduce::accumulators::{AccumulatorCounts, Accumulators};
use crate::tiles::reduce::segments::SegmentResults;
use crate::tiles::store_fold::segment_bytes;
use crate::tiles::tile::WORKSPACE;
use crate::tiles::tree::{ColumnTree, StepValues, is_sequential};

/// A nest of columns that are reduced in place.
#[derive(Debug)]
pub(super) struct BoundColumns {
    code: Arc<TileCode>,
    columns: DirectColumns,
    /// Stride of each operand between steps, in bytes.
    reduced_strides: AxisStrides,
    tile_elements: usize,
    /// The function that folds the values it computes; `None` if kernels fold values in memory.
    fold_function: Option<FoldFunction>,
    accumulators: Accumulators,
    segment_results: SegmentResults,
}

impl BoundColumns {
    /// Returns `None` if the function is not available.
    pub(super) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        of: &ReductionNest<'_>,
        columns: DirectColumns,
    ) -> Option<Self> {
        let reduced_strides = AxisStrides::from_slice(&of.axes.reduced_strides);
        let fold_function = match of.folds {
            true => Some(FoldFunction::of_columns(code, nest, &columns, &reduced_strides)?),
            false => None,
        };
        let (width, length) = (columns.unit_columns, columns.length);
        let lanes = fold_function
            .as_ref()
            .map_or(REDUCTION_LANES, |fold_function| fold_function.column_accumulators(width));
        let nodes = max_nodes(length) * width;
        let counts = AccumulatorCounts { lanes: lanes * width, nodes, results: width };
        let accumulators = Accumulators::new(&code.folds, counts, |fold| match &fold_function {
            Some(fold_function) => fold_function.is_sequential(),
            None => is_sequential(fold, width, length),
        });
        let segment_results = match columns.segments {
            1 => SegmentResults::default(),
            _ => SegmentResults::new(0, &code.folds, width),
        };
        let tiles = columns.units * columns.segments;
        debug_assert!(
            segment_results.end(tiles) <= segment_bytes(nest, &code.folds),
            "it has been counted"
        );
        let (code, tile_elements) = (Arc::clone(code), nest.points_per(tiles));
        Some(BoundColumns {
            code,
            columns,
            reduced_strides,
            tile_elements,
            fold_function,
            accumulators,
            segment_results,
        })
    }

    /// Address of the first column of a unit in an operand, at step 0.
    fn first(&self, bases: &Bases<'_>, unit: &Unit, operand: usize) -> *mut u8 {
        bases.operands[operand].wrapping_offset(self.columns.offset(unit, operand))
    }

    /// For each store, the tree over the columns of a unit.
    fn trees(&self, memory: *mut u8, unit: &Unit) -> impl Iterator<Item = ColumnTree<'_>> {
        let (folds, width) = (self.code.folds.iter().enumerate(), unit.columns);
        folds.map(move |fold| self.accumulators.columns(memory, fold, width))
    }

    /// Reduces the segment of a unit that is this tile. Writes the results, or saves the nodes if the unit
    /// has several segments.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this tile;
    /// - `memory` belongs to this thread and has `accumulators.bytes`.
    unsafe fn reduce(&self, bases: &Bases<'_>, tile: usize, memory: *mut u8) {
        let DirectColumns { segments, segment_steps, .. } = self.columns;
        let (unit, segment) = self.columns.segment(tile);
        let first = segment * segment_steps;
        let count = segment_steps.min(self.columns.length - first);
        let folds = &self.code.folds;
        let at = |operand: usize| {
            let offset = first as isize * self.reduced_strides[operand];
            self.first(bases, &unit, operand).wrapping_offset(offset)
        };
        // SAFETY:
        // - `at` returns addresses at the first step of the segment, and the caller ensures that its `count`
        //   steps are readable;
        // - a unit has the columns that `FoldSpec` requires for the function;
        // - `accumulators` counts lanes, nodes and results of a unit; `segment_results` counts those of each
        //   segment.
        unsafe {
            match &self.fold_function {
                Some(fold_function) => {
                    let trees = self.accumulators.folded_columns(memory, folds, unit.columns);
                    let trees = &trees[..folds.len()];
                    FoldTile::of_operands((&self.code, fold_function), trees, at, |tile| {
                        tile.fold(count);
                        tile.finish(count);
                    });
                }
                None => self.fold(|| self.trees(memory, &unit), at, count),
            }
            for (store, columns) in self.trees(memory, &unit).enumerate() {
                match segments {
                    1 => self.write(bases, &unit, store, &columns),
                    _ => self.segment_results.save(bases.shared, store, tile, &columns),
                }
            }
        }
    }

    /// Folds `count` steps in memory into the first nodes; `at` returns the address of an operand.
    ///
    /// # Safety
    /// - from `at` on, each stored access is valid for reads at `count` steps;
    /// - the trees have memory of this thread for their lanes and nodes.
    unsafe fn fold<'t, T: Iterator<Item = ColumnTree<'t>>>(
        &self,
        trees: impl Fn() -> T,
        at: impl Fn(usize) -> *mut u8,
        count: usize,
    ) {
        let stores = &self.code.nest.stores;
        // Several stores may fold the same values, so each chunk stays in L1 for all of them.
        let mut start = 0;
        while start < count {
            let end = count.min(start + MAX_DIRECT_STEPS);
            for (columns, store) in trees().zip(stores) {
                let operand = self.code.operand(self.code.register(store.source));
                let step_stride = self.reduced_strides[operand];
                let first = at(operand).wrapping_offset(start as isize * step_stride);
                // SAFETY: `start..end` is a part of the caller's `count` steps; each tree folds them in
                // order.
                unsafe { columns.fold(StepValues { first, step_stride }, start..end) }
            }
            start = end;
        }
        // SAFETY: each tree has folded `count` steps.
        trees().for_each(|columns| unsafe { columns.finish(count) });
    }

    /// Writes the results of a unit from the first nodes.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this unit;
    /// - the first nodes are its results, and the lanes are free.
    unsafe fn write(&self, bases: &Bases<'_>, unit: &Unit, store: usize, columns: &ColumnTree<'_>) {
        let results = ElementRun { count: unit.columns, stride: self.columns.column_stride(store) };
        // SAFETY: the caller ensures writable results and finished nodes; `accumulators` gives the lanes room
        // for the results of a unit.
        unsafe { columns.write(self.first(bases, unit, store), results) }
    }
}

impl BoundNest for BoundColumns {
    fn tiles(&self) -> usize {
        self.columns.units * self.columns.segments
    }

    fn tile_elements(&self) -> usize {
        self.tile_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.accumulators.bytes);
            for tile in tiles {
                // SAFETY: `tile` is one of the caller's `tiles`; `memory` belongs to this thread and has
                // `accumulators.bytes`.
                unsafe { self.reduce(bases, tile, memory) }
            }
        });
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        let segments = self.columns.segments;
        if segments == 1 {
            return;
        }
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.accumulators.bytes);
            for index in 0..self.columns.units {
                let unit = self.columns.unit(index);
                let unit_segments = index * segments..(index + 1) * segments;
                for (store, columns) in self.trees(memory, &unit).enumerate() {
                    // SAFETY: the caller ensures that all tiles have run, so each segment of the unit has
                    // saved its nodes.
                    unsafe {
                        self.segment_results.combine(
                            bases.shared,
                            store,
                            unit_segments.clone(),
                            &columns,
                        );
                        self.write(bases, &unit, store, &columns);
                    }
                }
            }
        });
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundColumns>(1);
        self.columns.count_bytes(memory_use);
        memory_use.add_small_vec(&self.reduced_strides);
        self.fold_function.iter().for_each(|fold_function| fold_function.count_bytes(memory_use));
        self.accumulators.count_bytes(memory_use);
        self.segment_results.count_bytes(memory_use);
    }
}
