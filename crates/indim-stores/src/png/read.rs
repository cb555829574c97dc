//! PNG images as sources, decoded row by row.

use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use indim_arrays::{Array, ArrayError};
use indim_ops::{ArrayType, DType};
use indim_shape::{Diagnostic, ErrorCode};
use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};

use super::png_error;
use crate::library_panics::catch_library_panic;
use crate::{ArrayRegion, MemoryLimitError, Source, StoreError, StoreErrorKind, image};
use indim_io::MemorySource;
use indim_io::check_region;
use indim_io::copy::{BlockOrigin, copy_block};
use indim_io::open_file::{FileRange, OpenFile};
use indim_io::regular_file::open_file;

/// Memory limit of the library `png` for one row and for metadata chunks.
const LIBRARY_BYTES: usize = 64 << 20;
/// Bytes of the inflate state of the library, which does not depend on the size of the image.
const DECODER_BYTES: usize = 128 << 10;
/// Maximum bytes of decompressed data in the library, in addition to `HELD_ROWS` rows.
const DECOMPRESSED_BYTES: usize = 512 << 10;
/// Maximum number of rows in memory at a time: those in buffers of the library, and the row that
/// `read_rows` copies from.
const HELD_ROWS: usize = 10;
/// Bytes of a colour of a palette: red, green and blue.
const COLOR_BYTES: usize = 3;
/// Maximum ratio of deflate: decompressed bytes per compressed byte.
const DEFLATE_RATIO: u64 = 1032;

/// An image: `u8` or `u16` of shape `[height, width]`, or `[height, width, channels]` for grey with alpha
/// (2), RGB (3) and RGBA (4).
///
/// Palettes become RGB, or RGBA if colours are transparent. Grey of fewer than eight bits is scaled to
/// 0..=255. Gamma and colour profiles are not applied.
///
/// Rows are decoded in order and not cached. An interlaced image is decoded as a whole: for each read of
/// the whole image, or once, and cached, at the first read of a smaller region.
pub struct PngFile {
    /// The opened file. Every pass reads it, so a file that replaces it under its name is not read.
    file: Arc<OpenFile>,
    file_length: u64,
    array_type: ArrayType,
    remarks: Vec<String>,
    is_interlaced: bool,
    limit: usize,
    /// The decoder after the last region; `None` before the first read, after the last row and after an
    /// error.
    rows: Mutex<Option<RowDecoder>>,
    /// An interlaced image, decoded at the first read of a smaller region.
    decoded: Mutex<Option<MemorySource>>,
}

/// Decodes the rows of an image in order.
struct RowDecoder {
    reader: FileReader,
    next: usize,
    limit: usize,
}

impl PngFile {
    /// Opens an image and reads its header. Fails if decoding takes more than `limit` bytes in addition to
    /// the regions read.
    ///
    /// # Errors
    /// `io`; `not-a-file`; `bad-png` if it is damaged; `memory-limit`, `too-large`.
    ///
    /// ```
    /// use indim_stores::png::PngFile;
    ///
    /// assert_eq!(PngFile::open("no such.png".as_ref(), 1000).unwrap_err().code(), "io");
    /// ```
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        let open = || {
            let file = open_file(path)?;
            let file_length = file.metadata()?.len();
            let file = Arc::new(OpenFile::new(path, file)?);
            let reader = read_info(&file, file_length, limit)?;
            check_length(&reader, file_length)?;
            check_palette(reader.info())?;
            let image = PngFile {
                file,
                file_length,
                array_type: array_type(&reader)?,
                remarks: remarks(reader.info()),
                is_interlaced: reader.info().interlaced,
                limit,
                rows: Mutex::new(None),
                decoded: Mutex::new(None),
            };
            let shape = &image.array_type.shape;
            shape.byte_count(image.array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
            let bytes = image.scratch_bytes();
            match bytes <= limit {
                true => Ok(image),
                false => Err(too_large(bytes, limit)),
            }
        };
        catch_library_panic(ErrorCode::BAD_PNG, open)
            .map_err(|kind: StoreErrorKind| StoreError::new(path.to_string_lossy(), kind))
    }

    fn reader(&self) -> Result<FileReader, StoreErrorKind> {
        let reader = read_info(&self.file, self.file_length, self.limit)?;
        match array_type(&reader)? == self.array_type {
            true => Ok(reader),
            false => Err(StoreErrorKind::FileChanged),
        }
    }

    /// Decodes the whole image.
    fn decode(&self) -> Result<Array, StoreErrorKind> {
        Array::filled(self.array_type.clone(), |bytes| {
            let mut reader = self.reader()?;
            reader.next_frame(bytes).map_err(|error| decoding_error(&error, self.limit))?;
            to_native(bytes, self.array_type.dtype);
            Ok(())
        })
    }

    fn read_interlaced(&self, region: &ArrayRegion) -> Result<Array, StoreErrorKind> {
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        let source = match &*decoded {
            None if *region == ArrayRegion::whole(&self.array_type.shape) => return self.decode(),
            None => decoded.insert(MemorySource::new(self.decode()?)?),
            Some(source) => source,
        };
        source.read(region).map_err(|error| error.kind)
    }

    /// Decodes a region into `to`, which has the size of the region.
    fn read_rows(&self, region: &ArrayRegion, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        if to.is_empty() {
            return Ok(());
        }
        let (start, count) = (region.starts()[0], region.extents()[0]);
        let mut cached_rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        // A region before the decoder's position restarts at the first row.
        let mut rows = match cached_rows.take().filter(|rows| rows.next <= start) {
            Some(rows) => rows,
            None => RowDecoder { reader: self.reader()?, next: 0, limit: self.limit },
        };
        let (shape, size) = (&self.array_type.shape[1..], self.array_type.dtype.size());
        let mut row = vec![0; shape.iter().product::<usize>() * size];
        while rows.next < start {
            rows.read(&mut row)?;
        }
        let (starts, extents) = (&region.starts()[1..], &region.extents()[1..]);
        let zeros = vec![0; extents.len()];
        for to in to.chunks_exact_mut(to.len() / count) {
            rows.read(&mut row)?;
            to_native(&mut row, self.array_type.dtype);
            let (from, into) = (BlockOrigin::new(shape, starts), BlockOrigin::new(extents, &zeros));
            copy_block((&row, from), (to, into), extents, size);
        }
        // A decoder that failed is dropped: its next row is unknown.
        match rows.next == self.array_type.shape[0] {
            true => rows.finish(&mut row)?,
            false => *cached_rows = Some(rows),
        }
        Ok(())
    }
}

impl RowDecoder {
    fn read(&mut self, row: &mut [u8]) -> Result<(), StoreErrorKind> {
        let expected = self.reader.output_line_size(self.reader.info().width);
        let read = match expected == Some(row.len()) {
            true => {
                self.reader.read_row(row).map_err(|error| decoding_error(&error, self.limit))?
            }
            false => None,
        };
        self.next += 1;
        match read {
            Some(_) => Ok(()),
            None => Err(bad_png("rows that are not those of the image")),
        }
    }

    /// Reads past the last row, so that the library compares the checksum.
    fn finish(&mut self, row: &mut [u8]) -> Result<(), StoreErrorKind> {
        self.reader.read_row(row).map(drop).map_err(|error| decoding_error(&error, self.limit))
    }
}

type FileReader = png::Reader<BufReader<FileRange<Arc<OpenFile>>>>;

fn read_info(
    file: &Arc<OpenFile>,
    file_length: u64,
    limit: usize,
) -> Result<FileReader, StoreErrorKind> {
    let file = BufReader::new(FileRange::new(Arc::clone(file), 0, file_length));
    let mut decoder = Decoder::new_with_limits(file, Limits { bytes: LIBRARY_BYTES.min(limit) });
    decoder.set_transformations(Transformations::EXPAND);
    decoder.ignore_checksums(false);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.read_info().map_err(|error| decoding_error(&error, limit))
}

/// Fails if the palette ends within a colour, because the library `png` 0.18.1 panics on it.
fn check_palette(info: &png::Info<'_>) -> Result<(), StoreErrorKind> {
    let length = info.palette.as_ref().map_or(0, |palette| palette.len());
    match length.is_multiple_of(COLOR_BYTES) {
        true => Ok(()),
        false => Err(bad_png(&format!(
            "a palette of {length} bytes is damaged: each colour has {COLOR_BYTES} bytes"
        ))),
    }
}

/// Fails if the header claims a larger image than a file of `length` bytes can decompress to.
fn check_length(reader: &FileReader, length: u64) -> Result<(), StoreErrorKind> {
    let info = reader.info();
    let bits = u128::from(info.width) * u128::from(info.height) * info.bits_per_pixel() as u128;
    if bits / 8 > u128::from(length) * u128::from(DEFLATE_RATIO) {
        let (width, height) = (info.width, info.height);
        return Err(bad_png(&format!(
            "{length} bytes cannot hold an image of {height} rows and {width} columns"
        )));
    }
    Ok(())
}

fn too_large(bytes: usize, limit: usize) -> StoreErrorKind {
    let message = format!(
        "decoding it takes {bytes} bytes of memory, and the limit leaves {limit}: raise the limit"
    );
    MemoryLimitError::new(Some(bytes), limit, message).into()
}

fn bad_png(message: &str) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::BAD_PNG, message).into()
}

fn decoding_error(error: &DecodingError, limit: usize) -> StoreErrorKind {
    match error {
        DecodingError::LimitsExceeded => {
            let message =
                "a row, or the metadata of the image, takes more memory than the limit leaves";
            MemoryLimitError::new(None, limit, message).into()
        }
        _ => png_error(error),
    }
}

fn array_type(reader: &FileReader) -> Result<ArrayType, StoreErrorKind> {
    let (color, depth) = reader.output_color_type();
    let channels = match color {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => {
            return Err(Diagnostic::new(ErrorCode::BAD_PNG, "a palette without colours").into());
        }
    };
    let dtype = if depth == BitDepth::Sixteen { DType::U16 } else { DType::U8 };
    let info = reader.info();
    Ok(ArrayType::new(dtype, image::shape(info.height as usize, info.width as usize, channels)))
}

fn remarks(info: &png::Info<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if info.animation_control.is_some() {
        remarks.push("it is animated: its first image is read".to_owned());
    }
    remarks
}

/// PNG stores 16-bit samples in big-endian order.
fn to_native(bytes: &mut [u8], dtype: DType) {
    if dtype == DType::U16 && cfg!(target_endian = "little") {
        bytes.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    }
}

impl core::fmt::Debug for PngFile {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "PngFile({}, {})", self.file.path().display(), self.array_type)
    }
}

impl Source for PngFile {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    /// The held rows; for an interlaced image also the whole image.
    fn scratch_bytes(&self) -> usize {
        let ArrayType { dtype, shape } = &self.array_type;
        let whole = shape.byte_count(dtype.size()).unwrap_or(usize::MAX);
        let row = whole / shape[0].max(1);
        let rows = whole.min(DECOMPRESSED_BYTES).saturating_add(row.saturating_mul(HELD_ROWS));
        let image_bytes = if self.is_interlaced { whole } else { 0 };
        DECODER_BYTES.saturating_add(rows).saturating_add(image_bytes)
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        self.file.check_unchanged()
    }

    fn is_sequential(&self) -> bool {
        !self.is_interlaced
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let read = || {
            check_region(region, &self.array_type)?;
            if self.is_interlaced {
                return self.read_interlaced(region);
            }
            let array_type = ArrayType::new(self.array_type.dtype, region.extents().clone());
            Array::filled(array_type, |bytes| self.read_rows(region, bytes))
        };
        catch_library_panic(ErrorCode::BAD_PNG, read).map_err(|kind| self.file.error(kind))
    }
}
