//! Parsing of requests within limits, and writing of answers.

use indim_shape::{AxisNames, Diagnostic, ErrorCode, MAX_RANK, RankLimitError, Shape};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::report::Refusal;

/// Maximum bytes of a request.
pub const MAX_REQUEST_BYTES: usize = 1 << 16;

/// Maximum operands of a drawing.
const MAX_OPERANDS: usize = 16;

/// Maximum characters of a name.
const MAX_NAME_CHARS: usize = 64;

/// An operand as the user types it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperandText {
    pub(crate) name: String,
    pub(crate) shape: String,
}

/// Reads a request, and writes the answer to it.
pub(crate) fn answered<R: DeserializeOwned, A: Serialize>(
    request: &str,
    answer: impl FnOnce(R) -> Result<A, Box<Refusal>>,
) -> String {
    written(read(request).and_then(answer))
}

/// Writes an answer.
pub(crate) fn written<A: Serialize>(answered: Result<A, Box<Refusal>>) -> String {
    let text = match &answered {
        Ok(answer) => serde_json::to_string(answer),
        Err(refusal) => serde_json::to_string(refusal),
    };
    text.expect("invariant: names of fields are texts")
}

fn read<R: DeserializeOwned>(request: &str) -> Result<R, Box<Refusal>> {
    let bad = |message: String| Refusal::new(&Diagnostic::new(ErrorCode::BAD_REQUEST, message));
    if request.len() > MAX_REQUEST_BYTES {
        return Err(bad(format!("the request has more than {MAX_REQUEST_BYTES} bytes")));
    }
    serde_json::from_str(request).map_err(|error| bad(error.to_string()))
}

/// Refuses more than [`MAX_OPERANDS`] operands.
pub(crate) fn check_count(count: usize) -> Result<(), Box<Refusal>> {
    if count <= MAX_OPERANDS {
        return Ok(());
    }
    let message = format!("there are {count} operands, and at most {MAX_OPERANDS} are drawn");
    Err(Refusal::new(&Diagnostic::new(ErrorCode::TOO_MANY_OPERANDS, message)))
}

impl OperandText {
    /// The operand without names of axes, and these names, if the shape has them: `time: 2, lat: 3`.
    pub(crate) fn split_names(
        &self,
        index: usize,
    ) -> Result<(OperandText, Option<AxisNames>), Box<Refusal>> {
        let bracketed = match self.shape.contains(':') && !self.shape.contains('[') {
            true => format!("[{}]", self.shape),
            false => self.shape.clone(),
        };
        let (shape, names) = indim_text::split_axis_names(&bracketed)
            .map_err(|diagnostic| Refusal::of_field(&diagnostic, format!("operands.{index}")))?;
        Ok((OperandText { name: self.name.clone(), shape: shape.into_owned() }, names))
    }

    /// The name, the element type, which may be empty, and the shape.
    pub(crate) fn read(&self, index: usize) -> Result<((String, String), Shape), Box<Refusal>> {
        let field = || format!("operands.{index}");
        let name = self.name.trim();
        if name.chars().count() > MAX_NAME_CHARS {
            let message = format!("a name has at most {MAX_NAME_CHARS} characters");
            return Err(Refusal::of_field(
                &Diagnostic::new(ErrorCode::NAME_TOO_LONG, message),
                field(),
            ));
        }
        let name = if name.is_empty() { format!("operand {index}") } else { name.to_owned() };
        let (dtype, shape) = indim_text::parse_type(&self.shape)
            .map_err(|diagnostic| Refusal::of_field(&diagnostic, field()))?;
        Ok(((name, dtype.map_or("", |dtype| dtype.name()).to_owned()), shape))
    }
}

/// The list in a field; `None` if the field is absent.
pub(crate) fn list(text: Option<&str>, field: &str) -> Result<Option<Vec<i64>>, Box<Refusal>> {
    let Some(text) = text else { return Ok(None) };
    let count = text.split(',').count();
    RankLimitError::check(count, MAX_RANK)
        .map_err(|error| Refusal::of_field(&error.diagnostic(), field))?;
    let read = indim_text::parse_integers(text).map_err(|message| bad_field(message, field))?;
    Ok(Some(read))
}

/// The whole number in a field; `None` if the field is absent or empty.
pub(crate) fn number<N: core::str::FromStr>(
    text: Option<&str>,
    field: &str,
) -> Result<Option<N>, Box<Refusal>> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let read = text.map(|text| {
        text.parse().map_err(|_| bad_field(format!("`{field}` is not a whole number"), field))
    });
    read.transpose()
}

/// The shape in a field; `None` if the field is absent.
pub(crate) fn shape(text: Option<&str>, field: &str) -> Result<Option<Shape>, Box<Refusal>> {
    let read = text.map(|text| match indim_text::parse_type(text) {
        Ok((_, shape)) => Ok(shape),
        Err(diagnostic) => Err(Refusal::of_field(&diagnostic, field)),
    });
    read.transpose()
}

fn bad_field(message: String, field: &str) -> Box<Refusal> {
    Refusal::of_field(&Diagnostic::new(ErrorCode::BAD_FIELD, message), field)
}
