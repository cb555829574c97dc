//! What a nest with a reduced axis calls for each of its stores, and the memory that it takes. Of a search
//! that is the fold that finds for what is searched.

use indim_kernels::{
    FoldFn, KernelFn, Level, RowFoldFn, SearchFunctions, convert_kernel, fold_function,
    row_fold_function, search_functions,
};
use indim_loops::loop_nest::{LoopNest, NestReduction, Store};
use indim_loops::resize::SizedNest;
use indim_loops::walk::reducing::{DIRECT_COLUMNS, MAX_PIECES, PIECE_ELEMENTS, most_nodes};
use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_ops::{DType, DTypeClass, ReduceOp};

/// What a store of a reduced axis calls.
#[derive(Debug, Clone)]
pub(crate) struct StoreFold {
    /// Takes values into accumulators.
    pub(crate) take: FoldFn,
    /// Makes an accumulator of each dense row, where there is a kernel for that.
    pub(crate) rows: Option<RowFoldFn>,
    /// Makes an accumulator of the lanes of each block, which lie one after another.
    pub(crate) lanes: Option<RowFoldFn>,
    /// Takes accumulators into accumulators.
    pub(crate) combine: FoldFn,
    /// Makes results of accumulators: any NaN the canonical one.
    pub(crate) finish: KernelFn,
    /// Whether bits depend on the order in which values are taken.
    pub(crate) is_ordered: bool,
    /// Whether identities may stand for values that a block lacks.
    pub(crate) is_neutral: bool,
    /// The bytes of an accumulator, of a value, and of a result.
    pub(crate) size: usize,
    pub(crate) source_size: usize,
    pub(crate) result_size: usize,
    /// What a search calls, which keeps an index beside each accumulator.
    pub(crate) search: Option<SearchFunctions>,
}

impl StoreFold {
    /// What each store of the nest calls; of a nest without a reduced axis none do.
    pub(crate) fn of(nest: &LoopNest, level: Level) -> Vec<StoreFold> {
        let fold = |store: &Store| {
            let NestReduction { op, dtype } = store.reduction?;
            let search = op.is_search().then(|| search_functions(op, dtype, level));
            let op = op.searched();
            let result = store.target.array_type.dtype;
            let source = nest.dtype(store.source);
            Some(StoreFold {
                take: fold_function(op, source, dtype, level),
                rows: row_fold_function(op, source, dtype, level),
                lanes: row_fold_function(op, dtype, dtype, level),
                combine: fold_function(op, dtype, dtype, level),
                finish: convert_kernel(dtype, result, level),
                is_ordered: is_ordered(op, dtype),
                // A complex product with 1 may make a NaN of an infinity.
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
    /// The bytes that a search keeps beside an accumulator.
    fn index_size(&self) -> usize {
        self.search.map_or(0, |_| size_of::<usize>())
    }
}

fn is_ordered(op: ReduceOp, dtype: DType) -> bool {
    matches!(op, ReduceOp::Add | ReduceOp::Mul)
        && matches!(dtype.class(), DTypeClass::Float | DTypeClass::Complex)
}

/// The bytes of accumulators that a thread holds at most for a nest with these stores: lanes and nodes.
pub(crate) fn accumulator_bytes(nest: &SizedNest<'_>, folds: &[StoreFold]) -> usize {
    if nest.nest.reduced.is_none() {
        return 0;
    }
    let rows = LANES + most_nodes(nest.length());
    // A search has a block that is gathered, and the extremes so far.
    let searched = |fold: &StoreFold| if fold.search.is_some() { LANES + 1 } else { 0 };
    let bytes = |fold: &StoreFold| (rows + searched(fold)) * fold.size + fold.index_size();
    folds.iter().map(|fold| DIRECT_COLUMNS * bytes(fold)).sum()
}

/// The bytes that the pieces of such a nest leave at most, if its reduced axis is cut.
pub(crate) fn piece_bytes(nest: &SizedNest<'_>, folds: &[StoreFold]) -> usize {
    let length = nest.length();
    let kept = nest.points() / length.max(1);
    if length <= BLOCK || length.saturating_mul(kept) <= PIECE_ELEMENTS {
        return 0;
    }
    // A part of whole chunks of columns, and one of the columns that are left over.
    let columns = kept.min(2 * DIRECT_COLUMNS);
    let bytes = |size: usize| if size > 0 { columns * size + 2 * LEFT_ALIGNMENT } else { 0 };
    let of_piece = |fold: &StoreFold| bytes(fold.size) + bytes(fold.index_size());
    folds.iter().map(|fold| MAX_PIECES * of_piece(fold)).sum()
}

/// What a piece leaves of a store begins at a multiple of so many bytes.
pub(crate) const LEFT_ALIGNMENT: usize = 64;
