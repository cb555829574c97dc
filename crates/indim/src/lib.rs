//! Element-wise computation on n-dimensional arrays in which every broadcast is explicit, checked
//! and free.
#![forbid(unsafe_code)]

#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "oracle")]
pub mod oracle;

pub use indim_cpu::*;
pub use indim_graph::*;
pub use indim_shape::*;
