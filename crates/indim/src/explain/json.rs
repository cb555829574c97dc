//! Explanations as JSON. The keys of an object have the order of the fields of its type here.

use indim_cpu::KernelFallback;
use serde::Serialize;

use super::{ExplainedBroadcast, ExplainedReduction, Explanation};

#[derive(Serialize)]
struct ExplanationJson<'a> {
    parameters: Vec<ParameterJson<'a>>,
    outputs: Vec<OutputJson<'a>>,
    broadcasts: Vec<BroadcastJson<'a>>,
    reductions: Vec<ReductionJson<'a>>,
    graph: String,
    loop_nests: Vec<String>,
    level: String,
    programs: Vec<String>,
    bytes_read: usize,
    broadcast_bytes: usize,
    broadcast_bytes_stand_for: usize,
    bytes_written: usize,
    temporary_bytes: usize,
    register_bytes: usize,
    peak_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine_code: Option<Vec<MachineCodeJson>>,
}

/// The machine code of a loop nest, or why it has none.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum MachineCodeJson {
    Listing(String),
    Reason(String),
}

#[derive(Serialize)]
struct ParameterJson<'a> {
    name: &'a str,
    dtype: &'static str,
    shape: &'a [usize],
}

#[derive(Serialize)]
struct OutputJson<'a> {
    dtype: &'static str,
    shape: &'a [usize],
}

#[derive(Serialize)]
struct BroadcastJson<'a> {
    operation: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    asked_by: &'a [String],
    operands: Vec<OperandJson<'a>>,
    result: &'a [usize],
    rules: Vec<RuleJson>,
    warning: Option<String>,
}

#[derive(Serialize)]
struct OperandJson<'a> {
    name: &'a str,
    dtype: &'a str,
    shape: &'a [usize],
    map: &'a [usize],
}

#[derive(Serialize)]
struct ReductionJson<'a> {
    operation: &'static str,
    operand: &'a str,
    dtype: &'a str,
    shape: &'a [usize],
    axes: &'a [usize],
    result: Vec<usize>,
    rules: Vec<RuleJson>,
}

/// The attributes of a broadcast or reduction under a rule set, or the reason why the rule set cannot
/// express it.
#[derive(Serialize)]
struct RuleJson {
    rule: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A whole explanation as JSON text.
pub(super) fn explanation(explanation: &Explanation, has_machine_code: bool) -> String {
    let (graph, executable) = (&explanation.graph, &explanation.executable);
    let forecast = explanation.forecast();
    let (unique, stands_for) = explanation.broadcast_bytes();
    let parameters = executable.parameters().iter().enumerate().map(|(index, t)| ParameterJson {
        name: graph.parameter_name(index),
        dtype: t.dtype.name(),
        shape: t.shape.sizes(),
    });
    let outputs = executable.outputs().iter();
    let outputs = outputs.map(|t| OutputJson { dtype: t.dtype.name(), shape: t.shape.sizes() });
    text(&ExplanationJson {
        parameters: parameters.collect(),
        outputs: outputs.collect(),
        broadcasts: explanation.broadcasts().iter().map(broadcast_json).collect(),
        reductions: explanation.reductions().iter().map(reduction_json).collect(),
        graph: format!("{graph:#}"),
        loop_nests: executable.nests().iter().map(ToString::to_string).collect(),
        level: executable.level().to_string(),
        programs: executable.compiled_nests().iter().map(ToString::to_string).collect(),
        bytes_read: forecast.bytes_read,
        broadcast_bytes: unique,
        broadcast_bytes_stand_for: stands_for,
        bytes_written: forecast.bytes_written,
        temporary_bytes: forecast.temporary_bytes,
        register_bytes: forecast.register_bytes,
        peak_bytes: forecast.peak_bytes(1),
        machine_code: has_machine_code.then(|| machine_code(explanation)),
    })
}

fn machine_code(explanation: &Explanation) -> Vec<MachineCodeJson> {
    let json = |code: Result<String, KernelFallback>| match code {
        Ok(listing) => MachineCodeJson::Listing(listing),
        Err(reason) => MachineCodeJson::Reason(reason.to_string()),
    };
    explanation.machine_code().map(json).collect()
}

/// One broadcast as JSON text.
pub(super) fn broadcast(explained: &ExplainedBroadcast) -> String {
    text(&broadcast_json(explained))
}

fn broadcast_json(explained: &ExplainedBroadcast) -> BroadcastJson<'_> {
    let form = explained.form();
    let operands = explained.labels().iter().zip(form.operands().iter().zip(form.maps()));
    let operands = operands.map(|((name, dtype), (shape, map))| OperandJson {
        name,
        dtype,
        shape: shape.sizes(),
        map,
    });
    let rules = explained.under_other_rules();
    let rules = rules.into_iter().map(|(rule, conversion)| rule_json(rule.as_str(), conversion));
    BroadcastJson {
        operation: explained.operation(),
        place: explained.place(),
        asked_by: explained.rules(),
        operands: operands.collect(),
        result: form.result().sizes(),
        rules: rules.collect(),
        warning: explained.outer_product_warning(),
    }
}

fn reduction_json(explained: &ExplainedReduction) -> ReductionJson<'_> {
    let (form, (name, dtype)) = (explained.form(), explained.label());
    let rules = explained.under_rules();
    ReductionJson {
        operation: explained.op().name(),
        operand: name,
        dtype,
        shape: form.operand().sizes(),
        axes: form.axes(),
        result: form.result().to_vec(),
        rules: rules
            .into_iter()
            .map(|(rule, conversion)| rule_json(rule.as_str(), conversion))
            .collect(),
    }
}

fn rule_json(rule: &'static str, conversion: Result<String, String>) -> RuleJson {
    RuleJson {
        rule,
        ok: conversion.is_ok(),
        attributes: conversion.clone().ok(),
        reason: conversion.err(),
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value)
        .expect("invariant: names of fields are texts and sizes are numbers")
}
