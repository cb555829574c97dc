//! Members of a `.npz` archive as sinks.
//!
//! An archive is written sequentially. One member streams into the archive. The other members are written
//! to unnamed temporary files in the same folder, and are copied into the archive at the end.

use core::fmt;
use std::fs::File;
use std::io::{self, Seek};
use std::path::PathBuf;

use crate::{
    ArrayRegion, CompleteResult, Sink, StoreError, StoreErrorKind, check_complete, with_elements,
};
use indim_arrays::Array;
use indim_ops::ArrayType;

use super::write::NpzWriter;
use crate::{FileError, FileErrorKind};
use indim_io::OutputFile;
use indim_io::npy::npy_header;
use indim_io::runs::{write_next, write_runs};
use indim_io::shared_output::{CompleteSharedOutput, SharedOutput};

/// Index of the result that [`npz_sinks`] streams into the archive: the largest.
///
/// ```
/// use indim_stores::largest_npz_member;
/// use indim_ops::{ArrayType, DType};
///
/// let (scalar, row) = (ArrayType::new(DType::F64, []), ArrayType::new(DType::F32, [3]));
/// assert_eq!(largest_npz_member(&[&scalar, &row]), Some(1));
/// ```
pub fn largest_npz_member(results: &[&ArrayType]) -> Option<usize> {
    let bytes = |index: &usize| {
        let ArrayType { dtype, shape } = results[*index];
        shape.byte_count(dtype.size()).unwrap_or(usize::MAX)
    };
    // A tie goes to the first.
    (0..results.len()).rev().max_by_key(bytes)
}

/// Sinks for the members of an uncompressed `.npz` archive. The archive appears once all members are
/// complete and committed. The member of [`largest_npz_member`] is a sequential sink and the first in the
/// archive. The sinks of the other members accept regions in any order; they write to unnamed temporary
/// files in the same folder, which are copied into the archive at the end.
///
/// ```
/// use indim_stores::{OutputFile, npz_sinks, read_npz_member};
/// use indim_stores::CompleteResult;
/// use indim_arrays::{ArrayError, Array};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// let array_type = ArrayType::new(DType::F32, [2]);
/// let sinks = npz_sinks(OutputFile::create(&path)?, &[("x", &array_type), ("y", &array_type)])?;
/// let x = Array::filled(array_type.clone(), |bytes| {
///     bytes.fill(1);
///     Ok::<(), ArrayError>(())
/// })?;
/// let mut complete: Vec<Box<dyn CompleteResult>> = Vec::new();
/// for mut sink in sinks {
///     indim_stores::write_whole(&mut *sink, &x)?;
///     complete.push(sink.complete()?);
/// }
/// assert!(!path.exists());
/// complete.into_iter().try_for_each(|member| member.commit())?;
/// assert_eq!(read_npz_member(&path, "y")?.bytes(), x.bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `io` if the disk is full; `too-large`. Two members of the same name are an `io` error when the last
/// sink completes.
pub fn npz_sinks(
    mut file: OutputFile,
    members: &[(&str, &ArrayType)],
) -> Result<Vec<Box<dyn Sink>>, FileError> {
    let path = file.path().to_owned();
    let error = |kind: FileErrorKind| FileError::new(&path, kind);
    let types: Vec<&ArrayType> = members.iter().map(|(_, array_type)| *array_type).collect();
    file.reserve(min_bytes(&types).map_err(error)?)?;
    let folder = file.folder().to_owned();
    let streamed = largest_npz_member(&types);
    let mut writer = NpzWriter::new(file);
    if let Some(index) = streamed {
        let (name, array_type) = members[index];
        writer.begin(name, array_type).map_err(error)?;
    }
    let archive = NpzArchive { writer, deferred: Vec::new() };
    let shared_output = SharedOutput::new(archive, members.len());
    let sinks = members.iter().enumerate().map(|(index, (name, array_type))| {
        let target = match Some(index) == streamed {
            true => MemberTarget::NpzArchive,
            false => MemberTarget::TemporaryFile(
                tempfile::tempfile_in(&folder).map_err(|io_error| error(io_error.into()))?,
            ),
        };
        Ok(Box::new(MemberSink {
            path: path.clone(),
            index,
            name: (*name).to_owned(),
            array_type: (*array_type).clone(),
            archive: shared_output.share(),
            target,
            elements_written: 0,
        }) as Box<dyn Sink>)
    });
    sinks.collect()
}

/// Bytes of the members without the archive's own records. Reserving more would leave unused space at the end
/// of the file.
fn min_bytes(members: &[&ArrayType]) -> Result<u64, FileErrorKind> {
    members.iter().try_fold(0u64, |sum, array_type| {
        let elements = array_type
            .shape
            .byte_count(array_type.dtype.size())
            .map_err(FileErrorKind::TooLarge)?;
        Ok(sum.saturating_add((npy_header(array_type).len() + elements) as u64))
    })
}

/// An archive being written.
struct NpzArchive {
    writer: NpzWriter<OutputFile>,
    /// Complete members in temporary files.
    deferred: Vec<DeferredMember>,
}

/// A complete member in a temporary file, to be copied into the archive.
struct DeferredMember {
    index: usize,
    name: String,
    array_type: ArrayType,
    elements: File,
}

impl fmt::Debug for NpzArchive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Archive, with {} members waiting", self.deferred.len())
    }
}

impl NpzArchive {
    /// Appends the deferred members in the order of the results.
    fn finish(mut self) -> Result<OutputFile, FileErrorKind> {
        self.deferred.sort_by_key(|member| member.index);
        for DeferredMember { name, array_type, mut elements, .. } in self.deferred {
            self.writer.begin(&name, &array_type)?;
            elements.rewind()?;
            io::copy(&mut elements, &mut self.writer)?;
        }
        self.writer.finish()
    }
}

/// A member being written.
struct MemberSink {
    path: PathBuf,
    /// Its position among the results, and its name.
    index: usize,
    name: String,
    array_type: ArrayType,
    archive: SharedOutput<NpzArchive>,
    target: MemberTarget,
    elements_written: usize,
}

#[derive(Debug)]
enum MemberTarget {
    NpzArchive,
    TemporaryFile(File),
}

impl fmt::Debug for MemberSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MemberSink({}, {})", self.name, self.array_type)
    }
}

impl MemberSink {
    fn error(&self, kind: impl Into<StoreErrorKind>) -> StoreError {
        StoreError::new(self.path.to_string_lossy(), kind)
    }

    fn write_region(&mut self, region: &ArrayRegion, bytes: &[u8]) -> io::Result<()> {
        let (array_type, written) = (&self.array_type, self.elements_written);
        self.elements_written = match &mut self.target {
            MemberTarget::NpzArchive => self.archive.with(|archive| {
                write_next(&mut archive.writer, written, array_type, region, bytes)
            })?,
            MemberTarget::TemporaryFile(file) => {
                write_runs(file, 0, array_type, region, bytes)?;
                written + bytes.len() / array_type.dtype.size()
            }
        };
        Ok(())
    }
}

impl Sink for MemberSink {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn is_sequential(&self) -> bool {
        matches!(self.target, MemberTarget::NpzArchive)
    }

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
        let array_type = self.array_type.clone();
        let write = |elements: &[u8]| Ok(self.write_region(region, elements)?);
        let written = with_elements(region, values, &array_type, write);
        written.map_err(|kind| self.error(kind))
    }

    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        check_complete(&self.array_type, self.elements_written).map_err(|kind| self.error(kind))?;
        let MemberSink { path, index, name, array_type, archive, target, .. } = *self;
        if let MemberTarget::TemporaryFile(elements) = target {
            archive.with(|archive| {
                archive.deferred.push(DeferredMember { index, name, array_type, elements })
            });
        }
        let Some(archive) = archive.complete_one() else {
            return Ok(Box::new(CompleteSharedOutput(None)));
        };
        let complete = || -> Result<_, FileError> {
            let file = archive.finish().map_err(|kind| FileError::new(&path, kind))?;
            file.complete(&mut |_| ())
        };
        Ok(Box::new(CompleteSharedOutput(Some(complete()?))))
    }
}
