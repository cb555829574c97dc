//! Operands of operators and of the builder's methods: values, and Rust numbers.
//!
//! A number takes the element type of the other operands, like a literal in an expression; without other
//! operands it keeps its own type.

use indim_graph::{GraphError, GraphErrorKind, Literal, ValueId};
use indim_ops::elements::*;
use indim_ops::{DType, DTypeClass, Element, Op, for_each_element};
use indim_shape::RuleSet;

use crate::builder::{BuildResult, GraphBuilder, Value};

pub(crate) mod sealed {
    /// Implemented only for the operand types in this file.
    pub trait Sealed {
        /// The operand as a value or a number.
        fn into_arg(self) -> super::OperandArg;
    }
}

/// A value, owned or borrowed, or a number, which takes the element type of the other operands.
///
/// ```
/// use indim_ops::DType;
/// use indim_builder::GraphBuilder;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [3])?;
/// let line = b.add(b.mul(&x, 2, &[])?, 0.5, &[])?;
/// assert_eq!(line.array_type()?, x.array_type()?);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
pub trait Operand: sealed::Sealed {}

impl<T: sealed::Sealed> Operand for T {}

/// An operand: a value or a number.
#[derive(Debug, Clone)]
pub enum OperandArg {
    /// A value.
    Value(Value),
    /// A real number or a `bool`, with its own type.
    Number(Literal, DType),
    /// A complex number, with its own type.
    Complex(c128, DType),
}

impl GraphBuilder {
    /// A literal as a scalar of type `dtype`; a number that does not [fit](Literal::fits) is converted.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Literal, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let graph = b.finish(&[b.literal(Literal::Int(3), DType::F32)?])?;
    /// assert_eq!(evaluate(&graph, &[])?[0].elements::<f32>(), Ok(&[3.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`GraphBuilder::convert`].
    #[track_caller]
    pub fn literal(&self, literal: Literal, dtype: DType) -> BuildResult {
        if let Literal::Complex(value) = literal {
            return self.convert(self.scalar(value), dtype);
        }
        // Literals of integer types do not go through `f64`, which does not represent all 64-bit
        // integers.
        match (literal.to_int(), dtype) {
            (_, DType::Bool) => Ok(self.scalar(literal.is_true())),
            (Some(value), DType::I64) => Ok(self.scalar(value as i64)),
            (Some(value), DType::U64) => Ok(self.scalar(value as u64)),
            (_, DType::F64) => Ok(self.scalar(literal.to_float())),
            (_, DType::F32) => Ok(self.scalar(literal.to_float() as f32)),
            (Some(value), DType::I8) => Ok(self.scalar(value as i8)),
            (Some(value), DType::I16) => Ok(self.scalar(value as i16)),
            (Some(value), DType::I32) => Ok(self.scalar(value as i32)),
            (Some(value), DType::U8) => Ok(self.scalar(value as u8)),
            (Some(value), DType::U16) => Ok(self.scalar(value as u16)),
            (Some(value), DType::U32) => Ok(self.scalar(value as u32)),
            (Some(value), DType::I4) => self.convert(self.scalar(value as i8), dtype),
            (Some(value), DType::U4) => self.convert(self.scalar(value as u8), dtype),
            // Narrow floats, complex types, and floats to integers, such as `i32(2.5)`.
            _ => self.convert(self.scalar(literal.to_float()), dtype),
        }
    }
}

impl sealed::Sealed for Value {
    fn into_arg(self) -> OperandArg {
        OperandArg::Value(self)
    }
}

impl sealed::Sealed for &Value {
    fn into_arg(self) -> OperandArg {
        OperandArg::Value(self.clone())
    }
}

macro_rules! numbers {
    ($($variant:ident $type:ident $class:ident;)*) => {$(
        impl sealed::Sealed for $type {
            fn into_arg(self) -> OperandArg {
                numbers!(@$class self, <$type as Element>::DTYPE)
            }
        }
    )*};
    (@boolean $number:ident, $own:expr) => { OperandArg::Number(Literal::Bool($number), $own) };
    (@signed $number:ident, $own:expr) => { OperandArg::Number(Literal::Int(i128::from($number)), $own) };
    (@unsigned $number:ident, $own:expr) => { OperandArg::Number(Literal::Int(i128::from($number)), $own) };
    (@half $number:ident, $own:expr) => {
        OperandArg::Number(Literal::Float(f64::from($number.to_f32())), $own)
    };
    (@float8 $number:ident, $own:expr) => { OperandArg::Number(Literal::Float($number.to_f64()), $own) };
    (@nibble $number:ident, $own:expr) => {
        OperandArg::Number(Literal::Int($number.to_f64() as i128), $own)
    };
    (@float $number:ident, $own:expr) => { OperandArg::Number(Literal::Float(f64::from($number)), $own) };
    (@complex $number:ident, $own:expr) => {
        OperandArg::Complex(c128::new(f64::from($number.re), f64::from($number.im)), $own)
    };
}

for_each_element!(numbers);

impl GraphBuilder {
    /// An operation of the table on these operands.
    #[track_caller]
    pub(crate) fn operation(&self, op: Op, operands: &[OperandArg], rule: &RuleSet) -> BuildResult {
        // The first operand of `select` is a `bool`; the others have one type.
        let ids = self.ids_of(op.name(), operands, usize::from(op.first_is_bool()))?;
        self.elementwise_ids(op, &ids, rule)
    }

    /// The values of operands. Operands from position `equal_from` on must have one element type; numbers
    /// among them take this type.
    #[track_caller]
    pub(crate) fn ids_of(
        &self,
        operation: &'static str,
        operands: &[OperandArg],
        equal_from: usize,
    ) -> Result<Vec<ValueId>, GraphError> {
        let dtype = operands.iter().skip(equal_from).find_map(OperandArg::dtype_of_value);
        let mut ids = Vec::with_capacity(operands.len());
        for (position, operand) in operands.iter().enumerate() {
            let dtype = dtype.filter(|_| position >= equal_from);
            ids.push(self.operand_id_of_type(operation, operand, dtype)?);
        }
        Ok(ids)
    }

    /// The value of a single operand.
    #[track_caller]
    pub(crate) fn operand_id(
        &self,
        operation: &'static str,
        operand: impl Operand,
    ) -> Result<ValueId, GraphError> {
        self.operand_id_of_type(operation, &operand.into_arg(), None)
    }

    /// The value of an operand; a number takes the type `dtype` of the other operands.
    #[track_caller]
    fn operand_id_of_type(
        &self,
        operation: &'static str,
        operand: &OperandArg,
        dtype: Option<DType>,
    ) -> Result<ValueId, GraphError> {
        let scalar = match operand {
            OperandArg::Value(value) => return self.id(operation, value),
            OperandArg::Number(literal, own) => {
                self.number(operation, *literal, dtype.unwrap_or(*own))?
            }
            // A complex number with real operands keeps its complex type, so that the operation reports
            // the mismatch.
            OperandArg::Complex(number, own) => {
                let complex = dtype.filter(|dtype| dtype.class() == DTypeClass::Complex);
                self.convert(self.scalar(*number), complex.unwrap_or(*own))?
            }
        };
        self.id(operation, &scalar)
    }
}

impl GraphBuilder {
    /// A number as a scalar of type `dtype`; an error if the type cannot represent it.
    #[track_caller]
    pub(crate) fn number(
        &self,
        operation: &'static str,
        literal: Literal,
        dtype: DType,
    ) -> BuildResult {
        if !literal.is_of_kind(dtype) || !literal.fits(dtype) {
            return Err(self.error(operation, &[], GraphErrorKind::Number { literal, dtype }));
        }
        self.literal(literal, dtype)
    }
}

impl OperandArg {
    fn dtype_of_value(&self) -> Option<DType> {
        match self {
            OperandArg::Value(value) => value.dtype(),
            OperandArg::Number(..) | OperandArg::Complex(..) => None,
        }
    }
}
