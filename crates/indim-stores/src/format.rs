//! `ArrayFormat`: the format of a stored array and of a result.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use indim_ops::{ArrayType, DType};

use crate::{Geography, Source, StoreError, picture};

/// A format in which arrays lie in files or folders.
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
    /// A table, of which a column is an array; results are not written so.
    Csv,
    /// A picture.
    Png,
    /// A picture, or a grid with its place on the earth.
    Tiff,
    /// An array in chunks, in a folder.
    Zarr,
}

impl ArrayFormat {
    /// The format that a file or folder of this name is to have.
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

    /// The format of what is there: of a file as its first bytes say, of a folder as what is in it says,
    /// and else as the name says.
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
            // Other first bytes belong to none of these formats, even if the name suggests one.
            _ => ArrayFormat::of_name(path),
        }
    }

    /// The chunks in which a result of this type is written, with what it takes over from others; `None`
    /// for one that the format cannot hold.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType};
    /// use indim_stores::{ArrayFormat, Like};
    ///
    /// let like = Like { chunks: Some(vec![2, 3]), ..Like::default() };
    /// let result = ArrayType::new(DType::U8, [5, 7]);
    /// assert_eq!(ArrayFormat::Zarr.chunks(&result, &like), Some(vec![2, 3]));
    /// assert_eq!(ArrayFormat::Png.chunks(&result, &like), Some(vec![5, 7]));
    /// ```
    pub fn chunks(self, result: &ArrayType, like: &Like) -> Option<Vec<usize>> {
        match self {
            ArrayFormat::Csv => None,
            ArrayFormat::Png | ArrayFormat::Tiff => picture::strip(result),
            ArrayFormat::Zarr => {
                Some(like.chunks.clone().unwrap_or_else(|| default_chunks(result)))
            }
        }
    }

    /// The bytes of memory that writing a result in its chunks takes beside its pieces, as
    /// [`Sink::scratch_bytes`](crate::Sink::scratch_bytes) of what writes it.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType};
    /// use indim_stores::{ArrayFormat, Like};
    ///
    /// let result = ArrayType::new(DType::U8, [1 << 20]);
    /// let like = Like { chunks: Some(vec![1 << 10]), ..Like::default() };
    /// assert_eq!(ArrayFormat::Zarr.scratch_bytes(&result, &like), 2 * 8 << 10); // eight chunks at a time
    /// ```
    pub fn scratch_bytes(self, result: &ArrayType, like: &Like) -> usize {
        let chunks = self.chunks(result, like);
        let chunk = chunks.map_or(0, |chunks| chunk_bytes(result.dtype, &chunks));
        match self {
            ArrayFormat::Csv | ArrayFormat::Tiff => 0,
            ArrayFormat::Png => chunk.saturating_mul(2),
            ArrayFormat::Zarr => encoding_bytes(chunk),
        }
    }

    /// Whether a result is written row by row, in their order.
    ///
    /// ```
    /// use indim_stores::ArrayFormat;
    ///
    /// assert!(ArrayFormat::Png.is_sequential() && !ArrayFormat::Zarr.is_sequential());
    /// ```
    pub fn is_sequential(self) -> bool {
        matches!(self, ArrayFormat::Png | ArrayFormat::Tiff)
    }

    /// Splits `table.csv:height` and `file.tif:2` into the file and the column or page.
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

/// About how many bytes a chunk has where nothing says how large chunks are.
const CHUNK_BYTES: usize = 4 << 20;

/// The bytes of a chunk of such elements.
pub(crate) fn chunk_bytes(dtype: DType, sizes: &[usize]) -> usize {
    sizes.iter().fold(dtype.size(), |bytes, &size| bytes.saturating_mul(size))
}

/// The advice where a limit leaves less memory than so many bytes, which decoding a chunk takes.
#[cfg(any(feature = "tiff", feature = "zarr"))]
pub(crate) fn enough(array_type: &ArrayType, decoding: usize) -> String {
    let array = chunk_bytes(array_type.dtype, &array_type.shape);
    let enough = array.saturating_add(decoding).saturating_add(READ_BYTES);
    format!(
        "a limit of {enough} bytes is enough to read the whole array, or store it in smaller chunks"
    )
}

/// Bytes for what else is held while an array is read.
#[cfg(any(feature = "tiff", feature = "zarr"))]
const READ_BYTES: usize = 1 << 20;

/// Chunks are encoded one by one, or several at a time that have so many bytes together.
const ENCODED_BYTES: usize = 16 << 20;

/// The maximum number of chunks that are encoded at a time.
const MAX_ENCODED: usize = 8;

/// The number of chunks of `chunk_bytes` bytes that are encoded at a time.
pub(crate) fn encoded_at_a_time(chunk_bytes: usize) -> usize {
    (ENCODED_BYTES / chunk_bytes.max(1)).clamp(1, MAX_ENCODED)
}

/// The bytes of chunks that are encoded at a time, and of what becomes of them.
pub(crate) fn encoding_bytes(chunk_bytes: usize) -> usize {
    chunk_bytes.saturating_mul(2 * encoded_at_a_time(chunk_bytes))
}

/// Chunks of about so many bytes, whole along the last axes.
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

/// Properties that a result takes over from its inputs.
///
/// ```
/// use indim_ops::{ArrayType, DType};
/// use indim_stores::Like;
///
/// let like = Like::of(&ArrayType::new(DType::F32, [2, 3]), []);
/// assert_eq!((like.chunks, like.axis_names, like.geography), (None, None, None));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Like {
    /// The chunks of the first array of the same shape that is stored in some.
    pub chunks: Option<Vec<usize>>,
    /// The names of the axes of the first array of the same shape that has some.
    pub axis_names: Option<Vec<String>>,
    /// Where on the earth the grid of the first array lies that says so, if the result has its height and
    /// width.
    pub geography: Option<Geography>,
    /// Whether an input has such a grid, but the result has another height or width.
    pub has_other_size: bool,
}

impl Like {
    /// The properties that a result of this type takes over.
    pub fn of<'a>(result: &ArrayType, sources: impl IntoIterator<Item = &'a dyn Source>) -> Self {
        let mut like = Like::default();
        let mut grid = None;
        for source in sources {
            if source.array_type().shape == result.shape {
                like.chunks = like.chunks.or_else(|| source.chunks().map(<[usize]>::to_vec));
                like.axis_names =
                    like.axis_names.or_else(|| source.axis_names().map(<[String]>::to_vec));
            }
            grid = grid.or_else(|| source.geography().filter(|geography| !geography.is_empty()));
        }
        let size = result.shape.get(..2).filter(|_| result.shape.rank() <= 3);
        let fits = |grid: &&Geography| size.is_some_and(|size| grid.fits(size[0], size[1]));
        like.geography = grid.filter(fits).cloned();
        like.has_other_size = grid.is_some() && like.geography.is_none();
        like
    }

    /// Makes the chunks of a result half as long along the first axis along which they are longer than one;
    /// says whether there was one.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType};
    /// use indim_stores::Like;
    ///
    /// let mut like = Like { chunks: Some(vec![1, 5]), ..Like::default() };
    /// assert!(like.halve_chunks(&ArrayType::new(DType::U8, [9, 9])));
    /// assert_eq!(like.chunks, Some(vec![1, 3]));
    /// ```
    pub fn halve_chunks(&mut self, result: &ArrayType) -> bool {
        let chunks = self.chunks.get_or_insert_with(|| default_chunks(result));
        match chunks.iter_mut().find(|size| **size > 1) {
            Some(size) => *size = size.div_ceil(2),
            None => return false,
        }
        true
    }
}

/// Opens what a text names: `climate.zarr/temperature`, `picture.png`, `grid.tif`, `pages.tif:2`,
/// `table.csv:height`. Nothing if it names none of these formats, or one whose feature is off. What is
/// held in memory has at most `limit` bytes.
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
