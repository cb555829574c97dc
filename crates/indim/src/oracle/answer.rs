//! The answer to a case: the rule it names, what it asks for, and where that leads.

use indim_graph::signature::{check_operation, rule_set_of};
use indim_graph::terminal::shown;
use indim_graph::{Array, GraphBuilder, GraphError, GraphErrorKind, evaluate};
use indim_ops::{ArrayType, DType, Op};
use indim_shape::{
    Broadcast, MAXIMUM_RANK, RankLimit, RuleSet, Shape, TargetRule, saturating_size,
};

use super::case::{Case, Operand};
use super::{Refusal, bad_request, data};

/// What is said of a legal case.
pub(super) struct Answer {
    pub(super) dtype: DType,
    pub(super) broadcast: Broadcast,
    /// The result, if every operand has data.
    pub(super) array: Option<Array>,
}

/// What a case asks for.
enum Request {
    /// Only where the axes land.
    Shapes,
    /// An operation of the table.
    Operation(Op),
    /// A conversion.
    Convert(DType),
    /// A broadcast of one operand to a target shape.
    Target(TargetRule, Shape),
}

/// Answers a case; a result of more than `element_limit` elements is refused.
pub(super) fn answer(case: &Case<'_>, element_limit: usize) -> Result<Answer, Refusal> {
    let types = case.operands.iter().map(operand_type).collect::<Result<Vec<_>, _>>()?;
    let shapes: Vec<Shape> = types.iter().map(|t| t.shape.clone()).collect();
    RankLimit::check(case.dims.as_ref().map_or(0, Vec::len), MAXIMUM_RANK)?;
    let request = request(case)?;
    refuse_foreign_attributes(case, &request)?;
    let dtype = result_dtype(case, &request, &types)?;
    let broadcast = match &request {
        Request::Target(rule, target) => rule.elaborate(&shapes[0], target)?,
        Request::Operation(op) => rule_set_of(*op, &rule_set(case)?).elaborate(&shapes)?,
        _ => rule_set(case)?.elaborate(&shapes)?,
    };
    RankLimit::check(broadcast.result().rank(), MAXIMUM_RANK)?;
    broadcast.result().byte_count(dtype.size())?;
    let array = evaluated(case, &request, &types, &broadcast, element_limit)?;
    Ok(Answer { dtype, broadcast, array })
}

fn operand_type(operand: &Operand<'_>) -> Result<ArrayType, Refusal> {
    let dtype = match &operand.dtype {
        Some(name) => {
            name.parse().map_err(|error| bad_request(format!("`{}`: {error}", shown(name))))?
        }
        None => DType::F32,
    };
    Ok(ArrayType { dtype, shape: shape(&operand.shape)? })
}

fn shape(sizes: &[u64]) -> Result<Shape, Refusal> {
    RankLimit::check(sizes.len(), MAXIMUM_RANK)?;
    Ok(sizes.iter().map(|&size| saturating_size(size)).collect())
}

fn request(case: &Case<'_>) -> Result<Request, Refusal> {
    if let Some(rule) = target_rule(case)? {
        let [_] = &case.operands[..] else {
            return Err(bad_request("a broadcast to a target takes one operand"));
        };
        let Some(target) = &case.target else {
            return Err(bad_request("a broadcast to a target needs `target`, a shape"));
        };
        return Ok(Request::Target(rule, shape(target)?));
    }
    match case.op.as_deref() {
        None => Ok(Request::Shapes),
        Some("convert") if case.operands.len() != 1 => {
            Err(bad_request("`convert` takes one operand"))
        }
        Some("convert") => {
            let to = case.to.as_deref().ok_or_else(|| bad_request("`convert` needs `to`"))?;
            Ok(Request::Convert(
                to.parse().map_err(|e| bad_request(format!("`{}`: {e}", shown(to))))?,
            ))
        }
        Some(name) => name.parse().map(Request::Operation).map_err(|_| unknown_op(case, name)),
    }
}

/// The rule of a broadcast to a target: by its name, by the operation, or by a target without one.
fn target_rule(case: &Case<'_>) -> Result<Option<TargetRule>, Refusal> {
    let op = case.op.as_deref().or(case.target.is_some().then_some("broadcast"));
    let is_in_dim = op == Some("broadcast_in_dim") || case.op.is_none();
    Ok(Some(match (case.rule.as_str(), op) {
        ("unidirectional", None | Some("broadcast")) | ("numpy", Some("broadcast")) => {
            TargetRule::Unidirectional
        }
        ("bidirectional", None | Some("broadcast")) => TargetRule::Bidirectional,
        ("explicit", None | Some("broadcast")) => TargetRule::Explicit { axes: dims(case) },
        ("unidirectional" | "bidirectional" | "explicit", Some(name)) => {
            return Err(unknown_op(case, name));
        }
        ("pdpd", Some("broadcast")) => TargetRule::Pdpd { axis: case.axis },
        ("xla", Some("broadcast_in_dim" | "broadcast")) if is_in_dim => {
            TargetRule::XlaBroadcastInDim { dims: dims(case) }
        }
        ("xla", Some("broadcast")) => TargetRule::XlaBroadcast,
        ("stablehlo", Some("broadcast_in_dim" | "broadcast")) if is_in_dim => {
            TargetRule::StableHloBroadcastInDim { dims: dims(case) }
        }
        (_, Some(name @ ("broadcast" | "broadcast_in_dim"))) => {
            return rule_set(case).and_then(|_| Err(unknown_op(case, name)));
        }
        _ => return Ok(None),
    }))
}

fn unknown_op(case: &Case<'_>, name: &str) -> Refusal {
    let (name, rule) = (shown(name), shown(&case.rule));
    bad_request(format!("there is no operation `{name}` under rule `{rule}`"))
}

fn dims(case: &Case<'_>) -> Vec<i64> {
    case.dims.clone().unwrap_or_default()
}

fn rule_set(case: &Case<'_>) -> Result<RuleSet, Refusal> {
    match case.rule.as_str() {
        "none" => Ok(RuleSet::None),
        "numpy" => Ok(RuleSet::Numpy),
        "xla" => Ok(RuleSet::Xla { dims: dims(case) }),
        "stablehlo" => Ok(RuleSet::StableHlo),
        "pdpd" => Ok(RuleSet::Pdpd { axis: case.axis }),
        "onnx-legacy" if case.broadcast.is_some_and(|flag| flag > 1) => {
            Err(bad_request("`broadcast` is 0 or 1"))
        }
        "onnx-legacy" => {
            Ok(RuleSet::OnnxLegacy { broadcast: case.broadcast != Some(0), axis: case.axis })
        }
        other => Err(bad_request(format!(
            "there is no rule `{}`; the rules are xla, stablehlo, none, numpy, pdpd, unidirectional, \
             bidirectional, explicit, onnx-legacy",
            shown(other)
        ))),
    }
}

/// What belongs only to some rules or operations, and to which.
const ATTRIBUTES: [(&str, &str); 5] = [
    ("dims", "rules xla and explicit and to `broadcast_in_dim`"),
    ("axis", "rules pdpd and onnx-legacy"),
    ("target", "`broadcast` and `broadcast_in_dim`"),
    ("broadcast", "rule onnx-legacy"),
    ("to", "`convert`"),
];

/// An attribute that would have no effect was meant to have one.
fn refuse_foreign_attributes(case: &Case<'_>, request: &Request) -> Result<(), Refusal> {
    let belongs = |name: &str| -> Result<bool, Refusal> {
        Ok(match (request, name) {
            (Request::Target(..), "target") | (Request::Convert(_), "to") => true,
            (Request::Target(rule, _), "dims") => matches!(
                rule,
                TargetRule::Explicit { .. }
                    | TargetRule::XlaBroadcastInDim { .. }
                    | TargetRule::StableHloBroadcastInDim { .. }
            ),
            (Request::Target(rule, _), "axis") => matches!(rule, TargetRule::Pdpd { .. }),
            (Request::Target(..), _) => false,
            (_, name) => matches!(
                (rule_set(case)?, name),
                (RuleSet::Xla { .. }, "dims")
                    | (RuleSet::Pdpd { .. }, "axis")
                    | (RuleSet::OnnxLegacy { .. }, "axis" | "broadcast")
            ),
        })
    };
    for (name, owners) in ATTRIBUTES {
        if case.gives(name) && !belongs(name)? {
            let rule = shown(&case.rule);
            let place = match &case.op {
                Some(op) => format!("`{}` under rule `{rule}`", shown(op)),
                None => format!("rule `{rule}`"),
            };
            return Err(bad_request(format!(
                "{place} takes no `{name}`, which belongs to {owners}"
            )));
        }
    }
    Ok(())
}

/// The element type of the result; types are checked before shapes.
fn result_dtype(case: &Case<'_>, request: &Request, types: &[ArrayType]) -> Result<DType, Refusal> {
    let first = types.first().ok_or_else(|| bad_request("there are no operands"))?;
    match request {
        Request::Target(..) => Ok(first.dtype),
        Request::Convert(dtype) => Ok(*dtype),
        Request::Operation(op) => {
            check_operation(*op, types).map(|dtype| op.result_dtype(dtype)).map_err(|kind| {
                let operands =
                    (0..).map(|index| format!("operand {index}")).zip(types.iter().cloned());
                let error = GraphError::new(kind, op.name(), operands.collect());
                let is_mismatch = matches!(error.kind, GraphErrorKind::ElementTypeMismatch { .. });
                let label =
                    if is_mismatch && case.rule == "xla" { Some("X1") } else { error.label() };
                Refusal { code: error.code(), label, message: error.to_string() }
            })
        }
        Request::Shapes => match types.iter().position(|t| t.dtype != first.dtype) {
            Some(index) if case.rule == "xla" && types.len() == 2 => Err(Refusal {
                code: "element-type-mismatch",
                label: Some("X1"),
                message: format!(
                    "operand {index} is {}, operand 0 is {}",
                    types[index].dtype, first.dtype
                ),
            }),
            _ => Ok(types[types.len() - 1].dtype),
        },
    }
}

/// The result, if every operand has data.
fn evaluated(
    case: &Case<'_>,
    request: &Request,
    types: &[ArrayType],
    broadcast: &Broadcast,
    element_limit: usize,
) -> Result<Option<Array>, Refusal> {
    if matches!(request, Request::Shapes) || case.operands.iter().any(|o| o.data.is_none()) {
        return Ok(None);
    }
    let count = broadcast.result().element_count()?;
    if count > element_limit {
        let message = format!(
            "the result has {count} elements and at most {element_limit} are evaluated; without \
             `data` the shapes are answered"
        );
        return Err(Refusal { code: "element-limit", label: None, message });
    }
    let operands = case.operands.iter().zip(types);
    let arrays = operands
        .filter_map(|(operand, array_type)| Some(data::read_array(array_type, operand.data?)))
        .collect::<Result<Vec<_>, _>>()?;
    let b = GraphBuilder::new();
    let mut values = Vec::with_capacity(types.len());
    for (index, t) in types.iter().enumerate() {
        values.push(b.parameter(&format!("operand {index}"), t.dtype, t.shape.clone())?);
    }
    let result = match request {
        Request::Operation(op) => b.elementwise(*op, &values, &rule_set(case)?)?,
        Request::Convert(dtype) => b.convert(&values[0], *dtype)?,
        Request::Target(..) | Request::Shapes => {
            let dims: Vec<i64> = broadcast.maps()[0].iter().map(|&axis| axis as i64).collect();
            b.broadcast_in_dim(&values[0], &dims, broadcast.result().clone())?
        }
    };
    let graph = b.finish(&[result])?;
    let results = evaluate(&graph, &arrays).map_err(|error| bad_request(error.to_string()))?;
    Ok(results.into_iter().next())
}
