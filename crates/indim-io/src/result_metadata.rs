//! The metadata that results inherit from their inputs, and the chunks of results.

use indim_ops::{ArrayType, DType};

use crate::{Geography, Source};

/// Approximate bytes of a chunk if neither options nor inputs give a chunk shape.
const CHUNK_BYTES: usize = 4 << 20;

/// Bytes of an array of this element type and these sizes, saturating.
pub fn chunk_bytes(dtype: DType, sizes: &[usize]) -> usize {
    sizes.iter().fold(dtype.size(), |bytes, &size| bytes.saturating_mul(size))
}

/// Advice for a memory limit that is too low: the limit that suffices to read the whole array. `decode_bytes`
/// is the number of bytes that decoding a chunk takes.
pub fn memory_limit_advice(array_type: &ArrayType, decode_bytes: usize) -> String {
    let array = chunk_bytes(array_type.dtype, &array_type.shape);
    let enough = array.saturating_add(decode_bytes).saturating_add(READ_OVERHEAD_BYTES);
    format!(
        "a limit of {enough} bytes is enough to read the whole array, or store it in smaller chunks"
    )
}

/// Bytes that a read allocates in addition to the array and the decoding of a chunk, rounded up.
const READ_OVERHEAD_BYTES: usize = 1 << 20;

/// Maximum bytes of the chunks that are encoded concurrently; a larger chunk is encoded alone.
const MAX_CONCURRENT_BYTES: usize = 16 << 20;

/// Maximum number of chunks encoded concurrently.
const MAX_CONCURRENT_CHUNKS: usize = 8;

/// Number of chunks of `chunk_bytes` bytes encoded concurrently.
pub fn encoding_concurrency(chunk_bytes: usize) -> usize {
    (MAX_CONCURRENT_BYTES / chunk_bytes.max(1)).clamp(1, MAX_CONCURRENT_CHUNKS)
}

/// Bytes of the chunks that are encoded concurrently, and of their encodings, which are assumed to be no
/// larger than the chunks.
pub fn encoding_bytes(chunk_bytes: usize) -> usize {
    chunk_bytes.saturating_mul(2 * encoding_concurrency(chunk_bytes))
}

/// A chunk shape of about `CHUNK_BYTES`, whole along the last axes.
pub fn default_chunks(array_type: &ArrayType) -> Vec<usize> {
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
/// use indim_io::ResultMetadata;
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

    /// Halves the chunk shape of a result along its longest axis. Returns `false` if all chunk sizes are
    /// 1 already.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType};
    /// use indim_io::ResultMetadata;
    ///
    /// let mut metadata = ResultMetadata { chunks: Some(vec![1, 5]), ..ResultMetadata::default() };
    /// assert!(metadata.halve_chunks(&ArrayType::new(DType::U8, [9, 9])));
    /// assert_eq!(metadata.chunks, Some(vec![1, 3]));
    /// ```
    pub fn halve_chunks(&mut self, result: &ArrayType) -> bool {
        let chunks = self.chunks.get_or_insert_with(|| default_chunks(result));
        // A tie goes to the first axis.
        match chunks.iter_mut().rev().max_by_key(|size| **size).filter(|size| **size > 1) {
            Some(size) => *size = size.div_ceil(2),
            None => return false,
        }
        true
    }
}
