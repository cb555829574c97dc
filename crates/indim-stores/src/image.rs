//! Shapes and strips of images, common to PNG and TIFF. An image is an array of height, width and, if it has
//! several, channels.

use indim_arrays::Array;
use indim_ops::{ArrayType, DType};
use indim_shape::{Diagnostic, ErrorCode, Shape};

use crate::{ArrayRegion, StoreErrorKind};
use indim_io::with_elements;

/// Approximate bytes of a strip: the rows that are written at a time.
const STRIP_BYTES: usize = 64 << 10;

/// Maximum number of strips; larger images have larger strips. TIFF lists the offset of each strip, and
/// readers limit that list.
const MAX_STRIPS: usize = 8192;

/// The shape of a strip; `None` if the array is not an image.
pub(crate) fn strip_shape(array_type: &ArrayType) -> Option<Vec<usize>> {
    let (height, width, channels) = sizes(&array_type.shape)?;
    let row = width.saturating_mul(channels).saturating_mul(array_type.dtype.size());
    let strip = STRIP_BYTES.max(row.saturating_mul(height) / MAX_STRIPS);
    let rows = (strip / row.max(1)).clamp(1, height.max(1));
    Some([&[rows], &array_type.shape[1..]].concat())
}

/// The shape of an image; a single channel has no axis.
pub(crate) fn shape(height: usize, width: usize, channels: usize) -> Shape {
    match channels {
        1 => [height, width].into(),
        _ => [height, width, channels].into(),
    }
}

/// Height, width and channels; `None` if the array is not an image.
pub(crate) fn sizes(shape: &Shape) -> Option<(usize, usize, usize)> {
    match *shape.sizes() {
        [height, width] => Some((height, width, 1)),
        [height, width, channels] => Some((height, width, channels)),
        _ => None,
    }
}

/// The error of an array that this image format cannot store.
pub(crate) fn unsupported_image(
    format: &str,
    array_type: &ArrayType,
    supported: &str,
    help: &str,
) -> StoreErrorKind {
    let message = format!("{array_type} cannot be written as {format}, which takes {supported}");
    let mut error = Diagnostic::new(ErrorCode::NOT_AN_IMAGE, message);
    error.help(help.to_owned());
    error.into()
}

/// Checks that the rows of an image are written in order.
#[derive(Debug)]
pub(crate) struct ImageRows {
    array_type: ArrayType,
    /// The shape of a strip.
    strip: Vec<usize>,
    next_row: usize,
}

impl ImageRows {
    pub(crate) fn new(array_type: &ArrayType) -> Self {
        let strip = strip_shape(array_type).unwrap_or_default();
        ImageRows { array_type: array_type.clone(), strip, next_row: 0 }
    }

    pub(crate) fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    pub(crate) fn strip(&self) -> &[usize] {
        &self.strip
    }

    pub(crate) fn strip_bytes(&self) -> usize {
        self.strip.iter().product::<usize>() * self.array_type.dtype.size()
    }

    /// Calls `write` with the elements of a region, which must be the next rows, each as a whole.
    pub(crate) fn write_rows(
        &mut self,
        region: &ArrayRegion,
        values: &Array,
        write: impl FnOnce(&[u8]) -> Result<(), StoreErrorKind>,
    ) -> Result<(), StoreErrorKind> {
        with_elements(region, values, &self.array_type, |elements| {
            let is_whole = region.extents()[1..] == self.array_type.shape[1..];
            if region.starts()[0] != self.next_row || !is_whole {
                let message =
                    format!("rows are written in their order, not {region} at {}", self.next_row);
                return Err(Diagnostic::new(ErrorCode::WRONG_ORDER, message).into());
            }
            self.next_row += region.extents()[0];
            write(elements)
        })
    }

    /// Fails if rows are missing.
    pub(crate) fn check_complete(&self) -> Result<(), StoreErrorKind> {
        let row = self.array_type.shape[1..].iter().product::<usize>();
        match self.next_row == self.array_type.shape[0] {
            true => Ok(()),
            false => Err(StoreErrorKind::Incomplete {
                written: self.next_row * row,
                elements: self.array_type.shape[0] * row,
            }),
        }
    }
}

/// Advice for an array that an image format cannot store.
pub(crate) fn shape_advice(array_type: &ArrayType) -> &'static str {
    match array_type.dtype {
        _ if sizes(&array_type.shape).is_none() => {
            "an image has rows and columns: x[None] makes one row of a list, .npy keeps any shape"
        }
        DType::Bool => "u8(x) * 255 makes it an image",
        _ => {
            "u8(clip(x * 255, 0, 255)) makes numbers from 0 to 1 an image, .npy keeps them as they are"
        }
    }
}
