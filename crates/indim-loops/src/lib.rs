//! Loop nests: lowering of graphs, fusion, materialisation, and the order of iteration over memory.
//!
//! Read in this order: `loop_nest.rs` (the result of lowering), `view.rs` (broadcasts, slices and reshapes as
//! index maps), `view_base.rs` (the value behind a chain of views), `value_source.rs` (the source of an
//! operand), `materialize.rs` (the values written to memory), `body.rs` (one nest), `lower.rs` (all nests),
//! `groups.rs` (nests that may run tile by tile). `strides/` is coalescing of axes, `walk/` the order of
//! iteration over memory. The crate is independent of the target machine.
//!
//! - `axis_index.rs`: indices along the axes of arrays;
//! - `checks.rs`: bounds checks of indices before gathers and scatters;
//! - `dense_nest.rs`: coalesced axes of nests over whole dense arrays, computed once for all sizes;
//! - `input_axes.rs`: the axes of inputs that move with the axes of outputs, for NumPy's `order="K"`;
//! - `interner.rs`: interner: distinct items, each with an index;
//! - `limit_sorts.rs`: limits of sorts to the positions that later nests read;
//! - `memory_use.rs`: memory use of graphs and loop nests;
//! - `replace.rs`: outputs that may overwrite an input;
//! - `resize.rs`: nests with concrete sizes for their symbols;
//! - `scratch.rs`: placement of temporaries and counters of a run in one arena, which reuses memory;
//! - `sizes.rs`: the sizes of symbols;
//! - `sorted_range.rs`: ranges of sorted axes;
//! - `unroll.rs`: reductions along short axes as nests without a reduced axis;
//! - `whole_copies.rs`: copies between an input or output and a temporary, which a run may leave out.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod axis_index;
mod body;
mod checks;
pub mod dense_nest;
pub mod groups;
pub mod input_axes;
mod interner;
mod limit_sorts;
pub mod loop_nest;
mod lower;
mod materialize;
mod memory_use;
pub mod replace;
pub mod resize;
pub mod scratch;
mod sizes;
mod sorted_range;
pub mod strides;
pub mod unroll;
mod value_source;
mod view;
mod view_base;
pub mod walk;
pub mod whole_copies;

pub use lower::{lower, lower_shaped, lower_shaped_with, lower_with};
pub use memory_use::MemoryUse;
