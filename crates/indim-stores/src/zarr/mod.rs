//! Zarr arrays, versions 2 and 3, in folders and, with the feature `remote`, in object stores.
//!
//! - `metadata.rs`: the metadata of an array; `element.rs`: data types and fill values; `attributes.rs`:
//!   scale and missing values;
//! - `chain.rs`: the chain of codecs, with transposition and shards; `codec.rs`: codecs of bytes, with
//!   bounded output, over those of `indim-io`;
//! - `decode_plan.rs`: chunk shapes and the memory of decoding, from metadata;
//! - `remote.rs`: the metadata of arrays in remote stores; `remote_target.rs`: results there;
//! - `read.rs`: reads regions; `store.rs`: chunk files;
//! - `sink.rs`: results; `array_path.rs`: their paths and groups.

mod array_path;
mod attributes;
mod chain;
mod codec;
mod decode_plan;
mod element;
mod metadata;
mod read;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod remote_target;
mod sink;
mod store;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
#[cfg(feature = "remote")]
use std::sync::PoisonError;

use indim_arrays::{Array, ArrayError};
use indim_graph::terminal::printable;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode, Shape};
use rayon::prelude::*;
use serde_json::Value;

use self::decode_plan::DecodePlan;
use self::metadata::ArrayMetadata;
use self::read::CachedShard;
use self::store::PathVersion;
use crate::format_code::{FormatCode, FormatWriter};
use crate::{ArrayRegion, MemoryLimitError, ResultMetadata, StoreError, StoreErrorKind};
use indim_io::folder_store::FolderStore;
use indim_io::regular_file::read_file;
use indim_io::remote_name::without_query;
use indim_io::result_metadata::{chunk_bytes, default_chunks, encoding_bytes, memory_limit_advice};
use indim_io::{ByteStore, Sink, Source, check_region};

pub use indim_io::unfinished_folder::remove_unfinished_folders;
pub use sink::{ZarrOptions, ZarrSink};

/// Maximum bytes of one buffer in the decoding of a chunk: an encoded or decoded chunk, the output of a
/// codec, or the index of a shard. Other readers have the same limit for chunks.
const MAX_CHUNK_BYTES: u64 = 1 << 31;
/// Maximum bytes of a metadata file.
const MAX_METADATA_BYTES: u64 = 64 << 20;
/// Memory of parsed metadata per byte of its file; the worst case is a list of objects with one member.
const METADATA_RATIO: u64 = 128;
/// Metadata of at most this size is read under any memory limit.
const SMALL_METADATA_BYTES: u64 = 64 << 10;
/// Maximum bytes held by concurrent decoding of chunks; 1/16 of the memory limit, if that is less. A
/// larger chunk is decoded alone.
const MAX_CONCURRENT_BYTES: usize = 128 << 20;

/// A Zarr array in a folder, version 2 or 3.
///
/// Missing chunks have the fill value. The attributes `scale_factor`, `add_offset` and `_FillValue` of the CF
/// conventions are not applied; [`Source::remarks`] mentions them.
///
/// ```
/// use indim_arrays::{ArrayError, Array};
/// use indim_ops::{ArrayType, DType};
/// use indim_stores::zarr::{ZarrArray, ZarrOptions, ZarrSink};
/// use indim_stores::{ArrayRegion, Sink, Source};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.zarr");
/// let array_type = ArrayType::new(DType::U8, [2, 3]);
/// let mut sink = ZarrSink::create(&path, &array_type, &ZarrOptions::default())?;
/// let array = Array::filled(array_type, |bytes| {
///     bytes.copy_from_slice(&[0, 1, 2, 3, 4, 5]);
///     Ok::<(), ArrayError>(())
/// })?;
/// sink.write(&ArrayRegion::new([0, 0], [2, 3]), &array)?;
/// assert!(!path.exists());
/// Box::new(sink).finish()?;
///
/// let source = ZarrArray::open(&path, usize::MAX)?;
/// assert_eq!(source.array_type().to_string(), "u8[2, 3]");
/// assert_eq!(source.read(&ArrayRegion::new([0, 1], [2, 1]))?.elements(), Ok(&[1u8, 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ZarrArray {
    path: PathBuf,
    /// The chunks.
    store: Box<dyn ByteStore>,
    /// Fails if the metadata file has another version now. Chunks are opened when they are read, so a new
    /// version means other chunks.
    check_unchanged: CheckUnchanged,
    metadata: ArrayMetadata,
    array_type: ArrayType,
    decode_plan: DecodePlan,
    /// Shape of a stored chunk: one file, possibly a shard.
    stored_chunk: Vec<usize>,
    /// Shape of the chunks decoded as a whole: the stored chunks, or the inner chunks if these are
    /// shards.
    chunks: Vec<usize>,
    /// Number of chunks decoded concurrently.
    concurrency: usize,
    /// The shard read last.
    cached_shard: Mutex<Option<CachedShard>>,
    remarks: Vec<String>,
}

/// Fails if an array has changed since it was opened.
type CheckUnchanged = Box<dyn Fn() -> Result<(), StoreErrorKind> + Send + Sync>;

impl ZarrArray {
    /// Opens the array in a folder. Fails if decoding a chunk takes more than `limit` bytes.
    ///
    /// # Errors
    /// `io`; `not-zarr`; `zarr-group` for a group, with the arrays in it; `unknown-element-type`,
    /// `rank-limit`, `too-large`, `memory-limit`; `not-a-file` if a metadata file is a pipe or a device;
    /// `bad-zarr` for damaged metadata and unsupported features.
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        Self::open_inner(path, limit).map_err(|kind| error_at(path, kind))
    }

    fn open_inner(path: &Path, limit: usize) -> Result<Self, StoreErrorKind> {
        let (metadata, version) = read_array_metadata(path, metadata_limit(limit))?;
        let check_unchanged = move || match version.is_current() {
            true => Ok(()),
            false => Err(StoreErrorKind::FileChanged),
        };
        Self::of_store(
            path,
            Box::new(FolderStore::new(path)),
            metadata,
            Box::new(check_unchanged),
            limit,
        )
    }

    fn of_store(
        path: &Path,
        store: Box<dyn ByteStore>,
        metadata: ArrayMetadata,
        check_unchanged: CheckUnchanged,
        limit: usize,
    ) -> Result<Self, StoreErrorKind> {
        let array_type = array_type(&metadata)?;
        let decode_plan = DecodePlan::of(&metadata);
        check_decode_plan(&decode_plan, &array_type, limit)?;
        let sizes = |sizes: &[u64]| {
            sizes.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect()
        };
        let max_concurrency =
            MAX_CONCURRENT_BYTES.min(limit / 16) / usize_of(decode_plan.decode_bytes).max(1);
        let counts = metadata.shape.iter().zip(&decode_plan.decoded_chunk);
        let counts = counts.map(|(size, decoded_chunk)| usize_of(size.div_ceil(*decoded_chunk)));
        let count = counts.fold(1, usize::saturating_mul);
        let remarks = attributes::remarks(&metadata.attributes, array_type.dtype);
        // Threads that decode need a processor each; requests wait.
        let threads = store.concurrent_requests().unwrap_or_else(rayon::current_num_threads);
        Ok(ZarrArray {
            path: path.to_owned(),
            store,
            check_unchanged,
            metadata,
            array_type,
            stored_chunk: sizes(&decode_plan.stored_chunk),
            chunks: sizes(&decode_plan.decoded_chunk),
            concurrency: max_concurrency.min(count).clamp(1, threads.max(1)),
            decode_plan,
            cached_shard: Mutex::new(None),
            remarks,
        })
    }
}

/// The array type; `too-large` if its bytes exceed `isize::MAX`.
fn array_type(metadata: &ArrayMetadata) -> Result<ArrayType, StoreErrorKind> {
    let sizes = metadata.shape.iter().map(|&size| usize_of(size));
    let array_type = ArrayType::new(metadata.coding.dtype, sizes.collect::<Shape>());
    array_type.shape.byte_count(array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
    Ok(array_type)
}

fn usize_of(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Fails if decoding a chunk exceeds [`MAX_CHUNK_BYTES`] or `limit`. Nothing has been allocated yet.
fn check_decode_plan(
    decode_plan: &DecodePlan,
    array_type: &ArrayType,
    limit: usize,
) -> Result<(), StoreErrorKind> {
    let shape = Shape::from(
        decode_plan.decoded_chunk.iter().map(|&size| usize_of(size)).collect::<Vec<_>>(),
    );
    let refuse = |needed: u64, limit: usize, message: String| {
        Err(MemoryLimitError::new(Some(usize_of(needed)), limit, message).into())
    };
    if decode_plan.max_buffer_bytes > MAX_CHUNK_BYTES {
        let message = format!(
            "a step of decoding a chunk of shape {shape} takes {} bytes, the maximum is {MAX_CHUNK_BYTES}: \
             store the array in smaller chunks",
            decode_plan.max_buffer_bytes
        );
        return refuse(decode_plan.max_buffer_bytes, usize_of(MAX_CHUNK_BYTES), message);
    }
    let bytes = decode_plan.index_bytes.saturating_add(decode_plan.decode_bytes);
    if usize_of(bytes) > limit {
        let index = match decode_plan.index_bytes {
            0 => String::new(),
            bytes => format!(" ({bytes} for the index of its shard)"),
        };
        let message = format!(
            "decoding a chunk of shape {shape} takes {bytes} bytes of memory{index}, and the limit \
             leaves {limit}; {}",
            memory_limit_advice(array_type, usize_of(bytes))
        );
        return refuse(bytes, limit, message);
    }
    Ok(())
}

/// Maximum bytes of metadata under a memory limit.
fn metadata_limit(limit: usize) -> u64 {
    (limit as u64 / METADATA_RATIO).clamp(SMALL_METADATA_BYTES, MAX_METADATA_BYTES)
}

impl core::fmt::Debug for ZarrArray {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "ZarrArray({}, {})", self.path.display(), self.array_type)
    }
}

impl Source for ZarrArray {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn chunks(&self) -> Option<&[usize]> {
        Some(&self.chunks)
    }

    /// Concurrently decoded chunks with their encoded bytes, the index of a shard, and a batch of small
    /// chunks.
    fn scratch_bytes(&self) -> usize {
        let cells = usize_of(self.decode_plan.decode_bytes).saturating_mul(self.concurrency);
        cells
            .saturating_add(usize_of(self.decode_plan.index_bytes))
            .saturating_add(read::BATCH_BYTES)
    }

    fn axis_names(&self) -> Option<&[String]> {
        self.metadata.axis_names.as_deref()
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        (self.check_unchanged)().map_err(|kind| error_at(&self.path, kind))
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let read = || {
            check_region(region, &self.array_type)?;
            let array_type = ArrayType::new(self.array_type.dtype, region.extents().clone());
            Array::filled(array_type, |bytes| self.read_into(region, bytes))
        };
        read().map_err(|kind| error_at(&self.path, kind))
    }

    /// Reads the regions concurrently if each lies within one chunk and the array has no shards.
    /// Otherwise regions are read one after another; each read decodes its chunks concurrently.
    fn read_each(&self, regions: &[ArrayRegion]) -> Result<Vec<Array>, StoreError> {
        let is_one_chunk = |region: &ArrayRegion| {
            indim_io::grid_cells::cells(region, &self.chunks).nth(1).is_none()
        };
        if self.decode_plan.is_sharded || self.concurrency == 1 || !regions.iter().all(is_one_chunk)
        {
            return regions.iter().map(|region| self.read(region)).collect();
        }
        #[cfg(feature = "remote")]
        if self.store.concurrent_requests().is_some() {
            let read: Mutex<Vec<Option<Array>>> =
                Mutex::new(regions.iter().map(|_| None).collect());
            let each = regions.iter().enumerate();
            indim_io::concurrent::for_each_concurrently(
                each,
                self.concurrency,
                |(index, region)| {
                    let array = self.read(region)?;
                    read.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(array);
                    Ok::<(), StoreError>(())
                },
            )?;
            let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
            return Ok(read.into_iter().flatten().collect());
        }
        let mut buffers = Vec::with_capacity(regions.len());
        for batch in regions.chunks(self.concurrency) {
            let read: Result<Vec<Array>, StoreError> =
                batch.par_iter().map(|region| self.read(region)).collect();
            buffers.extend(read?);
        }
        Ok(buffers)
    }
}

/// The format Zarr.
#[derive(Debug)]
pub(crate) struct Zarr;

impl FormatCode for Zarr {
    fn open(
        &self,
        path: &Path,
        _: Option<&str>,
        limit: usize,
    ) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(ZarrArray::open(path, limit)?))
    }

    #[cfg(feature = "remote")]
    fn open_remote(
        &self,
        name: &Path,
        limit: usize,
    ) -> Option<Result<Box<dyn Source>, StoreError>> {
        Some(remote::open(name, limit).map(|array| Box::new(array) as Box<dyn Source>))
    }

    #[cfg(feature = "remote")]
    fn create_remote(
        &self,
        name: &Path,
        result: &ArrayType,
        metadata: &ResultMetadata,
    ) -> Option<Result<Box<dyn Sink>, StoreError>> {
        Some(create_sink(name, result, metadata))
    }

    fn writer(&self) -> FormatWriter {
        FormatWriter::Path(create_sink)
    }

    fn chunks(&self, result: &ArrayType, metadata: &ResultMetadata) -> Option<Vec<usize>> {
        Some(metadata.chunks.clone().unwrap_or_else(|| default_chunks(result)))
    }

    /// Concurrently encoded chunks and their encodings.
    fn scratch_bytes(&self, result: &ArrayType, metadata: &ResultMetadata) -> usize {
        let chunks = self.chunks(result, metadata).unwrap_or_default();
        encoding_bytes(chunk_bytes(result.dtype, &chunks))
    }

    fn is_chunked(&self) -> bool {
        true
    }
}

/// The sink of a result; [`CreateSink`](crate::format_code::CreateSink).
fn create_sink(
    path: &Path,
    array_type: &ArrayType,
    metadata: &ResultMetadata,
) -> Result<Box<dyn Sink>, StoreError> {
    let (chunks, axis_names) = (metadata.chunks.clone(), metadata.axis_names.clone());
    let options = ZarrOptions { chunks, axis_names };
    Ok(Box::new(ZarrSink::create(path, array_type, &options)?))
}

/// Whether a folder is a Zarr array or group: it has a Zarr metadata file.
///
/// ```
/// use std::path::Path;
/// use indim_stores::zarr::is_zarr;
///
/// assert!(!is_zarr(Path::new("no such folder")));
/// ```
pub fn is_zarr(path: &Path) -> bool {
    ["zarr.json", ".zarray", ".zgroup"].iter().any(|name| path.join(name).is_file())
}

/// The metadata of the array at a path, from files of at most `max_bytes` bytes each.
fn read_array_metadata(
    path: &Path,
    max_bytes: u64,
) -> Result<(ArrayMetadata, PathVersion), StoreErrorKind> {
    if let Err(error) = fs::metadata(path) {
        // An absent name in a group is probably misspelt, so list the arrays of the group.
        let is_misspelt = |parent: &&Path| error.kind() == ErrorKind::NotFound && is_group(parent);
        return Err(match path.parent().filter(is_misspelt) {
            Some(parent) => {
                array_list_error(parent, "the group of Zarr around it has no array of this name")
            }
            None => error.into(),
        });
    }
    let has = |name: &str| path.join(name).exists();
    // The version before the document is read, so that a change while it is read is noticed.
    let version = |name: &str| PathVersion::of(path.join(name));
    if has("zarr.json") {
        let version = version("zarr.json")?;
        let text = read_json(path, "zarr.json", max_bytes)?;
        return match text["node_type"] == "group" {
            true => Err(group_error(path)),
            false => Ok((ArrayMetadata::of_version_3(text)?, version)),
        };
    }
    if !has(".zarray") {
        return Err(if has(".zgroup") { group_error(path) } else { not_zarr(path) });
    }
    let attributes = match has(".zattrs") {
        true => read_json(path, ".zattrs", max_bytes)?,
        false => Value::Null,
    };
    let version = version(".zarray")?;
    let metadata =
        ArrayMetadata::of_version_2(&read_json(path, ".zarray", max_bytes)?, attributes)?;
    Ok((metadata, version))
}

fn read_json(folder: &Path, name: &str, max_bytes: u64) -> Result<Value, StoreErrorKind> {
    let text = read_metadata_within(folder, name, max_bytes)?;
    serde_json::from_slice(&text).map_err(|error| bad_zarr(&format!("{name}: {error}")))
}

fn not_zarr(path: &Path) -> StoreErrorKind {
    let mut refused =
        Diagnostic::new(ErrorCode::NOT_ZARR, "no array of Zarr: it has no zarr.json or .zarray");
    if path.is_file() {
        refused.help("a store in one file, such as .zip, is not read: unpack it to a folder");
    }
    refused.into()
}

/// Reads a metadata file.
fn read_metadata(folder: &Path, name: &str) -> Result<Vec<u8>, StoreErrorKind> {
    read_metadata_within(folder, name, MAX_METADATA_BYTES)
}

fn read_metadata_within(
    folder: &Path,
    name: &str,
    max_bytes: u64,
) -> Result<Vec<u8>, StoreErrorKind> {
    read_file(&folder.join(name), max_bytes)?
        .map_err(|length| bad_zarr(&format!("`{name}` has {length} bytes, of at most {max_bytes}")))
}

/// Whether a folder is a Zarr group.
fn is_group(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_file();
    match has("zarr.json") {
        true => read_json(path, "zarr.json", MAX_METADATA_BYTES)
            .is_ok_and(|text| text["node_type"] == "group"),
        false => has(".zgroup") && !has(".zarray"),
    }
}

/// The error of a group in place of an array.
fn group_error(path: &Path) -> StoreErrorKind {
    array_list_error(path, "a Zarr group; name one of its arrays")
}

/// An error that lists the arrays of a group in a folder.
fn array_list_error(path: &Path, headline: &str) -> StoreErrorKind {
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let below = entries.map(|entry| entry.path()).filter(|path| is_zarr(path));
    let name = |path: PathBuf| Some(printable(path.file_name()?.to_str()?));
    let names = below.filter_map(name).collect();
    array_list(names, &path.to_string_lossy(), headline, "there is none in it")
}

/// An error that lists these arrays of a group; `none` is the help if there are none.
fn array_list(
    mut names: Vec<String>,
    group: &str,
    headline: &str,
    none: &'static str,
) -> StoreErrorKind {
    const MAX_LISTED: usize = 20;
    names.sort();
    let mut error = Diagnostic::new(ErrorCode::ZARR_GROUP, headline);
    match names.first() {
        None => error.help(none),
        Some(first) => {
            let more = if names.len() > MAX_LISTED { ", ..." } else { "" };
            let listed = names[..names.len().min(MAX_LISTED)].join(", ");
            let array_path = printable(group);
            error.help(format!(
                "there are {listed}{more}, as in {}/{first}",
                array_path.trim_end_matches('/')
            ));
        }
    }
    error.into()
}

fn error_at(path: &Path, kind: StoreErrorKind) -> StoreError {
    StoreError::new(without_query(path), kind)
}

fn bad_zarr(text: &str) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::BAD_ZARR, printable(text)).into()
}
