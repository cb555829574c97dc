//! The oracle: one case as a JSON object in, one verdict as a JSON object out.
//!
//! It serves tests of other systems against the rules. A case names a rule, its attributes, and operands by
//! element type and shape; if all operands have data, the verdict has the result too. Every line gets a
//! verdict: one that is not a case gets the code `bad-request`.
//!
//! ```
//! let case = r#"{"rule":"numpy","operands":[{"shape":[2,3]},{"shape":[3]}]}"#;
//! assert!(indim_oracle::verdict(case).starts_with(r#"{"ok":true"#));
//! ```
//!
//! - `case.rs`: reads the fields of a case;
//! - `answer.rs`: answers a case; `reduction.rs`: answers a case of a reduction;
//!   `reduction_attributes.rs`: the attributes of a reduction under any rule;
//! - `data.rs`: reads and writes elements;
//! - `kit/`: random cases with their verdicts.
//!
//! Numbers stay text (`RawValue`), so the crate enables no feature of `serde_json` that changes its behaviour
//! in the user's own code.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod answer;
mod case;
mod data;
mod kit;
mod reduction;
mod reduction_attributes;

use std::io::{self, Write};

use indim_graph::GraphError;
use indim_ops::ArrayType;
use indim_shape::{AttributeError, ErrorCode, RankLimitError, ReductionError, ShapeError};
use serde::Serialize;
use serde_json::value::RawValue;

use answer::{Answer, ExplicitForm};
use case::Fields;

#[cfg(feature = "formats")]
pub use kit::native_rules;
pub use kit::{Kit, KitCase};
pub use reduction_attributes::ReductionAttributes;

/// Default limit of the number of elements of a result. A result with more elements is refused, because a
/// short line can ask for terabytes.
///
/// ```
/// use indim_oracle::{DEFAULT_ELEMENT_LIMIT, write_verdict};
///
/// let case = r#"{"rule": "numpy", "operands": [{"shape": [2, 3]}, {"shape": [3]}]}"#;
/// let mut verdict = Vec::new();
/// write_verdict(case, DEFAULT_ELEMENT_LIMIT, &mut verdict)?;
/// assert!(verdict.starts_with(br#"{"ok":true"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub const DEFAULT_ELEMENT_LIMIT: usize = 1 << 20;

/// The reason for the refusal of a case.
struct CaseError {
    code: ErrorCode,
    /// The label of the broken rule.
    label: Option<&'static str>,
    message: String,
}

impl From<ShapeError> for CaseError {
    fn from(error: ShapeError) -> Self {
        CaseError {
            code: error.error_code(),
            label: Some(error.label()),
            message: error.to_string(),
        }
    }
}

impl From<ReductionError> for CaseError {
    fn from(error: ReductionError) -> Self {
        CaseError {
            code: error.error_code(),
            label: Some(error.label()),
            message: error.to_string(),
        }
    }
}

impl From<AttributeError> for CaseError {
    fn from(error: AttributeError) -> Self {
        bad_request(format!("{error}; {}", error.advice()))
    }
}

impl From<RankLimitError> for CaseError {
    fn from(error: RankLimitError) -> Self {
        CaseError { code: error.error_code(), label: None, message: error.to_string() }
    }
}

impl From<GraphError> for CaseError {
    fn from(error: GraphError) -> Self {
        CaseError { code: error.error_code(), label: error.label(), message: error.to_string() }
    }
}

/// The refusal of a line that is not a case.
fn bad_request(message: impl Into<String>) -> CaseError {
    CaseError { code: ErrorCode::BAD_REQUEST, label: None, message: message.into() }
}

/// The verdict on a case, with results of at most [`DEFAULT_ELEMENT_LIMIT`] elements.
///
/// ```
/// let case = r#"{"rule":"xla","op":"add","dims":[1],
///     "operands":[{"dtype":"f32","shape":[2,3]},{"dtype":"f32","shape":[3]}]}"#;
/// assert_eq!(indim_oracle::verdict(case), r#"{"ok":true,"dtype":"f32","shape":[2,3],"maps":[[0,1],[1]]}"#);
/// ```
pub fn verdict(line: &str) -> String {
    let mut text = Vec::new();
    write_verdict(line, DEFAULT_ELEMENT_LIMIT, &mut text)
        .expect("invariant: writing to memory succeeds");
    String::from_utf8(text).expect("invariant: JSON is written as UTF-8")
}

/// Writes the verdict on a case, without a line break. A result of more than `element_limit` elements is
/// refused with the code `element-limit` before anything is computed.
///
/// ```
/// let case = r#"{"rule":"numpy","op":"neg","operands":[{"shape":[2],"data":[1,2]}]}"#;
/// let mut verdict = Vec::new();
/// indim_oracle::write_verdict(case, 1, &mut verdict)?;
/// assert!(verdict.starts_with(br#"{"ok":false,"code":"element-limit""#));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of `output`. A line that is not a case gets a verdict, not an error.
pub fn write_verdict(line: &str, element_limit: usize, output: &mut impl Write) -> io::Result<()> {
    let fields = match Fields::read(line, &case::FIELDS) {
        Ok(fields) => fields,
        Err(error) => return write_error(None, &error, output),
    };
    // Line breaks occur between tokens only, and would end the line of the verdict.
    let id = fields.raw("id").map(|id| id.get().replace(['\n', '\r'], " "));
    let id = id.and_then(|id| RawValue::from_string(id).ok());
    match fields.case().and_then(|case| answer::answer(&case, element_limit)) {
        Ok(answer) => write_answer(id.as_deref(), &answer, output),
        Err(error) => write_error(id.as_deref(), &error, output),
    }
}

/// The answer to a case of a kit, or its refusal.
fn answered(line: &str) -> Result<Answer, CaseError> {
    let case = Fields::read(line, &case::FIELDS)?.case()?;
    answer::answer(&case, DEFAULT_ELEMENT_LIMIT)
}

/// The verdict on a line that [`verdict`] cannot take, such as bytes that are not text.
///
/// ```
/// let verdict = indim_oracle::bad_line("the line is too long");
/// assert_eq!(verdict, r#"{"ok":false,"code":"bad-request","message":"the line is too long"}"#);
/// ```
pub fn bad_line(message: &str) -> String {
    let mut text = Vec::new();
    write_error(None, &bad_request(message), &mut text)
        .expect("invariant: writing to memory succeeds");
    String::from_utf8(text).expect("invariant: JSON is written as UTF-8")
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    ok: bool,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    message: &'a str,
}

fn write_error(
    id: Option<&RawValue>,
    error: &CaseError,
    output: &mut impl Write,
) -> io::Result<()> {
    let CaseError { code, label, message } = error;
    let line = ErrorLine { id, ok: false, code: code.as_str(), rule: *label, message };
    Ok(serde_json::to_writer(output, &line)?)
}

/// An answer without its elements, which are written one by one.
#[derive(Serialize)]
struct AnswerLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    ok: bool,
    dtype: &'static str,
    shape: &'a [usize],
    #[serde(skip_serializing_if = "Option::is_none")]
    maps: Option<Vec<&'a [usize]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axes: Option<&'a [usize]>,
}

fn write_answer(id: Option<&RawValue>, answer: &Answer, output: &mut impl Write) -> io::Result<()> {
    let (maps, axes) = match &answer.form {
        ExplicitForm::Broadcast(form) => {
            (Some(form.maps().iter().map(|map| &map[..]).collect()), None)
        }
        ExplicitForm::Reduction(form) => (None, Some(form.axes())),
    };
    let ArrayType { dtype, shape } = &answer.result;
    let line = AnswerLine { id, ok: true, dtype: dtype.name(), shape: shape.sizes(), maps, axes };
    let Some(array) = &answer.array else { return Ok(serde_json::to_writer(output, &line)?) };
    let line = serde_json::to_string(&line)?;
    output.write_all(line.trim_end_matches('}').as_bytes())?;
    output.write_all(b",\"data\":")?;
    data::write_elements(array, output)?;
    output.write_all(b"}")
}
