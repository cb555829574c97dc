//! The attributes of gathers and scatters; an empty list can be absent.

use indim_model::FormatError;

use super::attribute::Attributes;
use crate::gather::{GatherOperation, SliceStarts};
use crate::scatter::ScatterOperation;

/// The attributes of `gather`.
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

/// The attributes of `scatter`.
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
    let names = ["operand_batching_dims", "start_indices_batching_dims", "start_index_map"];
    Ok(GatherOperation {
        offset_dims: attributes.integers("offset_dims")?,
        collapsed_slice_dims: attributes.integers("collapsed_slice_dims")?,
        starts: starts(attributes, names)?,
        slice_sizes: attributes.integers("slice_sizes")?,
    })
}

/// The attributes of a scatter.
///
/// # Errors
/// `attribute`.
pub(super) fn scatter(attributes: Attributes<'_>) -> Result<ScatterOperation, FormatError> {
    let names =
        ["input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"];
    Ok(ScatterOperation {
        update_window_dims: attributes.integers("update_window_dims")?,
        inserted_window_dims: attributes.integers("inserted_window_dims")?,
        starts: starts(attributes, names)?,
    })
}

fn starts(
    attributes: Attributes<'_>,
    [operand, indices, map]: [&str; 3],
) -> Result<SliceStarts, FormatError> {
    Ok(SliceStarts {
        operand_batches: attributes.integers(operand)?,
        index_batches: attributes.integers(indices)?,
        index_map: attributes.integers(map)?,
        index_vector_dim: attributes.integer("index_vector_dim")?,
    })
}
