//! Loop nests: lowering of graphs, fusion, materialisation, and walks over arrays.
//!
//! Read in this order: `loop_nest.rs` (what lowering gives), `view.rs` (what is left of a broadcast),
//! `sought.rs` (where a value comes from), `keep.rs` (what is written to memory), `body.rs` (one nest),
//! `lower.rs` (all of them), `groups.rs` (which may run together). Nothing here knows machines:
//! `strides/` is stride arithmetic, `walk/` the order in which memory is visited.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod body;
mod checks;
pub mod dense_nest;
pub mod groups;
pub mod input_axes;
mod keep;
pub mod loop_nest;
mod lower;
mod memory_use;
mod numbered;
mod origin;
pub mod replace;
pub mod resize;
pub mod scratch;
mod sought;
pub mod strides;
mod view;
pub mod walk;

pub use lower::{lower, lower_with};
pub use memory_use::MemoryUse;
