//! `gather`, with all dimension numbers, and `dynamic_slice`.

use indim_builder::{GraphBuilder, StartedSlices, Value};
use indim_graph::AxisSlice;
use indim_model::FormatErrorKind;
use indim_shape::Shape;

/// The attributes of a `gather`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatherOperation {
    /// Axes of the result that are axes of a slice.
    pub offset_dims: Vec<i64>,
    /// Axes of the operand that the result lacks.
    pub collapsed_slice_dims: Vec<i64>,
    /// The start of the slice that an index selects.
    pub starts: SliceStarts,
    /// Size of a slice along each axis of the operand.
    pub slice_sizes: Vec<i64>,
}

/// Names of the attributes of [`SliceStarts`], which differ between `gather` and `scatter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartNames {
    /// The attribute with the batch axes of the operand.
    pub operand_batches: &'static str,
    /// The attribute with the batch axes of the indices.
    pub index_batches: &'static str,
    /// The attribute with the axis of the operand for each component of an index.
    pub index_map: &'static str,
}

impl StartNames {
    /// The names in a `gather`.
    pub const GATHER: StartNames = StartNames {
        operand_batches: "operand_batching_dims",
        index_batches: "start_indices_batching_dims",
        index_map: "start_index_map",
    };
    /// The names in a `scatter`.
    pub const SCATTER: StartNames = StartNames {
        operand_batches: "input_batching_dims",
        index_batches: "scatter_indices_batching_dims",
        index_map: "scatter_dims_to_operand_dims",
    };
}

/// The attributes that determine where the slices of a `gather` or `scatter` start in the operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceStarts {
    /// Names of the attributes, for errors.
    pub names: StartNames,
    /// Batch axes of the operand.
    pub operand_batches: Vec<i64>,
    /// The axis of the indices for each batch axis of the operand.
    pub index_batches: Vec<i64>,
    /// Axis of the operand for each component of an index.
    pub index_map: Vec<i64>,
    /// The axis of the indices that holds the components of an index; if it equals their rank, an index
    /// has one component.
    pub index_vector_dim: i64,
}

impl GatherOperation {
    /// Builds the gather; starts are clamped so that slices are within the operand.
    ///
    /// # Errors
    /// `attribute`; errors of the builder.
    pub fn build(
        &self,
        b: &GraphBuilder,
        operand: &Value,
        indices: &Value,
    ) -> Result<Value, FormatErrorKind> {
        let rank = operand.array_type()?.shape.rank();
        let sizes = self.sizes(rank)?;
        let offsets =
            self.starts.offset_axes("collapsed_slice_dims", &self.collapsed_slice_dims, rank)?;
        if let Some(axis) = (0..rank).find(|axis| !offsets.contains(axis) && sizes[*axis] != 1) {
            let problem = format!("has {} for axis {axis}, which the result lacks", sizes[axis]);
            return Err(FormatErrorKind::attribute("slice_sizes", problem));
        }
        let slices = self.starts.slices(b, indices, sizes.clone())?;
        let batches = slices.shape.rank();
        let order = result_order("offset_dims", &self.offset_dims, offsets.len(), batches)?;
        let gathered = b.gather_slices(operand, &slices)?;
        let mut shape = slices.shape.to_vec();
        shape.extend(offsets.iter().map(|&axis| sizes[axis]));
        Ok(b.transpose(b.reshape(gathered, shape)?, &order)?)
    }

    fn sizes(&self, rank: usize) -> Result<Vec<usize>, FormatErrorKind> {
        let sizes = slice_sizes("slice_sizes", &self.slice_sizes)?;
        if sizes.len() != rank {
            let problem = format!("has {} sizes for {rank} axes", sizes.len());
            return Err(FormatErrorKind::attribute("slice_sizes", problem));
        }
        Ok(sizes)
    }
}

/// The sizes of slices in an attribute.
fn slice_sizes(name: &str, sizes: &[i64]) -> Result<Vec<usize>, FormatErrorKind> {
    let negative = |size: &i64| FormatErrorKind::attribute(name, format!("has the size {size}"));
    sizes.iter().map(|size| usize::try_from(*size).map_err(|_| negative(size))).collect()
}

/// The transposition from batch axes followed by slice axes to the order of the result or the updates,
/// in which `dims` are the slice axes. `offsets` is the number of slice axes, `batches` that of batch
/// axes; `name` is the attribute with `dims`, for errors.
pub(super) fn result_order(
    name: &str,
    dims: &[i64],
    offsets: usize,
    batches: usize,
) -> Result<Vec<i64>, FormatErrorKind> {
    let rank = offsets + batches;
    let is_ascending = dims.windows(2).all(|pair| pair[0] < pair[1]);
    let exist = dims.iter().all(|&dim| (0..rank as i64).contains(&dim));
    if dims.len() != offsets || !is_ascending || !exist {
        let problem = format!("is not an ascending list of {offsets} of {rank} axes");
        return Err(FormatErrorKind::attribute(name, problem));
    }
    let (mut next_offset, mut next_batch) = (batches as i64, 0);
    let source = |dim: usize| {
        let next = match dims.contains(&(dim as i64)) {
            true => &mut next_offset,
            false => &mut next_batch,
        };
        *next += 1;
        *next - 1
    };
    Ok((0..rank).map(source).collect())
}

/// Builds a `torch_index_select`: the elements of axis `dim` at the indices, which are clamped. The first
/// `batches` axes of both are batches.
///
/// # Errors
/// `attribute`; errors of the builder.
pub fn torch_index_select(
    b: &GraphBuilder,
    [operand, indices]: [&Value; 2],
    dim: i64,
    batches: i64,
) -> Result<Value, FormatErrorKind> {
    let [shape, of_indices] = [operand.array_type()?.shape, indices.array_type()?.shape];
    let (rank, index_rank) = (shape.rank() as i64, of_indices.rank() as i64);
    if !(0..rank).contains(&dim) || !(0..=dim.min(index_rank)).contains(&batches) {
        let problem =
            format!("and batch_dims are {dim} and {batches} for {shape} and {of_indices}");
        return Err(FormatErrorKind::attribute("dim", problem));
    }
    let added = index_rank - batches;
    let size =
        |axis: i64| if axis < batches || axis == dim { 1 } else { shape[axis as usize] as i64 };
    let gather = GatherOperation {
        offset_dims: (batches..dim).chain(dim + added..rank - 1 + added).collect(),
        collapsed_slice_dims: vec![dim],
        starts: SliceStarts {
            names: StartNames::GATHER,
            operand_batches: (0..batches).collect(),
            index_batches: (0..batches).collect(),
            index_map: vec![dim],
            index_vector_dim: index_rank,
        },
        slice_sizes: (0..rank).map(size).collect(),
    };
    gather.build(b, operand, indices)
}

impl SliceStarts {
    /// The axes of an operand of this rank that a slice has: all but its batch axes and the axes `absent` of
    /// the attribute `name`.
    pub(super) fn offset_axes(
        &self,
        name: &str,
        absent: &[i64],
        rank: usize,
    ) -> Result<Vec<usize>, FormatErrorKind> {
        let mut is_absent = vec![false; rank];
        let batches = (self.names.operand_batches, &self.operand_batches[..]);
        for (name, axes) in [(name, absent), batches] {
            for &axis in axes {
                if core::mem::replace(&mut is_absent[axis_of(name, axis, ("operand", rank))?], true)
                {
                    let problem = format!("has axis {axis} of the operand a second time");
                    return Err(FormatErrorKind::attribute(name, problem));
                }
            }
        }
        Ok((0..rank).filter(|&axis| !is_absent[axis]).collect())
    }

    /// The slices of these sizes that the indices select.
    ///
    /// # Errors
    /// `attribute`; errors of the builder.
    pub(super) fn slices(
        &self,
        b: &GraphBuilder,
        indices: &Value,
        sizes: Vec<usize>,
    ) -> Result<StartedSlices, FormatErrorKind> {
        let all = indices.array_type()?.shape;
        let wrong = |name: &str, problem: String| Err(FormatErrorKind::attribute(name, problem));
        let vector = usize::try_from(self.index_vector_dim).ok().filter(|&dim| dim <= all.rank());
        let Some(vector) = vector else {
            let problem = format!(
                "is {}, but the rank of the indices is {}; the rank itself stands for no axis",
                self.index_vector_dim,
                all.rank()
            );
            return wrong("index_vector_dim", problem);
        };
        let count = all.get(vector).copied().unwrap_or(1);
        if self.index_map.len() != count {
            let problem = format!("has {} axes for {count} components", self.index_map.len());
            return wrong(self.names.index_map, problem);
        }
        let operand = ("operand", sizes.len());
        let kept = (0..all.rank()).filter(|&axis| axis != vector);
        let shape: Shape = kept.map(|axis| all[axis]).collect();
        let mut starts = Vec::with_capacity(count);
        for (component, &axis) in self.index_map.iter().enumerate() {
            let mut part: Vec<AxisSlice> = all.iter().map(|&size| AxisSlice::whole(size)).collect();
            if let Some(slice) = part.get_mut(vector) {
                *slice = AxisSlice::new(component, 1, 1);
            }
            let start = b.reshape(b.slice(indices, &part)?, shape.clone())?;
            starts.push((axis_of(self.names.index_map, axis, operand)?, start));
        }
        let names = self.names;
        if self.operand_batches.len() != self.index_batches.len() {
            let problem = format!(
                "has {} axes, but `{}` has {}",
                self.operand_batches.len(),
                names.index_batches,
                self.index_batches.len()
            );
            return wrong(names.operand_batches, problem);
        }
        let mut batches = Vec::with_capacity(self.operand_batches.len());
        for (&axis, &dim) in self.operand_batches.iter().zip(&self.index_batches) {
            let dim = axis_of(names.index_batches, dim, ("indices", all.rank()))?;
            if dim == vector {
                let problem = format!("has axis {dim}, which is `index_vector_dim`");
                return wrong(names.index_batches, problem);
            }
            let dim = if dim < vector { dim } else { dim - 1 };
            batches.push((axis_of(names.operand_batches, axis, operand)?, dim));
        }
        Ok(StartedSlices { shape, starts, batches, sizes })
    }
}

/// An axis of an array, from the attribute `name`.
fn axis_of(name: &str, axis: i64, (array, rank): (&str, usize)) -> Result<usize, FormatErrorKind> {
    usize::try_from(axis).ok().filter(|&axis| axis < rank).ok_or_else(|| {
        let problem = format!("has axis {axis}, but the rank of the {array} is {rank}");
        FormatErrorKind::attribute(name, problem)
    })
}

/// Builds a `dynamic_slice` of the sizes in the attribute `name`; `operands` are the array and a start for
/// each axis, or in HLO's old form one array of starts.
///
/// # Errors
/// `attribute`; `wrong-count`; errors of the builder.
pub fn dynamic_slice(
    b: &GraphBuilder,
    operands: &[Value],
    (name, sizes): (&str, &[i64]),
) -> Result<Value, FormatErrorKind> {
    let sizes = slice_sizes(name, sizes)?;
    let (operand, starts) = split_starts(b, operands, 1)?;
    Ok(b.dynamic_slice(&operand[0], &starts, &sizes)?)
}

/// Builds a `dynamic_update_slice`; `operands` are the array, the update and the starts.
///
/// # Errors
/// `wrong-count`; errors of the builder.
pub fn dynamic_update_slice(
    b: &GraphBuilder,
    operands: &[Value],
) -> Result<Value, FormatErrorKind> {
    let (operands, starts) = split_starts(b, operands, 2)?;
    Ok(b.dynamic_update_slice(&operands[0], &operands[1], &starts)?)
}

/// The first `count` operands and the starts after them, as scalars.
fn split_starts<'v>(
    b: &GraphBuilder,
    operands: &'v [Value],
    count: usize,
) -> Result<(&'v [Value], Vec<Value>), FormatErrorKind> {
    let Some((operands, starts)) = operands.split_at_checked(count) else {
        let expected = format!("{count} and a start for each axis");
        return Err(FormatErrorKind::Count { what: "operands", expected, given: operands.len() });
    };
    if let [list] = starts
        && let [length] = list.array_type()?.shape[..]
    {
        let start =
            |at: usize| b.reshape(b.slice(list, &[AxisSlice::new(at, 1, 1)])?, Shape::from([]));
        return Ok((operands, (0..length).map(start).collect::<Result<_, _>>()?));
    }
    Ok((operands, starts.to_vec()))
}
