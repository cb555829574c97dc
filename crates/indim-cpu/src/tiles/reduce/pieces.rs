//! What the pieces of a reduced axis leave in memory that threads share, and how that is combined. Holds
//! unsafe code.

use core::ops::Range;

use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::tiles::store_fold::{LEFT_ALIGNMENT, StoreFold};
use crate::tiles::tree::Columns;

/// Where pieces leave their nodes in shared memory, in bytes.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Those of the first piece.
    first: usize,
    /// Those of each store, from where those of the piece begin.
    stores: SmallVec<[usize; 2]>,
    /// From one piece to the next.
    stride: usize,
}

impl Left {
    /// From `first` on, of pieces of so many columns.
    pub(super) fn new(first: usize, folds: &[StoreFold], width: usize) -> Left {
        let mut left = Left { first, ..Left::default() };
        for fold in folds {
            left.stores.push(left.stride);
            left.stride += (width * fold.size).next_multiple_of(LEFT_ALIGNMENT);
        }
        left
    }

    /// Where so many pieces end.
    pub(super) fn end(&self, pieces: usize) -> usize {
        self.first + pieces * self.stride
    }

    fn at(&self, shared: *mut u8, store: usize, piece: usize) -> *mut u8 {
        shared.wrapping_add(self.first + piece * self.stride + self.stores[store])
    }

    /// Leaves the first node of a store for [`Left::combine`].
    ///
    /// # Safety
    /// It is what comes of `piece`; shared memory has room for it, which nobody else uses.
    pub(super) unsafe fn leave(
        &self,
        shared: *mut u8,
        store: usize,
        piece: usize,
        columns: &Columns<'_>,
    ) {
        let bytes = columns.width * columns.fold.size;
        // SAFETY: the caller's promise.
        unsafe { columns.nodes.copy_to_nonoverlapping(self.at(shared, store, piece), bytes) }
    }

    /// Makes one node of what the pieces of a unit have left of a store.
    ///
    /// # Safety
    /// They have; there is memory for the nodes.
    pub(super) unsafe fn combine(
        &self,
        shared: *mut u8,
        store: usize,
        pieces: Range<usize>,
        columns: &Columns<'_>,
    ) {
        // SAFETY: the caller's promise; pieces are of one size, but for the last, so that they are nodes of
        // one level.
        unsafe {
            for (index, piece) in pieces.clone().enumerate() {
                Columns { lanes: self.at(shared, store, piece), ..*columns }.add_node(index);
            }
            columns.merge_all(pieces.len());
        }
    }

    /// Counts the memory that it holds.
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.stores);
    }
}
