//! Signatures of nodes: operand and result types, checked by builders and by the verifier.

use indim_ops::{ArrayType, DType, Op};
use indim_shape::RuleSet;

use crate::error::GraphErrorKind;
pub use crate::reduce::{check_contraction, check_reduction, check_scan};
pub use crate::sorting::{check_search, check_sort};
pub use crate::views::{
    check_concatenation, check_scatter, check_slices, check_take, check_window, existing_axis,
};

/// The variant of `rule` for `op`: StableHLO has another rule for operations whose first operand is `bool`.
pub fn rule_set_of(op: Op, rule: &RuleSet) -> RuleSet {
    match rule {
        RuleSet::StableHlo if op.first_is_bool() => RuleSet::StableHloSelect,
        rule => rule.clone(),
    }
}

/// Checks the operands' element types against the signature of `op`; returns the element type of the last
/// operand.
///
/// # Errors
/// `wrong-operand-count`, then `element-type-not-allowed` (rule TY1), then `element-type-mismatch` (rule
/// TY2).
pub fn check_operation(op: Op, operands: &[ArrayType]) -> Result<DType, GraphErrorKind> {
    check_operands(operands, op.arity().count(), op.first_is_bool(), |dtype| op.takes(dtype))
}

/// Checks that `operand_count` operands have one element type, which `takes` allows, and returns it. With
/// `first_is_bool` the first operand has type `bool` instead.
///
/// # Errors
/// Like [`check_operation`].
pub fn check_operands(
    operands: &[ArrayType],
    operand_count: usize,
    first_is_bool: bool,
    takes: impl Fn(DType) -> bool,
) -> Result<DType, GraphErrorKind> {
    let Some(last) = operands.last().filter(|_| operands.len() == operand_count) else {
        return Err(GraphErrorKind::WrongOperandCount {
            expected: operand_count,
            given: operands.len(),
        });
    };
    for (operand, ArrayType { dtype, .. }) in operands.iter().enumerate() {
        let is_allowed = match first_is_bool && operand == 0 {
            true => *dtype == DType::Bool,
            false => takes(*dtype),
        };
        if !is_allowed {
            return Err(GraphErrorKind::ElementTypeNotAllowed { operand, dtype: *dtype });
        }
    }
    // The first operand after an optional `bool` determines the type of the rest.
    let equal_from = usize::from(first_is_bool);
    let expected = operands[equal_from].dtype;
    for (operand, ArrayType { dtype, .. }) in operands.iter().enumerate().skip(equal_from) {
        if *dtype != expected {
            return Err(GraphErrorKind::ElementTypeMismatch { operand, dtype: *dtype, expected });
        }
    }
    Ok(last.dtype)
}

/// Checks a bitcast from `from` to `to`: both must be integers or floats of one width, 8-bit floats too.
///
/// # Errors
/// TY1 `element-type-not-allowed`; `bitcast-width`.
pub fn check_bitcast(from: DType, to: DType) -> Result<(), GraphErrorKind> {
    let is_plain = |dtype: DType| dtype.is_integer() || dtype.is_float() || dtype.is_float8();
    if !is_plain(from) {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: from });
    }
    match is_plain(to) && from.size() == to.size() {
        true => Ok(()),
        false => Err(GraphErrorKind::BitcastWidth { from, to }),
    }
}
