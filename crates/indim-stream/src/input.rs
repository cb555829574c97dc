//! The inputs of a streamed program, and how its inputs and outputs are stored.

use indim_cpu::ArrayView;
use indim_io::{Sink, Source};
use indim_ops::ArrayType;

/// An input: an array in memory, or a stored array that is read piece by piece.
///
/// ```
/// use indim_cpu::ArrayView;
/// use indim_stream::StreamInput;
///
/// let x = StreamInput::InMemory(ArrayView::from(&[1.0f32, 2.0]));
/// assert_eq!(x.array_type().to_string(), "f32[2]");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamInput<'a> {
    /// In memory.
    InMemory(ArrayView<'a>),
    /// Read by regions.
    Stored(&'a dyn Source),
}

impl StreamInput<'_> {
    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        match self {
            StreamInput::InMemory(view) => view.array_type(),
            StreamInput::Stored(source) => source.array_type(),
        }
    }
}

/// The storage of an array that is read or written piece by piece: the facts that a plan depends on.
///
/// ```
/// use indim_stream::StorageInfo;
///
/// let chunked = StorageInfo { chunks: Some(vec![512, 512]), ..StorageInfo::default() };
/// assert!(!chunked.is_in_memory && chunked.scratch_bytes == 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageInfo {
    /// Whether the array is in memory, so that reading it costs nothing.
    pub is_in_memory: bool,
    /// The shape of its chunks, if it is chunked.
    pub chunks: Option<Vec<usize>>,
    /// Whether the first axis is contiguous, instead of the last.
    pub is_column_major: bool,
    /// Whether it must be written in the order of its elements (a pipe), or read in storage order (a file
    /// compressed as a whole).
    pub is_sequential: bool,
    /// Bytes of scratch memory that reading or writing takes in addition to the pieces.
    pub scratch_bytes: usize,
}

impl StorageInfo {
    /// The storage of an input.
    pub fn input(input: &StreamInput<'_>) -> Self {
        match input {
            StreamInput::InMemory(_) => {
                StorageInfo { is_in_memory: true, ..StorageInfo::default() }
            }
            StreamInput::Stored(source) => StorageInfo {
                chunks: source.chunks().map(<[usize]>::to_vec),
                is_column_major: source.is_column_major(),
                is_sequential: source.is_sequential(),
                scratch_bytes: source.scratch_bytes(),
                is_in_memory: false,
            },
        }
    }

    /// The storage of an output.
    pub fn output(sink: &dyn Sink) -> Self {
        StorageInfo {
            chunks: sink.chunks().map(<[usize]>::to_vec),
            is_sequential: sink.is_sequential(),
            scratch_bytes: sink.scratch_bytes(),
            ..StorageInfo::default()
        }
    }
}
