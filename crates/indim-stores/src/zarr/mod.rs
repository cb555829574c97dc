//! Arrays of Zarr, versions 2 and 3, in folders: read chunk by chunk by the library `zarrs`.
//!
//! `attributes.rs`: what the attributes of an array say of it; `codec.rs`: how chunks are compressed, within
//! bounds, with `blosc.rs`, `blosc_lz.rs` and `shuffle.rs` for what Blosc has compressed; `element.rs`: the
//! element types; `opened.rs`: what `zarrs` opens; `sink.rs`: results, `place.rs`: where they go;
//! `unfinished.rs`: folders that have not got their name yet.

mod attributes;
mod blosc;
mod blosc_lz;
mod codec;
mod element;
mod opened;
mod place;
mod shuffle;
mod sink;
mod unfinished;

use std::any::Any;
use std::fs;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use indim_arrays::Buffer;
use indim_graph::terminal::shown;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, MAXIMUM_RANK, RankLimit, Shape};
use rayon::prelude::*;
use zarrs::array::{Array, ArrayBytes, ArrayShardedExt, ArraySubset, ChunkShapeTraits};
use zarrs::filesystem::FilesystemStore;

use crate::copy::copy_into_region;
use crate::format::chunk_bytes;
use crate::source::{Source, check_region};
use crate::{Region, StoreError, StoreErrorKind};

pub use sink::{ZarrOptions, ZarrSink};
pub use unfinished::remove_unfinished_folders;

/// No chunk may decode to more, whatever memory there is: other readers have no larger ones either.
const MOST_CHUNK_BYTES: usize = 1 << 31;
/// Metadata that is longer is refused before it is read.
const MOST_METADATA_BYTES: u64 = 64 << 20;
/// Chunks that are decoded at the same time have no more bytes, but for one.
const DECODED_AT_ONCE: usize = 256 << 20;

/// An array of Zarr in a folder, version 2 or 3.
///
/// Chunks that are not there are the array's fill value. `scale_factor`, `add_offset` and `_FillValue`,
/// by which conventions say what elements stand for, are not applied: [`Source::remarks`] says so where
/// there are any.
///
/// ```
/// use indim_arrays::{ArrayError, Buffer};
/// use indim_ops::{ArrayType, DType};
/// use indim_stores::zarr::{ZarrArray, ZarrOptions, ZarrSink};
/// use indim_stores::{Region, Sink, Source};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.zarr");
/// let array_type = ArrayType::new(DType::U8, [2, 3]);
/// let mut sink = ZarrSink::create(&path, &array_type, &ZarrOptions::default())?;
/// let array = Buffer::filled(array_type, |bytes| {
///     bytes.copy_from_slice(&[0, 1, 2, 3, 4, 5]);
///     Ok::<(), ArrayError>(())
/// })?;
/// sink.write(&Region::new([0, 0], [2, 3]), &array)?;
/// assert!(!path.exists());
/// Box::new(sink).finish()?;
///
/// let source = ZarrArray::open(&path, usize::MAX)?;
/// assert_eq!(source.array_type().to_string(), "u8[2, 3]");
/// assert_eq!(source.read(&Region::new([0, 1], [2, 1]))?.elements(), Some(&[1u8, 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ZarrArray {
    path: PathBuf,
    array: Array<FilesystemStore>,
    array_type: ArrayType,
    /// The chunks that are decoded as a whole: of shards what is in them.
    chunks: Vec<usize>,
    axis_names: Option<Vec<String>>,
    remarks: Vec<String>,
}

impl ZarrArray {
    /// Opens the array in a folder; chunks that take more than `limit` bytes of memory are refused.
    ///
    /// # Errors
    /// `io`; `not-zarr`, and `zarr-group` with the arrays of a group; `unknown-element-type`, `rank-limit`,
    /// `too-large`, `memory-limit` when indim has no such array; `bad-zarr` for what is wrong with its
    /// metadata or in a way that is not supported.
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        Self::open_unnamed(path, limit).map_err(|kind| at(path, kind))
    }

    fn open_unnamed(path: &Path, limit: usize) -> Result<Self, StoreErrorKind> {
        codec::register();
        check_metadata(path)?;
        let array = opened::open(path)?;
        let Some(dtype) = element::dtype(array.data_type()) else {
            let name = shown(&array.data_type().to_string());
            return Err(Diagnostic::new(
                "unknown-element-type",
                format!("elements of type {name} are not numbers that indim knows"),
            )
            .into());
        };
        let sizes = array.shape().iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX));
        let array_type = ArrayType::new(dtype, sizes.collect::<Shape>());
        let rank = RankLimit::check(array_type.shape.rank(), MAXIMUM_RANK);
        rank.map_err(RankLimit::diagnostic)?;
        array_type.shape.byte_count(dtype.size()).map_err(indim_arrays::ArrayError::TooLarge)?;
        let chunks = decoded_chunk(&array, &array_type.shape)?;
        check_chunk(&chunks, dtype.size(), limit)?;
        let axis_names = attributes::axis_names(&array);
        let remarks = attributes::remarks(&array, dtype);
        Ok(ZarrArray { path: path.to_owned(), array, array_type, chunks, axis_names, remarks })
    }

    /// How many chunks are decoded at the same time.
    fn concurrency(&self) -> usize {
        let fitting = DECODED_AT_ONCE / self.chunk_bytes().max(1);
        fitting.clamp(1, rayon::current_num_threads().max(1))
    }

    fn chunk_bytes(&self) -> usize {
        chunk_bytes(self.array_type.dtype, &self.chunks)
    }

    /// The elements of one piece, which lies in one chunk.
    fn read_piece(&self, piece: &Piece) -> Result<Vec<u8>, StoreErrorKind> {
        let read = || {
            let bytes: ArrayBytes<'_> = self
                .array
                .retrieve_chunk_subset(&piece.chunk, &piece.within)
                .map_err(|e| bad(&e))?;
            Ok(bytes.into_fixed().map_err(|error| bad(&error))?.into_owned())
        };
        let bytes = guarded(read)?;
        let expected =
            piece.region.extents().iter().product::<usize>() * self.array_type.dtype.size();
        match bytes.len() == expected {
            true => Ok(bytes),
            false => Err(bad_text(&format!("a chunk has {} bytes of {expected}", bytes.len()))),
        }
    }

    /// The pieces of a region, each in one chunk.
    fn pieces(&self, region: &Region) -> Result<Vec<Piece>, StoreErrorKind> {
        let subset = subset(region)?;
        let Some(chunks) = self.array.chunks_in_array_subset(&subset).map_err(|e| bad(&e))? else {
            return Err(bad_text("its grid of chunks has none there"));
        };
        let piece = |chunk: Vec<u64>| {
            let place = self.array.chunk_subset(&chunk).map_err(|error| bad(&error))?;
            let common = place.overlap(&subset).map_err(|error| bad(&error))?;
            let within = common.relative_to(place.start()).map_err(|error| bad(&error))?;
            let in_region = common.relative_to(subset.start()).map_err(|error| bad(&error))?;
            let starts = in_region.start().iter().map(|&start| start as usize).collect::<Vec<_>>();
            let region = Region::new(starts, common.shape_usize());
            Ok(Piece { chunk, within, region })
        };
        chunks.indices().into_iter().map(|chunk| piece(chunk.to_vec())).collect()
    }

    fn read_into(&self, region: &Region, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        let (shape, size) = (region.extents(), self.array_type.dtype.size());
        if to.is_empty() {
            return Ok(());
        }
        for pieces in self.pieces(region)?.chunks(self.concurrency()) {
            let read: Vec<_> = pieces.par_iter().map(|piece| self.read_piece(piece)).collect();
            for (piece, bytes) in pieces.iter().zip(read) {
                copy_into_region(&bytes?, to, shape, size, &piece.region);
            }
        }
        Ok(())
    }
}

/// What of one chunk belongs to a region.
struct Piece {
    chunk: Vec<u64>,
    within: ArraySubset,
    /// Where it belongs in the region.
    region: Region,
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

    /// Each chunk that is being decoded, and what it is decoded from.
    fn scratch_bytes(&self) -> usize {
        self.chunk_bytes().saturating_mul(2 * self.concurrency())
    }

    fn axis_names(&self) -> Option<&[String]> {
        self.axis_names.as_deref()
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn read(&self, region: &Region) -> Result<Buffer, StoreError> {
        let read = || {
            check_region(region, &self.array_type)?;
            let array_type = ArrayType::new(self.array_type.dtype, region.extents().clone());
            Buffer::filled(array_type, |bytes| self.read_into(region, bytes))
        };
        read().map_err(|kind| at(&self.path, kind))
    }
}

/// The sizes of what is decoded as a whole, no larger than the array.
fn decoded_chunk(
    array: &Array<FilesystemStore>,
    shape: &Shape,
) -> Result<Vec<usize>, StoreErrorKind> {
    let chunk = match array.effective_subchunk_shape() {
        Some(chunk) => chunk,
        None => {
            let first = vec![0; shape.rank()];
            guarded(|| array.chunk_shape(&first).map_err(|error| bad(&error)))?
        }
    };
    Ok(chunk
        .to_array_shape()
        .iter()
        .map(|&size| usize::try_from(size).unwrap_or(usize::MAX))
        .collect())
}

/// Refuses chunks that no reader has memory for, before anything is allocated.
fn check_chunk(chunks: &[usize], size: usize, limit: usize) -> Result<(), StoreErrorKind> {
    let bytes = chunks.iter().fold(size, |bytes, &size| bytes.saturating_mul(size));
    if bytes > limit.min(MOST_CHUNK_BYTES) {
        let message = format!(
            "its chunks of shape {} have {bytes} bytes each, of at most {}: raise the limit, or store \
             the array in smaller chunks",
            Shape::from(chunks),
            limit.min(MOST_CHUNK_BYTES)
        );
        return Err(Diagnostic::new("memory-limit", message).into());
    }
    Ok(())
}

/// Whether a folder holds metadata of Zarr: what `x.zarr` and each array and group in it is.
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

/// Refuses what is no array, or whose metadata is too long to be read.
fn check_metadata(path: &Path) -> Result<(), StoreErrorKind> {
    if let Err(error) = fs::metadata(path) {
        // A name that a group has not is most often misspelt.
        let is_misspelt = |around: &&Path| error.kind() == ErrorKind::NotFound && is_group(around);
        return Err(match path.parent().filter(is_misspelt) {
            Some(around) => {
                arrays_of(around, "the group of Zarr around it has no array of this name")
            }
            None => error.into(),
        });
    }
    for name in ["zarr.json", ".zarray", ".zattrs"] {
        let length = fs::metadata(path.join(name)).map_or(0, |file| file.len());
        if length > MOST_METADATA_BYTES {
            return Err(bad_text(&format!(
                "`{name}` has {length} bytes, of at most {MOST_METADATA_BYTES}"
            )));
        }
    }
    if path.join(".zarray").is_file() && !path.join("zarr.json").is_file() {
        return Ok(());
    }
    let metadata = match fs::read(path.join("zarr.json")) {
        Ok(metadata) => metadata,
        Err(_) if path.join(".zgroup").is_file() => return Err(group(path)),
        Err(_) => {
            let mut refused =
                Diagnostic::new("not-zarr", "no array of Zarr: it has no zarr.json or .zarray");
            if path.is_file() {
                refused
                    .help("a store in one file, such as .zip, is not read: unpack it to a folder");
            }
            return Err(refused.into());
        }
    };
    match serde_json::from_slice::<serde_json::Value>(&metadata) {
        Ok(metadata) if metadata["node_type"] == "group" => Err(group(path)),
        Ok(_) => Ok(()),
        Err(error) => Err(bad_text(&format!("zarr.json: {error}"))),
    }
}

/// Whether a folder is a group of Zarr, as far as one sees without reading much.
fn is_group(path: &Path) -> bool {
    let is_so = |kind| matches!(kind, StoreErrorKind::Other(it) if it.code == "zarr-group");
    is_zarr(path) && check_metadata(path).is_err_and(is_so)
}

/// A group is no array.
fn group(path: &Path) -> StoreErrorKind {
    arrays_of(path, "a group of Zarr, in which an array is to be named")
}

/// Says which arrays are in a group.
fn arrays_of(path: &Path, headline: &str) -> StoreErrorKind {
    const SHOWN: usize = 20;
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let below = entries.map(|entry| entry.path()).filter(|path| is_zarr(path));
    let name = |path: PathBuf| Some(shown(path.file_name()?.to_str()?));
    let mut names: Vec<String> = below.filter_map(name).collect();
    names.sort();
    let mut error = Diagnostic::new("zarr-group", headline);
    match names.first() {
        None => error.help("there is none in it"),
        Some(first) => {
            let more = if names.len() > SHOWN { ", ..." } else { "" };
            let listed = names[..names.len().min(SHOWN)].join(", ");
            let place = shown(&path.to_string_lossy());
            error.help(format!(
                "there are {listed}{more}, as in {}/{first}",
                place.trim_end_matches('/')
            ));
        }
    }
    error.into()
}

/// The subset that a region is.
fn subset(region: &Region) -> Result<ArraySubset, StoreErrorKind> {
    let starts = region.starts().iter().map(|&start| start as u64).collect();
    let extents = region.extents().iter().map(|&extent| extent as u64).collect();
    ArraySubset::new_with_start_shape(starts, extents).map_err(|error| bad(&error))
}

fn at(path: &Path, kind: StoreErrorKind) -> StoreError {
    StoreError::new(path.to_string_lossy(), kind)
}

fn bad(error: &dyn core::error::Error) -> StoreErrorKind {
    bad_text(&error.to_string())
}

fn bad_text(text: &str) -> StoreErrorKind {
    Diagnostic::new("bad-zarr", shown(text)).into()
}

/// What the library says of the data; that it panics on some, its users are not to see.
fn guarded<T>(call: impl FnOnce() -> Result<T, StoreErrorKind>) -> Result<T, StoreErrorKind> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("damaged");
        Err(bad_text(&format!("the library that reads it gave up: {text}")))
    })
}
