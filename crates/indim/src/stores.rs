//! Arrays in files and folders of other formats: Zarr, PNG, TIFF and columns of CSV.
//!
//! [`open`] takes the names of the command line, `climate.zarr/temperature` or `table.csv:height`. [`create`]
//! creates a result in the format of its name. Read and write by regions, or the whole array with
//! [`read_whole`] and [`write_whole`]. `docs/files.md` lists the element types and shapes of each format.
//!
//! ```
//! # #[cfg(feature = "zarr")] {
//! use indim::stores::{ResultMetadata, create, open, read_whole, write_whole};
//! use indim::{Array, evaluate};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("x.zarr");
//! let x = evaluate("x * 2", [("x", &Array::new([3], vec![1.0f32, 2.0, 3.0])?)])?;
//! let mut sink = create(&path, x.array_type(), &ResultMetadata::default())?;
//! write_whole(&mut *sink, &x)?;
//! sink.finish()?;
//!
//! let source = open(path.to_str().unwrap(), usize::MAX).expect("a name that ends in .zarr")?;
//! assert_eq!(read_whole(&*source)?.elements(), Some(&[2.0f32, 4.0, 6.0][..]));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::files::CompleteOutput;
#[cfg(any(feature = "png", feature = "tiff"))]
use crate::files::OutputFile;

pub use indim_stores::{
    ArrayFormat, CompleteResult, Geography, MemoryLimitError, Region, ResultMetadata, Sink, Source,
    StoreError, StoreErrorKind, open, read_whole, write_whole,
};

#[cfg(feature = "csv")]
pub use indim_stores::csv;
#[cfg(feature = "png")]
pub use indim_stores::png;
#[cfg(feature = "tiff")]
pub use indim_stores::tiff;
#[cfg(feature = "zarr")]
pub use indim_stores::zarr;

/// Creates a result at `path`, in the format of its name, with metadata from its inputs.
///
/// # Errors
/// `unknown-format` if the format is unknown or its feature is off; the errors of a format that cannot store
/// the array; `io`.
pub fn create(
    path: &Path,
    array_type: &ArrayType,
    metadata: &ResultMetadata,
) -> Result<Box<dyn Sink>, StoreError> {
    match ArrayFormat::of_name(path) {
        #[cfg(feature = "png")]
        Some(ArrayFormat::Png) => {
            let file = OutputFile::create(path)?;
            Ok(Box::new(png::PngSink::create(Box::new(file), array_type)?))
        }
        #[cfg(feature = "tiff")]
        Some(ArrayFormat::Tiff) => {
            let file = OutputFile::create(path)?;
            let geography = metadata.geography.as_ref();
            Ok(Box::new(tiff::TiffSink::create(Box::new(file), array_type, geography)?))
        }
        #[cfg(feature = "zarr")]
        Some(ArrayFormat::Zarr) => {
            let (chunks, axis_names) = (metadata.chunks.clone(), metadata.axis_names.clone());
            let options = zarr::ZarrOptions { chunks, axis_names };
            Ok(Box::new(zarr::ZarrSink::create(path, array_type, &options)?))
        }
        _ => {
            let _ = (array_type, metadata);
            let message = "results are written as .npy, .npz, .png, .tif and .zarr";
            Err(StoreError::new(
                path.to_string_lossy(),
                Diagnostic::new(ErrorCode::UNKNOWN_FORMAT, message),
            ))
        }
    }
}

impl CompleteResult for CompleteOutput {
    fn put_in_place(self: Box<Self>) -> Result<(), StoreError> {
        Ok(CompleteOutput::put_in_place(*self)?)
    }
}

#[cfg(any(feature = "png", feature = "tiff"))]
impl indim_stores::OutputStream for OutputFile {
    fn place(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        let complete = OutputFile::complete(*self, &mut |_| ())?;
        Ok(Box::new(complete))
    }
}
