//! Layout of the accumulators of a reduction in the memory of a thread: for each store its lanes, then its
//! nodes.

use indim_loops::MemoryUse;
use indim_targets::MAX_FOLDS;
use smallvec::SmallVec;

use crate::tiles::store_fold::StoreFold;
use crate::tiles::tree::ColumnTree;

/// The layout of the accumulators of all stores.
#[derive(Debug)]
pub(super) struct Accumulators {
    stores: SmallVec<[StoreOffsets; 2]>,
    /// Bytes of all accumulators.
    pub(super) bytes: usize,
}

/// Offsets of the accumulators of one store, in bytes.
#[derive(Debug, Clone, Copy)]
struct StoreOffsets {
    lanes: usize,
    nodes: usize,
    /// Whether the fold is sequential.
    is_sequential: bool,
}

/// Numbers of accumulators of each store.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccumulatorCounts {
    pub(super) lanes: usize,
    pub(super) nodes: usize,
    /// Number of results of a tile. They are the first nodes; their conversion overwrites the lanes.
    pub(super) results: usize,
}

impl Accumulators {
    /// The layout for these counts; `is_sequential` tells whether a fold is sequential.
    pub(super) fn new(
        folds: &[StoreFold],
        counts: AccumulatorCounts,
        is_sequential: impl Fn(&StoreFold) -> bool,
    ) -> Accumulators {
        let AccumulatorCounts { lanes, nodes, results } = counts;
        let mut accumulators = Accumulators { stores: SmallVec::new(), bytes: 0 };
        for fold in folds {
            let first = accumulators.bytes;
            // Results reuse the memory of the lanes.
            let lane_bytes = (lanes * fold.size).max(results * fold.result_size);
            let second = first + lane_bytes.next_multiple_of(64);
            accumulators.bytes = second + (nodes.max(results) * fold.size).next_multiple_of(64);
            accumulators.stores.push(StoreOffsets {
                lanes: first,
                nodes: second,
                is_sequential: is_sequential(fold),
            });
        }
        accumulators
    }

    /// The tree over `width` columns of a store, in `memory`.
    #[inline]
    pub(super) fn columns<'f>(
        &self,
        memory: *mut u8,
        (store, fold): (usize, &'f StoreFold),
        width: usize,
    ) -> ColumnTree<'f> {
        let StoreOffsets { lanes, nodes, is_sequential } = self.stores[store];
        let (lanes, nodes) = (memory.wrapping_add(lanes), memory.wrapping_add(nodes));
        ColumnTree { fold, width, lanes, nodes, is_sequential }
    }

    /// The trees over `width` columns of all stores, for a function that folds. The last tree is repeated to
    /// fill the array.
    #[inline]
    pub(super) fn folded_columns<'f>(
        &self,
        memory: *mut u8,
        folds: &'f [StoreFold],
        width: usize,
    ) -> [ColumnTree<'f>; MAX_FOLDS] {
        core::array::from_fn(|store| {
            let store = store.min(folds.len() - 1);
            self.columns(memory, (store, &folds[store]), width)
        })
    }

    /// Counts the memory of the layout.
    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.stores);
    }
}
