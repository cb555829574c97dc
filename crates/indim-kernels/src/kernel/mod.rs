//! Kernels: one operation over one dense block, compiled for every level.
//!
//! A kernel computes the definition in `meaning/` of `indim-ops`. Levels are the baseline and, on
//! x86-64, AVX2, whose functions also serve the level of AVX-512; sorts have their own. Four rules let
//! the compiler vectorise a kernel:
//! - only the outermost functions, in `shells/`, have `#[target_feature]`;
//! - all functions that they call are `#[inline(always)]`;
//! - no operation in the loop over a block can panic;
//! - source and destination are slices, so the compiler knows that they do not overlap.
//!
//! Files, in reading order:
//! - `table.rs`: look-up of kernels by operation, element type and level;
//! - `shells/`: the functions compiled for each level;
//! - `instructions.rs`: instructions that the compiler does not select by itself;
//! - `block.rs`: the loop of a kernel over one dense block;
//! - `power.rs`: powers with one exponent for the whole block, such as `x**3`;
//! - `widened.rs`: kernels that compute in a wider type, such as those of `f16`;
//! - `signs.rs`: operations for which signed and unsigned integers share a kernel;
//! - `fold.rs`: the loop of a reduction over rows into accumulators;
//! - `row_fold.rs`: the reduction tree over rows of contiguous elements;
//! - `arg_reduce.rs`: argmax and argmin;
//! - `strided.rs`: copies of every second, third or fourth element to a dense block;
//! - `sort_columns.rs`: sorts of several columns together; `exchange.rs`: the exchanges of their networks;
//! - `sort_rows.rs`: rows of an operand of a sort in memory.

pub(crate) mod arg_reduce;
pub(crate) mod block;
pub(crate) mod exchange;
pub(crate) mod fold;
pub(crate) mod instructions;
mod power;
pub(crate) mod row_fold;
pub(crate) mod shells;
mod signs;
pub(crate) mod sort_columns;
pub(crate) mod sort_rows;
pub(crate) mod strided;
mod table;
mod widened;

pub use block::KernelFn;
pub(crate) use table::sort_word_columns;
pub use table::{
    arg_reduce_functions, bitcast_kernel, convert_kernel, elementwise_kernel, fold_function,
    row_fold_function, sort_columns_function, strided_copy_function,
};
