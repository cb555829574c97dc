//! Kernels: one operation over one dense block, compiled for every level.
//!
//! What a kernel computes is the definition in `indim-graph`'s `meaning/`; nothing here adds to it.
//! Four rules make the compiler vectorise them:
//! - `#[target_feature]` stands only on the outermost functions, in `shells/`;
//! - everything below is `#[inline(always)]`;
//! - no operation in a block loop can panic;
//! - a destination never is one of the sources, and slices tell the compiler so.

pub(crate) mod block;
pub(crate) mod instructions;
mod power;
mod shells;
mod table;
mod widened;

pub(crate) use table::bitcast_kernel;
pub(crate) use table::chain_kernel;
pub use table::{convert_kernel, elementwise_kernel};

/// A kernel for blocks of any length.
///
/// # Safety
/// - `destination` is valid for writes of `count` elements of the result type;
/// - `sources[i]` is valid for reads of `count` elements of operand `i`'s type, for each operand;
///   the other pointers are not used;
/// - no pointer needs to be aligned;
/// - the destination overlaps none of the sources;
/// - the processor has the level for which the kernel was looked up.
pub type KernelFn = unsafe fn(destination: *mut u8, sources: [*const u8; 3], count: usize);
