//! Layout of a reduction's accumulators in a thread's memory: for each store lanes, then nodes.

use indim_loops::MemoryUse;
use indim_targets::MAX_FOLDS;
use smallvec::SmallVec;

use crate::tiles::store_fold::StoreFold;
use crate::tiles::tree::Columns;

/// Offsets of the accumulators of all stores, in bytes.
#[derive(Debug)]
pub(super) struct Accumulators {
    stores: SmallVec<[OfStore; 2]>,
    /// Bytes of all accumulators.
    pub(super) bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct OfStore {
    lanes: usize,
    nodes: usize,
    /// Whether values are folded in turn.
    in_turn: bool,
}

/// Number of accumulators of a store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) lanes: usize,
    pub(super) nodes: usize,
    /// Results finished at once.
    pub(super) results: usize,
}

impl Accumulators {
    /// The layout for these counts; a store folds its values in turn or by lanes.
    pub(super) fn new(
        folds: &[StoreFold],
        counts: Counts,
        in_turn: impl Fn(&StoreFold) -> bool,
    ) -> Accumulators {
        let Counts { lanes, nodes, results } = counts;
        let mut all = Accumulators { stores: SmallVec::new(), bytes: 0 };
        for fold in folds {
            let first = all.bytes;
            // Finished results reuse the memory of the lanes.
            let most = (lanes * fold.size).max(results * fold.result_size);
            let second = first + most.next_multiple_of(64);
            all.bytes = second + (nodes.max(results) * fold.size).next_multiple_of(64);
            all.stores.push(OfStore { lanes: first, nodes: second, in_turn: in_turn(fold) });
        }
        all
    }

    /// The tree over `width` columns of a store, in this memory.
    #[inline]
    pub(super) fn columns<'f>(
        &self,
        memory: *mut u8,
        (store, fold): (usize, &'f StoreFold),
        width: usize,
    ) -> Columns<'f> {
        let OfStore { lanes, nodes, in_turn } = self.stores[store];
        let (lanes, nodes) = (memory.wrapping_add(lanes), memory.wrapping_add(nodes));
        Columns { fold, width, lanes, nodes, in_turn }
    }

    /// The trees over `width` columns for a function that folds all stores; the last tree is repeated to
    /// fill the list.
    #[inline]
    pub(super) fn folded_columns<'f>(
        &self,
        memory: *mut u8,
        folds: &'f [StoreFold],
        width: usize,
    ) -> [Columns<'f>; MAX_FOLDS] {
        core::array::from_fn(|store| {
            let store = store.min(folds.len() - 1);
            self.columns(memory, (store, &folds[store]), width)
        })
    }

    /// Counts the memory of the layout.
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.stores);
    }
}
