//! Arguments and results of derivative rules.

use indim_ops::DTypeClass;

use indim_builder::Value;

/// The arguments of the rule of an operation with one operand: `x`, the result `y`, and the cotangent of `y`.
pub(super) struct UnaryArguments<'a> {
    pub x: &'a Value,
    pub y: &'a Value,
    pub cotangent: &'a Value,
}

impl UnaryArguments<'_> {
    /// The cotangent of `x`, if `derivative` is the derivative of `y` with respect to `x`.
    pub(super) fn times(&self, derivative: &Value) -> Value {
        self.cotangent * conjugate(derivative)
    }

    /// The cotangent of `x`, if the derivative is `1 / divisor`.
    pub(super) fn over(&self, divisor: &Value) -> Value {
        self.cotangent / conjugate(divisor)
    }
}

/// Like [`UnaryArguments`], for two operands.
pub(super) struct BinaryArguments<'a> {
    pub a: &'a Value,
    pub b: &'a Value,
    pub y: &'a Value,
    pub cotangent: &'a Value,
}

/// Like [`UnaryArguments`], for three operands, but without the result, which no rule of such an operation
/// reads.
pub(super) struct TernaryArguments<'a> {
    pub a: &'a Value,
    pub b: &'a Value,
    pub c: &'a Value,
    pub cotangent: &'a Value,
}

/// The result of the rule of an operation with zero derivatives.
pub(super) struct ZeroDerivative;

/// The result of the rule of an operation without a derivative, which is an error.
#[derive(Debug)]
pub(super) struct NotDifferentiable;

/// The result of a rule, as a list.
pub(super) trait RuleResult {
    /// The cotangent of each operand; `None`, or an empty list, for zero derivatives.
    fn into_cotangents(self) -> Result<Vec<Option<Value>>, NotDifferentiable>;
}

impl RuleResult for Value {
    fn into_cotangents(self) -> Result<Vec<Option<Value>>, NotDifferentiable> {
        Ok(vec![Some(self)])
    }
}

impl RuleResult for Option<Value> {
    fn into_cotangents(self) -> Result<Vec<Option<Value>>, NotDifferentiable> {
        Ok(vec![self])
    }
}

impl<const COUNT: usize> RuleResult for [Value; COUNT] {
    fn into_cotangents(self) -> Result<Vec<Option<Value>>, NotDifferentiable> {
        Ok(self.into_iter().map(Some).collect())
    }
}

impl<const COUNT: usize> RuleResult for [Option<Value>; COUNT] {
    fn into_cotangents(self) -> Result<Vec<Option<Value>>, NotDifferentiable> {
        Ok(self.into())
    }
}

impl RuleResult for ZeroDerivative {
    fn into_cotangents(self) -> Result<Vec<Option<Value>>, NotDifferentiable> {
        Ok(Vec::new())
    }
}

impl RuleResult for NotDifferentiable {
    fn into_cotangents(self) -> Result<Vec<Option<Value>>, NotDifferentiable> {
        Err(self)
    }
}

/// Whether the elements are complex numbers.
pub(super) fn is_complex(x: &Value) -> bool {
    x.array_type().is_ok_and(|of| of.dtype.class() == DTypeClass::Complex)
}

/// The conjugate of complex numbers; floats unchanged.
pub(super) fn conjugate(x: &Value) -> Value {
    if is_complex(x) { x.conj() } else { x.clone() }
}
