//! Arrays in files and folders: `.npy`, `.npz`, `.safetensors`, Zarr, PNG, TIFF and columns of CSV.
//!
//! Sources are read by regions, sinks are written by regions; a result appears complete or not at all.
//! [`open`] takes the names of the command line, such as `x.npy`, `arrays.npz:x`,
//! `climate.zarr/temperature` or `table.csv:height`. [`create`] creates a result in the format of its
//! name. [`read_whole`] and [`write_whole`] take whole arrays. [`ArrayFile`] reads or maps a `.npy` file
//! or a tensor of a `.safetensors` file. `docs/files.md` lists the element types and shapes of each
//! format.
//!
//! - `format.rs`: the registry of formats: one row per format, with its endings, first bytes and code;
//! - `format_code.rs`: the trait of the code behind a row, for reading and for writing of results;
//! - `result_metadata.rs`: the metadata that a result inherits from its inputs;
//! - `region.rs`: a rectangular part of an array, and the grid of regions that covers an array;
//! - `source.rs`: the trait of readable arrays; `sink.rs`: the trait of results;
//! - `memory.rs`: sources and sinks over arrays in memory;
//! - `whole_array.rs`: reads or writes a whole array in one call;
//! - `array_file.rs`: an array in a file, mapped or read;
//! - `dense_file.rs`: a dense, uncompressed array in a file, as a source; `open_file.rs`: a file that threads
//!   read concurrently by offset; `runs.rs`: contiguous runs of a region in a file;
//! - `output_file.rs`: a file that appears under its name complete or not at all; `shared_output.rs`: one
//!   file that several sinks write;
//! - `hidden_names.rs`: the hidden names of the incomplete files of this process, and their removal when
//!   a signal ends the process; `stale_files.rs`: removal of incomplete results that a killed process
//!   left;
//! - `copy.rs`: copies regions between dense arrays;
//! - `file.rs`: opens regular files, and refuses pipes and devices;
//! - `library_panics.rs`: turns panics of the libraries that decode files into errors;
//! - `image.rs`: shapes and strips of images; `geography.rs`: the GeoTIFF tags of a grid;
//! - `error.rs`: errors of sources and sinks; `file_error.rs`: errors of `.npy`, `.npz`, `.safetensors`
//!   and output files; `memory_limit.rs`: the error of a read that exceeds the memory limit.
//!
//! Each format has a folder of its name: `npy/`, and, behind features of these names, `npz/`, `safetensors/`,
//! `csv/`, `png/`, `tiff/` and `zarr/`. `zstd/` decodes Zstandard frames, for Zarr and TIFF.
#![cfg_attr(
    not(all(
        feature = "csv",
        feature = "npz",
        feature = "png",
        feature = "safetensors",
        feature = "tiff",
        feature = "zarr"
    )),
    allow(dead_code, reason = "formats whose features are off share code")
)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod array_file;
mod copy;
mod dense_file;
mod error;
#[cfg(any(feature = "csv", feature = "png", feature = "tiff", feature = "zarr"))]
mod file;
mod file_error;
mod format;
mod format_code;
mod geography;
mod hidden_names;
#[cfg(any(feature = "png", feature = "tiff", feature = "zarr"))]
mod library_panics;
mod memory;
mod memory_limit;
mod npy;
mod open_file;
mod output_file;
mod region;
mod result_metadata;
mod runs;
mod shared_output;
mod sink;
mod source;
mod stale_files;
mod whole_array;

#[cfg(feature = "csv")]
pub mod csv;
mod image;
#[cfg(feature = "npz")]
mod npz;
#[cfg(feature = "png")]
pub mod png;
#[cfg(feature = "safetensors")]
mod safetensors;
#[cfg(feature = "tiff")]
pub mod tiff;
#[cfg(feature = "zarr")]
pub mod zarr;
#[cfg(any(feature = "tiff", feature = "zarr"))]
mod zstd;

pub use array_file::ArrayFile;
pub use copy::{copy_from_region, copy_into_region};
pub use error::{StoreError, StoreErrorKind, system_message};
pub use file_error::{FileError, FileErrorKind};
pub use format::{ArrayFormat, create, open};
pub use format_code::{FileWriter, MapFile, NamedArray};
pub use geography::Geography;
pub use hidden_names::remove_unfinished_files;
pub use memory::{MemoryResult, MemorySink, MemorySource};
pub use memory_limit::MemoryLimitError;
pub use npy::{
    ArrayStream, NpySink, NpySource, read_npy_type, write_npy, write_npy_to, write_text,
};
#[cfg(feature = "npz")]
pub use npz::{
    NpzSource, largest_npz_member, npz_sinks, read_npz_member, read_npz_member_type,
    read_npz_member_within, write_npz_to,
};
pub use output_file::{CompleteOutput, OutputFile};
pub use region::ArrayRegion;
pub use result_metadata::ResultMetadata;
#[cfg(feature = "safetensors")]
pub use safetensors::{
    SafetensorsSource, read_tensor, read_tensor_type, safetensors_sinks, write_safetensors_to,
};
pub use sink::{CompleteResult, Sink, check_complete, with_elements};
pub use source::{Source, check_region};
pub use stale_files::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_stale_files};
pub use whole_array::{read_whole, write_whole};
