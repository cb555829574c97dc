//! Results as PNG images.

use indim_arrays::Array;
use indim_ops::{ArrayType, DType};
use png::{BitDepth, ColorType, Encoder, EncodingError, StreamWriter};

use super::png_error;
use crate::image::{self, ImageRows};
use crate::png::output_handle::OutputHandle;
use crate::{ArrayRegion, OutputFile, StoreError, StoreErrorKind};
use indim_io::{CompleteResult, Sink};

/// A PNG result: `u8` or `u16` of shape `[height, width]` or `[height, width, channels]`, with 1 to 4
/// channels. Rows are compressed as they are written.
pub struct PngSink {
    path: String,
    rows: ImageRows,
    output: OutputHandle,
    writer: StreamWriter<'static, OutputHandle>,
}

impl PngSink {
    /// A sink that writes an image of this type to `output`.
    ///
    /// # Errors
    /// `not-an-image` for an element type or shape that PNG does not support; `io`.
    pub fn create(output: OutputFile, array_type: &ArrayType) -> Result<Self, StoreError> {
        let path = output.path().to_string_lossy().into_owned();
        let create = || {
            let (width, height, color, depth) = header(array_type)?;
            let output = OutputHandle::new(output);
            let mut encoder = Encoder::new(output.clone(), width, height);
            encoder.set_color(color);
            encoder.set_depth(depth);
            let writer = encoder.write_header().and_then(|writer| writer.into_stream_writer());
            let writer = writer.map_err(|error| encoding_error(&error))?;
            Ok(PngSink { path: path.clone(), rows: ImageRows::new(array_type), output, writer })
        };
        create().map_err(|kind: StoreErrorKind| StoreError::new(path.clone(), kind))
    }

    fn finish_image(self) -> Result<Box<dyn CompleteResult>, StoreErrorKind> {
        self.rows.check_complete()?;
        self.writer.finish().map_err(|error| encoding_error(&error))?;
        let output = self.output.take().ok_or_else(|| std::io::Error::other("it is complete"))?;
        let complete =
            output.complete(&mut |_| ()).map_err(|error| StoreError::from(error).kind)?;
        Ok(Box::new(complete))
    }
}

fn header(array_type: &ArrayType) -> Result<(u32, u32, ColorType, BitDepth), StoreErrorKind> {
    let supported = "u8 or u16 of shape [height, width] or [height, width, 1 to 4 channels]";
    let refuse =
        || image::unsupported_image("PNG", array_type, supported, image::shape_advice(array_type));
    let (height, width, channels) = image::sizes(&array_type.shape).ok_or_else(refuse)?;
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

fn encoding_error(error: &EncodingError) -> StoreErrorKind {
    match error {
        EncodingError::IoError(error) => {
            std::io::Error::new(error.kind(), error.to_string()).into()
        }
        _ => png_error(error),
    }
}

impl core::fmt::Debug for PngSink {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "PngSink({}, {})", self.path, self.rows.array_type())
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

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
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
        let written = self.rows.write_rows(region, values, write);
        written.map_err(|kind| StoreError::new(self.path.clone(), kind))
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        let path = self.path.clone();
        self.finish_image().map_err(|kind| StoreError::new(path, kind))
    }
}
