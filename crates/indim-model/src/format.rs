//! File formats and their detection.

use core::fmt;
use std::path::Path;

/// A file format of programs.
///
/// ```
/// use indim_model::ModelFormat;
///
/// assert_eq!(ModelFormat::of(b"HloModule m"), Some(ModelFormat::Hlo));
/// assert_eq!(ModelFormat::of(b"<?xml version=\"1.0\"?>"), Some(ModelFormat::OpenVino));
/// assert_eq!(ModelFormat::of(b"module @jit_f {"), Some(ModelFormat::StableHlo));
/// assert_eq!(ModelFormat::of(b"\x08\x0a\n# text but for that"), Some(ModelFormat::Onnx));
/// assert_eq!(ModelFormat::of(b"\n\x05jit_f\x12\x04main"), Some(ModelFormat::Hlo));
/// assert_eq!(ModelFormat::of(b"\x93NUMPY"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelFormat {
    /// StableHLO as MLIR text.
    StableHlo,
    /// HLO as text or as a protobuf.
    Hlo,
    /// OpenVINO's IR: an XML file and an external file with the constants.
    OpenVino,
    /// ONNX: a protobuf.
    Onnx,
}

/// Line prefixes that occur only in MLIR.
const MLIR_PREFIXES: [&str; 7] =
    ["module", "func.func", "\"builtin.module\"", "\"func.func\"", "#", "!", "builtin.module"];

/// Protobuf wire types: integers and length-delimited fields.
const VARINT: u64 = 0;
const LENGTH: u64 = 2;

/// Maximum number of protobuf fields that the detection of the format inspects.
const MAX_FIELDS: usize = 32;

/// Length, in bytes, of the prefix that decides whether a file is text.
const PREFIX_BYTES: usize = 1024;

/// The longest prefix of the content that is UTF-8 text; `None` for binary content. Invalid UTF-8 after
/// more than 64 bytes of text, and control characters after the first `PREFIX_BYTES` bytes, do not make
/// a file binary: damage there does not change the format.
fn text_prefix(content: &[u8]) -> Option<&str> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let text = match core::str::from_utf8(content) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 64 => {
            core::str::from_utf8(&content[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    // Protobufs have many control characters, mostly within the first bytes.
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    (!text.bytes().take(PREFIX_BYTES).any(|byte| is_control(&byte))).then_some(text)
}

/// Reads a varint from the beginning of `rest` and removes it there.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (index, &byte) in rest.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f).checked_shl(7 * index as u32)?;
        if byte < 0x80 {
            *rest = &rest[index + 1..];
            return Some(number);
        }
    }
    None
}

impl ModelFormat {
    /// Detects the format from the content, independent of the name of the file; a prefix of the content is
    /// enough.
    pub fn of(content: &[u8]) -> Option<ModelFormat> {
        match text_prefix(content) {
            Some(text) => ModelFormat::of_text(text),
            None => ModelFormat::of_protobuf(content),
        }
    }

    /// Whether the content is binary.
    pub fn is_binary(content: &[u8]) -> bool {
        text_prefix(content).is_none()
    }

    fn of_text(text: &str) -> Option<ModelFormat> {
        if text.trim_start().starts_with('<') {
            return Some(ModelFormat::OpenVino);
        }
        let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
        // Both MLIR and HLO have `//` comments. If a file has comments, and no line identifies its
        // format, it is taken for one of MLIR's tests.
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let has_comment = lines.clone().any(|line| is_comment(&line));
        let found = lines.filter(|line| !is_comment(line)).find_map(ModelFormat::of_line);
        found.or(has_comment.then_some(ModelFormat::StableHlo))
    }

    /// The format that this line identifies, if any.
    fn of_line(line: &str) -> Option<ModelFormat> {
        let trimmed = line.trim_start();
        let name = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let behind_name = trimmed.trim_start_matches('%').trim_start_matches(name).trim_start();
        if trimmed.starts_with("HloModule") || trimmed.starts_with("ENTRY ") {
            return Some(ModelFormat::Hlo);
        }
        if MLIR_PREFIXES.iter().any(|start| trimmed.starts_with(start)) {
            return Some(ModelFormat::StableHlo);
        }
        let has_name = behind_name.len() < trimmed.len();
        let is_computation = has_name && behind_name.starts_with(['(', '{']);
        is_computation.then_some(ModelFormat::Hlo)
    }

    /// Detects the format from the first field that only one message type has. An ONNX model begins with
    /// its IR version, a dump of XLA with a module, and an HLO module with its name.
    fn of_protobuf(content: &[u8]) -> Option<ModelFormat> {
        let mut rest = content;
        for _ in 0..MAX_FIELDS {
            let tag = varint(&mut rest)?;
            match (tag >> 3, tag & 7) {
                (1, VARINT) => {
                    return (1..128).contains(&varint(&mut rest)?).then_some(ModelFormat::Onnx);
                }
                // A graph, or operator sets.
                (7 | 8, LENGTH) => return Some(ModelFormat::Onnx),
                // A module or its name, or the identifier of the entry computation.
                (1, LENGTH) | (6, VARINT) => return Some(ModelFormat::Hlo),
                (_, VARINT) => drop(varint(&mut rest)?),
                (_, LENGTH) => {
                    let length = usize::try_from(varint(&mut rest)?).ok()?;
                    rest = rest.get(length..)?;
                }
                _ => return None,
            }
        }
        None
    }

    /// All formats.
    pub const ALL: [ModelFormat; 4] =
        [ModelFormat::StableHlo, ModelFormat::Hlo, ModelFormat::OpenVino, ModelFormat::Onnx];

    /// The format with this name.
    ///
    /// ```
    /// use indim_model::ModelFormat;
    ///
    /// assert!(ModelFormat::ALL.into_iter().all(|format| ModelFormat::named(format.name()) == Some(format)));
    /// ```
    pub fn named(name: &str) -> Option<ModelFormat> {
        ModelFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether the format is written as text; HLO is also read as a protobuf.
    pub const fn is_text(self) -> bool {
        !matches!(self, ModelFormat::Onnx)
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ModelFormat::StableHlo => "stablehlo",
            ModelFormat::Hlo => "hlo",
            ModelFormat::OpenVino => "openvino",
            ModelFormat::Onnx => "onnx",
        }
    }

    /// File extensions without the dot; the first is the usual one.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            ModelFormat::StableHlo => &["mlir", "stablehlo"],
            ModelFormat::Hlo => &["hlo", "txt"],
            ModelFormat::OpenVino => &["xml"],
            ModelFormat::Onnx => &["onnx"],
        }
    }

    /// Whether a file of this name can hold this format; a name without an extension can.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use indim_model::ModelFormat;
    ///
    /// let fits = |name: &str| ModelFormat::OpenVino.fits_name(Path::new(name));
    /// assert!(fits("a.xml") && fits("A.XML") && fits("a") && !fits("a.onnx"));
    /// ```
    pub fn fits_name(self, path: &Path) -> bool {
        let Some(extension) = path.extension() else { return true };
        self.extensions().iter().any(|known| extension.eq_ignore_ascii_case(known))
    }

    /// Whether a name has an extension that only programs have.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use indim_model::ModelFormat;
    ///
    /// let is_program = |name: &str| ModelFormat::has_program_extension(Path::new(name));
    /// assert!(is_program("a.mlir") && is_program("A.XML") && is_program("a.hlo.pb"));
    /// assert!(!is_program("a.txt") && !is_program("a.npy") && !is_program("a"));
    /// ```
    pub fn has_program_extension(path: &Path) -> bool {
        let Some(extension) = path.extension() else { return false };
        let known = ModelFormat::ALL.into_iter().flat_map(ModelFormat::extensions);
        // Any text can be called `.txt`. Protobufs of HLO are read and not written.
        let mut known = known.filter(|known| **known != "txt").chain(&["pb"]);
        known.any(|known| extension.eq_ignore_ascii_case(known))
    }

    /// Advice for a file in a known format that indim does not read.
    pub fn advice(content: &[u8]) -> Option<&'static str> {
        content.starts_with(b"ML\xefR").then_some(
            "it is MLIR's bytecode: stablehlo-translate --deserialize makes text of a portable artifact",
        )
    }
}

impl fmt::Display for ModelFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
