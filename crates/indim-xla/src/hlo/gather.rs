//! The attributes of gathers and scatters; an empty list can be absent.

use indim_model::FormatError;

use super::attribute::Attributes;
use crate::gather::{GatherOperation, SliceStarts, StartNames};
use crate::scatter::ScatterOperation;

/// Names of the attributes of `gather`.
pub(super) const GATHER_ATTRIBUTES: &[&str] = &[
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "index_vector_dim",
    "slice_sizes",
    "indices_are_sorted",
];

/// Names of the attributes of `scatter`.
pub(super) const SCATTER_ATTRIBUTES: &[&str] = &[
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "index_vector_dim",
    "indices_are_sorted",
    "unique_indices",
    "to_apply",
];

/// The attributes of a gather.
///
/// # Errors
/// `attribute`.
pub(super) fn gather(attributes: Attributes<'_>) -> Result<GatherOperation, FormatError> {
    Ok(GatherOperation {
        offset_dims: attributes.integers("offset_dims")?,
        collapsed_slice_dims: attributes.integers("collapsed_slice_dims")?,
        starts: starts(attributes, StartNames::GATHER)?,
        slice_sizes: attributes.integers("slice_sizes")?,
    })
}

/// The attributes of a scatter.
///
/// # Errors
/// `attribute`.
pub(super) fn scatter(attributes: Attributes<'_>) -> Result<ScatterOperation, FormatError> {
    Ok(ScatterOperation {
        update_window_dims: attributes.integers("update_window_dims")?,
        inserted_window_dims: attributes.integers("inserted_window_dims")?,
        starts: starts(attributes, StartNames::SCATTER)?,
    })
}

fn starts(attributes: Attributes<'_>, names: StartNames) -> Result<SliceStarts, FormatError> {
    Ok(SliceStarts {
        names,
        operand_batches: attributes.integers(names.operand_batches)?,
        index_batches: attributes.integers(names.index_batches)?,
        index_map: attributes.integers(names.index_map)?,
        index_vector_dim: attributes.integer("index_vector_dim")?,
    })
}
