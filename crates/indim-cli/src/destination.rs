//! Destinations of results: a file, in the format of its name, or standard output.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::iter;
use std::path::{Path, PathBuf};

use indim::errors::{Diagnostic, ErrorCode};
use indim::files::{
    ArrayFormat, CompleteResult, FileError, FileErrorKind, FileWriter, NamedArray, NpySink,
    OutputFile, ResultMetadata, Sink, is_remote, without_query, write_npy_to, write_whole,
};
use indim::{Array, ArrayType, ArrayViewMut};
use indim_graph::terminal::printable;

use crate::progress::TerminalProgress;
use crate::signals;

/// Bytes of one write, few enough that the progress bar moves.
const MAX_WRITE_BYTES: usize = 4 << 20;

/// The destination of a result, open for writing.
#[derive(Debug)]
pub(crate) enum Destination {
    StandardOutput,
    File {
        file: Box<OutputFile>,
        writer: &'static FileWriter,
    },
    /// A file or folder of a format that is written through a sink, such as Zarr.
    Stored {
        path: PathBuf,
        sink: Box<dyn Sink>,
    },
}

/// The format of a result with this path.
///
/// # Errors
/// `unknown-format` for an ending of another format; `remote-name` for a remote name without a known ending.
pub(crate) fn format_of(path: &Path) -> Result<&'static ArrayFormat, Diagnostic> {
    if is_remote(path) {
        // A query is part of no ending, and is refused later.
        let shown = without_query(path);
        let format = ArrayFormat::of_name(Path::new(&shown));
        return format.filter(|it| it.is_writable()).ok_or_else(|| no_remote_format(&shown));
    }
    let format = ArrayFormat::of_name(path);
    let Some(extension) = path.extension().and_then(OsStr::to_str) else {
        return Ok(format.unwrap_or(ArrayFormat::npy()));
    };
    // Pipes and devices have no format, and cannot seek as some formats must.
    let is_stream = || path.metadata().is_ok_and(|old| !old.is_file() && !old.is_dir());
    match format.filter(|format| format.is_writable()) {
        Some(format) if format.file_writer().is_none() && is_stream() => Ok(ArrayFormat::npy()),
        Some(format) => Ok(format),
        None if is_stream() => Ok(ArrayFormat::npy()),
        None => Err(unknown_format(path, extension)),
    }
}

/// The error of a remote name that says no format. Without an ending, as a source, it is a Zarr array.
fn no_remote_format(shown: &str) -> Diagnostic {
    let shown = printable(shown);
    let message = format!(
        "{shown}: the name of a result in a remote store has the ending .zarr or .npy, or a parent has the \
         ending .zarr"
    );
    Diagnostic::new(ErrorCode::REMOTE_NAME, message)
}

fn unknown_format(path: &Path, extension: &str) -> Diagnostic {
    let message = format!(
        "{}: a result is written as {}, not as .{}; name the file so, or print the result as text: --format \
         csv or --format json, without -o",
        printable(&path.to_string_lossy()),
        ArrayFormat::writable_endings(),
        printable(extension)
    );
    Diagnostic::new(ErrorCode::UNKNOWN_FORMAT, message)
}

impl Destination {
    /// Opens the argument of `-o` (`-`: standard output) for a result of this type. `metadata` has the
    /// metadata that the result inherits. An archive takes any type.
    ///
    /// # Errors
    /// When the file cannot be written, or its format cannot hold the result.
    pub(crate) fn open(
        path: &Path,
        format: &'static ArrayFormat,
        result: &ArrayType,
        metadata: &ResultMetadata,
    ) -> Result<Self, Diagnostic> {
        if is_standard_output(path) {
            return Ok(Destination::StandardOutput);
        }
        if is_remote(path) {
            // Also a format whose file the command opens itself: `create` gives the error.
            let created = format.create(path, result, metadata);
            let sink = created.map_err(|error| error.diagnostic())?;
            return Ok(Destination::Stored { path: path.to_owned(), sink });
        }
        signals::watch().map_err(|error| Diagnostic::new(ErrorCode::IO, error.to_string()))?;
        let error = |error: FileError| error.diagnostic();
        match format.file_writer() {
            Some(writer) => {
                let file = Box::new(OutputFile::create(path).map_err(error)?);
                Ok(Destination::File { file, writer })
            }
            None => {
                let sink = format.create(path, result, metadata);
                let sink = sink.map_err(|error| error.diagnostic())?;
                Ok(Destination::Stored { path: path.to_owned(), sink })
            }
        }
    }

    /// The sinks of streamed results, with disk space reserved for all: one sink, or one per archive
    /// member of these names.
    ///
    /// # Errors
    /// If the disk is full, or they cannot be written.
    pub(crate) fn into_sinks(
        self,
        results: &[ArrayType],
        members: &[String],
    ) -> Result<Vec<Box<dyn Sink>>, Diagnostic> {
        let sinks = match self {
            Destination::StandardOutput => {
                let stream = Box::new(io::stdout());
                NpySink::to_stream("standard output", stream, &results[0])
                    .map(|sink| vec![Box::new(sink) as Box<dyn Sink>])
            }
            Destination::File { file, writer } => {
                let names = members.iter().map(String::as_str).chain(iter::repeat(""));
                let named: Vec<(&str, &ArrayType)> = names.zip(results).collect();
                writer.sinks(*file, &named)
            }
            Destination::Stored { sink, .. } => return Ok(vec![sink]),
        };
        sinks.map_err(|error| error.diagnostic())
    }

    /// Maps the result's part of the file, to be written in place; `None` if the format has no mapped files.
    ///
    /// # Errors
    /// When the disk has no room for the result.
    pub(crate) fn map(
        &mut self,
        result: &ArrayType,
    ) -> Result<Option<ArrayViewMut<'_>>, Diagnostic> {
        match self {
            Destination::File { file, writer } if writer.can_map() => {
                file.map_npy(result).map_err(|error| error.diagnostic())
            }
            _ => Ok(None),
        }
    }

    /// Writes results from other memory: one, or all members of an archive, under these names.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn write(
        &mut self,
        results: &[Array],
        members: &[String],
    ) -> Result<(), Diagnostic> {
        let bytes = results.iter().map(|result| result.bytes().len());
        let progress = TerminalProgress::of_bytes(bytes.fold(0, usize::saturating_add));
        let written = match self {
            Destination::StandardOutput => {
                let output = &mut io::stdout().lock();
                let mut output = ProgressWriter { output, progress: &progress };
                let mut each = results.iter();
                each.try_for_each(|it| write_npy_to(&mut output, it.array_type(), it.bytes()))
            }
            Destination::File { file, writer } => {
                let names = members.iter().map(String::as_str).chain(iter::repeat(""));
                let named: Vec<NamedArray<'_>> = names
                    .zip(results)
                    .map(|(name, result)| (name, result.array_type(), result.bytes()))
                    .collect();
                writer.write(&mut ProgressWriter { output: file, progress: &progress }, &named)
            }
            Destination::Stored { sink, .. } => {
                let mut each = results.iter();
                return each
                    .try_for_each(|result| write_whole(&mut **sink, result))
                    .map_err(|error| error.diagnostic());
            }
        };
        drop(progress);
        match written {
            // A closed pipe is not an error.
            Err(FileErrorKind::Io(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written
                .map_err(|kind| FileError { path: self.path().to_owned(), kind }.diagnostic()),
        }
    }

    /// Completes the file on the disk; only its move to the final name is left. `None` for standard
    /// output.
    ///
    /// # Errors
    /// When the disk fails.
    pub(crate) fn complete(
        self,
        results: &[ArrayType],
    ) -> Result<Option<Box<dyn CompleteResult>>, Diagnostic> {
        let file = match self {
            Destination::StandardOutput => return Ok(None),
            Destination::Stored { sink, .. } => {
                return sink.complete().map(Some).map_err(|error| error.diagnostic());
            }
            Destination::File { file, .. } => file,
        };
        let bytes = results
            .iter()
            .map(|result| result.shape.byte_count(result.dtype.size()).unwrap_or(usize::MAX));
        let progress = TerminalProgress::of_bytes(bytes.fold(0, usize::saturating_add));
        let completed = file.complete(&mut |bytes| progress.advance(bytes));
        match completed {
            Ok(complete) => Ok(Some(Box::new(complete))),
            Err(error) => Err(error.diagnostic()),
        }
    }

    /// Whether both destinations are the same file or folder, or one is inside the folder of the other, so
    /// that one result would replace the other.
    pub(crate) fn overlaps(&self, other: &Destination) -> bool {
        match (self, other) {
            (Destination::StandardOutput, _) | (_, Destination::StandardOutput) => false,
            (Destination::File { file, .. }, Destination::File { file: other, .. }) => {
                file.has_same_target(other)
            }
            _ => {
                let absolute =
                    |destination: &Destination| std::path::absolute(destination.path()).ok();
                let paths = absolute(self).zip(absolute(other));
                paths.is_some_and(|(path, other)| {
                    path.starts_with(&other) || other.starts_with(&path)
                })
            }
        }
    }

    /// The path; for standard output its name in messages.
    fn path(&self) -> &Path {
        match self {
            Destination::StandardOutput => Path::new("standard output"),
            Destination::File { file, .. } => file.path(),
            Destination::Stored { path, .. } => path,
        }
    }
}

/// Whether `-o` means standard output, not a file.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// A writer that writes small pieces and reports progress.
struct ProgressWriter<'a, W> {
    output: W,
    progress: &'a TerminalProgress,
}

impl<W: Write> Write for ProgressWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(&bytes[..bytes.len().min(MAX_WRITE_BYTES)])?;
        self.progress.advance(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
