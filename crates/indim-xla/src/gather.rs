//! `gather`, restricted to elements along one axis.

use indim_builder::{GraphBuilder, Value};
use indim_graph::TakeMode;
use indim_graph::signature::existing_axis;
use indim_model::FormatErrorKind;
use indim_shape::Shape;

/// The attributes of a `gather`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gather {
    /// Axes of the result that are axes of the operand.
    pub offset_dims: Vec<i64>,
    /// Axes of the operand that the result lacks.
    pub collapsed_slice_dims: Vec<i64>,
    /// Axis of the operand for each component of an index.
    pub start_index_map: Vec<i64>,
    /// Axis of the indices with their components; if it equals the rank, an index has one component.
    pub index_vector_dim: i64,
    /// Size of a slice along each axis of the operand.
    pub slice_sizes: Vec<i64>,
    /// Whether operand and indices have batch axes.
    pub has_batches: bool,
}

impl Gather {
    /// The reason why a gather is unsupported, as far as its attributes determine it.
    pub fn refusal(&self) -> Option<&'static str> {
        let axis = match self.start_index_map[..] {
            [axis] => axis,
            _ => return Some("its indices are for several axes"),
        };
        let size = usize::try_from(axis).ok().and_then(|axis| self.slice_sizes.get(axis));
        match self.collapsed_slice_dims[..] {
            _ if self.has_batches => Some("it has batching dimensions"),
            [collapsed] if collapsed == axis && size == Some(&1) => None,
            _ => Some("it takes slices, not elements along one axis"),
        }
    }

    /// Builds the gather; indices are clamped, as in XLA.
    ///
    /// # Errors
    /// `attribute`; `unsupported` for partial slices of other axes; those of [`GraphBuilder::take`].
    pub fn build(
        &self,
        b: &GraphBuilder,
        operand: &Value,
        indices: &Value,
    ) -> Result<Value, FormatErrorKind> {
        if let Some(reason) = self.refusal() {
            let what = format!("a gather ({reason}) is");
            return Err(FormatErrorKind::Unsupported { what });
        }
        let shape = operand.array_type()?.shape;
        let axis = existing_axis(self.start_index_map[0], shape.rank());
        let no_axis = |_| FormatErrorKind::attribute("start_index_map", "names no axis");
        let axis = axis.map_err(no_axis)?;
        self.check_slices(&shape, axis)?;
        let indices = self.index_scalars(b, indices)?;
        let index_rank = indices.array_type()?.shape.rank();
        let order = self.order(axis, shape.rank() - 1, index_rank)?;
        let taken = b.take(operand, indices, axis as i64, TakeMode::Clip)?;
        let is_in_order = order.iter().enumerate().all(|(axis, &from)| axis as i64 == from);
        Ok(if is_in_order { taken } else { b.transpose(taken, &order)? })
    }

    fn check_slices(&self, shape: &Shape, axis: usize) -> Result<(), FormatErrorKind> {
        if self.slice_sizes.len() != shape.rank() {
            let problem = format!("has {} sizes for {shape}", self.slice_sizes.len());
            return Err(FormatErrorKind::attribute("slice_sizes", problem));
        }
        let mut others = self.slice_sizes.iter().zip(shape.iter()).enumerate();
        let is_part = others.any(|(at, (&taken, &size))| at != axis && taken != size as i64);
        match is_part {
            true => {
                let what = format!("a gather of parts of other axes than {axis} is");
                Err(FormatErrorKind::Unsupported { what })
            }
            false => Ok(()),
        }
    }

    /// The indices without the axis of their single component.
    fn index_scalars(&self, b: &GraphBuilder, indices: &Value) -> Result<Value, FormatErrorKind> {
        let shape = indices.array_type()?.shape;
        let axis = usize::try_from(self.index_vector_dim).unwrap_or(usize::MAX);
        match shape.get(axis) {
            _ if axis == shape.rank() => Ok(indices.clone()),
            Some(1) => {
                let mut sizes = shape.to_vec();
                sizes.remove(axis);
                Ok(b.reshape(indices, sizes)?)
            }
            _ => {
                let problem = format!("is not an axis of one component of {shape}");
                Err(FormatErrorKind::attribute("index_vector_dim", problem))
            }
        }
    }

    /// For each axis of the result, the axis of the `take`; in the `take` the axes of the indices replace
    /// `axis`.
    fn order(
        &self,
        axis: usize,
        others: usize,
        index_rank: usize,
    ) -> Result<Vec<i64>, FormatErrorKind> {
        let rank = others + index_rank;
        let is_ascending = self.offset_dims.windows(2).all(|pair| pair[0] < pair[1]);
        let exist = self.offset_dims.iter().all(|&dim| (0..rank as i64).contains(&dim));
        if self.offset_dims.len() != others || !is_ascending || !exist {
            let problem = format!("is not an ascending list of {others} of {rank} axes");
            return Err(FormatErrorKind::attribute("offset_dims", problem));
        }
        let (mut offsets, mut batches) = (0, 0);
        let source = |dim: usize| match self.offset_dims.contains(&(dim as i64)) {
            true => {
                offsets += 1;
                let other = offsets - 1;
                if other < axis { other } else { other + index_rank }
            }
            false => {
                batches += 1;
                axis + batches - 1
            }
        };
        Ok((0..rank).map(source).map(|from| from as i64).collect())
    }
}
