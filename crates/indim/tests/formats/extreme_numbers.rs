//! Extreme sizes and attributes in models of every format: each model gives a program or an error.
//!
//! In the templates `#` stands for a number, `$` for the size of an axis, `@` for the name of a padding.

use crate::support::ir::{self, Network};
use crate::support::onnx::{self, Message, Model as OnnxModel};
use crate::support::random::Random;
use crate::support::{self, bounds_of_declared};
use indim::formats::{
    FormatError, LintOptions, LintReport, Model, ModelFormat, ModelProgram, SourceFile,
    WriteOptions, write,
};
use indim_graph::{Node, NodeKind};

/// Numbers at limits; the first ones can be sizes.
const EXTREMES: [i64; 10] =
    [0, 1 << 24, 1 << 31, 1 << 40, 1 << 62, i64::MAX - 1, i64::MAX, -1, i64::MIN, i64::MIN + 1];
const SIZES: usize = 7;

/// Models of each template.
const CASES: usize = 150;

/// A template with numbers. Most are small, so that the check of one seldom hides what another one does.
fn filled(template: &str, random: &mut Random, paddings: &[&str]) -> String {
    let mut text = String::new();
    for part in template.chars() {
        match part {
            '#' | '$' if random.below(5) < 3 => text.push_str(&(1 + random.below(3)).to_string()),
            '#' => text.push_str(&EXTREMES[random.below(EXTREMES.len())].to_string()),
            '$' => text.push_str(&EXTREMES[random.below(SIZES)].to_string()),
            '@' => text.push_str(paddings[random.below(paddings.len())]),
            _ => text.push(part),
        }
    }
    text
}

fn integers(list: &str) -> Vec<i64> {
    list.split(',')
        .filter(|number| !number.is_empty())
        .map(|number| number.parse().unwrap())
        .collect()
}

/// Maximum elements of the constants of programs that are written: texts of many numbers take long.
const MAX_WRITTEN: usize = 1000;

/// Builds a model for its declared types, and writes it in every format.
fn build_and_write(model: Result<Box<dyn Model>, FormatError>) {
    let program = model.and_then(|model| model.build(&bounds_of_declared(&*model)));
    let Ok(ModelProgram { graph, outputs, .. }) = program else { return };
    let is_large = |node: &Node| match &node.kind {
        NodeKind::Constant(array) => array.element_count() > MAX_WRITTEN,
        _ => false,
    };
    if graph.iter().any(|(_, node)| is_large(node)) {
        return;
    }
    for format in
        [ModelFormat::StableHlo, ModelFormat::Hlo, ModelFormat::OpenVino, ModelFormat::Onnx]
    {
        let _ = write(format, &graph, &outputs, &WriteOptions::new());
    }
}

/// Builds and writes a model, and looks for findings in it.
fn build(name: &str, content: impl AsRef<[u8]>) {
    let source = SourceFile::new(name, content.as_ref().to_vec());
    let _ = LintReport::new(source, &LintOptions::default());
    build_and_write(support::read(name, content));
}

const WINDOW: &str = "strides=\"#\" dilations=\"#\" pads_begin=\"#\" pads_end=\"#\" auto_pad=\"@\"";

/// Operations of OpenVINO: attributes, then operands. `i:` begins a constant list of integers.
const OPENVINO: &[(&str, &str, &[&str])] = &[
    ("Convolution-1", WINDOW, &["$,2,$", "2,2,$"]),
    ("GroupConvolution-1", WINDOW, &["$,2,$", "$,$,$,$"]),
    ("ConvolutionBackpropData-1", "strides=\"1099511627776\"", &["1,1,16777216", "1,1,1"]),
    ("ConvolutionBackpropData-1", "output_padding=\"#\"", &["1,2,$", "2,2,$"]),
    ("ConvolutionBackpropData-1", "output_padding=\"#\"", &["1,2,$", "2,2,$", "i:#"]),
    ("GroupConvolutionBackpropData-1", "output_padding=\"#\"", &["$,2,$", "$,$,$,$"]),
    ("AvgPool-1", "kernel=\"#\" rounding_type=\"ceil\" exclude-pad=\"true\"", &["$,$,$"]),
    ("AvgPool-1", "kernel=\"#\" rounding_type=\"ceil_torch\" exclude-pad=\"false\"", &["$,$,$"]),
    ("MaxPool-1", "kernel=\"#\" rounding_type=\"ceil_torch\"", &["$,$,$"]),
    ("MaxPool-1", "kernel=\"#\" rounding_type=\"floor\"", &["$,$,$"]),
    ("MaxPool-8", "kernel=\"#\" rounding_type=\"ceil\" axis=\"#\"", &["$,$,$"]),
    ("Reshape-1", "special_zero=\"true\"", &["$,$", "i:#,#,#"]),
    ("Squeeze-1", "", &["$,$", "i:#"]),
    ("Unsqueeze-1", "", &["$,$", "i:#"]),
    ("Transpose-1", "", &["$,$", "i:#,#"]),
    ("Broadcast-3", "mode=\"numpy\"", &["$,$", "i:#,#"]),
    ("Broadcast-3", "mode=\"bidirectional\"", &["$,$", "i:#,#"]),
    ("Broadcast-3", "mode=\"explicit\"", &["$,$", "i:#,#", "i:#,#"]),
    ("Split-1", "num_splits=\"#\"", &["$,$", "i:#"]),
    ("VariadicSplit-1", "", &["$,$", "i:#", "i:#"]),
    ("Slice-8", "", &["$,$", "i:#", "i:#", "i:#", "i:#"]),
    ("Slice-8", "", &["$,$", "i:#,#", "i:#,#", "i:#,#"]),
    ("StridedSlice-1", "begin_mask=\"#\" shrink_axis_mask=\"#\"", &["$,$", "i:#", "i:#", "i:#"]),
    ("StridedSlice-1", "begin_mask=\"0\" end_mask=\"0\"", &["$,$", "i:#,#", "i:#,#", "i:#,#"]),
    ("Pad-1", "pad_mode=\"constant\"", &["$,$", "i:#,#", "i:#,#"]),
    ("Pad-12", "pad_mode=\"constant\"", &["$,$", "i:#,#", "i:#,#"]),
    ("Pad-1", "pad_mode=\"reflect\"", &["$,$", "i:#,#", "i:#,#"]),
    ("Pad-1", "pad_mode=\"edge\"", &["$,$", "i:#,#", "i:#,#"]),
    (
        "Interpolate-11",
        "mode=\"cubic\" shape_calculation_mode=\"sizes\" pads_begin=\"#\"",
        &["$,$", "i:#,#", "i:#,#"],
    ),
    ("LRN-1", "alpha=\"1\" beta=\"1\" bias=\"1\" size=\"#\"", &["$,$", "i:#"]),
    ("ReverseSequence-1", "batch_axis=\"#\" seq_axis=\"#\"", &["$,$", "u:$"]),
    ("Interpolate-1", "mode=\"nearest\" axes=\"#\"", &["$,$", "i:#"]),
    ("Tile-1", "", &["$,$", "i:#,#"]),
    ("DepthToSpace-1", "mode=\"blocks_first\" block_size=\"#\"", &["$,$,$,$"]),
    ("SpaceToDepth-1", "mode=\"depth_first\" block_size=\"#\"", &["$,$,$,$"]),
    ("ShuffleChannels-1", "axis=\"#\" group=\"#\"", &["$,$,$"]),
    ("Gather-7", "batch_dims=\"#\"", &["$,$", "u:$,$", "i:#"]),
    ("Gather-8", "batch_dims=\"#\"", &["$,$", "u:$,$", "i:#"]),
    ("Gather-8", "batch_dims=\"#\"", &["$,$", "i:#", "i:#"]),
    ("GatherElements-6", "axis=\"#\"", &["$,$", "u:$,$"]),
    ("GatherND-5", "batch_dims=\"#\"", &["$,$,$", "u:$,$,$"]),
    ("GatherND-5", "batch_dims=\"2\"", &["$,$,$", "u:$,$,1"]),
    ("GatherND-8", "batch_dims=\"#\"", &["$,$,$", "u:$,$,$"]),
    ("OneHot-1", "axis=\"#\"", &["u:$,$", "i:#", "i:1", "i:0"]),
    ("ScatterUpdate-3", "", &["$,$", "u:$", "$,$", "i:#"]),
    ("ScatterElementsUpdate-12", "reduction=\"mean\"", &["$,$", "u:$,$", "$,$", "i:#"]),
    ("ScatterNDUpdate-15", "reduction=\"sum\"", &["$,$", "u:$,$", "$,$"]),
    ("TopK-11", "axis=\"#\" mode=\"max\" sort=\"index\"", &["$,$", "i:#"]),
    ("SearchSorted-15", "right_mode=\"true\"", &["$,$", "$,$"]),
    ("CumSum-3", "", &["$,$", "i:#"]),
    ("ReduceSum-1", "keep_dims=\"true\"", &["$,$", "i:#,#"]),
    ("ReduceMean-1", "keep_dims=\"false\"", &["$,$", "i:#,#"]),
    ("SoftMax-1", "axis=\"#\"", &["$,$"]),
    (
        "MVN-6",
        "eps=\"0.1\" eps_mode=\"inside_sqrt\" normalize_variance=\"true\"",
        &["$,$", "i:#,#"],
    ),
    ("Concat-1", "axis=\"#\"", &["$,$", "$,$"]),
    ("MatMul-1", "transpose_a=\"true\"", &["$,$,$", "$,$,$"]),
    ("Range-4", "output_type=\"i64\"", &["i:#", "i:#", "i:#"]),
    ("LSTMCell-4", "hidden_size=\"#\"", &["$,$", "$,$", "$,$", "$,$", "$,$", "$"]),
    ("GRUCell-3", "linear_before_reset=\"true\"", &["$,$", "$,$", "$,$", "$,$", "$"]),
    ("GRUSequence-5", "direction=\"reverse\"", &["$,$,$", "$,$,$", "u:$", "$,$,$", "$,$,$", "$,$"]),
    ("RNNSequence-5", "clip=\"#\"", &["$,$,$", "1,1,1", "u:$", "1,1,1", "1,1,1", "1,1"]),
];

#[test]
fn openvino_networks_with_extreme_numbers() {
    let random = &mut Random(1);
    let paddings = ["explicit", "same_upper", "same_lower", "valid"];
    for &(name, attributes, operands) in OPENVINO {
        for _ in 0..CASES {
            let dtype = random.below(3);
            let mut network = Network::default();
            let mut sources = Vec::new();
            for operand in operands {
                let filled = filled(operand, random, &paddings);
                let (kind, shape) = filled.split_once(':').unwrap_or(("", &filled));
                let (dtype, port) = match (kind, dtype) {
                    ("u", _) => ("i64", "I64"),
                    (_, 0) => ("u8", "U8"),
                    _ => ("f32", "FP32"),
                };
                let port = format!("{port} {}", shape.replace(',', " "));
                let source = match kind {
                    "i" => network.integers(&integers(shape)),
                    _ => network.parameter(dtype, shape, &port),
                };
                sources.push(source.to_string());
            }
            let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
            let attributes =
                match attributes.contains("kernel") || attributes.contains("output_padding") {
                    true => format!("{attributes} {WINDOW}"),
                    false => attributes.to_owned(),
                };
            let attributes = filled(&attributes, random, &paddings);
            let results: &[&str] = match name {
                "TopK-11" | "Split-1" | "MaxPool-8" => &["FP32", "I64"],
                _ => &["FP32"],
            };
            let id = network.add(name, &attributes, &sources, results);
            network.result(&format!("{id}:{}", sources.len()));
            let _ = LintReport::new(
                ir::source(&network.text(), &network.constants),
                &LintOptions::default(),
            );
            build_and_write(network.read());
        }
    }
}

/// Operators of ONNX: attributes, then operands. `=` begins a list of integers, `:` a single one.
const ONNX: &[(&str, i64, &str, &[&str])] = &[
    ("Conv", 22, "strides=# dilations=# pads=#,# group:# auto_pad@", &["$,$,$", "$,$,$"]),
    ("Conv", 22, "kernel_shape=# dilations=#", &["$,2,$", "2,2,$"]),
    ("ConvInteger", 10, "strides=# dilations=# pads=#,# auto_pad@", &["8:$,2,$", "8:2,2,$"]),
    (
        "ConvTranspose",
        22,
        "strides=# dilations=# pads=#,# group:# output_padding=#",
        &["$,2,$", "2,$,$"],
    ),
    ("ConvTranspose", 22, "strides=# output_shape=# auto_pad@", &["$,2,$", "2,2,$"]),
    ("ConvTranspose", 22, "strides=# auto_pad@", &["$,2,$", "2,2,$"]),
    ("ConvTranspose", 22, "strides=1099511627776 auto_pad@", &["1,1,16777216", "1,1,1"]),
    ("AveragePool", 22, "kernel_shape=3 pads=1,1", &["1,1,1099511627776"]),
    ("AveragePool", 22, "kernel_shape=# strides=# pads=#,# dilations=# ceil_mode:1", &["$,$,$"]),
    ("AveragePool", 22, "kernel_shape=# strides=# auto_pad@ count_include_pad:1", &["$,$,$"]),
    ("MaxPool", 22, "kernel_shape=# strides=# pads=#,# dilations=# ceil_mode:1", &["8:$,$,$"]),
    ("MaxPool", 22, "kernel_shape=# strides=# auto_pad@", &["8:$,$,$"]),
    ("MaxPool", 22, "kernel_shape=4 strides=# pads=#,# ceil_mode:1", &["$,$,$"]),
    ("RoiAlign", 22, "output_height:# output_width:# sampling_ratio:#", &["$,$,$,$", "$,4", "7:$"]),
    ("RoiAlign", 10, "mode~max", &["$,$,$,$", "$,$", "7:$"]),
    ("Det", 22, "", &["$,$,$"]),
    ("MelWeightMatrix", 17, "output_datatype:#", &["i:#", "i:#", "i:#", "1", "1"]),
    ("LpPool", 22, "kernel_shape=# strides=# pads=#,# p:#", &["$,$,$"]),
    ("GlobalLpPool", 22, "p:#", &["$,$,$"]),
    ("LRN", 13, "size:#", &["$,$,$"]),
    ("MaxUnpool", 22, "kernel_shape=# strides=# pads=#,#", &["$,$,$", "7:$,$,$"]),
    ("Attention", 23, "q_num_heads:# kv_num_heads:#", &["$,$,$", "$,$,$", "$,$,$"]),
    ("Attention", 25, "is_causal:1 left_window_size:#", &["$,$,$,$", "$,$,$,$", "$,$,$,$"]),
    ("RotaryEmbedding", 23, "num_heads:# rotary_embedding_dim:#", &["$,$,$", "$,$,$", "$,$,$"]),
    ("TensorScatter", 24, "axis:#", &["$,$,$", "$,$,$", "7:$"]),
    ("NegativeLogLikelihoodLoss", 22, "ignore_index:#", &["$,$,$", "7:$,$", "$"]),
    ("ReverseSequence", 10, "batch_axis:# time_axis:#", &["$,$", "7:$"]),
    ("CenterCropPad", 18, "axes=#", &["$,$", "i:#"]),
    ("HannWindow", 17, "output_datatype:#", &["i:#"]),
    ("AffineGrid", 20, "", &["$,2,3", "i:#,#,#,#"]),
    ("GridSample", 20, "align_corners:#", &["$,$,$,$", "$,$,$,2"]),
    ("GridSample", 20, "", &["0,1,1,1", "0,1099511627776,1099511627776,2"]),
    (
        "GridSample",
        20,
        "",
        &["1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,14"],
    ),
    ("Col2Im", 18, "strides=# dilations=# pads=#,#", &["$,$,$", "i:#", "i:#"]),
    ("Resize", 18, "antialias:1", &["$,$", "i:", "i:", "i:#,#"]),
    ("Resize", 18, "", &["1,1099511627776", "i:", "i:", "i:#,1099511627776"]),
    ("Resize", 19, "axes=#,#", &["$,$", "i:", "i:", "i:#,#"]),
    ("Reshape", 13, "allowzero:#", &["$,$", "i:#,#,#"]),
    ("Flatten", 13, "axis:#", &["$,$,$"]),
    ("Squeeze", 13, "", &["$,$", "i:#"]),
    ("Unsqueeze", 13, "", &["$,$", "i:#"]),
    ("Expand", 13, "", &["$,$", "i:#,#"]),
    ("Tile", 13, "", &["$,$", "i:#,#"]),
    ("Slice", 13, "", &["$,$", "i:#", "i:#", "i:#", "i:#"]),
    ("Slice", 1, "starts=#,# ends=#,#", &["$,$"]),
    ("Split", 18, "axis:# num_outputs:#", &["$,$"]),
    ("Split", 13, "axis:#", &["$,$", "i:#,#"]),
    ("Pad", 18, "", &["$,$", "i:#,#,#,#"]),
    ("Pad", 2, "pads=#,#,#,#", &["$,$"]),
    ("DepthToSpace", 13, "blocksize:#", &["$,$,$,$"]),
    ("SpaceToDepth", 13, "blocksize:#", &["$,$,$,$"]),
    ("Gather", 13, "axis:#", &["$,$", "7:$,$"]),
    ("Gather", 13, "axis:#", &["$,$", "i:#"]),
    ("GatherElements", 13, "axis:#", &["$,$", "7:$,$"]),
    ("GatherND", 13, "batch_dims:#", &["$,$,$", "7:$,$,$"]),
    ("ScatterElements", 18, "axis:#", &["$,$", "7:$,$", "$,$"]),
    ("ScatterND", 18, "", &["$,$", "7:$,$", "$,$"]),
    ("OneHot", 11, "axis:#", &["7:$,$", "i:#", "$"]),
    ("TopK", 11, "axis:#", &["$,$", "i:#"]),
    ("Trilu", 14, "upper:#", &["$,$", "i:#"]),
    ("EyeLike", 9, "k:#", &["$,$"]),
    ("ConstantOfShape", 9, "", &["i:#,#"]),
    ("ConstantOfShape", 9, "", &["i:1099511627776,0"]),
    ("Range", 11, "", &["i:#", "i:#", "i:#"]),
    ("CumSum", 14, "exclusive:#", &["$,$", "i:#"]),
    ("ReduceSum", 13, "keepdims:#", &["$,$", "i:#"]),
    ("ReduceMean", 13, "axes=#,#", &["$,$"]),
    ("ReduceMean", 13, "axes=0,1", &["7:1099511627776,1099511627776,0"]),
    ("MatMul", 13, "", &["$,$,$", "$,$,$"]),
    ("Conv", 22, "group:#", &["$,$,$", "$,$,$", "$"]),
    ("ArgMax", 13, "axis:#", &["$,$"]),
    ("Softmax", 1, "axis:#", &["$,$,$"]),
    ("GroupNormalization", 21, "num_groups:#", &["$,$,$", "$", "$"]),
    ("GroupNormalization", 18, "num_groups:#", &["$", "$", "$"]),
    ("LayerNormalization", 17, "axis:#", &["$,$,$", "$,$"]),
    ("LpNormalization", 22, "axis:# p:#", &["$,$,$"]),
    ("Gemm", 13, "transA:#", &["$,$", "$,$"]),
    ("QuantizeLinear", 21, "axis:#", &["$,$", "$,$"]),
    ("Transpose", 13, "perm=#,#", &["$,$"]),
    ("Concat", 13, "axis:#", &["$,$", "$,$"]),
    ("LSTM", 14, "hidden_size:# layout:#", &["$,$,$", "$,$,$", "$,$,$", "$,$"]),
    ("LSTM", 14, "", &["1,1,1", "1,$,1", "1,$,$", "1,$", "7:$", "1,1,$", "1,1,$", "1,$"]),
    ("GRU", 14, "linear_before_reset:1", &["$,1,1", "1,3,1", "1,3,1", "1,6"]),
    ("GRU", 14, "linear_before_reset:#", &["$,$,$", "$,$,$", "$,$,$"]),
    ("RNN", 14, "layout:#", &["$,$,$", "$,$,$", "$,$,$", "$,$"]),
];

#[test]
fn onnx_models_with_extreme_numbers() {
    let random = &mut Random(2);
    let paddings = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"];
    for &(operator, opset, attributes, operands) in ONNX {
        for _ in 0..CASES {
            let mut model = OnnxModel { opset, ..OnnxModel::default() };
            let names: Vec<String> = (0..operands.len()).map(|at| format!("x{at}")).collect();
            for (name, operand) in names.iter().zip(operands) {
                let filled = filled(operand, random, &paddings);
                match filled.split_once(':') {
                    Some(("i", list)) => {
                        model.initializers.push(onnx::list(name, &integers(list)));
                    }
                    typed => {
                        let (element, shape) = typed.unwrap_or(("1", &filled));
                        let element = if element == "8" { 2 } else { element.parse().unwrap() };
                        let sizes: Vec<&str> = shape.split(',').collect();
                        model.inputs.push(onnx::value(name, element, Some(&sizes)));
                    }
                }
            }
            let attribute = |part: &str| -> Message {
                let part = part.replace("auto_pad@", "auto_pad~@");
                let part = filled(&part, random, &paddings);
                if let Some((name, list)) = part.split_once('=') {
                    return onnx::ints(name, &integers(list));
                }
                if let Some((name, number)) = part.split_once(':') {
                    return onnx::int(name, number.parse().unwrap());
                }
                let (name, text) = part.split_once('~').unwrap();
                onnx::text(name, text)
            };
            let attributes: Vec<Message> = attributes.split_whitespace().map(attribute).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            model.nodes = vec![onnx::node(operator, &names, &["y"], &attributes)];
            model.outputs = vec![onnx::value("y", 1, None)];
            build("x.onnx", model.encoded());
        }
    }
}

const HLO: &[&str] = &[
    "x = f32[$,$,2] parameter(0)\n k = f32[$,2,2] parameter(1)\n ROOT r = f32[1,1,2] convolution(x, k), \
     window={size=# stride=# pad=#_# lhs_dilate=# rhs_dilate=#}, dim_labels=b0f_0io->b0f, \
     feature_group_count=#",
    "x = f32[$,$,2] parameter(0)\n k = f32[3,2,2] parameter(1)\n ROOT r = f32[1,1,2] convolution(x, k), \
     window={size=3 stride=# pad=#_# lhs_dilate=# rhs_dilate=#}, dim_labels=b0f_0io->b0f, \
     batch_group_count=#",
    "x = f32[$,$] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[1,1] reduce-window(x, z), \
     window={size=#x# stride=#x# pad=#_#x#_# lhs_dilate=#x# rhs_dilate=#x#}, to_apply=add",
    "x = f32[$,$] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[1,1] pad(x, z), \
     padding=#_#_#x#_#_#",
    "x = f32[$,$] parameter(0)\n ROOT r = f32[1,1] slice(x), slice={[#:#:#], [#:#:#]}",
    "x = f32[$,$] parameter(0)\n ROOT r = f32[$,$,$] broadcast(x), dimensions={#,#}",
    "x = f32[$,$] parameter(0)\n ROOT r = f32[$,$] reshape(x)",
    "x = f32[$,$] parameter(0)\n ROOT r = f32[$,$] transpose(x), dimensions={#,#}",
    "x = f32[$,$] parameter(0)\n ROOT r = f32[$,$] concatenate(x, x), dimensions={#}",
    "ROOT r = s32[$,$] iota(), iota_dimension=#",
    "x = f32[$,$] parameter(0)\n i = s32[$,$] parameter(1)\n ROOT r = f32[1,1] gather(x, i), \
     offset_dims={#}, collapsed_slice_dims={#}, start_index_map={#}, index_vector_dim=#, \
     slice_sizes={#,#}",
    "x = f32[$,$] parameter(0)\n i = s32[$,1] parameter(1)\n ROOT r = f32[1,1] gather(x, i), \
     offset_dims={1}, collapsed_slice_dims={0}, start_index_map={#}, index_vector_dim=#, \
     operand_batching_dims={#}, start_indices_batching_dims={#}, slice_sizes={1,#}",
    "x = f32[$,$] parameter(0)\n i = s32[$,1] parameter(1)\n u = f32[$,$] parameter(2)\n \
     ROOT r = f32[1,1] scatter(x, i, u), update_window_dims={#}, inserted_window_dims={#}, \
     scatter_dims_to_operand_dims={#}, index_vector_dim=#, to_apply=add",
    "x = f32[$,$] parameter(0)\n i = s32[$,1] parameter(1)\n u = f32[$,$] parameter(2)\n \
     ROOT r = f32[1,1] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, \
     scatter_dims_to_operand_dims={#}, index_vector_dim=1, to_apply=add",
    "x = f32[$,$] parameter(0)\n i = s32[] parameter(1)\n \
     ROOT r = f32[1,1] dynamic-slice(x, i, i), dynamic_slice_sizes={#,#}",
    "x = f32[$,$] parameter(0)\n i = s32[] parameter(1)\n u = f32[$,$] parameter(2)\n \
     ROOT r = f32[1,1] dynamic-update-slice(x, u, i, i)",
    "x = f32[$,$] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[$] reduce(x, z), \
     dimensions={#}, to_apply=add",
    "x = f32[$,$,$] parameter(0)\n y = f32[$,$,$] parameter(1)\n ROOT r = f32[1,1] dot(x, y), \
     lhs_batch_dims={#}, rhs_batch_dims={#}, lhs_contracting_dims={#}, rhs_contracting_dims={#}",
    "x = f32[$,$] parameter(0)\n ROOT r = f32[1,1] reverse(x), dimensions={#}",
];

#[test]
fn hlo_modules_with_extreme_numbers() {
    let random = &mut Random(3);
    for template in HLO {
        for _ in 0..CASES {
            let body = filled(template, random, &[]);
            let module = format!(
                "HloModule m\nadd {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n \
                 ROOT c = f32[] add(a, b)\n}}\nENTRY e {{\n {body}\n}}"
            );
            build("x.hlo", module);
        }
    }
}

/// Types of the operands, an operation on `%a`, `%b` and `%c`, and the type of its result.
const STABLEHLO: &[(&[&str], &str, &str)] = &[
    (
        &["$x$x2xf32", "$x2x2xf32"],
        "stablehlo.convolution(%a, %b) {window_strides = array<i64: #>, padding = dense<[[#, #]]> : \
         tensor<1x2xi64>, lhs_dilation = array<i64: #>, rhs_dilation = array<i64: #>, \
         dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, \
         feature_group_count = # : i64, batch_group_count = # : i64}",
        "1x1x2xf32",
    ),
    (
        &["$x$xf32", "f32"],
        "stablehlo.pad(%a, %b) {edge_padding_low = array<i64: #, #>, edge_padding_high = \
         array<i64: #, #>, interior_padding = array<i64: #, #>}",
        "1x1xf32",
    ),
    (
        &["$x$xf32"],
        "stablehlo.slice(%a) {start_indices = array<i64: #, #>, limit_indices = array<i64: #, #>, \
         strides = array<i64: #, #>}",
        "1x1xf32",
    ),
    (
        &["$x$xf32", "$x1xi32"],
        "stablehlo.gather(%a, %b) {dimension_numbers = #stablehlo.gather<offset_dims = [#], \
         collapsed_slice_dims = [#], start_index_map = [#], index_vector_dim = #>, \
         slice_sizes = array<i64: #, #>}",
        "1x1xf32",
    ),
    (
        &["$x$xf32", "i32"],
        "stablehlo.dynamic_slice(%a, %b, %b) {slice_sizes = array<i64: #, #>}",
        "1x1xf32",
    ),
    (
        &["$x$xf32", "$x$xi32"],
        "stablehlo.torch_index_select(%a, %b) {dim = # : i64, batch_dims = # : i64}",
        "1xf32",
    ),
    (
        &["$x$xf32"],
        "stablehlo.broadcast_in_dim(%a) {broadcast_dimensions = array<i64: #, #>}",
        "$x$x$xf32",
    ),
    (&["$x$xf32"], "stablehlo.reshape(%a)", "$x$xf32"),
    (&["$x$xf32"], "stablehlo.transpose(%a) {permutation = array<i64: #, #>}", "$x$xf32"),
    (&["$x$xf32"], "stablehlo.concatenate(%a, %a) {dimension = # : i64}", "$x$xf32"),
    (&[], "stablehlo.iota() {iota_dimension = # : i64}", "$x$xi32"),
    (
        &["$x$xf32", "$x$xf32"],
        "stablehlo.dot_general(%a, %b) {dot_dimension_numbers = #stablehlo.dot<\
         lhs_batching_dimensions = [#], rhs_batching_dimensions = [#], \
         lhs_contracting_dimensions = [#], rhs_contracting_dimensions = [#]>}",
        "1xf32",
    ),
];

#[test]
fn stablehlo_modules_with_extreme_numbers() {
    let random = &mut Random(4);
    for &(types, operation, result) in STABLEHLO {
        for _ in 0..CASES {
            let types: Vec<String> =
                types.iter().map(|text| format!("tensor<{}>", filled(text, random, &[]))).collect();
            let result = format!("tensor<{}>", filled(result, random, &[]));
            let attribute = operation.replace("#stablehlo", "~stablehlo");
            let operation = filled(&attribute, random, &[]).replace('~', "#");
            let (name, rest) = operation.split_once('(').unwrap();
            let used: Vec<&String> = rest
                .split(')')
                .next()
                .unwrap()
                .split(", ")
                .filter_map(|name| types.get((*name.as_bytes().get(1)? - b'a') as usize))
                .collect();
            let arguments: Vec<String> =
                ('a'..).zip(&types).map(|(name, of)| format!("%{name}: {of}")).collect();
            let program = format!(
                "func.func @main({}) -> {result} {{\n %r = \"{name}\"({rest} : ({}) -> {result}\n \
                 return %r : {result}\n}}",
                arguments.join(", "),
                used.iter().map(|of| of.as_str()).collect::<Vec<_>>().join(", "),
            );
            build("x.mlir", program);
        }
    }
}
