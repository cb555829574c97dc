//! Nodes of data movement, conversion and reduction.

use indim_graph::{Array, AxisSlice, Node, NodeKind, ValueId};
use indim_ops::{ArrayType, DType, ReduceOp};
use indim_shape::Shape;

use crate::write::NetworkWriter;
use crate::write::file::WriterPort;
use crate::write::layer_writer::LayerResult;
use crate::write::merge_reductions::reduction;

impl NetworkWriter<'_> {
    /// Writes a node that is not element-wise.
    pub(super) fn structural(
        &mut self,
        value: ValueId,
        node: &Node,
        operands: &[WriterPort],
    ) -> Option<LayerResult> {
        let shape = &node.array_type.shape;
        Some(Ok(match &node.kind {
            NodeKind::Parameter { name, .. } => self.layers.file.parameter(name, &node.array_type),
            NodeKind::Constant(array) => self.layers.file.constant(array),
            NodeKind::Iota { axis } => return Some(self.iota(*axis, &node.array_type)),
            NodeKind::Convert => {
                self.warn_of_conversion(operands[0].array_type.dtype, node.array_type.dtype);
                self.layers.convert(&operands[0], node.array_type.dtype)
            }
            NodeKind::BroadcastInDim(map) => self.layers.broadcast_to(&operands[0], map, shape),
            NodeKind::Reshape => self.layers.reshape(&operands[0], shape),
            NodeKind::Reduce { op, axis } => {
                let uses = &self.plan.uses;
                let (_, axes) = reduction(self.graph, node, (*op, *axis), uses);
                return self.reduce(value, *op, &axes, &operands[0]);
            }
            NodeKind::Slice(slices) => self.slice(&operands[0], slices, &node.array_type),
            NodeKind::Concatenate { axis } => {
                let attribute = ("axis", axis.to_string());
                let concat = ("Concat", 1);
                self.layers.file.layer(concat, &[attribute], operands, node.array_type.clone())
            }
            NodeKind::Take { axis, mode } => {
                return Some(self.take(value, operands, *axis, *mode, &node.array_type));
            }
            NodeKind::Window { .. } => return self.refuse(value, node.kind.name(), None),
            NodeKind::Scatter { op, axis, mode } => {
                return Some(self.scatter(value, operands, *op, (*axis, *mode)));
            }
            NodeKind::Sort { axis, descending, result } => {
                return self.sort(value, operands, (*axis, *descending), *result);
            }
            NodeKind::SearchSorted { side } => self.search(operands, *side, &node.array_type),
            NodeKind::Contract { summed } => {
                return Some(self.contract(value, node, operands, *summed));
            }
            NodeKind::Scan { op: ReduceOp::Add, axis, reverse, exclusive } => {
                self.scan(&operands[0], *axis, [*reverse, *exclusive])
            }
            NodeKind::Bitcast
            | NodeKind::Elementwise(_)
            | NodeKind::Scan { .. }
            | NodeKind::While { .. }
            | NodeKind::Branch { .. } => {
                return self.refuse(value, node.kind.name(), None);
            }
        }))
    }

    fn warn_of_conversion(&mut self, from: DType, to: DType) {
        if from.is_float() && to.is_integer() {
            self.notes
                .warning("conversions of floats that the integer type does not have are undefined");
        }
    }

    /// Writes an iota: counts in 64 bits, converts, and broadcasts along its axis.
    fn iota(&mut self, axis: usize, array_type: &ArrayType) -> LayerResult {
        let size = array_type.shape[axis] as i64;
        let ends = [0, size, 1].map(|number| {
            let list = self.layers.file.integer_list(&[number]);
            self.layers.reshape(&list, &Shape::scalar())
        });
        let attribute = ("output_type", "i64".to_owned());
        let counted = ArrayType::new(DType::I64, [array_type.shape[axis]]);
        let counted = self.layers.file.layer(("Range", 4), &[attribute], &ends, counted);
        let converted = match array_type.dtype {
            DType::I64 => counted,
            dtype => self.layers.convert(&counted, dtype),
        };
        let is_all = array_type.shape.rank() == 1;
        let broadcast_to = |layers: &mut super::LayerWriter| {
            layers.broadcast(&converted, &[axis], &array_type.shape)
        };
        Ok(if is_all { converted.clone() } else { broadcast_to(&mut self.layers) })
    }

    fn reduce(
        &mut self,
        value: ValueId,
        op: ReduceOp,
        axes: &[usize],
        x: &WriterPort,
    ) -> Option<LayerResult> {
        let operation = match (op, x.array_type.dtype) {
            (ReduceOp::Max | ReduceOp::Or, DType::Bool) => "ReduceLogicalOr",
            (ReduceOp::Min | ReduceOp::And, DType::Bool) => "ReduceLogicalAnd",
            (ReduceOp::Add, _) => "ReduceSum",
            (ReduceOp::Mul, _) => "ReduceProd",
            (ReduceOp::Max, _) => "ReduceMax",
            (ReduceOp::Min, _) => "ReduceMin",
            _ => return self.refuse(value, op.name(), None),
        };
        Some(Ok(self.reduced((operation, 1), axes, x)))
    }

    /// Writes cumulative sums along an axis as `CumSum`.
    fn scan(&mut self, x: &WriterPort, axis: usize, [reverse, exclusive]: [bool; 2]) -> WriterPort {
        if x.array_type.dtype.is_float() {
            self.notes.warning("CumSum of OpenVINO does not define the order of additions");
        }
        let axis = self.layers.file.constant(&Array::from_scalar(axis as i64));
        let attributes = [("exclusive", exclusive.to_string()), ("reverse", reverse.to_string())];
        let operands = [x.clone(), axis];
        self.layers.file.layer(("CumSum", 3), &attributes, &operands, x.array_type.clone())
    }

    /// A reduction that removes its axes.
    pub(super) fn reduced(
        &mut self,
        operation: (&'static str, u32),
        axes: &[usize],
        x: &WriterPort,
    ) -> WriterPort {
        let ArrayType { dtype, shape } = &x.array_type;
        let left = (0..shape.rank()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]);
        let result = ArrayType::new(*dtype, left.collect::<Shape>());
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let axes = self.layers.file.integer_list(&axes);
        let attribute = ("keep_dims", "false".to_owned());
        self.layers.file.layer(operation, &[attribute], &[x.clone(), axes], result)
    }

    pub(super) fn slice(
        &mut self,
        x: &WriterPort,
        slices: &[AxisSlice],
        result: &ArrayType,
    ) -> WriterPort {
        let sizes = &x.array_type.shape;
        let cut = slices.iter().enumerate().filter(|(axis, slice)| !slice.is_whole(sizes[*axis]));
        let (mut starts, mut stops, mut steps, mut axes) = (vec![], vec![], vec![], vec![]);
        for (axis, slice) in cut {
            let size = sizes[axis] as i64;
            let (start, step) = (slice.start() as i64, slice.step() as i64);
            let stop = start.saturating_add(step.saturating_mul(slice.count() as i64));
            starts.push(start);
            // A negative stop counts from the end, so "before the first element" is `-size - 1`.
            stops.push(if stop < 0 { -size - 1 } else { stop });
            steps.push(step);
            axes.push(axis as i64);
        }
        let lists =
            [starts, stops, steps, axes].map(|numbers| self.layers.file.integer_list(&numbers));
        let operands = [core::slice::from_ref(x), &lists].concat();
        self.layers.file.layer(("Slice", 8), &[], &operands, result.clone())
    }
}
