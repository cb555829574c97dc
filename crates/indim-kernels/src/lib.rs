//! Kernels of the block executor: operations over dense blocks, compiled for every instruction-set level.
//!
//! - `kernel/`: one operation over one block, the folds of reductions, arg-reductions, strided copies,
//!   and sorts of columns;
//! - `packed_words.rs`: keys packed with positions into words;
//! - `scan_block.rs`: the blocks of scans;
//! - `sort_few.rs`: tables of few distinct words, for sorts of lists with few distinct keys;
//! - `sort_first.rs`: selections of the first elements in sorted order;
//! - `sort_keys.rs`: sort keys: unsigned integers that compare like the elements;
//! - `sort_middle.rs`: selections of elements in the middle of sorted order;
//! - `sort_order.rs`: stable sorts of lists by their keys: comparison sorts and radix sorts;
//! - `sort_positions.rs`: stable sorts of the positions of elements;
//! - `sort_select.rs`: selections of some elements in sorted order.
//!
//! Kernels compute the definitions of `indim-ops`, vectorised by the compiler. Their compilation
//! dominates the build, so they have a crate of their own, which changes to the executors do not
//! rebuild. At the level of AVX-512 the functions of AVX2 run, except sorts.
//!
//! Unsafe code stands only in `kernel/`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod kernel;
mod packed_words;
mod scan_block;
mod sort_few;
mod sort_first;
mod sort_keys;
mod sort_middle;
mod sort_order;
mod sort_positions;
mod sort_select;

pub use kernel::arg_reduce::{ArgReduceFn, ArgReduceFunctions, ArgReduceRows, ColumnExtremes};
pub use kernel::fold::{FoldFn, FoldedRows};
pub use kernel::row_fold::RowFoldFn;
pub use kernel::sort_columns::{COLUMN_BYTES, ColumnOrder, ColumnRow, SortColumnsFn};
pub use kernel::sort_rows::SortRows;
pub use kernel::strided::StridedCopyFn;
pub use kernel::{
    KernelFn, arg_reduce_functions, bitcast_kernel, convert_kernel, elementwise_kernel,
    fold_function, row_fold_function, sort_columns_function, strided_copy_function,
};
pub use scan_block::{BlockLanes, MAX_SCAN_LANES, ScanCarries, fold_line, scan_line};
pub use sort_keys::{SortElement, SortKey};
pub use sort_order::{SortProgress, SortScratch, count_bytes, max_passes};
pub use sort_positions::{KeyedPosition, SortPosition, position_column_bytes, sort_positions};
pub use sort_select::{RowSelection, Selection};
