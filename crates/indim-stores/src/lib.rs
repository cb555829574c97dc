//! Arrays that lie elsewhere: read by regions, written by regions, complete or not at all.
//!
//! - `region.rs`: a part of an array, and the grid of parts that covers one;
//! - `source.rs`: what an array is that can be read by regions; `sink.rs`: one that can be written so;
//! - `memory.rs`: both over arrays in memory, for what is read or written in one go, and for tests;
//! - `whole.rs`: both in one go;
//! - `copy.rs`: how the elements of a region go from one dense array to another;
//! - `file.rs`: opens regular files;
//! - `format.rs`: which format an array has that a text names, and what results take over;
//! - `left_behind.rs`: what a killed process left of results;
//! - `geography.rs`: where on the earth a grid lies;
//! - `error.rs`: what is wrong with such an array.
//!
//! Formats, each with a feature of its name: `csv/`, `png/`, `tiff/`, `zarr/`. Results that are one file
//! go to an `output.rs`; what pictures share is in `picture.rs`.
//!
//! - `memory_limit.rs`: the error of a source whose decoding needs more memory than the limit leaves.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod copy;
mod error;
#[cfg(any(feature = "csv", feature = "png", feature = "tiff", feature = "zarr"))]
mod file;
mod format;
mod geography;
mod left_behind;
mod memory;
mod memory_limit;
mod region;
mod sink;
mod source;
mod whole;

#[cfg(feature = "csv")]
pub mod csv;
#[cfg(any(feature = "png", feature = "tiff"))]
mod output;
#[cfg_attr(
    not(any(feature = "png", feature = "tiff")),
    allow(dead_code, reason = "there are no pictures")
)]
mod picture;
#[cfg(feature = "png")]
pub mod png;
#[cfg(feature = "tiff")]
pub mod tiff;
#[cfg(feature = "zarr")]
pub mod zarr;

pub use copy::{copy_from_region, copy_into_region};
pub use error::{StoreError, StoreErrorKind, system_message};
pub use format::{ArrayFormat, Like, open};
pub use geography::Geography;
pub use left_behind::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_left_behind};
pub use memory::{MemoryResult, MemorySink, MemorySource};
pub use memory_limit::MemoryLimitError;
#[cfg(any(feature = "png", feature = "tiff"))]
pub use output::Output;
pub use region::Region;
pub use sink::{Complete, Sink, check_complete, with_elements};
pub use source::{Source, check_region};
pub use whole::{read_whole, write_whole};
