//! The code of a nest with a reduced axis, bound to strides. Holds unsafe code.
//!
//! - `rows.rs`, `columns.rs`: dense rows and columns, reduced in place;
//! - this file: other nests. A tile computes or gathers its values as in any nest, and the tree over their
//!   columns folds them;
//! - `single_tile.rs`: nests of one tile;
//! - `segments.rs`: if the reduced axis is cut, each segment saves its node of the tree in shared memory, and
//!   the nodes are combined at the end;
//! - `accumulators.rs`: the layout of lanes and nodes.

mod accumulators;
mod columns;
mod rows;
mod segments;
mod single_tile;

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Local, Store};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reduction::{
    NestPartition, ReducedAxes, ReductionNest, ReductionWalk, UnitForm, max_nodes, split_segments,
};
use indim_ops::meaning::reduction::REDUCTION_LANES;
use indim_targets::Function;
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::{INLINE_ITEMS, TileCode, element_sizes, short_list};
use crate::tiles::fold_function::FoldFunction;
use crate::tiles::fold_tile::FoldTile;
use crate::tiles::functions::Functions;
use crate::tiles::memory::ElementRun;
use crate::tiles::store_fold::segment_bytes;
use crate::tiles::tile::{Tile, WORKSPACE, Workspace};
use crate::tiles::tree::{ColumnTree, StepValues, is_sequential};
use crate::tiles::wiring::Wiring;
use accumulators::{AccumulatorCounts, Accumulators};
use columns::BoundColumns;
use rows::BoundRows;
use segments::SegmentResults;
use single_tile::SingleTile;

/// The code of a nest with a reduced axis, bound to the walks of its partitions.
#[derive(Debug)]
pub(crate) struct BoundReduction {
    code: Arc<TileCode>,
    partitions: Vec<BoundPartition>,
    /// Segments of all partitions.
    tiles: usize,
    tile_elements: usize,
}

/// The code of a partition, bound to its walk.
#[derive(Debug)]
struct BoundPartition {
    partition: NestPartition,
    wiring: Wiring,
    function: Option<Arc<Function>>,
    /// The function that folds the values it computes; `None` if values are computed before they are folded.
    fold_function: Option<FoldFunction>,
    stores: SmallVec<[BoundStore; 2]>,
    accumulators: Accumulators,
    segment_results: SegmentResults,
    /// The fast path, if the partition is one tile that needs at most one function call.
    single_tile: Option<SingleTile>,
}

/// The values and results of one store.
#[derive(Debug, Clone, Copy)]
struct BoundStore {
    source: ValueSource,
    /// Stride between results of a tile, in bytes.
    result_stride: isize,
}

/// The values of a store in a tile: their virtual register and stride.
#[derive(Debug, Clone, Copy)]
struct ValueSource {
    register: usize,
    /// Stride between steps of columns, or between rows, in bytes.
    step_stride: isize,
}

/// See [`bind`](crate::tiles::bind); the nest has a reduced axis.
pub(super) fn bind(
    code: &Arc<TileCode>,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
) -> Option<Arc<dyn BoundNest>> {
    let axes = nest.reduced_axes(nest.nest.reduced?, strides)?;
    let may_fold = code.fold_functions.as_deref().is_some_and(Functions::may_compile);
    let folded = may_fold.then(|| bind_with(code, nest, &axes, true)).flatten();
    folded.or_else(|| bind_with(code, nest, &axes, false))
}

/// Like [`bind`]; `folds` tells whether functions fold the values they compute.
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
        ReductionWalk::Partitions(partitions) => {
            Arc::new(BoundReduction::new(code, nest, &reducing, partitions)?)
        }
    })
}

/// The operands and axes of the nest, for the choice of a walk. Operands have elements of these sizes, in
/// bytes.
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
        block: code.block_elements,
        minimum_row: code.minimum_row(),
        is_direct: !code.computes(),
        folds,
        has_row_kernels: code.folds.iter().all(|fold| fold.rows.is_some()),
        has_lanes: code.folds.iter().any(|fold| !is_sequential(fold, REDUCTION_LANES, axes.length)),
        joins_axes: true,
    }
}

impl BoundReduction {
    /// Returns `None` if a function is not available.
    fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        reducing: &ReductionNest<'_>,
        walked: Vec<NestPartition>,
    ) -> Option<Self> {
        let mut partitions = Vec::with_capacity(walked.len());
        // Partitions are large values, so a push for each is faster than `collect`.
        for partition in walked {
            partitions.push(BoundPartition::new(code, nest, partition)?);
        }
        let has_short_rows = |bound: &BoundPartition| {
            let is_computed = bound.fold_function.is_none() && !bound.partition.has_few_rows();
            is_computed && bound.wiring.has_short_rows(code, &bound.partition.walk)
        };
        if partitions.iter().any(has_short_rows) {
            // The function just compiled has longer steps than assumed and would run these rows slowly, so
            // this binding gathers them.
            let reducing = ReductionNest { minimum_row: code.minimum_row(), ..*reducing };
            return BoundReduction::new(code, nest, &reducing, reducing.partitions());
        }
        let mut shared = 0;
        for bound in partitions.iter_mut().filter(|bound| bound.partition.is_cut()) {
            bound.segment_results =
                SegmentResults::new(shared, &code.folds, width(&bound.partition));
            shared = bound.segment_results.end(bound.partition.segments());
        }
        debug_assert!(
            shared <= segment_bytes(nest, &code.folds),
            "`shared_bytes` counts this memory"
        );
        let tiles = partitions.iter().map(|bound| bound.partition.segments()).sum();
        let tile_elements = nest.points_per(tiles);
        Some(BoundReduction { code: Arc::clone(code), partitions, tiles, tile_elements })
    }
}

impl BoundPartition {
    /// Returns `None` if a function is not available.
    fn new(code: &TileCode, nest: &SizedNest<'_>, partition: NestPartition) -> Option<Self> {
        let folds = partition.folds;
        let mut in_blocks: SmallVec<[bool; INLINE_ITEMS]> = SmallVec::from_slice(&code.needs_block);
        for store in code.nest.stores.iter().filter(|_| !partition.is_direct && !folds) {
            if let Local::Access(index) = store.source {
                in_blocks[index] = true;
            }
        }
        let wiring = Wiring::new(code, nest, &partition.walk, &in_blocks, &[], folds);
        let width = width(&partition);
        let (function, fold_function) = match folds {
            true => (None, Some(FoldFunction::new(code, nest, &partition, &wiring, width)?)),
            false => (wiring.find_function(code)?, None),
        };
        let finished = partition.results(partition.walk.tile_steps);
        let length = nest.length();
        let lanes = fold_function
            .as_ref()
            .map_or(REDUCTION_LANES, |fold_function| fold_function.accumulators(&partition));
        let columns = if folds { finished.max(width) } else { width };
        let nodes = max_nodes(length) * columns;
        let counts = AccumulatorCounts { lanes: lanes * width, nodes, results: finished };
        let accumulators = Accumulators::new(&code.folds, counts, |fold| match &fold_function {
            Some(fold_function) => fold_function.is_sequential(),
            None => is_sequential(fold, width, length),
        });
        let mut stores = SmallVec::new();
        for (store, result_stride) in code.nest.stores.iter().zip(&partition.result_strides) {
            let source = source(code, &partition, store);
            stores.push(BoundStore { source, result_stride: *result_stride });
        }
        let single_tile = SingleTile::new(code, &partition.walk, &wiring, accumulators.bytes);
        let segment_results = SegmentResults::default();
        Some(BoundPartition {
            partition,
            wiring,
            function,
            fold_function,
            stores,
            accumulators,
            segment_results,
            single_tile,
        })
    }
}

/// Columns that are reduced together; 1 if units are rows.
fn width(partition: &NestPartition) -> usize {
    match partition.form {
        UnitForm::Columns(columns) => columns,
        UnitForm::Row(_) => 1,
    }
}

/// The register of a store's values, and the stride between steps or rows: of the array if it is read in
/// place, else of a dense tile.
fn source(code: &TileCode, partition: &NestPartition, store: &Store) -> ValueSource {
    let dense = (partition.form.dense_stride() * code.nest.dtype(store.source).size()) as isize;
    let step_stride = match store.source {
        Local::Access(index) if partition.is_direct => {
            partition.walk.operands[code.operand(index)].step_stride
        }
        _ => dense,
    };
    ValueSource { register: code.register(store.source), step_stride }
}

impl BoundNest for BoundReduction {
    fn tiles(&self) -> usize {
        self.tiles
    }

    fn tile_elements(&self) -> usize {
        self.tile_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        if let [only] = &self.partitions[..] {
            // SAFETY: the segments of the only partition are the tiles of the nest, in order.
            return unsafe { only.run(&self.code, bases, tiles) };
        }
        let segments = split_segments(self.partitions.iter().map(|bound| &bound.partition), tiles);
        for (bound, own) in self.partitions.iter().zip(segments).filter(|(_, own)| !own.is_empty())
        {
            // SAFETY: `split_segments` returns for each partition its segments among the caller's `tiles`.
            unsafe { bound.run(&self.code, bases, own) }
        }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for bound in self.partitions.iter().filter(|bound| bound.partition.is_cut()) {
            // SAFETY: the caller ensures that all tiles have run, which are the segments of all partitions.
            unsafe { bound.finish(&self.code, bases) }
        }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundReduction>(1);
        memory_use.add_allocation::<BoundPartition>(self.partitions.capacity());
        for partition in &self.partitions {
            partition.partition.walk.count_bytes(memory_use);
            partition.wiring.count_bytes(memory_use);
            memory_use.add_small_vec(&partition.stores);
            partition
                .fold_function
                .iter()
                .for_each(|fold_function| fold_function.count_bytes(memory_use));
            partition.accumulators.count_bytes(memory_use);
            partition.segment_results.count_bytes(memory_use);
            memory_use.add_small_vec(&partition.partition.result_strides);
            partition
                .single_tile
                .iter()
                .for_each(|single_tile| single_tile.count_bytes(memory_use));
        }
    }
}

impl BoundPartition {
    /// # Safety
    /// Like [`BoundNest::run`], for segments of this partition.
    unsafe fn run(&self, code: &TileCode, bases: &Bases<'_>, segments: Range<usize>) {
        if let Some(single_tile) = &self.single_tile {
            // SAFETY: `SingleTile::new` has checked that the partition is one tile, which is the caller's
            // segment.
            return unsafe { single_tile.run(self, code, bases.operands) };
        }
        let (first, _) = self.partition.tiles_of(segments.start);
        self.reduce(code, bases, |reduction, outer, offsets| {
            let mut position = Position::new(&self.partition.walk, first, outer, offsets);
            for segment in segments {
                // SAFETY:
                // - `position` is at the first tile of `segment`, one of the caller's segments;
                // - `reduce` has prepared the workspace and the trees, in memory of the size that `new`
                //   computed.
                unsafe {
                    match self.partition.form {
                        UnitForm::Columns(_) => reduction.reduce_columns(&mut position, segment),
                        UnitForm::Row(length) => reduction.reduce_rows(&mut position, length),
                    }
                }
            }
        });
    }

    /// # Safety
    /// Like [`BoundNest::finish`], for the units of this partition, whose axis is cut.
    unsafe fn finish(&self, code: &TileCode, bases: &Bases<'_>) {
        let segments = self.partition.segments_along_axis();
        self.reduce(code, bases, |reduction, outer, offsets| {
            for first in (0..self.partition.segments()).step_by(segments) {
                let tile = self.partition.tiles_of(first).0;
                let position = Position::new(&self.partition.walk, tile, outer, offsets);
                // SAFETY: `position` is at the unit, and the caller ensures that all its segments have run.
                unsafe { reduction.combine_segments(&position, first..first + segments) }
            }
        });
    }

    /// Calls `work` with the state of a run and the memory of a [`Position`].
    fn reduce(
        &self,
        code: &TileCode,
        bases: &Bases<'_>,
        work: impl FnOnce(&mut SegmentReduction<'_>, &mut Vec<usize>, &mut Vec<isize>),
    ) {
        let (walk, wiring) = (&self.partition.walk, &self.wiring);
        WORKSPACE.with_borrow_mut(|workspace| {
            workspace.prepare(code, wiring);
            let accumulators = workspace.accumulators(self.accumulators.bytes);
            let Workspace { registers, operands, gathered, outer, offsets, .. } = workspace;
            let function = self.function.as_deref();
            let tile = Tile {
                code,
                walk,
                wiring,
                function,
                bases: bases.operands,
                registers,
                operands,
                gathered,
            };
            let width = width(&self.partition);
            let folds = code.folds.iter().enumerate();
            let trees = folds.map(|fold| self.accumulators.columns(accumulators, fold, width));
            let trees = short_list(trees);
            let shared = bases.shared;
            work(&mut SegmentReduction { bound: self, trees, tile, shared }, outer, offsets);
        });
    }
}

/// The state of a run over segments.
struct SegmentReduction<'a> {
    bound: &'a BoundPartition,
    /// For each store, its tree.
    trees: SmallVec<[ColumnTree<'a>; INLINE_ITEMS]>,
    tile: Tile<'a>,
    shared: *mut u8,
}

impl SegmentReduction<'_> {
    /// Reduces a segment of a unit of columns and advances the position past it.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this segment;
    /// - `position` is at the first tile of the segment.
    unsafe fn reduce_columns(&mut self, position: &mut Position<'_>, segment: usize) {
        let BoundPartition { partition, fold_function, segment_results, .. } = self.bound;
        let (_, tiles) = partition.tiles_of(segment);
        let mut step = 0;
        for index in 0..tiles {
            let steps = step..step + position.steps;
            step = steps.end;
            let is_last = index + 1 == tiles;
            // SAFETY:
            // - `position` is at a tile of the caller's segment, whose earlier tiles have been folded;
            // - after the last tile the first nodes are the results of the segment, and the lanes are free;
            // - only this segment writes its part of shared memory.
            unsafe {
                match fold_function {
                    Some(fold_function) => {
                        self.fold_computed(fold_function, position, steps.start, |tile| {
                            tile.fold(steps.len());
                            if is_last {
                                tile.finish(steps.end);
                            }
                        })
                    }
                    None => self.compute_and_fold(position, steps, is_last),
                }
                for (store, columns) in self.trees.iter().enumerate().filter(|_| is_last) {
                    match partition.is_cut() {
                        true => segment_results.save(self.shared, store, segment, columns),
                        false => self.write(position, store, columns.width),
                    }
                }
            }
            position.advance();
        }
    }

    /// The values of a store in the current tile, after they have been computed.
    fn values(&self, store: usize) -> StepValues {
        let ValueSource { register, step_stride } = self.bound.stores[store].source;
        StepValues { first: self.tile.address(register), step_stride }
    }

    /// Computes the values of a tile and folds them.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tile at `position`;
    /// - the earlier tiles of its segment, steps `0..steps.start`, have been folded.
    unsafe fn compute_and_fold(
        &mut self,
        position: &Position<'_>,
        steps: Range<usize>,
        is_last: bool,
    ) {
        // SAFETY:
        // - the nest has no direct stores, so `compute` needs no bound ones;
        // - `compute` fills the registers that `values` reads;
        // - the tree has the steps before `steps`, in memory of the size that `new` computed.
        unsafe {
            self.tile.compute(position);
            for (store, columns) in self.trees.iter().enumerate() {
                columns.fold(self.values(store), steps.clone());
                if is_last {
                    columns.finish(steps.end);
                }
            }
        }
    }

    /// Calls `work` with the tile at `position` and the function that folds its values; `first` is the first
    /// step of the tile.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for this tile.
    unsafe fn fold_computed(
        &mut self,
        fold_function: &FoldFunction,
        position: &Position<'_>,
        first: usize,
        work: impl FnOnce(&FoldTile<'_>),
    ) {
        // SAFETY: the caller has the obligations for this tile, and `reduce` has prepared the workspace.
        unsafe { self.tile.bind(position) }
        let Some(functions) = &self.tile.code.fold_functions else { return };
        self.tile.operands.clear();
        self.tile
            .operands
            .extend(functions.inputs.iter().map(|&register| self.tile.registers[register]));
        let (columns, inputs) = (&self.trees[..], &self.tile.operands[..]);
        work(&FoldTile { fold_function, columns, inputs, first });
    }

    /// Reduces a tile of whole rows and advances the position past it.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for the tile at `position`.
    unsafe fn reduce_rows(&mut self, position: &mut Position<'_>, length: usize) {
        let count = self.bound.partition.results(position.steps);
        // SAFETY:
        // - the caller has the obligations for this tile, and `compute` fills the registers that `values`
        //   reads;
        // - the accumulators have room for the results of a tile, which `new` counted.
        unsafe {
            if let Some(fold_function) = &self.bound.fold_function {
                self.fold_computed(fold_function, position, 0, |tile| {
                    tile.fold_rows(count, length)
                });
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

    /// Combines the partial results of the segments of one unit and writes the results.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::finish`], for the unit at `position`;
    /// - `segments` are those of this unit.
    unsafe fn combine_segments(&self, position: &Position<'_>, segments: Range<usize>) {
        for (store, columns) in self.trees.iter().enumerate() {
            // SAFETY: each segment has run and saved its nodes; after `combine` the first node is the result.
            unsafe {
                self.bound.segment_results.combine(self.shared, store, segments.clone(), columns);
                self.write(position, store, columns.width);
            }
        }
    }

    /// Writes `count` results from the first nodes.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the results at `position`;
    /// - the first `count` nodes are the results, and the lanes are free.
    unsafe fn write(&self, position: &Position<'_>, store: usize, count: usize) {
        let to = self.tile.tile_address(store, position);
        let run = ElementRun { count, stride: self.bound.stores[store].result_stride };
        // SAFETY: the caller ensures writable results and finished nodes; `Accumulators` gives the lanes room
        // for the results of a tile.
        unsafe { self.trees[store].write(to, run) }
    }
}
