//! Results as Zarr arrays, version 3, compressed by Blosc with LZ4.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use indim_arrays::Array;
use indim_graph::terminal::printable;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};
use rayon::prelude::*;
use serde_json::Value;

use super::array_path::{ArrayPath, parent};
use super::metadata::{self, ChunkKeys};
#[cfg(feature = "remote")]
use super::remote_target::RemoteTarget;
use super::{error_at, store};
#[cfg(feature = "remote")]
use crate::is_remote;
use crate::npy::header::swap_bytes;
use crate::{ArrayRegion, StoreError, StoreErrorKind};
use indim_io::codecs::blosc;
#[cfg(feature = "remote")]
use indim_io::concurrent::for_each_concurrently;
use indim_io::copy::{BlockOrigin, copy_block};
use indim_io::result_metadata::{
    chunk_bytes, default_chunks, encoding_bytes, encoding_concurrency,
};
use indim_io::unfinished_folder::UnfinishedFolder;
use indim_io::{CompleteResult, Sink, check_complete, with_elements};

/// Names of the chunk files of results.
const KEYS: ChunkKeys = ChunkKeys { has_prefix: true, separator: '/' };

/// Options of a Zarr result.
///
/// ```
/// use indim_stores::zarr::ZarrOptions;
///
/// let options = ZarrOptions::new().chunks([1, 180, 360]);
/// assert_eq!(options.chunks, Some(vec![1, 180, 360]));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ZarrOptions {
    /// Chunk shape. By default chunks have about 4 MiB and are whole along the last axes.
    pub chunks: Option<Vec<usize>>,
    /// Axis names, one for each axis; an unnamed axis has an empty name.
    pub axis_names: Option<Vec<String>>,
}

impl ZarrOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The chunk shape, in elements.
    pub fn chunks(self, shape: impl Into<Vec<usize>>) -> Self {
        ZarrOptions { chunks: Some(shape.into()), ..self }
    }

    /// Axis names, one for each axis; an unnamed axis has an empty name.
    pub fn axis_names(self, names: impl Into<Vec<String>>) -> Self {
        ZarrOptions { axis_names: Some(names.into()), ..self }
    }
}

/// A Zarr result; [`ZarrArray`](super::ZarrArray) has an example.
///
/// Until the result is complete, it lies in a folder with a hidden name, in the folder that will contain
/// the array or its outermost new group. A complete result replaces an existing array or an empty folder,
/// but not a group or anything else.
pub struct ZarrSink {
    path: PathBuf,
    array_type: ArrayType,
    chunks: Vec<usize>,
    elements_written: usize,
    target: Target,
}

/// Where the chunks are written.
enum Target {
    Folder(FolderTarget),
    #[cfg(feature = "remote")]
    Remote(RemoteTarget),
}

/// An unfinished folder.
struct FolderTarget {
    array_path: ArrayPath,
    /// The folder of the array's chunks, in the unfinished folder.
    chunk_folder: PathBuf,
    folder: UnfinishedFolder,
}

impl FolderTarget {
    fn create(path: &Path, metadata: &Value) -> Result<Self, StoreErrorKind> {
        let array_path = ArrayPath::of(path)?;
        let parent = parent(array_path.outermost());
        let folder =
            UnfinishedFolder::create_in(parent).map_err(|error| without_name(error, parent))?;
        for group in array_path.groups() {
            write_metadata(&folder.path().join(group), &metadata::group_metadata_json())?;
        }
        let chunk_folder = folder.path().join(array_path.array());
        write_metadata(&chunk_folder, metadata)?;
        Ok(FolderTarget { array_path, chunk_folder, folder })
    }
}

impl ZarrSink {
    /// A sink for an array in the folder `path`. For `x.zarr/group/name` the sink creates missing groups.
    ///
    /// # Errors
    /// `io`; `zarr-in-place` if the path has something other than an array or an empty folder, or a parent
    /// folder is not a Zarr 3 group; `wrong-options` if chunks or names do not match the rank; `too-large`.
    pub fn create(
        path: &Path,
        array_type: &ArrayType,
        options: &ZarrOptions,
    ) -> Result<Self, StoreError> {
        Self::create_inner(path, array_type, options).map_err(|kind| error_at(path, kind))
    }

    fn create_inner(
        path: &Path,
        array_type: &ArrayType,
        options: &ZarrOptions,
    ) -> Result<Self, StoreErrorKind> {
        let rank = array_type.shape.rank();
        let counts =
            [options.chunks.as_ref().map(Vec::len), options.axis_names.as_ref().map(Vec::len)];
        if counts.into_iter().flatten().any(|count| count != rank) {
            let message =
                format!("{array_type} has {rank} axes: chunks and names are one for each");
            return Err(Diagnostic::new(ErrorCode::WRONG_OPTIONS, message).into());
        }
        let chunks = options.chunks.clone().unwrap_or_else(|| default_chunks(array_type));
        let axis_names = options.axis_names.as_deref();
        let ArrayType { dtype, shape } = array_type;
        let text = metadata::array_metadata_json(shape, *dtype, &chunks, axis_names)?;
        #[cfg(feature = "remote")]
        let target = match is_remote(path) {
            true => Target::Remote(RemoteTarget::create(path, &text)?),
            false => Target::Folder(FolderTarget::create(path, &text)?),
        };
        #[cfg(not(feature = "remote"))]
        let target = Target::Folder(FolderTarget::create(path, &text)?);
        let (path, array_type) = (path.to_owned(), array_type.clone());
        Ok(ZarrSink { path, array_type, chunks, elements_written: 0, target })
    }

    fn store(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreErrorKind> {
        with_elements(region, values, &self.array_type, |elements| {
            // The chunks are not collected: there may be as many as elements.
            let mut chunks = ArrayRegion::grid(region.extents(), &self.chunks);
            let concurrency = encoding_concurrency(self.chunk_bytes());
            #[cfg(feature = "remote")]
            if let Target::Remote(_) = self.target {
                let store = |chunk| self.store_chunk(region, &chunk, elements);
                return for_each_concurrently(chunks, concurrency, store);
            }
            loop {
                let next: Vec<ArrayRegion> = chunks.by_ref().take(concurrency).collect();
                if next.is_empty() {
                    return Ok(());
                }
                next.par_iter().try_for_each(|chunk| self.store_chunk(region, chunk, elements))?;
            }
        })?;
        self.elements_written += region.extents().iter().product::<usize>();
        Ok(())
    }

    /// Stores one chunk of a region, padded with zeros beyond the array. `chunk` is relative to the
    /// region.
    fn store_chunk(
        &self,
        region: &ArrayRegion,
        chunk: &ArrayRegion,
        elements: &[u8],
    ) -> Result<(), StoreErrorKind> {
        let size = self.array_type.dtype.size();
        let starts = region.starts().iter().zip(chunk.starts()).zip(&self.chunks);
        let indices: Vec<u64> =
            starts.map(|((start, within), chunk)| ((start + within) / chunk) as u64).collect();
        let mut bytes = vec![0; self.chunks.iter().product::<usize>() * size];
        let zeros = vec![0; self.chunks.len()];
        let from = (elements, BlockOrigin::new(region.extents(), chunk.starts()));
        let to = (&mut bytes[..], BlockOrigin::new(&self.chunks, &zeros));
        copy_block(from, to, chunk.extents(), size);
        // A missing chunk has the fill value, which is zero. In a remote store a chunk of an unfinished
        // result may be there.
        let is_missing = matches!(self.target, Target::Folder(_));
        if is_missing && bytes.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        if cfg!(target_endian = "big") {
            swap_bytes(self.array_type.dtype, &mut bytes);
        }
        let (key, bytes) = (KEYS.key(&indices), self.encode(bytes));
        match &self.target {
            Target::Folder(target) => Ok(store::write(&target.chunk_folder.join(key), &bytes)?),
            #[cfg(feature = "remote")]
            Target::Remote(target) => target.put(&key, bytes),
        }
    }

    fn encode(&self, bytes: Vec<u8>) -> Vec<u8> {
        match blosc::is_encodable(bytes.len()) {
            true => blosc::compress(&bytes, self.array_type.dtype.size()),
            false => bytes,
        }
    }

    fn chunk_bytes(&self) -> usize {
        chunk_bytes(self.array_type.dtype, &self.chunks)
    }

    /// Fails if elements are missing; otherwise flushes the result to the disk.
    fn check_complete(&self) -> Result<(), StoreErrorKind> {
        check_complete(&self.array_type, self.elements_written)?;
        match &self.target {
            Target::Folder(target) => Ok(sync(target.folder.path())?),
            #[cfg(feature = "remote")]
            Target::Remote(_) => Ok(()),
        }
    }
}

/// Writes the metadata of an array or group.
fn write_metadata(folder: &Path, metadata: &Value) -> io::Result<()> {
    store::write(&folder.join("zarr.json"), format!("{metadata:#}\n").as_bytes())
}

/// Removes the hidden name from an error: the user does not know it.
fn without_name(error: io::Error, folder: &Path) -> io::Error {
    match folder.exists() {
        false => io::Error::new(
            error.kind(),
            format!("there is no folder {}", printable(&folder.to_string_lossy())),
        ),
        true => io::Error::from(error.kind()),
    }
}

/// Flushes a folder and its files to the disk.
fn sync(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => sync(&path)?,
            false => File::open(&path)?.sync_all()?,
        }
    }
    sync_folder(folder)
}

/// Flushes the directory entries of a folder, if the system supports it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

impl core::fmt::Debug for ZarrSink {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "ZarrSink({}, {})", self.path.display(), self.array_type)
    }
}

impl Sink for ZarrSink {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn chunks(&self) -> Option<&[usize]> {
        Some(&self.chunks)
    }

    /// Concurrently encoded chunks and their encodings.
    fn scratch_bytes(&self) -> usize {
        encoding_bytes(self.chunk_bytes())
    }

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
        self.store(region, values).map_err(|kind| error_at(&self.path, kind))
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        self.check_complete().map_err(|kind| error_at(&self.path, kind))?;
        Ok(Box::new(CompleteArray { path: self.path, target: self.target }))
    }
}

/// A complete result under a hidden name, or without metadata.
struct CompleteArray {
    path: PathBuf,
    target: Target,
}

impl FolderTarget {
    fn commit(self) -> Result<(), StoreErrorKind> {
        let (from, to) = self.array_path.rename_paths(self.folder.path())?;
        self.folder.rename(&from, &to)?;
        sync_folder(parent(&to)).map_err(Into::into)
    }
}

impl core::fmt::Debug for CompleteArray {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "CompleteArray({})", self.path.display())
    }
}

impl CompleteResult for CompleteArray {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let committed = match self.target {
            Target::Folder(target) => target.commit(),
            #[cfg(feature = "remote")]
            Target::Remote(target) => target.commit(),
        };
        committed.map_err(|kind| error_at(&self.path, kind))
    }
}
