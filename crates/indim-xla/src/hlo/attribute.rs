//! Typed access to attributes: `{0,2}`, `{[0:4:2], [1:6]}`, `1_0x-1_0_2`, `{size=3x3 pad=1_1x0_0}`, `LT`.

use indim_model::{FormatError, FormatErrorKind};
use indim_text::Span;

use super::syntax::Instruction;
use crate::windows::WindowAttributes;

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

impl Attributes<'_> {
    /// `{size=3x3 stride=2x2 pad=1_1x0_-1 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1}`; empty lists
    /// if the attribute is absent.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn window(&self) -> ReadResult<WindowAttributes> {
        let Some(span) = self.instruction.attribute(self.text, "window") else {
            return Ok(WindowAttributes::default());
        };
        let members = span.of(self.text).trim_matches(['{', '}', ' ']).split_whitespace();
        let mut window = WindowAttributes::default();
        for member in members {
            let read = member.split_once('=').and_then(|(name, value)| {
                let numbers = || -> Option<Vec<i64>> {
                    value.split('x').map(|number| number.parse().ok()).collect()
                };
                match name {
                    "size" => window.sizes = numbers()?,
                    "stride" => window.strides = numbers()?,
                    "lhs_dilate" => window.base_dilations = numbers()?,
                    "rhs_dilate" => window.window_dilations = numbers()?,
                    "rhs_reversal" => {
                        let reversed: Vec<i64> = numbers()?;
                        window.is_reversed = reversed.iter().map(|&it| it != 0).collect();
                    }
                    "pad" => {
                        let pair = |text| triple(text, '_', 0).map(|[low, high, _]| [low, high]);
                        window.padding = value.split('x').map(pair).collect::<Option<_>>()?;
                    }
                    _ => return None,
                }
                Some(())
            });
            if read.is_none() {
                let problem = "is not of the form {size=3x3 stride=1x1 pad=0_0x0_0}";
                return Err(self.wrong("window", problem, span));
            }
        }
        Ok(window)
    }
}

/// Two or three numbers; `third` is the default of the third.
fn triple(text: &str, between: char, third: i64) -> Option<[i64; 3]> {
    let mut numbers = text.split(between).map(|number| number.trim().parse::<i64>().ok());
    let (first, second) = (numbers.next()??, numbers.next()??);
    let third = numbers.next().unwrap_or(Some(third))?;
    numbers.next().is_none().then_some([first, second, third])
}
