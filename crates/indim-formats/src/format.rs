//! The formats, and which one a file has.

use core::fmt;

/// A format of programs.
///
/// ```
/// use indim_formats::Format;
///
/// assert_eq!(Format::of(b"HloModule m"), Some(Format::Hlo));
/// assert_eq!(Format::of(b"<?xml version=\"1.0\"?>"), Some(Format::OpenVino));
/// assert_eq!(Format::of(b"module @jit_f {"), Some(Format::StableHlo));
/// assert_eq!(Format::of(b"\x08\x0a\n# text but for that"), Some(Format::Onnx));
/// assert_eq!(Format::of(b"\x93NUMPY"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The text of StableHLO, which is MLIR.
    StableHlo,
    /// The text of HLO.
    Hlo,
    /// OpenVINO's IR: an XML file, beside it one with the constants.
    OpenVino,
    /// ONNX: a protobuf.
    Onnx,
}

/// Beginnings of lines that only MLIR has.
const OF_MLIR: [&str; 7] =
    ["module", "func.func", "\"builtin.module\"", "\"func.func\"", "#", "!", "builtin.module"];

impl Format {
    /// The format of a file with this content, whatever the file is called.
    pub fn of(content: &[u8]) -> Option<Format> {
        let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        match core::str::from_utf8(text).map_err(|error| error.valid_up_to()) {
            Ok(text) => Format::of_text(text),
            // What is damaged further on is still text.
            Err(valid) if valid > 64 && !text[..valid].contains(&0) => {
                core::str::from_utf8(&text[..valid]).ok().and_then(Format::of_text)
            }
            Err(_) => Format::of_protobuf(content),
        }
        .or_else(|| Format::of_protobuf(content))
    }

    fn of_text(text: &str) -> Option<Format> {
        // A protobuf may be text but for its first byte, which no text begins with.
        if text.contains('\0') || text.starts_with(['\x08', '\x12']) {
            return None;
        }
        if text.trim_start().starts_with('<') {
            return Some(Format::OpenVino);
        }
        let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
        // Both MLIR and HLO have such comments; where there is nothing else, it is a test of MLIR.
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let has_comment = lines.clone().any(|line| is_comment(&line));
        let found = lines.filter(|line| !is_comment(line)).find_map(Format::of_line);
        found.or(has_comment.then_some(Format::StableHlo))
    }

    fn of_line(line: &str) -> Option<Format> {
        let trimmed = line.trim_start();
        let name = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let behind_name = trimmed.trim_start_matches('%').trim_start_matches(name).trim_start();
        if trimmed.starts_with("HloModule") || trimmed.starts_with("ENTRY ") {
            return Some(Format::Hlo);
        }
        if OF_MLIR.iter().any(|start| trimmed.starts_with(start)) {
            return Some(Format::StableHlo);
        }
        let has_name = behind_name.len() < trimmed.len();
        let is_computation = has_name && behind_name.starts_with(['(', '{']);
        is_computation.then_some(Format::Hlo)
    }

    /// A model begins with the version of the IR, or with another of its first fields.
    fn of_protobuf(content: &[u8]) -> Option<Format> {
        let begins_model = matches!(content, [0x08, 1..=0x7f, ..] | [0x12 | 0x3a | 0x42, ..]);
        begins_model.then_some(Format::Onnx)
    }

    /// Every format.
    pub const ALL: [Format; 4] = [Format::StableHlo, Format::Hlo, Format::OpenVino, Format::Onnx];

    /// The format of this name.
    ///
    /// ```
    /// use indim_formats::Format;
    ///
    /// assert!(Format::ALL.into_iter().all(|format| Format::named(format.name()) == Some(format)));
    /// ```
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether a file of it is text.
    pub const fn is_text(self) -> bool {
        !matches!(self, Format::Onnx)
    }

    /// The name, as commands take it.
    pub const fn name(self) -> &'static str {
        match self {
            Format::StableHlo => "stablehlo",
            Format::Hlo => "hlo",
            Format::OpenVino => "openvino",
            Format::Onnx => "onnx",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What to do with a file of a kind that is known, but not read.
pub(crate) fn advice(content: &[u8]) -> Option<&'static str> {
    content.starts_with(b"ML\xefR").then_some(
        "it is MLIR's bytecode: stablehlo-translate --deserialize makes text of a portable artifact",
    )
}
