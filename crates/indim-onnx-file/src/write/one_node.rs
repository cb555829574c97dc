//! Models of a single node, for tests of other systems.

use bytes::Bytes;
use indim_graph::Array;
use indim_ops::{ArrayType, DType};
use prost::Message;

use super::model_writer::int_attribute;
use super::{IR_VERSION, value_info};
use crate::messages::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorTypeProto, TypeProto,
    ValueInfoProto,
};
use crate::types::number_of;

/// The IR version of models before opset 7, in which operators broadcast by an attribute.
const LEGACY_IR_VERSION: i64 = 3;

/// An ONNX node with inputs `x0`, `x1`, ... and the output `y`; its validity is not checked.
///
/// ```
/// use indim_model::ModelFormat;
/// use indim_onnx_file::OnnxNode;
/// use indim_ops::{ArrayType, DType};
///
/// let (a, b) = (ArrayType::new(DType::F32, [2, 3]), ArrayType::new(DType::F32, [2]));
/// let attributes = [("broadcast", 1), ("axis", 0)];
/// let node = OnnxNode {
///     operator: "Add",
///     opset: 6,
///     attributes: &attributes,
///     inputs: &[a, b],
///     list: None,
///     result: DType::F32,
/// };
/// assert_eq!(ModelFormat::of(&node.model()), Some(ModelFormat::Onnx));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OnnxNode<'a> {
    /// The operator.
    pub operator: &'a str,
    /// The operator set version.
    pub opset: i64,
    /// Integer attributes.
    pub attributes: &'a [(&'static str, i64)],
    /// Types of the inputs.
    pub inputs: &'a [ArrayType],
    /// Integers that the file stores as an additional last input, such as the shape of `Expand`.
    pub list: Option<&'a [i64]>,
    /// The element type of the output; the file does not state its shape.
    pub result: DType,
}

impl OnnxNode<'_> {
    /// Encodes a model of this node.
    pub fn model(&self) -> Vec<u8> {
        let inputs = self.inputs.iter().enumerate();
        let list = self.list.map(|_| "list".to_owned());
        let node = NodeProto {
            input: inputs.clone().map(|(index, _)| format!("x{index}")).chain(list).collect(),
            output: vec!["y".to_owned()],
            op_type: self.operator.to_owned(),
            attribute: self
                .attributes
                .iter()
                .map(|&(name, value)| int_attribute(name, value))
                .collect(),
            ..NodeProto::default()
        };
        let graph = GraphProto {
            node: vec![Bytes::from(node.encode_to_vec())],
            name: "case".to_owned(),
            initializer: self.list.map(list_tensor).into_iter().collect(),
            input: inputs.map(|(index, it)| value_info(&format!("x{index}"), it)).collect(),
            output: vec![of_any_shape("y", self.result)],
            value_info: Vec::new(),
            sparse_initializer: Vec::new(),
        };
        let is_legacy = self.opset < 7;
        let model = ModelProto {
            ir_version: if is_legacy { LEGACY_IR_VERSION } else { IR_VERSION },
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto { domain: String::new(), version: self.opset }],
            functions: Vec::new(),
        };
        model.encode_to_vec()
    }
}

fn list_tensor(numbers: &[i64]) -> Bytes {
    let array = Array::new([numbers.len()], numbers.to_vec());
    let array = array.expect("invariant: a list has as many elements as it has");
    let tensor = TensorProto {
        dims: vec![numbers.len() as i64],
        data_type: number_of(DType::I64),
        name: "list".to_owned(),
        raw_data: Some(Bytes::from(array.to_le_bytes())),
        ..TensorProto::default()
    };
    Bytes::from(tensor.encode_to_vec())
}

fn of_any_shape(name: &str, dtype: DType) -> Bytes {
    let tensor = TensorTypeProto { elem_type: number_of(dtype), shape: None };
    let declared = TypeProto { tensor_type: Some(tensor), ..TypeProto::default() };
    Bytes::from(ValueInfoProto { name: name.to_owned(), r#type: Some(declared) }.encode_to_vec())
}
