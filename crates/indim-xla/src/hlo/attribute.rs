//! Typed access to attributes: `{0,2}`, `{[0:4:2], [1:6]}`, `1_0x-1_0_2`, `LT`.

use indim_model::{FormatError, FormatErrorKind};
use indim_text::Span;

use super::syntax::Instruction;

/// The attributes of one instruction.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'t> {
    pub(super) text: &'t str,
    pub(super) instruction: &'t Instruction,
}

type ReadResult<T> = Result<T, FormatError>;

impl<'t> Attributes<'t> {
    fn wrong(&self, name: &str, problem: &str, span: Span) -> FormatError {
        FormatErrorKind::attribute(name, problem).in_text(span.start..span.end)
    }

    /// The text of an optional attribute.
    pub(super) fn optional(&self, name: &str) -> Option<&'t str> {
        self.instruction.attribute(self.text, name).map(|span| span.of(self.text))
    }

    fn required(&self, name: &str) -> ReadResult<Span> {
        let found = self.instruction.attribute(self.text, name);
        found.ok_or_else(|| self.wrong(name, "is missing", self.instruction.span))
    }

    /// The text of a required attribute.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn word(&self, name: &str) -> ReadResult<&'t str> {
        Ok(self.required(name)?.of(self.text))
    }

    /// `1`, `{1}`.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn integer(&self, name: &str) -> ReadResult<i64> {
        let span = self.required(name)?;
        let number = span.of(self.text).trim_matches(['{', '}', ' ']).parse();
        number.map_err(|_| self.wrong(name, "is not an integer", span))
    }

    /// `{0,2}`; empty if the attribute is absent.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn integers(&self, name: &str) -> ReadResult<Vec<i64>> {
        let Some(span) = self.instruction.attribute(self.text, name) else { return Ok(Vec::new()) };
        let parts = span.of(self.text).trim_matches(['{', '}']).split(',').map(str::trim);
        let numbers = parts.filter(|part| !part.is_empty()).map(str::parse);
        numbers
            .collect::<Result<_, _>>()
            .map_err(|_| self.wrong(name, "is not a list of integers", span))
    }

    /// `{[0:4:2], [1:6]}`.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn ranges(&self) -> ReadResult<Vec<[i64; 3]>> {
        let span = self.required("slice")?;
        let parts = span.of(self.text).trim_matches(['{', '}']).split(',').map(str::trim);
        let ranges: Option<Vec<[i64; 3]>> = parts
            .filter(|part| !part.is_empty())
            .map(|part| triple(part.strip_prefix('[')?.strip_suffix(']')?, ':', 1))
            .collect();
        ranges.ok_or_else(|| self.wrong("slice", "is not of the form {[start:limit:stride]}", span))
    }

    /// `1_0x-1_0_2`: low, high and interior padding of each axis.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn widths(&self) -> ReadResult<Vec<[i64; 3]>> {
        let span = self.required("padding")?;
        let parts = span.of(self.text).split('x').filter(|part| !part.is_empty());
        let widths: Option<Vec<[i64; 3]>> = parts.map(|part| triple(part, '_', 0)).collect();
        widths.ok_or_else(|| self.wrong("padding", "is not of the form low_high_interior", span))
    }
}

/// Two or three numbers; `third` is the default of the third.
fn triple(text: &str, between: char, third: i64) -> Option<[i64; 3]> {
    let mut numbers = text.split(between).map(|number| number.trim().parse::<i64>().ok());
    let (first, second) = (numbers.next()??, numbers.next()??);
    let third = numbers.next().unwrap_or(Some(third))?;
    numbers.next().is_none().then_some([first, second, third])
}
