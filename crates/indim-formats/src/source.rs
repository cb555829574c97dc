//! Where programs are read from.

use core::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

/// A file that holds a program, and what lies beside it.
///
/// ```
/// use indim_formats::Source;
///
/// let source = Source::new("relu.mlir", "module {}");
/// assert_eq!((source.name(), source.bytes()), ("relu.mlir", &b"module {}"[..]));
/// ```
#[derive(Clone)]
pub struct Source {
    name: String,
    bytes: Bytes,
    folder: Option<Arc<dyn Folder>>,
    /// The lines of the file that come before what is to be read.
    lines_before: usize,
}

/// What lies beside a file: constants that it does not hold itself.
pub trait Folder: Send + Sync {
    /// The content of the file with this name, which is relative to the folder.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::PermissionDenied`] for a file outside the folder.
    fn read(&self, name: &str) -> io::Result<Bytes>;
}

/// A folder of the file system.
#[derive(Debug, Clone)]
pub struct Directory(PathBuf);

impl Directory {
    /// That one.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Directory(path.into())
    }

    /// The path of a file in the folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] where that, or what it links to, lies outside.
    pub fn inside(&self, name: &str) -> io::Result<PathBuf> {
        let outside =
            || io::Error::new(io::ErrorKind::PermissionDenied, "it lies outside the folder");
        let is_below =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(name).components().all(is_below) {
            return Err(outside());
        }
        let folder = match self.0.as_os_str().is_empty() {
            true => Path::new("."),
            false => &self.0,
        };
        let path = folder.join(name).canonicalize()?;
        if path.starts_with(folder.canonicalize()?) { Ok(path) } else { Err(outside()) }
    }
}

impl Folder for Directory {
    fn read(&self, name: &str) -> io::Result<Bytes> {
        std::fs::read(self.inside(name)?).map(Bytes::from)
    }
}

impl Source {
    /// A program that is in memory, with a name for messages.
    pub fn new(name: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Source { name: name.into(), bytes: bytes.into(), folder: None, lines_before: 0 }
    }

    /// A file of the file system, in its folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let folder = Directory::new(path.parent().unwrap_or(Path::new("")));
        let source = Source::new(path.to_string_lossy(), std::fs::read(path)?);
        Ok(source.beside(Arc::new(folder)))
    }

    /// The same, with what lies beside it.
    #[must_use]
    pub fn beside(self, folder: Arc<dyn Folder>) -> Self {
        Source { folder: Some(folder), ..self }
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The content, shared.
    pub fn shared_bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The content as text, as far as it is one.
    pub fn text(&self) -> &str {
        match core::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    /// The content of a file beside this one.
    ///
    /// # Errors
    /// As [`Folder::read`]; [`io::ErrorKind::NotFound`] where nothing lies beside this.
    pub fn neighbour(&self, name: &str) -> io::Result<Bytes> {
        match &self.folder {
            Some(folder) => folder.read(name),
            None => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the program was not read from a folder",
            )),
        }
    }

    /// The programs in this file: MLIR's test files hold several, divided by lines that begin with
    /// `// -----`.
    pub fn pieces(&self) -> Vec<Source> {
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
        // What is no text to its end is one piece, and for its reader to refuse.
        if pieces.is_empty() {
            return vec![self.clone()];
        }
        pieces.push(self.piece(start..self.bytes.len(), lines_before));
        pieces
    }

    fn piece(&self, range: core::ops::Range<usize>, lines_before: usize) -> Source {
        let lines_before = self.lines_before + lines_before;
        Source { bytes: self.bytes.slice(range), lines_before, ..self.clone() }
    }

    /// The line, counted from 1 in the whole file, and the column, in characters from 1, of a byte of the
    /// text.
    pub fn line_and_column(&self, position: usize) -> (usize, usize) {
        let text = self.text();
        let mut position = position.min(text.len());
        while !text.is_char_boundary(position) {
            position -= 1;
        }
        let before = &text[..position];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        (self.lines_before + line, before[line_start..].chars().count() + 1)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.len();
        formatter.debug_struct("Source").field("name", &self.name).field("bytes", &bytes).finish()
    }
}
