//! The protobuf messages of ONNX, with the numbers of their fields.
//!
//! The decoder skips fields that are not declared here. Large repeated messages (nodes, functions,
//! tensors) stay encoded as bytes, so that they count against limits before they are decoded; these bytes
//! share the memory of the file.

use bytes::Bytes;

/// A model: a graph, its operator sets, and its functions.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ModelProto {
    #[prost(int64, tag = "1")]
    pub(super) ir_version: i64,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
    /// Encoded [`FunctionProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "25")]
    pub(super) functions: Vec<Bytes>,
}

/// The operator set version of a domain.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

/// A graph; its nodes are in topological order.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GraphProto {
    /// Encoded [`NodeProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(super) node: Vec<Bytes>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    /// Encoded [`TensorProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub(super) initializer: Vec<Bytes>,
    /// Encoded [`ValueInfoProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "11")]
    pub(super) input: Vec<Bytes>,
    /// Encoded [`ValueInfoProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "12")]
    pub(super) output: Vec<Bytes>,
    /// Encoded [`ValueInfoProto`]s of other values.
    #[prost(bytes = "bytes", repeated, tag = "13")]
    pub(super) value_info: Vec<Bytes>,
    /// Only the presence of sparse constants is read.
    #[prost(bytes = "bytes", repeated, tag = "15")]
    pub(super) sparse_initializer: Vec<Bytes>,
}

/// An operation or a call of a function.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
    #[prost(string, tag = "8")]
    pub(super) overload: String,
}

/// An attribute of a node: a value, or a reference to an attribute of the enclosing function.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AttributeProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub(super) s: Option<Bytes>,
    #[prost(message, optional, tag = "5")]
    pub(super) t: Option<TensorProto>,
    /// An encoded [`GraphProto`].
    #[prost(bytes = "bytes", optional, tag = "6")]
    pub(super) g: Option<Bytes>,
    #[prost(float, repeated, tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub(super) strings: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "11")]
    pub(super) graphs: Vec<Bytes>,
    #[prost(int32, tag = "20")]
    pub(super) r#type: i32,
    #[prost(string, tag = "21")]
    pub(super) ref_attr_name: String,
}

/// An array.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(message, optional, tag = "3")]
    pub(super) segment: Option<Segment>,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub(super) raw_data: Option<Bytes>,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(super) uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<StringStringEntryProto>,
    #[prost(int32, tag = "14")]
    pub(super) data_location: i32,
}

/// A segment of an array that is stored in segments.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Segment {}

/// A key and its value.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StringStringEntryProto {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// Name and type of an input or an output.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) r#type: Option<TypeProto>,
}

/// A type: a tensor type, or a type that the reader does not support.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor_type: Option<TensorTypeProto>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub(super) sequence_type: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub(super) map_type: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "8")]
    pub(super) sparse_tensor_type: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub(super) optional_type: Option<Bytes>,
}

/// A type of arrays.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorTypeProto {
    #[prost(int32, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
}

/// The sizes of the axes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<DimensionProto>,
}

/// The size of an axis: a number, a name, or unknown.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DimensionProto {
    #[prost(int64, optional, tag = "1")]
    pub(super) dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) dim_param: Option<String>,
}

/// A function: nodes over its inputs and attributes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FunctionProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, repeated, tag = "4")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) output: Vec<String>,
    /// Names of the attributes without a default.
    #[prost(string, repeated, tag = "6")]
    pub(super) attribute: Vec<String>,
    /// Encoded [`NodeProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "7")]
    pub(super) node: Vec<Bytes>,
    #[prost(message, repeated, tag = "9")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
    #[prost(string, tag = "10")]
    pub(super) domain: String,
    /// The attributes with a default.
    #[prost(message, repeated, tag = "11")]
    pub(super) attribute_proto: Vec<AttributeProto>,
    #[prost(string, tag = "13")]
    pub(super) overload: String,
}
