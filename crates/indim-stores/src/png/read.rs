//! Pictures as sources.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use indim_arrays::{ArrayError, Buffer};
use indim_ops::{ArrayType, DType};
use indim_shape::Diagnostic;
use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};

use super::bad;
use crate::memory::MemorySource;
use crate::{Region, Source, StoreError, StoreErrorKind, picture};

/// What the library may take beside the picture: rows, and what it reads of the file.
const WORKING_BYTES: usize = 64 << 20;

/// A picture: `u8` or `u16` of shape `[height, width]`, or `[height, width, channels]` for gray with
/// alpha (2), RGB (3) and RGBA (4).
///
/// Pictures with a palette become RGB, or RGBA where colours are transparent; gray of less than eight bits
/// becomes eight, from 0 to 255. Gamma and colour profiles are not applied: elements are as they are stored.
/// A picture is decoded as a whole when its first region is read, and kept.
#[derive(Debug)]
pub struct PngFile {
    path: PathBuf,
    array_type: ArrayType,
    remarks: Vec<String>,
    decoded: Mutex<Option<MemorySource>>,
}

impl PngFile {
    /// Opens a picture, of which the header is read; one that takes more than `limit` bytes is refused.
    ///
    /// # Errors
    /// `io`; `bad-png` when it is damaged; `memory-limit`, `too-large`.
    ///
    /// ```
    /// use indim_stores::png::PngFile;
    ///
    /// assert_eq!(PngFile::open("no such.png".as_ref(), 1000).unwrap_err().code(), "io");
    /// ```
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        let open = || {
            let reader = read_info(path)?;
            let array_type = array_type(&reader)?;
            let bytes = array_type.shape.byte_count(array_type.dtype.size());
            let bytes = bytes.map_err(ArrayError::TooLarge)?;
            if bytes > limit {
                let message = format!(
                    "to decode it takes {bytes} bytes of memory, of which the limit leaves {limit}"
                );
                return Err(Diagnostic::new("memory-limit", message).into());
            }
            let remarks = remarks(reader.info());
            Ok(PngFile { path: path.to_owned(), array_type, remarks, decoded: Mutex::new(None) })
        };
        open().map_err(|kind: StoreErrorKind| StoreError::new(path.to_string_lossy(), kind))
    }

    fn decode(&self) -> Result<MemorySource, StoreErrorKind> {
        let mut reader = read_info(&self.path)?;
        if array_type(&reader)? != self.array_type {
            return Err(StoreErrorKind::FileChanged);
        }
        let array = Buffer::filled(self.array_type.clone(), |bytes| {
            reader.next_frame(bytes).map_err(|error| error_of(&error))?;
            to_native(bytes, self.array_type.dtype);
            Ok::<(), StoreErrorKind>(())
        })?;
        Ok(MemorySource::new(array)?)
    }
}

type Reader = png::Reader<BufReader<File>>;

fn read_info(path: &Path) -> Result<Reader, StoreErrorKind> {
    let file = BufReader::new(File::open(path)?);
    let mut decoder = Decoder::new_with_limits(file, Limits { bytes: WORKING_BYTES });
    decoder.set_transformations(Transformations::EXPAND);
    decoder.ignore_checksums(false);
    decoder.read_info().map_err(|error| error_of(&error))
}

fn error_of(error: &DecodingError) -> StoreErrorKind {
    bad(error)
}

fn array_type(reader: &Reader) -> Result<ArrayType, StoreErrorKind> {
    let (color, depth) = reader.output_color_type();
    let channels = match color {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => {
            return Err(Diagnostic::new("bad-png", "a palette without colours").into());
        }
    };
    let dtype = if depth == BitDepth::Sixteen { DType::U16 } else { DType::U8 };
    let info = reader.info();
    Ok(ArrayType::new(dtype, picture::shape(info.height as usize, info.width as usize, channels)))
}

fn remarks(info: &png::Info<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if info.animation_control.is_some() {
        remarks.push("it is animated: its first picture is read".to_owned());
    }
    remarks
}

/// Numbers of two bytes are stored with the higher first.
fn to_native(bytes: &mut [u8], dtype: DType) {
    if dtype == DType::U16 && cfg!(target_endian = "little") {
        bytes.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    }
}

impl Source for PngFile {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    /// The whole picture.
    fn scratch_bytes(&self) -> usize {
        self.array_type.shape.byte_count(self.array_type.dtype.size()).unwrap_or(usize::MAX)
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn read(&self, region: &Region) -> Result<Buffer, StoreError> {
        let at = |kind| StoreError::new(self.path.to_string_lossy(), kind);
        let mut decoded = self.decoded.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let source = match &*decoded {
            Some(source) => source,
            None => decoded.insert(self.decode().map_err(at)?),
        };
        source.read(region).map_err(|error| at(error.kind))
    }
}
