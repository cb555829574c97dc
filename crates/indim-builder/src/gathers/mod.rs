//! The builder's gathers from several axes, and scatters to them.
//!
//! A gather from several axes becomes a gather from one axis: the axes are flattened, and their indices
//! become one position. Each index is resolved along its own axis first, so errors name that axis.
//!
//! - `build.rs`: the builder's gathers: `x[i, j]` and `take_along_axis`;
//! - `dynamic.rs`: slices whose starts are data: reads and replacements;
//! - `elements.rs`: gathers and scatters of ONNX;
//! - `fill.rs`: gathers with a value for indices out of range;
//! - `positions.rs`: flattened axes, and positions in them;
//! - `scatter.rs`: the builder's scatters;
//! - `slices.rs`: slices of one size at many starts that are data: reads and updates.

mod build;
mod dynamic;
mod elements;
mod fill;
mod positions;
mod scatter;
mod slices;

pub use slices::StartedSlices;
