//! Operators whose results for NaN or for ties depend on the runtime.
//!
//! `MaxPool`, `Relu`, `Clip`, `Max` and their kin are not listed: runtimes differ for NaN there too, but
//! nearly every model has such operators, and none of its authors expects NaN.

use std::collections::HashSet;

use indim_shape::ErrorCode;

use super::finding::{Finding, FindingVerdict};
use crate::outline::Outline;

/// Operators, and the difference between runtimes.
const DIFFERENCES: &[(&str, &str)] = &[
    ("TopK", "runtimes place NaN and order ties differently"),
    ("ArgMax", "ONNX Runtime passes over NaN, NumPy and OpenVINO return its place"),
    ("ArgMin", "ONNX Runtime passes over NaN, NumPy and OpenVINO return its place"),
    ("Unique", "ONNX Runtime drops NaN, OpenVINO keeps the order of the operand"),
    ("NonMaxSuppression", "runtimes order boxes of one score differently"),
];

/// One finding for each operator, at its first node.
pub(super) fn find(outline: &Outline, findings: &mut Vec<Finding>) {
    let mut reported = HashSet::new();
    for (number, node) in outline.nodes.iter().enumerate() {
        let Some((name, difference)) = DIFFERENCES.iter().find(|(name, _)| *name == node.operator)
        else {
            continue;
        };
        if reported.insert(name) {
            let code = (ErrorCode::RUNTIME_DEPENDENT, FindingVerdict::Advice);
            let message = format!("results of {name} depend on the runtime: {difference}");
            findings.push(Finding::new(outline, number, code, message));
        }
    }
}
