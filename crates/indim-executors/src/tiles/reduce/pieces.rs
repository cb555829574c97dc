//! Partial results of the pieces of a reduced axis in shared memory, and their combination. Holds unsafe
//! code.

use core::ops::Range;

use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::tiles::store_fold::{RESULT_ALIGNMENT, StoreFold};
use crate::tiles::tree::Columns;

/// The layout of the partial results in shared memory, in bytes.
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
    /// The layout from offset `first` on, for pieces of `width` columns.
    pub(super) fn new(first: usize, folds: &[StoreFold], width: usize) -> PieceResults {
        let mut layout = PieceResults { first, ..PieceResults::default() };
        for fold in folds {
            layout.stores.push(layout.stride);
            layout.stride += (width * fold.size).next_multiple_of(RESULT_ALIGNMENT);
        }
        layout
    }

    /// Offset after the last of this many pieces.
    pub(super) fn end(&self, pieces: usize) -> usize {
        self.first + pieces * self.stride
    }

    /// Address of the partial result of a piece for a store.
    fn at(&self, shared: *mut u8, store: usize, piece: usize) -> *mut u8 {
        shared.wrapping_add(self.first + piece * self.stride + self.stores[store])
    }

    /// Copies the first node of a store to shared memory, for [`PieceResults::combine`].
    ///
    /// # Safety
    /// - the first node of `columns` is the result of `piece`;
    /// - `shared` has room for the layout, and no other thread accesses the part of `piece`.
    pub(super) unsafe fn save(
        &self,
        shared: *mut u8,
        store: usize,
        piece: usize,
        columns: &Columns<'_>,
    ) {
        let bytes = columns.width * columns.fold.size;
        // SAFETY: the caller ensures an initialised node of `columns.width` accumulators, and room for it in
        // other memory.
        unsafe { columns.nodes.copy_to_nonoverlapping(self.at(shared, store, piece), bytes) }
    }

    /// Combines the saved nodes of the pieces of a unit into the first node.
    ///
    /// # Safety
    /// - each of `pieces` has saved its nodes, and no thread writes them;
    /// - `columns` has room for the nodes of a tree over the pieces.
    pub(super) unsafe fn combine(
        &self,
        shared: *mut u8,
        store: usize,
        pieces: Range<usize>,
        columns: &Columns<'_>,
    ) {
        // SAFETY:
        // - the caller ensures the saved node of each piece, which takes the place of the first lane;
        // - all pieces except the last have the same number of blocks, so they are nodes of one level, added
        //   in order.
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
