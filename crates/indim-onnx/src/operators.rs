//! The table of supported operators: opset range and lowering.
//!
//! A row has the name, the versions (opsets that introduced or changed the operator), the number of
//! operands, and the lowering. Some rows also mark operands that determine shapes, operators whose
//! results depend only on the types of their operands, and attributes that are bodies.

use indim_builder::{Composition, Reduction};
use indim_ops::Op;

use super::call::{Call, LoweringResult};
use super::{
    activations, constants, elementwise, gathers, normalizations, products, quantization,
    recurrent, reductions, sort, views, windows,
};

/// A supported operator of ONNX.
pub(super) struct Operator {
    pub(super) name: &'static str,
    /// Opsets that introduced or changed it.
    since: &'static [i64],
    /// Minimal and maximal number of operands.
    pub(super) operands: (usize, usize),
    pub(super) lowering: Lowering,
    /// Operands whose elements must be known at build time, such as a shape, axes, a count or a mode.
    pub(super) shape_operands: &'static [usize],
    /// Whether the results depend only on the types of the operands.
    pub(super) reads_types: bool,
    /// Names of the attributes that are bodies of a loop or branch.
    pub(super) regions: &'static [&'static str],
}

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

const fn of(
    name: &'static str,
    since: &'static [i64],
    operands: (usize, usize),
    lowering: Lowering,
) -> Operator {
    Operator {
        name,
        since,
        operands,
        lowering,
        shape_operands: &[],
        reads_types: false,
        regions: &[],
    }
}

const fn unary(name: &'static str, since: &'static [i64], op: Op) -> Operator {
    of(name, since, (1, 1), Lowering::Unary(op))
}

const fn binary(
    name: &'static str,
    since: &'static [i64],
    op: Op,
    takes: AcceptedTypes,
) -> Operator {
    of(name, since, (2, 2), Lowering::Binary(op, takes))
}

const fn by(
    name: &'static str,
    since: &'static [i64],
    operands: (usize, usize),
    make: fn(&Call<'_>) -> LoweringResult,
) -> Operator {
    of(name, since, operands, Lowering::Function(make))
}

const fn reduced(
    name: &'static str,
    since: &'static [i64],
    reduction: reductions::ReduceOperator,
) -> Operator {
    of(name, since, (1, 2), Lowering::Reduction(reduction)).shapes(&[1])
}

const fn control(
    name: &'static str,
    since: &'static [i64],
    operands: (usize, usize),
    regions: &'static [&'static str],
) -> Operator {
    Operator { regions, ..of(name, since, operands, Lowering::Control) }
}

impl Operator {
    const fn shapes(mut self, operands: &'static [usize]) -> Operator {
        self.shape_operands = operands;
        self
    }

    const fn of_types(mut self) -> Operator {
        self.reads_types = true;
        self
    }

    /// Finds an operator by its name.
    pub(super) fn named(name: &str) -> Option<&'static Operator> {
        OPERATORS.iter().find(|operator| operator.name == name)
    }

    /// The version of the operator in an opset: the last entry of `since` up to this opset. `None` if the
    /// opset lacks the operator.
    pub(super) fn version(&self, opset: i64) -> Option<i64> {
        self.since.iter().copied().rfind(|&since| since <= opset)
    }

    /// The opset that introduced the operator.
    pub(super) fn first_opset(&self) -> i64 {
        self.since[0]
    }
}

/// Names of the supported operators.
pub(super) fn names() -> Vec<String> {
    OPERATORS.iter().map(|operator| operator.name.to_owned()).collect()
}

/// The newest opset in the table.
pub(super) const NEWEST_OPSET: i64 = 28;

use elementwise::AcceptedTypes::{self, Any, Booleans, Numbers};
use reductions::ReduceOperator;

static OPERATORS: &[Operator] = &[
    by("Abs", &[1, 6, 13], (1, 1), elementwise::abs),
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
    by("BitShift", &[11, 28], (2, 2), elementwise::bit_shift),
    by("Mod", &[10, 13, 28], (2, 2), elementwise::modulo),
    by("Pow", &[1, 7, 12, 13, 15], (2, 2), elementwise::power),
    of("Max", &[1, 6, 8, 12, 13], (1, VARIADIC), Lowering::Fold(Op::Max)),
    by("Mean", &[1, 6, 8, 13], (1, VARIADIC), elementwise::mean),
    of("Min", &[1, 6, 8, 12, 13], (1, VARIADIC), Lowering::Fold(Op::Min)),
    of("Sum", &[1, 6, 8, 13], (1, VARIADIC), Lowering::Fold(Op::Add)),
    by("BitCast", &[26], (1, 1), elementwise::bit_cast),
    by("Cast", &[1, 6, 9, 13, 19, 21, 23, 24, 25, 28], (1, 1), elementwise::cast),
    by("CastLike", &[15, 19, 21, 23, 24, 25], (2, 2), elementwise::cast_like),
    by("Clip", &[1, 6, 11, 12, 13], (1, 3), elementwise::clip),
    by("Expand", &[8, 13], (2, 2), elementwise::expand).shapes(&[1]),
    by("Identity", &[1, 13, 14, 16, 19, 21, 23, 24, 25], (1, 1), elementwise::identity),
    by("IsInf", &[10, 20], (1, 1), elementwise::is_infinite),
    by("Where", &[9, 16], (3, 3), elementwise::choose),
    of("Mish", &[18, 22], (1, 1), Lowering::Composition(Composition::Mish)),
    of("Relu", &[1, 6, 13, 14], (1, 1), Lowering::Composition(Composition::Relu)),
    of("Softplus", &[1, 22], (1, 1), Lowering::Composition(Composition::Softplus)),
    of("Softsign", &[1, 22], (1, 1), Lowering::Composition(Composition::Softsign)),
    of("HardSwish", &[14, 22], (1, 1), Lowering::Composition(Composition::HardSwish)),
    by("Celu", &[12, 28], (1, 1), activations::celu),
    by("Dropout", &[1, 6, 7, 10, 12, 13, 22], (1, 3), activations::dropout).shapes(&[2]),
    by("Elu", &[1, 6, 22], (1, 1), activations::elu),
    by("Gelu", &[20], (1, 1), activations::gelu),
    by("HardSigmoid", &[1, 6, 22], (1, 1), activations::hard_sigmoid),
    by("LeakyRelu", &[1, 6, 16], (1, 1), activations::leaky_relu),
    by("PRelu", &[1, 6, 7, 9, 16], (2, 2), activations::prelu),
    by("Selu", &[1, 6, 22], (1, 1), activations::selu),
    by("Shrink", &[9], (1, 1), activations::shrink),
    by("SwiGLU", &[28], (2, 2), activations::swiglu),
    by("Swish", &[24], (1, 1), activations::swish),
    by("ThresholdedRelu", &[10, 22], (1, 1), activations::thresholded_relu),
    of("Constant", &[1, 9, 11, 12, 13, 19, 21, 23, 24, 25], (0, 0), Lowering::Constant),
    by("ConstantOfShape", &[9, 20, 21, 23, 24, 25], (1, 1), constants::of_shape).shapes(&[0]),
    by("EyeLike", &[9, 22], (1, 1), constants::eye_like).of_types(),
    by("Range", &[11, 27], (3, 3), constants::range).shapes(&[0, 1, 2]),
    by("Shape", &[1, 13, 15, 19, 21, 23, 24, 25], (1, 1), constants::shape).of_types(),
    by("Size", &[1, 13, 19, 21, 23, 24, 25], (1, 1), constants::size).of_types(),
    by("Trilu", &[14], (1, 2), constants::triangle).shapes(&[1]),
    by("Concat", &[1, 4, 11, 13], (1, VARIADIC), views::concat),
    by("DepthToSpace", &[1, 11, 13, 28], (1, 1), views::depth_to_space),
    by("Flatten", &[1, 9, 11, 13, 21, 23, 24, 25], (1, 1), views::flatten),
    by("Gather", &[1, 11, 13], (2, 2), views::gather),
    by("GatherElements", &[11, 13], (2, 2), gathers::gather_elements),
    by("GatherND", &[11, 12, 13], (2, 2), gathers::gather_nd),
    by("Scatter", &[9], (3, 3), gathers::scatter_elements),
    by("ScatterElements", &[11, 13, 16, 18], (3, 3), gathers::scatter_elements),
    by("ScatterND", &[11, 13, 16, 18], (3, 3), gathers::scatter_nd),
    by("OneHot", &[9, 11, 28], (3, 3), constants::one_hot).shapes(&[1]),
    by("Pad", &[1, 2, 11, 13, 18, 19, 21, 23, 24, 25], (1, 4), views::pad).shapes(&[1, 3]),
    by("Reshape", &[1, 5, 13, 14, 19, 21, 23, 24, 25], (1, 2), views::reshape).shapes(&[1]),
    by("Slice", &[1, 10, 11, 13], (1, 5), views::slice).shapes(&[1, 2, 3, 4]),
    by("SpaceToDepth", &[1, 13, 28], (1, 1), views::space_to_depth),
    by("Split", &[1, 2, 11, 13, 18], (1, 2), views::split).shapes(&[1]),
    by("Squeeze", &[1, 11, 13, 21, 23, 24, 25], (1, 2), views::squeeze).shapes(&[1]),
    by("Tile", &[1, 6, 13], (2, 3), views::tile).shapes(&[1, 2]),
    by("Transpose", &[1, 13, 21, 23, 24, 25], (1, 1), views::transpose),
    by("Unsqueeze", &[1, 11, 13, 21, 23, 24, 25], (1, 2), views::unsqueeze).shapes(&[1]),
    reduced("ReduceL1", &[1, 11, 13, 18], ReduceOperator::L1),
    reduced("ReduceL2", &[1, 11, 13, 18], ReduceOperator::L2),
    reduced("ReduceLogSum", &[1, 11, 13, 18, 28], ReduceOperator::LogSum),
    reduced("ReduceLogSumExp", &[1, 11, 13, 18, 28], ReduceOperator::LogSumExp),
    reduced("ReduceMax", &[1, 11, 12, 13, 18, 20], ReduceOperator::Max),
    reduced("ReduceMean", &[1, 11, 13, 18], ReduceOperator::Mean),
    reduced("ReduceMin", &[1, 11, 12, 13, 18, 20], ReduceOperator::Min),
    reduced("ReduceProd", &[1, 11, 13, 18], ReduceOperator::Prod),
    reduced("ReduceSum", &[1, 11, 13], ReduceOperator::Sum),
    reduced("ReduceSumSquare", &[1, 11, 13, 18], ReduceOperator::SumSquare),
    by("ArgMax", &[1, 11, 12, 13], (1, 1), reductions::arg_max),
    by("ArgMin", &[1, 11, 12, 13], (1, 1), reductions::arg_min),
    by("TopK", &[1, 10, 11, 24], (1, 2), sort::top_k).shapes(&[1]),
    of("GlobalAveragePool", &[1, 22], (1, 1), Lowering::GlobalPool(Reduction::Mean)),
    of("GlobalMaxPool", &[1, 22], (1, 1), Lowering::GlobalPool(Reduction::Max)),
    by("CumProd", &[26], (2, 2), reductions::cumprod).shapes(&[1]),
    by("CumSum", &[11, 14], (2, 2), reductions::cumsum).shapes(&[1]),
    by("Hardmax", &[1, 11, 13], (1, 1), reductions::hardmax),
    by("LogSoftmax", &[1, 11, 13], (1, 1), reductions::log_softmax),
    by("Softmax", &[1, 11, 13], (1, 1), reductions::softmax),
    by("AveragePool", &[1, 7, 10, 11, 19, 22], (1, 1), windows::average_pool),
    by("Conv", &[1, 11, 22], (2, 3), windows::convolution),
    by("ConvInteger", &[10], (2, 4), windows::convolution_integer),
    by("ConvTranspose", &[1, 11, 22], (2, 3), windows::transposed),
    by("MaxPool", &[1, 8, 10, 11, 12, 22], (1, 1), windows::max_pool),
    by("QLinearConv", &[10], (8, 9), windows::convolution_quantized),
    by("Einsum", &[12, 28], (1, VARIADIC), products::einsum),
    by("Gemm", &[1, 6, 7, 9, 11, 13], (2, 3), products::gemm),
    by("MatMul", &[1, 9, 13], (2, 2), products::mat_mul),
    by("MatMulInteger", &[10], (2, 4), products::mat_mul_integer),
    by("QLinearMatMul", &[10, 21], (8, 8), products::mat_mul_quantized),
    by("DequantizeLinear", &[10, 13, 19, 21, 23, 24, 25, 28], (2, 3), quantization::dequantize),
    by("QuantizeLinear", &[10, 13, 19, 21, 23, 24, 25, 28], (2, 3), quantization::quantize),
    by("BatchNormalization", &[1, 6, 7, 9, 14, 15], (5, 5), normalizations::batch),
    by("GroupNormalization", &[18, 21], (3, 3), normalizations::group),
    by("InstanceNormalization", &[1, 6, 22], (3, 3), normalizations::instance),
    by("LayerNormalization", &[17], (2, 3), normalizations::layer),
    by("LpNormalization", &[1, 22], (1, 1), normalizations::lp),
    by("MeanVarianceNormalization", &[9, 13], (1, 1), normalizations::mean_variance),
    by("RMSNormalization", &[23], (2, 2), normalizations::root_mean_square),
    control("If", &[1, 11, 13, 16, 19, 21, 23, 24, 25], (1, 1), &["then_branch", "else_branch"]),
    control("Loop", &[1, 11, 13, 16, 19, 21, 23, 24, 25], (2, VARIADIC), &["body"]),
    control("Scan", &[8, 9, 11, 16, 19, 21, 23, 24, 25], (1, VARIADIC), &["body"]),
    by("GRU", &[1, 3, 7, 14, 22], (3, 6), recurrent::gru),
    by("LSTM", &[1, 7, 14, 22], (3, 8), recurrent::lstm),
    by("RNN", &[1, 7, 14, 22], (3, 6), recurrent::rnn),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::unsupported::UNSUPPORTED_OPERATORS;

    /// Each operator of ONNX with its versions.
    fn recorded() -> BTreeMap<&'static str, Vec<i64>> {
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
        let mut known: Vec<&str> = OPERATORS.iter().map(|operator| operator.name).collect();
        known.extend(UNSUPPORTED_OPERATORS);
        known.sort_unstable();
        assert_eq!(known, recorded().into_keys().collect::<Vec<_>>());
    }

    #[test]
    fn versions_are_those_of_onnx() {
        let recorded = recorded();
        for operator in OPERATORS {
            assert_eq!(
                Some(operator.since),
                recorded.get(operator.name).map(|v| &v[..]),
                "{}",
                operator.name
            );
        }
        let newest = recorded.values().flatten().max();
        assert_eq!(newest, Some(&NEWEST_OPSET));
    }
}
