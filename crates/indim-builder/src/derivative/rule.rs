//! The rules of the operations: what they are given, and what they give.

use indim_ops::DTypeClass;

use crate::builder::Value;

/// The operands of an operation, its result `y` and the cotangent of that.
pub(super) struct Unary<'a> {
    pub x: &'a Value,
    pub y: &'a Value,
    pub cotangent: &'a Value,
}

impl Unary<'_> {
    /// The cotangent of `x` where this is the derivative.
    pub(super) fn times(&self, derivative: &Value) -> Value {
        self.cotangent * conjugate(derivative)
    }

    /// The cotangent of `x` where the derivative is one over this.
    pub(super) fn over(&self, divisor: &Value) -> Value {
        self.cotangent / conjugate(divisor)
    }
}

/// Like [`Unary`], of two operands.
pub(super) struct Binary<'a> {
    pub a: &'a Value,
    pub b: &'a Value,
    pub y: &'a Value,
    pub cotangent: &'a Value,
}

/// Like [`Unary`], of three operands.
pub(super) struct Ternary<'a> {
    pub a: &'a Value,
    pub b: &'a Value,
    pub c: &'a Value,
    pub cotangent: &'a Value,
}

/// The rule of an operation whose result does not move with its operands, or has no derivative to hand on.
pub(super) struct Flat;

/// The rule of an operation that is not differentiated.
#[derive(Debug)]
pub(super) struct Refused;

/// Result of a rule: one optional cotangent for each operand.
pub(super) trait Given {
    fn given(self) -> Result<Vec<Option<Value>>, Refused>;
}

impl Given for Value {
    fn given(self) -> Result<Vec<Option<Value>>, Refused> {
        Ok(vec![Some(self)])
    }
}

impl Given for Option<Value> {
    fn given(self) -> Result<Vec<Option<Value>>, Refused> {
        Ok(vec![self])
    }
}

impl<const COUNT: usize> Given for [Value; COUNT] {
    fn given(self) -> Result<Vec<Option<Value>>, Refused> {
        Ok(self.into_iter().map(Some).collect())
    }
}

impl<const COUNT: usize> Given for [Option<Value>; COUNT] {
    fn given(self) -> Result<Vec<Option<Value>>, Refused> {
        Ok(self.into())
    }
}

impl Given for Flat {
    fn given(self) -> Result<Vec<Option<Value>>, Refused> {
        Ok(Vec::new())
    }
}

impl Given for Refused {
    fn given(self) -> Result<Vec<Option<Value>>, Refused> {
        Err(self)
    }
}

/// Whether the elements are complex numbers.
pub(super) fn is_complex(x: &Value) -> bool {
    x.dtype().is_some_and(|dtype| dtype.class() == DTypeClass::Complex)
}

/// The conjugate of complex numbers; floats as they are.
pub(super) fn conjugate(x: &Value) -> Value {
    if is_complex(x) { x.conj() } else { x.clone() }
}
