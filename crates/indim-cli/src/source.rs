//! Where an operand's elements come from: a file, a member of an archive, or a literal.

use std::path::Path;

use indim::files::{ArrayFile, read_npz_member};
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
    pub(crate) fn open(text: &str) -> Result<Source, String> {
        let from_file =
            |error: indim::files::FileError| format!("error[{}]: {error}", error.code());
        if let Some((archive, member)) = archive_member(text) {
            return read_npz_member(archive, member).map(Source::File).map_err(from_file);
        }
        // A pipe or a device is no literal either; reading it tells what is wrong.
        let exists = std::fs::metadata(text).is_ok_and(|metadata| !metadata.is_dir());
        if text.ends_with(".npy") || exists {
            return ArrayFile::open(Path::new(text)).map(Source::File).map_err(from_file);
        }
        parse_literal(text).map(Source::Literal).map_err(|error| {
            let note =
                "   = note: neither a file of this name nor a literal such as [[1, 2], [3, 4]]";
            format!("{}{note}", error.draw(text))
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
