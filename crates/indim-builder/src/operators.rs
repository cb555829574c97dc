//! Rust operators on values, and the methods of three operands.
//!
//! Operands have equal shapes, or are scalars.
//!
//! An operator cannot return an error; the builder defers the first one, see `builder.rs`. `methods.rs`
//! generates the methods of one and two operands from the table.

use core::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use indim_ops::elements::*;
use indim_ops::{Op, for_each_element, shift_right};
use indim_shape::RuleSet;

use crate::builder::{GraphBuilder, Value};
use crate::operand::sealed::Sealed;
use crate::operand::{Operand, OperandArg};

impl Value {
    /// Selects by this `bool`: `on_true` for true elements, `on_false` for the others.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let graph = b.finish(&[x.gt(0).select(&x, 0)])?;
    /// let x = Array::new([3], vec![-1.0f32, 2.0, f32::NAN])?;
    /// assert_eq!(evaluate(&graph, &[x])?[0].elements::<f32>().unwrap(), [0.0, 2.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn select(&self, on_true: impl Operand, on_false: impl Operand) -> Value {
        apply_operator(
            self.builder(),
            Op::Select,
            &[self.into_arg(), on_true.into_arg(), on_false.into_arg()],
        )
    }

    /// The value limited to at least `low` and at most `high`; NaN if any of the three is NaN.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I8, [3])?;
    /// let graph = b.finish(&[x.clamp(0, 9).convert(DType::F64)])?;
    /// let x = Array::new([3], vec![-1i8, 5, 100])?;
    /// assert_eq!(evaluate(&graph, &[x])?[0].elements::<f64>().unwrap(), [0.0, 5.0, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn clamp(&self, low: impl Operand, high: impl Operand) -> Value {
        apply_operator(
            self.builder(),
            Op::Clamp,
            &[low.into_arg(), self.into_arg(), high.into_arg()],
        )
    }

    /// The value times `factor` plus `summand`, with one rounding.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [])?;
    /// let graph = b.finish(&[x.fma(&x, -1.01)])?;
    /// let x = Array::from_scalar(1.005f64);
    /// let result = &evaluate(&graph, &[x])?[0];
    /// assert_eq!(result.elements::<f64>().unwrap(), [1.005f64.mul_add(1.005, -1.01)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn fma(&self, factor: impl Operand, summand: impl Operand) -> Value {
        apply_operator(
            self.builder(),
            Op::Fma,
            &[self.into_arg(), factor.into_arg(), summand.into_arg()],
        )
    }
}

/// The operation on equal shapes, or on a scalar and any shape.
#[track_caller]
pub(crate) fn apply_operator(builder: &GraphBuilder, op: Op, operands: &[OperandArg]) -> Value {
    // In the body of a loop an operand may belong to an outer builder. The innermost builder gets the
    // node.
    let builder = match operands.len() {
        1 => builder,
        _ => operands.iter().fold(builder, innermost_builder),
    };
    let is_scalar = |operand: &OperandArg| match operand {
        OperandArg::Value(value) => value.is_scalar(),
        OperandArg::Number(..) | OperandArg::Complex(..) => true,
    };
    let rule = match operands.len() > 1 && operands.iter().any(is_scalar) {
        true => RuleSet::Xla { dims: Vec::new() },
        false => RuleSet::None,
    };
    builder.defer_error(builder.operation(op, operands, &rule))
}

/// The builder of the operand if it builds a body inside the graph of `builder`, else `builder`.
pub(crate) fn innermost_builder<'a>(
    builder: &'a GraphBuilder,
    operand: &'a OperandArg,
) -> &'a GraphBuilder {
    match operand {
        OperandArg::Value(value) if value.builder().is_inside(builder) => value.builder(),
        _ => builder,
    }
}

/// The operation of `>>` on this value: an arithmetic shift only for signed integers, like in Rust.
fn right_shift(value: &Value) -> Op {
    value.dtype().map_or(Op::ShrArithmetic, shift_right)
}

macro_rules! binary_operators {
    ($($trait:ident $method:ident $op:expr;)*) => {
        $(
            impl<T: Operand> $trait<T> for Value {
                type Output = Value;
                #[track_caller]
                fn $method(self, other: T) -> Value {
                    (&self).$method(other)
                }
            }
            impl<T: Operand> $trait<T> for &Value {
                type Output = Value;
                #[track_caller]
                fn $method(self, other: T) -> Value {
                    let op = $op;
                    apply_operator(self.builder(), op(self), &[self.into_arg(), other.into_arg()])
                }
            }
        )*
        macro_rules! with_number_first {
            ($number:ident $value:ty) => {$(
                impl $trait<$value> for $number {
                    type Output = Value;
                    #[track_caller]
                    fn $method(self, value: $value) -> Value {
                        let op = $op;
                        apply_operator(value.builder(), op(&value), &[self.into_arg(), (&value).into_arg()])
                    }
                }
            )*};
        }
    };
}

binary_operators! {
    Add add |_: &Value| Op::Add;
    Sub sub |_: &Value| Op::Sub;
    Mul mul |_: &Value| Op::Mul;
    Div div |_: &Value| Op::Div;
    Rem rem |_: &Value| Op::Rem;
    BitAnd bitand |_: &Value| Op::And;
    BitOr bitor |_: &Value| Op::Or;
    BitXor bitxor |_: &Value| Op::Xor;
    Shl shl |_: &Value| Op::Shl;
    Shr shr right_shift;
}

macro_rules! numbers_first {
    ($($variant:ident $number:ident $class:ident;)*) => {$(numbers_first!(@$class $number);)*};
    // No operator takes storage types.
    (@float8 $number:ident) => {};
    (@nibble $number:ident) => {};
    (@$class:ident $number:ident) => {
        with_number_first!($number Value);
        with_number_first!($number &Value);
    };
}

for_each_element!(numbers_first);

macro_rules! unary_operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl $trait for Value {
            type Output = Value;
            #[track_caller]
            fn $method(self) -> Value {
                (&self).$method()
            }
        }
        impl $trait for &Value {
            type Output = Value;
            #[track_caller]
            fn $method(self) -> Value {
                apply_operator(self.builder(), Op::$op, &[self.into_arg()])
            }
        }
    )*};
}

unary_operators! {
    Neg neg Neg;
    Not not Not;
}
