//! Checks of loops and branches that builder and verifier share.

use indim_ops::{ArrayType, DType};

use super::Region;
use super::limits::{MAX_REGION_DEPTH, MAX_REGION_NODES};
use crate::error::{GraphErrorKind, RegionMismatch};

/// The type of result `result` of a loop over these operands: the initial states, then the values that the
/// loop only reads.
///
/// # Errors
/// `region-limit`; `region-type` if a region's parameters are not the operands, if the condition is not one
/// bool, or if `result` does not exist; `loop-state-type` if the body changes the type of a state.
pub fn check_while(
    condition: &Region,
    body: &Region,
    result: usize,
    operands: &[ArrayType],
) -> Result<ArrayType, GraphErrorKind> {
    check_parameters("condition", condition, operands)?;
    check_parameters("body", body, operands)?;
    let wanted = ArrayType::new(DType::Bool, []);
    let results = condition.result_types();
    check_count("condition", "results", 1, results.len())?;
    for found in results {
        check_type("condition", "result 0", &wanted, found)?;
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
    let missing = || count_error("body", "results", result.saturating_add(1), states);
    operands[..states].get(result).cloned().ok_or_else(missing)
}

/// The type of result `result` of a branch: the first operand is the index of the region that runs, the
/// others are its arguments.
///
/// # Errors
/// `wrong-operand-count` without an index; `element-type-not-allowed` if it is neither bool nor integer;
/// `region-limit`; `region-type` if it is no scalar, if no region exists, if the parameters of one are not
/// the arguments, if results differ between regions, or if `result` does not exist.
pub fn check_branch(
    branches: &[Region],
    result: usize,
    operands: &[ArrayType],
) -> Result<ArrayType, GraphErrorKind> {
    let [index, arguments @ ..] = operands else {
        return Err(GraphErrorKind::WrongOperandCount { expected: 1, given: 0 });
    };
    if index.dtype != DType::Bool && !index.dtype.is_integer() {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: index.dtype });
    }
    check_type("branch", "the index", &ArrayType::new(index.dtype, []), index)?;
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
            check_type(region, &format!("result {number}"), expected, found)?;
        }
    }
    let results = first.result_types().len();
    let missing = || count_error("branch 0", "results", result.saturating_add(1), results);
    first.result_types().nth(result).cloned().ok_or_else(missing)
}

/// Checks the size of a region, and that its parameters have the types of these operands.
fn check_parameters(
    region: &str,
    checked: &Region,
    operands: &[ArrayType],
) -> Result<(), GraphErrorKind> {
    let (depth, nodes) = (checked.depth(), checked.node_count());
    if depth > MAX_REGION_DEPTH || nodes > MAX_REGION_NODES {
        return Err(GraphErrorKind::RegionLimit { region: region.to_owned(), depth, nodes });
    }
    let parameters = checked.parameter_types();
    check_count(region, "parameters", operands.len(), parameters.len())?;
    for (number, (found, expected)) in parameters.zip(operands).enumerate() {
        let name = checked.graph().parameter_name(number);
        check_type(region, &format!("parameter {number}, `{name}`,"), expected, found)?;
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
    place: &str,
    expected: &ArrayType,
    found: &ArrayType,
) -> Result<(), GraphErrorKind> {
    if expected == found {
        return Ok(());
    }
    Err(GraphErrorKind::RegionType(Box::new(RegionMismatch {
        region: region.to_owned(),
        place: place.to_owned(),
        expected: expected.clone(),
        found: found.clone(),
    })))
}
