//! What nodes ask for that is not to be had, as far as the file alone says so.

use super::flat_node::FlatNode;
use super::messages::NodeProto;
use super::types::dtype_of;

/// Why an operator that is in the table is refused here: it has modes that are not to be had.
pub(super) fn refusal(node: &FlatNode) -> Option<String> {
    let is = |name: &str| node.operator == name;
    let number = |name: &str| node.attributes.get(name).and_then(|attribute| attribute.i);
    let reason = match node.operator {
        "Pad" => return pad_mode(node),
        "Cast" => {
            let to = number("to").and_then(|number| dtype_of(number).err());
            return to.map(|_| "to an element type that is not to be had".to_owned());
        }
        "Constant" => {
            let refused = ["value_string", "value_strings", "sparse_value"];
            let name = refused.into_iter().find(|name| node.attributes.get(name).is_some())?;
            return Some(format!("with the attribute {name}"));
        }
        _ if is("Dropout") && node.version < 7 => number("is_test").unwrap_or(0) == 0,
        _ if is("BatchNormalization") && node.version < 7 => number("is_test").unwrap_or(0) == 0,
        _ if is("BatchNormalization") => {
            number("training_mode").unwrap_or(0) != 0 || node.results.iter().flatten().count() > 1
        }
        _ => false,
    };
    reason.then(|| "for training".to_owned())
}

fn pad_mode(node: &FlatNode) -> Option<String> {
    let mode = node.attributes.get("mode")?.s.as_ref()?;
    let is_constant = mode.is_empty() || &mode[..] == b"constant";
    (!is_constant).then(|| format!("in the mode {}", String::from_utf8_lossy(mode)))
}

/// Why an operator that is not in the table is refused, where there is more to say.
pub(super) fn why_unknown(proto: &NodeProto) -> Option<String> {
    let domain = super::body::domain_of(&proto.domain);
    match domain {
        "" if !OTHERS.contains(&proto.op_type.as_str()) => {
            Some("no operator of ONNX that is known has this name".to_owned())
        }
        "" => None,
        domain => Some(format!("the model has no function of this name in the domain {domain}")),
    }
}

/// The operators of ONNX that are not to be had.
const OTHERS: &[&str] = &[
    "AffineGrid",
    "ArgMax",
    "ArgMin",
    "Attention",
    "AveragePool",
    "Bernoulli",
    "BlackmanWindow",
    "CausalConvWithState",
    "CenterCropPad",
    "Col2Im",
    "Compress",
    "ConcatFromSequence",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "CumProd",
    "CumSum",
    "DFT",
    "DeformConv",
    "DequantizeLinear",
    "Det",
    "DynamicQuantizeLinear",
    "Einsum",
    "GRU",
    "GatherElements",
    "GatherND",
    "Gemm",
    "GlobalLpPool",
    "GridSample",
    "HammingWindow",
    "HannWindow",
    "If",
    "ImageDecoder",
    "LRN",
    "LSTM",
    "LinearAttention",
    "Loop",
    "LpPool",
    "MatMul",
    "MatMulInteger",
    "MaxPool",
    "MaxRoiPool",
    "MaxUnpool",
    "MelWeightMatrix",
    "Multinomial",
    "NegativeLogLikelihoodLoss",
    "NonMaxSuppression",
    "NonZero",
    "OneHot",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "RNN",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "RegexFullMatch",
    "Resize",
    "ReverseSequence",
    "RoiAlign",
    "RotaryEmbedding",
    "STFT",
    "Scan",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
    "SoftmaxCrossEntropyLoss",
    "SplitToSequence",
    "StringConcat",
    "StringNormalizer",
    "StringSplit",
    "TensorScatter",
    "TfIdfVectorizer",
    "TopK",
    "Unique",
    "Upsample",
];
