//! The table of shape rules: the rule of each operator, and its role in lint findings.
//!
//! Shape inference also covers operators that indim does not compute, which have no row in the table of
//! `operators.rs`: each needs a row here and a rule, a function that several operators may share. The rule of
//! an operator with a lowering finds its broadcasts; the types that the lowering gives replace the rule's.

use indim_model::outline::NodeRole;

use crate::call::Rule;
use crate::{
    creation, elementwise, indexing, learning, products, recurrent, sequences, strings, views,
    windows,
};

/// The shape rule of operators.
pub struct RuleRow {
    pub(crate) names: &'static [&'static str],
    pub(crate) rule: Rule,
    /// The role of the nodes in lint findings.
    pub role: NodeRole,
}

const fn row(names: &'static [&'static str], rule: Rule) -> RuleRow {
    with_role(names, rule, NodeRole::Other)
}

const fn with_role(names: &'static [&'static str], rule: Rule, role: NodeRole) -> RuleRow {
    RuleRow { names, rule, role }
}

impl RuleRow {
    /// The rule of an operator of a domain of ONNX.
    pub fn named(domain: &str, name: &str) -> Option<&'static RuleRow> {
        let rules = match domain {
            "" => RULES,
            "ai.onnx.ml" => LEARNING_RULES,
            _ => return None,
        };
        rules.iter().find(|row| row.names.contains(&name))
    }

    /// The name of an operator, as a static text.
    pub fn static_name(&self, name: &str) -> &'static str {
        self.names.iter().copied().find(|known| *known == name).unwrap_or("")
    }
}

#[rustfmt::skip]
const RULES: &[RuleRow] = &[
    with_role(&[
        "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Celu", "Clip", "Cos", "Cosh",
        "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish",
        "Neg", "Reciprocal", "Relu", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus",
        "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Affine", "ParametricSoftplus",
        "Scale", "ScaledTanh", "ImageScaler",
    ], elementwise::same_type, NodeRole::SameShape),
    with_role(&["Ceil", "Floor", "Round"], elementwise::rounding, NodeRole::SameShape),
    with_role(&["Identity"], elementwise::identity, NodeRole::SameShape),
    with_role(&["Cast"], elementwise::cast, NodeRole::SameShape),
    with_role(&["CastLike"], elementwise::cast_like, NodeRole::SameShape),
    with_role(&["BitCast"], elementwise::bit_cast, NodeRole::SameShape),
    with_role(&["Dropout"], elementwise::dropout, NodeRole::SameShape),
    with_role(&["IsInf", "IsNaN", "Not"], elementwise::predicate, NodeRole::Predicate),
    with_role(&[
        "Add", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Mod", "Mul", "Pow", "Sub",
    ], elementwise::arithmetic, NodeRole::Elementwise),
    with_role(&[
        "And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor",
    ], elementwise::comparison, NodeRole::Predicate),
    with_role(&["Max", "Mean", "Min", "Sum"], elementwise::variadic, NodeRole::Elementwise),
    with_role(&["Where"], elementwise::choose, NodeRole::Elementwise),
    with_role(&["PRelu"], elementwise::slope, NodeRole::Elementwise),
    with_role(&["QuantizeLinear"], elementwise::quantize, NodeRole::SameShape),
    with_role(&["DequantizeLinear"], elementwise::dequantize, NodeRole::SameShape),
    with_role(&["DynamicQuantizeLinear"], elementwise::quantize_by_data, NodeRole::SameShape),
    with_role(&["Hardmax", "LogSoftmax", "Softmax"], elementwise::same_type, NodeRole::SameShape),
    with_role(&[
        "CumProd", "CumSum", "LRN", "LpNormalization", "MeanVarianceNormalization",
    ], elementwise::same_type, NodeRole::SameShape),
    with_role(&["Trilu"], elementwise::triangle, NodeRole::SameShape),
    with_role(
        &["GroupNormalization", "InstanceNormalization"],
        indexing::channel_normalization,
        NodeRole::SameShape,
    ),
    with_role(&["ReverseSequence"], indexing::reverse_sequence, NodeRole::SameShape),
    with_role(&["RotaryEmbedding"], indexing::rotary, NodeRole::SameShape),
    with_role(&["SwiGLU"], elementwise::gated, NodeRole::SameShape),
    with_role(
        &["LayerNormalization", "RMSNormalization"],
        indexing::layer_normalization,
        NodeRole::SameShape,
    ),
    with_role(&["BatchNormalization"], indexing::batch_normalization, NodeRole::SameShape),
    with_role(&["Constant"], creation::constant, NodeRole::Constant),
    with_role(&["ConstantOfShape"], creation::constant_of_shape, NodeRole::Constant),
    with_role(&["Range"], creation::range, NodeRole::Constant),
    row(&["Bernoulli", "RandomNormalLike", "RandomUniformLike"], creation::like),
    row(&["EyeLike"], creation::eye_like),
    row(&["RandomNormal", "RandomUniform"], creation::random),
    row(&["Multinomial"], creation::multinomial),
    row(&["BlackmanWindow", "HammingWindow", "HannWindow"], creation::window),
    row(&["Shape"], views::shape),
    row(&["Size"], views::size),
    with_role(&["Reshape"], views::reshape, NodeRole::Reshape),
    with_role(&["Flatten"], views::flatten, NodeRole::Reshape),
    with_role(&["Squeeze"], views::squeeze, NodeRole::Reshape),
    with_role(&["Unsqueeze"], views::unsqueeze, NodeRole::Reshape),
    row(&["Transpose"], views::transpose),
    row(&["Concat"], views::concat),
    row(&["Split"], views::split),
    with_role(&["Expand"], views::expand, NodeRole::Expand),
    with_role(&["Tile"], views::tile, NodeRole::Expand),
    row(&["Pad"], views::pad),
    row(&["Slice"], views::slice),
    row(&["DepthToSpace"], views::depth_to_space),
    row(&["SpaceToDepth"], views::space_to_depth),
    row(&["MatMul"], products::mat_mul),
    row(&["MatMulInteger"], products::mat_mul_integer),
    row(&["QLinearMatMul"], products::mat_mul_quantized),
    row(&["Gemm"], products::gemm),
    row(&["Einsum"], products::einsum),
    row(&["Attention"], products::attention),
    row(&["LinearAttention"], products::linear_attention),
    with_role(&["DeformConv"], windows::deformable_convolution, NodeRole::Channels(1)),
    with_role(&["CausalConvWithState"], windows::causal_convolution, NodeRole::Channels(1)),
    with_role(&["StringConcat"], strings::string_concat, NodeRole::Elementwise),
    with_role(&["RegexFullMatch"], elementwise::predicate, NodeRole::Predicate),
    row(&["StringSplit"], strings::string_split),
    row(&["StringNormalizer"], strings::string_normalizer),
    row(&["TfIdfVectorizer"], strings::frequencies),
    row(&["ImageDecoder"], strings::picture),
    with_role(&["Conv"], windows::convolution, NodeRole::Channels(1)),
    with_role(&["ConvInteger"], windows::convolution_integer, NodeRole::Channels(1)),
    with_role(&["QLinearConv"], windows::convolution_quantized, NodeRole::Channels(1)),
    with_role(&["ConvTranspose"], windows::transposed_convolution, NodeRole::Channels(1)),
    with_role(&["AveragePool", "LpPool", "MaxPool"], windows::pool, NodeRole::Channels(1)),
    row(&["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"], windows::global_pool),
    row(&["MaxRoiPool", "RoiAlign"], windows::regions),
    row(&["Resize", "Upsample"], windows::resize),
    row(&["GridSample"], windows::grid_sample),
    row(&["MaxUnpool"], windows::unpool),
    row(&["Gather"], indexing::gather),
    row(&["GatherElements"], indexing::gather_elements),
    row(&["GatherND"], indexing::gather_nd),
    row(&["Scatter", "ScatterElements"], indexing::scatter_elements),
    row(&["ScatterND"], indexing::scatter_nd),
    row(&["TensorScatter"], indexing::tensor_scatter),
    row(&["TopK"], indexing::top_k),
    row(&["ArgMax", "ArgMin"], indexing::arg_reduce),
    row(&[
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
        "ReduceProd", "ReduceSum", "ReduceSumSquare",
    ], indexing::reduce),
    row(&["OneHot"], indexing::one_hot),
    row(&["NonZero"], indexing::non_zero),
    row(&["Compress"], indexing::compress),
    row(&["Unique"], indexing::unique),
    row(&["NonMaxSuppression"], indexing::non_max_suppression),
    row(&["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"], indexing::loss),
    row(&["GRU", "LSTM", "RNN"], recurrent::recurrent),
    row(&["DFT"], recurrent::dft),
    row(&["STFT"], recurrent::stft),
    row(&["MelWeightMatrix"], recurrent::mel),
    row(&["Det"], recurrent::determinant),
    row(&["Col2Im"], recurrent::blocks),
    row(&["AffineGrid"], recurrent::affine_grid),
    row(&["CenterCropPad"], recurrent::crop_or_pad),
    row(&["SequenceEmpty"], sequences::empty),
    row(&["SequenceConstruct"], sequences::construct),
    row(&["SequenceAt"], sequences::at),
    row(&["SequenceInsert"], sequences::insert),
    row(&["SequenceErase"], sequences::erase),
    row(&["SequenceLength"], sequences::length),
    row(&["SplitToSequence"], sequences::split),
    row(&["ConcatFromSequence"], sequences::concat),
    with_role(&["Optional", "OptionalGetElement"], sequences::optional, NodeRole::SameShape),
    row(&["OptionalHasElement"], sequences::is_present),
];

/// The rules of the domain `ai.onnx.ml`.
#[rustfmt::skip]
const LEARNING_RULES: &[RuleRow] = &[
    with_role(&["Binarizer", "Imputer"], elementwise::same_type, NodeRole::SameShape),
    with_role(&["Normalizer", "Scaler"], learning::floats, NodeRole::SameShape),
    row(&["LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor"], learning::regressor),
    row(&["TreeEnsemble"], learning::trees),
    row(&["LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"], learning::classifier),
    row(&["ArrayFeatureExtractor"], learning::features),
    row(&["FeatureVectorizer"], learning::vectorizer),
    row(&["OneHotEncoder"], learning::categories),
    with_role(&["CategoryMapper", "LabelEncoder"], learning::encoder, NodeRole::SameShape),
    row(&["ZipMap"], learning::maps),
];
