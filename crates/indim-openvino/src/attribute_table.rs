//! The table of attributes of each operation. OpenVINO ignores other attributes; indim ignores them too,
//! with a remark.

use indim_graph::terminal::printable;

use crate::layer::Layer;

/// Operations with windows over the spatial axes.
const WINDOWED: &str = "Convolution GroupConvolution ConvolutionBackpropData \
                        GroupConvolutionBackpropData AvgPool MaxPool";

/// Operations whose operands broadcast by a rule.
const BROADCASTING: &str = "Add Subtract Multiply Divide Maximum Minimum Power SquaredDifference Mod \
    FloorMod Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr LogicalXor Xor \
    BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift Select FakeQuantize";

/// Recurrent layers.
const RECURRENT: &str = "LSTMCell GRUCell RNNCell LSTMSequence GRUSequence RNNSequence";

/// Attributes and the operations that have them.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("element_type", "Parameter Const Constant"),
    ("shape", "Parameter Const Constant"),
    ("offset", "Const Constant"),
    ("size", "Const Constant"),
    ("auto_broadcast", BROADCASTING),
    ("auto_broadcast.auto_broadcast_axis", BROADCASTING),
    ("m_pythondiv", "Divide"),
    ("mode", "Broadcast Round TopK Interpolate DepthToSpace SpaceToDepth"),
    ("block_size", "DepthToSpace SpaceToDepth"),
    ("group", "ShuffleChannels"),
    ("causal", "ScaledDotProductAttention"),
    ("mode.mode.axis", "Broadcast"),
    ("mode.auto_broadcast_axis", "Broadcast"),
    ("destination_type", "Convert"),
    ("output_type", "ShapeOf Range SearchSorted"),
    ("detect_negative", "IsInf"),
    ("detect_positive", "IsInf"),
    ("min", "Clamp"),
    ("max", "Clamp"),
    ("alpha", "Elu LRN"),
    ("beta", "LRN"),
    ("bias", "LRN"),
    ("size", "LRN"),
    ("batch_axis", "ReverseSequence"),
    ("seq_axis", "ReverseSequence"),
    ("approximation_mode", "Gelu"),
    ("levels", "FakeQuantize"),
    (
        "keep_dims",
        "ReduceSum ReduceProd ReduceMax ReduceMin ReduceMean ReduceL1 ReduceL2 ReduceLogicalAnd \
         ReduceLogicalOr",
    ),
    ("axis", "SoftMax LogSoftmax Concat MaxPool GatherElements OneHot TopK ShuffleChannels"),
    ("reverse", "CumSum"),
    ("exclusive", "CumSum"),
    ("eps", "MVN NormalizeL2"),
    ("eps_mode", "MVN NormalizeL2"),
    ("normalize_variance", "MVN"),
    ("across_channels", "MVN"),
    ("reduction_axes", "MVN"),
    ("epsilon", "BatchNormInference"),
    ("special_zero", "Reshape"),
    ("allow_axis_skip", "Squeeze"),
    ("num_splits", "Split"),
    ("begin_mask", "StridedSlice"),
    ("end_mask", "StridedSlice"),
    ("new_axis_mask", "StridedSlice"),
    ("shrink_axis_mask", "StridedSlice"),
    ("ellipsis_mask", "StridedSlice"),
    ("pad_mode", "Pad"),
    ("shape_calculation_mode", "Interpolate"),
    ("coordinate_transformation_mode", "Interpolate"),
    ("nearest_mode", "Interpolate"),
    ("align_corners", "Interpolate"),
    ("antialias", "Interpolate"),
    ("cube_coeff", "Interpolate"),
    ("axes", "Interpolate"),
    ("batch_dims", "Gather GatherND"),
    ("transpose_a", "MatMul"),
    ("transpose_b", "MatMul"),
    ("equation", "Einsum"),
    ("strides", WINDOWED),
    ("dilations", WINDOWED),
    ("pads_begin", WINDOWED),
    ("pads_begin", "Interpolate"),
    ("pads_end", WINDOWED),
    ("pads_end", "Interpolate"),
    ("auto_pad", WINDOWED),
    ("output_padding", "ConvolutionBackpropData GroupConvolutionBackpropData"),
    ("kernel", "AvgPool MaxPool"),
    ("rounding_type", "AvgPool MaxPool"),
    ("exclude-pad", "AvgPool"),
    ("index_element_type", "MaxPool TopK"),
    ("sort", "TopK"),
    ("stable", "TopK"),
    ("right_mode", "SearchSorted"),
    ("negative_indices_mode", "OneHot"),
    ("reduction", "ScatterElementsUpdate ScatterNDUpdate"),
    ("use_init_val", "ScatterElementsUpdate"),
    ("hidden_size", RECURRENT),
    ("activations", RECURRENT),
    ("activations_alpha", RECURRENT),
    ("activations_beta", RECURRENT),
    ("clip", RECURRENT),
    ("direction", "LSTMSequence GRUSequence RNNSequence"),
    ("linear_before_reset", "GRUCell GRUSequence"),
    ("input_forget", "LSTMCell LSTMSequence"),
    ("weights_format", "LSTMCell LSTMSequence"),
];

fn is_known(layer: &Layer, attribute: &str) -> bool {
    let of_that = ATTRIBUTES.iter().filter(|(name, _)| *name == attribute);
    of_that.flat_map(|(_, operations)| operations.split_whitespace()).any(|name| layer.is(name))
}

/// The remark about layers with attributes that their operations lack.
pub(super) fn remark(layers: &[Layer]) -> Option<String> {
    let unknown = |layer: &Layer| {
        let mut names = layer.attributes.iter().map(|(name, _)| name.clone());
        names.find(|name| !is_known(layer, name))
    };
    let mut found = layers.iter().filter_map(|layer| Some((layer, unknown(layer)?)));
    let (first, name) = found.next()?;
    let (first, name) = (first.described(), printable(&name));
    Some(match found.count() {
        0 => format!("{first}: the operation has no attribute `{name}`, it is ignored"),
        count => format!(
            "{first}: the operation has no attribute `{name}`, it is ignored, as are such of {count} more"
        ),
    })
}
