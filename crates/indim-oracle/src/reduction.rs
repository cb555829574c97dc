//! The answer to a case of a reduction: its rule determines the reduced axes.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction};
use indim_graph::terminal::printable;
use indim_ops::{ArrayType, Op};
use indim_shape::{MAX_RANK, RankLimitError, ReductionRule, ReductionRuleName, Shape};

use super::answer::{Answer, ExplicitForm, check_count, parameters, run};
use super::case::Case;
use super::{CaseError, ReductionAttributes, bad_request};

/// The reduction of a case, if any. `max` and `min` are reductions if the case has one operand.
pub(super) fn function(case: &Case<'_>) -> Result<Option<Reduction>, CaseError> {
    let name = case.op.as_deref().unwrap_or_default();
    let is_operation = name.parse::<Op>().is_ok();
    let function = match name.parse::<Reduction>() {
        Ok(function) if !is_operation => Some(function),
        _ if case.operands.len() != 1 => None,
        _ => match name.parse() {
            Ok(Op::Max) => Some(Reduction::Max),
            Ok(Op::Min) => Some(Reduction::Min),
            _ => None,
        },
    };
    let is_foreign = match function {
        None => case.reduction != ReductionAttributes::default(),
        Some(_) => {
            let Case { dims, axis, target, broadcast, to, .. } = case;
            dims.is_some()
                || axis.is_some()
                || target.is_some()
                || broadcast.is_some()
                || to.is_some()
        }
    };
    match function {
        _ if !is_foreign => Ok(function),
        Some(_) => Err(bad_request(
            "a reduction takes `axes`, `keepdims`, and under `onnx` also `axes_input`, \
             `noop_with_empty_axes`, `opset`",
        )),
        None => Err(bad_request(
            "`axes`, `axes_input`, `keepdims`, `noop_with_empty_axes` and `opset` belong to reductions",
        )),
    }
}

pub(super) fn answer(
    case: &Case<'_>,
    function: Reduction,
    types: &[ArrayType],
    element_limit: usize,
) -> Result<Answer, CaseError> {
    let [operand] = types else {
        return Err(bad_request("a case of a reduction has one operand"));
    };
    // `as-written` follows `dims` and `axis`, which a reduction does not take: without them it is
    // `numpy`.
    let name: ReductionRuleName = match case.rule.as_str() {
        "as-written" => ReductionRuleName::Numpy,
        rule => rule
            .parse()
            .map_err(|error| bad_request(format!("`{}`: {error}", printable(&case.rule))))?,
    };
    let form = rule(case, name, function, &operand.shape)?.elaborate(&operand.shape)?;
    let options = ReduceOptions::axes(form.axes())
        .keepdims(form.keeps_axes() && !function.keeps_shape())
        .rule(rule_of_known_axes(name))
        .widens_integers(matches!(name, ReductionRuleName::Numpy | ReductionRuleName::ArrayApi));
    let b = GraphBuilder::new();
    let values = parameters(&b, types)?;
    let value = b.along(function, &values[0], &options)?;
    let result = value.array_type()?;
    let array = match case.operands.iter().all(|operand| operand.data.is_some()) {
        true => {
            check_count(&result.shape, element_limit)?;
            Some(run(case, types, &b, &value)?)
        }
        false => None,
    };
    Ok(Answer { result, form: ExplicitForm::Reduction(form), array })
}

/// The rule with the attributes of the case.
fn rule(
    case: &Case<'_>,
    name: ReductionRuleName,
    function: Reduction,
    operand: &Shape,
) -> Result<ReductionRule, CaseError> {
    let attributes = &case.reduction;
    for list in [&attributes.axes, &attributes.axes_input].into_iter().flatten() {
        RankLimitError::check(list.len(), MAX_RANK)?;
    }
    attributes.rule(name, function == Reduction::Sum, operand.rank()).map_err(bad_request)
}

/// A rule that accepts the known axes, counted from the front, and gives the same result for an empty list.
fn rule_of_known_axes(name: ReductionRuleName) -> ReductionRuleName {
    match name {
        ReductionRuleName::Xla | ReductionRuleName::StableHlo | ReductionRuleName::Onnx => {
            ReductionRuleName::Xla
        }
        _ => ReductionRuleName::Numpy,
    }
}
