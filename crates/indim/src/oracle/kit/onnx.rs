//! Cases as models of ONNX: of opset 21, and under the old rule of opset 6.

use indim_onnx::OnnxNode;
use indim_shape::RuleSetName;

use super::KitCase;

const OPSET: i64 = 21;
/// The last one in which an attribute says how operands broadcast.
const LEGACY_OPSET: i64 = 6;

/// None where ONNX lacks the operation.
pub(super) fn file(case: &KitCase) -> Option<Vec<u8>> {
    let is_legacy = case.rule == RuleSetName::OnnxLegacy;
    let operator = match case.operation() {
        None => "Expand",
        Some(operation) => operation.onnx?,
    };
    let mut attributes = Vec::new();
    if is_legacy && case.draft.shapes.len() == 2 {
        // Without the attribute the operands do not broadcast.
        attributes.push(("broadcast", case.draft.broadcast.unwrap_or(1).into()));
        attributes.extend(case.draft.axis.map(|axis| ("axis", axis)));
    }
    let target = case.target();
    let node = OnnxNode {
        operator,
        opset: if is_legacy { LEGACY_OPSET } else { OPSET },
        attributes: &attributes,
        inputs: &case.draft.types(),
        list: target.as_deref(),
        result: case.stated_result().dtype,
    };
    Some(node.model())
}
