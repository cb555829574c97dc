//! The registry of error codes of all crates.
//!
//! Each other file of this folder is a section of the registry. Only these files construct an [`ErrorCode`],
//! so an error without an entry does not compile.
//!
//! - `files.rs`: errors of array files;
//! - `findings.rs`: findings about models;
//! - `formats.rs`: errors of model files: StableHLO, HLO, OpenVINO IR, ONNX;
//! - `front_ends.rs`: errors of the command, the oracle and the site; broken invariants;
//! - `graphs.rs`: errors of graphs: operations, element types, views, derivatives;
//! - `rules.rs`: errors of broadcasts and reductions;
//! - `runs.rs`: errors of runs: arrays, compiled programs, memory, threads;
//! - `texts.rs`: errors of texts: expressions, statements, literals, types, graphs in text form.

use core::fmt;
use core::str::FromStr;

/// Defines the constants and entries of one section.
macro_rules! codes {
    ($($name:ident = $code:literal {
        title: $title:literal,
        explanation: $explanation:literal,
        example: $example:expr,
        raised_by: [$($crate_name:literal),+],
    })+) => {
        impl ErrorCode {
            $(#[doc = concat!("`", $code, "`: ", $title, ".")]
            pub const $name: ErrorCode = ErrorCode($code);)+
        }

        pub(super) const ENTRIES: &[ErrorEntry] = &[$(ErrorEntry {
            code: ErrorCode::$name,
            title: $title,
            explanation: $explanation,
            example: $example,
            raised_by: &[$($crate_name),+],
        }),+];
    };
}

mod files;
mod findings;
mod formats;
mod front_ends;
mod graphs;
mod rules;
mod runs;
mod texts;

/// The stable code of an error, such as `size-mismatch`. Each code has an [`ErrorEntry`].
///
/// ```
/// use indim_errors::ErrorCode;
///
/// let code: ErrorCode = "size-mismatch".parse()?;
/// assert_eq!(code, ErrorCode::SIZE_MISMATCH);
/// assert_eq!(code.entry().title, "Two sizes that have to agree differ");
/// assert!("size-mismatched".parse::<ErrorCode>().is_err());
/// # Ok::<(), indim_errors::UnknownErrorCode>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(&'static str);

/// The registry entry of a code. `Display` writes its page.
///
/// ```
/// let entry = indim_errors::ErrorCode::SIZE_MISMATCH.entry();
/// let page = entry.to_string();
/// assert!(page.starts_with("error[size-mismatch]: Two sizes that have to agree differ\n"));
/// assert!(page.contains("\nexample\n  indim explain"));
/// assert!(page.ends_with("raised by\n  indim-shape\n"));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ErrorEntry {
    /// The code.
    pub code: ErrorCode,
    /// The title, in one line.
    pub title: &'static str,
    /// The cause and the remedy.
    pub explanation: &'static str,
    /// An example that raises the error.
    pub example: ErrorExample,
    /// The crates that raise the error.
    pub raised_by: &'static [&'static str],
}

/// An example of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorExample {
    /// Lines for a POSIX shell in an empty folder. The last command raises the error; a test runs them.
    Command(&'static [&'static str]),
    /// A description, for an error that no command reproduces.
    Words(&'static str),
}

/// A section of the registry.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ErrorSection {
    /// The subject of its errors.
    pub title: &'static str,
    /// Its entries.
    pub entries: &'static [ErrorEntry],
}

/// The registry.
const SECTIONS: &[ErrorSection] = &[
    ErrorSection { title: "Broadcasts and reductions", entries: rules::ENTRIES },
    ErrorSection { title: "Graphs", entries: graphs::ENTRIES },
    ErrorSection { title: "Texts", entries: texts::ENTRIES },
    ErrorSection { title: "Arrays and runs", entries: runs::ENTRIES },
    ErrorSection { title: "Array files", entries: files::ENTRIES },
    ErrorSection { title: "Model files", entries: formats::ENTRIES },
    ErrorSection { title: "Findings about models", entries: findings::ENTRIES },
    ErrorSection { title: "Command, oracle and site", entries: front_ends::ENTRIES },
];

/// The error for a text that is not an error code.
///
/// ```
/// use indim_errors::{ErrorCode, UnknownErrorCode};
///
/// assert_eq!("no-such-code".parse::<ErrorCode>(), Err(UnknownErrorCode));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownErrorCode;

impl ErrorCode {
    /// The code.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// The sections of the registry.
    pub const fn sections() -> &'static [ErrorSection] {
        SECTIONS
    }

    /// All codes, in the order of the registry.
    pub fn all() -> impl Iterator<Item = ErrorCode> {
        entries().map(|entry| entry.code)
    }

    /// The registry entry of the code.
    pub fn entry(self) -> &'static ErrorEntry {
        entries().find(|entry| entry.code == self).expect("invariant: each code has an entry")
    }
}

fn entries() -> impl Iterator<Item = &'static ErrorEntry> {
    SECTIONS.iter().flat_map(|section| section.entries)
}

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        ErrorCode::all().find(|code| code.0 == text).ok_or(UnknownErrorCode)
    }
}

impl PartialEq<&str> for ErrorCode {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.0)
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, formatter)
    }
}

impl fmt::Display for UnknownErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no error has this code")
    }
}

impl core::error::Error for UnknownErrorCode {}

/// The level in messages with this code: findings of the linter are warnings or notes.
fn level(code: &str) -> &'static str {
    match code {
        "pdpd-axis" | "rank-promoted" | "wrong-axis" => "warning",
        "cancelling-reshapes"
        | "needless-expand"
        | "outer-product"
        | "repeated-constant"
        | "runtime-dependent"
        | "sizes-may-differ"
        | "unknown-type" => "note",
        _ => "error",
    }
}

/// Width of the page in columns: a terminal of 80 columns shows it with a margin.
const PAGE_COLUMNS: usize = 78;

impl fmt::Display for ErrorEntry {
    /// Writes the page, which ends with a line break.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}[{}]: {}\n", level(self.code.as_str()), self.code, self.title)?;
        write_wrapped(formatter, "", self.explanation)?;
        writeln!(formatter, "\nexample")?;
        match self.example {
            ErrorExample::Command(lines) => {
                lines.iter().try_for_each(|line| writeln!(formatter, "  {line}"))?;
            }
            ErrorExample::Words(text) => write_wrapped(formatter, "  ", text)?,
        }
        writeln!(formatter, "\nraised by\n  {}", self.raised_by.join(", "))
    }
}

/// Writes a paragraph in lines of at most [`PAGE_COLUMNS`], each after `indent`.
fn write_wrapped(formatter: &mut fmt::Formatter<'_>, indent: &str, text: &str) -> fmt::Result {
    let mut column = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > PAGE_COLUMNS {
            writeln!(formatter)?;
            column = 0;
        }
        let separator = if column == 0 { indent } else { " " };
        write!(formatter, "{separator}{word}")?;
        column += separator.len() + width;
    }
    writeln!(formatter)
}
