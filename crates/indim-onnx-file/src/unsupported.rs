//! Unsupported nodes, found from the file alone, without types of inputs.

use indim_model::FormatErrorKind;

use crate::flatten::FlatNode;
use crate::messages::NodeProto;
use crate::types::dtype_of;

/// The reason why a node of a supported operator is unsupported: an unsupported mode or type.
pub fn refusal(node: &FlatNode) -> Option<String> {
    let number = |name: &str| node.attributes.get(name).and_then(|attribute| attribute.i);
    let is_set = |name: &str| number(name).unwrap_or(0) != 0;
    let is_for_training = match node.operator {
        "Dropout" | "BatchNormalization" if node.version < 7 => !is_set("is_test"),
        "BatchNormalization" => {
            is_set("training_mode") || node.results.iter().flatten().count() > 1
        }
        _ => false,
    };
    match node.operator {
        _ if is_for_training => Some("for training".to_owned()),
        "Scan" if node.version < 9 => Some("of opset 8, with a batch axis".to_owned()),
        "DequantizeLinear" | "QuantizeLinear" if is_set("block_size") => {
            Some("with a scale for each block".to_owned())
        }
        "Constant" => {
            let refused = ["value_string", "value_strings", "sparse_value"];
            let name = refused.into_iter().find(|name| node.attributes.get(name).is_some());
            name.map(|name| format!("with the attribute {name}")).or_else(|| unknown_type(node))
        }
        _ => unknown_type(node),
    }
}

/// The unsupported element type of an array or a result, if any.
fn unknown_type(node: &FlatNode) -> Option<String> {
    let types = ["to", "dtype", "output_dtype"].into_iter();
    let types = types.filter_map(|name| node.attributes.get(name)?.i).filter(|&number| number != 0);
    let of_arrays = node.attributes.iter().filter_map(|(_, attribute)| attribute.t.as_ref());
    let types = types.chain(of_arrays.map(|tensor| tensor.data_type.into()));
    match types.filter_map(|number| dtype_of(number).err()).next()? {
        FormatErrorKind::UnsupportedType { name } => Some(format!("with the element type {name}")),
        _ => None,
    }
}

/// A reason why an operator is not in the table. `None` for an operator of ONNX that is known to be
/// unsupported.
pub fn why_unknown(proto: &NodeProto) -> Option<String> {
    let domain = crate::body::domain_of(&proto.domain);
    match domain {
        "" if !UNSUPPORTED_OPERATORS.contains(&proto.op_type.as_str()) => {
            Some("no operator of ONNX that is known has this name".to_owned())
        }
        "" => None,
        "ai.onnx.ml" if LEARNING_OPERATORS.contains(&proto.op_type.as_str()) => None,
        domain => Some(format!("the model has no function of this name in the domain {domain}")),
    }
}

/// The operators of the domain `ai.onnx.ml`; indim computes none of them.
const LEARNING_OPERATORS: &[&str] = &[
    "ArrayFeatureExtractor",
    "Binarizer",
    "CastMap",
    "CategoryMapper",
    "DictVectorizer",
    "FeatureVectorizer",
    "Imputer",
    "LabelEncoder",
    "LinearClassifier",
    "LinearRegressor",
    "Normalizer",
    "OneHotEncoder",
    "SVMClassifier",
    "SVMRegressor",
    "Scaler",
    "TreeEnsemble",
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
    "ZipMap",
];

/// The unsupported operators of ONNX.
pub const UNSUPPORTED_OPERATORS: &[&str] = &[
    "Bernoulli",
    "CausalConvWithState",
    "Compress",
    "ConcatFromSequence",
    "DeformConv",
    "ImageDecoder",
    "LinearAttention",
    "MaxRoiPool",
    "Multinomial",
    "NonMaxSuppression",
    "NonZero",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "RegexFullMatch",
    "STFT",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
    "SplitToSequence",
    "StringConcat",
    "StringNormalizer",
    "StringSplit",
    "TfIdfVectorizer",
    "Unique",
];
