//! Arg-reductions: the code of a nest of argmax and argmin, bound to strides. Holds unsafe code.
//!
//! Columns are reduced block by block: each column keeps its extreme so far, with its index or its block.
//! Long rows are folded to their extreme and then searched for it; short rows are transposed and reduced as
//! columns. If the axis is cut, the results of the segments are merged in the same way.
//!
//! - `array_operand.rs`: arrays in memory, whose blocks can be read twice;
//! - `computed_operand.rs`: computed values, tile by tile, while each tile is in L1;
//! - `state.rs`: the memory of extremes and indices.

mod array_operand;
mod computed_operand;
mod state;

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::walk::position::Position;
use indim_loops::walk::reduction::{NestPartition, split_segments};
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::store_fold::{accumulator_bytes, segment_bytes};
use crate::tiles::tile::{WORKSPACE, Workspace};
use array_operand::ArrayOperand;
use computed_operand::ComputedOperand;
use state::{StoreArgReduction, StoreState};

/// The code of a nest of arg-reductions, bound to the walks of its partitions.
#[derive(Debug)]
pub(crate) struct BoundArgReduction {
    code: Arc<TileCode>,
    partitions: Vec<ArgReductionPartition>,
    /// Segments of all partitions.
    tiles: usize,
    tile_elements: usize,
}

/// A partition of the nest with its arg-reductions.
#[derive(Debug)]
struct ArgReductionPartition {
    partition: NestPartition,
    reductions: SmallVec<[StoreArgReduction; 1]>,
    /// Bytes of memory that a thread needs.
    bytes: usize,
    operand: PartitionOperand,
}

/// The operand of arg-reductions.
#[derive(Debug)]
enum PartitionOperand {
    /// An array in memory, for one store.
    Array(ArrayOperand),
    /// Computed values, for all stores.
    Computed(Box<ComputedOperand>),
}

impl BoundArgReduction {
    /// See [`bind`](crate::tiles::bind); the nest has arg-reductions. Also returns `None` if a function is
    /// not available.
    pub(crate) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
    ) -> Option<Self> {
        let accesses = nest.nest.stores.iter().map(|store| match store.source {
            Local::Access(access) => Some(access),
            Local::Instruction(_) => None,
        });
        let mut partitions = match accesses.collect::<Option<SmallVec<[usize; 2]>>>() {
            Some(accesses) => array_operand::partitions(code, nest, &accesses, strides)?,
            None => computed_operand::partitions(code, nest, strides)?,
        };
        let mut shared = 0;
        for ArgReductionPartition { partition, reductions, .. } in
            partitions.iter_mut().filter(|it| it.partition.is_cut())
        {
            for reduction in reductions {
                shared = reduction.reserve_segments(
                    shared,
                    partition.segments(),
                    &code.folds[reduction.store],
                );
            }
        }
        let max_bytes = partitions.iter().map(|partition| partition.bytes).max().unwrap_or(0);
        debug_assert!(max_bytes <= accumulator_bytes(nest, &code.folds), "it has been counted");
        debug_assert!(shared <= segment_bytes(nest, &code.folds), "it has been counted");
        let tiles = partitions.iter().map(|partition| partition.partition.segments()).sum();
        let tile_elements = nest.points_per(tiles);
        Some(BoundArgReduction { code: Arc::clone(code), partitions, tiles, tile_elements })
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
        let segments =
            split_segments(self.partitions.iter().map(|partition| &partition.partition), tiles);
        for (partition, own) in
            self.partitions.iter().zip(segments).filter(|(_, own)| !own.is_empty())
        {
            // SAFETY: `split_segments` returns for each partition its segments among the caller's `tiles`.
            unsafe { partition.run(&self.code, bases, own) }
        }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for partition in self.partitions.iter().filter(|partition| partition.partition.is_cut()) {
            // SAFETY: the caller ensures that all tiles have run, which are the segments of all partitions.
            unsafe { partition.finish(&self.code, bases) }
        }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundArgReduction>(1);
        memory_use.add_allocation::<ArgReductionPartition>(self.partitions.capacity());
        for partition in &self.partitions {
            partition.partition.walk.count_bytes(memory_use);
            memory_use.add_small_vec(&partition.partition.result_strides);
            memory_use.add_small_vec(&partition.reductions);
            if let PartitionOperand::Computed(computed) = &partition.operand {
                memory_use.add_allocation::<ComputedOperand>(1);
                computed.count_bytes(memory_use);
            }
        }
    }
}

impl ArgReductionPartition {
    /// Reduces these segments.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for segments of this partition.
    unsafe fn run(&self, code: &TileCode, bases: &Bases<'_>, segments: Range<usize>) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let partition_run = PartitionRun { code, partition: self, bases, memory };
            // SAFETY: the caller has the obligations for these segments; `memory` belongs to this thread and
            // has `bytes`.
            unsafe {
                match &self.operand {
                    PartitionOperand::Array(operand) => {
                        operand.reduce(&partition_run, workspace, segments)
                    }
                    PartitionOperand::Computed(operand) => {
                        operand.reduce(&partition_run, workspace, segments)
                    }
                }
            }
        });
    }

    /// Merges the results of the segments of each unit and writes the results.
    ///
    /// # Safety
    /// Like [`BoundNest::finish`], for the units of this partition, whose axis is cut.
    unsafe fn finish(&self, code: &TileCode, bases: &Bases<'_>) {
        let segments = self.partition.segments_along_axis();
        WORKSPACE.with_borrow_mut(|workspace| {
            let memory = workspace.accumulators(self.bytes);
            let partition_run = PartitionRun { code, partition: self, bases, memory };
            for first in (0..self.partition.segments()).step_by(segments) {
                let position = partition_run.position(workspace, first);
                for (index, state) in partition_run.states().enumerate() {
                    // SAFETY: the caller ensures that all segments of the unit have run, so each has its
                    // extremes in shared memory, with indices along the whole axis.
                    unsafe {
                        let best = state.combine(first..first + segments);
                        state.write(partition_run.target(index, &position), best);
                    }
                }
            }
        });
    }
}

/// A run of a partition: its operands and the memory of the thread.
struct PartitionRun<'a> {
    code: &'a TileCode,
    partition: &'a ArgReductionPartition,
    bases: &'a Bases<'a>,
    memory: *mut u8,
}

impl<'a> PartitionRun<'a> {
    /// The arg-reductions of the partition with their memory, in the order of `reductions`.
    fn states(&self) -> impl Iterator<Item = StoreState<'a>> {
        let PartitionRun { code, partition, bases, memory } = *self;
        partition.reductions.iter().map(move |reduction| {
            let fold = &code.folds[reduction.store];
            StoreState { reduction, fold, memory, shared: bases.shared }
        })
    }

    /// The position of a segment's first tile.
    fn position<'w>(&self, workspace: &'w mut Workspace, segment: usize) -> Position<'w>
    where
        'a: 'w,
    {
        let Workspace { outer, offsets, .. } = workspace;
        let partition = &self.partition.partition;
        Position::new(&partition.walk, partition.tiles_of(segment).0, outer, offsets)
    }

    /// Address of the results of an arg-reduction. The targets are the first operands of the walk.
    fn target(&self, reduction: usize, position: &Position<'_>) -> *mut u8 {
        let store = self.partition.reductions[reduction].store;
        self.bases.operands[store].wrapping_offset(position.offset(reduction))
    }

    /// The number of the segment if its result goes to shared memory; `None` if it goes to the output.
    fn shared_segment(&self, segment: usize) -> Option<usize> {
        self.partition.partition.is_cut().then_some(segment)
    }

    /// The steps of a segment along the reduced axis.
    fn steps(&self, segment: usize) -> Range<usize> {
        let NestPartition { walk, .. } = &self.partition.partition;
        let (first, tiles) = self.partition.partition.tiles_of(segment);
        let start = first % walk.tiles_along_axis * walk.tile_steps;
        start..walk.tile_axis.min(start + tiles * walk.tile_steps)
    }

    /// Writes the results of a segment, or completes its results in shared memory.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this segment;
    /// - all its tiles have been reduced, with indices from the start of the segment;
    /// - `position` is at one of its tiles.
    unsafe fn end_segment(&self, position: &Position<'_>, segment: usize) {
        for (index, state) in self.states().enumerate() {
            let shared_segment = self.shared_segment(segment);
            let best = state.extremes_of(shared_segment);
            // SAFETY: the caller ensures that `best` has the index of each column, and that the results at
            // `position` are writable.
            unsafe {
                match shared_segment {
                    Some(_) => state.shift(best, self.steps(segment).start),
                    None => state.write(self.target(index, position), best),
                }
            }
        }
    }
}
