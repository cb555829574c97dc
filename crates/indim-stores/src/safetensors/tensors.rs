//! Tensors in `.safetensors` files.
//!
//! A file is a length, a JSON header with type, shape and byte range of each tensor, and the tensors,
//! row-major and little-endian, without gaps. `header.rs` parses and checks the header. The format:
//! <https://huggingface.co/docs/safetensors>.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use indim_arrays::safetensors::{dtype_of, tensor_dtype};
use indim_ops::{ArrayType, DType};
use indim_shape::{MAX_RANK, RankLimitError, Shape};
use safetensors::tensor::{Metadata, TensorInfo};

use super::header::{METADATA_KEY, find, names};
use crate::format_code::NamedArray;
use crate::npy::header::{ArrayHeader, swap_bytes};
use crate::npy::read::{open, read_elements};
use crate::{ArrayFile, FileError, FileErrorKind};
use indim_io::npy::check_length;

/// Maximum bytes of a header. 100,000 tensors take about 10 MB.
const MAX_HEADER_BYTES: usize = 16 << 20;

/// Bytes written at a time: a multiple of the size of every element type.
const BLOCK_BYTES: usize = 1 << 20;

/// Bytes of the header length at the start of a file.
const LENGTH_BYTES: usize = 8;

/// Whether the byte order of files is not the native one.
const IS_SWAPPED: bool = cfg!(target_endian = "big");

/// Reads a tensor of a file into memory.
///
/// ```
/// use indim_stores::{read_tensor, write_safetensors_to};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.safetensors");
/// let bytes = ArrayType::new(DType::U8, [2]);
/// assert!(write_safetensors_to(std::fs::File::create(&path)?, &[("w", &bytes, &[1, 2][..])]).is_ok());
/// assert_eq!(read_tensor(&path, "w", usize::MAX)?.bytes(), [1, 2]);
/// assert_eq!(read_tensor(&path, "b", usize::MAX).unwrap_err().code(), "no-member");
/// assert_eq!(read_tensor(&path, "w", 1).unwrap_err().code(), "memory-limit");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `bad-archive`, `bad-header` if the file is damaged; `no-member`; `unknown-element-type`; `rank-limit`,
/// `memory-limit`, `out-of-memory`; `io` and `not-a-file`.
pub fn read_tensor(path: &Path, tensor: &str, limit: usize) -> Result<ArrayFile, FileError> {
    let read = || {
        let (mut file, header) = locate(path, tensor)?;
        file.seek(SeekFrom::Start(header.elements.start as u64))?;
        let bytes = header.elements.len();
        // Relative to the current file position.
        let header = ArrayHeader { elements: 0..bytes, ..header };
        read_elements(file, &[], header, limit, bytes)
    };
    read().map_err(|kind| FileError::new(path, kind))
}

/// Element type and shape of a tensor; reads only the header.
///
/// ```
/// use indim_stores::{read_tensor_type, write_safetensors_to};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.safetensors");
/// let bytes = ArrayType::new(DType::Bf16, [1]);
/// assert!(write_safetensors_to(std::fs::File::create(&path)?, &[("w", &bytes, &[0, 0][..])]).is_ok());
/// assert_eq!(read_tensor_type(&path, "w")?.to_string(), "bf16[1]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`read_tensor`], except `memory-limit` and `out-of-memory`.
pub fn read_tensor_type(path: &Path, tensor: &str) -> Result<ArrayType, FileError> {
    let located = locate(path, tensor).map_err(|kind| FileError::new(path, kind))?;
    Ok(located.1.array_type)
}

/// Finds a tensor in a file.
pub(crate) fn locate(path: &Path, tensor: &str) -> Result<(File, ArrayHeader), FileErrorKind> {
    let (mut file, length) = open(path)?;
    let header = locate_in(&mut file, length, tensor)?;
    Ok((file, header))
}

/// Finds a tensor in a file of `file_length` bytes by its header.
pub(crate) fn locate_in(
    input: &mut impl Read,
    file_length: usize,
    tensor: &str,
) -> Result<ArrayHeader, FileErrorKind> {
    let (header, available) = read_header(input, file_length)?;
    let found = find(&header, tensor)?;
    if found.data_bytes != available {
        let message = format!(
            "the header has tensors of {} bytes in all, {available} bytes follow",
            found.data_bytes
        );
        return Err(bad_archive(&message));
    }
    let Some(info) = found.tensor else {
        let (member, members) = (tensor.to_owned(), names(&header)?);
        return Err(FileErrorKind::NoMember { member, members });
    };
    let start = LENGTH_BYTES + header.len();
    RankLimitError::check(info.shape.len(), MAX_RANK).map_err(FileErrorKind::RankLimit)?;
    let dtype = dtype_of(info.dtype);
    let unknown = || FileErrorKind::UnknownElementType { descr: info.dtype.to_string() };
    let dtype = dtype.ok_or_else(unknown)?;
    let array_type = ArrayType::new(dtype, Shape::from(&info.shape[..]));
    // `find` has compared the offsets with the shape.
    array_type.shape.byte_count(dtype.size()).map_err(FileErrorKind::TooLarge)?;
    let (first, end) = info.data_offsets;
    let elements = start + first..start + end;
    Ok(ArrayHeader { array_type, is_column_major: false, is_swapped: IS_SWAPPED, elements })
}

/// The names of the tensors.
pub(crate) fn tensor_names(path: &Path) -> Result<Vec<String>, FileErrorKind> {
    let (mut file, length) = open(path)?;
    names(&read_header(&mut file, length)?.0)
}

/// Reads the header, and returns the number of bytes after it.
fn read_header(
    input: &mut impl Read,
    file_length: usize,
) -> Result<(Vec<u8>, usize), FileErrorKind> {
    let mut length = [0; LENGTH_BYTES];
    input.read_exact(&mut length).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => bad_archive("it is shorter than the length of its header"),
        _ => FileErrorKind::Io(error),
    })?;
    let claimed = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
    let available = file_length.saturating_sub(LENGTH_BYTES);
    if claimed > available.min(MAX_HEADER_BYTES) {
        return Err(FileErrorKind::HeaderTooLong { claimed, available, max: MAX_HEADER_BYTES });
    }
    let mut header = Vec::new();
    input.take(claimed as u64).read_to_end(&mut header)?;
    // The file may have been truncated meanwhile.
    match header.len() == claimed {
        true => Ok((header, available - claimed)),
        false => Err(bad_archive("it is shorter than its header")),
    }
}

fn bad_archive(message: &str) -> FileErrorKind {
    FileErrorKind::BadArchive(message.to_owned())
}

/// Writes dense row-major arrays as the tensors of a `.safetensors` file.
///
/// ```
/// use indim_stores::write_safetensors_to;
/// use indim_ops::{ArrayType, DType};
///
/// let w = ArrayType::new(DType::U8, [2]);
/// let mut file = Vec::new();
/// write_safetensors_to(&mut file, &[("w", &w, &[1, 2][..])])?;
/// assert!(file[8..].starts_with(br#"{"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#));
/// # Ok::<(), indim_stores::FileErrorKind>(())
/// ```
///
/// # Errors
/// `wrong-length` if a number of bytes does not match the type; `element-type-not-in-format`; `io`, also if
/// two tensors have the same name.
pub fn write_safetensors_to(
    mut output: impl Write,
    members: &[NamedArray<'_>],
) -> Result<(), FileErrorKind> {
    members.iter().try_for_each(|(_, array_type, elements)| check_length(array_type, elements))?;
    let types: Vec<(&str, &ArrayType)> =
        members.iter().map(|(name, array_type, _)| (*name, *array_type)).collect();
    let layout = TensorLayout::new(&types)?;
    output.write_all(&layout.header)?;
    for &index in &layout.order {
        let (_, array_type, elements) = members[index];
        let mut blocks = elements.chunks(BLOCK_BYTES);
        blocks.try_for_each(|block| output.write_all(&little_endian(array_type.dtype, block)))?;
    }
    Ok(output.flush()?)
}

/// Converts elements to the byte order of files.
pub(crate) fn little_endian(dtype: DType, elements: &[u8]) -> Cow<'_, [u8]> {
    let mut elements = Cow::Borrowed(elements);
    if IS_SWAPPED {
        swap_bytes(dtype, elements.to_mut());
    }
    elements
}

/// The layout of a new file: header, and offset of each tensor.
#[derive(Debug)]
pub(crate) struct TensorLayout {
    /// The length and the JSON header.
    pub(crate) header: Vec<u8>,
    /// Indices of the tensors in file order: larger elements first, so that all are aligned.
    pub(crate) order: Vec<usize>,
    /// The offset of each tensor, in the caller's order.
    pub(crate) starts: Vec<u64>,
    pub(crate) file_length: u64,
}

impl TensorLayout {
    pub(crate) fn new(members: &[(&str, &ArrayType)]) -> Result<Self, FileErrorKind> {
        check_names(members)?;
        let mut order = Vec::with_capacity(members.len());
        for (index, (name, ArrayType { dtype, .. })) in members.iter().enumerate() {
            let Some(tensor) = tensor_dtype(*dtype) else {
                let format = "safetensors";
                return Err(FileErrorKind::ElementTypeNotInFormat { dtype: *dtype, format });
            };
            order.push((core::cmp::Reverse(tensor), *name, index));
        }
        order.sort();
        let (mut end, mut offsets) = (0usize, vec![0; members.len()]);
        let mut tensors = Vec::with_capacity(members.len());
        for &(core::cmp::Reverse(dtype), name, index) in &order {
            let ArrayType { dtype: elements, shape } = members[index].1;
            let bytes = shape.byte_count(elements.size()).map_err(FileErrorKind::TooLarge)?;
            let start = end;
            end = start.saturating_add(bytes);
            offsets[index] = start as u64;
            let info = TensorInfo { dtype, shape: shape.to_vec(), data_offsets: (start, end) };
            tensors.push((name.to_owned(), info));
        }
        let metadata = Metadata::new(None, tensors).map_err(Error::other)?;
        let mut text = serde_json::to_vec(&metadata).map_err(Error::other)?;
        text.resize(text.len().next_multiple_of(LENGTH_BYTES), b' ');
        let header = [&(text.len() as u64).to_le_bytes()[..], &text].concat();
        let data = header.len() as u64;
        let starts = offsets.into_iter().map(|offset| data + offset).collect();
        let order = order.into_iter().map(|(_, _, index)| index).collect();
        Ok(TensorLayout { header, order, starts, file_length: data + end as u64 })
    }
}

/// Fails if two tensors have the same name, or one has the reserved name.
fn check_names(members: &[(&str, &ArrayType)]) -> Result<(), Error> {
    let mut names_seen = HashSet::from([METADATA_KEY]);
    match members.iter().find(|(name, _)| !names_seen.insert(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let message =
                format!("a second tensor cannot be called `{name}`, nor any `{METADATA_KEY}`");
            Err(Error::new(ErrorKind::InvalidInput, message))
        }
    }
}
