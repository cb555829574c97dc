//! What the block executor calls: operations over dense blocks, compiled for every level.
//!
//! - `level.rs`: the sets of instructions, and which the processor has;
//! - `kernel/`: one operation over one block, the folds of reductions, searches, and strided copies.
//!
//! What is computed is the definitions of `indim-ops`, vectorised by the compiler. Compiling them is most
//! of the work of a build, so they are a crate of their own, which nothing else changes.
//!
//! Unsafe code stands only in `kernel/`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod kernel;
mod level;

pub use kernel::fold::{FoldFn, FoldedRows};
pub use kernel::row_fold::RowFoldFn;
pub use kernel::search::{ColumnExtremes, SearchFunctions, SearchRowsFn, SearchedRows};
pub use kernel::strided::StridedCopyFn;
pub use kernel::{
    KernelFn, bitcast_kernel, convert_kernel, elementwise_kernel, fold_function, row_fold_function,
    search_functions, strided_copy_function,
};
pub use level::{Level, UnknownLevel};
