//! The protobuf messages of `*.hlo.pb`, with the numbers of their fields.
//!
//! The decoder skips all other fields. Modules, computations, instructions, types and literals stay encoded
//! as bytes, so that they count against limits before they are decoded; these bytes share the memory of the
//! file.

use bytes::Bytes;

/// A dump of XLA: a module and notes of its compiler.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HloProto {
    /// Encoded [`HloModuleProto`].
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub(super) hlo_module: Option<Bytes>,
}

/// A program; callees come before their callers.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HloModuleProto {
    #[prost(string, tag = "2")]
    pub(super) entry_computation_name: String,
    /// Encoded [`HloComputationProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub(super) computations: Vec<Bytes>,
    #[prost(int64, tag = "6")]
    pub(super) entry_computation_id: i64,
}

/// A computation; operands come before their uses.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HloComputationProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    /// Encoded [`HloInstructionProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(super) instructions: Vec<Bytes>,
    #[prost(int64, tag = "5")]
    pub(super) id: i64,
    #[prost(int64, tag = "6")]
    pub(super) root_id: i64,
}

/// An instruction, with the fields of all opcodes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HloInstructionProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) opcode: String,
    /// Encoded [`ShapeProto`].
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub(super) shape: Option<Bytes>,
    #[prost(message, optional, tag = "7")]
    pub(super) metadata: Option<OpMetadata>,
    /// Encoded [`LiteralProto`].
    #[prost(bytes = "bytes", optional, tag = "8")]
    pub(super) literal: Option<Bytes>,
    #[prost(int64, tag = "9")]
    pub(super) parameter_number: i64,
    #[prost(int64, tag = "13")]
    pub(super) tuple_index: i64,
    #[prost(int64, repeated, tag = "14")]
    pub(super) dimensions: Vec<i64>,
    #[prost(message, optional, tag = "15")]
    pub(super) window: Option<Window>,
    #[prost(message, optional, tag = "16")]
    pub(super) convolution_dimension_numbers: Option<ConvolutionDimensionNumbers>,
    #[prost(message, repeated, tag = "17")]
    pub(super) slice_dimensions: Vec<SliceDimensions>,
    #[prost(int32, tag = "18")]
    pub(super) exponent_bits: i32,
    #[prost(int32, tag = "19")]
    pub(super) mantissa_bits: i32,
    #[prost(int64, repeated, tag = "20")]
    pub(super) dynamic_slice_sizes: Vec<i64>,
    #[prost(message, optional, tag = "21")]
    pub(super) padding_config: Option<PaddingConfig>,
    #[prost(string, tag = "28")]
    pub(super) custom_call_target: String,
    #[prost(message, optional, tag = "30")]
    pub(super) dot_dimension_numbers: Option<DotDimensionNumbers>,
    #[prost(int32, tag = "31")]
    pub(super) fft_type: i32,
    #[prost(int64, repeated, tag = "32")]
    pub(super) fft_length: Vec<i64>,
    #[prost(message, optional, tag = "33")]
    pub(super) gather_dimension_numbers: Option<GatherDimensionNumbers>,
    #[prost(int64, repeated, tag = "34")]
    pub(super) gather_slice_sizes: Vec<i64>,
    #[prost(int64, tag = "35")]
    pub(super) id: i64,
    #[prost(int64, repeated, tag = "36")]
    pub(super) operand_ids: Vec<i64>,
    #[prost(int64, repeated, tag = "38")]
    pub(super) called_computation_ids: Vec<i64>,
    #[prost(message, optional, tag = "48")]
    pub(super) scatter_dimension_numbers: Option<ScatterDimensionNumbers>,
    #[prost(int64, tag = "50")]
    pub(super) feature_group_count: i64,
    #[prost(message, optional, tag = "51")]
    pub(super) precision_config: Option<PrecisionConfig>,
    #[prost(int64, tag = "58")]
    pub(super) batch_group_count: i64,
    #[prost(string, tag = "63")]
    pub(super) comparison_direction: String,
    #[prost(string, tag = "72")]
    pub(super) comparison_type: String,
}

/// The dimension numbers of a `dot`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DotDimensionNumbers {
    #[prost(int64, repeated, tag = "1")]
    pub(super) lhs_contracting_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) rhs_contracting_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "3")]
    pub(super) lhs_batch_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "4")]
    pub(super) rhs_batch_dimensions: Vec<i64>,
}

/// The axes of the operand, kernel and result of a `convolution`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ConvolutionDimensionNumbers {
    #[prost(int64, tag = "3")]
    pub(super) kernel_input_feature_dimension: i64,
    #[prost(int64, tag = "4")]
    pub(super) kernel_output_feature_dimension: i64,
    #[prost(int64, repeated, tag = "6")]
    pub(super) kernel_spatial_dimensions: Vec<i64>,
    #[prost(int64, tag = "7")]
    pub(super) input_batch_dimension: i64,
    #[prost(int64, tag = "8")]
    pub(super) input_feature_dimension: i64,
    #[prost(int64, tag = "9")]
    pub(super) output_batch_dimension: i64,
    #[prost(int64, tag = "10")]
    pub(super) output_feature_dimension: i64,
    #[prost(int64, repeated, tag = "11")]
    pub(super) input_spatial_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "12")]
    pub(super) output_spatial_dimensions: Vec<i64>,
}

/// The precision of a `dot`; only the number of its algorithm is read, 0 for none.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PrecisionConfig {
    #[prost(int32, tag = "2")]
    pub(super) algorithm: i32,
}

/// The dimension numbers of a `scatter`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ScatterDimensionNumbers {
    #[prost(int64, repeated, tag = "1")]
    pub(super) update_window_dims: Vec<i64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) inserted_window_dims: Vec<i64>,
    #[prost(int64, repeated, tag = "3")]
    pub(super) scatter_dims_to_operand_dims: Vec<i64>,
    #[prost(int64, tag = "4")]
    pub(super) index_vector_dim: i64,
    #[prost(int64, repeated, tag = "5")]
    pub(super) input_batching_dims: Vec<i64>,
    #[prost(int64, repeated, tag = "6")]
    pub(super) scatter_indices_batching_dims: Vec<i64>,
}

/// The dimension numbers of a `gather`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GatherDimensionNumbers {
    #[prost(int64, repeated, tag = "1")]
    pub(super) offset_dims: Vec<i64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) collapsed_slice_dims: Vec<i64>,
    #[prost(int64, repeated, tag = "3")]
    pub(super) start_index_map: Vec<i64>,
    #[prost(int64, tag = "4")]
    pub(super) index_vector_dim: i64,
    #[prost(int64, repeated, tag = "5")]
    pub(super) operand_batching_dims: Vec<i64>,
    #[prost(int64, repeated, tag = "6")]
    pub(super) start_indices_batching_dims: Vec<i64>,
}

/// Metadata of an instruction: only the user's name of a parameter is used.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OpMetadata {
    #[prost(string, tag = "2")]
    pub(super) op_name: String,
}

/// The range of a `slice` along one axis.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct SliceDimensions {
    #[prost(int64, tag = "1")]
    pub(super) start: i64,
    #[prost(int64, tag = "2")]
    pub(super) limit: i64,
    #[prost(int64, tag = "3")]
    pub(super) stride: i64,
}

/// The window of a `reduce-window` or a `convolution`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Window {
    #[prost(message, repeated, tag = "1")]
    pub(super) dimensions: Vec<WindowDimension>,
}

/// The window along one axis.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct WindowDimension {
    #[prost(int64, tag = "1")]
    pub(super) size: i64,
    #[prost(int64, tag = "2")]
    pub(super) stride: i64,
    #[prost(int64, tag = "3")]
    pub(super) padding_low: i64,
    #[prost(int64, tag = "4")]
    pub(super) padding_high: i64,
    #[prost(int64, tag = "5")]
    pub(super) window_dilation: i64,
    #[prost(int64, tag = "6")]
    pub(super) base_dilation: i64,
    #[prost(bool, tag = "7")]
    pub(super) window_reversal: bool,
}

/// The padding of a `pad`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PaddingConfig {
    #[prost(message, repeated, tag = "1")]
    pub(super) dimensions: Vec<PaddingConfigDimension>,
}

/// The padding of a `pad` along one axis.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PaddingConfigDimension {
    #[prost(int64, tag = "1")]
    pub(super) edge_padding_low: i64,
    #[prost(int64, tag = "2")]
    pub(super) edge_padding_high: i64,
    #[prost(int64, tag = "3")]
    pub(super) interior_padding: i64,
}

/// A type.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ShapeProto {
    #[prost(int32, tag = "2")]
    pub(super) element_type: i32,
    #[prost(int64, repeated, tag = "3")]
    pub(super) dimensions: Vec<i64>,
    /// Encoded [`ShapeProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "4")]
    pub(super) tuple_shapes: Vec<Bytes>,
    #[prost(message, optional, tag = "5")]
    pub(super) layout: Option<LayoutProto>,
    #[prost(bool, repeated, tag = "6")]
    pub(super) is_dynamic_dimension: Vec<bool>,
}

/// The layout of the elements in memory.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct LayoutProto {
    #[prost(int64, repeated, tag = "1")]
    pub(super) minor_to_major: Vec<i64>,
    /// Only the presence of tiles is read.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub(super) tiles: Vec<Bytes>,
    #[prost(int64, tag = "7")]
    pub(super) element_size_in_bits: i64,
    #[prost(int64, tag = "8")]
    pub(super) memory_space: i64,
}

/// The elements of a constant, in the order of its own layout.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct LiteralProto {
    /// Encoded [`ShapeProto`].
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub(super) shape: Option<Bytes>,
    #[prost(bool, repeated, tag = "2")]
    pub(super) preds: Vec<bool>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(super) u8s: Bytes,
    #[prost(int32, repeated, tag = "4")]
    pub(super) s32s: Vec<i32>,
    #[prost(int64, repeated, tag = "5")]
    pub(super) s64s: Vec<i64>,
    #[prost(uint32, repeated, tag = "6")]
    pub(super) u32s: Vec<u32>,
    #[prost(uint64, repeated, tag = "7")]
    pub(super) u64s: Vec<u64>,
    #[prost(float, repeated, tag = "8")]
    pub(super) f32s: Vec<f32>,
    #[prost(double, repeated, tag = "9")]
    pub(super) f64s: Vec<f64>,
    /// Encoded [`LiteralProto`]s.
    #[prost(bytes = "bytes", repeated, tag = "10")]
    pub(super) tuple_literals: Vec<Bytes>,
    #[prost(bytes = "bytes", tag = "11")]
    pub(super) f16s: Bytes,
    /// Alternating real and imaginary parts.
    #[prost(float, repeated, tag = "12")]
    pub(super) c64s: Vec<f32>,
    #[prost(bytes = "bytes", tag = "13")]
    pub(super) bf16s: Bytes,
    #[prost(bytes = "bytes", tag = "15")]
    pub(super) s8s: Bytes,
    #[prost(bytes = "bytes", tag = "16")]
    pub(super) u16s: Bytes,
    #[prost(bytes = "bytes", tag = "17")]
    pub(super) s16s: Bytes,
    /// Alternating real and imaginary parts.
    #[prost(double, repeated, tag = "18")]
    pub(super) c128s: Vec<f64>,
    #[prost(bytes = "bytes", tag = "19")]
    pub(super) f8e5m2s: Bytes,
    #[prost(bytes = "bytes", tag = "20")]
    pub(super) f8e4m3fns: Bytes,
    /// One byte for each element.
    #[prost(bytes = "bytes", tag = "21")]
    pub(super) s4s: Bytes,
    /// One byte for each element.
    #[prost(bytes = "bytes", tag = "22")]
    pub(super) u4s: Bytes,
    #[prost(bytes = "bytes", tag = "23")]
    pub(super) f8e4m3b11fnuzs: Bytes,
    #[prost(bytes = "bytes", tag = "24")]
    pub(super) f8e5m2fnuzs: Bytes,
    #[prost(bytes = "bytes", tag = "25")]
    pub(super) f8e4m3fnuzs: Bytes,
}
