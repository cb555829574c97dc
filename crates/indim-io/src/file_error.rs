//! Errors of `.npy`, `.npz` and `.safetensors` files and of output files, which convert to errors of
//! sources and sinks.

use core::fmt;
use std::path::{Path, PathBuf};

use crate::{StoreError, system_message};
use indim_graph::terminal::printable;
use indim_ops::DType;
use indim_shape::{Diagnostic, ErrorCode, RankLimitError, Shape, ShapeError};

/// A file that cannot be read or written as an array.
///
/// ```
/// use indim_io::OutputFile;
/// use std::path::Path;
///
/// let error = OutputFile::create(Path::new("no such folder/x.npy")).unwrap_err();
/// assert_eq!(error.code(), "io");
/// assert!(error.to_string().contains("x.npy"));
/// assert_eq!(error.diagnostic().to_string(), format!("error[io]: {error}\n"));
/// ```
#[derive(Debug)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The kind of error.
    pub kind: FileErrorKind,
}

/// The kinds of errors.
///
/// ```
/// use indim_io::{FileErrorKind, write_npy};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.npy");
/// let error = write_npy(&path, &ArrayType::new(DType::U8, [4]), &[1, 2, 3]).unwrap_err();
/// assert!(matches!(error.kind, FileErrorKind::WrongLength { expected: 4, available: 3, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// An error of the operating system.
    Io(std::io::Error),
    /// A directory, a pipe or a device in place of a regular file.
    NotAFile,
    /// A folder at the path of a result.
    Folder,
    /// The existing file has another owner, to whom the new file cannot be given.
    OwnerNotKept,
    /// The file does not begin like a `.npy` file.
    NotNpy,
    /// An unknown version of the format.
    UnknownVersion {
        /// Major and minor version.
        version: (u8, u8),
    },
    /// The header is longer than the file or than the limit.
    HeaderTooLong {
        /// The length that the file claims, in bytes.
        claimed: usize,
        /// The available bytes.
        available: usize,
        /// The maximum length of a header, in bytes.
        max: usize,
    },
    /// The header does not parse.
    BadHeader {
        /// Byte offset in the file.
        position: usize,
        /// The expected token at this offset.
        expected: &'static str,
    },
    /// The element type is not supported.
    UnknownElementType {
        /// The type in the header.
        descr: String,
    },
    /// The format does not support the element type of the result.
    ElementTypeNotInFormat {
        /// The type.
        dtype: DType,
        /// The ending of the format's file names, without the dot.
        format: &'static str,
    },
    /// Allocation of the elements failed.
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
    /// The elements take more memory than the caller allows.
    MemoryLimit {
        /// Bytes of the elements.
        bytes: usize,
        /// Bytes that the limit leaves.
        limit: usize,
    },
    /// The array has more axes than the limit.
    RankLimit(RankLimitError),
    /// The array is too large: its number of elements or bytes exceeds `isize::MAX` (rule E5).
    TooLarge(ShapeError),
    /// The file has fewer bytes than the shape needs. Or, when writing, the number of bytes does not match
    /// the shape.
    WrongLength {
        /// The shape.
        shape: Shape,
        /// Bytes that the shape needs.
        expected: usize,
        /// The available bytes.
        available: usize,
    },
    /// The archive cannot be read.
    BadArchive(String),
    /// The path of an archive does not name a member.
    MemberNotNamed {
        /// The ending of the format's file names, without the dot.
        extension: &'static str,
        /// The existing members.
        members: Vec<String>,
    },
    /// The archive has no such member.
    NoMember {
        /// The requested member.
        member: String,
        /// The existing members.
        members: Vec<String>,
    },
}

impl FileError {
    /// An error of the file at this path.
    pub fn new(path: &Path, kind: FileErrorKind) -> Self {
        FileError { path: path.to_owned(), kind }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match self.kind {
            FileErrorKind::Io(_) => ErrorCode::IO,
            FileErrorKind::NotAFile | FileErrorKind::Folder => ErrorCode::NOT_A_FILE,
            FileErrorKind::OwnerNotKept => ErrorCode::OWNER_NOT_KEPT,
            FileErrorKind::NotNpy => ErrorCode::NOT_NPY,
            FileErrorKind::UnknownVersion { .. } => ErrorCode::UNKNOWN_VERSION,
            FileErrorKind::HeaderTooLong { .. } | FileErrorKind::BadHeader { .. } => {
                ErrorCode::BAD_HEADER
            }
            FileErrorKind::UnknownElementType { .. } => ErrorCode::UNKNOWN_ELEMENT_TYPE,
            FileErrorKind::ElementTypeNotInFormat { .. } => ErrorCode::ELEMENT_TYPE_NOT_IN_FORMAT,
            FileErrorKind::OutOfMemory { .. } => ErrorCode::OUT_OF_MEMORY,
            FileErrorKind::MemoryLimit { .. } => ErrorCode::MEMORY_LIMIT,
            FileErrorKind::RankLimit(error) => error.error_code(),
            FileErrorKind::TooLarge(_) => ErrorCode::TOO_LARGE,
            FileErrorKind::WrongLength { .. } => ErrorCode::WRONG_LENGTH,
            FileErrorKind::BadArchive(_) => ErrorCode::BAD_ARCHIVE,
            FileErrorKind::MemberNotNamed { .. } => ErrorCode::MEMBER_NOT_NAMED,
            FileErrorKind::NoMember { .. } => ErrorCode::NO_MEMBER,
        }
    }

    /// The error as a diagnostic for people.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(self.error_code(), self.to_string())
    }
}

impl From<std::io::Error> for FileErrorKind {
    fn from(error: std::io::Error) -> Self {
        FileErrorKind::Io(error)
    }
}

/// The path becomes the location; the message does not repeat it.
impl From<FileError> for StoreError {
    fn from(error: FileError) -> Self {
        let location = error.path.to_string_lossy();
        match error.kind {
            FileErrorKind::Io(error) => StoreError::new(location, error),
            ref kind => {
                let headline = kind.to_string();
                StoreError::new(location, Diagnostic { headline, ..error.diagnostic() })
            }
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", printable(&self.path.to_string_lossy()), self.kind)
    }
}

impl fmt::Display for FileErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileErrorKind::Io(error) => formatter.write_str(&system_message(error)),
            FileErrorKind::NotAFile => formatter.write_str(
                "not a regular file; save what a pipe, a device or a directory holds as one file first",
            ),
            FileErrorKind::Folder => {
                formatter.write_str("a folder; to write there name a file in it, as in `folder/result.npy`")
            }
            FileErrorKind::OwnerNotKept => formatter.write_str(
                "the file there belongs to another user or group, and the new one cannot be given to them: \
                 write to another name, or remove that file first",
            ),
            FileErrorKind::NotNpy => {
                formatter.write_str("not a .npy file (it does not begin with \\x93NUMPY)")
            }
            FileErrorKind::UnknownVersion { version: (major, minor) } => {
                write!(
                    formatter,
                    "version {major}.{minor} of the .npy format is not known; 1.0 to 3.0 are"
                )
            }
            FileErrorKind::HeaderTooLong { claimed, available, max } => write!(
                formatter,
                "the header claims {claimed} bytes; {available} follow, and a header has at most {max}"
            ),
            FileErrorKind::BadHeader { position, expected } => {
                write!(formatter, "damaged header: expected {expected} at byte {position}")
            }
            FileErrorKind::UnknownElementType { descr } => {
                write!(
                    formatter,
                    "elements of type {} are not numbers that indim knows",
                    printable(descr)
                )
            }
            FileErrorKind::ElementTypeNotInFormat { dtype, format } => write!(
                formatter,
                "a .{format} file has no elements of type {dtype}: write another format, as .npy"
            ),
            FileErrorKind::OutOfMemory { bytes } => {
                write!(formatter, "there is no memory for {bytes} bytes of elements")
            }
            FileErrorKind::MemoryLimit { bytes, limit } => write!(
                formatter,
                "reading it takes {bytes} bytes of memory, and the limit leaves {limit}: raise the \
                 limit, or save the array as a .npy file, which is read where it is"
            ),
            FileErrorKind::RankLimit(error) => write!(formatter, "{error}"),
            FileErrorKind::TooLarge(error) => write!(formatter, "{error}"),
            FileErrorKind::WrongLength { shape, expected, available } => write!(
                formatter,
                "shape {shape} asks for {expected} bytes of elements, there are {available}"
            ),
            FileErrorKind::BadArchive(message) => {
                write!(formatter, "damaged archive: {}", printable(message))
            }
            FileErrorKind::MemberNotNamed { extension, members } => match members.first() {
                None => formatter.write_str("an archive without members"),
                Some(first) => write!(
                    formatter,
                    "an archive; name a member after a colon, as in `.{extension}:{}`; there are: {}",
                    printable(first),
                    name_list(members)
                ),
            },
            FileErrorKind::NoMember { member, members } if members.is_empty() => {
                write!(formatter, "there is no member `{}`; the archive is empty", printable(member))
            }
            FileErrorKind::NoMember { member, members } => write!(
                formatter,
                "there is no member `{}`; there are: {}",
                printable(member),
                name_list(members)
            ),
        }
    }
}

/// Names of the first members, for messages.
fn name_list(members: &[String]) -> String {
    const MAX_LISTED: usize = 20;
    let mut names: Vec<String> =
        members.iter().take(MAX_LISTED).map(|name| printable(name)).collect();
    if members.len() > MAX_LISTED {
        names.push(format!("and {} more", members.len() - MAX_LISTED));
    }
    names.join(", ")
}

impl core::error::Error for FileError {}
