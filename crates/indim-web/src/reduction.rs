//! A reduction under a rule: its axes, its drawing, and its form under the other rules; or its error with
//! repairs.

use indim_oracle::ReductionAttributes;
use indim_shape::{
    Diagnostic, ErrorCode, OnnxAxes, OnnxReduction, ReductionError, ReductionForm, ReductionRule,
    ReductionRuleName, convert_reduction, find_reduction_repairs,
};
use serde::{Deserialize, Serialize};

use crate::broadcast::InexpressibleRules;
use crate::picture::Picture;
use crate::report::Refusal;
use crate::request::{OperandText, answered, list, number};
use crate::state::{FormOffer, ReductionState, State, list_text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReductionRequest {
    rule: String,
    operand: OperandText,
    axes: Option<String>,
    axes_input: Option<String>,
    keepdims: Option<bool>,
    noop_with_empty_axes: Option<bool>,
    opset: Option<String>,
    /// Whether the operator is ONNX's ReduceSum.
    #[serde(default)]
    sum: bool,
}

#[derive(Serialize)]
struct ReductionResponse {
    ok: bool,
    #[serde(flatten)]
    explained: ReductionAnswer,
}

/// The answer for a legal reduction.
#[derive(Serialize)]
pub(crate) struct ReductionAnswer {
    rule: &'static str,
    shape: Vec<usize>,
    axes: Vec<usize>,
    title: String,
    picture: Picture,
    explicit: Vec<String>,
    same: Vec<FormOffer>,
    not: Vec<InexpressibleRules>,
}

/// Draws a reduction under a rule, with the attributes as texts.
///
/// ```
/// let request = r#"{"rule": "numpy", "axes": "-1", "operand": {"name": "x", "shape": "4, 3"}}"#;
/// let answer = indim_web::reduction(request);
/// assert!(answer.starts_with(r#"{"ok":true,"rule":"numpy","shape":[4],"axes":[1]"#), "{answer}");
/// ```
pub fn reduction(request: &str) -> String {
    answered(request, |request: ReductionRequest| request.answer())
}

impl ReductionRequest {
    fn answer(&self) -> Result<ReductionResponse, Box<Refusal>> {
        let name: ReductionRuleName = self.rule.parse().map_err(|error| {
            Refusal::of_field(&Diagnostic::new(ErrorCode::UNKNOWN_RULE, format!("{error}")), "rule")
        })?;
        let (label, operand) = self.operand.read(0)?;
        let attributes = ReductionAttributes {
            axes: list(self.axes.as_deref(), "axes")?,
            axes_input: list(self.axes_input.as_deref(), "axes_input")?,
            keepdims: self.keepdims,
            noop_with_empty_axes: self.noop_with_empty_axes,
            opset: number(self.opset.as_deref(), "opset")?,
        };
        let rule = attributes.rule(name, self.sum, operand.rank()).map_err(|message| {
            Refusal::new(&Diagnostic::new(ErrorCode::FOREIGN_ATTRIBUTE, message))
        })?;
        let form = rule.elaborate(&operand).map_err(|error| refuse(&error).of_no_operation())?;
        let explained = ReductionAnswer::new(name.as_str(), rule.to_string(), &form, &label);
        Ok(ReductionResponse { ok: true, explained })
    }
}

impl ReductionAnswer {
    pub(crate) fn new(
        rule: &'static str,
        title: String,
        form: &ReductionForm,
        label: &(String, String),
    ) -> Self {
        let (mut same, mut not): (Vec<FormOffer>, Vec<InexpressibleRules>) =
            (Vec::new(), Vec::new());
        for &name in ReductionRuleName::ALL {
            match convert_reduction(form, name) {
                Ok(conversion) => same.push(FormOffer {
                    text: conversion.to_string(),
                    reason: None,
                    state: State::Reduction(state(&conversion.rule)),
                }),
                Err(reason) => {
                    not.push(InexpressibleRules {
                        rules: vec![name.as_str()],
                        reason: reason.to_string(),
                    });
                }
            }
        }
        ReductionAnswer {
            rule,
            shape: form.result().to_vec(),
            axes: form.axes().to_vec(),
            title,
            picture: Picture::of_reduction(form, label),
            explicit: vec![form.to_string()],
            same,
            not,
        }
    }
}

fn refuse(error: &ReductionError) -> Box<Refusal> {
    let mut refusal = Refusal::new(&error.diagnostic("reduce"));
    refusal.label = Some(error.label());
    let offer = |rule: &ReductionRule| {
        let result = rule.elaborate(error.operand()).ok()?.result();
        let text = format!("{rule} gives {result}");
        Some(FormOffer { text, reason: None, state: State::Reduction(state(rule)) })
    };
    refusal.repairs = find_reduction_repairs(error).iter().filter_map(offer).collect();
    refusal
}

/// The contents of the form for a rule.
fn state(rule: &ReductionRule) -> ReductionState {
    let named =
        |rule: ReductionRuleName, axes: Option<&[i64]>, keepdims: Option<bool>| ReductionState {
            rule: rule.as_str(),
            axes: axes.map(list_text),
            axes_input: None,
            keepdims,
            noop_with_empty_axes: None,
            opset: None,
            sum: None,
        };
    use ReductionRuleName as N;
    match rule {
        ReductionRule::Numpy { axis, keepdims } => {
            named(N::Numpy, axis.as_deref(), Some(*keepdims))
        }
        ReductionRule::ArrayApi { axis, keepdims } => {
            named(N::ArrayApi, axis.as_deref(), Some(*keepdims))
        }
        ReductionRule::Pdpd { axis, keepdim } => named(N::Pdpd, axis.as_deref(), Some(*keepdim)),
        ReductionRule::Xla { dimensions } => named(N::Xla, Some(dimensions), None),
        ReductionRule::StableHlo { dimensions } => named(N::StableHlo, Some(dimensions), None),
        ReductionRule::OpenVino { axes, keep_dims } => {
            named(N::OpenVino, Some(axes), Some(*keep_dims))
        }
        ReductionRule::Onnx(onnx) => onnx_state(onnx),
        _ => named(N::Numpy, None, None),
    }
}

fn onnx_state(onnx: &OnnxReduction) -> ReductionState {
    let OnnxReduction { opset, is_sum, axes, keepdims, noop_with_empty_axes } = onnx;
    let (attribute, input) = match axes {
        OnnxAxes::Absent => (None, None),
        OnnxAxes::Attribute(axes) => (Some(list_text(axes)), None),
        OnnxAxes::Input(axes) => (None, Some(list_text(axes))),
    };
    ReductionState {
        rule: ReductionRuleName::Onnx.as_str(),
        axes: attribute,
        axes_input: input,
        keepdims: Some(*keepdims),
        noop_with_empty_axes: Some(*noop_with_empty_axes),
        opset: Some(opset.to_string()),
        sum: Some(*is_sum),
    }
}
