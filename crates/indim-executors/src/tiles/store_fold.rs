//! The kernels that fold the values of each store along a reduced axis, and bounds of the memory of
//! accumulators. For argmax and argmin this is the fold to the extreme.

use indim_kernels::{
    ArgReduceFunctions, FoldFn, KernelFn, RowFoldFn, arg_reduce_functions, convert_kernel,
    fold_function, row_fold_function,
};
use indim_loops::loop_nest::{LoopNest, NestReduction, Store};
use indim_loops::resize::SizedNest;
use indim_loops::walk::reduction::{
    MAX_DIRECT_COLUMNS, MAX_SEGMENTS, MIN_SEGMENT_ELEMENTS, max_nodes,
};
use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_ops::{DType, Level, ReduceOp};

/// The kernels for the fold of one store.
#[derive(Debug, Clone)]
pub(crate) struct StoreFold {
    /// Folds rows of values into accumulators.
    pub(crate) accumulate: FoldFn,
    /// Folds each dense row of values into an accumulator; `None` without a kernel.
    pub(crate) rows: Option<RowFoldFn>,
    /// Folds the contiguous lanes of each block into an accumulator; `None` without a kernel.
    pub(crate) lanes: Option<RowFoldFn>,
    /// Folds rows of accumulators into accumulators.
    pub(crate) combine: FoldFn,
    /// Converts accumulators to results, and each NaN to the canonical one.
    pub(crate) finish: KernelFn,
    /// Whether the order of the fold changes the bits of results.
    pub(crate) is_ordered: bool,
    /// Whether combining with the identity keeps the bits of a value, so that identities may pad a block.
    pub(crate) is_neutral: bool,
    /// Sizes of an accumulator, of a value and of a result, in bytes.
    pub(crate) size: usize,
    pub(crate) source_size: usize,
    pub(crate) result_size: usize,
    /// The kernels of an arg-reduction; `None` for other reductions. An arg-reduction has an index for
    /// each accumulator.
    pub(crate) arg_reduce: Option<ArgReduceFunctions>,
}

impl StoreFold {
    /// The fold of each store; empty for a nest without a reduced axis.
    pub(crate) fn of(nest: &LoopNest, level: Level) -> Vec<StoreFold> {
        let fold = |store: &Store| {
            let NestReduction { op, dtype } = store.reduction?;
            let arg_reduce = op.is_arg_reduction().then(|| arg_reduce_functions(op, dtype, level));
            let op = op.extremum();
            let result = store.target.array_type.dtype;
            let source = nest.dtype(store.source);
            Some(StoreFold {
                accumulate: fold_function(op, source, dtype, level),
                rows: row_fold_function(op, source, dtype, level),
                lanes: row_fold_function(op, dtype, dtype, level),
                combine: fold_function(op, dtype, dtype, level),
                finish: convert_kernel(dtype, result, level),
                is_ordered: op.is_ordered(dtype),
                // A complex product with 1 may turn an infinity into a NaN.
                is_neutral: op != ReduceOp::Mul || dtype != DType::C128,
                size: dtype.size(),
                source_size: source.size(),
                result_size: result.size(),
                arg_reduce: arg_reduce.flatten(),
            })
        };
        nest.stores.iter().filter_map(fold).collect()
    }
}

impl StoreFold {
    /// Size of the index of an accumulator in bytes; 0 without an arg-reduction.
    fn index_size(&self) -> usize {
        self.arg_reduce.map_or(0, |_| size_of::<usize>())
    }
}

/// Upper bound of the lanes and nodes of one thread for these folds, in bytes.
pub(crate) fn accumulator_bytes(nest: &SizedNest<'_>, folds: &[StoreFold]) -> usize {
    if nest.nest.reduced.is_none() {
        return 0;
    }
    let rows = REDUCTION_LANES + max_nodes(nest.length());
    // An arg-reduction also has a gathered block, and one row of extremes.
    let extreme_rows =
        |fold: &StoreFold| if fold.arg_reduce.is_some() { REDUCTION_LANES + 1 } else { 0 };
    let bytes = |fold: &StoreFold| (rows + extreme_rows(fold)) * fold.size + fold.index_size();
    folds.iter().map(|fold| MAX_DIRECT_COLUMNS * bytes(fold)).sum()
}

/// Upper bound of the partial results of all segments, in bytes; 0 if the reduced axis is never cut.
pub(crate) fn segment_bytes(nest: &SizedNest<'_>, folds: &[StoreFold]) -> usize {
    let length = nest.length();
    let kept_points = nest.points() / length.max(1);
    if length <= REDUCTION_BLOCK || length.saturating_mul(kept_points) <= MIN_SEGMENT_ELEMENTS {
        return 0;
    }
    // One partition of full units of columns, and one partition of the remaining columns.
    let columns = kept_points.min(2 * MAX_DIRECT_COLUMNS);
    let bytes = |size: usize| if size > 0 { columns * size + 2 * RESULT_ALIGNMENT } else { 0 };
    let of_segment = |fold: &StoreFold| bytes(fold.size) + bytes(fold.index_size());
    folds.iter().map(|fold| MAX_SEGMENTS * of_segment(fold)).sum()
}

/// Alignment of the partial result of each store, in bytes: a cache line.
pub(crate) const RESULT_ALIGNMENT: usize = 64;
