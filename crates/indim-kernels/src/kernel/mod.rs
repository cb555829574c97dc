//! Kernels: one operation over one dense block, compiled for every level.
//!
//! The definition in `indim-ops`'s `meaning/` is all that a kernel computes. Four rules make the compiler
//! vectorise kernels:
//! - `#[target_feature]` stands only on the outermost functions, in `shells/`;
//! - everything below is `#[inline(always)]`;
//! - no operation in a block loop can panic;
//! - a destination never is one of the sources, and slices tell the compiler so.
//! - `block.rs`: the loops of kernels over one dense block;
//! - `fold.rs`: the loop of reductions: folds rows of elements into a row of accumulators;
//! - `instructions.rs`: instructions that the compiler does not select by itself: conversions of `f16`;
//! - `power.rs`: powers with one exponent for the whole block, such as `x**3`;
//! - `row_fold.rs`: the reduction tree over dense rows: each row becomes one element, and its lanes stay in
//!   registers;
//! - `search.rs`: arg-reductions: comparison of the extremes of blocks, the search within the winning
//!   block, and rows searched column by column;
//! - `signs.rs`: sign-agnostic kernels: signed integers share the kernels of unsigned ones where the result
//!   bits are equal;
//! - `strided.rs`: copies of every second, third or fourth element of memory to a dense block;
//! - `table.rs`: kernels by operation, element type and level;
//! - `widened.rs`: kernels that compute in a wider type: widen a piece of the block, run the kernel of the
//!   wider type, narrow its results.

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
