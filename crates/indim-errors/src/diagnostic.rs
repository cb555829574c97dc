//! Diagnostics of all errors, and their renderer.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::ErrorCode;

/// A diagnostic for users: a code, a headline, marked lines and remarks.
///
/// ```
/// use indim_errors::{Diagnostic, ErrorCode, Mark, MarkedLine};
///
/// let mut diagnostic = Diagnostic::new(ErrorCode::UNKNOWN_NAME, "nothing is bound to `u`");
/// let mark = Mark { margin: "   | ", indent: 4, width: 1, message: String::new() };
/// diagnostic.lines.push(MarkedLine { text: "   | x + u".to_owned(), mark: Some(mark) });
/// diagnostic.help("did you mean `v`?");
/// assert_eq!(
///     diagnostic.to_string(),
///     "\
/// error[unknown-name]: nothing is bound to `u`
///    | x + u
///    |     ^
///    = help: did you mean `v`?
/// "
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: ErrorCode,
    /// The headline, in one line.
    pub headline: String,
    /// The program location of the error, as compilers print it: `src/main.rs:3:5`.
    pub location: Option<String>,
    /// Lines of the source text, or the operands with their shapes; each may have a mark.
    pub lines: Vec<MarkedLine>,
    /// Remarks as pairs of title and text. Titles are `note`, `help`, `from`, or a rule, as `rule N2`.
    pub remarks: Vec<(String, String)>,
}

/// A line with an optional mark.
///
/// ```
/// use indim_errors::{Mark, MarkedLine};
///
/// let mark = Mark { margin: "   | ", indent: 0, width: 3, message: "unknown".to_owned() };
/// let line = MarkedLine { text: "   | sni(x)".to_owned(), mark: Some(mark) };
/// assert_eq!(line.to_string(), "   | sni(x)\n   | ^^^ unknown\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedLine {
    /// The line.
    pub text: String,
    /// The mark below the line.
    pub mark: Option<Mark>,
}

/// Carets below a section of a line, with a message.
///
/// ```
/// use indim_errors::Mark;
///
/// let mark = Mark { margin: "", indent: 4, width: 2, message: "axis 0 is 20".to_owned() };
/// assert_eq!(mark.width, 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The text at the start of the line of carets.
    pub margin: &'static str,
    /// The columns between the margin and the carets.
    pub indent: usize,
    /// The number of carets.
    pub width: usize,
    /// The text after the carets; may be empty.
    pub message: String,
}

impl Diagnostic {
    /// A diagnostic with a code and a headline.
    pub fn new(code: ErrorCode, headline: impl Into<String>) -> Self {
        let (headline, location) = (headline.into(), None);
        Diagnostic { code, headline, location, lines: Vec::new(), remarks: Vec::new() }
    }

    /// Adds a line without a mark.
    pub fn line(&mut self, text: String) {
        self.lines.push(MarkedLine { text, mark: None });
    }

    /// Adds a remark with the title `help`.
    pub fn help(&mut self, text: impl Into<String>) {
        self.remark("help", text);
    }

    /// Adds a remark with a title.
    pub fn remark(&mut self, title: impl Into<String>, text: impl Into<String>) {
        self.remarks.push((title.into(), text.into()));
    }

    /// This diagnostic with a program location.
    #[must_use]
    pub fn at(self, location: Option<String>) -> Self {
        Diagnostic { location, ..self }
    }
}

/// The role of a part of a printed diagnostic, which determines its colour.
///
/// ```
/// use indim_errors::{Diagnostic, ErrorCode, DiagnosticPart};
///
/// let diagnostic = Diagnostic::new(ErrorCode::IO, "no such file");
/// let mut parts = Vec::new();
/// diagnostic.write_parts(&mut |part, text| {
///     parts.push((part, text.to_owned()));
///     Ok(())
/// })?;
/// assert_eq!(parts[0], (DiagnosticPart::Code, "error[io]".to_owned()));
/// assert_eq!(parts[2], (DiagnosticPart::Headline, "no such file".to_owned()));
/// # Ok::<(), core::fmt::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticPart {
    /// `error[size-mismatch]`.
    Code,
    /// The headline after the code.
    Headline,
    /// Carets, and the message after them.
    Mark,
    /// The title of a remark, such as `help`.
    Title,
    /// Everything else.
    Plain,
}

/// A callback for the parts of a printed diagnostic, in order.
pub type WriteDiagnosticPart<'a> = dyn FnMut(DiagnosticPart, &str) -> fmt::Result + 'a;

impl Diagnostic {
    /// Calls `write` for each part; concatenated, the parts are the text of `Display`.
    ///
    /// # Errors
    /// Errors of `write`.
    pub fn write_parts(&self, write: &mut WriteDiagnosticPart<'_>) -> fmt::Result {
        write(DiagnosticPart::Code, &format!("error[{}]", self.code))?;
        write(DiagnosticPart::Plain, ": ")?;
        write(DiagnosticPart::Headline, &self.headline)?;
        write(DiagnosticPart::Plain, "\n")?;
        if let Some(location) = &self.location {
            write(DiagnosticPart::Plain, &format!("  --> {location}\n"))?;
        }
        self.lines.iter().try_for_each(|line| line.write_parts(write))?;
        self.remarks.iter().try_for_each(|(title, text)| {
            write(DiagnosticPart::Plain, "   = ")?;
            write(DiagnosticPart::Title, title)?;
            write(DiagnosticPart::Plain, &format!(": {text}\n"))
        })
    }
}

impl MarkedLine {
    fn write_parts(&self, write: &mut WriteDiagnosticPart<'_>) -> fmt::Result {
        write(DiagnosticPart::Plain, &format!("{}\n", self.text))?;
        let Some(Mark { margin, indent, width, message }) = &self.mark else { return Ok(()) };
        write(DiagnosticPart::Plain, &format!("{margin}{:indent$}", ""))?;
        let space = if message.is_empty() { "" } else { " " };
        write(DiagnosticPart::Mark, &format!("{:^<width$}{space}{message}", ""))?;
        write(DiagnosticPart::Plain, "\n")
    }
}

impl fmt::Display for Diagnostic {
    /// Several lines, each ending with a line break.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_parts(&mut |_, text| formatter.write_str(text))
    }
}

impl fmt::Display for MarkedLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_parts(&mut |_, text| formatter.write_str(text))
    }
}
