//! Results as uncompressed TIFF, written strip by strip.
//!
//! The encoder of the library `tiff` borrows itself while it writes a page, so a sink that takes regions
//! cannot own it. The code here writes the file itself: a header, the strips, and a list of about a dozen
//! tags.

use std::io::{Seek, SeekFrom, Write};

use indim_arrays::Array;
use indim_ops::{ArrayType, DType};
use indim_shape::sort_few_by_key;

use crate::image::{self, ImageRows};
use crate::{ArrayRegion, StoreError, StoreErrorKind};
use indim_io::OutputFile;
use indim_io::{CompleteResult, Sink};
use indim_io::{GeoTag, Geography};

/// Maximum bytes of the elements in a classic TIFF file, which has 32-bit offsets. Larger arrays are
/// written as BigTIFF, with 64-bit offsets. The 64 MiB below 4 GiB are for tags and strip lists.
const MAX_CLASSIC_BYTES: u64 = (1 << 32) - (1 << 26);

/// Tag types.
const BYTE: u16 = 1;
const SHORT: u16 = 3;
const LONG: u16 = 4;
const LONG8: u16 = 16;

/// Values of the tag `PhotometricInterpretation`.
const BLACK_IS_ZERO: u16 = 1;
const RGB: u16 = 2;

/// A TIFF result: integers and floats of 8 to 64 bits, of shape `[height, width]` or `[height, width,
/// bands]`, with interleaved bands.
///
/// Three or four bands of `u8` or `u16` are colours, unless the file has geographic tags. Arrays larger
/// than 4 GiB less 64 MiB are written as BigTIFF.
#[derive(Debug)]
pub struct TiffSink {
    path: String,
    rows: ImageRows,
    output: OutputFile,
    geography: Option<Geography>,
    is_big_tiff: bool,
    /// File offset and byte count of each strip.
    strips: Vec<(u64, u64)>,
    /// File offset of the next byte.
    position: u64,
}

impl TiffSink {
    /// A sink that writes an array of this type to `output`. `geography` applies if it has the same height
    /// and width.
    ///
    /// # Errors
    /// `not-an-image` for an element type or shape that TIFF does not support; `io`.
    pub fn create(
        output: OutputFile,
        array_type: &ArrayType,
        geography: Option<&Geography>,
    ) -> Result<Self, StoreError> {
        let path = output.path().to_string_lossy().into_owned();
        let create = || {
            check_image(array_type)?;
            let bytes = array_type.shape.byte_count(array_type.dtype.size());
            let bytes = bytes.map_err(indim_arrays::ArrayError::TooLarge)?;
            let is_big_tiff = bytes as u64 > MAX_CLASSIC_BYTES;
            let [height, width] = [array_type.shape[0], array_type.shape[1]];
            let geography = geography.filter(|geography| geography.fits(height, width)).cloned();
            let rows = ImageRows::new(array_type);
            let path = path.clone();
            let mut sink = TiffSink {
                path,
                rows,
                output,
                geography,
                is_big_tiff,
                strips: Vec::new(),
                position: 0,
            };
            sink.write_header()?;
            Ok(sink)
        };
        create().map_err(|kind: StoreErrorKind| StoreError::new(path.clone(), kind))
    }

    /// Writes the header, with 0 for the offset of the tags, which `write_tags` fills in.
    fn write_header(&mut self) -> Result<(), StoreErrorKind> {
        let order = if cfg!(target_endian = "little") { b"II" } else { b"MM" };
        let mut header = order.to_vec();
        match self.is_big_tiff {
            true => {
                [43u16, 8, 0].iter().for_each(|number| header.extend(number.to_ne_bytes()));
                header.extend(0u64.to_ne_bytes());
            }
            false => {
                header.extend(42u16.to_ne_bytes());
                header.extend(0u32.to_ne_bytes());
            }
        }
        self.append(&header).map(drop)
    }

    /// Appends bytes and returns their file offset.
    fn append(&mut self, bytes: &[u8]) -> Result<u64, StoreErrorKind> {
        self.output.write_all(bytes)?;
        let start = self.position;
        self.position += bytes.len() as u64;
        Ok(start)
    }

    /// The tags in ascending order.
    fn tags(&self) -> Vec<GeoTag> {
        let ArrayType { dtype, shape } = self.rows.array_type();
        let (height, width, bands) = image::sizes(shape).unwrap_or_default();
        let is_geographic = self.geography.as_ref().is_some_and(|geography| !geography.is_empty());
        let is_color =
            !is_geographic && (3..=4).contains(&bands) && matches!(dtype, DType::U8 | DType::U16);
        let format: u16 = match dtype.name().as_bytes()[0] {
            b'f' => 3,
            b'i' => 2,
            _ => 1,
        };
        let extra = if is_color { bands - 3 } else { bands - 1 };
        let strip_type = if self.is_big_tiff { LONG8 } else { LONG };
        let (starts, counts): (Vec<u64>, Vec<u64>) = self.strips.iter().copied().unzip();
        let mut tags = vec![
            tag(256, LONG, &[width as u64]),
            tag(257, LONG, &[height as u64]),
            tag(258, SHORT, &vec![8 * dtype.size() as u64; bands]),
            tag(259, SHORT, &[1]),
            tag(262, SHORT, &[if is_color { RGB } else { BLACK_IS_ZERO }.into()]),
            tag(273, strip_type, &starts),
            tag(277, SHORT, &[bands as u64]),
            tag(278, LONG, &[self.rows.strip()[0] as u64]),
            tag(279, strip_type, &counts),
            tag(284, SHORT, &[1]),
            tag(339, SHORT, &vec![format.into(); bands]),
        ];
        if extra > 0 {
            // An extra sample of colours is alpha; other bands are unspecified.
            tags.push(tag(338, SHORT, &vec![if is_color { 2 } else { 0 }; extra]));
        }
        tags.extend(self.geography.iter().flat_map(|geography| geography.tags.iter().cloned()));
        sort_few_by_key(&mut tags, |tag| tag.number);
        tags
    }

    /// Writes the tags, and their offset into the header.
    fn write_tags(&mut self) -> Result<(), StoreErrorKind> {
        let tags = self.tags();
        let value_field_bytes = if self.is_big_tiff { 8 } else { 4 };
        let mut entries = match self.is_big_tiff {
            true => (tags.len() as u64).to_ne_bytes().to_vec(),
            false => (tags.len() as u16).to_ne_bytes().to_vec(),
        };
        for tag in &tags {
            entries.extend(tag.number.to_ne_bytes());
            entries.extend(tag.value_type.to_ne_bytes());
            entries.extend(self.number(tag.count));
            let mut value = tag.bytes.clone();
            if value.len() > value_field_bytes {
                self.align()?;
                let start = self.append(&value)?;
                value = self.number(start);
            }
            value.resize(value_field_bytes, 0);
            entries.extend(value);
        }
        entries.extend(self.number(0));
        self.align()?;
        let start = self.append(&entries)?;
        self.output.seek(SeekFrom::Start(if self.is_big_tiff { 8 } else { 4 }))?;
        let start = self.number(start);
        self.output.write_all(&start)?;
        Ok(())
    }

    /// An offset or a count in the width of the file format.
    fn number(&self, number: u64) -> Vec<u8> {
        match self.is_big_tiff {
            true => number.to_ne_bytes().to_vec(),
            false => (number as u32).to_ne_bytes().to_vec(),
        }
    }

    /// Pads to an even offset, where values must begin.
    fn align(&mut self) -> Result<(), StoreErrorKind> {
        let is_odd = !self.position.is_multiple_of(2);
        if is_odd { self.append(&[0]).map(drop) } else { Ok(()) }
    }

    fn finish_file(mut self) -> Result<Box<dyn CompleteResult>, StoreErrorKind> {
        self.rows.check_complete()?;
        self.write_tags()?;
        self.output.flush()?;
        let complete = self.output.complete(&mut |_| ());
        Ok(Box::new(complete.map_err(|error| StoreError::from(error).kind)?))
    }
}

/// A tag of whole numbers.
fn tag(number: u16, value_type: u16, values: &[u64]) -> GeoTag {
    let bytes = |&value: &u64| match value_type {
        BYTE => vec![value as u8],
        SHORT => (value as u16).to_ne_bytes().to_vec(),
        LONG => (value as u32).to_ne_bytes().to_vec(),
        _ => value.to_ne_bytes().to_vec(),
    };
    let bytes = values.iter().flat_map(bytes).collect();
    GeoTag { number, value_type, count: values.len() as u64, bytes }
}

fn check_image(array_type: &ArrayType) -> Result<(), StoreErrorKind> {
    let supported =
        "integers and floats of 8 to 64 bits, of shape [height, width] or [height, width, bands]";
    let help = match array_type.dtype {
        dtype if dtype == DType::Bf16 || dtype.is_storage() => "f32(x) has a place in TIFF",
        DType::C64 | DType::C128 => "abs(x), real(x) and imag(x) have a place in TIFF",
        _ => image::shape_advice(array_type),
    };
    let is_supported =
        !matches!(array_type.dtype, DType::Bool | DType::Bf16 | DType::C64 | DType::C128)
            && !array_type.dtype.is_storage();
    let fits = |&size: &usize| 0 < size && size < 1 << 31;
    let has_sizes = image::sizes(&array_type.shape).is_some_and(|(height, width, bands)| {
        fits(&height) && fits(&width) && (1..1 << 16).contains(&bands)
    });
    match is_supported && has_sizes {
        true => Ok(()),
        false => Err(image::unsupported_image("TIFF", array_type, supported, help)),
    }
}

impl Sink for TiffSink {
    fn array_type(&self) -> &ArrayType {
        self.rows.array_type()
    }

    fn chunks(&self) -> Option<&[usize]> {
        Some(self.rows.strip())
    }

    fn is_sequential(&self) -> bool {
        true
    }

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
        let (output, strips, position) = (&mut self.output, &mut self.strips, &mut self.position);
        let strip = self.rows.strip_bytes().max(1);
        let write = |bytes: &[u8]| {
            for strip in bytes.chunks(strip) {
                output.write_all(strip)?;
                strips.push((*position, strip.len() as u64));
                *position += strip.len() as u64;
            }
            Ok(())
        };
        let written = self.rows.write_rows(region, values, write);
        written.map_err(|kind| StoreError::new(self.path.clone(), kind))
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        let path = self.path.clone();
        self.finish_file().map_err(|kind| StoreError::new(path, kind))
    }
}
