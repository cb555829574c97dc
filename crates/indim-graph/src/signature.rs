//! Whether operands fit the signature of an operation.

use indim_shape::RuleSet;

use crate::composition::Composition;
use crate::dtype::{ArrayType, DType};
use crate::error::GraphErrorKind;
use crate::op::Op;

impl Op {
    /// `rule` as it stands for this operation: StableHLO's ternary operations have two.
    pub fn rule_set(self, rule: &RuleSet) -> RuleSet {
        match rule {
            RuleSet::StableHlo if self.first_is_bool() => RuleSet::StableHloSelect,
            rule => rule.clone(),
        }
    }

    /// The element type of the last operand, if the operands' types fit the signature.
    ///
    /// # Errors
    /// `wrong-operand-count`; TY1 `element-type-not-allowed`, before TY2 `element-type-mismatch`.
    pub fn check_signature(self, operands: &[ArrayType]) -> Result<DType, GraphErrorKind> {
        check(operands, self.arity().count(), self.first_is_bool(), |dtype| self.takes(dtype))
    }
}

impl Composition {
    /// The element type of the operands, if their types fit the signature.
    ///
    /// # Errors
    /// As [`Op::check_signature`].
    pub(crate) fn check_signature(self, operands: &[ArrayType]) -> Result<DType, GraphErrorKind> {
        check(operands, self.arity().count(), false, |dtype| self.takes(dtype))
    }
}

/// The element type of the last of `expected` operands of equal types, but for a first one of `bool`.
fn check(
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
