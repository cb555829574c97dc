//! Signatures of nodes: operands and results, checked by builders and by the verifier.

use indim_ops::{ArrayType, DType, Op};
use indim_shape::RuleSet;

use crate::error::GraphErrorKind;
pub use crate::reduce::check_reduction;
pub use crate::views::{
    check_concatenation, check_scatter_add, check_slices, check_take, existing_axis,
};

/// `rule` as it stands for `op`: StableHLO's ternary operations have two.
pub fn rule_set_of(op: Op, rule: &RuleSet) -> RuleSet {
    match rule {
        RuleSet::StableHlo if op.first_is_bool() => RuleSet::StableHloSelect,
        rule => rule.clone(),
    }
}

/// The element type of the last operand, if the operands' types fit the signature of `op`.
///
/// # Errors
/// `wrong-operand-count`; TY1 `element-type-not-allowed`, before TY2 `element-type-mismatch`.
pub fn check_operation(op: Op, operands: &[ArrayType]) -> Result<DType, GraphErrorKind> {
    check_operands(operands, op.arity().count(), op.first_is_bool(), |dtype| op.takes(dtype))
}

/// The element type of the last of `expected` operands of equal types that `takes` allows, but for a first
/// one of `bool`.
///
/// # Errors
/// Like [`check_operation`].
pub fn check_operands(
    operands: &[ArrayType],
    expected: usize,
    first_is_bool: bool,
    takes: impl Fn(DType) -> bool,
) -> Result<DType, GraphErrorKind> {
    let Some(last) = operands.last().filter(|_| operands.len() == expected) else {
        return Err(GraphErrorKind::WrongOperandCount { expected, given: operands.len() });
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
    // The first of the equal operands says what the others should have been.
    let equal_from = usize::from(first_is_bool);
    let expected = operands[equal_from].dtype;
    for (operand, ArrayType { dtype, .. }) in operands.iter().enumerate().skip(equal_from) {
        if *dtype != expected {
            return Err(GraphErrorKind::ElementTypeMismatch { operand, dtype: *dtype, expected });
        }
    }
    Ok(last.dtype)
}

/// Whether the bits of elements of `from` can be read as `to`: between numbers of one width, as `bool` and
/// the complex types are no plain bit patterns.
///
/// # Errors
/// TY1 `element-type-not-allowed`; `bitcast-width`.
pub fn check_bitcast(from: DType, to: DType) -> Result<(), GraphErrorKind> {
    let is_plain = |dtype: DType| dtype.is_integer() || dtype.is_float();
    if !is_plain(from) {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: from });
    }
    match is_plain(to) && from.size() == to.size() {
        true => Ok(()),
        false => Err(GraphErrorKind::BitcastWidth { from, to }),
    }
}
