//! The answer to a case: its rule, its task, the explicit form and the result.

use indim_builder::{GraphBuilder, Value};
use indim_graph::signature::{check_operation, rule_set_of};
use indim_graph::terminal::printable;
use indim_graph::{Array, GraphError, GraphErrorKind, evaluate};
use indim_ops::{ArrayType, DType, Op};
use indim_shape::{
    AnyRule, Attributes, AxisNames, Broadcast, ErrorCode, MAX_RANK, RankLimitError, ReductionForm,
    RuleChoice, RuleSetName, Shape, saturating_size,
};

use super::case::{Case, CaseOperand};
use super::{CaseError, bad_request, data, reduction};

/// The answer to a legal case.
pub(super) struct Answer {
    pub(super) result: ArrayType,
    pub(super) form: ExplicitForm,
    /// The result, if every operand has data.
    pub(super) array: Option<Array>,
}

/// The explicit form.
pub(super) enum ExplicitForm {
    /// The axis maps of the operands.
    Broadcast(Broadcast),
    /// The reduced axes.
    Reduction(ReductionForm),
}

/// The rule and the task of a case.
struct CaseRequest {
    rule: AnyRule,
    task: CaseTask,
}

/// The computation on operands that have data.
enum CaseTask {
    /// None: the case asks for axis maps only.
    Shapes,
    /// An operation of the table of operations.
    Operation(Op),
    /// A conversion.
    Convert(DType),
    /// A broadcast of one operand to a target shape.
    Broadcast,
}

/// Answers a case; a result of more than `element_limit` elements is refused.
pub(super) fn answer(case: &Case<'_>, element_limit: usize) -> Result<Answer, CaseError> {
    let types = case.operands.iter().map(operand_type).collect::<Result<Vec<_>, _>>()?;
    if let Some(function) = reduction::function(case)? {
        return reduction::answer(case, function, &types, element_limit);
    }
    let shapes: Vec<Shape> = types.iter().map(|t| t.shape.clone()).collect();
    let attributes = attributes(case)?;
    let request = request(case, &attributes)?;
    let dtype = result_dtype(&request, &types)?;
    let broadcast = request.rule.elaborate(&shapes, attributes.target.as_ref())?;
    RankLimitError::check(broadcast.result().rank(), MAX_RANK)?;
    broadcast.result().byte_count(dtype.size())?;
    let array = evaluated(case, &request, &types, &broadcast, element_limit)?;
    let result = ArrayType::new(dtype, broadcast.result().clone());
    Ok(Answer { result, form: ExplicitForm::Broadcast(broadcast), array })
}

fn operand_type(operand: &CaseOperand<'_>) -> Result<ArrayType, CaseError> {
    let dtype = match &operand.dtype {
        Some(name) => {
            name.parse().map_err(|error| bad_request(format!("`{}`: {error}", printable(name))))?
        }
        None => DType::F32,
    };
    Ok(ArrayType { dtype, shape: shape(&operand.shape)? })
}

fn shape(sizes: &[u64]) -> Result<Shape, CaseError> {
    RankLimitError::check(sizes.len(), MAX_RANK)?;
    Ok(sizes.iter().map(|&size| saturating_size(size)).collect())
}

/// The attributes of the case's rule.
fn attributes(case: &Case<'_>) -> Result<Attributes, CaseError> {
    RankLimitError::check(case.dims.as_ref().map_or(0, Vec::len), MAX_RANK)?;
    let broadcast = match case.broadcast {
        None => None,
        Some(flag @ 0..=1) => Some(flag == 1),
        Some(_) => return Err(bad_request("`broadcast` is 0 or 1")),
    };
    let target = case.target.as_deref().map(shape).transpose()?;
    let names =
        case.names.as_ref().map(|names| names.iter().map(|names| axis_names(names)).collect());
    Ok(Attributes { dims: case.dims.clone(), axis: case.axis, broadcast, target, names })
}

/// The names of the axes of one operand; an empty text stands for an axis without a name.
fn axis_names(names: &[String]) -> AxisNames {
    names.iter().map(String::as_str).collect()
}

fn request(case: &Case<'_>, attributes: &Attributes) -> Result<CaseRequest, CaseError> {
    let op = case.op.as_deref();
    if case.to.is_some() && op != Some("convert") {
        let what = printable(op.unwrap_or(&case.rule));
        return Err(bad_request(format!("`{what}` takes no `to`, which belongs to `convert`")));
    }
    let choice: RuleChoice = case
        .rule
        .parse()
        .map_err(|error| bad_request(format!("`{}`: {error}", printable(&case.rule))))?;
    let name = choice.name(attributes)?;
    if let Some(rule) = target_rule(case, name)? {
        let rule = rule.with_attributes(attributes)?;
        return match &case.operands[..] {
            [_] => Ok(CaseRequest { rule, task: CaseTask::Broadcast }),
            _ => Err(bad_request("a broadcast to a target takes one operand")),
        };
    }
    let rule = RuleChoice::Named(name).elementwise(attributes)?;
    let task = task(case)?;
    let rule = match task {
        CaseTask::Operation(op) => rule_set_of(op, &rule),
        _ => rule,
    };
    Ok(CaseRequest { rule: AnyRule::Elementwise(rule), task })
}

/// The rule of a broadcast to a target; `None` for an element-wise case. A case is a broadcast to a
/// target by the name of its rule, by its operation, or if it has a target and no operation.
fn target_rule(case: &Case<'_>, name: RuleSetName) -> Result<Option<RuleSetName>, CaseError> {
    use RuleSetName as R;
    let onto = match (case.op.as_deref(), name) {
        (None, _) if name.is_target_rule() || case.target.is_some() => {
            return Ok(name.target_rule());
        }
        (None, _) => return Ok(None),
        (Some("broadcast"), R::Xla | R::XlaBroadcast) => Some(R::XlaBroadcast),
        (Some("broadcast"), R::StableHlo | R::StableHloBroadcastInDim | R::XlaBroadcastInDim) => {
            None
        }
        (Some("broadcast"), _) => name.target_rule(),
        (
            Some("broadcast_in_dim"),
            R::Xla | R::XlaBroadcastInDim | R::StableHlo | R::StableHloBroadcastInDim,
        ) => name.target_rule(),
        (Some("broadcast_in_dim"), _) => None,
        (Some(_), _) if name.is_target_rule() => None,
        (Some(_), _) => return Ok(None),
    };
    onto.map(Some).ok_or_else(|| unknown_op(case))
}

fn task(case: &Case<'_>) -> Result<CaseTask, CaseError> {
    match case.op.as_deref() {
        None => Ok(CaseTask::Shapes),
        Some("convert") if case.operands.len() != 1 => {
            Err(bad_request("`convert` takes one operand"))
        }
        Some("convert") => {
            let to = case.to.as_deref().ok_or_else(|| bad_request("`convert` needs `to`"))?;
            let dtype = to.parse().map_err(|e| bad_request(format!("`{}`: {e}", printable(to))))?;
            Ok(CaseTask::Convert(dtype))
        }
        Some(name) => name.parse().map(CaseTask::Operation).map_err(|_| unknown_op(case)),
    }
}

fn unknown_op(case: &Case<'_>) -> CaseError {
    let (name, rule) = (printable(case.op.as_deref().unwrap_or_default()), printable(&case.rule));
    bad_request(format!("there is no operation `{name}` under rule `{rule}`"))
}

/// The element type of the result; types are checked before shapes.
fn result_dtype(request: &CaseRequest, types: &[ArrayType]) -> Result<DType, CaseError> {
    let first = types.first().ok_or_else(|| bad_request("there are no operands"))?;
    let is_xla = request.rule.name() == Some(RuleSetName::Xla);
    match request.task {
        CaseTask::Broadcast => Ok(first.dtype),
        CaseTask::Convert(dtype) => Ok(dtype),
        CaseTask::Operation(op) => {
            check_operation(op, types).map(|dtype| op.result_dtype(dtype)).map_err(|kind| {
                let operands =
                    (0..).map(|index| format!("operand {index}")).zip(types.iter().cloned());
                let error = GraphError::new(kind, op.name(), operands.collect());
                let is_mismatch = matches!(error.kind, GraphErrorKind::ElementTypeMismatch { .. });
                let label = if is_mismatch && is_xla { Some("X1") } else { error.label() };
                CaseError { code: error.error_code(), label, message: error.to_string() }
            })
        }
        CaseTask::Shapes => match types.iter().position(|t| t.dtype != first.dtype) {
            Some(index) if is_xla && types.len() == 2 => Err(CaseError {
                code: ErrorCode::ELEMENT_TYPE_MISMATCH,
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
    request: &CaseRequest,
    types: &[ArrayType],
    broadcast: &Broadcast,
    element_limit: usize,
) -> Result<Option<Array>, CaseError> {
    if matches!(request.task, CaseTask::Shapes) || case.operands.iter().any(|o| o.data.is_none()) {
        return Ok(None);
    }
    check_count(broadcast.result(), element_limit)?;
    let b = GraphBuilder::new();
    let values = parameters(&b, types)?;
    let result = match (&request.task, &request.rule) {
        (CaseTask::Operation(op), AnyRule::Elementwise(rule)) => {
            b.elementwise(*op, &values, rule)?
        }
        (CaseTask::Convert(dtype), _) => b.convert(&values[0], *dtype)?,
        _ => {
            let dims: Vec<i64> = broadcast.maps()[0].iter().map(|&axis| axis as i64).collect();
            b.broadcast_in_dim(&values[0], &dims, broadcast.result().clone())?
        }
    };
    run(case, types, &b, &result).map(Some)
}

/// Refuses a result of more elements than the limit.
pub(super) fn check_count(result: &Shape, element_limit: usize) -> Result<(), CaseError> {
    let count = result.element_count()?;
    if count <= element_limit {
        return Ok(());
    }
    let message = format!(
        "the result has {count} elements and at most {element_limit} are evaluated; without \
         `data` the shapes are answered"
    );
    Err(CaseError { code: ErrorCode::ELEMENT_LIMIT, label: None, message })
}

/// A parameter for each operand.
pub(super) fn parameters(b: &GraphBuilder, types: &[ArrayType]) -> Result<Vec<Value>, GraphError> {
    let parameter = |(index, t): (usize, &ArrayType)| {
        b.parameter(&format!("operand {index}"), t.dtype, t.shape.clone())
    };
    types.iter().enumerate().map(parameter).collect()
}

/// Evaluates the value `result` of the graph in `b`, in a case whose operands all have data.
pub(super) fn run(
    case: &Case<'_>,
    types: &[ArrayType],
    b: &GraphBuilder,
    result: &Value,
) -> Result<Array, CaseError> {
    let operands = case.operands.iter().zip(types);
    let arrays = operands
        .filter_map(|(operand, array_type)| Some(data::read_array(array_type, operand.data?)))
        .collect::<Result<Vec<_>, _>>()?;
    let graph = b.finish(&[result])?;
    let results = evaluate(&graph, &arrays).map_err(|error| bad_request(error.to_string()))?;
    results.into_iter().next().ok_or_else(|| bad_request("there is no result"))
}
