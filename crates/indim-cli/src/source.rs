//! Sources of operands: a file, a member of an archive, a literal, or standard input.

use std::io::{self, IsTerminal, Stdin};
use std::path::Path;

use indim::broadcast::AxisNames;
use indim::errors::{Diagnostic, ErrorCode};
use indim::files::{
    ArrayFile, ArrayFormat, ArrayStream, FileError, FileErrorKind, MemoryLimitError, Source,
    is_remote, read_whole,
};
use indim::literal::{parse_literal, parse_literal_as};
use indim::stream::{StorageInfo, StreamInput};
use indim::{Array, ArrayType, ArrayView, DType};
use indim_graph::terminal::printable;

use crate::failure::Failure;
use crate::output::print_message;
use crate::signals::map_file;

/// Minimum size of a mapped file, in bytes. Smaller files are read into memory, where other processes
/// cannot change them.
const MIN_MAPPED_BYTES: u64 = 1 << 20;

/// The name of standard input in errors.
const STANDARD_INPUT: &str = "standard input";

/// An operand that has been read, or mapped.
#[derive(Debug)]
pub(crate) enum LoadedOperand {
    File(ArrayFile),
    Literal(Array),
    /// A whole array of a format that is only read by regions.
    Whole(Array),
}

/// The metadata of an operand.
#[derive(Debug)]
pub(crate) struct OperandMetadata {
    pub(crate) array_type: ArrayType,
    /// Axis names, if the file stores them.
    pub(crate) axis_names: Option<AxisNames>,
    pub(crate) storage: StorageInfo,
}

/// An opened operand, whose type has been read.
#[derive(Debug)]
pub(crate) enum OpenOperand {
    Read(LoadedOperand),
    /// Standard input, read up to the elements.
    Pipe(ArrayStream<Stdin>),
    /// An array read by regions. `reopen_text` is the text that opens the array again, to read or map it
    /// as a whole: for an array whose format allows that, as `.npy`, `.npz` and `.safetensors` do, and
    /// for an array that is decoded sequentially.
    Stored {
        source: Box<dyn Source>,
        reopen_text: Option<String>,
    },
}

impl OpenOperand {
    /// Opens `text`: `-` is standard input; any other text is parsed as in [`LoadedOperand::open`]. A
    /// small array is read at once if its format is read as a whole; at most `limit` bytes are read into
    /// memory.
    pub(crate) fn open(text: &str, limit: usize) -> Result<OpenOperand, Diagnostic> {
        if !is_standard_input(text) {
            return match parse_source(text)? {
                SourceName::Stored(array) => array.open(text, limit),
                SourceName::Literal(array) => Ok(OpenOperand::Read(LoadedOperand::Literal(array))),
            };
        }
        let input = io::stdin();
        if input.is_terminal() {
            return Err(Diagnostic::new(
                ErrorCode::TERMINAL,
                "standard input is a terminal, where `-` reads a .npy array from a pipe: \
                 cat x.npy | indim eval ...",
            ));
        }
        let stream = ArrayStream::open(input).map_err(standard_input_error)?;
        Ok(OpenOperand::Pipe(stream.with_name(STANDARD_INPUT)))
    }

    /// This operand, read from `text`. A literal without a type takes the type `declared` if that changes no
    /// element.
    pub(crate) fn with_declared_type(self, text: &str, declared: DType) -> OpenOperand {
        match self {
            OpenOperand::Read(LoadedOperand::Literal(literal)) => {
                let converted = parse_literal_as(text, declared).unwrap_or(literal);
                OpenOperand::Read(LoadedOperand::Literal(converted))
            }
            other => other,
        }
    }

    pub(crate) fn array_type(&self) -> ArrayType {
        match self {
            OpenOperand::Read(source) => source.array_type(),
            OpenOperand::Pipe(stream) => stream.array_type().clone(),
            OpenOperand::Stored { source, .. } => source.array_type().clone(),
        }
    }

    /// The source of an operand that is read by regions; `None` for others.
    pub(crate) fn stored_source(&self) -> Option<&dyn Source> {
        match self {
            OpenOperand::Stored { source, .. } => Some(&**source),
            OpenOperand::Read(_) | OpenOperand::Pipe(_) => None,
        }
    }

    /// The name of a file read by regions, or of an array in it, for opening it again.
    pub(crate) fn reopen_text(&self) -> Option<&str> {
        match self {
            OpenOperand::Stored { reopen_text, .. } => reopen_text.as_deref(),
            OpenOperand::Read(_) | OpenOperand::Pipe(_) => None,
        }
    }

    /// Whether it is standard input that has not been read.
    pub(crate) fn is_pipe(&self) -> bool {
        matches!(self, OpenOperand::Pipe(_))
    }

    /// The input of a streamed computation.
    pub(crate) fn input(&self) -> StreamInput<'_> {
        match self {
            OpenOperand::Read(source) => StreamInput::InMemory(source.view()),
            OpenOperand::Stored { source, .. } => StreamInput::Stored(&**source),
            OpenOperand::Pipe(stream) => StreamInput::Stored(stream),
        }
    }

    /// The bytes of memory that the elements occupy now.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            OpenOperand::Read(source) => source.held_bytes(),
            OpenOperand::Pipe(_) | OpenOperand::Stored { .. } => 0,
        }
    }

    /// Reads the operand if it is not yet read, into at most `limit` bytes.
    pub(crate) fn read(self, limit: usize) -> Result<LoadedOperand, Diagnostic> {
        match self {
            OpenOperand::Read(source) => Ok(source),
            OpenOperand::Pipe(stream) => stream
                .read_all(limit)
                .map(LoadedOperand::File)
                .map_err(|kind| with_pipe_advice(standard_input_error(kind))),
            OpenOperand::Stored { reopen_text: Some(text), source } => {
                // The plan is for the file at the time of opening.
                source.check_unchanged().map_err(|error| error.diagnostic())?;
                LoadedOperand::open(&text, limit)
            }
            OpenOperand::Stored { reopen_text: None, source } => read_stored(&*source, limit),
        }
    }
}

/// Reads a whole array of another format, into at most `limit` bytes.
fn read_stored(source: &dyn Source, limit: usize) -> Result<LoadedOperand, Diagnostic> {
    let ArrayType { dtype, shape } = source.array_type();
    let bytes = shape.byte_count(dtype.size()).unwrap_or(usize::MAX);
    let decoding = source.scratch_bytes();
    let needed = bytes.saturating_add(decoding);
    if needed > limit {
        let message = format!(
            "{dtype}{shape} takes {bytes} bytes of memory and its decoding {decoding}, together {needed}, of \
             which the limit leaves {limit}: raise the limit"
        );
        return Err(MemoryLimitError::new(Some(needed), limit, message).diagnostic());
    }
    // Chunks are opened one by one, so an array that is replaced meanwhile could be read half.
    let array = read_whole(source).and_then(|array| source.check_unchanged().map(|()| array));
    array.map(LoadedOperand::Whole).map_err(|error| error.diagnostic())
}

/// Whether a source is standard input.
fn is_standard_input(source: &str) -> bool {
    source == "-"
}

/// Advice on a pipe that is read as a whole and exceeds the memory limit.
fn with_pipe_advice(mut error: Diagnostic) -> Diagnostic {
    if error.code == ErrorCode::MEMORY_LIMIT {
        error.help(
            "standard input is held as a whole if the program reads it again or in another order; a file is \
             read piece by piece",
        );
    }
    error
}

fn standard_input_error(kind: FileErrorKind) -> Diagnostic {
    FileError { path: STANDARD_INPUT.into(), kind }.diagnostic()
}

/// The parsed text of an operand: the place of a stored array, or the array of a literal.
enum SourceName<'a> {
    Stored(StoredArray<'a>),
    Literal(Array),
}

/// An array in a file or folder.
struct StoredArray<'a> {
    format: &'static ArrayFormat,
    path: &'a Path,
    member: Option<&'a str>,
}

impl StoredArray<'_> {
    fn source(&self, limit: usize) -> Result<Box<dyn Source>, Diagnostic> {
        let source = self.format.open(self.path, self.member, limit);
        source.map_err(|error| error.diagnostic())
    }

    /// Reads or maps the array as a whole; `None` if its format is only read by regions.
    fn load(&self, limit: usize) -> Result<Option<LoadedOperand>, Diagnostic> {
        // A file that cannot be mapped may still be read.
        let map =
            |bytes: u64| (bytes >= MIN_MAPPED_BYTES).then(|| map_file(self.path).ok()).flatten();
        let loaded = self.format.load(self.path, self.member, limit, &map).transpose();
        Ok(loaded.map_err(|error| error.diagnostic())?.map(LoadedOperand::File))
    }

    /// Reads or maps the array as a whole; at most `limit` bytes are read into memory.
    fn read(&self, limit: usize) -> Result<LoadedOperand, Diagnostic> {
        match self.load(limit)? {
            Some(loaded) => Ok(loaded),
            None => read_stored(&*self.source(limit)?, limit),
        }
    }

    /// Reads an array of less than [`MIN_MAPPED_BYTES`] if its format is read as a whole, otherwise
    /// opens the array for reading by regions. `text` is the text that names the array.
    fn open(&self, text: &str, limit: usize) -> Result<OpenOperand, Diagnostic> {
        let source = self.source(limit)?;
        if bytes(source.array_type()) < MIN_MAPPED_BYTES
            && let Some(loaded) = self.load(limit)?
        {
            return Ok(OpenOperand::Read(loaded));
        }
        // An array that is mapped, or decoded sequentially, is opened again by its name.
        let can_load = self.format.can_load() && !is_remote(self.path);
        let reopens = can_load || source.is_sequential();
        Ok(OpenOperand::Stored { source, reopen_text: reopens.then(|| text.to_owned()) })
    }
}

impl LoadedOperand {
    /// Opens `text`: the name of an array, such as `x.npy`, `arrays.npz:x` or `climate.zarr/t`, or a literal.
    /// At most `limit` bytes of a file or member are read into memory; large files are mapped.
    pub(crate) fn open(text: &str, limit: usize) -> Result<LoadedOperand, Diagnostic> {
        match parse_source(text)? {
            SourceName::Stored(array) => array.read(limit),
            SourceName::Literal(array) => Ok(LoadedOperand::Literal(array)),
        }
    }

    /// The array in a file of this format, which is read or mapped as a whole.
    pub(crate) fn of_file(
        format: &'static ArrayFormat,
        path: &Path,
        member: Option<&str>,
    ) -> Result<LoadedOperand, Diagnostic> {
        StoredArray { format, path, member }.read(usize::MAX)
    }

    /// Whether a text names a file, not a type or a literal.
    pub(crate) fn is_file(text: &str) -> bool {
        ArrayFormat::contains_ending(text) || ArrayFormat::resolve(text).2.is_some()
    }

    /// The metadata of the operand that [`LoadedOperand::open`] would return; reads nothing else.
    pub(crate) fn metadata_of(text: &str) -> Result<OperandMetadata, Diagnostic> {
        match parse_source(text)? {
            SourceName::Stored(array) => {
                let source = array.source(usize::MAX)?;
                let names = source.axis_names();
                Ok(OperandMetadata {
                    array_type: source.array_type().clone(),
                    axis_names: names.map(|names| names.iter().map(String::as_str).collect()),
                    storage: StorageInfo::input(&StreamInput::Stored(&*source)),
                })
            }
            SourceName::Literal(array) => Ok(OperandMetadata {
                array_type: array.array_type().clone(),
                axis_names: None,
                storage: StorageInfo { is_in_memory: true, ..StorageInfo::default() },
            }),
        }
    }

    /// The type of the operand `text`. A literal without a type takes the type `declared` if that changes no
    /// element.
    pub(crate) fn declared_type_of(
        text: &str,
        declared: Option<DType>,
    ) -> Result<ArrayType, Diagnostic> {
        let stored_type = LoadedOperand::metadata_of(text)?.array_type;
        let literal = declared.filter(|_| matches!(parse_source(text), Ok(SourceName::Literal(_))));
        let converted = literal.and_then(|declared| parse_literal_as(text, declared).ok());
        Ok(converted.map_or(stored_type, |array| array.array_type().clone()))
    }

    pub(crate) fn array_type(&self) -> ArrayType {
        match self {
            LoadedOperand::File(file) => file.array_type().clone(),
            LoadedOperand::Literal(array) | LoadedOperand::Whole(array) => {
                array.array_type().clone()
            }
        }
    }

    pub(crate) fn view(&self) -> ArrayView<'_> {
        match self {
            LoadedOperand::File(file) => file.view(),
            LoadedOperand::Literal(array) | LoadedOperand::Whole(array) => array.view(),
        }
    }

    /// The bytes of memory that the elements occupy.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            LoadedOperand::File(file) => file.held_bytes(),
            LoadedOperand::Literal(array) | LoadedOperand::Whole(array) => array.bytes().len(),
        }
    }

    /// Refuses the results if the file has changed since it was opened.
    pub(crate) fn check_unchanged(&self, name: &str) -> Result<(), Diagnostic> {
        match self {
            LoadedOperand::File(file) if !file.is_unchanged() => Err(Diagnostic::new(
                ErrorCode::FILE_CHANGED,
                format!(
                    "the file of `{name}` changed while it was read, so the result could mix old and new \
                     elements; let its writer finish first, or give a copy of it"
                ),
            )),
            _ => Ok(()),
        }
    }
}

fn bytes(array_type: &ArrayType) -> u64 {
    let bytes = array_type.shape.byte_count(array_type.dtype.size());
    bytes.map_or(u64::MAX, |bytes| bytes as u64)
}

/// Classifies `text` as an array in a file or a literal. A text that is a literal is never a file, even
/// if a file has that name: `./3` names the file `3`.
fn parse_source(text: &str) -> Result<SourceName<'_>, Diagnostic> {
    let stored = || {
        let (path, member, format) = ArrayFormat::resolve(text);
        let format = format.unwrap_or(ArrayFormat::npy());
        SourceName::Stored(StoredArray { format, path, member })
    };
    let path = ArrayFormat::split(text).0;
    if ArrayFormat::of_name(path).is_some() || is_remote(path) {
        return Ok(stored());
    }
    parse_literal(text).map(SourceName::Literal).or_else(|error| {
        match Path::new(text).exists() {
            // Also a folder, a pipe or a device: opening it gives the error.
            true => Ok(stored()),
            _ if looks_like_literal(text) => Err(error.diagnostic(text)),
            _ => Err(Diagnostic::new(
                ErrorCode::NO_SUCH_SOURCE,
                format!(
                    "`{}` is neither a file nor a literal such as 2.5, [[1, 2], [3, 4]] or f32([1.5, 2])",
                    printable(text)
                ),
            )),
        }
    })
}

/// Whether a text that is not a literal looks like one: it begins like a number or a list, or has brackets.
fn looks_like_literal(text: &str) -> bool {
    let begins_like_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    let begins = text.trim_start().starts_with(begins_like_number);
    text.trim().is_empty() || text.contains(['[', '(']) || begins && !text.contains('/')
}

/// Splits a `NAME=SOURCE` of the command line.
pub(crate) fn split_binding(text: &str) -> Result<(&str, &str), Diagnostic> {
    split_binding_or_suggest("x", text)
}

/// Like [`split_binding`]; the error for a source without a name suggests the name `missing`.
pub(crate) fn split_binding_or_suggest<'t>(
    missing: &str,
    text: &'t str,
) -> Result<(&'t str, &'t str), Diagnostic> {
    match text.split_once('=') {
        Some((name, source)) if !name.trim().is_empty() => Ok((name.trim(), source)),
        _ => {
            let message = format!("`{}` is not of the form NAME=SOURCE", printable(text));
            let mut error = Diagnostic::new(ErrorCode::BAD_BINDING, message);
            let source = printable(text.trim_start_matches('='));
            error.help(format!(
                "write the name that it stands for: {}={source}",
                printable(missing)
            ));
            Err(error)
        }
    }
}

/// Sources with the names that they are bound to, and the memory left for unread ones, in bytes.
pub(crate) type OpenedSources<'a> = (Vec<(&'a str, OpenOperand)>, usize);

/// Opens sources; at most one is standard input.
pub(crate) fn open_all<'a>(
    bindings: &[(&'a str, &str)],
    memory_limit: Option<usize>,
) -> Result<OpenedSources<'a>, Failure> {
    if bindings.iter().filter(|(_, source)| is_standard_input(source)).count() > 1 {
        return Err(Failure::Usage(
            "standard input holds one array: only one name can be `-`".to_owned(),
        ));
    }
    let mut memory_left = memory_limit.unwrap_or(usize::MAX);
    let mut open = |(name, source): &(&'a str, &str)| {
        let source =
            OpenOperand::open(source, memory_left).map_err(|error| in_binding(name, error))?;
        let remarks = source.stored_source().map_or(&[][..], Source::remarks);
        remarks
            .iter()
            .for_each(|remark| print_message(&format!("note: `{}`: {remark}", printable(name))));
        memory_left = memory_left.saturating_sub(source.held_bytes());
        Ok((*name, source))
    };
    let sources = bindings.iter().map(&mut open).collect::<Result<_, Diagnostic>>()?;
    Ok((sources, memory_left))
}

/// Reads the unread sources, into at most `limit` bytes.
pub(crate) fn read_all(
    sources: Vec<(&str, OpenOperand)>,
    limit: usize,
) -> Result<Vec<(&str, LoadedOperand)>, Diagnostic> {
    let read = |(name, source): (_, OpenOperand)| match source.read(limit) {
        Ok(source) => Ok((name, source)),
        Err(error) => Err(in_binding(name, error)),
    };
    sources.into_iter().map(read).collect()
}

/// Reads standard input if it is a source; sources that are read by regions stay on disk. Returns the bytes
/// of the limit that are left.
pub(crate) fn read_pipe(
    sources: Vec<(&str, OpenOperand)>,
    limit: usize,
) -> Result<OpenedSources<'_>, Diagnostic> {
    read_matching(sources, limit, OpenOperand::is_pipe)
}

/// Maps or reads as a whole the sources that could be read by regions. Returns the bytes of the limit that
/// are left.
pub(crate) fn map_files(
    sources: Vec<(&str, OpenOperand)>,
    limit: usize,
) -> Result<OpenedSources<'_>, Diagnostic> {
    read_matching(sources, limit, |source| matches!(source, OpenOperand::Stored { .. }))
}

fn read_matching(
    sources: Vec<(&str, OpenOperand)>,
    mut limit: usize,
    should_read: impl Fn(&OpenOperand) -> bool,
) -> Result<OpenedSources<'_>, Diagnostic> {
    let mut operands = Vec::with_capacity(sources.len());
    for (name, source) in sources {
        let source = match should_read(&source) {
            true => {
                let read = source.read(limit).map_err(|error| in_binding(name, error))?;
                limit = limit.saturating_sub(read.held_bytes());
                OpenOperand::Read(read)
            }
            false => source,
        };
        operands.push((name, source));
    }
    Ok((operands, limit))
}

/// The error of a source, with the name that the source is bound to.
pub(crate) fn in_binding(name: &str, error: Diagnostic) -> Diagnostic {
    let headline = format!("in `{}`: {}", printable(name), error.headline);
    Diagnostic { headline, ..error }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_are_refused_as_files() {
        let error = LoadedOperand::open("/dev/null", usize::MAX).unwrap_err();
        assert_eq!(error.code, "not-a-file");
        assert!(error.headline.starts_with("/dev/null: not a regular file"), "{error}");
    }
}
