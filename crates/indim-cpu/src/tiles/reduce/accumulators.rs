//! Where a thread has the accumulators of a reduction: of each store lanes, and behind them nodes.

use indim_loops::MemoryUse;
use indim_targets::MAX_FOLDS;
use smallvec::SmallVec;

use crate::tiles::store_fold::StoreFold;
use crate::tiles::tree::Columns;

/// The accumulators of all stores, in bytes from where those of a thread begin.
#[derive(Debug)]
pub(super) struct Accumulators {
    stores: SmallVec<[OfStore; 2]>,
    /// The bytes of all.
    pub(super) bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct OfStore {
    lanes: usize,
    nodes: usize,
    /// Whether values are taken in turn.
    in_turn: bool,
}

/// How many accumulators a store has at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) lanes: usize,
    pub(super) nodes: usize,
    /// The results that come of them at once.
    pub(super) results: usize,
}

impl Accumulators {
    /// So many for each store, whose values are taken in turn, or not.
    pub(super) fn new(
        folds: &[StoreFold],
        counts: Counts,
        in_turn: impl Fn(&StoreFold) -> bool,
    ) -> Accumulators {
        let Counts { lanes, nodes, results } = counts;
        let mut all = Accumulators { stores: SmallVec::new(), bytes: 0 };
        for fold in folds {
            let first = all.bytes;
            // The lanes make room for the finished results.
            let most = (lanes * fold.size).max(results * fold.result_size);
            let second = first + most.next_multiple_of(64);
            all.bytes = second + (nodes.max(results) * fold.size).next_multiple_of(64);
            all.stores.push(OfStore { lanes: first, nodes: second, in_turn: in_turn(fold) });
        }
        all
    }

    /// The tree over so many columns of a store, in this memory.
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

    /// The trees over so many columns of all stores that a function folds: as many as there are stores, and
    /// then the last of them again.
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

    /// Counts the memory that it holds.
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.stores);
    }
}
