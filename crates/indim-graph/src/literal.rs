//! Weak numbers: numbers without an element type, written in an expression or passed as an operand.
//!
//! A literal has a kind but no element type; it takes the element type of the other operands.

use core::fmt;

use indim_ops::elements::*;
use indim_ops::meaning::convert::ConvertTo;
use indim_ops::{DType, DTypeClass, Element};

use indim_arrays::Array;

/// A number without an element type.
///
/// ```
/// use indim_graph::Literal;
/// use indim_ops::DType;
///
/// assert_eq!(Literal::constant("pi"), Some(Literal::Float(core::f64::consts::PI)));
/// assert_eq!(Literal::Int(3).default_dtype(), DType::I64);
/// assert_eq!((Literal::Bool(true).to_int(), Literal::Float(0.5).to_int()), (Some(1), None));
/// assert_eq!(Literal::Int(3).to_float(), 3.0);
/// assert!(Literal::Int(-1).is_negative_int());
/// assert!(Literal::Int(3).is_of_kind(DType::F32) && !Literal::Float(0.5).is_of_kind(DType::I8));
/// assert!(Literal::Int(300).is_of_kind(DType::U8) && !Literal::Int(300).fits(DType::U8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a point or an exponent, `inf`, `nan` or `pi`.
    Float(f64),
    /// A number with an imaginary part, such as `2j`.
    Complex(c128),
}

impl Literal {
    /// The literal of a predefined name: `pi`, `inf`, `nan`, `True`, `true`, `False` and `false`.
    pub fn constant(name: &str) -> Option<Literal> {
        match name {
            "True" | "true" => Some(Literal::Bool(true)),
            "False" | "false" => Some(Literal::Bool(false)),
            "inf" => Some(Literal::Float(f64::INFINITY)),
            "nan" => Some(Literal::Float(f64::NAN)),
            "pi" => Some(Literal::Float(core::f64::consts::PI)),
            _ => None,
        }
    }

    /// The kind of the number, for messages.
    pub const fn kind_name(self) -> &'static str {
        match self {
            Literal::Bool(_) => "truth value",
            Literal::Int(_) => "whole number",
            Literal::Float(_) => "number with a fraction",
            Literal::Complex(_) => "complex number",
        }
    }

    /// The element type of a literal without other operands.
    pub const fn default_dtype(self) -> DType {
        match self {
            Literal::Bool(_) => DType::Bool,
            Literal::Int(_) => DType::I64,
            Literal::Float(_) => DType::F64,
            Literal::Complex(_) => DType::C128,
        }
    }

    /// Whether the literal is a negative integer.
    pub fn is_negative_int(self) -> bool {
        matches!(self, Literal::Int(value) if value < 0)
    }

    /// The integer value; `bool` is 0 or 1; `None` for other numbers.
    pub fn to_int(self) -> Option<i128> {
        match self {
            Literal::Bool(value) => Some(i128::from(value)),
            Literal::Int(value) => Some(value),
            Literal::Float(_) | Literal::Complex(_) => None,
        }
    }

    /// The nearest `f64`, like Python's conversion; the real part of a complex number.
    pub fn to_float(self) -> f64 {
        match self {
            Literal::Bool(value) => f64::from(u8::from(value)),
            Literal::Int(value) => value as f64,
            Literal::Float(value) => value,
            Literal::Complex(value) => value.re,
        }
    }

    /// The number as a scalar array of type `dtype`, which it [fits](Literal::fits).
    ///
    /// ```
    /// use indim_graph::Literal;
    /// use indim_ops::DType;
    ///
    /// assert_eq!(Literal::Int(3).element(DType::F16).scalar_text().as_deref(), Some("3"));
    /// ```
    pub fn element(self, dtype: DType) -> Array {
        let float = self.to_float();
        match (self.to_int(), dtype) {
            (_, DType::Bool) => Array::from_scalar(self.is_true()),
            // Only 64-bit integers need more precision than `f64` has.
            (Some(value), DType::I64) => Array::from_scalar(value as i64),
            (Some(value), DType::U64) => Array::from_scalar(value as u64),
            (_, DType::I8) => Array::from_scalar(float as i8),
            (_, DType::I16) => Array::from_scalar(float as i16),
            (_, DType::I32) => Array::from_scalar(float as i32),
            (_, DType::I64) => Array::from_scalar(float as i64),
            (_, DType::U8) => Array::from_scalar(float as u8),
            (_, DType::U16) => Array::from_scalar(float as u16),
            (_, DType::U32) => Array::from_scalar(float as u32),
            (_, DType::U64) => Array::from_scalar(float as u64),
            (_, DType::F16) => Array::from_scalar(convert_number::<f16>(float)),
            (_, DType::Bf16) => Array::from_scalar(convert_number::<bf16>(float)),
            (_, DType::F32) => Array::from_scalar(float as f32),
            (_, DType::F64) => Array::from_scalar(float),
            (_, DType::C64) => Array::from_scalar(convert_number::<c64>(self.to_complex())),
            (_, DType::C128) => Array::from_scalar(self.to_complex()),
            (_, DType::F8E4m3fn) => Array::from_scalar(convert_number::<f8e4m3fn>(float)),
            (_, DType::F8E5m2) => Array::from_scalar(convert_number::<f8e5m2>(float)),
            (_, DType::F8E4m3fnuz) => Array::from_scalar(convert_number::<f8e4m3fnuz>(float)),
            (_, DType::F8E5m2fnuz) => Array::from_scalar(convert_number::<f8e5m2fnuz>(float)),
            (_, DType::F8E4m3b11fnuz) => Array::from_scalar(convert_number::<f8e4m3b11fnuz>(float)),
            (_, DType::I4) => Array::from_scalar(convert_number::<i4>(float)),
            (_, DType::U4) => Array::from_scalar(convert_number::<u4>(float)),
        }
    }

    /// Whether the literal is `True`, or a number other than 0.
    pub fn is_true(self) -> bool {
        match self {
            Literal::Bool(value) => value,
            Literal::Int(value) => value != 0,
            Literal::Float(value) => value != 0.0,
            Literal::Complex(value) => value.re != 0.0 || value.im != 0.0,
        }
    }

    /// The number as a complex number.
    pub fn to_complex(self) -> c128 {
        match self {
            Literal::Complex(value) => value,
            real => c128::new(real.to_float(), 0.0),
        }
    }

    /// Whether two numbers have the same kind and bits: -0.0 differs from 0.0, and a NaN equals itself.
    ///
    /// ```
    /// use indim_graph::Literal;
    ///
    /// assert!(Literal::Float(f64::NAN).is_identical(Literal::Float(f64::NAN)));
    /// assert!(!Literal::Float(-0.0).is_identical(Literal::Float(0.0)));
    /// assert!(!Literal::Int(1).is_identical(Literal::Float(1.0)));
    /// ```
    pub fn is_identical(self, other: Literal) -> bool {
        match (self, other) {
            (Literal::Float(x), Literal::Float(y)) => x.to_bits() == y.to_bits(),
            (Literal::Complex(x), Literal::Complex(y)) => {
                x.re.to_bits() == y.re.to_bits() && x.im.to_bits() == y.im.to_bits()
            }
            (x, y) => x == y,
        }
    }

    /// Whether elements of `dtype` represent this kind of number without an explicit conversion.
    pub fn is_of_kind(self, dtype: DType) -> bool {
        match self {
            Literal::Bool(_) => dtype == DType::Bool,
            Literal::Int(_) => dtype != DType::Bool,
            Literal::Complex(_) => dtype.class() == DTypeClass::Complex,
            Literal::Float(_) => match dtype.class() {
                DTypeClass::Float | DTypeClass::Complex => true,
                DTypeClass::Storage => dtype.is_float8(),
                DTypeClass::Bool | DTypeClass::Signed | DTypeClass::Unsigned => false,
            },
        }
    }

    /// Whether a whole number is in the range of the integer type `dtype`. True for every other literal or
    /// type: conversion rounds, and [`is_of_kind`](Self::is_of_kind) tells whether the kinds agree.
    pub fn fits(self, dtype: DType) -> bool {
        match (self, integer_range(dtype)) {
            (Literal::Int(value), Some((low, high))) => (low..=high).contains(&value),
            _ => true,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(true) => formatter.write_str("True"),
            Literal::Bool(false) => formatter.write_str("False"),
            Literal::Int(value) => write!(formatter, "{value}"),
            Literal::Float(value) => write!(formatter, "{value:?}"),
            Literal::Complex(value) if value.re == 0.0 && value.re.is_sign_positive() => {
                write!(formatter, "{:?}j", value.im)
            }
            Literal::Complex(value) => write!(formatter, "({:?}{:+?}j)", value.re, value.im),
        }
    }
}

/// Conversion by the rule of the operation `convert`.
fn convert_number<T: Element>(value: impl ConvertTo<T>) -> T {
    value.convert()
}

/// The smallest and the largest value of an integer type; `None` for other types.
pub fn integer_range(dtype: DType) -> Option<(i128, i128)> {
    let bits = dtype.bits() as u32;
    match dtype.class() {
        DTypeClass::Storage if dtype == DType::I4 => Some((-8, 7)),
        DTypeClass::Storage if dtype == DType::U4 => Some((0, 15)),
        DTypeClass::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        DTypeClass::Unsigned => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}
