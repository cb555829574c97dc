//! Nodes of data movement, iotas, reductions and scans as ONNX operators.

use indim_graph::{Array, AxisSlice, Node, TakeMode, ValueId};
use indim_model::location_of;
use indim_ops::{DType, DTypeClass, ReduceOp};
use indim_shape::{AxisMap, Shape, sort_few_by_key};

use super::model_writer::{ModelWriter, int_attribute, ints_attribute};

fn sizes_of(shape: &Shape) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

impl ModelWriter<'_> {
    /// Adds a reshape of a value, unless the shapes are equal; returns the name of the result.
    pub(super) fn reshape_value(&mut self, name: &str, from: &Shape, to: &Shape) -> String {
        if from == to {
            return name.to_owned();
        }
        let target = self.integer_list(&sizes_of(to));
        // With `allowzero` a 0 is a size instead of a copy of the operand's.
        let attributes =
            if to.contains(&0) { vec![int_attribute("allowzero", 1)] } else { Vec::new() };
        self.node("Reshape", &[name, &target], attributes)
    }

    /// Moves axes to their positions in the map. The operators that read the result broadcast it.
    pub(super) fn broadcast(&mut self, value: ValueId, operand: ValueId, map: &AxisMap) {
        let rank = self.graph[value].array_type.shape.rank();
        let compact = self.compact_value(operand);
        let operand_rank = map.len();
        let is_suffix = map.iter().enumerate().all(|(axis, &to)| to + operand_rank == axis + rank);
        if is_suffix {
            self.set_value(value, compact.name, compact.sizes);
            return;
        }
        // Missing leading axes have size 1.
        let absent = operand_rank - compact.sizes.rank();
        let size = |axis: usize| if axis < absent { 1 } else { compact.sizes[axis - absent] };
        let mut name = compact.name.clone();
        let mut sizes = compact.sizes.clone();
        let mut order: Vec<usize> = (0..operand_rank).collect();
        sort_few_by_key(&mut order, |&axis| map[axis]);
        if !map.is_increasing() {
            name = self.reshape_value(&name, &sizes, &(0..operand_rank).map(size).collect());
            let order_list = order.iter().map(|&axis| axis as i64).collect();
            name = self.node("Transpose", &[&name], vec![ints_attribute("perm", order_list)]);
            sizes = order.iter().map(|&axis| size(axis)).collect();
        }
        let mut target = vec![1; rank];
        (0..operand_rank).for_each(|axis| target[map[axis]] = size(axis));
        let target = Shape::from(target);
        let name = self.reshape_value(&name, &sizes, &target);
        self.set_value(value, name, target);
    }

    pub(super) fn reshape(&mut self, value: ValueId, operand: ValueId) {
        let (from, to) =
            (&self.graph[operand].array_type.shape, &self.graph[value].array_type.shape);
        let (from, to) = (from.clone(), to.clone());
        let whole = self.materialized(operand);
        let name = self.reshape_value(&whole, &from, &to);
        self.set_value(value, name, to);
    }

    pub(super) fn iota(&mut self, value: ValueId, axis: usize) {
        let array_type = self.graph[value].array_type.clone();
        let count = array_type.shape[axis];
        // Floats cannot count beyond their precision, so the range is one of integers.
        let counted = match array_type.dtype {
            DType::I16 | DType::I32 => array_type.dtype,
            _ => DType::I64,
        };
        let [start, limit, step] =
            [0.0, count as f64, 1.0].map(|number| self.number(number, counted));
        let mut name = self.op("Range", &[&start, &limit, &step]);
        if counted != array_type.dtype {
            name = self.cast(&name, array_type.dtype);
        }
        let mut sizes = vec![1; array_type.shape.rank() - axis];
        sizes[0] = count;
        let sizes = Shape::from(sizes);
        let name = self.reshape_value(&name, &Shape::from([count]), &sizes);
        self.set_value(value, name, sizes);
    }

    pub(super) fn slice(&mut self, value: ValueId, operand: ValueId, slices: &[AxisSlice]) {
        let shape = self.graph[operand].array_type.shape.clone();
        let (mut starts, mut ends, mut axes, mut steps) = (vec![], vec![], vec![], vec![]);
        for (axis, slice) in slices.iter().enumerate().filter(|(a, s)| !s.is_whole(shape[*a])) {
            let (start, step) = (slice.start() as i64, slice.step() as i64);
            let end = i128::from(start) + slice.count() as i128 * i128::from(step);
            starts.push(start);
            // An end before the first element must not count from the end.
            ends.push(if end < 0 { i64::MIN } else { i64::try_from(end).unwrap_or(i64::MAX) });
            axes.push(axis as i64);
            steps.push(step);
        }
        let whole = self.materialized(operand);
        let [starts, ends, axes, steps] =
            [starts, ends, axes, steps].map(|list| self.integer_list(&list));
        let name = self.op("Slice", &[&whole, &starts, &ends, &axes, &steps]);
        self.set_value(value, name, self.graph[value].array_type.shape.clone());
    }

    pub(super) fn concatenate(&mut self, value: ValueId, node: &Node, axis: usize) {
        let wholes: Vec<String> =
            node.operands.iter().map(|&operand| self.materialized(operand)).collect();
        let wholes: Vec<&str> = wholes.iter().map(String::as_str).collect();
        let name = self.node("Concat", &wholes, vec![int_attribute("axis", axis as i64)]);
        self.set_value(value, name, node.array_type.shape.clone());
    }

    pub(super) fn take(&mut self, value: ValueId, node: &Node, axis: usize, mode: TakeMode) {
        let [operand, indices] = [node.operands[0], node.operands[1]];
        let size = self.graph[operand].array_type.shape[axis];
        let (operand, named) = (self.materialized(operand), self.onnx_indices(indices, size, mode));
        let name =
            self.node("Gather", &[&operand, &named], vec![int_attribute("axis", axis as i64)]);
        self.set_value(value, name, node.array_type.shape.clone());
    }

    pub(super) fn reduce(&mut self, value: ValueId, node: &Node, op: ReduceOp, axis: usize) {
        let operand = node.operands[0];
        let dtype = self.graph[operand].array_type.dtype;
        let whole = self.materialized(operand);
        let name = match (op, dtype) {
            (ReduceOp::ArgMax | ReduceOp::ArgMin, _) => self.arg_reduce(&whole, dtype, op, axis),
            (ReduceOp::Max | ReduceOp::Or, DType::Bool) => {
                self.reduce_as_bytes("ReduceMax", &whole, axis)
            }
            (ReduceOp::Min | ReduceOp::And, DType::Bool) => {
                self.reduce_as_bytes("ReduceMin", &whole, axis)
            }
            (ReduceOp::Add | ReduceOp::Mul | ReduceOp::Max | ReduceOp::Min, _) => {
                self.fold(&whole, dtype, op, axis)
            }
            _ => {
                let location = location_of(self.graph, value);
                self.notes.unsupported(op.name(), None, location);
                whole
            }
        };
        self.set_value(value, name, node.array_type.shape.clone());
    }

    /// Writes a scan. ONNX has operators only for sums and products.
    pub(super) fn scan(
        &mut self,
        value: ValueId,
        node: &Node,
        (op, axis): (ReduceOp, usize),
        [reverse, exclusive]: [bool; 2],
    ) {
        let dtype = node.array_type.dtype;
        let whole = self.materialized(node.operands[0]);
        let operator = match (op, dtype.class()) {
            (ReduceOp::Add, class) if class != DTypeClass::Complex => "CumSum",
            (ReduceOp::Mul, class) if class != DTypeClass::Complex && self.opset >= CUM_PROD => {
                "CumProd"
            }
            _ => {
                let reason = (op == ReduceOp::Mul).then(|| format!("before opset {CUM_PROD}"));
                self.notes.unsupported(node.kind.name(), reason, location_of(self.graph, value));
                return self.set_value(value, whole, node.array_type.shape.clone());
            }
        };
        if dtype.is_float() {
            self.notes
                .warning(format!("{operator} of ONNX does not define the order of operations"));
        }
        let attributes = vec![
            int_attribute("exclusive", exclusive.into()),
            int_attribute("reverse", reverse.into()),
        ];
        let axis = self.constant(&Array::from_scalar(axis as i64));
        let wide = fold_dtype(dtype, false);
        let operand = if wide == dtype { whole } else { self.cast(&whole, wide) };
        let scan = self.node(operator, &[&operand, &axis], attributes);
        let name = if wide == dtype { scan } else { self.cast(&scan, dtype) };
        self.set_value(value, name, node.array_type.shape.clone());
    }

    fn reduce_node(&mut self, operator: &str, whole: &str, axis: usize) -> String {
        let axes = self.integer_list(&[axis as i64]);
        self.node(operator, &[whole, &axes], vec![int_attribute("keepdims", 0)])
    }

    /// Reduces booleans as bytes 0 and 1: before opset 20 `ReduceMax` and `ReduceMin` do not accept
    /// booleans.
    fn reduce_as_bytes(&mut self, operator: &str, whole: &str, axis: usize) -> String {
        let bytes = self.cast(whole, DType::U8);
        let reduced = self.reduce_node(operator, &bytes, axis);
        self.cast(&reduced, DType::Bool)
    }

    /// Writes a reduction, in the type that `fold_dtype` gives. Sums and products in a wider type have the
    /// same low bits.
    pub(super) fn fold(&mut self, whole: &str, dtype: DType, op: ReduceOp, axis: usize) -> String {
        let operator = match op {
            ReduceOp::Add => "ReduceSum",
            ReduceOp::Mul => "ReduceProd",
            ReduceOp::Max => "ReduceMax",
            _ => "ReduceMin",
        };
        let is_extreme = matches!(op, ReduceOp::Max | ReduceOp::Min);
        let wider = fold_dtype(dtype, is_extreme);
        if wider == dtype {
            return self.reduce_node(operator, whole, axis);
        }
        let wide = self.cast(whole, wider);
        let reduced = self.reduce_node(operator, &wide, axis);
        self.cast(&reduced, dtype)
    }

    /// Writes an arg-reduction.
    fn arg_reduce(&mut self, whole: &str, dtype: DType, op: ReduceOp, axis: usize) -> String {
        let operator = if op == ReduceOp::ArgMax { "ArgMax" } else { "ArgMin" };
        if dtype.is_float() {
            self.notes.warning(format!("{operator} of ONNX does not define the position of a NaN"));
        }
        let searched =
            if dtype == DType::Bool { self.cast(whole, DType::U8) } else { whole.to_owned() };
        self.node(
            operator,
            &[&searched],
            vec![int_attribute("axis", axis as i64), int_attribute("keepdims", 0)],
        )
    }
}

/// The opset that introduced `CumProd`.
const CUM_PROD: i64 = 26;

/// The type in which the writer lets ONNX fold or scan elements of type `dtype`. ONNX accepts 8-bit
/// integers only for a maximum or minimum (`is_extreme`), and 16-bit integers for no fold or scan.
fn fold_dtype(dtype: DType, is_extreme: bool) -> DType {
    match (dtype.class(), dtype.size()) {
        (DTypeClass::Signed | DTypeClass::Unsigned, 1) if is_extreme => dtype,
        (DTypeClass::Signed, 1 | 2) => DType::I32,
        (DTypeClass::Unsigned, 1 | 2) => DType::U32,
        _ => dtype,
    }
}
