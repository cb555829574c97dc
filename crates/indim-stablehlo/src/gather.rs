//! The attributes of gathers and scatters.

use indim_model::{FormatError, FormatErrorKind};
use indim_xla::gather::{GatherOperation, SliceStarts};
use indim_xla::scatter::ScatterOperation;

use super::attribute::AttributeReader;
use super::syntax::SyntaxOperation;

/// The attributes of `scatter`.
pub(super) const SCATTER_ATTRIBUTES: &[&str] =
    &["scatter_dimension_numbers", "indices_are_sorted", "unique_indices"];

/// `#stablehlo.gather<offset_dims = [0], ..., index_vector_dim = 1>` and the slice sizes.
///
/// # Errors
/// `attribute`.
pub(super) fn gather(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<GatherOperation, FormatError> {
    let numbers = DimensionNumbers::new(syntax, attributes, "dimension_numbers")?;
    Ok(GatherOperation {
        offset_dims: numbers.list("offset_dims")?,
        collapsed_slice_dims: numbers.list("collapsed_slice_dims")?,
        starts: numbers.starts([
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
        ])?,
        slice_sizes: attributes.integers(syntax, "slice_sizes")?,
    })
}

/// `#stablehlo.scatter<update_window_dims = [1], ..., index_vector_dim = 1>`.
///
/// # Errors
/// `attribute`.
pub(super) fn scatter(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<ScatterOperation, FormatError> {
    let numbers = DimensionNumbers::new(syntax, attributes, "scatter_dimension_numbers")?;
    Ok(ScatterOperation {
        update_window_dims: numbers.list("update_window_dims")?,
        inserted_window_dims: numbers.list("inserted_window_dims")?,
        starts: numbers.starts([
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "scatter_dims_to_operand_dims",
        ])?,
    })
}

/// The dimension numbers of a gather or scatter.
struct DimensionNumbers<'t> {
    name: &'static str,
    span: indim_text::Span,
    body: Option<&'t str>,
}

impl<'t> DimensionNumbers<'t> {
    fn new(
        syntax: &SyntaxOperation,
        attributes: &AttributeReader<'t>,
        name: &'static str,
    ) -> Result<DimensionNumbers<'t>, FormatError> {
        let span = attributes.required(syntax, name)?;
        let text = span.of(attributes.text);
        let body = text.split_once('<').and_then(|(_, body)| body.trim_end().strip_suffix('>'));
        Ok(DimensionNumbers { name, span, body })
    }

    fn list(&self, name: &str) -> Result<Vec<i64>, FormatError> {
        self.body.and_then(|body| member(body, name)).ok_or_else(|| self.wrong())
    }

    fn wrong(&self) -> FormatError {
        let kind = FormatErrorKind::attribute(self.name, "is not of the form <name = [0], ...>");
        kind.in_text(self.span.start..self.span.end)
    }

    fn starts(&self, [operand, indices, map]: [&str; 3]) -> Result<SliceStarts, FormatError> {
        Ok(SliceStarts {
            operand_batches: self.list(operand)?,
            index_batches: self.list(indices)?,
            index_map: self.list(map)?,
            index_vector_dim: match self.list("index_vector_dim")?[..] {
                [] => 0,
                [dim] => dim,
                _ => return Err(self.wrong()),
            },
        })
    }
}

/// The integers of one member of `name = [0, 2], other = 1`; empty if it is absent.
pub(super) fn member(body: &str, name: &str) -> Option<Vec<i64>> {
    let is_start = |&(at, _): &(usize, &str)| {
        let before = body[..at].trim_end();
        before.is_empty() || before.ends_with(',')
    };
    let Some((at, _)) = body.match_indices(name).find(is_start) else { return Some(Vec::new()) };
    let value = body[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
    let list = match value.strip_prefix('[') {
        Some(list) => list.split(']').next()?,
        None => value.split(',').next()?,
    };
    let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}
