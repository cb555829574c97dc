//! The parts that all formats of `indim-stores` share: arrays that are read and written by regions, and the
//! files that hold results.
//!
//! - `region.rs`: a rectangular part of an array, and the grid of regions that covers an array;
//! - `source.rs`: the trait of readable arrays; `sink.rs`: the trait of results;
//! - `byte_store.rs`: the trait of stores whose objects are read by ranges, such as folders and buckets;
//!   `folder_store.rs`: folders;
//! - `concurrent.rs`: threads that wait for requests; `range_requests.rs`: requests for byte ranges;
//! - `memory.rs`: sources and sinks over arrays in memory;
//! - `whole_array.rs`: reads or writes a whole array in one call;
//! - `result_metadata.rs`: the metadata that a result inherits from its inputs; `geography.rs`: the
//!   GeoTIFF tags of a grid;
//! - `copy.rs`: copies regions between dense arrays; `runs.rs`: contiguous runs of a region in a file;
//! - `grid_cells.rs`: the chunks that intersect a region;
//! - `remote_name.rs`: names of remote objects among paths;
//! - `regular_file.rs`: opens regular files, and refuses pipes and devices;
//! - `open_file.rs`: a file that threads read concurrently by offset;
//! - `output_file.rs`: a file that appears under its name complete or not at all; `shared_output.rs`: one
//!   file that several sinks write;
//! - `hidden_names.rs`: the hidden names of the incomplete files of this process, and their removal when
//!   a signal ends the process; `stale_files.rs`: removal of incomplete results that a killed process
//!   left; `unfinished_folder.rs`: folders of incomplete results;
//! - `stored_archive.rs`: writes ZIP archives of uncompressed members;
//! - `npy/`: written `.npy` files: the memory of a result can be such a file;
//! - `codecs/`: decoders and encoders of bytes;
//! - `error.rs`: errors of sources and sinks; `file_error.rs`: errors of `.npy`, `.npz`, `.safetensors`
//!   and output files; `memory_limit.rs`: the error of a read that exceeds the memory limit.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod byte_store;
#[cfg(feature = "zstd")]
pub mod codecs;
pub mod concurrent;
pub mod copy;
mod error;
mod file_error;
pub mod folder_store;
mod geography;
pub mod grid_cells;
mod hidden_names;
mod memory;
mod memory_limit;
pub mod npy;
pub mod open_file;
mod output_file;
pub mod range_requests;
mod region;
pub mod regular_file;
pub mod remote_name;
pub mod result_metadata;
pub mod runs;
pub mod shared_output;
mod sink;
mod source;
mod stale_files;
#[cfg(feature = "archives")]
pub mod stored_archive;
#[cfg(feature = "folders")]
pub mod unfinished_folder;
mod whole_array;

pub use byte_store::{ByteStore, FirstRead, StoredObject};
pub use copy::{copy_from_region, copy_into_region};
pub use error::{StoreError, StoreErrorKind, system_message};
pub use file_error::{FileError, FileErrorKind};
pub use geography::{GeoTag, Geography};
pub use hidden_names::remove_unfinished_files;
pub use memory::{MemoryResult, MemorySink, MemorySource};
pub use memory_limit::MemoryLimitError;
pub use npy::{write_npy, write_npy_to, write_text};
pub use output_file::{CompleteOutput, OutputFile};
pub use region::ArrayRegion;
pub use result_metadata::ResultMetadata;
pub use sink::{CompleteResult, Sink, check_complete, with_elements};
pub use source::{Source, check_region};
pub use stale_files::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_stale_files};
pub use whole_array::{read_whole, write_whole};
