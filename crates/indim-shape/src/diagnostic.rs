//! The diagnostic of any error, and its one renderer.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::ErrorCode;

/// A mistake for people: what is wrong, where, and what to do.
///
/// ```
/// use indim_shape::{Diagnostic, ErrorCode, Mark, MarkedLine};
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
    pub place: Option<String>,
    /// The line of the text, the operands with their shapes, and what is marked in them.
    pub lines: Vec<MarkedLine>,
    /// Remarks, each with its title: `note`, `rule N2`, `help`.
    pub remarks: Vec<(String, String)>,
}

/// A line, and what is marked in it.
///
/// ```
/// use indim_shape::{Mark, MarkedLine};
///
/// let mark = Mark { margin: "   | ", indent: 0, width: 3, message: "unknown".to_owned() };
/// let line = MarkedLine { text: "   | sni(x)".to_owned(), mark: Some(mark) };
/// assert_eq!(line.to_string(), "   | sni(x)\n   | ^^^ unknown\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedLine {
    /// The line as it stands.
    pub text: String,
    /// The mark below the line.
    pub mark: Option<Mark>,
}

/// Carets below a piece of a line.
///
/// ```
/// use indim_shape::{RuleSet, Shape, diagnose};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([4, 30]), Shape::from([20])]).unwrap_err();
/// let diagnostic = diagnose(&error, "add", &[]);
/// let mark = diagnostic.lines.iter().find_map(|line| line.mark.as_ref()).unwrap();
/// assert_eq!(mark.width, 2); // below 20
/// assert_eq!(mark.message, "axis 0 of operand 1 is 20, axis 1 of operand 0 is 30");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The text before the mark.
    pub margin: &'static str,
    /// The columns between the margin and the carets.
    pub indent: usize,
    /// The number of carets.
    pub width: usize,
    /// The text after the carets; may be empty.
    pub message: String,
}

impl Diagnostic {
    /// A mistake with a code and a headline.
    pub fn new(code: ErrorCode, headline: impl Into<String>) -> Self {
        let (headline, place) = (headline.into(), None);
        Diagnostic { code, headline, place, lines: Vec::new(), remarks: Vec::new() }
    }

    /// Adds a line in which nothing is marked.
    pub fn line(&mut self, text: String) {
        self.lines.push(MarkedLine { text, mark: None });
    }

    /// Adds what would work.
    pub fn help(&mut self, text: impl Into<String>) {
        self.remark("help", text);
    }

    /// Adds a remark under a title.
    pub fn remark(&mut self, title: impl Into<String>, text: impl Into<String>) {
        self.remarks.push((title.into(), text.into()));
    }

    /// The same mistake, made there.
    #[must_use]
    pub fn at(self, place: Option<String>) -> Self {
        Diagnostic { place, ..self }
    }
}

/// The role of a piece of a drawing, for those who colour it.
///
/// ```
/// use indim_shape::{Diagnostic, ErrorCode, Piece};
///
/// let diagnostic = Diagnostic::new(ErrorCode::IO, "no such file");
/// let mut pieces = Vec::new();
/// diagnostic.write_pieces(&mut |piece, text| {
///     pieces.push((piece, text.to_owned()));
///     Ok(())
/// })?;
/// assert_eq!(pieces[0], (Piece::Code, "error[io]".to_owned()));
/// assert_eq!(pieces[2], (Piece::Headline, "no such file".to_owned()));
/// # Ok::<(), core::fmt::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// `error[size-mismatch]`.
    Code,
    /// The first line behind the code.
    Headline,
    /// Carets, and the message behind them.
    Mark,
    /// The title of a remark: `help`.
    Title,
    /// Everything else.
    Plain,
}

/// Takes the pieces of a drawing, in their order.
pub type WritePiece<'a> = dyn FnMut(Piece, &str) -> fmt::Result + 'a;

impl Diagnostic {
    /// Hands over the drawing piece by piece; joined, the pieces are what `{}` writes.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn write_pieces(&self, write: &mut WritePiece<'_>) -> fmt::Result {
        write(Piece::Code, &format!("error[{}]", self.code))?;
        write(Piece::Plain, ": ")?;
        write(Piece::Headline, &self.headline)?;
        write(Piece::Plain, "\n")?;
        if let Some(place) = &self.place {
            write(Piece::Plain, &format!("  --> {place}\n"))?;
        }
        self.lines.iter().try_for_each(|line| line.write_pieces(write))?;
        self.remarks.iter().try_for_each(|(title, text)| {
            write(Piece::Plain, "   = ")?;
            write(Piece::Title, title)?;
            write(Piece::Plain, &format!(": {text}\n"))
        })
    }
}

impl MarkedLine {
    fn write_pieces(&self, write: &mut WritePiece<'_>) -> fmt::Result {
        write(Piece::Plain, &format!("{}\n", self.text))?;
        let Some(Mark { margin, indent, width, message }) = &self.mark else { return Ok(()) };
        write(Piece::Plain, &format!("{margin}{:indent$}", ""))?;
        let space = if message.is_empty() { "" } else { " " };
        write(Piece::Mark, &format!("{:^<width$}{space}{message}", ""))?;
        write(Piece::Plain, "\n")
    }
}

impl fmt::Display for Diagnostic {
    /// Several lines, each ending with a line break.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_pieces(&mut |_, text| formatter.write_str(text))
    }
}

impl fmt::Display for MarkedLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_pieces(&mut |_, text| formatter.write_str(text))
    }
}
