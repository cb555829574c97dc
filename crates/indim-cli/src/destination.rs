//! Destinations of results: a file, in the format of its name, or standard output.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use indim::files::{
    FileError, FileErrorKind, NamedArray, NpySink, OutputFile, npz_sinks, safetensors_sinks,
    write_npy_to, write_npz_to, write_safetensors_to,
};
use indim::stores::{self, CompleteResult, ResultMetadata, write_whole};
use indim::stream::Sink;
use indim::{ArrayType, ArrayViewMut, Buffer, Diagnostic, ErrorCode};
use indim_graph::terminal::shown;

use crate::progress::Progress;
use crate::signals;

/// Bytes of one write, few enough that the progress bar moves.
const PIECE: usize = 4 << 20;

/// The destination of a result, open for writing.
#[derive(Debug)]
pub(crate) enum Destination {
    StandardOutput,
    File {
        file: Box<OutputFile>,
        format: FileFormat,
    },
    /// A file or folder of another format.
    Stored {
        path: PathBuf,
        sink: Box<dyn Sink>,
    },
}

/// The format of a file of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Npy,
    Npz,
    Safetensors,
    Stored(stores::ArrayFormat),
}

impl FileFormat {
    /// Whether one file holds any number of results under their names.
    pub(crate) fn is_archive(self) -> bool {
        matches!(self, FileFormat::Npz | FileFormat::Safetensors)
    }

    /// The format that a file of this name is to have.
    ///
    /// # Errors
    /// When the name is one for another format.
    pub(crate) fn of(path: &Path) -> Result<FileFormat, Diagnostic> {
        let Some(extension) = path.extension().and_then(OsStr::to_str) else {
            let format = stores::ArrayFormat::of_name(path);
            return Ok(format.map_or(FileFormat::Npy, FileFormat::Stored));
        };
        match extension.to_ascii_lowercase().as_str() {
            "npy" => Ok(FileFormat::Npy),
            "npz" => Ok(FileFormat::Npz),
            "safetensors" => Ok(FileFormat::Safetensors),
            // Pipes and devices have no format, and cannot seek as some formats must.
            _ if path.metadata().is_ok_and(|old| !old.is_file() && !old.is_dir()) => {
                Ok(FileFormat::Npy)
            }
            _ => match stores::ArrayFormat::of_name(path) {
                Some(format) if format != stores::ArrayFormat::Csv => {
                    Ok(FileFormat::Stored(format))
                }
                _ => Err(unknown_format(path, extension)),
            },
        }
    }
}

fn unknown_format(path: &Path, extension: &str) -> Diagnostic {
    let message = format!(
        "{}: a result is written as .npy, .npz, .safetensors, .zarr, .png or .tif, not as .{}; name the file \
         so, or print the result as text: --format csv or --format json, without -o",
        shown(&path.to_string_lossy()),
        shown(extension)
    );
    Diagnostic::new(ErrorCode::UNKNOWN_FORMAT, message)
}

impl Destination {
    /// Opens the argument of `-o` (`-`: standard output) for a result of this type. `metadata` has the metadata
    /// that the result inherits. An archive takes any type.
    ///
    /// # Errors
    /// When the file cannot be written, or its format cannot hold the result.
    pub(crate) fn open(
        path: &Path,
        format: FileFormat,
        result: &ArrayType,
        metadata: &ResultMetadata,
    ) -> Result<Self, Diagnostic> {
        if is_standard_output(path) {
            return Ok(Destination::StandardOutput);
        }
        signals::watch().map_err(|error| Diagnostic::new(ErrorCode::IO, error.to_string()))?;
        if let FileFormat::Stored(_) = format {
            let sink =
                stores::create(path, result, metadata).map_err(|error| error.diagnostic())?;
            return Ok(Destination::Stored { path: path.to_owned(), sink });
        }
        let file = OutputFile::create(path).map_err(|error| error.diagnostic())?;
        Ok(Destination::File { file: Box::new(file), format })
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
        let named: Vec<(&str, &ArrayType)> =
            members.iter().map(String::as_str).zip(results).collect();
        let one = |sink: NpySink| vec![Box::new(sink) as Box<dyn Sink>];
        let sinks = match self {
            Destination::StandardOutput => {
                let stream = Box::new(io::stdout());
                NpySink::to_stream("standard output", stream, &results[0]).map(one)
            }
            Destination::File { file, format: FileFormat::Npz } => npz_sinks(*file, &named),
            Destination::File { file, format: FileFormat::Safetensors } => {
                safetensors_sinks(*file, &named)
            }
            Destination::File { file, .. } => NpySink::in_file(*file, &results[0]).map(one),
            Destination::Stored { sink, .. } => return Ok(vec![sink]),
        };
        sinks.map_err(|error| error.diagnostic())
    }

    /// The memory of the result in the file itself, where files can be memory.
    ///
    /// # Errors
    /// When the disk has no room for the result.
    pub(crate) fn map(
        &mut self,
        result: &ArrayType,
    ) -> Result<Option<ArrayViewMut<'_>>, Diagnostic> {
        match self {
            Destination::File { file, format: FileFormat::Npy } => {
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
        results: &[Buffer],
        members: &[String],
    ) -> Result<(), Diagnostic> {
        let bytes = results.iter().map(|result| result.bytes().len());
        let progress = Progress::of_bytes(bytes.fold(0, usize::saturating_add));
        let write_npy = |mut output: ProgressWriter<'_, &mut dyn Write>| {
            let mut each = results.iter();
            each.try_for_each(|it| write_npy_to(&mut output, it.array_type(), it.bytes()))
        };
        let written = match self {
            Destination::StandardOutput => {
                write_npy(ProgressWriter { output: &mut io::stdout().lock(), progress: &progress })
            }
            Destination::File { file, format: FileFormat::Npy } => {
                write_npy(ProgressWriter { output: file, progress: &progress })
            }
            Destination::File { file, format: FileFormat::Npz } => {
                let output = ProgressWriter { output: file, progress: &progress };
                write_npz_to(output, members.iter().zip(results).map(member))
            }
            Destination::File { file, format: FileFormat::Safetensors } => {
                let output = ProgressWriter { output: file, progress: &progress };
                let members: Vec<_> = members.iter().zip(results).map(member).collect();
                write_safetensors_to(output, &members)
            }
            Destination::Stored { sink, .. } => {
                let mut each = results.iter();
                return each
                    .try_for_each(|result| write_whole(&mut **sink, result))
                    .map_err(|error| error.diagnostic());
            }
            Destination::File { format: FileFormat::Stored(_), .. } => Ok(()),
        };
        drop(progress);
        match written {
            // A closed pipe is no error.
            Err(FileErrorKind::Io(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written
                .map_err(|kind| FileError { path: self.path().to_owned(), kind }.diagnostic()),
        }
    }

    /// Completes the file on the disk; only its move to the final name is left.
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
        let progress = Progress::of_bytes(bytes.fold(0, usize::saturating_add));
        let completed = file.complete(&mut |bytes| progress.advance(bytes));
        match completed {
            Ok(complete) => Ok(Some(Box::new(complete))),
            Err(error) => Err(error.diagnostic()),
        }
    }

    /// Whether both are one file.
    pub(crate) fn is_same_file(&self, other: &Destination) -> bool {
        match (self, other) {
            (Destination::File { file, .. }, Destination::File { file: other, .. }) => {
                file.has_same_target(other)
            }
            (Destination::Stored { path, .. }, Destination::Stored { path: other, .. }) => {
                std::path::absolute(path).ok() == std::path::absolute(other).ok()
            }
            _ => false,
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

fn member<'a>((name, result): (&'a String, &'a Buffer)) -> NamedArray<'a> {
    (name, result.array_type(), result.bytes())
}

/// Whether `-o` means standard output, not a file.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// A writer in small pieces that reports progress.
struct ProgressWriter<'a, W> {
    output: W,
    progress: &'a Progress,
}

impl<W: Write> Write for ProgressWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(&bytes[..bytes.len().min(PIECE)])?;
        self.progress.advance(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
