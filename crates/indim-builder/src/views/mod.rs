//! The builder's methods for slices, windows, concatenations, gathers and scatters, and functions composed
//! of them.
//!
//! - `build.rs`: the builder's methods for slices, concatenation, gather and scatter;
//! - `compose.rs`: functions composed of slices and concatenation: `stack`, `roll` and padding;
//! - `index.rs`: Python's index syntax: `x[1:, None, ..., -1]`;
//! - `parts.rs`: parts of axes whose sizes follow from those of other values;
//! - `window.rs`: windows, and NumPy's `sliding_window_view`.

mod build;
mod compose;
mod index;
mod parts;
mod window;

pub use compose::PadMode;
pub use index::Index;
