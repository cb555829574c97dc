//! The trait of the code behind a row of the registry of formats: reading, and writing of results.

use std::io::Write;
use std::path::Path;

use indim_arrays::MappedFile;
use indim_ops::ArrayType;

use crate::{
    ArrayFile, FileError, FileErrorKind, OutputFile, ResultMetadata, Sink, Source, StoreError,
};

/// A dense row-major array of an archive: name (without `.npy`), type, and bytes of its elements.
pub type NamedArray<'a> = (&'a str, &'a ArrayType, &'a [u8]);

/// Maps the file of an array. The argument is the size in bytes, by which the caller decides whether to
/// map: of the array, or of the whole file for `.npy`. Returns `None` if the array should be read, or if
/// mapping fails.
pub type MapFile<'a> = &'a dyn Fn(u64) -> Option<MappedFile>;

/// The functions of a format.
pub(crate) trait FormatCode: core::fmt::Debug + Sync {
    /// Opens an array for reading by regions; decoding holds at most `limit` bytes.
    fn open(
        &self,
        path: &Path,
        member: Option<&str>,
        limit: usize,
    ) -> Result<Box<dyn Source>, StoreError>;

    /// Opens the array of a remote name; `None` if the format is not read from remote stores.
    #[cfg(feature = "remote")]
    fn open_remote(
        &self,
        _name: &Path,
        _limit: usize,
    ) -> Option<Result<Box<dyn Source>, StoreError>> {
        None
    }

    /// Creates a result with a remote name; `None` if the format is not written to remote stores.
    #[cfg(feature = "remote")]
    fn create_remote(
        &self,
        _name: &Path,
        _result: &ArrayType,
        _metadata: &ResultMetadata,
    ) -> Option<Result<Box<dyn Sink>, StoreError>> {
        None
    }

    /// Reads a whole array or maps it; `None` if the format is read by regions only.
    fn load(
        &self,
        _path: &Path,
        _member: Option<&str>,
        _limit: usize,
        _map: MapFile<'_>,
    ) -> Option<Result<ArrayFile, FileError>> {
        None
    }

    /// Whether [`FormatCode::load`] reads whole arrays.
    fn can_load(&self) -> bool {
        false
    }

    /// The names of an archive's members; `None` if members are not named.
    fn members(&self, _path: &Path) -> Option<Result<Vec<String>, FileErrorKind>> {
        None
    }

    /// How results are written.
    fn writer(&self) -> FormatWriter {
        FormatWriter::None
    }

    /// Chunk shape of a result; `None` if regions of a result may have any shape.
    fn chunks(&self, _result: &ArrayType, _metadata: &ResultMetadata) -> Option<Vec<usize>> {
        None
    }

    /// Bytes of memory that writing a result takes in addition to the values of a region.
    fn scratch_bytes(&self, _result: &ArrayType, _metadata: &ResultMetadata) -> usize {
        0
    }

    /// Whether each of the results must be written row by row, in order.
    fn are_sequential(&self, results: &[&ArrayType]) -> Vec<bool> {
        vec![false; results.len()]
    }

    /// Whether the caller may choose the chunk shape of a result.
    fn is_chunked(&self) -> bool {
        false
    }

    /// Whether a result keeps the geography of its inputs.
    fn has_geography(&self) -> bool {
        false
    }
}

/// How results of a format are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FormatWriter {
    /// Results are not written.
    None,
    /// By functions that write to an open file.
    File(&'static FileWriter),
    /// By a function that creates the sink of one result at a path.
    Path(CreateSink),
}

/// Creates the sink of one result at a path.
pub(crate) type CreateSink =
    fn(&Path, &ArrayType, &ResultMetadata) -> Result<Box<dyn Sink>, StoreError>;

/// Writes results to an open file: one result, or any number with names in an archive.
#[derive(Debug)]
pub struct FileWriter {
    /// Sinks for results of these names and types.
    pub(crate) sinks: CreateSinks,
    /// Writes whole results in sequence.
    pub(crate) write: WriteArrays,
    /// Whether a result can be computed in mapped memory of the file; see [`OutputFile::map_npy`].
    pub(crate) can_map: bool,
}

type CreateSinks = fn(OutputFile, &[(&str, &ArrayType)]) -> Result<Vec<Box<dyn Sink>>, FileError>;
type WriteArrays = fn(&mut dyn Write, &[NamedArray<'_>]) -> Result<(), FileErrorKind>;

impl FileWriter {
    /// Sinks for results of these names and types, with disk space reserved for all.
    ///
    /// # Errors
    /// Those of [`NpySink::in_file`](crate::NpySink::in_file) or of the archive.
    pub fn sinks(
        &self,
        file: OutputFile,
        results: &[(&str, &ArrayType)],
    ) -> Result<Vec<Box<dyn Sink>>, FileError> {
        (self.sinks)(file, results)
    }

    /// Writes whole results in sequence.
    ///
    /// # Errors
    /// Like [`write_npy_to`](crate::write_npy_to).
    pub fn write(
        &self,
        output: &mut dyn Write,
        results: &[NamedArray<'_>],
    ) -> Result<(), FileErrorKind> {
        (self.write)(output, results)
    }

    /// Whether a result can be computed in the mapped file; see [`OutputFile::map_npy`].
    pub fn can_map(&self) -> bool {
        self.can_map
    }
}

/// The error of an archive path that names no member; if `members` could not be read, the error of
/// reading them.
pub(crate) fn member_not_named(
    extension: &'static str,
    members: Result<Vec<String>, FileErrorKind>,
) -> FileErrorKind {
    match members {
        Ok(members) => FileErrorKind::MemberNotNamed { extension, members },
        Err(error) => error,
    }
}
