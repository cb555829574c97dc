//! Partial results of the pieces of a reduced axis, in shared memory, and their combination. Holds unsafe
//! code.

use core::ops::Range;

use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::tiles::store_fold::{RESULT_ALIGNMENT, StoreFold};
use crate::tiles::tree::Columns;

/// Layout of the partial results in shared memory, in bytes.
#[derive(Debug, Default)]
pub(super) struct PieceResults {
    /// Offset of the first piece.
    first: usize,
    /// Offset of each store within a piece.
    stores: SmallVec<[usize; 2]>,
    /// Distance between pieces.
    stride: usize,
}

impl PieceResults {
    /// The layout from `first` on, for pieces of `width` columns.
    pub(super) fn new(first: usize, folds: &[StoreFold], width: usize) -> PieceResults {
        let mut left = PieceResults { first, ..PieceResults::default() };
        for fold in folds {
            left.stores.push(left.stride);
            left.stride += (width * fold.size).next_multiple_of(RESULT_ALIGNMENT);
        }
        left
    }

    /// End of the memory of this many pieces.
    pub(super) fn end(&self, pieces: usize) -> usize {
        self.first + pieces * self.stride
    }

    fn at(&self, shared: *mut u8, store: usize, piece: usize) -> *mut u8 {
        shared.wrapping_add(self.first + piece * self.stride + self.stores[store])
    }

    /// Copies the first node of a store to shared memory, for [`PieceResults::combine`].
    ///
    /// # Safety
    /// The node is the result of `piece`; shared memory has room for it, and no other piece writes there.
    pub(super) unsafe fn leave(
        &self,
        shared: *mut u8,
        store: usize,
        piece: usize,
        columns: &Columns<'_>,
    ) {
        let bytes = columns.width * columns.fold.size;
        // SAFETY: the caller vouches for the node and the room.
        unsafe { columns.nodes.copy_to_nonoverlapping(self.at(shared, store, piece), bytes) }
    }

    /// Combines the nodes of a unit's pieces into one node.
    ///
    /// # Safety
    /// All pieces have left their nodes; `columns` has memory for them.
    pub(super) unsafe fn combine(
        &self,
        shared: *mut u8,
        store: usize,
        pieces: Range<usize>,
        columns: &Columns<'_>,
    ) {
        // SAFETY: the caller vouches for the nodes. All pieces but the last have one size, so they are
        // nodes of one level.
        unsafe {
            for (index, piece) in pieces.clone().enumerate() {
                Columns { lanes: self.at(shared, store, piece), ..*columns }.add_node(index);
            }
            columns.merge_all(pieces.len());
        }
    }

    /// Counts the memory of the layout.
    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.stores);
    }
}
