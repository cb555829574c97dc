//! Results as pictures.

use indim_arrays::Buffer;
use indim_ops::{ArrayType, DType};
use png::{BitDepth, ColorType, Encoder, EncodingError, StreamWriter};

use super::bad;
use crate::output::Output;
use crate::picture::{self, Rows};
use crate::png::shared::Shared;
use crate::sink::{Complete, Sink};
use crate::{Region, StoreError, StoreErrorKind};

/// A result that becomes a picture: `u8` or `u16` of shape `[height, width]` or `[height, width,
/// channels]`, of which there are 1 to 4. It is compressed row by row as it comes.
pub struct PngSink {
    place: String,
    rows: Rows,
    output: Shared,
    writer: StreamWriter<'static, Shared>,
}

impl PngSink {
    /// A picture of this type, in `output`.
    ///
    /// # Errors
    /// `not-a-picture` for other element types and shapes; `io`.
    pub fn create(output: Box<dyn Output>, array_type: &ArrayType) -> Result<Self, StoreError> {
        let place = output.place();
        let create = || {
            let (width, height, color, depth) = header(array_type)?;
            let output = Shared::new(output);
            let mut encoder = Encoder::new(output.clone(), width, height);
            encoder.set_color(color);
            encoder.set_depth(depth);
            let writer = encoder.write_header().and_then(|writer| writer.into_stream_writer());
            let writer = writer.map_err(|error| error_of(&error))?;
            Ok(PngSink { place: place.clone(), rows: Rows::new(array_type), output, writer })
        };
        create().map_err(|kind: StoreErrorKind| StoreError::new(place.clone(), kind))
    }

    fn finish_picture(self) -> Result<Box<dyn Complete>, StoreErrorKind> {
        self.rows.check_complete()?;
        self.writer.finish().map_err(|error| error_of(&error))?;
        let output = self.output.take().ok_or_else(|| std::io::Error::other("it is complete"))?;
        output.complete().map_err(|error| error.kind)
    }
}

fn header(array_type: &ArrayType) -> Result<(u32, u32, ColorType, BitDepth), StoreErrorKind> {
    let takes = "u8 or u16 of shape [height, width] or [height, width, 1 to 4 channels]";
    let refuse = || picture::refuse("PNG", array_type, takes, picture::advice(array_type));
    let (height, width, channels) = picture::sizes(&array_type.shape).ok_or_else(refuse)?;
    let depth = match array_type.dtype {
        DType::U8 => BitDepth::Eight,
        DType::U16 => BitDepth::Sixteen,
        _ => return Err(refuse()),
    };
    let color = match channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        4 => ColorType::Rgba,
        _ => return Err(refuse()),
    };
    let size = |size: usize| u32::try_from(size).ok().filter(|&size| 0 < size && size < 1 << 31);
    let (width, height) = size(width).zip(size(height)).ok_or_else(refuse)?;
    Ok((width, height, color, depth))
}

fn error_of(error: &EncodingError) -> StoreErrorKind {
    match error {
        EncodingError::IoError(error) => {
            std::io::Error::new(error.kind(), error.to_string()).into()
        }
        _ => bad(error),
    }
}

impl core::fmt::Debug for PngSink {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "PngSink({}, {})", self.place, self.rows.array_type())
    }
}

impl Sink for PngSink {
    fn array_type(&self) -> &ArrayType {
        self.rows.array_type()
    }

    fn chunks(&self) -> Option<&[usize]> {
        Some(self.rows.strip())
    }

    fn is_sequential(&self) -> bool {
        true
    }

    fn scratch_bytes(&self) -> usize {
        2 * self.rows.strip_bytes()
    }

    fn write(&mut self, region: &Region, piece: &Buffer) -> Result<(), StoreError> {
        use std::io::Write;
        let is_wide = self.rows.array_type().dtype == DType::U16;
        let writer = &mut self.writer;
        let write = |bytes: &[u8]| {
            if !is_wide || cfg!(target_endian = "big") {
                return Ok(writer.write_all(bytes)?);
            }
            let swapped: Vec<u8> =
                bytes.chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect();
            Ok(writer.write_all(&swapped)?)
        };
        let written = self.rows.next(region, piece, write);
        written.map_err(|kind| StoreError::new(self.place.clone(), kind))
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn Complete>, StoreError> {
        let place = self.place.clone();
        self.finish_picture().map_err(|kind| StoreError::new(place, kind))
    }
}
