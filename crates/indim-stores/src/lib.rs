//! Arrays that lie elsewhere: read by regions, written by regions, complete or not at all.
//!
//! - `region.rs`: a part of an array, and the grid of parts that covers one;
//! - `source.rs`: what an array is that can be read by regions; `sink.rs`: one that can be written so;
//! - `memory.rs`: both over arrays in memory, for what is read or written in one go, and for tests;
//! - `copy.rs`: how the elements of a region go from one dense array to another;
//! - `error.rs`: what is wrong with such an array.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod copy;
mod error;
mod memory;
mod region;
mod sink;
mod source;

pub use copy::{copy_from_region, copy_into_region};
pub use error::{StoreError, StoreErrorKind};
pub use memory::{MemoryResult, MemorySink, MemorySource};
pub use region::Region;
pub use sink::{Complete, Sink};
pub use source::Source;
