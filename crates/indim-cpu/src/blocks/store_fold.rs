//! What a nest with a reduced axis calls for each of its stores, and the memory that it takes.

use indim_kernels::{FoldFn, KernelFn, Level, convert_kernel, fold_function};
use indim_loops::loop_nest::{LoopNest, Store};
use indim_ops::meaning::reduction::{BLOCK, LANES};

use crate::walk::reducing::DIRECT_COLUMNS;

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

/// The most nodes that wait for others, along an axis of so many elements.
pub(crate) fn most_nodes(length: usize) -> usize {
    length.div_ceil(BLOCK).checked_ilog2().map_or(1, |log| log as usize + 2)
}
