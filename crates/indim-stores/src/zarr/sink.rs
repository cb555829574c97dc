//! Results as Zarr arrays, version 3, compressed with zstd.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use indim_arrays::Buffer;
use indim_graph::terminal::shown;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};
use rayon::prelude::*;
use zarrs::array::{Array, ArrayBuilder, ArrayBytes, ArrayError, ArrayMetadataOptions, FillValue};
use zarrs::group::GroupBuilder;
use zarrs::storage::StorageError;

use super::array_path::{ArrayPath, parent};
use super::store::FolderStore;
use super::unfinished_folder::UnfinishedFolder;
use super::{at, bad, codec, element, guarded};
use crate::copy::{BlockOrigin, copy_block};
use crate::format::{chunk_bytes, default_chunks, encoded_at_a_time, encoding_bytes};
use crate::sink::{CompleteResult, Sink, check_complete, with_elements};
use crate::{Region, StoreError, StoreErrorKind};

/// Options of a Zarr result.
#[derive(Debug, Clone, Default)]
pub struct ZarrOptions {
    /// Chunk shape. By default chunks have about 4 MiB and are whole along the last axes.
    pub chunks: Option<Vec<usize>>,
    /// Axis names, one for each axis; an unnamed axis has an empty name.
    pub axis_names: Option<Vec<String>>,
}

/// A Zarr result; [`ZarrArray`](super::ZarrArray) has an example.
///
/// Until it is complete, its folder has a hidden name in the same folder. It replaces an existing array, but
/// not a group or anything else.
pub struct ZarrSink {
    place: ArrayPath,
    array_type: ArrayType,
    chunks: Vec<usize>,
    array: Array<FolderStore>,
    elements_written: usize,
    folder: UnfinishedFolder,
}

impl ZarrSink {
    /// A sink for an array in the folder `path`. For `x.zarr/group/name` the sink creates missing groups.
    ///
    /// # Errors
    /// `io`; `zarr-in-place` if the path has something other than an array, or a parent folder is not a Zarr
    /// 3 group; `wrong-options` if chunks or names do not match the rank; `too-large`.
    pub fn create(
        path: &Path,
        array_type: &ArrayType,
        options: &ZarrOptions,
    ) -> Result<Self, StoreError> {
        Self::create_unnamed(path, array_type, options).map_err(|kind| at(path, kind))
    }

    fn create_unnamed(
        path: &Path,
        array_type: &ArrayType,
        options: &ZarrOptions,
    ) -> Result<Self, StoreErrorKind> {
        codec::register();
        let rank = array_type.shape.rank();
        let counts =
            [options.chunks.as_ref().map(Vec::len), options.axis_names.as_ref().map(Vec::len)];
        if counts.into_iter().flatten().any(|count| count != rank) {
            let message =
                format!("{array_type} has {rank} axes: chunks and names are one for each");
            return Err(Diagnostic::new(ErrorCode::WRONG_OPTIONS, message).into());
        }
        let chunks = options.chunks.clone().unwrap_or_else(|| default_chunks(array_type));
        let place = ArrayPath::of(path)?;
        let parent = parent(place.outermost());
        let folder =
            UnfinishedFolder::create_in(parent).map_err(|error| without_name(error, parent))?;
        let store = Arc::new(FolderStore::new(folder.path()));
        for group in place.groups() {
            let group = GroupBuilder::new().build(store.clone(), &group).map_err(|e| bad(&e))?;
            group.store_metadata().map_err(|error| of_storage(&error))?;
        }
        let array = guarded(|| build(&store, &place.array(), array_type, &chunks, options))?;
        let array_type = array_type.clone();
        Ok(ZarrSink { place, array_type, chunks, array, elements_written: 0, folder })
    }

    fn store(&mut self, region: &Region, piece: &Buffer) -> Result<(), StoreErrorKind> {
        with_elements(region, piece, &self.array_type, |elements| {
            // The chunks are not collected: there may be as many as elements.
            let mut chunks = Region::grid(region.extents(), &self.chunks);
            let at_a_time = encoded_at_a_time(self.chunk_bytes());
            loop {
                let next: Vec<Region> = chunks.by_ref().take(at_a_time).collect();
                if next.is_empty() {
                    return Ok(());
                }
                next.par_iter().try_for_each(|chunk| self.store_chunk(region, chunk, elements))?;
            }
        })?;
        self.elements_written += region.extents().iter().product::<usize>();
        Ok(())
    }

    /// Stores one chunk of a piece, padded with zeros beyond the array.
    fn store_chunk(
        &self,
        region: &Region,
        chunk: &Region,
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
        let store = || {
            let stored = self.array.store_chunk(&indices, ArrayBytes::new_flen(bytes));
            stored.map_err(|error| io_or_bad(&error))
        };
        guarded(store)
    }

    fn chunk_bytes(&self) -> usize {
        chunk_bytes(self.array_type.dtype, &self.chunks)
    }

    fn check_complete(&self) -> Result<(), StoreErrorKind> {
        check_complete(&self.array_type, self.elements_written)?;
        Ok(sync(self.folder.path())?)
    }
}

/// Creates the array: stores its metadata, but no chunks.
fn build(
    store: &Arc<FolderStore>,
    path: &str,
    array_type: &ArrayType,
    chunks: &[usize],
    options: &ZarrOptions,
) -> Result<Array<FolderStore>, StoreErrorKind> {
    let shape: Vec<u64> = array_type.shape.iter().map(|&size| size as u64).collect();
    let chunk: Vec<u64> = chunks.iter().map(|&size| size as u64).collect();
    let zero = FillValue::new(vec![0; array_type.dtype.size()]);
    let mut builder = ArrayBuilder::new(shape, chunk, element::data_type(array_type.dtype), zero);
    builder.bytes_to_bytes_codecs(vec![codec::zstd()]);
    let name = |name: &String| Some(name.clone()).filter(|name| !name.is_empty());
    let names = options.axis_names.as_ref();
    builder.dimension_names(names.map(|names| names.iter().map(name).collect::<Vec<_>>()));
    let array = builder.build(store.clone(), path).map_err(|error| bad(&error))?;
    let metadata = ArrayMetadataOptions::default().with_include_zarrs_metadata(false);
    array.store_metadata_opt(&metadata).map_err(|error| of_storage(&error))?;
    Ok(array)
}

/// Removes the hidden name from an error: the user does not know it.
fn without_name(error: io::Error, folder: &Path) -> io::Error {
    match folder.exists() {
        false => io::Error::new(
            error.kind(),
            format!("there is no folder {}", shown(&folder.to_string_lossy())),
        ),
        true => io::Error::from(error.kind()),
    }
}

/// The system error inside an error of the library, if any.
fn io_or_bad(error: &ArrayError) -> StoreErrorKind {
    match error {
        ArrayError::StorageError(error) => of_storage(error),
        other => bad(other),
    }
}

fn of_storage(error: &StorageError) -> StoreErrorKind {
    match error {
        StorageError::IOError(error) => match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code).into(),
            None => io::Error::new(error.kind(), error.to_string()).into(),
        },
        other => bad(other),
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
        write!(formatter, "ZarrSink({}, {})", self.place.path().display(), self.array_type)
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

    fn write(&mut self, region: &Region, piece: &Buffer) -> Result<(), StoreError> {
        self.store(region, piece).map_err(|kind| at(self.place.path(), kind))
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        self.check_complete().map_err(|kind| at(self.place.path(), kind))?;
        let Self { place, folder, .. } = *self;
        Ok(Box::new(CompleteFolder { place, folder }))
    }
}

/// A complete result under a hidden name.
#[derive(Debug)]
struct CompleteFolder {
    place: ArrayPath,
    folder: UnfinishedFolder,
}

impl CompleteFolder {
    fn put(&self) -> Result<(), StoreErrorKind> {
        let (from, to) = self.place.renamed(self.folder.path())?;
        self.folder.put(&from, &to)?;
        sync_folder(parent(&to)).map_err(Into::into)
    }
}

impl CompleteResult for CompleteFolder {
    fn put_in_place(self: Box<Self>) -> Result<(), StoreError> {
        self.put().map_err(|kind| at(self.place.path(), kind))
    }
}
