//! Source files of programs, and the folders with their external files.

use core::fmt;
use core::ops::Range;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

/// A file with a program, and access to its external files.
///
/// ```
/// use indim_model::SourceFile;
///
/// let source = SourceFile::new("relu.mlir", "module {}");
/// assert_eq!((source.name(), source.bytes()), ("relu.mlir", &b"module {}"[..]));
/// ```
#[derive(Clone)]
pub struct SourceFile {
    name: String,
    bytes: Bytes,
    folder: Option<Arc<dyn Folder>>,
    /// Number of lines of the file before this piece; 0 for a whole file.
    lines_before: usize,
    /// Byte offset of each line, computed on first use because a program has about as many locations as
    /// lines.
    line_starts: Arc<OnceLock<Vec<usize>>>,
}

/// A folder with external files: constants that a program stores outside its own file.
pub trait Folder: Send + Sync {
    /// The content of a file; `name` is relative to the folder.
    ///
    /// # Errors
    /// Returns the error of the system; [`io::ErrorKind::PermissionDenied`] for a file outside the folder.
    fn read(&self, name: &str) -> io::Result<Bytes>;

    /// A byte range of a file; all of it must exist.
    ///
    /// # Errors
    /// Those of [`Folder::read`]; [`io::ErrorKind::UnexpectedEof`] if the file ends before the range.
    fn read_range(&self, name: &str, range: Range<usize>) -> io::Result<Bytes> {
        let content = self.read(name)?;
        match range.start <= range.end && range.end <= content.len() {
            true => Ok(content.slice(range)),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The whole file of the program, if [`SourceFile::bytes`] lacks constants that are read from it as from
    /// an external file.
    ///
    /// # Errors
    /// Those of [`Folder::read`].
    fn whole_program(&self) -> Option<io::Result<Bytes>> {
        None
    }
}

/// A folder of the file system, which refuses names and links of files outside the folder.
impl Folder for PathBuf {
    fn read(&self, name: &str) -> io::Result<Bytes> {
        std::fs::read(resolve_in_folder(self, name)?).map(Bytes::from)
    }

    fn read_range(&self, name: &str, range: Range<usize>) -> io::Result<Bytes> {
        let path = resolve_in_folder(self, name)?;
        // A pipe has no ranges and would block. Memory is allocated only if the bytes exist.
        let metadata = path.metadata()?;
        let (start, end) = (range.start as u64, range.end as u64);
        if !metadata.is_file() || start > end || end > metadata.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; range.len()];
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// The path of a file in a folder.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] if the file, or the target of a link, lies outside the folder.
fn resolve_in_folder(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let outside = || io::Error::new(io::ErrorKind::PermissionDenied, "it lies outside the folder");
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(is_below) {
        return Err(outside());
    }
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let path = folder.join(name).canonicalize()?;
    if path.starts_with(folder.canonicalize()?) { Ok(path) } else { Err(outside()) }
}

impl SourceFile {
    /// A program in memory; `name` is for messages.
    pub fn new(name: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        let (name, bytes) = (name.into(), bytes.into());
        SourceFile { name, bytes, folder: None, lines_before: 0, line_starts: Arc::default() }
    }

    /// A file of the file system, with its folder for external files.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let source = SourceFile::new(path.to_string_lossy(), std::fs::read(path)?);
        Ok(source.with_folder(Arc::new(folder)))
    }

    /// The same file with `folder` for its external files.
    #[must_use]
    pub fn with_folder(self, folder: Arc<dyn Folder>) -> Self {
        SourceFile { folder: Some(folder), ..self }
    }

    /// Name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The content, which may lack large constants of a binary file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The content of the whole file: [`SourceFile::bytes`], with constants that were left in the file.
    ///
    /// # Errors
    /// Those of [`Folder::read`].
    pub fn whole_bytes(&self) -> io::Result<Bytes> {
        let whole = self.folder.as_ref().and_then(|folder| folder.whole_program());
        whole.unwrap_or_else(|| Ok(self.bytes.clone()))
    }

    /// The content, shared.
    pub fn shared_bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The longest text prefix of the content.
    pub fn text(&self) -> &str {
        match core::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    /// The content of an external file.
    ///
    /// # Errors
    /// Those of [`Folder::read`]; [`io::ErrorKind::NotFound`] without a folder.
    pub fn external_file(&self, name: &str) -> io::Result<Bytes> {
        self.folder()?.read(name)
    }

    /// A byte range of an external file. A folder of the file system reads only this range.
    ///
    /// # Errors
    /// Those of [`Folder::read_range`]; [`io::ErrorKind::NotFound`] without a folder.
    pub fn external_file_range(&self, name: &str, range: Range<usize>) -> io::Result<Bytes> {
        self.folder()?.read_range(name, range)
    }

    fn folder(&self) -> io::Result<&dyn Folder> {
        self.folder.as_deref().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "the program was not read from a folder")
        })
    }

    /// The programs in this file. MLIR's test files hold several, separated by lines that begin with `//
    /// -----`.
    pub fn pieces(&self) -> Vec<SourceFile> {
        let text = self.text();
        let (mut pieces, mut start, mut lines, mut position) = (Vec::new(), 0, 0, 0);
        let mut lines_before = 0;
        for line in text.split_inclusive('\n') {
            lines += 1;
            if line.starts_with("// -----") {
                pieces.push(self.piece(start..position, lines_before));
                (start, lines_before) = (position + line.len(), lines);
            }
            position += line.len();
        }
        // A file without a separator is one piece.
        if pieces.is_empty() {
            return vec![self.clone()];
        }
        pieces.push(self.piece(start..self.bytes.len(), lines_before));
        pieces
    }

    fn piece(&self, range: Range<usize>, lines_before: usize) -> SourceFile {
        let lines_before = self.lines_before + lines_before;
        let bytes = self.bytes.slice(range);
        SourceFile { bytes, lines_before, line_starts: Arc::default(), ..self.clone() }
    }

    /// Line and column of a byte of the text: the line counts from 1 in the whole file, the column from 1
    /// in characters.
    pub fn line_and_column(&self, position: usize) -> (usize, usize) {
        let is_inside_character = |&&byte: &&u8| byte & 0b1100_0000 == 0b1000_0000;
        let mut position = position.min(self.bytes.len());
        // A byte of binary content can lie inside a character.
        while position > 0 && self.bytes.get(position).as_ref().is_some_and(is_inside_character) {
            position -= 1;
        }
        let starts = self.line_starts();
        let line = starts.partition_point(|&start| start <= position);
        let before = &self.bytes[starts[line - 1]..position];
        let column = before.len() - before.iter().filter(is_inside_character).count() + 1;
        (self.lines_before + line, column)
    }

    /// Byte offset of each line; the first is 0.
    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let newlines = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            core::iter::once(0).chain(newlines.map(|(position, _)| position + 1)).collect()
        })
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.len();
        formatter.debug_struct("Source").field("name", &self.name).field("bytes", &bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_files_are_read_alone() {
        let folder = std::env::temp_dir().join(format!("indim-ranges-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        // Larger than any memory, but sparse on disk.
        let file = File::create(folder.join("weights")).expect("a file");
        file.set_len(1 << 42).expect("a sparse file");
        let source = SourceFile::new("m", "").with_folder(Arc::new(folder.clone()));
        let read =
            |name: &str, range| source.external_file_range(name, range).map_err(|e| e.kind());
        assert_eq!(read("weights", (1 << 42) - 4..1 << 42), Ok(Bytes::from_static(&[0; 4])));
        assert_eq!(read("weights", 0..(1 << 42) + 1), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(read(".", 0..0), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(read("../weights", 0..4), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(read("absent", 0..4), Err(io::ErrorKind::NotFound));
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }

    #[test]
    fn places_are_lines_and_characters() {
        let source = SourceFile::new("a.mlir", "é = 1\n// -----\nß\nxy");
        assert_eq!(source.line_and_column(0), (1, 1));
        assert_eq!(source.line_and_column(1), (1, 1), "inside a character");
        assert_eq!(source.line_and_column(2), (1, 2));
        assert_eq!(source.line_and_column(6), (1, 6), "the line's end");
        assert_eq!(source.line_and_column(1000), (4, 3), "the text's end");
        assert_eq!(SourceFile::new("a.mlir", &b"\x80"[..]).line_and_column(0), (1, 1), "no text");
        let second = &source.pieces()[1];
        assert_eq!(second.line_and_column(0), (3, 1));
        assert_eq!(second.line_and_column(3), (4, 1));
    }
}
