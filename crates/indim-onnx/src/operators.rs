//! The table of supported operators: opset range and lowering.
//!
//! A row has the name, the versions (opsets that introduced or changed the operator), the number of
//! operands, and the lowering. Some rows also mark operands that determine shapes, operators whose
//! results depend only on the types of their operands, and attributes that are bodies.

use indim_builder::{Composition, Reduction};
use indim_ops::Op;

use indim_onnx_file::operator::OperatorSignature;

use super::call::{Call, LoweringResult};
use super::{
    activations, attention, constants, elementwise, gathers, losses, normalizations, products,
    quantization, recurrent, reductions, resize, sampling, signals, sort, views, windows,
};

/// A supported operator of ONNX.
pub(super) struct Operator {
    pub(super) signature: OperatorSignature,
    pub(super) lowering: Lowering,
}

/// A node of the flattened model.
pub(super) type Step = indim_onnx_file::flatten::FlatStep<Operator>;

/// The body of a loop or branch, flattened.
pub(super) type RegionSteps = indim_onnx_file::flatten::FlatRegion<Operator>;

/// The lowering of an operator.
pub(super) enum Lowering {
    /// A unary operation.
    Unary(Op),
    /// A binary operation under the broadcast rule of the version, for these element types.
    Binary(Op, AcceptedTypes),
    /// A left fold of a binary operation over all operands.
    Fold(Op),
    /// A composition without parameters.
    Composition(Composition),
    /// A reduction.
    Reduction(reductions::ReduceOperator),
    /// A reduction over all axes except the first two.
    GlobalPool(Reduction),
    /// A constant of the file.
    Constant,
    /// A loop or branch, which `control.rs` builds.
    Control,
    /// A lowering function.
    Function(fn(&Call<'_>) -> LoweringResult),
}

/// No upper bound on the number of operands.
const VARIADIC: usize = usize::MAX;

const fn row(
    name: &'static str,
    since: &'static [i64],
    operands: (usize, usize),
    lowering: Lowering,
) -> Operator {
    let shape_operands = &[];
    let signature = OperatorSignature {
        name,
        since,
        operands,
        shape_operands,
        reads_types: false,
        regions: &[],
    };
    Operator { signature, lowering }
}

const fn unary(name: &'static str, since: &'static [i64], op: Op) -> Operator {
    row(name, since, (1, 1), Lowering::Unary(op))
}

const fn binary(
    name: &'static str,
    since: &'static [i64],
    op: Op,
    takes: AcceptedTypes,
) -> Operator {
    row(name, since, (2, 2), Lowering::Binary(op, takes))
}

const fn function(
    name: &'static str,
    since: &'static [i64],
    operands: (usize, usize),
    make: fn(&Call<'_>) -> LoweringResult,
) -> Operator {
    row(name, since, operands, Lowering::Function(make))
}

const fn reduction(
    name: &'static str,
    since: &'static [i64],
    operator: reductions::ReduceOperator,
) -> Operator {
    row(name, since, (1, 2), Lowering::Reduction(operator)).with_shape_operands(&[1])
}

const fn control(
    name: &'static str,
    since: &'static [i64],
    operands: (usize, usize),
    regions: &'static [&'static str],
) -> Operator {
    let mut operator = row(name, since, operands, Lowering::Control);
    operator.signature.regions = regions;
    operator
}

impl Operator {
    const fn with_shape_operands(mut self, operands: &'static [usize]) -> Operator {
        self.signature.shape_operands = operands;
        self
    }

    const fn reading_types(mut self) -> Operator {
        self.signature.reads_types = true;
        self
    }
}

impl indim_onnx_file::operator::OperatorRow for Operator {
    fn named(name: &str) -> Option<&'static Operator> {
        OPERATORS.iter().find(|operator| operator.signature.name == name)
    }

    fn signature(&self) -> &OperatorSignature {
        &self.signature
    }
}

/// Names of the supported operators.
pub(super) fn names() -> Vec<String> {
    OPERATORS.iter().map(|operator| operator.signature.name.to_owned()).collect()
}

use elementwise::AcceptedTypes::{self, Any, Booleans, Numbers};
use reductions::ReduceOperator;

static OPERATORS: &[Operator] = &[
    function("Abs", &[1, 6, 13], (1, 1), elementwise::abs),
    unary("Acos", &[7, 22], Op::Acos),
    unary("Acosh", &[9, 22], Op::Acosh),
    unary("Asin", &[7, 22], Op::Asin),
    unary("Asinh", &[9, 22], Op::Asinh),
    unary("Atan", &[7, 22], Op::Atan),
    unary("Atanh", &[9, 22], Op::Atanh),
    unary("BitwiseNot", &[18], Op::Not),
    unary("Ceil", &[1, 6, 13], Op::Ceil),
    unary("Cos", &[7, 22], Op::Cos),
    unary("Cosh", &[9, 22], Op::Cosh),
    unary("Erf", &[9, 13], Op::Erf),
    unary("Exp", &[1, 6, 13], Op::Exp),
    unary("Floor", &[1, 6, 13], Op::Floor),
    unary("IsNaN", &[9, 13, 20], Op::IsNan),
    unary("Log", &[1, 6, 13], Op::Log),
    unary("Neg", &[1, 6, 13], Op::Neg),
    unary("Not", &[1], Op::Not),
    unary("Reciprocal", &[1, 6, 13], Op::Reciprocal),
    unary("Round", &[11, 22], Op::RoundEven),
    unary("Sigmoid", &[1, 6, 13], Op::Logistic),
    unary("Sign", &[9, 13], Op::Sign),
    unary("Sin", &[7, 22], Op::Sin),
    unary("Sinh", &[9, 22], Op::Sinh),
    unary("Sqrt", &[1, 6, 13], Op::Sqrt),
    unary("Tan", &[7, 22], Op::Tan),
    unary("Tanh", &[1, 6, 13], Op::Tanh),
    binary("Add", &[1, 6, 7, 13, 14], Op::Add, Numbers),
    binary("And", &[1, 7], Op::And, Booleans),
    binary("BitwiseAnd", &[18], Op::And, Numbers),
    binary("BitwiseOr", &[18], Op::Or, Numbers),
    binary("BitwiseXor", &[18], Op::Xor, Numbers),
    binary("Div", &[1, 6, 7, 13, 14], Op::Div, Numbers),
    binary("Equal", &[1, 7, 11, 13, 19], Op::Eq, Any),
    binary("Greater", &[1, 7, 9, 13], Op::Gt, Numbers),
    binary("GreaterOrEqual", &[12, 16], Op::Ge, Numbers),
    binary("Less", &[1, 7, 9, 13], Op::Lt, Numbers),
    binary("LessOrEqual", &[12, 16], Op::Le, Numbers),
    binary("Mul", &[1, 6, 7, 13, 14], Op::Mul, Numbers),
    binary("Or", &[1, 7], Op::Or, Booleans),
    binary("Sub", &[1, 6, 7, 13, 14], Op::Sub, Numbers),
    binary("Xor", &[1, 7], Op::Xor, Booleans),
    function("BitShift", &[11, 28], (2, 2), elementwise::bit_shift),
    function("Mod", &[10, 13, 28], (2, 2), elementwise::modulo),
    function("Pow", &[1, 7, 12, 13, 15], (2, 2), elementwise::power),
    row("Max", &[1, 6, 8, 12, 13], (1, VARIADIC), Lowering::Fold(Op::Max)),
    function("Mean", &[1, 6, 8, 13], (1, VARIADIC), elementwise::mean),
    row("Min", &[1, 6, 8, 12, 13], (1, VARIADIC), Lowering::Fold(Op::Min)),
    row("Sum", &[1, 6, 8, 13], (1, VARIADIC), Lowering::Fold(Op::Add)),
    function("BitCast", &[26], (1, 1), elementwise::bit_cast),
    function("Cast", &[1, 6, 9, 13, 19, 21, 23, 24, 25, 28], (1, 1), elementwise::cast),
    function("CastLike", &[15, 19, 21, 23, 24, 25], (2, 2), elementwise::cast_like),
    function("Clip", &[1, 6, 11, 12, 13], (1, 3), elementwise::clip),
    function("Expand", &[8, 13], (2, 2), elementwise::expand).with_shape_operands(&[1]),
    function("Identity", &[1, 13, 14, 16, 19, 21, 23, 24, 25], (1, 1), elementwise::identity),
    function("IsInf", &[10, 20], (1, 1), elementwise::is_infinite),
    function("Where", &[9, 16], (3, 3), elementwise::choose),
    row("Mish", &[18, 22], (1, 1), Lowering::Composition(Composition::Mish)),
    row("Relu", &[1, 6, 13, 14], (1, 1), Lowering::Composition(Composition::Relu)),
    row("Softplus", &[1, 22], (1, 1), Lowering::Composition(Composition::Softplus)),
    row("Softsign", &[1, 22], (1, 1), Lowering::Composition(Composition::Softsign)),
    row("HardSwish", &[14, 22], (1, 1), Lowering::Composition(Composition::HardSwish)),
    function("Celu", &[12, 28], (1, 1), activations::celu),
    function("Dropout", &[1, 6, 7, 10, 12, 13, 22], (1, 3), activations::dropout)
        .with_shape_operands(&[2]),
    function("Elu", &[1, 6, 22], (1, 1), activations::elu),
    function("Gelu", &[20], (1, 1), activations::gelu),
    function("HardSigmoid", &[1, 6, 22], (1, 1), activations::hard_sigmoid),
    function("LeakyRelu", &[1, 6, 16], (1, 1), activations::leaky_relu),
    function("PRelu", &[1, 6, 7, 9, 16], (2, 2), activations::prelu),
    function("Selu", &[1, 6, 22], (1, 1), activations::selu),
    function("Shrink", &[9], (1, 1), activations::shrink),
    function("SwiGLU", &[28], (2, 2), activations::swiglu),
    function("Swish", &[24], (1, 1), activations::swish),
    function("ThresholdedRelu", &[10, 22], (1, 1), activations::thresholded_relu),
    row("Constant", &[1, 9, 11, 12, 13, 19, 21, 23, 24, 25], (0, 0), Lowering::Constant),
    function("ConstantOfShape", &[9, 20, 21, 23, 24, 25], (1, 1), constants::of_shape)
        .with_shape_operands(&[0]),
    function("EyeLike", &[9, 22], (1, 1), constants::eye_like).reading_types(),
    function("Range", &[11, 27], (3, 3), constants::range).with_shape_operands(&[0, 1, 2]),
    function("Shape", &[1, 13, 15, 19, 21, 23, 24, 25], (1, 1), constants::shape).reading_types(),
    function("Size", &[1, 13, 19, 21, 23, 24, 25], (1, 1), constants::size).reading_types(),
    function("Trilu", &[14], (1, 2), constants::triangle).with_shape_operands(&[1]),
    function("Concat", &[1, 4, 11, 13], (1, VARIADIC), views::concat),
    function("DepthToSpace", &[1, 11, 13, 28], (1, 1), views::depth_to_space),
    function("Flatten", &[1, 9, 11, 13, 21, 23, 24, 25], (1, 1), views::flatten),
    function("Gather", &[1, 11, 13], (2, 2), views::gather),
    function("GatherElements", &[11, 13], (2, 2), gathers::gather_elements),
    function("GatherND", &[11, 12, 13], (2, 2), gathers::gather_nd),
    function("Scatter", &[9], (3, 3), gathers::scatter_elements),
    function("ScatterElements", &[11, 13, 16, 18], (3, 3), gathers::scatter_elements),
    function("ScatterND", &[11, 13, 16, 18], (3, 3), gathers::scatter_nd),
    function("OneHot", &[9, 11, 28], (3, 3), constants::one_hot).with_shape_operands(&[1]),
    function("Pad", &[1, 2, 11, 13, 18, 19, 21, 23, 24, 25], (1, 4), views::pad)
        .with_shape_operands(&[1, 3]),
    function("Resize", &[10, 11, 13, 18, 19], (1, 4), resize::resize)
        .with_shape_operands(&[1, 2, 3]),
    function("Upsample", &[1, 7, 9], (1, 2), resize::resize).with_shape_operands(&[1]),
    function("Reshape", &[1, 5, 13, 14, 19, 21, 23, 24, 25], (1, 2), views::reshape)
        .with_shape_operands(&[1]),
    function("Slice", &[1, 10, 11, 13], (1, 5), views::slice).with_shape_operands(&[1, 2, 3, 4]),
    function("SpaceToDepth", &[1, 13, 28], (1, 1), views::space_to_depth),
    function("Split", &[1, 2, 11, 13, 18], (1, 2), views::split).with_shape_operands(&[1]),
    function("Squeeze", &[1, 11, 13, 21, 23, 24, 25], (1, 2), views::squeeze)
        .with_shape_operands(&[1]),
    function("Tile", &[1, 6, 13], (2, 3), views::tile).with_shape_operands(&[1, 2]),
    function("Transpose", &[1, 13, 21, 23, 24, 25], (1, 1), views::transpose),
    function("Unsqueeze", &[1, 11, 13, 21, 23, 24, 25], (1, 2), views::unsqueeze)
        .with_shape_operands(&[1]),
    reduction("ReduceL1", &[1, 11, 13, 18], ReduceOperator::L1),
    reduction("ReduceL2", &[1, 11, 13, 18], ReduceOperator::L2),
    reduction("ReduceLogSum", &[1, 11, 13, 18, 28], ReduceOperator::LogSum),
    reduction("ReduceLogSumExp", &[1, 11, 13, 18, 28], ReduceOperator::LogSumExp),
    reduction("ReduceMax", &[1, 11, 12, 13, 18, 20], ReduceOperator::Max),
    reduction("ReduceMean", &[1, 11, 13, 18], ReduceOperator::Mean),
    reduction("ReduceMin", &[1, 11, 12, 13, 18, 20], ReduceOperator::Min),
    reduction("ReduceProd", &[1, 11, 13, 18], ReduceOperator::Prod),
    reduction("ReduceSum", &[1, 11, 13], ReduceOperator::Sum),
    reduction("ReduceSumSquare", &[1, 11, 13, 18], ReduceOperator::SumSquare),
    function("ArgMax", &[1, 11, 12, 13], (1, 1), reductions::arg_max),
    function("ArgMin", &[1, 11, 12, 13], (1, 1), reductions::arg_min),
    function("TopK", &[1, 10, 11, 24], (1, 2), sort::top_k).with_shape_operands(&[1]),
    row("GlobalAveragePool", &[1, 22], (1, 1), Lowering::GlobalPool(Reduction::Mean)),
    row("GlobalMaxPool", &[1, 22], (1, 1), Lowering::GlobalPool(Reduction::Max)),
    function("CumProd", &[26], (2, 2), reductions::cumprod).with_shape_operands(&[1]),
    function("CumSum", &[11, 14], (2, 2), reductions::cumsum).with_shape_operands(&[1]),
    function("Hardmax", &[1, 11, 13], (1, 1), reductions::hardmax),
    function("LogSoftmax", &[1, 11, 13], (1, 1), reductions::log_softmax),
    function("Softmax", &[1, 11, 13], (1, 1), reductions::softmax),
    function("AveragePool", &[1, 7, 10, 11, 19, 22], (1, 1), windows::average_pool),
    function("Conv", &[1, 11, 22], (2, 3), windows::convolution),
    function("ConvInteger", &[10], (2, 4), windows::convolution_integer),
    function("ConvTranspose", &[1, 11, 22], (2, 3), windows::transposed_convolution),
    function("MaxPool", &[1, 8, 10, 11, 12, 22], (1, 1), windows::max_pool),
    function("MaxUnpool", &[9, 11, 22], (2, 3), windows::max_unpool).with_shape_operands(&[2]),
    function("LpPool", &[1, 2, 11, 18, 22], (1, 1), windows::lp_pool),
    function("GlobalLpPool", &[1, 2, 22], (1, 1), windows::global_lp_pool),
    function("LRN", &[1, 13], (1, 1), windows::normalize_responses),
    function("RoiAlign", &[10, 16, 22], (3, 3), sampling::align_regions),
    function("QLinearConv", &[10], (8, 9), windows::convolution_quantized),
    function("Einsum", &[12, 28], (1, VARIADIC), products::einsum),
    function("Det", &[11, 22], (1, 1), products::determinant),
    function("Gemm", &[1, 6, 7, 9, 11, 13], (2, 3), products::gemm),
    function("MatMul", &[1, 9, 13], (2, 2), products::mat_mul),
    function("MatMulInteger", &[10], (2, 4), products::mat_mul_integer),
    function("QLinearMatMul", &[10, 21], (8, 8), products::mat_mul_quantized),
    function(
        "DequantizeLinear",
        &[10, 13, 19, 21, 23, 24, 25, 28],
        (2, 3),
        quantization::dequantize,
    ),
    function("QuantizeLinear", &[10, 13, 19, 21, 23, 24, 25, 28], (2, 3), quantization::quantize),
    function("BatchNormalization", &[1, 6, 7, 9, 14, 15], (5, 5), normalizations::batch),
    function("GroupNormalization", &[18, 21], (3, 3), normalizations::group),
    function("InstanceNormalization", &[1, 6, 22], (3, 3), normalizations::instance),
    function("LayerNormalization", &[17], (2, 3), normalizations::layer),
    function("LpNormalization", &[1, 22], (1, 1), normalizations::lp),
    function("MeanVarianceNormalization", &[9, 13], (1, 1), normalizations::mean_variance),
    function("RMSNormalization", &[23], (2, 2), normalizations::root_mean_square),
    function("Attention", &[23, 24, 25], (3, 7), attention::attention),
    function("RotaryEmbedding", &[23], (3, 4), attention::rotary_embedding),
    function("TensorScatter", &[24], (2, 3), attention::tensor_scatter),
    function("NegativeLogLikelihoodLoss", &[12, 13, 22], (2, 3), losses::negative_log_likelihood),
    function("SoftmaxCrossEntropyLoss", &[12, 13], (2, 3), losses::softmax_cross_entropy),
    function("DynamicQuantizeLinear", &[11], (1, 1), quantization::quantize_by_data),
    function("CenterCropPad", &[18], (2, 2), views::center_crop_or_pad).with_shape_operands(&[1]),
    function("ReverseSequence", &[10, 28], (2, 2), views::reverse_sequence),
    function("DFT", &[17, 20], (1, 3), signals::dft).with_shape_operands(&[1, 2]),
    function("HannWindow", &[17], (1, 1), signals::hann).with_shape_operands(&[0]),
    function("HammingWindow", &[17], (1, 1), signals::hamming).with_shape_operands(&[0]),
    function("BlackmanWindow", &[17], (1, 1), signals::blackman).with_shape_operands(&[0]),
    function("MelWeightMatrix", &[17], (5, 5), signals::mel_weights).with_shape_operands(&[0, 1]),
    function("AffineGrid", &[20], (2, 2), sampling::affine_grid).with_shape_operands(&[1]),
    function("Col2Im", &[18], (3, 3), sampling::image_of_blocks).with_shape_operands(&[1, 2]),
    function("GridSample", &[16, 20, 22], (2, 2), sampling::grid_sample),
    control("If", &[1, 11, 13, 16, 19, 21, 23, 24, 25], (1, 1), &["then_branch", "else_branch"]),
    control("Loop", &[1, 11, 13, 16, 19, 21, 23, 24, 25], (2, VARIADIC), &["body"]),
    control("Scan", &[8, 9, 11, 16, 19, 21, 23, 24, 25], (1, VARIADIC), &["body"]),
    function("GRU", &[1, 3, 7, 14, 22], (3, 6), recurrent::gru),
    function("LSTM", &[1, 7, 14, 22], (3, 8), recurrent::lstm),
    function("RNN", &[1, 7, 14, 22], (3, 6), recurrent::rnn),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use indim_onnx_file::unsupported::UNSUPPORTED_OPERATORS;

    /// Each operator of ONNX with its versions.
    fn operator_versions() -> BTreeMap<&'static str, Vec<i64>> {
        let lines = include_str!("../tests/data/operators.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        let operator = |line: &'static str| {
            let (name, versions) = line.split_once(' ').expect("a name and its versions");
            (name, versions.split(' ').map(|version| version.parse().expect("a number")).collect())
        };
        lines.map(operator).collect()
    }

    #[test]
    fn every_operator_of_onnx_is_either_supported_or_known_to_be_unsupported() {
        let mut known: Vec<&str> =
            OPERATORS.iter().map(|operator| operator.signature.name).collect();
        known.extend(UNSUPPORTED_OPERATORS);
        known.sort_unstable();
        assert_eq!(known, operator_versions().into_keys().collect::<Vec<_>>());
    }

    #[test]
    fn versions_are_those_of_onnx() {
        let versions = operator_versions();
        for operator in OPERATORS {
            assert_eq!(
                Some(operator.signature.since),
                versions.get(operator.signature.name).map(|v| &v[..]),
                "{}",
                operator.signature.name
            );
        }
        let newest = versions.values().flatten().max();
        assert_eq!(newest, Some(&indim_onnx_file::NEWEST_OPSET));
    }
}
