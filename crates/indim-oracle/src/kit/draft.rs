//! A test case before its elements are drawn and its verdict is known.

use indim_graph::Array;
use indim_ops::{ArrayType, DType};
use indim_shape::{RuleSetName, Shape};
use serde::Serialize;
use serde_json::value::RawValue;

use super::operation::{KitOperation, element};
use super::random::SplitMix64;
use crate::data;

/// A test case without elements and verdict.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    /// `None` for a broadcast to a target.
    pub(super) operation: Option<&'static KitOperation>,
    pub(super) dtypes: Vec<DType>,
    pub(super) shapes: Vec<Vec<usize>>,
    pub(super) dims: Option<Vec<i64>>,
    pub(super) axis: Option<i64>,
    pub(super) broadcast: Option<u8>,
    pub(super) target: Option<Vec<usize>>,
    pub(super) names: Option<Vec<Vec<&'static str>>>,
}

/// The JSON of a case, for [`crate::verdict`].
#[derive(Serialize)]
struct CaseLine<'a> {
    id: usize,
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    op: Option<&'static str>,
    operands: Vec<OperandLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dims: Option<&'a [i64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axis: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broadcast: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a [usize]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<&'a [Vec<&'static str>]>,
}

#[derive(Serialize)]
struct OperandLine<'a> {
    dtype: &'static str,
    shape: &'a [usize],
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
}

impl Draft {
    pub(super) fn types(&self) -> Vec<ArrayType> {
        let types = self.dtypes.iter().zip(&self.shapes);
        types.map(|(&dtype, shape)| ArrayType::new(dtype, &shape[..])).collect()
    }

    /// Operands with random elements.
    pub(super) fn arrays(&self, random: &mut SplitMix64) -> Vec<Array> {
        let op = self.operation.map(|operation| operation.op);
        let mut arrays = Vec::new();
        for (index, array_type) in self.types().into_iter().enumerate() {
            let ArrayType { dtype, shape } = array_type;
            let count = shape.sizes().iter().product();
            let elements = (0..count).map(|_| element(op, index, dtype, random)).collect();
            arrays.push(array(dtype, shape, elements));
        }
        arrays
    }

    /// The case as a line of JSON, with the elements of `data`.
    pub(super) fn line(&self, id: usize, rule: RuleSetName, data: &[Array]) -> String {
        let operands = self.dtypes.iter().zip(&self.shapes).enumerate();
        let operands = operands.map(|(index, (dtype, shape))| OperandLine {
            dtype: dtype.name(),
            shape,
            data: data.get(index).map(elements),
        });
        let line = CaseLine {
            id,
            rule: rule.as_str(),
            op: self.operation.map(|operation| operation.op.name()),
            operands: operands.collect(),
            dims: self.dims.as_deref(),
            axis: self.axis,
            broadcast: self.broadcast,
            target: self.target.as_deref(),
            names: self.names.as_deref(),
        };
        serde_json::to_string(&line).expect("invariant: JSON has texts, numbers and lists")
    }
}

/// Small integers as an array of an element type of the kit.
fn array(dtype: DType, shape: Shape, elements: Vec<i64>) -> Array {
    let elements = elements.into_iter();
    let array = match dtype {
        DType::Bool => Array::new(shape, elements.map(|it| it != 0).collect::<Vec<bool>>()),
        DType::I32 => Array::new(shape, elements.map(|it| it as i32).collect::<Vec<i32>>()),
        _ => Array::new(shape, elements.map(|it| it as f32).collect::<Vec<f32>>()),
    };
    array.expect("invariant: the elements were counted")
}

fn elements(array: &Array) -> Box<RawValue> {
    let mut text = Vec::new();
    data::write_elements(array, &mut text).expect("invariant: writing to memory succeeds");
    let text = String::from_utf8(text).expect("invariant: JSON is written as UTF-8");
    RawValue::from_string(text).expect("invariant: it is a list")
}
