//! Element-wise computation on n-dimensional arrays in which every broadcast is explicit, checked
//! and free.
#![forbid(unsafe_code)]

pub mod explain;
#[cfg(feature = "files")]
pub mod files;
pub mod literal;
#[cfg(feature = "json")]
pub mod oracle;
pub mod print;

pub use indim_cpu::*;
pub use indim_graph::*;
pub use indim_shape::*;
