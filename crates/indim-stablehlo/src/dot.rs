//! The attributes of `dot_general`.

use indim_model::{FormatError, FormatErrorKind};
use indim_shape::DotDimensions;
use indim_text::Span;
use indim_xla::dot::{DotAlgorithm, DotOperation};

use super::attribute::{AttributeReader, integers_in, member};
use super::syntax::SyntaxOperation;

/// Names of the attributes: those of the generic form, then those of the pretty form.
pub(super) const ATTRIBUTES: &[&str] = &[
    "dot_dimension_numbers",
    "precision_config",
    "algorithm",
    "batching_dims",
    "contracting_dims",
    "precision",
];

/// The product with its attributes.
///
/// # Errors
/// `attribute`.
pub(super) fn general(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<DotOperation, FormatError> {
    let dimensions = match attributes.optional(syntax, "dot_dimension_numbers") {
        Some(span) => generic_dimensions(attributes, span)?,
        None => {
            let [lhs_batch, rhs_batch] = pair(syntax, attributes, "batching_dims")?;
            let [lhs_contracting, rhs_contracting] = pair(syntax, attributes, "contracting_dims")?;
            DotDimensions { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting }
        }
    };
    let algorithm = attributes.optional(syntax, "algorithm");
    let algorithm = algorithm.map(|span| algorithm_in(attributes, span)).transpose()?;
    Ok(DotOperation { dimensions: Some(dimensions), algorithm })
}

fn malformed(name: &str, form: &str, span: Span) -> FormatError {
    FormatErrorKind::attribute(name, format!("is not of the form {form}"))
        .in_text(span.start..span.end)
}

/// `#stablehlo.dot<lhs_batching_dimensions = [0], .., rhs_contracting_dimensions = [1]>`.
fn generic_dimensions(
    attributes: &AttributeReader<'_>,
    span: Span,
) -> Result<DotDimensions, FormatError> {
    let form = "#stablehlo.dot<lhs_contracting_dimensions = [..], ..>";
    let failed = || malformed("dot_dimension_numbers", form, span);
    let body = attributes.inside(span).ok_or_else(failed)?;
    let list = |name: &str| member(body, name).ok_or_else(failed);
    Ok(DotDimensions {
        lhs_batch: list("lhs_batching_dimensions")?,
        rhs_batch: list("rhs_batching_dimensions")?,
        lhs_contracting: list("lhs_contracting_dimensions")?,
        rhs_contracting: list("rhs_contracting_dimensions")?,
    })
}

/// `[0, 1] x [0, 2]`; both lists are empty if the attribute is absent.
fn pair(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    name: &str,
) -> Result<[Vec<i64>; 2], FormatError> {
    let Some(span) = attributes.optional(syntax, name) else {
        return Ok([Vec::new(), Vec::new()]);
    };
    let list = |text: &str| -> Option<Vec<i64>> {
        integers_in(text.trim().strip_prefix('[')?.strip_suffix(']')?)
    };
    let lists = span.of(attributes.text).split_once('x');
    let lists = lists.and_then(|(lhs, rhs)| Some([list(lhs)?, list(rhs)?]));
    lists.ok_or_else(|| malformed(name, "[..] x [..]", span))
}

/// `<lhs_precision_type = tf32, .., accumulation_type = f32, .., num_primitive_operations = 1, ..>`.
fn algorithm_in(attributes: &AttributeReader<'_>, span: Span) -> Result<DotAlgorithm, FormatError> {
    let form = "<lhs_precision_type = f32, .., num_primitive_operations = 1, ..>";
    let read = || {
        let parts: Vec<(&str, &str)> = attributes
            .inside(span)?
            .split(',')
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        let find = |name| parts.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let operands = [find("lhs_precision_type")?, find("rhs_precision_type")?];
        Some(DotAlgorithm {
            operands: operands.map(str::to_owned),
            accumulation: find("accumulation_type")?.to_owned(),
            operations: find("num_primitive_operations")?.split(':').next()?.trim().parse().ok()?,
        })
    };
    read().ok_or_else(|| malformed("algorithm", form, span))
}
