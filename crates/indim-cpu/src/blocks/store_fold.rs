//! What a nest with a reduced axis calls for each of its stores, and the memory that it takes.

use indim_kernels::{FoldFn, KernelFn, Level, convert_kernel, fold_function};
use indim_loops::loop_nest::{LoopNest, Store};
use indim_ops::meaning::reduction::{BLOCK, LANES};

use crate::walk::reducing::{DIRECT_COLUMNS, MOST_PIECES, PIECE_ELEMENTS};

/// What a store of a reduced axis calls.
#[derive(Debug)]
pub(crate) struct StoreFold {
    /// Takes values into accumulators.
    pub(crate) take: FoldFn,
    /// Takes accumulators into accumulators.
    pub(crate) combine: FoldFn,
    /// Makes results of accumulators: any NaN the canonical one.
    pub(crate) finish: KernelFn,
    /// The bytes of an accumulator, and of a value.
    pub(crate) size: usize,
    pub(crate) source_size: usize,
}

impl StoreFold {
    /// What each store of the nest calls; of a nest without a reduced axis none do.
    pub(crate) fn of(nest: &LoopNest, level: Level) -> Vec<StoreFold> {
        let fold = |store: &Store| {
            let op = store.reduction?;
            let dtype = store.target.array_type.dtype;
            Some(StoreFold {
                take: fold_function(op, nest.dtype(store.source), dtype, level),
                combine: fold_function(op, dtype, dtype, level),
                finish: convert_kernel(dtype, dtype, level),
                size: dtype.size(),
                source_size: nest.dtype(store.source).size(),
            })
        };
        nest.stores.iter().filter_map(fold).collect()
    }
}

/// The bytes of accumulators that a thread holds at most for a nest with these stores: lanes and nodes.
pub(crate) fn accumulator_bytes(nest: &LoopNest, folds: &[StoreFold]) -> usize {
    let Some(reduced) = nest.reduced else { return 0 };
    let rows = LANES + most_nodes(nest.shape[reduced]);
    folds.iter().map(|fold| rows * DIRECT_COLUMNS * fold.size).sum()
}

/// The bytes that the pieces of such a nest leave at most, if its reduced axis is cut.
pub(crate) fn piece_bytes(nest: &LoopNest, folds: &[StoreFold]) -> usize {
    let Some(reduced) = nest.reduced else { return 0 };
    let length = nest.shape[reduced];
    let kept =
        nest.shape.iter().fold(1usize, |product, &size| product.saturating_mul(size)) / length;
    if length <= BLOCK || length.saturating_mul(kept) <= PIECE_ELEMENTS {
        return 0;
    }
    // A part of whole chunks of columns, and one of the columns that are left over.
    let columns = kept.min(2 * DIRECT_COLUMNS);
    folds.iter().map(|fold| MOST_PIECES * (columns * fold.size + 2 * LEFT_ALIGNMENT)).sum()
}

/// What a piece leaves of a store begins at a multiple of so many bytes.
pub(crate) const LEFT_ALIGNMENT: usize = 64;

/// The most nodes that wait for others, along an axis of so many elements.
pub(crate) fn most_nodes(length: usize) -> usize {
    length.div_ceil(BLOCK).checked_ilog2().map_or(1, |log| log as usize + 2)
}
