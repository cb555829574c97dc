//! The table of attributes: the versions of each operator that have each attribute. Other attributes are
//! rejected, as ONNX's checker and ONNX Runtime reject them.

use indim_model::FormatErrorKind;

use crate::body::NodeAttributes;

/// An attribute, and the first and the last opset that have it.
struct AttributeVersions {
    first: i64,
    last: i64,
    name: &'static str,
}

impl AttributeVersions {
    fn is_of(&self, version: i64) -> bool {
        (self.first..=self.last).contains(&version)
    }
}

const fn between(first: i64, last: i64, name: &'static str) -> AttributeVersions {
    AttributeVersions { first, last, name }
}

const fn always(name: &'static str) -> AttributeVersions {
    between(1, i64::MAX, name)
}

const fn since(first: i64, name: &'static str) -> AttributeVersions {
    between(first, i64::MAX, name)
}

const fn up_to(last: i64, name: &'static str) -> AttributeVersions {
    between(1, last, name)
}

/// The attributes of each operator; operators without attributes are omitted.
#[rustfmt::skip]
const ATTRIBUTES: &[(&[&str], &[AttributeVersions])] = &[
    (&[
        "Abs", "Ceil", "Exp", "Floor", "Log", "Max", "Mean", "Min", "Neg", "PRelu", "Reciprocal", "Relu",
        "Sigmoid", "Sqrt", "Sum", "Tanh",
    ], &[
        up_to(5, "consumed_inputs"),
    ]),
    (&["Add", "Div", "Mul", "Sub"], &[up_to(6, "axis"), up_to(6, "broadcast"), up_to(5, "consumed_inputs")]),
    (&["And", "Equal", "Greater", "Less", "Or", "Pow", "Xor"], &[up_to(6, "axis"), up_to(6, "broadcast")]),
    (&["ArgMax", "ArgMin"], &[always("axis"), always("keepdims"), since(12, "select_last_index")]),
    (&["AveragePool"], &[
        always("auto_pad"), since(10, "ceil_mode"), since(7, "count_include_pad"), since(19, "dilations"),
        always("kernel_shape"), always("pads"), always("strides"),
    ]),
    (&["BatchNormalization"], &[
        up_to(5, "consumed_inputs"), always("epsilon"), up_to(6, "is_test"), always("momentum"),
        up_to(8, "spatial"), since(14, "training_mode"),
    ]),
    (&["BitCast"], &[always("to")]),
    (&["BitShift"], &[always("direction")]),
    (&["Cast"], &[since(24, "round_mode"), since(19, "saturate"), always("to")]),
    (&["CastLike"], &[since(24, "round_mode"), since(19, "saturate")]),
    (&["Celu"], &[always("alpha")]),
    (&["Clip"], &[up_to(5, "consumed_inputs"), up_to(10, "max"), up_to(10, "min")]),
    (&[
        "Concat", "Flatten", "Gather", "GatherElements", "Hardmax", "LogSoftmax", "OneHot", "Scatter",
        "Softmax",
    ], &[always("axis")]),
    (&["Constant"], &[
        since(11, "sparse_value"), always("value"), since(12, "value_float"), since(12, "value_floats"),
        since(12, "value_int"), since(12, "value_ints"), since(12, "value_string"),
        since(12, "value_strings"),
    ]),
    (&["ConstantOfShape"], &[always("value")]),
    (&["Conv", "ConvInteger", "QLinearConv"], &[
        always("auto_pad"), always("dilations"), always("group"), always("kernel_shape"), always("pads"),
        always("strides"),
    ]),
    (&["ConvTranspose"], &[
        always("auto_pad"), always("dilations"), always("group"), always("kernel_shape"),
        always("output_padding"), always("output_shape"), always("pads"), always("strides"),
    ]),
    (&["DFT"], &[up_to(19, "axis"), always("inverse"), always("onesided")]),
    (&["DequantizeLinear"], &[since(13, "axis"), since(21, "block_size"), since(23, "output_dtype")]),
    (&["CumProd", "CumSum"], &[always("exclusive"), always("reverse")]),
    (&["DepthToSpace"], &[always("blocksize"), since(11, "mode")]),
    (&["Dropout"],
        &[up_to(5, "consumed_inputs"), up_to(6, "is_test"), up_to(11, "ratio"), since(12, "seed")]),
    (&["Einsum"], &[always("equation")]),
    (&["Elu", "LeakyRelu"], &[always("alpha"), up_to(5, "consumed_inputs")]),
    (&["EyeLike"], &[always("dtype"), always("k")]),
    (&["GatherND"], &[since(12, "batch_dims")]),
    (&["Gelu"], &[always("approximate")]),
    (&["Gemm"], &[
        always("alpha"), always("beta"), up_to(6, "broadcast"), always("transA"), always("transB"),
    ]),
    (&["GroupNormalization"], &[always("epsilon"), always("num_groups"), since(21, "stash_type")]),
    (&["HardSigmoid"], &[always("alpha"), always("beta"), up_to(5, "consumed_inputs")]),
    (&["If"], &[always("else_branch"), always("then_branch")]),
    (&["InstanceNormalization"], &[up_to(5, "consumed_inputs"), always("epsilon")]),
    (&["IsInf"], &[always("detect_negative"), always("detect_positive")]),
    (&["GRU"], &[
        always("activation_alpha"), always("activation_beta"), always("activations"), always("clip"),
        always("direction"), always("hidden_size"), since(14, "layout"), since(3, "linear_before_reset"),
        up_to(6, "output_sequence"),
    ]),
    (&["LSTM"], &[
        always("activation_alpha"), always("activation_beta"), always("activations"), always("clip"),
        always("direction"), always("hidden_size"), always("input_forget"), since(14, "layout"),
        up_to(6, "output_sequence"),
    ]),
    (&["LayerNormalization"], &[always("axis"), always("epsilon"), always("stash_type")]),
    (&["Loop"], &[always("body")]),
    (&["LpNormalization"], &[always("axis"), always("p")]),
    (&["MaxPool"], &[
        always("auto_pad"), since(10, "ceil_mode"), since(10, "dilations"), always("kernel_shape"),
        always("pads"), since(8, "storage_order"), always("strides"),
    ]),
    (&["MeanVarianceNormalization"], &[always("axes")]),
    (&["Mod"], &[always("fmod")]),
    (&["Pad"], &[always("mode"), up_to(1, "paddings"), between(2, 10, "pads"), up_to(10, "value")]),
    (&["QuantizeLinear"], &[
        since(13, "axis"), since(21, "block_size"), since(21, "output_dtype"), since(23, "precision"),
        since(19, "saturate"),
    ]),
    (&["RNN"], &[
        always("activation_alpha"), always("activation_beta"), always("activations"), always("clip"),
        always("direction"), always("hidden_size"), since(14, "layout"), up_to(6, "output_sequence"),
    ]),
    (&["RMSNormalization"], &[always("axis"), always("epsilon"), always("stash_type")]),
    (&["Range"], &[since(27, "stash_type")]),
    (&[
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
        "ReduceProd", "ReduceSumSquare",
    ], &[
        up_to(17, "axes"), always("keepdims"), since(18, "noop_with_empty_axes"),
    ]),
    (&["ReduceSum"], &[up_to(12, "axes"), always("keepdims"), since(13, "noop_with_empty_axes")]),
    (&["Reshape"], &[since(14, "allowzero"), up_to(4, "consumed_inputs"), up_to(4, "shape")]),
    (&["Scan"], &[
        always("body"), up_to(8, "directions"), always("num_scan_inputs"), since(9, "scan_input_axes"),
        since(9, "scan_input_directions"), since(9, "scan_output_axes"),
        since(9, "scan_output_directions"),
    ]),
    (&["ScatterElements"], &[always("axis"), since(16, "reduction")]),
    (&["ScatterND"], &[since(16, "reduction")]),
    (&["Selu"], &[always("alpha"), up_to(5, "consumed_inputs"), always("gamma")]),
    (&["Shape"], &[since(15, "end"), since(15, "start")]),
    (&["Shrink"], &[always("bias"), always("lambd")]),
    (&["Slice"], &[up_to(9, "axes"), up_to(9, "ends"), up_to(9, "starts")]),
    (&["SpaceToDepth"], &[always("blocksize"), since(28, "mode")]),
    (&["Split"], &[always("axis"), since(18, "num_outputs"), up_to(12, "split")]),
    (&["Resize"], &[
        since(18, "antialias"), since(18, "axes"), since(11, "coordinate_transformation_mode"),
        since(11, "cubic_coeff_a"), since(11, "exclude_outside"), since(11, "extrapolation_value"),
        since(18, "keep_aspect_ratio_policy"), always("mode"), since(11, "nearest_mode"),
    ]),
    (&["Squeeze", "Unsqueeze"], &[up_to(12, "axes")]),
    (&["SwiGLU"], &[always("alpha")]),
    (&["Swish"], &[always("alpha")]),
    (&["ThresholdedRelu"], &[always("alpha")]),
    (&["TopK"], &[always("axis"), up_to(9, "k"), since(11, "largest"), since(11, "sorted")]),
    (&["Transpose"], &[always("perm")]),
    (&["AffineGrid"], &[always("align_corners")]),
    (&["Attention"], &[
        always("is_causal"), always("kv_num_heads"), since(25, "left_window_size"), always("q_num_heads"),
        always("qk_matmul_output_mode"), since(25, "right_window_size"), always("scale"), always("softcap"),
        always("softmax_precision"),
    ]),
    (&["BlackmanWindow", "HammingWindow", "HannWindow"], &[
        always("output_datatype"), always("periodic"),
    ]),
    (&["CenterCropPad"], &[always("axes")]),
    (&["Col2Im"], &[always("dilations"), always("pads"), always("strides")]),
    (&["GlobalLpPool"], &[always("p")]),
    (&["GridSample"], &[always("align_corners"), always("mode"), always("padding_mode")]),
    (&["LRN"], &[always("alpha"), always("beta"), always("bias"), always("size")]),
    (&["LpPool"], &[
        always("auto_pad"), since(18, "ceil_mode"), since(18, "dilations"), always("kernel_shape"),
        always("p"), always("pads"), always("strides"),
    ]),
    (&["MaxUnpool"], &[always("kernel_shape"), always("pads"), always("strides")]),
    (&["MelWeightMatrix"], &[always("output_datatype")]),
    (&["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"], &[
        always("ignore_index"), always("reduction"),
    ]),
    (&["ReverseSequence"], &[always("batch_axis"), always("time_axis")]),
    (&["RoiAlign"], &[
        since(16, "coordinate_transformation_mode"), always("mode"), always("output_height"),
        always("output_width"), always("sampling_ratio"), always("spatial_scale"),
    ]),
    (&["RotaryEmbedding"], &[
        always("interleaved"), always("num_heads"), always("rotary_embedding_dim"),
    ]),
    (&["TensorScatter"], &[always("axis"), always("mode")]),
    (&["Trilu"], &[always("upper")]),
    (&["Upsample"], &[
        up_to(6, "height_scale"), always("mode"), between(7, 8, "scales"), up_to(6, "width_scale"),
    ]),
];

/// # Errors
/// `attribute`: this version of the operator lacks an attribute; `duplicate`: an attribute occurs twice.
pub fn check(
    operator: &'static str,
    version: i64,
    attributes: &NodeAttributes,
) -> Result<(), FormatErrorKind> {
    let row = ATTRIBUTES.iter().find(|(operators, _)| operators.contains(&operator));
    let declared = row.map_or(&[][..], |(_, declared)| declared);
    for (position, (name, _)) in attributes.iter().enumerate() {
        // A name that begins with `__` is private to the program that wrote the file. The rule of ONNX's
        // reductions reports `axes` if they must be an operand.
        if name.starts_with("__") || name == "axes" && operator.starts_with("Reduce") {
            continue;
        }
        if attributes.iter().take(position).any(|(before, _)| before == name) {
            return Err(FormatErrorKind::Duplicate { what: "attribute", name: name.clone() });
        }
        if !declared.iter().any(|known| known.name == name && known.is_of(version)) {
            let why = why_unknown(name, version, declared);
            let problem = format!("is none of {operator} in version {version}{why}");
            return Err(FormatErrorKind::attribute(name, problem));
        }
    }
    Ok(())
}

/// The end of the error message: the first or last opset with the attribute, or else the attributes of
/// this version.
fn why_unknown(name: &str, version: i64, declared: &[AttributeVersions]) -> String {
    match declared.iter().find(|known| known.name == name) {
        Some(once) if once.last < version => format!(": it was up to opset {}", once.last),
        Some(once) => format!(": it came with opset {}", once.first),
        None => {
            let has = declared.iter().filter(|known| known.is_of(version));
            let names: Vec<&str> = has.map(|known| known.name).collect();
            match names.is_empty() {
                true => String::new(),
                false => format!(", which has {}", names.join(", ")),
            }
        }
    }
}
