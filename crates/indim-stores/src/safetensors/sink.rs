//! Tensors of a `.safetensors` file as sinks.

use std::path::PathBuf;

use crate::{
    ArrayRegion, CompleteResult, Sink, StoreError, StoreErrorKind, check_complete, with_elements,
};
use indim_arrays::Array;
use indim_ops::ArrayType;

use super::tensors::{TensorLayout, little_endian};
use crate::{FileError, FileErrorKind};
use indim_io::OutputFile;
use indim_io::runs::write_runs;
use indim_io::shared_output::{CompleteSharedOutput, SharedOutput};

/// Sinks for the tensors of a file. The file appears once all tensors are complete and committed.
///
/// ```
/// use indim_stores::{OutputFile, read_tensor, safetensors_sinks};
/// use indim_stores::{CompleteResult, StoreError};
/// use indim_arrays::{ArrayError, Array};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.safetensors");
/// let array_type = ArrayType::new(DType::F32, [2]);
/// let sinks = safetensors_sinks(OutputFile::create(&path)?, &[("w", &array_type), ("b", &array_type)])?;
/// let w = Array::filled(array_type.clone(), |bytes| {
///     bytes.fill(1);
///     Ok::<(), ArrayError>(())
/// })?;
/// let mut complete: Vec<Box<dyn CompleteResult>> = Vec::new();
/// for mut sink in sinks {
///     indim_stores::write_whole(&mut *sink, &w)?;
///     complete.push(sink.complete()?);
/// }
/// assert!(!path.exists());
/// complete.into_iter().try_for_each(|tensor| tensor.commit())?;
/// assert_eq!(read_tensor(&path, "b", usize::MAX)?.bytes(), w.bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `element-type-not-in-format`; `io` if the disk is full or two tensors have the same name; `too-large`.
pub fn safetensors_sinks(
    mut file: OutputFile,
    members: &[(&str, &ArrayType)],
) -> Result<Vec<Box<dyn Sink>>, FileError> {
    let path = file.path().to_owned();
    let error = |kind: FileErrorKind| FileError::new(&path, kind);
    let layout = TensorLayout::new(members).map_err(error)?;
    file.reserve(layout.file_length)?;
    let written = std::io::Write::write_all(&mut file, &layout.header);
    written.map_err(|io_error| error(io_error.into()))?;
    let shared_output = SharedOutput::new(file, members.len());
    let sinks = members.iter().zip(layout.starts).map(|((_, array_type), start)| {
        Box::new(TensorSink {
            path: path.clone(),
            array_type: (*array_type).clone(),
            file: shared_output.share(),
            start,
            elements_written: 0,
        }) as Box<dyn Sink>
    });
    Ok(sinks.collect())
}

/// A tensor being written.
#[derive(Debug)]
struct TensorSink {
    path: PathBuf,
    array_type: ArrayType,
    file: SharedOutput<OutputFile>,
    /// The file offset of the elements.
    start: u64,
    elements_written: usize,
}

impl TensorSink {
    fn error(&self, kind: StoreErrorKind) -> StoreError {
        StoreError::new(self.path.to_string_lossy(), kind)
    }
}

impl Sink for TensorSink {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
        let written = with_elements(region, values, &self.array_type, |elements| {
            let elements = little_endian(self.array_type.dtype, elements);
            let write = |file: &mut OutputFile| {
                write_runs(file, self.start, &self.array_type, region, &elements)
            };
            Ok(self.file.with(write)?)
        });
        written.map_err(|kind| self.error(kind))?;
        self.elements_written += region.extents().element_count().unwrap_or(usize::MAX);
        Ok(())
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        check_complete(&self.array_type, self.elements_written).map_err(|kind| self.error(kind))?;
        let file = self.file.complete_one();
        let complete = file.map(|file| file.complete(&mut |_| ())).transpose()?;
        Ok(Box::new(CompleteSharedOutput(complete)))
    }
}
