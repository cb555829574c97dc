//! The operators of Rust on values: equal shapes, or a scalar with anything.
//!
//! An operator cannot return an error; the builder keeps the first one, see `builder.rs`.

use core::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};

use indim_shape::RuleSet;

use crate::builder::{BuildResult, Value};
use crate::element::Element;
use crate::op::{Arity, Op};

impl<'b> Value<'b> {
    fn operator(self, op: Op, operands: &[Value<'b>]) -> Value<'b> {
        debug_assert_eq!(op.arity().count(), operands.len());
        self.builder().keep(self.scalar_rule(op, operands))
    }

    fn scalar_rule(self, op: Op, operands: &[Value<'b>]) -> BuildResult<'b> {
        let mut has_scalar = op.arity() == Arity::Unary;
        for operand in operands {
            has_scalar |= operand.array_type()?.shape.is_scalar();
        }
        let rule = if has_scalar { RuleSet::Xla { dims: Vec::new() } } else { RuleSet::None };
        self.builder().elementwise(op, operands, &rule)
    }
}

macro_rules! binary_operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<'b> $trait for Value<'b> {
            type Output = Value<'b>;
            fn $method(self, other: Value<'b>) -> Value<'b> {
                self.operator(Op::$op, &[self, other])
            }
        }
        impl<'b, T: Element> $trait<T> for Value<'b> {
            type Output = Value<'b>;
            fn $method(self, other: T) -> Value<'b> {
                let constant = self.builder().scalar(other);
                self.operator(Op::$op, &[self, constant])
            }
        }
    )*};
}

binary_operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem Rem;
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
}

impl<'b> Neg for Value<'b> {
    type Output = Value<'b>;
    fn neg(self) -> Value<'b> {
        self.operator(Op::Neg, &[self])
    }
}

impl<'b> Not for Value<'b> {
    type Output = Value<'b>;
    fn not(self) -> Value<'b> {
        self.operator(Op::Not, &[self])
    }
}
