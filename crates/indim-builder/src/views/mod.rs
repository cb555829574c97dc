//! How views are made, and what is put together of parts: slices, concatenations, elements taken by their
//! indices.
//!
//! The builder's methods for nodes are in `build.rs`, Python's index syntax in `index.rs`, and what follows
//! from these (`stack`, `flip`, `roll`, `pad`) in `compose.rs`.

mod build;
mod compose;
mod index;

pub use compose::PadMode;
pub use index::Index;
