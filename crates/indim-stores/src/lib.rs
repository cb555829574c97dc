//! Stored arrays. Sources are read by regions. Sinks are written by regions; a result appears complete or not
//! at all.
//!
//! - `region.rs`: a rectangular part of an array, and the grid of regions that covers an array;
//! - `source.rs`: the trait of readable arrays; `sink.rs`: the trait of results;
//! - `memory.rs`: sources and sinks over arrays in memory;
//! - `whole_array.rs`: reads or writes a whole array in one call;
//! - `copy.rs`: copies regions between dense arrays;
//! - `file.rs`: opens regular files, and refuses pipes and devices;
//! - `format.rs`: the format of a path, and the metadata that a result inherits from its inputs;
//! - `stale_files.rs`: hidden names of incomplete results, and removal of those that a killed process left;
//! - `geography.rs`: the GeoTIFF tags of a grid;
//! - `error.rs`: errors; `memory_limit.rs`: the error of a read that exceeds the memory limit.
//!
//! Each format has a folder and a feature of its name: `csv/`, `png/`, `tiff/`, `zarr/`. `output_stream.rs`
//! is the file under a PNG or TIFF result; `image.rs` has the shapes and strips that both share.
//!
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod copy;
mod error;
#[cfg(any(feature = "csv", feature = "png", feature = "tiff", feature = "zarr"))]
mod file;
mod format;
mod geography;
mod memory;
mod memory_limit;
mod region;
mod sink;
mod source;
mod stale_files;
mod whole_array;

#[cfg(feature = "csv")]
pub mod csv;
#[cfg_attr(
    not(any(feature = "png", feature = "tiff")),
    allow(dead_code, reason = "used by PNG and TIFF")
)]
mod image;
#[cfg(any(feature = "png", feature = "tiff"))]
mod output_stream;
#[cfg(feature = "png")]
pub mod png;
#[cfg(feature = "tiff")]
pub mod tiff;
#[cfg(feature = "zarr")]
pub mod zarr;

pub use copy::{copy_from_region, copy_into_region};
pub use error::{StoreError, StoreErrorKind, system_message};
pub use format::{ArrayFormat, ResultMetadata, open};
pub use geography::Geography;
pub use memory::{MemoryResult, MemorySink, MemorySource};
pub use memory_limit::MemoryLimitError;
#[cfg(any(feature = "png", feature = "tiff"))]
pub use output_stream::OutputStream;
pub use region::Region;
pub use sink::{CompleteResult, Sink, check_complete, with_elements};
pub use source::{Source, check_region};
pub use stale_files::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_stale_files};
pub use whole_array::{read_whole, write_whole};
