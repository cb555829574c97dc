//! Values during elaboration: arrays or tuples of values.

use std::sync::Arc;

use indim_builder::{GraphBuilder, Value};
use indim_graph::Array;
use indim_model::FormatErrorKind;
use indim_ops::ArrayType;

/// Maximum nesting depth of tuples.
const MAX_NESTING: usize = 64;

/// A value of a program.
#[derive(Debug, Clone)]
pub enum XlaValue {
    /// An array.
    Array(ArrayValue),
    /// A tuple of values.
    Tuple(Tuple),
}

/// A tuple of values.
#[derive(Debug, Clone)]
pub struct Tuple {
    elements: Arc<[XlaValue]>,
    depth: usize,
}

/// An array value, and a fact about its elements.
#[derive(Debug, Clone)]
pub struct ArrayValue {
    /// The value.
    pub value: Value,
    /// The fact, by which reductions and sorts are recognised.
    pub fact: ArrayFact,
}

/// A fact about the elements of an array that is known while the graph is built.
#[derive(Debug, Clone)]
pub enum ArrayFact {
    /// Nothing is known.
    None,
    /// A constant scalar.
    Scalar(Array),
    /// The index along this axis.
    Iota(i64),
}

impl ArrayFact {
    /// The fact about a scalar that an operation has moved without a change, such as the broadcast of a
    /// scalar to a scalar.
    pub fn of_scalar(operands: &[XlaValue], result: &Value) -> ArrayFact {
        match operands {
            [XlaValue::Array(operand)]
                if result.array_type().is_ok_and(|it| it.shape.is_scalar()) =>
            {
                operand.fact.clone()
            }
            _ => ArrayFact::None,
        }
    }

    /// The fact about a broadcast whose operand has the result's axes `dims`: a count stays a count.
    pub fn of_broadcast(operands: &[XlaValue], dims: &[i64], result: &Value) -> ArrayFact {
        match operands {
            [XlaValue::Array(ArrayValue { fact: ArrayFact::Iota(axis), value })]
                if is_along(value, *axis, dims, result) =>
            {
                ArrayFact::Iota(dims[*axis as usize])
            }
            _ => ArrayFact::of_scalar(operands, result),
        }
    }
}

/// Whether a broadcast by `dims` keeps the size of this axis.
fn is_along(operand: &Value, axis: i64, dims: &[i64], result: &Value) -> bool {
    let size = |value: &Value, axis: i64| {
        let shape = value.array_type().ok()?.shape;
        shape.get(usize::try_from(axis).ok()?).copied()
    };
    let of_result = usize::try_from(axis).ok().and_then(|axis| size(result, *dims.get(axis)?));
    of_result.is_some() && size(operand, axis) == of_result
}

impl ArrayValue {
    /// The element of a constant scalar.
    pub fn constant(&self) -> Option<&Array> {
        match &self.fact {
            ArrayFact::Scalar(array) => Some(array),
            ArrayFact::None | ArrayFact::Iota(_) => None,
        }
    }
}

impl From<Value> for XlaValue {
    fn from(value: Value) -> Self {
        XlaValue::Array(ArrayValue { value, fact: ArrayFact::None })
    }
}

impl XlaValue {
    /// The value in `builder`; a value of an outer builder becomes a parameter of the body. `budget` limits
    /// the number of visited values, as in [`XlaValue::arrays`].
    ///
    /// # Errors
    /// `foreign-value`, `limit`.
    pub fn local(
        &self,
        builder: &GraphBuilder,
        budget: &mut usize,
    ) -> Result<XlaValue, FormatErrorKind> {
        count_visit(budget)?;
        Ok(match self {
            XlaValue::Array(array) => {
                let value = builder.local(&array.value)?;
                XlaValue::Array(ArrayValue { value, fact: array.fact.clone() })
            }
            XlaValue::Tuple(Tuple { elements, depth }) => {
                let elements = elements.iter().map(|part| part.local(builder, budget));
                let elements = elements.collect::<Result<_, _>>()?;
                XlaValue::Tuple(Tuple { elements, depth: *depth })
            }
        })
    }

    /// The value with these arrays in place of its own, in order.
    ///
    /// # Errors
    /// `wrong-count` for too few arrays.
    pub fn with_arrays(
        &self,
        arrays: &mut impl Iterator<Item = Value>,
    ) -> Result<XlaValue, FormatErrorKind> {
        match self {
            XlaValue::Array(_) => {
                let (what, expected) = ("arrays", "more".to_owned());
                let missing = FormatErrorKind::Count { what, expected, given: 0 };
                arrays.next().map(XlaValue::from).ok_or(missing)
            }
            XlaValue::Tuple(tuple) => {
                let mut elements = Vec::with_capacity(tuple.elements.len());
                for part in tuple.elements.iter() {
                    elements.push(part.with_arrays(arrays)?);
                }
                XlaValue::tuple(elements)
            }
        }
    }

    /// A tuple of these values.
    ///
    /// # Errors
    /// `limit`.
    pub fn tuple(elements: Vec<XlaValue>) -> Result<XlaValue, FormatErrorKind> {
        let depth = |value: &XlaValue| match value {
            XlaValue::Array(_) => 0,
            XlaValue::Tuple(tuple) => tuple.depth,
        };
        let depth = 1 + elements.iter().map(depth).max().unwrap_or(0);
        if depth > MAX_NESTING {
            return Err(FormatErrorKind::Limit { what: "nested tuples", limit: MAX_NESTING });
        }
        Ok(XlaValue::Tuple(Tuple { elements: elements.into(), depth }))
    }

    /// The value as an array.
    ///
    /// # Errors
    /// `type-mismatch`.
    pub fn array(&self) -> Result<&ArrayValue, FormatErrorKind> {
        match self {
            XlaValue::Array(known) => Ok(known),
            XlaValue::Tuple(_) => Err(FormatErrorKind::TypeMismatch {
                stated: "an array".to_owned(),
                inferred: "a tuple".to_owned(),
            }),
        }
    }

    /// Operands as arrays.
    ///
    /// # Errors
    /// `type-mismatch`.
    pub fn all_arrays(operands: &[XlaValue]) -> Result<Vec<ArrayValue>, FormatErrorKind> {
        operands.iter().map(|operand| operand.array().cloned()).collect()
    }

    /// An element of a tuple.
    ///
    /// # Errors
    /// `type-mismatch`, `attribute`.
    pub fn tuple_element(&self, index: usize) -> Result<&XlaValue, FormatErrorKind> {
        match self.tuple_elements()?.get(index) {
            Some(part) => Ok(part),
            None => Err(FormatErrorKind::attribute("index", "is that of no part of the tuple")),
        }
    }

    /// The elements of a tuple.
    ///
    /// # Errors
    /// `type-mismatch`.
    pub fn tuple_elements(&self) -> Result<&[XlaValue], FormatErrorKind> {
        match self {
            XlaValue::Tuple(tuple) => Ok(&tuple.elements),
            XlaValue::Array(_) => Err(FormatErrorKind::TypeMismatch {
                stated: "a tuple".to_owned(),
                inferred: "an array".to_owned(),
            }),
        }
    }

    /// Collects the arrays in the value, in order. `budget` limits the number of visited values, because a
    /// tuple can contain a value many times.
    ///
    /// # Errors
    /// `limit`.
    pub fn arrays(
        &self,
        budget: &mut usize,
        found: &mut Vec<Value>,
    ) -> Result<(), FormatErrorKind> {
        count_visit(budget)?;
        match self {
            XlaValue::Array(known) => found.push(known.value.clone()),
            XlaValue::Tuple(tuple) => {
                for part in tuple.elements.iter() {
                    part.arrays(budget, found)?;
                }
            }
        }
        Ok(())
    }
}

/// The types of values.
///
/// # Errors
/// The error that the builder recorded.
pub fn types_of(values: &[Value]) -> Result<Vec<ArrayType>, FormatErrorKind> {
    values.iter().map(|value| Ok(value.array_type()?)).collect()
}

/// The types of single elements of arrays.
///
/// # Errors
/// The error that the builder recorded.
pub fn scalar_types<'a>(
    arrays: impl Iterator<Item = &'a ArrayValue>,
) -> Result<Vec<ArrayType>, FormatErrorKind> {
    arrays.map(|array| Ok(ArrayType::new(array.value.array_type()?.dtype, []))).collect()
}

/// Counts a visited value.
fn count_visit(budget: &mut usize) -> Result<(), FormatErrorKind> {
    let exceeded = FormatErrorKind::Limit { what: "values in tuples", limit: *budget };
    *budget = budget.checked_sub(1).ok_or(exceeded)?;
    Ok(())
}
