//! The jobs of a graph: each is one pass over its inputs, piece by piece.

use indim_graph::{Graph, Node, NodeKind, Operands, ValueId, VerifyErrorKind};
use indim_io::ArrayRegion;
use indim_ops::meaning::reduction::REDUCTION_LANES;
use indim_ops::{ArrayType, DType, ReduceOp};
use indim_shape::Shape;
use indim_transforms::chunks::{ChunkReduction, CutPolicy, Cuts, RereadLimit, Stage, stages};

use crate::input::StorageInfo;
use crate::rows::RowOrder;

/// An input or output array of a job, and the job axes along which it is cut.
#[derive(Debug, Clone)]
pub(crate) struct JobOperand {
    pub(crate) value: ValueId,
    pub(crate) array_type: ArrayType,
    /// For each of its axes, the job axis that cuts it; `None` if every piece has the whole axis.
    pub(crate) axes: Vec<Option<usize>>,
}

impl JobOperand {
    /// The region of the operand that belongs to one piece of the job.
    pub(crate) fn region(&self, piece: &ArrayRegion) -> ArrayRegion {
        let along = |(&axis, &size): (&Option<usize>, &usize)| match axis {
            Some(axis) => (piece.starts()[axis], piece.extents()[axis]),
            None => (0, size),
        };
        let along = self.axes.iter().zip(self.array_type.shape.iter()).map(along);
        let (starts, extents): (Vec<usize>, Vec<usize>) = along.unzip();
        ArrayRegion::new(starts, extents)
    }

    /// The shape of the operand's region for a piece of this shape.
    pub(crate) fn extents(&self, piece: &[usize]) -> Shape {
        let sizes = self.axes.iter().zip(self.array_type.shape.iter());
        sizes.map(|(axis, &size)| axis.map_or(size, |axis| piece[axis])).collect()
    }

    /// The bytes of that region.
    pub(crate) fn bytes(&self, piece: &[usize]) -> usize {
        let bytes = self.extents(piece).byte_count(self.array_type.dtype.size());
        bytes.unwrap_or(usize::MAX)
    }
}

/// An output of a job; a reduced output lacks the reduced axis.
#[derive(Debug, Clone)]
pub(crate) struct JobOutput {
    pub(crate) operand: JobOperand,
    /// Indices of the graph outputs that receive this output, with their storage.
    pub(crate) sinks: Vec<(usize, StorageInfo)>,
    /// Whether a later job reads this output.
    pub(crate) is_read_later: bool,
    /// The reduction that computes this output, in a reducing job.
    pub(crate) reduction: Option<ReduceOp>,
    /// For an arg-reduction, the element type of the extremes, which are the second array of its partial
    /// result.
    extremes: Option<DType>,
}

impl JobOutput {
    /// The bytes of the results that a piece computes for this output.
    pub(crate) fn bytes(&self, piece: &[usize]) -> usize {
        let indices = self.operand.bytes(piece);
        let Some(extremes) = self.extremes else { return indices };
        let extremes = self.operand.extents(piece).byte_count(extremes.size());
        indices.saturating_add(extremes.unwrap_or(usize::MAX))
    }
}

/// One pass over its inputs.
#[derive(Debug)]
pub(crate) struct Job {
    /// The iteration shape: that of its results, or of the reduced values.
    pub(crate) shape: Shape,
    /// For each axis, whether it is cut.
    pub(crate) is_cut: Vec<bool>,
    /// Inputs with their storage, in the order of the program's parameters.
    pub(crate) inputs: Vec<(JobOperand, StorageInfo)>,
    pub(crate) outputs: Vec<JobOutput>,
    /// The axis along which results of pieces are combined, and the legal positions of its cuts.
    pub(crate) reduced: Option<(usize, CutPolicy)>,
    /// How pieces along that axis are read and combined.
    pub(crate) row_order: RowOrder,
    program: PieceProgram,
}

#[derive(Debug)]
enum PieceProgram {
    Stage(Box<Stage>),
    /// An output that is an input.
    Copy(ArrayType),
}

impl Job {
    /// The program for a piece of this shape.
    ///
    /// # Errors
    /// If an array would be too large.
    pub(crate) fn program(&self, piece: &[usize]) -> Result<Graph, VerifyErrorKind> {
        match &self.program {
            PieceProgram::Stage(stage) => stage.program(piece),
            PieceProgram::Copy(whole) => {
                Ok(identity_graph(ArrayType::new(whole.dtype, Shape::from(piece))))
            }
        }
    }

    /// The program that adds `count` rows of lanes to the lanes; `sizes` is the shape of a row of lanes.
    ///
    /// # Errors
    /// If an array would be too large.
    pub(crate) fn lanes_program(
        &self,
        sizes: &[usize],
        count: usize,
    ) -> Result<Graph, VerifyErrorKind> {
        match &self.program {
            PieceProgram::Stage(stage) => stage.lanes_program(sizes, count),
            PieceProgram::Copy(_) => unreachable!("a copy reduces nothing"),
        }
    }

    /// The reductions of a reducing job, one for each output.
    pub(crate) fn reductions(&self) -> impl Iterator<Item = ReduceOp> + '_ {
        self.outputs.iter().filter_map(|output| output.reduction)
    }

    /// The type of the lanes of each output; `sizes` is their shape, along the axes of the job.
    pub(crate) fn lane_types(&self, sizes: &[usize]) -> impl Iterator<Item = ArrayType> {
        let shape = Shape::from(sizes);
        let dtypes = self.outputs.iter().map(|output| output.operand.array_type.dtype);
        dtypes.map(move |dtype| ArrayType::new(dtype, shape.clone()))
    }

    /// The types of the results of a piece; `sizes` is the shape of the first array of each
    /// output's partial result.
    pub(crate) fn result_types(&self, sizes: &[usize]) -> Vec<ArrayType> {
        let of_output = |output: &JobOutput| {
            let result = ArrayType::new(output.operand.array_type.dtype, Shape::from(sizes));
            let extremes = output.extremes.map(|dtype| ArrayType::new(dtype, Shape::from(sizes)));
            let length = output.extremes.map(|_| ArrayType::new(DType::I64, vec![1; sizes.len()]));
            [Some(result), extremes, length]
        };
        self.outputs.iter().flat_map(of_output).flatten().collect()
    }

    /// Whether an axis is read in groups of lanes.
    pub(crate) fn is_by_lanes(&self, axis: usize) -> bool {
        let is_reduced = self.reduced.is_some_and(|(reduced, _)| reduced == axis);
        is_reduced && matches!(self.row_order, RowOrder::LaneGroups(_))
    }

    /// The axes of an operand that are cut by the reduced axis.
    pub(crate) fn reduced_axes(&self, operand: &JobOperand) -> Vec<usize> {
        let Some((reduced, _)) = self.reduced else { return Vec::new() };
        (0..operand.axes.len()).filter(|&axis| operand.axes[axis] == Some(reduced)).collect()
    }

    /// The orders in which the job can read the reduced values.
    pub(crate) fn row_orders(&self) -> Vec<RowOrder> {
        let mut orders = vec![RowOrder::Independent];
        let (Some((axis, CutPolicy::Aligned)), PieceProgram::Stage(stage)) =
            (self.reduced, &self.program)
        else {
            return orders;
        };
        if !self.is_cut[axis] || !stage.carries_lanes() {
            return orders;
        }
        // Without chunks, aligned pieces read no more bytes, and their programs are smaller.
        if self.inputs.iter().all(|(_, stored)| stored.chunks.is_none()) {
            return orders;
        }
        orders.push(RowOrder::Carried);
        let moving = self
            .inputs
            .iter()
            .filter(|(operand, stored)| !stored.is_in_memory && operand.axes.contains(&Some(axis)));
        let chunk = |(operand, stored): &(JobOperand, StorageInfo)| {
            let position = operand.axes.iter().position(|&of| of == Some(axis))?;
            Some(stored.chunks.as_ref()?[position].max(1))
        };
        let chunks: Option<Vec<usize>> = moving.map(chunk).collect();
        // Lane groups are for chunks along the reduced axis that have fewer elements than there are
        // lanes. Arrays with longer chunks are read in long runs instead.
        let is_group = |chunk: &usize| chunk.is_power_of_two() && *chunk < REDUCTION_LANES;
        let Some(chunks) = chunks.filter(|chunks| chunks.iter().all(is_group)) else {
            return orders;
        };
        let Some(group) = chunks.into_iter().max() else { return orders };
        if group < self.shape[axis] && stage.carries_empty_lanes() {
            orders.push(RowOrder::LaneGroups(group));
        }
        orders
    }

    /// The axes in the order of the pieces, the slowest first. The reduced axis is the fastest, so pieces
    /// whose results are combined follow one another.
    pub(crate) fn order(&self) -> Vec<usize> {
        let reduced = self.reduced.map(|(axis, _)| axis);
        let kept = (0..self.shape.rank()).filter(|axis| Some(*axis) != reduced);
        kept.chain(reduced).collect()
    }

    /// The number of pieces of this shape along each axis.
    pub(crate) fn piece_counts(&self, piece: &[usize]) -> Vec<usize> {
        let count = |(axis, (&size, &extent)): (usize, (&usize, &usize))| match self.reduced {
            Some((reduced, _)) if reduced == axis => self.row_order.count(size, extent),
            _ => size.div_ceil(extent.max(1)),
        };
        self.shape.iter().zip(piece).enumerate().map(count).collect()
    }
}

/// The graph whose output is its input.
pub(crate) fn identity_graph(array_type: ArrayType) -> Graph {
    let kind = NodeKind::Parameter { index: 0, name: "x".to_owned() };
    let node = Node { kind, operands: Operands::new(&[]), array_type };
    Graph::from_nodes(vec![node], vec![ValueId::from_index(0)])
        .expect("invariant: a piece of an array is an array")
}

/// A graph with its cuts, and the storage of its inputs and outputs.
#[derive(Debug)]
pub(crate) struct CutGraph<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) cuts: &'a Cuts,
    pub(crate) inputs: &'a [StorageInfo],
    pub(crate) outputs: &'a [StorageInfo],
}

impl CutGraph<'_> {
    /// The jobs of the graph in the order in which they run; `is_cut` selects the cuts.
    pub(crate) fn jobs(&self, is_cut: &[bool]) -> Result<Vec<Job>, RereadLimit> {
        let stages = stages(self.graph, self.cuts, is_cut)?;
        let read: Vec<ValueId> =
            stages.iter().flat_map(|stage| stage.inputs.iter().map(|input| input.value)).collect();
        let of_stages = stages.into_iter().map(|stage| self.stage_job(stage, &read));
        Ok(of_stages.chain(self.copies()).collect())
    }

    fn stage_job(&self, stage: Stage, read: &[ValueId]) -> Job {
        let is_cut: Vec<bool> = stage.cuts.iter().map(Option::is_some).collect();
        let inputs = stage.inputs.iter().map(|input| {
            let operand = self.operand(input.value, input.axes.clone());
            (operand, self.storage_of(input.value))
        });
        let moved = (0..stage.shape.len()).filter(|axis| Some(*axis) != stage.reduced);
        let axes: Vec<Option<usize>> = moved.map(|axis| is_cut[axis].then_some(axis)).collect();
        let outputs = stage.outputs.iter().map(|&value| JobOutput {
            operand: self.operand(value, axes.clone()),
            sinks: self.sinks(value),
            is_read_later: read.contains(&value),
            reduction: stage.reduced.and_then(|_| self.reduction(value)),
            extremes: stage.reduced.and_then(|_| self.arg_reduce_dtype(value)),
        });
        let place = |axis: usize| stage.cuts[axis].map(|cut| self.cuts.cuts()[cut].policy);
        Job {
            shape: Shape::from(&stage.shape[..]),
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            reduced: stage.reduced.and_then(|axis| Some((axis, place(axis)?))),
            row_order: RowOrder::Independent,
            is_cut,
            program: PieceProgram::Stage(Box::new(stage)),
        }
    }

    /// The jobs of outputs that are inputs: no stage computes such outputs.
    fn copies(&self) -> impl Iterator<Item = Job> {
        let parameters = self.graph.parameters().iter();
        let given = parameters.filter(|value| self.graph.outputs().contains(value));
        given.map(|&value| {
            let array_type = self.graph[value].array_type.clone();
            let is_cut: Vec<bool> = array_type.shape.iter().map(|&size| size > 1).collect();
            let axes = (0..is_cut.len()).map(|axis| is_cut[axis].then_some(axis)).collect();
            let operand = self.operand(value, axes);
            Job {
                shape: array_type.shape.clone(),
                is_cut,
                inputs: vec![(operand.clone(), self.storage_of(value))],
                outputs: vec![JobOutput {
                    operand,
                    sinks: self.sinks(value),
                    is_read_later: false,
                    reduction: None,
                    extremes: None,
                }],
                reduced: None,
                row_order: RowOrder::Independent,
                program: PieceProgram::Copy(array_type),
            }
        })
    }

    /// The element type of the operand of an arg-reduction; `None` for other values.
    fn arg_reduce_dtype(&self, value: ValueId) -> Option<DType> {
        let Node { kind, operands, .. } = &self.graph[value];
        let is_search = matches!(kind, NodeKind::Reduce { op, .. } if op.is_arg_reduction());
        is_search.then(|| self.graph[operands[0]].array_type.dtype)
    }

    /// The operation that combines the results of pieces for a value.
    fn reduction(&self, value: ValueId) -> Option<ReduceOp> {
        ChunkReduction::of(self.graph, value).map(|reduction| reduction.op)
    }

    fn operand(&self, value: ValueId, axes: Vec<Option<usize>>) -> JobOperand {
        JobOperand { value, array_type: self.graph[value].array_type.clone(), axes }
    }

    /// The storage of a parameter. Results of earlier jobs are in memory.
    fn storage_of(&self, value: ValueId) -> StorageInfo {
        match self.graph[value].kind {
            NodeKind::Parameter { index, .. } => self.inputs[index].clone(),
            _ => StorageInfo { is_in_memory: true, ..StorageInfo::default() },
        }
    }

    fn sinks(&self, value: ValueId) -> Vec<(usize, StorageInfo)> {
        let outputs = self.graph.outputs().iter().enumerate();
        let outputs = outputs.filter(|(_, output)| **output == value);
        outputs.map(|(index, _)| (index, self.outputs[index].clone())).collect()
    }
}
