//! Checks of loops and branches that builder and verifier share.

use indim_ops::{ArrayType, DType};

use super::Region;
use super::limits::{MAX_REGION_DEPTH, MAX_REGION_NODES, MAX_REGION_OPERANDS};
use crate::error::{GraphErrorKind, RegionMismatch};

/// The types of the results of a loop. The operands are the initial states, then the values that the loop
/// only reads.
///
/// # Errors
/// `region-limit`; `region-type` if a region's parameters are not the operands, or if the condition is not
/// one bool; `loop-state-type` if the body changes the type of a state.
pub fn check_while<'a>(
    condition: &Region,
    body: &Region,
    operands: &'a [ArrayType],
) -> Result<&'a [ArrayType], GraphErrorKind> {
    check_parameters("condition", condition, operands)?;
    check_parameters("body", body, operands)?;
    let wanted = ArrayType::new(DType::Bool, []);
    let results = condition.result_types();
    check_count("condition", "results", 1, results.len())?;
    for found in results {
        check_type("condition", || "result 0".to_owned(), &wanted, found)?;
    }
    let states = body.result_types().len();
    if states > operands.len() {
        return Err(count_error("body", "results", operands.len(), states));
    }
    for (state, (found, expected)) in body.result_types().zip(operands).enumerate() {
        if found != expected {
            return Err(GraphErrorKind::LoopStateType(Box::new(RegionMismatch {
                region: "body".to_owned(),
                place: format!("state {state}, `{}`", body.graph().parameter_name(state)),
                expected: expected.clone(),
                found: found.clone(),
            })));
        }
    }
    Ok(&operands[..states])
}

/// The types of the results of a branch. The first operand is the index of the region that runs, the other
/// operands are the arguments of the region.
///
/// # Errors
/// `wrong-operand-count` without an index; `element-type-not-allowed` if the index is neither bool nor
/// integer; `region-limit`; `region-type` if the index is no scalar, if no region exists, if the
/// parameters of a region are not the arguments, or if the results of regions differ in number or type.
pub fn check_branch<'a>(
    branches: &'a [Region],
    operands: &[ArrayType],
) -> Result<impl ExactSizeIterator<Item = &'a ArrayType>, GraphErrorKind> {
    let [index, arguments @ ..] = operands else {
        return Err(GraphErrorKind::WrongOperandCount { expected: 1, given: 0 });
    };
    if index.dtype != DType::Bool && !index.dtype.is_integer() {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: index.dtype });
    }
    let scalar = ArrayType::new(index.dtype, []);
    check_type("branch", || "the index".to_owned(), &scalar, index)?;
    let [first, others @ ..] = branches else {
        return Err(count_error("branch", "regions", 1, 0));
    };
    check_parameters("branch 0", first, arguments)?;
    for (number, branch) in (1..).zip(others) {
        let region = &format!("branch {number}");
        check_parameters(region, branch, arguments)?;
        check_count(region, "results", first.result_types().len(), branch.result_types().len())?;
        for (number, (expected, found)) in
            first.result_types().zip(branch.result_types()).enumerate()
        {
            check_type(region, || format!("result {number}"), expected, found)?;
        }
    }
    Ok(first.result_types())
}

/// The type of result `result` of a loop or branch whose results have these types.
///
/// # Errors
/// `region-type` if the result does not exist.
pub(crate) fn check_result<'a>(
    result: usize,
    mut types: impl ExactSizeIterator<Item = &'a ArrayType>,
) -> Result<ArrayType, GraphErrorKind> {
    let count = types.len();
    let missing = || count_error("region", "results", result.saturating_add(1), count);
    types.nth(result).cloned().ok_or_else(missing)
}

/// Checks the size of a region, and that its parameters have the types of these operands. Each result of a
/// loop or branch is a node with all operands.
fn check_parameters(
    region: &str,
    checked: &Region,
    operands: &[ArrayType],
) -> Result<(), GraphErrorKind> {
    let (depth, nodes) = (checked.depth(), checked.node_count());
    let operand_count = checked.result_types().len().saturating_mul(operands.len());
    if depth > MAX_REGION_DEPTH || nodes > MAX_REGION_NODES || operand_count > MAX_REGION_OPERANDS {
        let region = region.to_owned();
        return Err(GraphErrorKind::RegionLimit { region, depth, nodes, operands: operand_count });
    }
    let parameters = checked.parameter_types();
    check_count(region, "parameters", operands.len(), parameters.len())?;
    for (number, (found, expected)) in parameters.zip(operands).enumerate() {
        let name = checked.graph().parameter_name(number);
        check_type(region, || format!("parameter {number}, `{name}`,"), expected, found)?;
    }
    Ok(())
}

fn check_count(
    region: &str,
    counted: &'static str,
    expected: usize,
    given: usize,
) -> Result<(), GraphErrorKind> {
    if expected == given { Ok(()) } else { Err(count_error(region, counted, expected, given)) }
}

fn count_error(
    region: &str,
    counted: &'static str,
    expected: usize,
    given: usize,
) -> GraphErrorKind {
    GraphErrorKind::RegionCount { region: region.to_owned(), counted, expected, given }
}

fn check_type(
    region: &str,
    place: impl FnOnce() -> String,
    expected: &ArrayType,
    found: &ArrayType,
) -> Result<(), GraphErrorKind> {
    if expected == found {
        return Ok(());
    }
    Err(GraphErrorKind::RegionType(Box::new(RegionMismatch {
        region: region.to_owned(),
        place: place(),
        expected: expected.clone(),
        found: found.clone(),
    })))
}
