//! The kernels that fold the values of each store along a reduced axis, and the memory of its accumulators.
//! For argmax and argmin this is the fold of the searched values.

use indim_kernels::{
    FoldFn, KernelFn, Level, RowFoldFn, SearchFunctions, convert_kernel, fold_function,
    row_fold_function, search_functions,
};
use indim_loops::loop_nest::{LoopNest, NestReduction, Store};
use indim_loops::resize::SizedNest;
use indim_loops::walk::reduction::{MAX_DIRECT_COLUMNS, MAX_PIECES, MIN_PIECE_ELEMENTS, max_nodes};
use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_ops::{DType, DTypeClass, ReduceOp};

/// The kernels of one store's fold.
#[derive(Debug, Clone)]
pub(crate) struct StoreFold {
    /// Folds values into accumulators.
    pub(crate) take: FoldFn,
    /// Folds each dense row into an accumulator, if a kernel exists.
    pub(crate) rows: Option<RowFoldFn>,
    /// Folds the lanes of each block into an accumulator; lanes are contiguous.
    pub(crate) lanes: Option<RowFoldFn>,
    /// Folds accumulators into accumulators.
    pub(crate) combine: FoldFn,
    /// Converts accumulators to results and any NaN to the canonical one.
    pub(crate) finish: KernelFn,
    /// Whether bits depend on the order of the fold.
    pub(crate) is_ordered: bool,
    /// Whether identities may pad a block.
    pub(crate) is_neutral: bool,
    /// Bytes of an accumulator, of a value and of a result.
    pub(crate) size: usize,
    pub(crate) source_size: usize,
    pub(crate) result_size: usize,
    /// The kernels of an arg-reduction, which has an index for each accumulator.
    pub(crate) search: Option<SearchFunctions>,
}

impl StoreFold {
    /// The fold of each store; empty for a nest without a reduced axis.
    pub(crate) fn of(nest: &LoopNest, level: Level) -> Vec<StoreFold> {
        let fold = |store: &Store| {
            let NestReduction { op, dtype } = store.reduction?;
            let search = op.is_arg_reduction().then(|| search_functions(op, dtype, level));
            let op = op.extremum();
            let result = store.target.array_type.dtype;
            let source = nest.dtype(store.source);
            Some(StoreFold {
                take: fold_function(op, source, dtype, level),
                rows: row_fold_function(op, source, dtype, level),
                lanes: row_fold_function(op, dtype, dtype, level),
                combine: fold_function(op, dtype, dtype, level),
                finish: convert_kernel(dtype, result, level),
                is_ordered: is_ordered(op, dtype),
                // A complex product with 1 may turn an infinity into a NaN.
                is_neutral: op != ReduceOp::Mul || dtype != DType::C128,
                size: dtype.size(),
                source_size: source.size(),
                result_size: result.size(),
                search: search.flatten(),
            })
        };
        nest.stores.iter().filter_map(fold).collect()
    }
}

impl StoreFold {
    /// Bytes of the index of an accumulator.
    fn index_size(&self) -> usize {
        self.search.map_or(0, |_| size_of::<usize>())
    }
}

fn is_ordered(op: ReduceOp, dtype: DType) -> bool {
    matches!(op, ReduceOp::Add | ReduceOp::Mul)
        && matches!(dtype.class(), DTypeClass::Float | DTypeClass::Complex)
}

/// Upper bound of a thread's accumulators for a nest with these stores, in bytes: lanes and nodes.
pub(crate) fn accumulator_bytes(nest: &SizedNest<'_>, folds: &[StoreFold]) -> usize {
    if nest.nest.reduced.is_none() {
        return 0;
    }
    let rows = LANES + max_nodes(nest.length());
    // An arg-reduction has a gathered block and the extremes so far.
    let searched = |fold: &StoreFold| if fold.search.is_some() { LANES + 1 } else { 0 };
    let bytes = |fold: &StoreFold| (rows + searched(fold)) * fold.size + fold.index_size();
    folds.iter().map(|fold| MAX_DIRECT_COLUMNS * bytes(fold)).sum()
}

/// Upper bound of the partial results of all pieces, in bytes, if the reduced axis is cut.
pub(crate) fn piece_bytes(nest: &SizedNest<'_>, folds: &[StoreFold]) -> usize {
    let length = nest.length();
    let kept = nest.points() / length.max(1);
    if length <= BLOCK || length.saturating_mul(kept) <= MIN_PIECE_ELEMENTS {
        return 0;
    }
    // A part of whole chunks of columns, and a part for the remaining columns.
    let columns = kept.min(2 * MAX_DIRECT_COLUMNS);
    let bytes = |size: usize| if size > 0 { columns * size + 2 * RESULT_ALIGNMENT } else { 0 };
    let of_piece = |fold: &StoreFold| bytes(fold.size) + bytes(fold.index_size());
    folds.iter().map(|fold| MAX_PIECES * of_piece(fold)).sum()
}

/// Alignment of each store's partial result, in bytes.
pub(crate) const RESULT_ALIGNMENT: usize = 64;
