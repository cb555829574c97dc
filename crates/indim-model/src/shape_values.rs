//! Values whose elements are known while a graph is made: shapes that a file computes become constants.
//!
//! What an operation computes is said once, by the reader that makes nodes of it: of operands that are all
//! known it makes a small graph of its own, which the reference evaluator runs.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, evaluate};
use indim_ops::{ArrayType, DType};
use indim_shape::MAXIMUM_RANK;

use crate::making::integers;

/// More elements than this no shape has, and no list of axes or indices that shapes are made of.
const MAX_ELEMENTS: usize = 1024;

/// A value of the graph, with its elements where they are known before a run.
#[derive(Debug, Clone)]
pub struct KnownValue {
    /// The value.
    pub value: Value,
    /// Its elements.
    pub elements: Option<Array>,
}

impl KnownValue {
    /// A constant: its elements are known if they are few.
    pub fn constant(builder: &GraphBuilder, array: Array) -> KnownValue {
        KnownValue { value: builder.constant(array.clone()), elements: few(array) }
    }

    /// A value with these elements, of which nothing is known if they are many.
    pub fn with_elements(value: Value, array: Array) -> KnownValue {
        KnownValue { value, elements: few(array) }
    }

    /// The elements as whole numbers, if they are some and known.
    pub fn integers(&self) -> Option<Vec<i64>> {
        integers(self.elements.as_ref()?)
    }
}

impl From<Value> for KnownValue {
    fn from(value: Value) -> KnownValue {
        KnownValue { value, elements: None }
    }
}

fn few(array: Array) -> Option<Array> {
    Some(array).filter(|array| is_few(&array.array_type()))
}

/// Whether elements of such an array are worth knowing: lists of whole numbers and truth values, of which
/// shapes are made, and floats as many as a shape may have sizes, for these are scaled.
fn is_few(array_type: &ArrayType) -> bool {
    let most = match array_type.dtype {
        dtype if dtype.is_integer() || dtype == DType::Bool => MAX_ELEMENTS,
        _ => MAXIMUM_RANK,
    };
    array_type.shape.element_count().is_ok_and(|count| count <= most)
}

/// The elements of what `make` makes of these operands, if they are all known and the results are few.
///
/// A mistake gives nothing: `make` will find it again in the graph that it is about.
pub fn folded<E>(
    operands: &[Option<KnownValue>],
    make: impl FnOnce(&GraphBuilder, &[Option<KnownValue>]) -> Result<Vec<KnownValue>, E>,
) -> Option<Vec<Array>> {
    if operands.iter().all(Option::is_none) {
        return None;
    }
    let builder = GraphBuilder::new();
    let constant = |operand: &Option<KnownValue>| match operand {
        None => Some(None),
        Some(known) => {
            let elements = known.elements.clone()?;
            Some(Some(KnownValue::constant(&builder, elements)))
        }
    };
    let operands: Vec<Option<KnownValue>> = operands.iter().map(constant).collect::<Option<_>>()?;
    let made: Vec<Value> =
        make(&builder, &operands).ok()?.into_iter().map(|known| known.value).collect();
    let is_few = |value: &Value| value.array_type().is_ok_and(|array_type| is_few(&array_type));
    if !made.iter().all(is_few) {
        return None;
    }
    evaluate(&builder.finish(&made).ok()?, &[]).ok()
}
