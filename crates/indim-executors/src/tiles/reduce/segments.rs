//! Partial results of the segments of a reduced axis in shared memory, and their combination. Holds unsafe
//! code.

use core::ops::Range;

use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::tiles::store_fold::{RESULT_ALIGNMENT, StoreFold};
use crate::tiles::tree::ColumnTree;

/// The layout of the partial results in shared memory, in bytes.
#[derive(Debug, Default)]
pub(super) struct SegmentResults {
    /// Offset of the first segment.
    first: usize,
    /// Offset of each store within a segment.
    stores: SmallVec<[usize; 2]>,
    /// Distance between segments.
    stride: usize,
}

impl SegmentResults {
    /// The layout from offset `first` on, for segments of `width` columns.
    pub(super) fn new(first: usize, folds: &[StoreFold], width: usize) -> SegmentResults {
        let mut layout = SegmentResults { first, ..SegmentResults::default() };
        for fold in folds {
            layout.stores.push(layout.stride);
            layout.stride += (width * fold.size).next_multiple_of(RESULT_ALIGNMENT);
        }
        layout
    }

    /// Offset after the last of this many segments.
    pub(super) fn end(&self, segments: usize) -> usize {
        self.first + segments * self.stride
    }

    /// Address of the partial result of a segment for a store.
    fn at(&self, shared: *mut u8, store: usize, segment: usize) -> *mut u8 {
        shared.wrapping_add(self.first + segment * self.stride + self.stores[store])
    }

    /// Copies the first node of a store to shared memory, for [`SegmentResults::combine`].
    ///
    /// # Safety
    /// - the first node of `columns` is the result of `segment`;
    /// - `shared` has room for the layout, and no other thread accesses the part of `segment`.
    pub(super) unsafe fn save(
        &self,
        shared: *mut u8,
        store: usize,
        segment: usize,
        columns: &ColumnTree<'_>,
    ) {
        let bytes = columns.width * columns.fold.size;
        // SAFETY: the caller ensures an initialised node of `columns.width` accumulators, and room for it in
        // other memory.
        unsafe { columns.nodes.copy_to_nonoverlapping(self.at(shared, store, segment), bytes) }
    }

    /// Combines the saved nodes of the segments of a unit into the first node.
    ///
    /// # Safety
    /// - each of `segments` has saved its nodes, and no thread writes them;
    /// - `columns` has room for the nodes of a tree over the segments.
    pub(super) unsafe fn combine(
        &self,
        shared: *mut u8,
        store: usize,
        segments: Range<usize>,
        columns: &ColumnTree<'_>,
    ) {
        // SAFETY:
        // - the caller ensures the saved node of each segment, which takes the place of the first lane;
        // - all segments except the last have the same number of blocks, so they are nodes of one level,
        //   added in order.
        unsafe {
            for (index, segment) in segments.clone().enumerate() {
                ColumnTree { lanes: self.at(shared, store, segment), ..*columns }.add_node(index);
            }
            columns.merge_all(segments.len());
        }
    }

    /// Counts the memory of the layout.
    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.stores);
    }
}
