//! Arrays in files and folders: `.npy`, `.npz`, `.safetensors`, Zarr, PNG, TIFF and columns of CSV.
//!
//! Sources are read by regions, sinks are written by regions; a result appears complete or not at all.
//! [`open`] takes the names of the command line, such as `x.npy`, `arrays.npz:x`,
//! `climate.zarr/temperature` or `table.csv:height`. [`create`] creates a result in the format of its
//! name. [`read_whole`] and [`write_whole`] take whole arrays. [`ArrayFile`] reads or maps a `.npy` file
//! or a tensor of a `.safetensors` file. `docs/files.md` lists the element types and shapes of each
//! format.
//!
//! `indim-io` has the traits of sources and sinks, output files and codecs, on which the formats build.
//!
//! - `format.rs`: the registry of formats: one row per format, with its endings, first bytes and code;
//! - `format_code.rs`: the trait of the code behind a row, for reading and for writing of results;
//! - `array_file.rs`: an array in a file, mapped or read;
//! - `dense_file.rs`: a dense, uncompressed array in a file, as a source;
//! - `remote_name.rs`: errors of builds and formats without remote stores;
//! - `library_panics.rs`: turns panics of the libraries that decode files into errors;
//! - `image.rs`: shapes and strips of images.
//!
//! Each format has a folder of its name: `npy/`, and, behind features of these names, `npz/`, `safetensors/`,
//! `csv/`, `png/`, `tiff/` and `zarr/`.
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
mod dense_file;
mod format;
mod format_code;
#[cfg(any(feature = "png", feature = "tiff", feature = "zarr"))]
mod library_panics;
mod npy;
mod remote_name;

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

pub use array_file::ArrayFile;
pub use format::{ArrayFormat, create, open};
pub use format_code::{FileWriter, MapFile, NamedArray};
pub use indim_io::remote_name::{is_remote, without_query};
pub use indim_io::{
    ArrayRegion, CompleteOutput, CompleteResult, FileError, FileErrorKind, Geography,
    HIDDEN_PREFIX, HIDDEN_SUFFIX, MemoryLimitError, MemoryResult, MemorySink, MemorySource,
    OutputFile, ResultMetadata, Sink, Source, StoreError, StoreErrorKind, check_complete,
    check_region, copy_from_region, copy_into_region, read_whole, remove_stale_files,
    remove_unfinished_files, system_message, with_elements, write_npy, write_npy_to, write_text,
    write_whole,
};
pub use npy::{ArrayStream, NpySink, NpySource, read_npy_type};
#[cfg(feature = "npz")]
pub use npz::{
    NpzSource, largest_npz_member, npz_sinks, read_npz_member, read_npz_member_type,
    read_npz_member_within, write_npz_to,
};
pub use remote_name::upload_bytes;
#[cfg(feature = "safetensors")]
pub use safetensors::{
    SafetensorsSource, read_tensor, read_tensor_type, safetensors_sinks, write_safetensors_to,
};
