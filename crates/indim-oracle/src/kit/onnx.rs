//! Cases as ONNX models: opset 21, and opset 6 under its legacy rule.

use indim_onnx::OnnxNode;
use indim_shape::RuleSetName;

use super::KitCase;

const OPSET: i64 = 21;
/// The last opset with the attributes `broadcast` and `axis`.
const LEGACY_OPSET: i64 = 6;

/// The model, or `None` if ONNX lacks the operation.
pub(super) fn file(case: &KitCase) -> Option<Vec<u8>> {
    let is_legacy = case.rule == RuleSetName::OnnxLegacy;
    let operator = match case.operation() {
        None => "Expand",
        Some(operation) => operation.onnx?,
    };
    let mut attributes = Vec::new();
    if is_legacy && case.draft.shapes.len() == 2 {
        // Without the attribute `broadcast`, ONNX does not broadcast the operands.
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
