//! The header of a `.npy` file.
//!
//! The header is one line of Python, a dict with the three keys `descr`, `fortran_order` and `shape`.
//! Other readers accept any Python literal, recursively, and allocate the size that the file claims.
//! This parser accepts only that dict, allocates memory for at most [`MAX_RANK`] sizes, and reports the
//! offset of an error. The format:
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use core::ops::Range;

use crate::{ArrayRegion, StoreErrorKind, check_region};
use indim_arrays::Array;
use indim_arrays::row_major_byte_strides;
use indim_ops::{ArrayType, DType};
use indim_shape::{MAX_RANK, RankLimitError, Shape, saturating_size};

use crate::FileErrorKind;
use indim_io::npy::{from_descr, number_size};

/// Maximum bytes of a header. NumPy's own limit, for files that are not trusted, is 10,000.
pub(crate) const MAX_HEADER_BYTES: usize = 64 * 1024;

/// A prefix of this length contains every accepted header.
pub(crate) const MAX_PREFIX_BYTES: usize = MAX_HEADER_BYTES + MAGIC.len() + 6;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Type, order and location of the elements of an array: the fields of a `.npy` header, or of the entry
/// of a tensor in a `.safetensors` header.
#[derive(Debug, PartialEq)]
pub(crate) struct ArrayHeader {
    pub(crate) array_type: ArrayType,
    /// Whether the elements are column-major.
    pub(crate) is_column_major: bool,
    /// Whether the elements are in non-native byte order.
    pub(crate) is_swapped: bool,
    /// Byte range of the elements, from the start of the file or of the archive member. NumPy ignores
    /// bytes after them, such as a second array.
    pub(crate) elements: Range<usize>,
}

impl ArrayHeader {
    /// Byte stride along each axis.
    pub(crate) fn strides(&self) -> Vec<isize> {
        if !self.is_column_major {
            return row_major_byte_strides(&self.array_type);
        }
        let ArrayType { dtype, shape } = &self.array_type;
        let reversed: Shape = shape.iter().rev().copied().collect();
        let mut strides = row_major_byte_strides(&ArrayType::new(*dtype, reversed));
        strides.reverse();
        strides
    }

    /// A buffer for a region; `fill` reads its bytes in the order of the file.
    pub(crate) fn buffer(
        &self,
        region: &ArrayRegion,
        fill: impl FnOnce(&mut [u8]) -> Result<(), StoreErrorKind>,
    ) -> Result<Array, StoreErrorKind> {
        check_region(region, &self.array_type)?;
        let array_type = ArrayType::new(self.array_type.dtype, region.extents().clone());
        match self.is_column_major {
            true => Array::filled_column_major(array_type, fill),
            false => Array::filled(array_type, fill),
        }
    }

    /// Converts elements in non-native byte order.
    pub(crate) fn to_native(&self, elements: &mut [u8]) {
        if self.is_swapped {
            swap_bytes(self.array_type.dtype, elements);
        }
    }
}

/// Swaps the bytes of every number.
pub(crate) fn swap_bytes(dtype: DType, elements: &mut [u8]) {
    fn reverse<const SIZE: usize>(elements: &mut [u8]) {
        // The size is a constant, so one instruction handles many elements.
        elements.as_chunks_mut::<SIZE>().0.iter_mut().for_each(|element| element.reverse());
    }
    match number_size(dtype) {
        1 => {}
        2 => reverse::<2>(elements),
        4 => reverse::<4>(elements),
        _ => reverse::<8>(elements),
    }
}

/// Parses the header at the start of a file, and checks it against the length of the file. `start` is the
/// beginning of the file; its first [`MAX_PREFIX_BYTES`] suffice.
pub(crate) fn parse(start: &[u8], file_length: usize) -> Result<ArrayHeader, FileErrorKind> {
    let rest = start.strip_prefix(MAGIC).ok_or(FileErrorKind::NotNpy)?;
    let (length, text_offset) = match *rest {
        [1, 0, a, b, ..] => (usize::from(u16::from_le_bytes([a, b])), MAGIC.len() + 4),
        [2 | 3, 0, a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]) as usize, MAGIC.len() + 6),
        [1..=3, 0, ..] | [] | [_] => {
            return Err(FileErrorKind::BadHeader {
                position: MAGIC.len(),
                expected: "a version and a length",
            });
        }
        [major, minor, ..] => {
            return Err(FileErrorKind::UnknownVersion { version: (major, minor) });
        }
    };
    let available = file_length.saturating_sub(text_offset);
    let data_offset = text_offset.saturating_add(length);
    let text = start.get(..data_offset).filter(|_| length <= available.min(MAX_HEADER_BYTES));
    let Some(text) = text else {
        return Err(FileErrorKind::HeaderTooLong {
            claimed: length,
            available,
            max: MAX_HEADER_BYTES,
        });
    };
    let mut parser = HeaderParser { file: text, position: text_offset };
    let mut header = parser.dict()?;
    let ArrayType { dtype, shape } = &header.array_type;
    let expected = shape.byte_count(dtype.size()).map_err(FileErrorKind::TooLarge)?;
    let available = file_length - data_offset;
    if expected > available {
        return Err(FileErrorKind::WrongLength { shape: shape.clone(), expected, available });
    }
    header.elements = data_offset..data_offset + expected;
    Ok(header)
}

struct HeaderParser<'a> {
    file: &'a [u8],
    position: usize,
}

impl<'a> HeaderParser<'a> {
    fn dict(&mut self) -> Result<ArrayHeader, FileErrorKind> {
        let (mut descr, mut is_column_major, mut shape) = (None, None, None);
        self.expect(b'{', "`{`")?;
        while !self.accept(b'}') {
            let key = self.string()?;
            self.expect(b':', "`:`")?;
            match key {
                b"descr" if descr.is_none() => descr = Some(self.descr()?),
                b"fortran_order" if is_column_major.is_none() => {
                    is_column_major = Some(self.boolean()?)
                }
                b"shape" if shape.is_none() => shape = Some(self.shape()?),
                _ => return Err(self.error("one of the keys descr, fortran_order and shape, once")),
            }
            if !self.accept(b',') {
                self.expect(b'}', "`,` or `}`")?;
                break;
            }
        }
        let (Some((dtype, is_swapped)), Some(is_column_major), Some(shape)) =
            (descr, is_column_major, shape)
        else {
            return Err(self.error("the keys descr, fortran_order and shape"));
        };
        self.skip_spaces();
        if self.position != self.file.len() {
            return Err(self.error("the end of the header"));
        }
        let elements = self.position..self.position;
        Ok(ArrayHeader {
            array_type: ArrayType { dtype, shape },
            is_column_major,
            is_swapped,
            elements,
        })
    }

    fn error(&self, expected: &'static str) -> FileErrorKind {
        FileErrorKind::BadHeader { position: self.position, expected }
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.file.get(self.position) {
            self.position += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        let is_next = self.file.get(self.position) == Some(&byte);
        self.position += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8, name: &'static str) -> Result<(), FileErrorKind> {
        if self.accept(byte) { Ok(()) } else { Err(self.error(name)) }
    }

    /// A string in single or double quotes, without escapes.
    fn string(&mut self) -> Result<&'a [u8], FileErrorKind> {
        self.skip_spaces();
        let Some(&quote @ (b'\'' | b'"')) = self.file.get(self.position) else {
            return Err(self.error("a text in quotes"));
        };
        let start = self.position + 1;
        let length = self.file[start..].iter().position(|&byte| byte == quote);
        let length = length.ok_or_else(|| self.error("a closing quote"))?;
        self.position = start + length + 1;
        Ok(&self.file[start..start + length])
    }

    fn word(&mut self) -> &'a [u8] {
        self.skip_spaces();
        let start = self.position;
        while self.file.get(self.position).is_some_and(u8::is_ascii_alphanumeric) {
            self.position += 1;
        }
        &self.file[start..self.position]
    }

    fn boolean(&mut self) -> Result<bool, FileErrorKind> {
        match self.word() {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(self.error("True or False")),
        }
    }

    /// The element type, and whether the elements are in non-native byte order.
    fn descr(&mut self) -> Result<(DType, bool), FileErrorKind> {
        self.skip_spaces();
        if self.file.get(self.position) == Some(&b'[') {
            return Err(FileErrorKind::UnknownElementType { descr: "a structure".to_owned() });
        }
        let text = String::from_utf8_lossy(self.string()?);
        from_descr(&text)
            .ok_or_else(|| FileErrorKind::UnknownElementType { descr: format!("`{text}`") })
    }

    fn shape(&mut self) -> Result<Shape, FileErrorKind> {
        self.expect(b'(', "`(`")?;
        let mut sizes = Vec::new();
        while !self.accept(b')') {
            let digits = core::str::from_utf8(self.word()).unwrap_or_default();
            // Python 2 wrote large sizes with an L.
            let size = digits.strip_suffix('L').unwrap_or(digits).parse::<u64>();
            let size = size.map_err(|_| self.error("a size that is a non-negative integer"))?;
            sizes.push(saturating_size(size));
            RankLimitError::check(sizes.len(), MAX_RANK).map_err(FileErrorKind::RankLimit)?;
            if !self.accept(b',') {
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(Shape::from(sizes))
    }
}
