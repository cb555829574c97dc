//! The registry of array formats: one row per format, from which reading, writing and messages derive.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::format_code::{self, FileWriter, FormatCode, FormatWriter, MapFile};
use crate::{
    ArrayFile, FileError, FileErrorKind, OutputFile, ResultMetadata, Sink, Source, StoreError,
};
use crate::{is_remote, remote_name, without_query};

/// Maximum number of bytes that identify a format.
const MAX_FIRST_BYTES: usize = 8;

/// All formats, in the order in which messages list them. A row is compiled in every build: without the
/// feature of a format its names are still known, but not its code.
static FORMATS: [ArrayFormat; 7] = [
    ArrayFormat {
        name: "npy",
        endings: &["npy"],
        first_bytes: &[b"\x93NUMPY"],
        folder_files: &[],
        members: Members::None,
        is_writable: true,
        code: Some(&crate::npy::Npy),
    },
    ArrayFormat {
        name: "npz",
        endings: &["npz"],
        first_bytes: &[b"PK\x03\x04", b"PK\x05\x06"],
        folder_files: &[],
        members: Members::Named,
        is_writable: true,
        #[cfg(feature = "npz")]
        code: Some(&crate::npz::Npz),
        #[cfg(not(feature = "npz"))]
        code: None,
    },
    ArrayFormat {
        name: "safetensors",
        endings: &["safetensors"],
        first_bytes: &[],
        folder_files: &[],
        members: Members::Named,
        is_writable: true,
        #[cfg(feature = "safetensors")]
        code: Some(&crate::safetensors::Safetensors),
        #[cfg(not(feature = "safetensors"))]
        code: None,
    },
    ArrayFormat {
        name: "zarr",
        endings: &["zarr"],
        first_bytes: &[],
        folder_files: &["zarr.json", ".zarray", ".zgroup"],
        members: Members::None,
        is_writable: true,
        #[cfg(feature = "zarr")]
        code: Some(&crate::zarr::Zarr),
        #[cfg(not(feature = "zarr"))]
        code: None,
    },
    ArrayFormat {
        name: "png",
        endings: &["png"],
        first_bytes: &[b"\x89PNG\r\n\x1a\n"],
        folder_files: &[],
        members: Members::None,
        is_writable: true,
        #[cfg(feature = "png")]
        code: Some(&crate::png::Png),
        #[cfg(not(feature = "png"))]
        code: None,
    },
    ArrayFormat {
        name: "tiff",
        endings: &["tif", "tiff"],
        first_bytes: &[b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"],
        folder_files: &[],
        members: Members::Optional,
        is_writable: true,
        #[cfg(feature = "tiff")]
        code: Some(&crate::tiff::Tiff),
        #[cfg(not(feature = "tiff"))]
        code: None,
    },
    ArrayFormat {
        name: "csv",
        endings: &["csv", "tsv"],
        first_bytes: &[],
        folder_files: &[],
        members: Members::Optional,
        is_writable: false,
        #[cfg(feature = "csv")]
        code: Some(&crate::csv::Csv),
        #[cfg(not(feature = "csv"))]
        code: None,
    },
];

/// A file or folder format of arrays: a row of the registry.
///
/// ```
/// use std::path::Path;
/// use indim_stores::ArrayFormat;
///
/// let name = |path: &str| ArrayFormat::of_name(Path::new(path)).map(ArrayFormat::name);
/// assert_eq!(name("out.zarr/ndvi"), Some("zarr"));
/// assert_eq!(name("ndvi.TIF"), Some("tiff"));
/// assert_eq!(name("x.txt"), None);
/// ```
#[derive(Debug)]
pub struct ArrayFormat {
    name: &'static str,
    /// Endings of names, without the dot; the first one is for messages.
    endings: &'static [&'static str],
    /// The first bytes of a file; none if content does not identify the format.
    first_bytes: &'static [&'static [u8]],
    /// Names of files; each alone identifies a folder of the format.
    folder_files: &'static [&'static str],
    members: Members,
    /// Whether results can be written in the format.
    is_writable: bool,
    /// `None` if the feature is off.
    code: Option<&'static dyn FormatCode>,
}

/// The arrays that a file contains. A text after a colon in the path selects one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Members {
    /// One array, which the path alone selects. An array in a Zarr group is a folder with a path of its
    /// own.
    None,
    /// Arrays with names; the path must name one of them. Any number of results is written to one file.
    Named,
    /// Columns or pages. Without a text that selects one, the file must have only one.
    Optional,
}

impl PartialEq for ArrayFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ArrayFormat {}

impl ArrayFormat {
    /// All formats that indim knows, also those whose feature is off.
    pub fn all() -> &'static [ArrayFormat] {
        &FORMATS
    }

    /// The format `.npy`: that of results whose names have no ending.
    pub fn npy() -> &'static ArrayFormat {
        &FORMATS[0]
    }

    /// The name, which is also the name of its feature.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Endings of names, without the dot.
    pub fn endings(&self) -> &'static [&'static str] {
        self.endings
    }

    /// Whether the feature of the format is on. `npy` has no feature.
    pub fn is_enabled(&self) -> bool {
        self.code.is_some()
    }

    /// Whether results can be written in the format.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Whether a file of the format is an archive: any number of arrays with names.
    pub fn is_archive(&self) -> bool {
        self.members == Members::Named
    }

    /// The endings of results, as in `.npy, .zarr or .tif`.
    pub fn writable_endings() -> String {
        let written: Vec<String> = FORMATS
            .iter()
            .filter(|format| format.is_writable)
            .map(|format| format!(".{}", format.endings[0]))
            .collect();
        match written.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => written.concat(),
        }
    }

    /// The format that a name implies: by its ending, or, for a folder format, by the ending of a parent
    /// folder.
    pub fn of_name(path: &Path) -> Option<&'static ArrayFormat> {
        let has_ending = |format: &ArrayFormat, path: &Path| {
            let ending = path.extension().and_then(OsStr::to_str);
            ending.is_some_and(|it| format.endings.iter().any(|end| it.eq_ignore_ascii_case(end)))
        };
        let has_parent_folder = |format: &ArrayFormat| {
            !format.folder_files.is_empty() && path.ancestors().any(|it| has_ending(format, it))
        };
        let by_ending = FORMATS.iter().find(|format| has_ending(format, path));
        by_ending.or_else(|| FORMATS.iter().find(|format| has_parent_folder(format)))
    }

    /// The format of an existing file or folder: by the first bytes of a file, by the metadata files of a
    /// folder, otherwise by the name. A remote name without an ending is a Zarr array.
    pub fn of_content(path: &Path) -> Option<&'static ArrayFormat> {
        if is_remote(path) {
            // No request is sent for a name. Arrays of Zarr need no ending in their names.
            return ArrayFormat::of_name(path)
                .or_else(|| FORMATS.iter().find(|format| !format.folder_files.is_empty()));
        }
        let by_content = match path.is_dir() {
            true => {
                let has = |name: &&str| path.join(name).is_file();
                FORMATS.iter().find(|format| format.folder_files.iter().any(has))
            }
            false => {
                let start = first_bytes(path).unwrap_or_default();
                let begins = |bytes: &&[u8]| start.starts_with(bytes);
                FORMATS.iter().find(|format| format.first_bytes.iter().any(begins))
            }
        };
        by_content.or_else(|| ArrayFormat::of_name(path))
    }

    /// Splits `arrays.npz:x`, `table.csv:height` and `pages.tif:2` into path and member, column or page.
    ///
    /// ```
    /// use std::path::Path;
    /// use indim_stores::ArrayFormat;
    ///
    /// let column = ArrayFormat::split("people.csv:height");
    /// assert_eq!(column, (Path::new("people.csv"), Some("height")));
    /// assert_eq!(ArrayFormat::split("climate.zarr/t"), (Path::new("climate.zarr/t"), None));
    /// ```
    pub fn split(text: &str) -> (&Path, Option<&str>) {
        let lower = text.to_ascii_lowercase();
        let with_members = FORMATS.iter().filter(|format| format.members != Members::None);
        let colon = |ending: &&str| {
            let ending = format!(".{ending}:");
            lower.find(&ending).map(|at| at + ending.len() - 1)
        };
        match with_members.flat_map(|format| format.endings.iter().filter_map(colon)).min() {
            Some(colon) => (Path::new(&text[..colon]), Some(&text[colon + 1..])),
            None => (Path::new(text), None),
        }
    }

    /// Whether a text contains the ending of a format, such as `x.npy[time, lat]`.
    pub fn contains_ending(text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let mut endings = FORMATS.iter().flat_map(|format| format.endings);
        endings.any(|ending| lower.contains(&format!(".{ending}")))
    }

    /// Path, member and format of an array that a text names. For a text with a member the name of the
    /// file determines the format, otherwise [`ArrayFormat::of_content`]. The format is `None` if it is
    /// unknown.
    ///
    /// ```
    /// use indim_stores::ArrayFormat;
    ///
    /// let (_, member, format) = ArrayFormat::resolve("all.npz:x");
    /// assert_eq!((member, format.map(ArrayFormat::name)), (Some("x"), Some("npz")));
    /// ```
    pub fn resolve(text: &str) -> (&Path, Option<&str>, Option<&'static ArrayFormat>) {
        let (path, member) = ArrayFormat::split(text);
        let format = match member {
            Some(_) => ArrayFormat::of_name(path),
            None => ArrayFormat::of_content(path),
        };
        (path, member, format)
    }

    /// Opens an array for reading by regions: the only one of a file, or a member. Decoding holds at most
    /// `limit` bytes.
    ///
    /// # Errors
    /// Those of the format; `unknown-format` if its feature is off.
    pub fn open(
        &self,
        path: &Path,
        member: Option<&str>,
        limit: usize,
    ) -> Result<Box<dyn Source>, StoreError> {
        match is_remote(path) {
            true => self.open_remote(path, limit),
            false => self.code_for(path)?.open(path, member, limit),
        }
    }

    #[cfg(feature = "remote")]
    fn open_remote(&self, name: &Path, limit: usize) -> Result<Box<dyn Source>, StoreError> {
        let opened = self.code_for(name)?.open_remote(name, limit);
        opened.unwrap_or_else(|| Err(remote_name::not_remote(name, self.name)))
    }

    #[cfg(not(feature = "remote"))]
    fn open_remote(&self, name: &Path, _: usize) -> Result<Box<dyn Source>, StoreError> {
        Err(remote_name::remote_off(name))
    }

    #[cfg(feature = "remote")]
    fn create_remote(
        &self,
        name: &Path,
        result: &ArrayType,
        metadata: &ResultMetadata,
    ) -> Result<Box<dyn Sink>, StoreError> {
        let created = self.code_for(name)?.create_remote(name, result, metadata);
        created.unwrap_or_else(|| Err(remote_name::not_remote(name, self.name)))
    }

    #[cfg(not(feature = "remote"))]
    fn create_remote(
        &self,
        name: &Path,
        _: &ArrayType,
        _: &ResultMetadata,
    ) -> Result<Box<dyn Sink>, StoreError> {
        Err(remote_name::remote_off(name))
    }

    /// Reads a whole array of at most `limit` bytes, or maps it by `map`. Returns `None` if the format
    /// is read by regions only, its feature is off, or the path is a remote name.
    ///
    /// # Errors
    /// Those of the format.
    pub fn load(
        &self,
        path: &Path,
        member: Option<&str>,
        limit: usize,
        map: MapFile<'_>,
    ) -> Option<Result<ArrayFile, FileError>> {
        if is_remote(path) {
            return None;
        }
        self.code?.load(path, member, limit, map)
    }

    /// Whether [`ArrayFormat::load`] reads or maps whole arrays of the format.
    pub fn can_load(&self) -> bool {
        self.code.is_some_and(FormatCode::can_load)
    }

    /// The names of the arrays in the archive at `path`; `None` if the format has no archives, or its
    /// feature is off.
    ///
    /// # Errors
    /// `io`, and `bad-archive` for a damaged archive.
    pub fn members(&self, path: &Path) -> Option<Result<Vec<String>, FileError>> {
        let members = self.code?.members(path)?;
        Some(members.map_err(|kind| FileError::new(path, kind)))
    }

    /// The error of an archive path that names no member; `None` if the format has no archives, or its
    /// feature is off.
    pub(crate) fn member_not_named(&self, path: &Path) -> Option<FileErrorKind> {
        let members = self.code?.members(path)?;
        Some(format_code::member_not_named(self.name, members))
    }

    /// Creates a result at `path`, with metadata from its inputs.
    ///
    /// # Errors
    /// `unknown-format` if the format is not written, has named members (see [`ArrayFormat::file_writer`]),
    /// or its feature is off; the errors of a format that cannot store the array; `io`.
    pub fn create(
        &self,
        path: &Path,
        array_type: &ArrayType,
        metadata: &ResultMetadata,
    ) -> Result<Box<dyn Sink>, StoreError> {
        if is_remote(path) {
            return self.create_remote(path, array_type, metadata);
        }
        let no_name =
            || format_error(path, format!("a result in .{} needs a name", self.endings[0]));
        match self.code_for(path)?.writer() {
            FormatWriter::Path(create) => create(path, array_type, metadata),
            FormatWriter::File(writer) if !self.is_archive() => {
                let mut sinks = writer.sinks(OutputFile::create(path)?, &[("", array_type)])?;
                sinks.pop().ok_or_else(no_name)
            }
            FormatWriter::File(_) => Err(no_name()),
            FormatWriter::None => Err(not_written(path)),
        }
    }

    /// The functions that write results to an open file. `None` for a format that writes to a path, by
    /// [`ArrayFormat::create`], for a format that is not written, and if the feature is off.
    pub fn file_writer(&self) -> Option<&'static FileWriter> {
        match self.code?.writer() {
            FormatWriter::File(writer) => Some(writer),
            FormatWriter::Path(_) | FormatWriter::None => None,
        }
    }

    /// Chunk shape of a result with this type and metadata; `None` if its regions may have any shape, or
    /// the feature is off.
    ///
    /// ```
    /// # #[cfg(all(feature = "png", feature = "zarr"))] {
    /// use std::path::Path;
    /// use indim_ops::{ArrayType, DType};
    /// use indim_stores::{ArrayFormat, ResultMetadata};
    ///
    /// let metadata = ResultMetadata { chunks: Some(vec![2, 3]), ..ResultMetadata::default() };
    /// let result = ArrayType::new(DType::U8, [5, 7]);
    /// let chunks = |name: &str| ArrayFormat::of_name(Path::new(name)).unwrap().chunks(&result, &metadata);
    /// assert_eq!(chunks("x.zarr"), Some(vec![2, 3]));
    /// assert_eq!(chunks("x.png"), Some(vec![5, 7]));
    /// # }
    /// ```
    pub fn chunks(&self, result: &ArrayType, metadata: &ResultMetadata) -> Option<Vec<usize>> {
        self.code?.chunks(result, metadata)
    }

    /// Bytes of memory that writing a result takes in addition to the values of a region: the
    /// [`Sink::scratch_bytes`](crate::Sink::scratch_bytes) of its sink.
    pub fn scratch_bytes(&self, result: &ArrayType, metadata: &ResultMetadata) -> usize {
        self.code.map_or(0, |code| code.scratch_bytes(result, metadata))
    }

    /// Whether each of the results of one file must be written row by row, in order.
    pub fn are_sequential(&self, results: &[&ArrayType]) -> Vec<bool> {
        self.code.map_or_else(|| vec![false; results.len()], |code| code.are_sequential(results))
    }

    /// Whether the chunk shape of a result can be chosen.
    pub fn is_chunked(&self) -> bool {
        self.code.is_some_and(FormatCode::is_chunked)
    }

    /// Whether a result keeps the geography of its inputs.
    pub fn has_geography(&self) -> bool {
        self.code.is_some_and(FormatCode::has_geography)
    }

    fn code_for(&self, path: &Path) -> Result<&'static dyn FormatCode, StoreError> {
        self.code.ok_or_else(|| {
            format_error(path, format!("this build has no `{}`: its feature is off", self.name))
        })
    }
}

fn not_written(path: &Path) -> StoreError {
    format_error(path, format!("results are written as {}", ArrayFormat::writable_endings()))
}

fn format_error(path: &Path, message: String) -> StoreError {
    StoreError::new(without_query(path), Diagnostic::new(ErrorCode::UNKNOWN_FORMAT, message))
}

/// The first bytes of a regular file. Other files are not opened: a pipe would wait for its writer.
fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    if path.is_file() {
        File::open(path)?.take(MAX_FIRST_BYTES as u64).read_to_end(&mut start)?;
    }
    Ok(start)
}

/// Opens the array that a text names: `x.npy`, `arrays.npz:x`, `climate.zarr/temperature`, `image.png`,
/// `pages.tif:2`, `table.csv:height`. Returns `None` if neither name nor content has a format. Decoding holds
/// at most `limit` bytes.
///
/// ```
/// assert!(indim_stores::open("x.txt", usize::MAX).is_none());
/// assert_eq!(indim_stores::open("no file.npy", usize::MAX).unwrap().unwrap_err().code(), "io");
/// ```
pub fn open(text: &str, limit: usize) -> Option<Result<Box<dyn Source>, StoreError>> {
    let (path, member, format) = ArrayFormat::resolve(text);
    Some(format?.open(path, member, limit))
}

/// Creates a result at `path`, in the format of its name, with metadata from its inputs.
///
/// # Errors
/// `unknown-format` if the name has no format; those of [`ArrayFormat::create`].
pub fn create(
    path: &Path,
    array_type: &ArrayType,
    metadata: &ResultMetadata,
) -> Result<Box<dyn Sink>, StoreError> {
    let format = ArrayFormat::of_name(path).ok_or_else(|| not_written(path))?;
    format.create(path, array_type, metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_formats_share_a_name_an_ending_or_first_bytes() {
        let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let mut endings: Vec<&str> = FORMATS.iter().flat_map(|it| it.endings).copied().collect();
        for list in [&mut names, &mut endings] {
            let count = list.len();
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), count);
        }
        let starts: Vec<&[u8]> = FORMATS.iter().flat_map(|it| it.first_bytes).copied().collect();
        for (index, start) in starts.iter().enumerate() {
            assert!((1..=MAX_FIRST_BYTES).contains(&start.len()));
            assert!(
                starts[..index].iter().all(|it| !it.starts_with(start) && !start.starts_with(it))
            );
        }
    }

    #[test]
    fn messages_name_all_formats_of_results() {
        assert_eq!(
            ArrayFormat::writable_endings(),
            ".npy, .npz, .safetensors, .zarr, .png or .tif"
        );
    }
}
