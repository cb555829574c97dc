//! Formats of stored arrays, and the metadata that results inherit.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use indim_ops::{ArrayType, DType};

use crate::{Geography, Source, StoreError, image};

/// A file or folder format of arrays.
///
/// ```
/// use std::path::Path;
/// use indim_stores::ArrayFormat;
///
/// assert_eq!(ArrayFormat::of_name(Path::new("out.zarr/ndvi")), Some(ArrayFormat::Zarr));
/// assert_eq!(ArrayFormat::of_name(Path::new("ndvi.TIF")), Some(ArrayFormat::Tiff));
/// assert_eq!(ArrayFormat::of_name(Path::new("x.npy")), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayFormat {
    /// A table; each column is an array. Read only.
    Csv,
    /// An image.
    Png,
    /// An image, or a grid with a geographic position.
    Tiff,
    /// A chunked array in a folder.
    Zarr,
}

impl ArrayFormat {
    /// The format that a name implies: by extension, or for Zarr by a parent folder `*.zarr`.
    pub fn of_name(path: &Path) -> Option<ArrayFormat> {
        let extension =
            |path: &Path| path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
        let is_zarr = |path: &Path| extension(path).is_some_and(|extension| extension == "zarr");
        match extension(path).as_deref() {
            Some("csv" | "tsv") => Some(ArrayFormat::Csv),
            Some("png") => Some(ArrayFormat::Png),
            Some("tif" | "tiff") => Some(ArrayFormat::Tiff),
            _ => path.ancestors().any(is_zarr).then_some(ArrayFormat::Zarr),
        }
    }

    /// The format of an existing file or folder: by the first bytes of a file, by the metadata files of a
    /// folder, otherwise by the name.
    pub fn of_content(path: &Path) -> Option<ArrayFormat> {
        if path.is_dir() {
            let has = |name: &&str| path.join(name).is_file();
            let is_zarr = ["zarr.json", ".zarray", ".zgroup"].iter().any(has);
            return if is_zarr { Some(ArrayFormat::Zarr) } else { ArrayFormat::of_name(path) };
        }
        let mut start = [0; 8];
        let is_file = path.is_file();
        let read = is_file.then(|| File::open(path).and_then(|mut file| file.read(&mut start)));
        let start = &start[..read.and_then(Result::ok).unwrap_or(0)];
        match start {
            b"\x89PNG\r\n\x1a\n" => Some(ArrayFormat::Png),
            _ if [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"]
                .iter()
                .any(|magic| start.starts_with(*magic)) =>
            {
                Some(ArrayFormat::Tiff)
            }
            // CSV and unknown content have no magic bytes, so the name decides.
            _ => ArrayFormat::of_name(path),
        }
    }

    /// Chunk shape of a result with this type and metadata; `None` if the format cannot store it.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType};
    /// use indim_stores::{ArrayFormat, ResultMetadata};
    ///
    /// let metadata = ResultMetadata { chunks: Some(vec![2, 3]), ..ResultMetadata::default() };
    /// let result = ArrayType::new(DType::U8, [5, 7]);
    /// assert_eq!(ArrayFormat::Zarr.chunks(&result, &metadata), Some(vec![2, 3]));
    /// assert_eq!(ArrayFormat::Png.chunks(&result, &metadata), Some(vec![5, 7]));
    /// ```
    pub fn chunks(self, result: &ArrayType, metadata: &ResultMetadata) -> Option<Vec<usize>> {
        match self {
            ArrayFormat::Csv => None,
            ArrayFormat::Png | ArrayFormat::Tiff => image::strip(result),
            ArrayFormat::Zarr => {
                Some(metadata.chunks.clone().unwrap_or_else(|| default_chunks(result)))
            }
        }
    }

    /// Bytes of memory that writing a result takes in addition to its pieces: the
    /// [`Sink::scratch_bytes`](crate::Sink::scratch_bytes) of its sink.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType};
    /// use indim_stores::{ArrayFormat, ResultMetadata};
    ///
    /// let result = ArrayType::new(DType::U8, [1 << 20]);
    /// let metadata = ResultMetadata { chunks: Some(vec![1 << 10]), ..ResultMetadata::default() };
    /// assert_eq!(ArrayFormat::Zarr.scratch_bytes(&result, &metadata), 2 * 8 << 10); // 8 chunks
    /// ```
    pub fn scratch_bytes(self, result: &ArrayType, metadata: &ResultMetadata) -> usize {
        let chunks = self.chunks(result, metadata);
        let chunk = chunks.map_or(0, |chunks| chunk_bytes(result.dtype, &chunks));
        match self {
            ArrayFormat::Csv | ArrayFormat::Tiff => 0,
            ArrayFormat::Png => chunk.saturating_mul(2),
            ArrayFormat::Zarr => encoding_bytes(chunk),
        }
    }

    /// Whether a result must be written row by row, in order.
    ///
    /// ```
    /// use indim_stores::ArrayFormat;
    ///
    /// assert!(ArrayFormat::Png.is_sequential() && !ArrayFormat::Zarr.is_sequential());
    /// ```
    pub fn is_sequential(self) -> bool {
        matches!(self, ArrayFormat::Png | ArrayFormat::Tiff)
    }

    /// Splits `table.csv:height` and `file.tif:2` into path and column or page.
    ///
    /// ```
    /// use std::path::Path;
    /// use indim_stores::ArrayFormat;
    ///
    /// let column = ArrayFormat::split("people.csv:height");
    /// assert_eq!(column, (Path::new("people.csv"), Some("height")));
    /// assert_eq!(ArrayFormat::split("climate.zarr/t"), (Path::new("climate.zarr/t"), None));
    /// ```
    pub fn split(text: &str) -> (&Path, Option<&str>) {
        let lower = text.to_ascii_lowercase();
        let ends = [".csv:", ".tsv:", ".tif:", ".tiff:"].iter();
        let end = ends.filter_map(|end| lower.find(end).map(|at| at + end.len())).min();
        match end {
            Some(end) => (Path::new(&text[..end - 1]), Some(&text[end..])),
            None => (Path::new(text), None),
        }
    }
}

/// Approximate bytes of a chunk if neither options nor inputs give a chunk shape.
const CHUNK_BYTES: usize = 4 << 20;

/// Bytes of an array of this element type and these sizes, saturating.
pub(crate) fn chunk_bytes(dtype: DType, sizes: &[usize]) -> usize {
    sizes.iter().fold(dtype.size(), |bytes, &size| bytes.saturating_mul(size))
}

/// Advice for a limit below `decoding`, the bytes that decoding a chunk takes.
#[cfg(any(feature = "tiff", feature = "zarr"))]
pub(crate) fn enough(array_type: &ArrayType, decoding: usize) -> String {
    let array = chunk_bytes(array_type.dtype, &array_type.shape);
    let enough = array.saturating_add(decoding).saturating_add(READ_BYTES);
    format!(
        "a limit of {enough} bytes is enough to read the whole array, or store it in smaller chunks"
    )
}

/// Bytes of all other memory of a read, rounded up.
#[cfg(any(feature = "tiff", feature = "zarr"))]
const READ_BYTES: usize = 1 << 20;

/// Bytes of chunks encoded concurrently; a larger chunk is encoded alone.
const ENCODED_BYTES: usize = 16 << 20;

/// Maximum number of chunks encoded concurrently.
const MAX_ENCODED: usize = 8;

/// Number of chunks of `chunk_bytes` bytes encoded concurrently.
pub(crate) fn encoded_at_a_time(chunk_bytes: usize) -> usize {
    (ENCODED_BYTES / chunk_bytes.max(1)).clamp(1, MAX_ENCODED)
}

/// Bytes of concurrently encoded chunks and of their encodings, taken as no larger than the chunks.
pub(crate) fn encoding_bytes(chunk_bytes: usize) -> usize {
    chunk_bytes.saturating_mul(2 * encoded_at_a_time(chunk_bytes))
}

/// A chunk shape of about `CHUNK_BYTES`, whole along the last axes.
pub(crate) fn default_chunks(array_type: &ArrayType) -> Vec<usize> {
    let mut left = (CHUNK_BYTES / array_type.dtype.size()).max(1);
    let chunk = |&size: &usize| {
        let chunk = size.clamp(1, left);
        left = (left / chunk).max(1);
        chunk
    };
    let mut chunks: Vec<usize> = array_type.shape.iter().rev().map(chunk).collect();
    chunks.reverse();
    chunks
}

/// Metadata that a result inherits from its inputs.
///
/// ```
/// use indim_ops::{ArrayType, DType};
/// use indim_stores::ResultMetadata;
///
/// let metadata = ResultMetadata::of(&ArrayType::new(DType::F32, [2, 3]), []);
/// assert_eq!((metadata.chunks, metadata.axis_names, metadata.geography), (None, None, None));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ResultMetadata {
    /// Chunk shape of the first chunked input of the same shape.
    pub chunks: Option<Vec<usize>>,
    /// Axis names of the first input of the same shape that has some.
    pub axis_names: Option<Vec<String>>,
    /// Geography of the first input that has one, if the result has the same height and width.
    pub geography: Option<Geography>,
    /// Whether an input has a geography, but the result has another height or width.
    pub has_other_grid_size: bool,
}

impl ResultMetadata {
    /// The metadata that a result of this type inherits from these sources.
    pub fn of<'a>(result: &ArrayType, sources: impl IntoIterator<Item = &'a dyn Source>) -> Self {
        let mut metadata = ResultMetadata::default();
        let mut grid = None;
        for source in sources {
            if source.array_type().shape == result.shape {
                metadata.chunks =
                    metadata.chunks.or_else(|| source.chunks().map(<[usize]>::to_vec));
                metadata.axis_names =
                    metadata.axis_names.or_else(|| source.axis_names().map(<[String]>::to_vec));
            }
            grid = grid.or_else(|| source.geography().filter(|geography| !geography.is_empty()));
        }
        let size = result.shape.get(..2).filter(|_| result.shape.rank() <= 3);
        let fits = |grid: &&Geography| size.is_some_and(|size| grid.fits(size[0], size[1]));
        metadata.geography = grid.filter(fits).cloned();
        metadata.has_other_grid_size = grid.is_some() && metadata.geography.is_none();
        metadata
    }

    /// Halves the chunk shape of a result along its longest axis. Returns whether a chunk size was above 1.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType};
    /// use indim_stores::ResultMetadata;
    ///
    /// let mut metadata = ResultMetadata { chunks: Some(vec![1, 5]), ..ResultMetadata::default() };
    /// assert!(metadata.halve_chunks(&ArrayType::new(DType::U8, [9, 9])));
    /// assert_eq!(metadata.chunks, Some(vec![1, 3]));
    /// ```
    pub fn halve_chunks(&mut self, result: &ArrayType) -> bool {
        let chunks = self.chunks.get_or_insert_with(|| default_chunks(result));
        // The first of equals.
        match chunks.iter_mut().rev().max_by_key(|size| **size).filter(|size| **size > 1) {
            Some(size) => *size = size.div_ceil(2),
            None => return false,
        }
        true
    }
}

/// Opens the array that a text names: `climate.zarr/temperature`, `image.png`, `grid.tif`, `pages.tif:2`,
/// `table.csv:height`. Returns `None` if the format is unknown or its feature is off. Decoding holds at most
/// `limit` bytes.
///
/// ```
/// assert!(indim_stores::open("x.npy", usize::MAX).is_none());
/// ```
pub fn open(text: &str, limit: usize) -> Option<Result<Box<dyn Source>, StoreError>> {
    let (path, part) = ArrayFormat::split(text);
    open_as(ArrayFormat::of_content(path)?, path, part, limit)
}

#[allow(unused_variables, unreachable_patterns, reason = "features are off")]
fn open_as(
    format: ArrayFormat,
    path: &Path,
    part: Option<&str>,
    limit: usize,
) -> Option<Result<Box<dyn Source>, StoreError>> {
    #[allow(dead_code, reason = "all features are off")]
    fn boxed(source: impl Source + 'static) -> Box<dyn Source> {
        Box::new(source)
    }
    match format {
        #[cfg(feature = "csv")]
        ArrayFormat::Csv => Some(crate::csv::CsvColumn::open(path, part, limit).map(boxed)),
        #[cfg(feature = "png")]
        ArrayFormat::Png => Some(crate::png::PngFile::open(path, limit).map(boxed)),
        #[cfg(feature = "tiff")]
        ArrayFormat::Tiff => Some(match part.map(str::parse) {
            Some(Err(_)) => Err(no_page(path, part.unwrap_or_default())),
            page => crate::tiff::TiffFile::open(path, page.and_then(Result::ok), limit).map(boxed),
        }),
        #[cfg(feature = "zarr")]
        ArrayFormat::Zarr => Some(crate::zarr::ZarrArray::open(path, limit).map(boxed)),
        _ => None,
    }
}

#[cfg(feature = "tiff")]
fn no_page(path: &Path, part: &str) -> StoreError {
    let part = indim_graph::terminal::shown(part);
    let message =
        format!("`{part}` is no number of a page; they are counted from 0, as in `file.tif:0`");
    StoreError::new(
        path.to_string_lossy(),
        indim_shape::Diagnostic::new(indim_shape::ErrorCode::NO_PAGE, message),
    )
}
