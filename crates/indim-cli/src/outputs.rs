//! The outputs of `-o`: a destination for each result.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use indim::errors::{Diagnostic, ErrorCode};
use indim::files::{ArrayFormat, ResultMetadata, is_remote, upload_bytes, without_query};
use indim::stream::StorageInfo;
use indim::text::Expression;
use indim::{ArrayType, Shape};
use indim_graph::terminal::printable;
use indim_shape::is_printable;

use crate::destination::{Destination, format_of, is_standard_output};
use crate::failure::Failure;
use crate::output::print_message;
use crate::report::Report;

/// Chunks whose writing takes more than this, in bytes, are halved while the memory limit is exceeded.
const MIN_CHUNK_BYTES: usize = 64 << 10;

/// Maximum length of a file name on the common file systems, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// A `FILE` or `NAME=FILE` of the command line.
#[derive(Debug)]
struct Output<'a> {
    /// The name of the result; `None` for the only result, or for all results in an archive or a folder.
    name: Option<&'a str>,
    path: Cow<'a, Path>,
    format: &'static ArrayFormat,
}

/// All outputs; empty if the results are printed.
#[derive(Debug)]
pub(crate) struct Outputs<'a> {
    each: Vec<Output<'a>>,
    /// A folder that is made before the first write, and removed if it stays empty.
    folder: Option<NewFolder>,
}

/// A new folder for results; drop removes it if it is empty.
#[derive(Debug)]
struct NewFolder {
    path: PathBuf,
    is_created: AtomicBool,
}

impl NewFolder {
    fn create(&self) -> Result<(), Diagnostic> {
        let created = std::fs::create_dir_all(&self.path);
        self.is_created.store(created.is_ok(), Ordering::Relaxed);
        created.map_err(|error| {
            let path = printable(&self.path.to_string_lossy());
            Diagnostic::new(ErrorCode::IO, format!("{path}: the folder cannot be made: {error}"))
        })
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if self.is_created.load(Ordering::Relaxed) {
            // `remove_dir` removes empty folders only.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

impl<'a> Outputs<'a> {
    /// Reads the arguments.
    ///
    /// # Errors
    /// `unknown-format`; `terminal` if standard output is a terminal; wrong usage if several files lack
    /// names, or two outputs are standard output.
    pub(crate) fn parse(arguments: &'a [PathBuf]) -> Result<Self, Failure> {
        let output = |argument: &'a PathBuf| {
            let (name, path) = split_name(argument);
            format_of(path).map(|format| Output { name, path: path.into(), format })
        };
        let outputs = arguments.iter().map(output).collect::<Result<Vec<_>, _>>()?;
        let usage = |message: String| Err(Failure::Usage(message));
        if outputs.len() > 1 && outputs.iter().any(|output| output.name.is_none()) {
            return usage("of several files, each says its result: -o NAME=FILE".to_owned());
        }
        match outputs.iter().filter(|output| is_standard_output(&output.path)).count() {
            0 => {}
            1 if io::stdout().is_terminal() => return Err(terminal_error().into()),
            1 => {}
            _ => {
                return usage("standard output takes one result: give the others files".to_owned());
            }
        }
        for (index, output) in outputs.iter().enumerate() {
            if outputs[..index].iter().any(|earlier| earlier.name == output.name) {
                let name = output.name.unwrap_or_default();
                return usage(format!("the result `{}` is written twice", printable(name)));
            }
        }
        Ok(Outputs { each: outputs, folder: None })
    }

    /// The expression with the requested results.
    ///
    /// # Errors
    /// `unknown-result`; `several-results` for one file that is not an archive.
    pub(crate) fn select_results(&self, expression: Expression) -> Result<Expression, Report> {
        match self.each.as_slice() {
            [] => Ok(expression),
            // An archive takes any number.
            [Output { name: None, format, .. }] if format.is_archive() => Ok(expression),
            [Output { name: None, .. }] => match expression.results().as_slice() {
                [_] => Ok(expression),
                results => Err(several_results(results).into()),
            },
            outputs => {
                let names: Vec<&str> = outputs.iter().filter_map(|output| output.name).collect();
                let text = expression.text().to_owned();
                expression
                    .with_results(&names)
                    .map_err(|error| Report::of_expression(&error, &text))
            }
        }
    }

    /// Selects the results to deliver, among those with these names: all if they go to a folder or an
    /// archive, or are printed; else those of the outputs. Returns the outputs and the indices of the
    /// selected results.
    ///
    /// # Errors
    /// `unknown-result`; `several-results` for one file that is not an archive; `bad-name` for a result
    /// in a folder whose name cannot be the name of a file.
    pub(crate) fn select(self, names: &'a [String]) -> Result<(Self, Vec<usize>), Diagnostic> {
        match self.each.as_slice() {
            [] => Ok((self, (0..names.len()).collect())),
            [Output { name: None, format, .. }] if format.is_archive() => {
                Ok((self, (0..names.len()).collect()))
            }
            [Output { name: None, path, format }]
                // A Zarr array is a folder too, but the new array replaces it.
                if *format == ArrayFormat::npy() && (path.is_dir() || is_new_folder(path)) =>
            {
                let file = |name: &'a String| output_in_folder(path, name);
                let each = names.iter().map(file).collect::<Result<_, _>>()?;
                let new =
                    || NewFolder { path: path.to_path_buf(), is_created: AtomicBool::new(false) };
                let folder = is_new_folder(path).then(new);
                Ok((Outputs { each, folder }, (0..names.len()).collect()))
            }
            [Output { name: None, .. }] => match names {
                [_] => Ok((self, vec![0])),
                _ => {
                    let names: Vec<_> = names.iter().map(|name| Some(name.as_str())).collect();
                    Err(several_results(&names))
                }
            },
            outputs => {
                let requested = outputs.iter().filter_map(|output| output.name);
                let indices = requested.map(|name| result_index(names, name)).collect::<Result<_, _>>()?;
                Ok((self, indices))
            }
        }
    }

    /// Whether results are printed.
    pub(crate) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// The storage of streamed results; `None` if results are printed, or go to an archive in a pipe.
    pub(crate) fn storage(
        &self,
        results: &[(ArrayType, ResultMetadata)],
    ) -> Option<Vec<StorageInfo>> {
        let results_per_output = results.len().checked_div(self.each.len())?;
        let stored = self.each.iter().zip(results.chunks(results_per_output.max(1)));
        stored
            .map(|(output, results)| output.storage(results))
            .collect::<Option<Vec<_>>>()
            .map(|stored| stored.concat())
    }

    /// Halves the chunks of the result whose chunks take the most memory to write; returns whether it
    /// did.
    pub(crate) fn halve_chunks(&self, results: &mut [(ArrayType, ResultMetadata)]) -> bool {
        let bytes = |output: &Output<'_>, (result, metadata): &(ArrayType, ResultMetadata)| {
            output.format.scratch_bytes(result, metadata)
        };
        let chosen = self.each.iter().zip(results).filter(|(output, _)| output.format.is_chunked());
        let largest = chosen.max_by_key(|(output, result)| bytes(output, result));
        largest.is_some_and(|(output, result)| {
            bytes(output, result) > MIN_CHUNK_BYTES && result.1.halve_chunks(&result.0)
        })
    }

    /// Prints a note on each result whose chunks became smaller.
    pub(crate) fn note_smaller_chunks(
        &self,
        results: &[(ArrayType, ResultMetadata)],
        chosen: &[(ArrayType, ResultMetadata)],
    ) {
        for (output, (before, (result, metadata))) in
            self.each.iter().zip(results.iter().zip(chosen))
        {
            if let Some(chunks) =
                metadata.chunks.as_ref().filter(|_| before.1.chunks != metadata.chunks)
            {
                let chunks = Shape::from(chunks.as_slice());
                print_message(&format!(
                    "note: {}: {result} is written in chunks of {chunks}, to stay within the limit",
                    printable(&without_query(&output.path))
                ));
            }
        }
    }

    /// Opens all outputs for writing: one per result, with the type and the metadata that `results`
    /// states, or one archive for all.
    ///
    /// # Errors
    /// When one cannot be written; `duplicate-output` if two are the same file, or one is inside the folder
    /// of another.
    pub(crate) fn open(
        &self,
        results: &[(ArrayType, ResultMetadata)],
    ) -> Result<Vec<Destination>, Diagnostic> {
        if let Some(folder) = &self.folder {
            folder.create()?;
        }
        let mut destinations: Vec<Destination> = Vec::with_capacity(self.each.len());
        for (output, (result, metadata)) in self.each.iter().zip(results) {
            if output.format.has_geography() && metadata.has_other_grid_size {
                print_message(
                    "note: the rows and columns of the result are not those of the GeoTIFF that is read, \
                     whose place on the earth is not written",
                );
            }
            let destination = Destination::open(&output.path, output.format, result, metadata)?;
            if destinations.iter().any(|earlier| earlier.overlaps(&destination)) {
                let path = printable(&without_query(&output.path));
                let message =
                    format!("{path}: two results would be written to this file or folder");
                return Err(Diagnostic::new(ErrorCode::DUPLICATE_OUTPUT, message));
            }
            destinations.push(destination);
        }
        Ok(destinations)
    }
}

impl Output<'_> {
    /// The storage of its result, or of all results of an archive; `None` for an archive to a pipe, which
    /// is written after all results are known.
    fn storage(&self, results: &[(ArrayType, ResultMetadata)]) -> Option<Vec<StorageInfo>> {
        let metadata = self.path.metadata();
        let is_stream = metadata.is_ok_and(|file| !file.is_file() && !file.is_dir())
            || is_standard_output(&self.path)
            // An object of `.npy` is uploaded in order.
            || is_remote(&self.path) && !self.format.is_chunked();
        if self.format.is_archive() && is_stream {
            return None;
        }
        let types: Vec<&ArrayType> = results.iter().map(|(result, _)| result).collect();
        let are_sequential = self.format.are_sequential(&types).into_iter();
        let stored =
            results.iter().zip(are_sequential).map(|((result, metadata), is_sequential)| {
                StorageInfo {
                    chunks: self.format.chunks(result, metadata),
                    is_sequential: is_sequential || is_stream,
                    scratch_bytes: self.format.scratch_bytes(result, metadata)
                        + upload_bytes(&self.path, result),
                    ..StorageInfo::default()
                }
            });
        Some(stored.collect())
    }
}

/// Whether a path names a folder to be made: it ends with a separator.
fn is_new_folder(path: &Path) -> bool {
    let ends_with_separator = path.to_string_lossy().ends_with(std::path::is_separator);
    ends_with_separator && !is_remote(path) && !path.exists()
}

/// The output of a result in a folder: a `.npy` file with the name of the result. Prints a note if the
/// name of the file differs.
fn output_in_folder<'a>(folder: &Path, name: &'a str) -> Result<Output<'a>, Diagnostic> {
    let file = file_name(name).ok_or_else(|| {
        let message = format!("the result `{}` cannot be the name of a file", printable(name));
        let mut refused = Diagnostic::new(ErrorCode::BAD_NAME, message);
        refused.help("one archive takes any names: -o all.npz");
        refused
    })?;
    let path = folder.join(&file);
    if file.strip_suffix(".npy") != Some(name) {
        print_message(&format!(
            "note: `{}` is written to {}",
            printable(name),
            printable(&path.to_string_lossy())
        ));
    }
    Ok(Output { name: Some(name), path: path.into(), format: ArrayFormat::npy() })
}

/// The file name of a result, percent-encoded: each byte (in UTF-8) of a separator, an unprintable
/// character, a percent sign or a leading dot becomes `%` and two hexadecimal digits. Different names
/// stay different. `None` for a name that is empty or too long.
fn file_name(name: &str) -> Option<String> {
    let mut file = String::new();
    for (index, character) in name.char_indices() {
        let is_hidden = index == 0 && character == '.';
        let is_separator = matches!(character, '/' | '\\' | '%');
        if is_hidden || is_separator || !is_printable(character) {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).bytes();
            file.extend(bytes.map(|byte| format!("%{byte:02X}")));
        } else {
            file.push(character);
        }
    }
    file.push_str(".npy");
    (!name.is_empty() && file.len() <= MAX_NAME_BYTES).then_some(file)
}

/// The position of the result with this name.
fn result_index(names: &[String], wanted: &str) -> Result<usize, Diagnostic> {
    names.iter().position(|name| name == wanted).ok_or_else(|| {
        let message = format!("no result is called `{}`", printable(wanted));
        let mut unknown = Diagnostic::new(ErrorCode::UNKNOWN_RESULT, message);
        let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
        unknown.help(format!("the results are {}", names.join(", ")));
        unknown
    })
}

/// Splits `NAME=FILE`; a text before `=` that is not a name belongs to the file's name.
fn split_name(argument: &Path) -> (Option<&str>, &Path) {
    let split = argument.to_str().and_then(|text| text.split_once('='));
    match split {
        Some((name, path)) if is_name(name) => (Some(name), Path::new(path)),
        _ => (None, argument),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn terminal_error() -> Diagnostic {
    let message = "a .npy file is not text, and standard output is a terminal".to_owned();
    let mut refused = Diagnostic::new(ErrorCode::TERMINAL, message);
    refused.help(
        "without `-o -` the result is printed as text; `-o x.npy` writes a file, and `-o - | ...` hands the \
         bytes on"
            .to_owned(),
    );
    refused
}

fn several_results(results: &[Option<&str>]) -> Diagnostic {
    let count = results.len();
    let message = format!("{count} results cannot go to one file");
    let mut several = Diagnostic::new(ErrorCode::SEVERAL_RESULTS, message);
    let name = |index: usize| results.get(index).copied().flatten();
    several.help(match (name(0), name(1)) {
        (Some(first), Some(second)) => {
            let (first, second) = (printable(first), printable(second));
            format!(
                "give each its own: -o {first}={first}.npy -o {second}={second}.npy, or one archive to all: \
                 -o all.npz"
            )
        }
        _ => "give them names, as in a, b = min(x), max(x), and each its own file: -o a=a.npy -o b=b.npy, \
              or one archive to all: -o all.npz"
            .to_owned(),
    });
    several
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_results_are_names_of_files_in_the_folder() {
        let cases = [
            ("y", "y.npy"),
            ("größe:0", "größe:0.npy"),
            ("../x", "%2E.%2Fx.npy"),
            ("/model/Add\\0", "%2Fmodel%2FAdd%5C0.npy"),
            ("a\u{1b}[31m\n", "a%1B[31m%0A.npy"),
            ("a\u{202e}b\0", "a%E2%80%AEb%00.npy"),
            ("a%2Fb", "a%252Fb.npy"),
            ("..", "%2E..npy"),
        ];
        for (name, file) in cases {
            assert_eq!(file_name(name).as_deref(), Some(file), "{name:?}");
        }
        assert_eq!(file_name(""), None);
        assert_eq!(file_name(&"x".repeat(252)), None);
        assert!(file_name(&"x".repeat(251)).is_some());
    }
}
