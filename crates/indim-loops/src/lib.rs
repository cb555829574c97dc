//! Loop nests: lowering of graphs, fusion, materialisation, and walks over arrays.
//!
//! Read in this order: `loop_nest.rs` (the result of lowering), `view.rs` (broadcasts, slices and reshapes as
//! index maps), `view_base.rs` (the value behind a chain of views), `value_source.rs` (the source of an
//! operand), `materialize.rs` (the values written to memory), `body.rs` (one nest), `lower.rs` (all nests),
//! `groups.rs` (nests that may run tile by tile). No file here knows a machine: `strides/` is stride
//! arithmetic, `walk/` the order in which memory is visited.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod body;
mod checks;
pub mod dense_nest;
pub mod groups;
pub mod input_axes;
mod interner;
pub mod loop_nest;
mod lower;
mod materialize;
mod memory_use;
pub mod replace;
pub mod resize;
pub mod scratch;
pub mod strides;
mod value_source;
mod view;
mod view_base;
pub mod walk;

pub use lower::{lower, lower_with};
pub use memory_use::MemoryUse;
