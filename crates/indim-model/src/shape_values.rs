//! Constant folding of shapes: values whose elements are known while the graph is built.
//!
//! The reader of an operation defines it once, as nodes. If all operands are known, these nodes form a
//! small graph of their own, which the reference evaluator runs.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, evaluate};
use indim_ops::{ArrayType, DType};
use indim_shape::MAX_RANK;

use crate::model_builder::integers;

/// Maximum elements of a known value; no shape, list of axes or list of indices has more.
pub(crate) const MAX_ELEMENTS: usize = 1024;

/// A value of the graph, with its elements if they are known at build time.
#[derive(Debug, Clone)]
pub struct KnownValue {
    /// The value.
    pub value: Value,
    /// Its elements, if known.
    pub elements: Option<Array>,
}

impl KnownValue {
    /// A constant; its elements are known if they are few.
    pub fn constant(builder: &GraphBuilder, array: Array) -> KnownValue {
        KnownValue { value: builder.constant(array.clone()), elements: retain_if_small(array) }
    }

    /// A value with these elements; they are dropped if they are many.
    pub fn with_elements(value: Value, array: Array) -> KnownValue {
        KnownValue { value, elements: retain_if_small(array) }
    }

    /// The elements as integers, if they are known integers.
    pub fn integers(&self) -> Option<Vec<i64>> {
        integers(self.elements.as_ref()?)
    }
}

impl From<Value> for KnownValue {
    fn from(value: Value) -> KnownValue {
        KnownValue { value, elements: None }
    }
}

/// The array, if its elements are to be kept.
fn retain_if_small(array: Array) -> Option<Array> {
    Some(array).filter(|array| is_small_type(array.array_type()))
}

/// Whether to keep the elements of arrays of this type. Integers and booleans build shapes. Floats scale
/// sizes, so `MAX_RANK` of them are enough.
fn is_small_type(array_type: &ArrayType) -> bool {
    let most = match array_type.dtype {
        dtype if dtype.is_integer() || dtype == DType::Bool => MAX_ELEMENTS,
        _ => MAX_RANK,
    };
    array_type.shape.element_count().is_ok_and(|count| count <= most)
}

/// Whether an input of this type can hold a shape: a short list of integers, or a single number. `count` is
/// the number of its elements, if it is known.
pub(crate) fn can_hold_shape(dtype: Option<DType>, count: Option<usize>, rank: usize) -> bool {
    let is_whole = dtype.is_none_or(|dtype| dtype.is_integer() || dtype == DType::Bool);
    match count {
        Some(count) => count <= if is_whole { MAX_RANK } else { 1 },
        None => is_whole && rank <= 1,
    }
}

/// Folds the operation that `make` builds from these operands, if all operands are known and the results
/// are small.
///
/// Errors return `None`: the caller runs `make` again in the real graph, which reports them.
pub fn fold_known_operands<E>(
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
    let results: Vec<Value> =
        make(&builder, &operands).ok()?.into_iter().map(|known| known.value).collect();
    let is_small_type =
        |value: &Value| value.array_type().is_ok_and(|array_type| is_small_type(&array_type));
    if !results.iter().all(is_small_type) {
        return None;
    }
    evaluate(&builder.finish(&results).ok()?, &[]).ok()
}
