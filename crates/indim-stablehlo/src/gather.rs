//! The attributes of gathers and scatters.

use indim_model::{FormatError, FormatErrorKind};
use indim_xla::gather::{GatherOperation, SliceStarts, StartNames};
use indim_xla::scatter::ScatterOperation;

use super::attribute::{AttributeReader, member};
use super::syntax::SyntaxOperation;

/// Names of the attributes that `scatter` may have.
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
        starts: numbers.starts(StartNames::GATHER)?,
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
        starts: numbers.starts(StartNames::SCATTER)?,
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
        Ok(DimensionNumbers { name, span, body: attributes.inside(span) })
    }

    fn list(&self, name: &str) -> Result<Vec<i64>, FormatError> {
        self.body.and_then(|body| member(body, name)).ok_or_else(|| self.malformed())
    }

    fn malformed(&self) -> FormatError {
        let kind = FormatErrorKind::attribute(self.name, "is not of the form <name = [0], ...>");
        kind.in_text(self.span.start..self.span.end)
    }

    fn starts(&self, names: StartNames) -> Result<SliceStarts, FormatError> {
        Ok(SliceStarts {
            names,
            operand_batches: self.list(names.operand_batches)?,
            index_batches: self.list(names.index_batches)?,
            index_map: self.list(names.index_map)?,
            index_vector_dim: match self.list("index_vector_dim")?[..] {
                [] => 0,
                [dim] => dim,
                _ => return Err(self.malformed()),
            },
        })
    }
}
