//! Kernels: one operation over one dense block, compiled for every level.
//!
//! The definition in `indim-ops`'s `meaning/` is all that a kernel computes. Four rules make the compiler
//! vectorise kernels:
//! - `#[target_feature]` stands only on the outermost functions, in `shells/`;
//! - everything below is `#[inline(always)]`;
//! - no operation in a block loop can panic;
//! - a destination never is one of the sources, and slices tell the compiler so.

pub(crate) mod block;
pub(crate) mod fold;
pub(crate) mod instructions;
mod power;
pub(crate) mod row_fold;
pub(crate) mod search;
pub(crate) mod shells;
mod signs;
pub(crate) mod strided;
mod table;
mod widened;

pub use block::KernelFn;
pub use table::{
    bitcast_kernel, convert_kernel, elementwise_kernel, fold_function, row_fold_function,
    search_functions, strided_copy_function,
};
