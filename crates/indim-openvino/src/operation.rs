//! The table of supported operations: operation set and lowering.
//!
//! A row has the name, the operation set that introduced this version, the number of operands, the
//! operands that determine shapes or axes and must be known at build time, and the lowering. A layer
//! names an operation set, and has the newest version of its operation in this set.

use core::ops::RangeInclusive;

use indim_builder::{Composition, Reduction, Value};
use indim_graph::Array;
use indim_ops::Op;

use crate::activation;
use crate::attention;
use crate::blocks;
use crate::call::{Call, LoweringResult};
use crate::elementwise;
use crate::fourier;
use crate::gather;
use crate::interpolate;
use crate::layer::Layer;
use crate::product;
use crate::recurrent;
use crate::reduction;
use crate::scatter;
use crate::slice;
use crate::sort;
use crate::view;
use crate::windows;

/// A row of the table.
pub(super) struct Operation {
    name: &'static str,
    /// The operation set that introduced this version.
    since: u32,
    pub(super) operands: RangeInclusive<usize>,
    /// Positions of the operands that determine shapes or axes and must be known at build time.
    pub(super) shape_operands: &'static [usize],
    pub(super) lowering: Lowering,
}

/// The lowering of an operation.
#[derive(Clone, Copy)]
pub(super) enum Lowering {
    /// An input of the network.
    Parameter,
    /// Elements in the external file.
    Constant,
    /// An output of the network.
    Result,
    /// A value that depends only on the shape of the operand.
    Shape(fn(&Call<'_>) -> LoweringResult<Array>),
    /// A unary function; integers are computed in double precision.
    Function(Op),
    /// A unary function that maps integers to integers.
    Exact(Op),
    /// Arithmetic under a broadcast rule.
    Arithmetic(Op),
    /// A comparison under a broadcast rule.
    Comparison(Op),
    /// A boolean operation under a broadcast rule.
    Logical(Op),
    /// An operation on integers or booleans under a broadcast rule.
    Bitwise(Op),
    /// A predicate of floats.
    Predicate(Op),
    /// A composition without parameters.
    Compose(Composition),
    /// A reduction that keeps the element type.
    PlainReduction(Reduction),
    /// A reduction that computes integers in double precision.
    WideReduction(Reduction),
    /// A reduction of booleans.
    LogicalReduction(Reduction),
    /// A function along one axis, such as softmax, whose result has the shape of the operand.
    AlongAxis(Reduction),
    /// A batch normalisation, with the positions of `[data, gamma, beta, mean, variance]` among the
    /// operands.
    BatchNorm([usize; 5]),
    /// A lowering function.
    Custom(fn(&Call<'_>) -> LoweringResult),
    /// A loop or branch, which `control.rs` builds.
    Control,
    /// A lowering function with several results.
    MultipleResults(fn(&Call<'_>) -> LoweringResult<Vec<Value>>),
}

use Lowering::{
    AlongAxis, Arithmetic, BatchNorm, Bitwise, Comparison, Compose, Constant, Control, Custom,
    Exact, Function, Logical, LogicalReduction, MultipleResults, Parameter, PlainReduction,
    Predicate, Result as Output, Shape, WideReduction,
};

/// No upper bound on the number of operands.
const VARIADIC: usize = usize::MAX;

/// A row with a fixed number of operands, none of them a shape operand.
const fn row(name: &'static str, since: u32, operands: usize, lowering: Lowering) -> Operation {
    Operation { name, since, operands: operands..=operands, shape_operands: &[], lowering }
}

/// A row with all its columns.
const fn full_row(
    name: &'static str,
    since: u32,
    operands: RangeInclusive<usize>,
    shape_operands: &'static [usize],
    lowering: Lowering,
) -> Operation {
    Operation { name, since, operands, shape_operands, lowering }
}

const TABLE: &[Operation] = &[
    row("Parameter", 1, 0, Parameter),
    row("Const", 1, 0, Constant),
    row("Constant", 1, 0, Constant),
    row("Result", 1, 1, Output),
    // Element-wise.
    row("Acos", 1, 1, Function(Op::Acos)),
    row("Acosh", 4, 1, Function(Op::Acosh)),
    row("Asin", 1, 1, Function(Op::Asin)),
    row("Asinh", 4, 1, Function(Op::Asinh)),
    row("Atan", 1, 1, Function(Op::Atan)),
    row("Atanh", 4, 1, Function(Op::Atanh)),
    row("Cos", 1, 1, Function(Op::Cos)),
    row("Cosh", 1, 1, Function(Op::Cosh)),
    row("Erf", 1, 1, Function(Op::Erf)),
    row("Exp", 1, 1, Function(Op::Exp)),
    row("Log", 1, 1, Function(Op::Log)),
    row("Sigmoid", 1, 1, Function(Op::Logistic)),
    row("Sin", 1, 1, Function(Op::Sin)),
    row("Sinh", 1, 1, Function(Op::Sinh)),
    row("Sqrt", 1, 1, Function(Op::Sqrt)),
    row("Tan", 1, 1, Function(Op::Tan)),
    row("Tanh", 1, 1, Function(Op::Tanh)),
    row("Abs", 1, 1, Exact(Op::Abs)),
    row("Ceiling", 1, 1, Exact(Op::Ceil)),
    row("Floor", 1, 1, Exact(Op::Floor)),
    row("Negative", 1, 1, Exact(Op::Neg)),
    row("Sign", 1, 1, Exact(Op::Sign)),
    row("Round", 5, 1, Custom(elementwise::round)),
    row("IsFinite", 10, 1, Predicate(Op::IsFinite)),
    row("IsNaN", 10, 1, Predicate(Op::IsNan)),
    row("IsInf", 10, 1, Custom(elementwise::is_inf)),
    row("Convert", 1, 1, Custom(elementwise::convert)),
    row("ConvertLike", 1, 2, Custom(elementwise::convert_like)),
    row("Identity", 16, 1, Custom(elementwise::identity)),
    row("LogicalNot", 1, 1, Logical(Op::Not)),
    row("BitwiseNot", 13, 1, Bitwise(Op::Not)),
    // Two or three operands under a broadcast rule.
    row("Add", 1, 2, Arithmetic(Op::Add)),
    row("Subtract", 1, 2, Arithmetic(Op::Sub)),
    row("Multiply", 1, 2, Arithmetic(Op::Mul)),
    row("Divide", 1, 2, Custom(elementwise::divide)),
    row("Maximum", 1, 2, Arithmetic(Op::Max)),
    row("Minimum", 1, 2, Arithmetic(Op::Min)),
    row("Power", 1, 2, Arithmetic(Op::Pow)),
    row("SquaredDifference", 1, 2, Arithmetic(Op::SquaredDifference)),
    row("Mod", 1, 2, Arithmetic(Op::Rem)),
    row("FloorMod", 1, 2, Arithmetic(Op::PyMod)),
    row("Equal", 1, 2, Comparison(Op::Eq)),
    row("NotEqual", 1, 2, Comparison(Op::Ne)),
    row("Less", 1, 2, Comparison(Op::Lt)),
    row("LessEqual", 1, 2, Comparison(Op::Le)),
    row("Greater", 1, 2, Comparison(Op::Gt)),
    row("GreaterEqual", 1, 2, Comparison(Op::Ge)),
    row("LogicalAnd", 1, 2, Logical(Op::And)),
    row("LogicalOr", 1, 2, Logical(Op::Or)),
    row("LogicalXor", 1, 2, Logical(Op::Xor)),
    row("Xor", 1, 2, Logical(Op::Xor)),
    row("BitwiseAnd", 13, 2, Bitwise(Op::And)),
    row("BitwiseOr", 13, 2, Bitwise(Op::Or)),
    row("BitwiseXor", 13, 2, Bitwise(Op::Xor)),
    row("BitwiseLeftShift", 15, 2, Custom(elementwise::left_shift)),
    row("BitwiseRightShift", 15, 2, Custom(elementwise::right_shift)),
    row("Select", 1, 3, Custom(elementwise::select)),
    // Activation functions.
    row("Clamp", 1, 1, Custom(elementwise::clamp)),
    row("ReLU", 1, 1, Custom(elementwise::relu)),
    row("PReLU", 1, 2, Custom(elementwise::prelu)),
    row("Elu", 1, 1, Custom(activation::elu)),
    row("Selu", 1, 3, Custom(activation::selu)),
    row("HardSigmoid", 1, 3, Custom(activation::hard_sigmoid)),
    row("Gelu", 2, 1, Compose(Composition::Gelu)),
    row("Gelu", 7, 1, Custom(activation::gelu)),
    full_row("Swish", 4, 1..=2, &[], Custom(activation::swish)),
    row("HSwish", 4, 1, Compose(Composition::HardSwish)),
    row("HSigmoid", 5, 1, Custom(activation::hsigmoid)),
    row("SoftPlus", 4, 1, Compose(Composition::Softplus)),
    row("SoftSign", 9, 1, Compose(Composition::Softsign)),
    row("Mish", 4, 1, Compose(Composition::Mish)),
    row("FakeQuantize", 1, 5, Custom(activation::fake_quantize)),
    // Along axes.
    full_row("ReduceSum", 1, 2..=2, &[1], PlainReduction(Reduction::Sum)),
    full_row("ReduceProd", 1, 2..=2, &[1], PlainReduction(Reduction::Prod)),
    full_row("ReduceMax", 1, 2..=2, &[1], PlainReduction(Reduction::Max)),
    full_row("ReduceMin", 1, 2..=2, &[1], PlainReduction(Reduction::Min)),
    full_row("ReduceMean", 1, 2..=2, &[1], WideReduction(Reduction::Mean)),
    full_row("CumSum", 3, 1..=2, &[1], Custom(reduction::cumsum)),
    full_row("ReduceL1", 4, 2..=2, &[1], Custom(reduction::reduce_l1)),
    full_row("ReduceL2", 4, 2..=2, &[1], WideReduction(Reduction::Norm)),
    full_row("ReduceLogicalAnd", 1, 2..=2, &[1], LogicalReduction(Reduction::All)),
    full_row("ReduceLogicalOr", 1, 2..=2, &[1], LogicalReduction(Reduction::Any)),
    row("SoftMax", 1, 1, AlongAxis(Reduction::Softmax)),
    row("LogSoftmax", 5, 1, AlongAxis(Reduction::LogSoftmax)),
    // The second operation set introduced `MVN`, but files name the first one.
    row("MVN", 1, 1, Custom(reduction::mvn_of_channels)),
    full_row("MVN", 6, 2..=2, &[1], Custom(reduction::mvn)),
    full_row("NormalizeL2", 1, 2..=2, &[1], Custom(reduction::normalize_l2)),
    row("BatchNormInference", 1, 5, BatchNorm([2, 0, 1, 3, 4])),
    row("BatchNormInference", 5, 5, BatchNorm([0, 1, 2, 3, 4])),
    // Products.
    row("MatMul", 1, 2, Custom(product::mat_mul)),
    full_row("Einsum", 7, 1..=VARIADIC, &[], Custom(product::einsum)),
    full_row("ScaledDotProductAttention", 13, 3..=5, &[], Custom(attention::attention)),
    // Convolutions and pooling.
    row("Convolution", 1, 2, Custom(windows::convolution)),
    row("GroupConvolution", 1, 2, Custom(windows::group_convolution)),
    full_row("ConvolutionBackpropData", 1, 2..=3, &[2], Custom(windows::backward)),
    full_row("GroupConvolutionBackpropData", 1, 2..=3, &[2], Custom(windows::group_backward)),
    row("AvgPool", 1, 1, Custom(windows::average_pool)),
    row("MaxPool", 1, 1, Custom(windows::max_pool)),
    row("MaxPool", 8, 1, MultipleResults(windows::max_pool_with_positions)),
    full_row("LRN", 1, 2..=2, &[1], Custom(windows::normalize_responses)),
    // Fourier transforms.
    full_row("DFT", 7, 2..=3, &[1, 2], Custom(fourier::forward)),
    full_row("IDFT", 7, 2..=3, &[1, 2], Custom(fourier::inverse)),
    full_row("RDFT", 9, 2..=3, &[1, 2], Custom(fourier::forward_real)),
    full_row("IRDFT", 9, 2..=3, &[1, 2], Custom(fourier::inverse_real)),
    // Data movement.
    full_row("Reshape", 1, 2..=2, &[1], Custom(view::reshape)),
    full_row("Transpose", 1, 2..=2, &[1], Custom(view::transpose)),
    full_row("Squeeze", 1, 1..=2, &[1], Custom(view::squeeze)),
    full_row("Unsqueeze", 1, 2..=2, &[1], Custom(view::unsqueeze)),
    full_row("Broadcast", 1, 2..=3, &[1, 2], Custom(view::broadcast)),
    full_row("Concat", 1, 1..=VARIADIC, &[], Custom(view::concat)),
    full_row("Split", 1, 2..=2, &[1], MultipleResults(view::split)),
    full_row("VariadicSplit", 1, 3..=3, &[1, 2], MultipleResults(view::variadic_split)),
    full_row("Slice", 8, 4..=5, &[1, 2, 3, 4], Custom(slice::slice)),
    full_row("StridedSlice", 1, 3..=4, &[1, 2, 3], Custom(slice::strided_slice)),
    full_row("Pad", 1, 3..=4, &[1, 2], Custom(view::pad)),
    full_row("Interpolate", 1, 2..=2, &[1], Custom(interpolate::first_version)),
    full_row("Interpolate", 4, 3..=4, &[1, 2, 3], Custom(interpolate::fourth_version)),
    full_row("Interpolate", 11, 2..=3, &[1, 2], Custom(interpolate::eleventh_version)),
    row("ReverseSequence", 1, 2, Custom(view::reverse_sequence)),
    full_row("Tile", 1, 2..=2, &[1], Custom(view::tile)),
    row("DepthToSpace", 1, 1, Custom(blocks::depth_to_space)),
    row("SpaceToDepth", 1, 1, Custom(blocks::space_to_depth)),
    row("ShuffleChannels", 1, 1, Custom(blocks::shuffle_channels)),
    full_row("Range", 1, 3..=3, &[0, 1, 2], Custom(view::range)),
    // Functions of shapes.
    row("ShapeOf", 1, 1, Shape(view::shape_of)),
    // Indices.
    full_row("Gather", 1, 3..=3, &[2], Custom(gather::gather)),
    full_row("Gather", 8, 3..=3, &[2], Custom(gather::gather_from_end)),
    row("GatherElements", 6, 2, Custom(gather::gather_elements)),
    row("GatherND", 5, 2, Custom(gather::gather_nd_of_one_batch)),
    row("GatherND", 8, 2, Custom(gather::gather_nd)),
    full_row("OneHot", 1, 4..=4, &[1], Custom(gather::one_hot)),
    full_row("ScatterUpdate", 3, 4..=4, &[3], Custom(scatter::scatter_update)),
    full_row("ScatterElementsUpdate", 3, 4..=4, &[3], Custom(scatter::scatter_elements)),
    row("ScatterNDUpdate", 3, 3, Custom(scatter::scatter_nd)),
    full_row("TopK", 1, 2..=2, &[1], MultipleResults(sort::top_k)),
    row("SearchSorted", 15, 2, Custom(sort::search_sorted)),
    // Loops and branches.
    full_row("TensorIterator", 1, 1..=VARIADIC, &[], Control),
    full_row("Loop", 5, 2..=VARIADIC, &[], Control),
    full_row("If", 8, 1..=VARIADIC, &[], Control),
    // Recurrent layers.
    full_row("LSTMCell", 1, 5..=6, &[], MultipleResults(recurrent::lstm_cell)),
    full_row("GRUCell", 3, 4..=5, &[], MultipleResults(recurrent::gru_cell)),
    full_row("RNNCell", 1, 4..=5, &[], MultipleResults(recurrent::rnn_cell)),
    full_row("LSTMSequence", 1, 7..=7, &[], MultipleResults(recurrent::lstm_sequence)),
    full_row("GRUSequence", 5, 6..=6, &[], MultipleResults(recurrent::gru_sequence)),
    full_row("RNNSequence", 5, 6..=6, &[], MultipleResults(recurrent::rnn_sequence)),
];

/// Names of the supported operations.
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> = TABLE.iter().map(|row| row.name.to_owned()).collect();
    names.dedup();
    names
}

/// The reason why a layer has no row.
pub(super) enum MissingReason {
    /// No version of the operation is supported.
    Operation,
    /// Later operation sets have the operation, from this one on.
    Since(u32),
    /// OpenVINO has no such operation set.
    Set,
}

/// The newest operation set of OpenVINO 2026.4.
const NEWEST_SET: u32 = 17;

/// The row of a layer.
///
/// # Errors
/// Returns the reason if no row exists.
pub(super) fn operation_of(layer: &Layer) -> Result<&'static Operation, MissingReason> {
    let named = || TABLE.iter().filter(|row| row.name.eq_ignore_ascii_case(&layer.operation));
    let Some(first) = named().map(|row| row.since).min() else {
        return Err(MissingReason::Operation);
    };
    let set = layer.version.strip_prefix("opset").and_then(|number| number.parse::<u32>().ok());
    let Some(set) = set.filter(|set| (1..=NEWEST_SET).contains(set)) else {
        return Err(MissingReason::Set);
    };
    let newest = named().filter(|row| row.since <= set).max_by_key(|row| row.since);
    newest.ok_or(MissingReason::Since(first))
}

impl Operation {
    /// Lowers a layer to nodes; returns its results. Empty for the layers that `build.rs` and
    /// `control.rs` build.
    ///
    /// # Errors
    /// Returns errors of its attributes or operands.
    pub(super) fn lower(&self, call: &Call<'_>) -> LoweringResult<Vec<Value>> {
        let one = match self.lowering {
            Parameter | Constant | Output | Shape(_) | Control => return Ok(Vec::new()),
            MultipleResults(own) => return own(call),
            Function(op) => elementwise::function(call, op),
            Exact(op) => elementwise::exact(call, op),
            Arithmetic(op) => elementwise::arithmetic(call, op),
            Comparison(op) => elementwise::comparison(call, op),
            Logical(op) => elementwise::logical(call, op),
            Bitwise(op) => elementwise::bitwise(call, op),
            Predicate(op) => elementwise::predicate(call, op),
            Compose(composition) => activation::composition(call, composition, &[]),
            PlainReduction(function) => reduction::reduce(call, function),
            WideReduction(function) => reduction::reduce_wide(call, function),
            LogicalReduction(function) => reduction::reduce_logical(call, function),
            AlongAxis(function) => reduction::softmax(call, function),
            BatchNorm(positions) => reduction::batch_norm(call, positions),
            Custom(own) => own(call),
        };
        one.map(|value| vec![value])
    }
}
