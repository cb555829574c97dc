//! Repairs of a reduction error: the same rule with other attributes, each tried.

use alloc::vec;
use alloc::vec::Vec;

use crate::reduction_error::{ReductionError, ReductionViolation};
use crate::reduction_rule::{OnnxAxes, OnnxReduction, ReductionRule};

/// The same rule with legal attributes, the likeliest first. Axes are counted from the front and unique; axes
/// that do not exist are removed, and ONNX's axes move to the place that the opset reads. Each repair was
/// elaborated.
///
/// ```
/// use indim_shape::{ReductionRule, Shape, find_reduction_repairs};
///
/// let error = ReductionRule::Xla { dimensions: vec![-1] }.elaborate(&Shape::from([4, 3])).unwrap_err();
/// let repairs: Vec<String> = find_reduction_repairs(&error).iter().map(ToString::to_string).collect();
/// assert_eq!(repairs, ["xla dimensions=[1]"]);
/// ```
pub fn find_reduction_repairs(error: &ReductionError) -> Vec<ReductionRule> {
    let rank = error.operand().rank();
    let given = given_axes(error.rule());
    let candidates = match error.violation() {
        ReductionViolation::AxesMissing => vec![(0..rank as i64).collect()],
        // A user who counts axes from 1 writes `[1, 2]` for both axes of a matrix.
        ReductionViolation::AxisOutOfRange { .. } => {
            let lower = given.iter().map(|axis| axis.saturating_sub(1)).collect();
            vec![existing_axes(&given, rank), lower]
        }
        _ => vec![existing_axes(&given, rank)],
    };
    let mut found: Vec<ReductionRule> = Vec::new();
    // An empty list means all axes under some rules; a user who named some axes did not mean that.
    let is_meant = |axes: &Vec<i64>| !axes.is_empty() || given.is_empty();
    for axes in candidates.into_iter().filter(is_meant) {
        let rule = with_axes(error.rule(), axes);
        if rule.elaborate(error.operand()).is_ok() && !found.contains(&rule) {
            found.push(rule);
        }
    }
    found
}

fn given_axes(rule: &ReductionRule) -> Vec<i64> {
    match rule {
        ReductionRule::Numpy { axis, .. }
        | ReductionRule::ArrayApi { axis, .. }
        | ReductionRule::Pdpd { axis, .. } => axis.clone().unwrap_or_default(),
        ReductionRule::Xla { dimensions } | ReductionRule::StableHlo { dimensions } => {
            dimensions.clone()
        }
        ReductionRule::Onnx(OnnxReduction { axes, .. }) => match axes {
            OnnxAxes::Absent => Vec::new(),
            OnnxAxes::Attribute(axes) | OnnxAxes::Input(axes) => axes.clone(),
        },
        ReductionRule::OpenVino { axes, .. } => axes.clone(),
    }
}

/// The axes that exist, counted from the front, each once.
fn existing_axes(given: &[i64], rank: usize) -> Vec<i64> {
    let rank = rank as i64;
    let mut axes = Vec::new();
    for &axis in given {
        let counted = if axis < 0 { axis.saturating_add(rank) } else { axis };
        if (0..rank).contains(&counted) && !axes.contains(&counted) {
            axes.push(counted);
        }
    }
    axes
}

fn with_axes(rule: &ReductionRule, axes: Vec<i64>) -> ReductionRule {
    match rule.clone() {
        ReductionRule::Numpy { keepdims, .. } => {
            ReductionRule::Numpy { axis: Some(axes), keepdims }
        }
        ReductionRule::ArrayApi { keepdims, .. } => {
            ReductionRule::ArrayApi { axis: Some(axes), keepdims }
        }
        ReductionRule::Pdpd { keepdim, .. } => ReductionRule::Pdpd { axis: Some(axes), keepdim },
        ReductionRule::Xla { .. } => ReductionRule::Xla { dimensions: axes },
        ReductionRule::StableHlo { .. } => ReductionRule::StableHlo { dimensions: axes },
        ReductionRule::OpenVino { keep_dims, .. } => ReductionRule::OpenVino { axes, keep_dims },
        ReductionRule::Onnx(onnx) => {
            let is_input = onnx.opset >= onnx.input_since();
            let axes = match is_input {
                _ if axes.is_empty() => OnnxAxes::Absent,
                true => OnnxAxes::Input(axes),
                false => OnnxAxes::Attribute(axes),
            };
            let noop_with_empty_axes = is_input && onnx.noop_with_empty_axes;
            ReductionRule::Onnx(OnnxReduction { axes, noop_with_empty_axes, ..onnx })
        }
    }
}
