//! Kernels of the block executor: operations over dense blocks, compiled for every instruction-set level.
//!
//! - `kernel/`: one operation over one block, the folds of reductions, arg-reductions, and strided copies.
//!
//! Kernels compute the definitions of `indim-ops`, vectorised by the compiler. Their compilation
//! dominates the build, so they have a crate of their own, which changes to the executors do not
//! rebuild. At the level of AVX-512 the functions of AVX2 run.
//!
//! Unsafe code stands only in `kernel/`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod kernel;

pub use kernel::arg_reduce::{ArgReduceFn, ArgReduceFunctions, ArgReduceRows, ColumnExtremes};
pub use kernel::fold::{FoldFn, FoldedRows};
pub use kernel::row_fold::RowFoldFn;
pub use kernel::strided::StridedCopyFn;
pub use kernel::{
    KernelFn, arg_reduce_functions, bitcast_kernel, convert_kernel, elementwise_kernel,
    fold_function, row_fold_function, strided_copy_function,
};
