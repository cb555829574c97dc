//! Strips and tiles compressed by zstd, which the library `tiff` reads only with a C library.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use tiff::decoder::Decoder;
use tiff::tags::Tag;

use super::{bad_tiff, tiff_error};
use crate::StoreErrorKind;
use crate::npy::header::swap_bytes;
use indim_io::codecs::zstd;
use indim_io::open_file::{FileRange, OpenFile};
use indim_ops::DType;

/// Values of the tag `Predictor`.
const NO_PREDICTOR: u16 = 1;
const HORIZONTAL: u16 = 2;
const FLOAT: u16 = 3;

/// A page compressed by zstd.
#[derive(Debug)]
pub(super) struct ZstdPage {
    file: OpenFile,
    /// Offset of each strip or tile.
    offsets: Vec<u64>,
    predictor: u16,
    /// Whether elements are in non-native byte order.
    is_swapped: bool,
}

/// Element type and sizes of a strip or tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkLayout {
    pub(super) dtype: DType,
    /// Pixels of a row.
    pub(super) columns: usize,
    /// Elements of a pixel.
    pub(super) bands: usize,
    /// Bytes of the elements.
    pub(super) bytes: usize,
    /// Maximum decoded bytes, more than `bytes` if an encoder has padded the last strip to full height.
    pub(super) max_bytes: usize,
}

impl ZstdPage {
    /// Reads the tags of the decoder's page.
    pub(super) fn of(
        decoder: &mut Decoder<impl Read + Seek>,
        is_tiled: bool,
        path: &Path,
        mut file: File,
    ) -> Result<Self, StoreErrorKind> {
        let tag = if is_tiled { Tag::TileOffsets } else { Tag::StripOffsets };
        let offsets =
            decoder.find_tag_unsigned_vec::<u64>(tag).map_err(|error| tiff_error(&error))?;
        let predictor = decoder.find_tag_unsigned::<u16>(Tag::Predictor);
        let predictor = predictor.map_err(|error| tiff_error(&error))?.unwrap_or(NO_PREDICTOR);
        if !(NO_PREDICTOR..=FLOAT).contains(&predictor) {
            return Err(bad_tiff(&format!("a predictor {predictor} that is not known")));
        }
        let mut order = [0; 2];
        file.rewind()?;
        file.read_exact(&mut order)?;
        let is_swapped = (order == *b"MM") != cfg!(target_endian = "big");
        let (file, offsets) = (OpenFile::new(path, file)?, offsets.unwrap_or_default());
        Ok(ZstdPage { file, offsets, predictor, is_swapped })
    }

    /// Decodes the strip or tile of this index, stored in `stored` bytes.
    pub(super) fn read(
        &self,
        index: usize,
        stored: u64,
        layout: ChunkLayout,
    ) -> Result<Vec<u8>, StoreErrorKind> {
        let offset = *self.offsets.get(index).ok_or_else(|| bad_tiff("a strip without offset"))?;
        let mut encoded = Vec::new();
        FileRange::new(&self.file, offset, stored).read_to_end(&mut encoded)?;
        let decoded = zstd::decompress(&encoded, layout.max_bytes);
        let mut elements = decoded.map_err(|error| bad_tiff(&format!("zstd: {error}")))?;
        if elements.len() < layout.bytes {
            let (length, bytes) = (elements.len(), layout.bytes);
            return Err(bad_tiff(&format!("a strip or tile of {length} bytes instead of {bytes}")));
        }
        elements.truncate(layout.bytes);
        let row_bytes = layout.columns * layout.bands * layout.dtype.size();
        if self.predictor == FLOAT {
            for row in elements.chunks_exact_mut(row_bytes) {
                undo_float(row, layout.bands, layout.dtype.size());
            }
            return Ok(elements);
        }
        if self.is_swapped {
            swap_bytes(layout.dtype, &mut elements);
        }
        if self.predictor == HORIZONTAL {
            for row in elements.chunks_exact_mut(row_bytes) {
                undo_horizontal(row, layout.bands, layout.dtype.size());
            }
        }
        Ok(elements)
    }
}

/// Undoes the horizontal predictor: adds the element of the previous pixel to each element.
fn undo_horizontal(row: &mut [u8], bands: usize, size: usize) {
    macro_rules! sum {
        ($integer:ty) => {{
            let elements = row.as_chunks_mut::<{ size_of::<$integer>() }>().0;
            for index in bands..elements.len() {
                let before = <$integer>::from_ne_bytes(elements[index - bands]);
                let sum = <$integer>::from_ne_bytes(elements[index]).wrapping_add(before);
                elements[index] = sum.to_ne_bytes();
            }
        }};
    }
    match size {
        1 => sum!(u8),
        2 => sum!(u16),
        4 => sum!(u32),
        _ => sum!(u64),
    }
}

/// Undoes the floating-point predictor. First it adds to each byte the byte that is `bands` positions
/// before it. Then it reassembles the elements: a row stores the most significant bytes of all its
/// elements, then their second bytes, and so on.
fn undo_float(row: &mut [u8], bands: usize, size: usize) {
    for index in bands..row.len() {
        row[index] = row[index].wrapping_add(row[index - bands]);
    }
    let planes = row.to_vec();
    let count = row.len() / size;
    for (index, element) in row.chunks_exact_mut(size).enumerate() {
        for (position, byte) in element.iter_mut().enumerate() {
            let plane = if cfg!(target_endian = "little") { size - 1 - position } else { position };
            *byte = planes[plane * count + index];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictors_are_undone() {
        let mut row = [1u16, 10, 1, 65535].map(u16::to_ne_bytes).concat();
        undo_horizontal(&mut row, 2, 2);
        assert_eq!(row, [1u16, 10, 2, 9].map(u16::to_ne_bytes).concat());
        // 1.0 and 1.5 in 32 bits: 3f800000 and 3fc00000, by planes 3f 3f, 80 c0, 00 00, 00 00.
        let mut row = [0x3f, 0, 0x41, 0x40, 0x40, 0, 0, 0];
        undo_float(&mut row, 1, 4);
        assert_eq!(row[..], [1.0f32.to_ne_bytes(), 1.5f32.to_ne_bytes()].concat());
    }
}
