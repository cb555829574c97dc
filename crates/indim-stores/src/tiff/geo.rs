//! Reads the GeoTIFF and GDAL tags of a page.

use std::io::{Read, Seek};

use tiff::decoder::Decoder;
use tiff::tags::{ByteOrder, Tag, Type, ValueBuffer};

use indim_io::{GeoTag, Geography};

/// ModelPixelScale, ModelTiepoint, ModelTransformation, GeoKeyDirectory, GeoDoubleParams, GeoAsciiParams,
/// GDAL_METADATA, GDAL_NODATA.
const TAGS: [u16; 8] = [33550, 33922, 34264, 34735, 34736, 34737, 42112, 42113];

/// Reads the tags; damaged ones count as absent.
pub(super) fn read(decoder: &mut Decoder<impl Read + Seek>, size: [usize; 2]) -> Geography {
    let mut tags = Vec::new();
    for number in TAGS {
        let mut value = ValueBuffer::empty(Type::BYTE);
        let mut directory = decoder.image_ifd();
        if let Ok(Some(_)) = directory.find_tag_buf(Tag::from_u16_exhaustive(number), &mut value) {
            value.set_byte_order(ByteOrder::native());
            tags.push(GeoTag {
                number,
                value_type: value.data_type().to_u16(),
                count: value.count(),
                bytes: value.as_bytes().to_vec(),
            });
        }
    }
    Geography { size, tags }
}
