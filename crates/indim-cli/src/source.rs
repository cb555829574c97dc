//! Where an operand's elements come from: a file, a member of an archive, or a literal.

use std::path::Path;

use indim::files::{ArrayFile, FileError, read_npz_member};
use indim::literal::parse_literal;
use indim::{Array, ArrayType, ArrayView};

/// An operand that has been read, or mapped.
#[derive(Debug)]
pub(crate) enum Source {
    File(ArrayFile),
    Literal(Array),
}

impl Source {
    /// Opens `text`: the path of a `.npy` file, `archive.npz:member`, or a literal.
    ///
    /// What is a literal is never a file, whatever the folder holds: `./3` is the file.
    pub(crate) fn open(text: &str) -> Result<Source, String> {
        let from_file = |error: FileError| format!("error[{}]: {error}", error.code());
        if let Some((archive, member)) = archive_member(text) {
            return read_npz_member(archive, member).map(Source::File).map_err(from_file);
        }
        let open_file = || ArrayFile::open(Path::new(text)).map(Source::File).map_err(from_file);
        if text.ends_with(".npy") || text.ends_with(".npz") {
            return open_file();
        }
        parse_literal(text).map(Source::Literal).or_else(|error| {
            match Path::new(text).exists() {
                // Also a folder, a pipe or a device: opening it tells what is wrong.
                true => open_file(),
                _ if looks_like_literal(text) => Err(error.draw(text)),
                _ => Err(format!(
                    "error[no-such-source]: `{text}` is neither a file nor a literal such as 2.5, \
                     [[1, 2], [3, 4]] or f32([1.5, 2])"
                )),
            }
        })
    }

    pub(crate) fn array_type(&self) -> ArrayType {
        match self {
            Source::File(file) => file.array_type().clone(),
            Source::Literal(array) => array.array_type(),
        }
    }

    pub(crate) fn view(&self) -> ArrayView<'_> {
        match self {
            Source::File(file) => file.view(),
            Source::Literal(array) => ArrayView::from_array(array),
        }
    }
}

/// Whether a text that is no literal was meant as one: it begins like a number or a list, or has brackets.
fn looks_like_literal(text: &str) -> bool {
    let begins_like_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    let begins = text.trim_start().starts_with(begins_like_number);
    text.trim().is_empty() || text.contains(['[', '(']) || begins && !text.contains('/')
}

/// The archive and the member of `archive.npz:member`.
fn archive_member(text: &str) -> Option<(&Path, &str)> {
    let at = text.find(".npz:")? + ".npz".len();
    Some((Path::new(&text[..at]), &text[at + 1..]))
}

/// A `NAME=SOURCE` of the command line.
pub(crate) fn split_binding(text: &str) -> Result<(&str, &str), String> {
    match text.split_once('=') {
        Some((name, source)) if !name.trim().is_empty() => Ok((name.trim(), source)),
        _ => Err(format!("error[bad-binding]: `{text}` is not of the form NAME=SOURCE")),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_are_refused_as_files() {
        let error = Source::open("/dev/null").unwrap_err();
        assert!(error.starts_with("error[not-a-file]: /dev/null: not a regular file"), "{error}");
    }
}
