//! Indices of gathers and scatters, and scatters as `ScatterND`.

use indim_graph::{Node, ScatterMode, TakeMode, ValueId};
use indim_model::location_of;
use indim_ops::{DType, ScatterOp};
use indim_shape::Shape;

use super::model_writer::{ModelWriter, ints_attribute, text_attribute};

impl ModelWriter<'_> {
    /// Indices into an axis of `size` elements as `i64`; ONNX counts negative indices from the end.
    ///
    /// A cast of `u64` would make indices from 2^63 on negative. They are therefore clamped or reduced
    /// before the cast. In the mode `Error` an index that is out of range stays out of range.
    pub(super) fn onnx_indices(&mut self, indices: ValueId, size: usize, mode: TakeMode) -> String {
        let indices_dtype = self.graph[indices].array_type.dtype;
        let named = self.materialized(indices);
        if indices_dtype == DType::U64 {
            let (operator, bound) = match mode {
                TakeMode::Error => ("Min", size),
                TakeMode::Clip => ("Min", size.saturating_sub(1)),
                TakeMode::Wrap => ("Mod", size),
            };
            let bound = self.number(bound as f64, DType::U64);
            let limited = self.op(operator, &[&named, &bound]);
            return self.cast(&limited, DType::I64);
        }
        let signed = match indices_dtype {
            DType::I64 => named,
            _ => self.cast(&named, DType::I64),
        };
        match mode {
            TakeMode::Error => signed,
            TakeMode::Clip => {
                let bounds = [0.0, size as f64 - 1.0].map(|bound| self.number(bound, DType::I64));
                self.op("Clip", &[&signed, &bounds[0], &bounds[1]])
            }
            TakeMode::Wrap => {
                let size = self.number(size as f64, DType::I64);
                self.op("Mod", &[&signed, &size])
            }
        }
    }

    /// Writes a scatter. `ScatterND` indexes the first axis, so the scattered axis is moved to the
    /// front. `ScatterND` rounds each partial sum and product, so sums and products of floats narrower
    /// than `f64` are computed as `f64`.
    pub(super) fn scatter(
        &mut self,
        value: ValueId,
        node: &Node,
        op: ScatterOp,
        (axis, mode): (usize, ScatterMode),
    ) {
        let mode = match mode {
            ScatterMode::Take(mode) => mode,
            ScatterMode::Drop => {
                let reason = Some("ScatterND drops no updates".to_owned());
                self.notes.unsupported(node.kind.name(), reason, location_of(self.graph, value));
                TakeMode::Clip
            }
        };
        let is_rounded = matches!(op, ScatterOp::Add | ScatterOp::Mul);
        let is_widened = is_rounded && is_narrow(node.array_type.dtype);
        let [operand, indices, updates] = [0, 1, 2].map(|index| node.operands[index]);
        let shape = &node.array_type.shape;
        let of_indices = self.graph[indices].array_type.shape.clone();
        let rank = of_indices.rank();
        let places = self.onnx_indices(indices, shape[axis], mode);
        let listed: Shape = of_indices.iter().copied().chain([1]).collect();
        let places = self.reshape_value(&places, &of_indices, &listed);
        let first = |count: usize| (axis..axis + count).chain(0..axis);
        let front: Vec<usize> = first(1).chain(axis + 1..shape.rank()).collect();
        let of_updates = first(rank).chain(axis + rank..shape.rank() + rank - 1).collect();
        let operand = self.transpose_value(operand, is_widened, front);
        let updates = self.transpose_value(updates, is_widened, of_updates);
        let reduction = match op {
            ScatterOp::Set => Vec::new(),
            _ => vec![text_attribute("reduction", op.name())],
        };
        let mut sum = self.node("ScatterND", &[&operand, &places, &updates], reduction);
        if is_widened {
            sum = self.cast(&sum, node.array_type.dtype);
        }
        let back = (1..=axis).chain([0]).chain(axis + 1..shape.rank()).collect();
        let name = self.transpose(sum, back);
        self.set_value(value, name, shape.clone());
    }

    /// A value with its axes in this order, as `f64` if `is_widened`.
    fn transpose_value(&mut self, value: ValueId, is_widened: bool, axes: Vec<usize>) -> String {
        let mut name = self.materialized(value);
        if is_widened {
            name = self.cast(&name, DType::F64);
        }
        self.transpose(name, axes)
    }

    /// An array with its axes in this order.
    pub(super) fn transpose(&mut self, name: String, axes: Vec<usize>) -> String {
        if axes.is_sorted() {
            return name;
        }
        let axes = axes.into_iter().map(|axis| axis as i64).collect();
        self.node("Transpose", &[&name], vec![ints_attribute("perm", axes)])
    }
}

fn is_narrow(dtype: DType) -> bool {
    dtype.is_float() && dtype != DType::F64
}
