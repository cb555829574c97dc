//! The oracle: one case as a JSON object in, one verdict as a JSON object out.
//!
//! For people who test other systems against the rules. A case names a rule, its attributes, and
//! operands by element type and shape; operands with data are evaluated too. Whatever the line
//! holds, there is a verdict: what is not a case gets the code `bad-request`.
//!
//! What a case says is read in `case.rs`, answered in `answer.rs`, of reductions in `reduction.rs`; `data.rs`
//! reads and writes elements; `kit/` makes cases. Numbers go through as text (`RawValue`), so no feature of
//! `serde_json` is needed that would change what it does in the programs of others.
//!
//! - `reduction_attributes.rs`: what is said of a reduction, and the rule that it makes.

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

/// Results with more elements are not evaluated unless the caller raises the limit: a short line
/// may ask for terabytes.
///
/// ```
/// use indim::oracle::{DEFAULT_ELEMENT_LIMIT, write_verdict};
///
/// let case = r#"{"rule": "numpy", "operands": [{"shape": [2, 3]}, {"shape": [3]}]}"#;
/// let mut verdict = Vec::new();
/// write_verdict(case, DEFAULT_ELEMENT_LIMIT, &mut verdict)?;
/// assert!(verdict.starts_with(br#"{"ok":true"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub const DEFAULT_ELEMENT_LIMIT: usize = 1 << 20;

/// Why there is no answer.
struct CaseError {
    code: ErrorCode,
    /// The label of the rule that was broken.
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

/// The line is not a case.
fn bad_request(message: impl Into<String>) -> CaseError {
    CaseError { code: ErrorCode::BAD_REQUEST, label: None, message: message.into() }
}

/// The verdict on one case, with results of at most [`DEFAULT_ELEMENT_LIMIT`] elements.
///
/// ```
/// let case = r#"{"rule":"xla","op":"add","dims":[1],
///     "operands":[{"dtype":"f32","shape":[2,3]},{"dtype":"f32","shape":[3]}]}"#;
/// assert_eq!(indim::oracle::verdict(case), r#"{"ok":true,"dtype":"f32","shape":[2,3],"maps":[[0,1],[1]]}"#);
/// ```
pub fn verdict(line: &str) -> String {
    let mut text = Vec::new();
    write_verdict(line, DEFAULT_ELEMENT_LIMIT, &mut text)
        .expect("invariant: writing to memory succeeds");
    String::from_utf8(text).expect("invariant: JSON is written as UTF-8")
}

/// Writes the verdict on one case, without a line break; a result of more than `element_limit`
/// elements is refused with the code `element-limit` before anything is computed.
///
/// ```
/// let case = r#"{"rule":"numpy","op":"neg","operands":[{"shape":[2],"data":[1,2]}]}"#;
/// let mut verdict = Vec::new();
/// indim::oracle::write_verdict(case, 1, &mut verdict)?;
/// assert!(verdict.starts_with(br#"{"ok":false,"code":"element-limit""#));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of `output`; a line that is no case is no error but a verdict.
pub fn write_verdict(line: &str, element_limit: usize, output: &mut impl Write) -> io::Result<()> {
    let fields = match Fields::read(line, &case::FIELDS) {
        Ok(fields) => fields,
        Err(error) => return write_error(None, &error, output),
    };
    // Line breaks stand between tokens only, and would end the verdict's line.
    let id = fields.raw("id").map(|id| id.get().replace(['\n', '\r'], " "));
    let id = id.and_then(|id| RawValue::from_string(id).ok());
    match fields.case().and_then(|case| answer::answer(&case, element_limit)) {
        Ok(answer) => write_answer(id.as_deref(), &answer, output),
        Err(error) => write_error(id.as_deref(), &error, output),
    }
}

/// The answer to a case of the kit, or why there is none.
fn answered(line: &str) -> Result<Answer, CaseError> {
    let case = Fields::read(line, &case::FIELDS)?.case()?;
    answer::answer(&case, DEFAULT_ELEMENT_LIMIT)
}

/// The verdict on a line that cannot be given to [`verdict`].
///
/// ```
/// let verdict = indim::oracle::bad_line("the line is too long");
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

/// All of an answer but the elements, which are written one by one.
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
