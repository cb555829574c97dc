//! Sorts as `TopK` of all elements along the axis.

use indim_graph::{Node, NodeKind, SortResult, ValueId};
use indim_model::location_of;
use indim_ops::DType;

use super::model_writer::{ModelWriter, int_attribute};

impl ModelWriter<'_> {
    /// A sort by one key. `TopK` also keeps equal elements in the order of their positions. ONNX does not
    /// define the position of a NaN.
    pub(super) fn sort(&mut self, value: ValueId, node: &Node) {
        let NodeKind::Sort { axis, descending, result } = node.kind else { return };
        let shape = node.array_type.shape.clone();
        let operand = node.operands[0];
        let dtype = self.graph[operand].array_type.dtype;
        if node.operands.len() > 1 {
            let reason = Some("TopK sorts by one key".to_owned());
            self.notes.unsupported("sort", reason, location_of(self.graph, value));
        }
        if dtype.is_float() {
            self.notes.warning("TopK of ONNX does not define the position of a NaN");
        }
        let mut whole = self.materialized(operand);
        if dtype == DType::Bool {
            whole = self.cast(&whole, DType::U8);
        }
        let count = self.integer_list(&[shape[axis] as i64]);
        let attributes = vec![
            int_attribute("axis", axis as i64),
            int_attribute("largest", i64::from(descending)),
        ];
        let [values, positions] = self.two_result_node("TopK", &[&whole, &count], attributes);
        let name = match result {
            SortResult::Positions => positions,
            SortResult::Values if dtype == DType::Bool => self.cast(&values, DType::Bool),
            SortResult::Values => values,
        };
        self.set_value(value, name, shape);
    }
}
