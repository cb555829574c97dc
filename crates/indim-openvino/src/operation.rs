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
use crate::call::{Call, LoweringResult};
use crate::elementwise;
use crate::gather;
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
    /// The shape operands: operands that must be known at build time.
    pub(super) shapes: &'static [usize],
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

/// A row without shape operands.
const fn of(name: &'static str, since: u32, operands: usize, lowering: Lowering) -> Operation {
    Operation { name, since, operands: operands..=operands, shapes: &[], lowering }
}

/// A row with shape operands.
const fn by(
    name: &'static str,
    since: u32,
    operands: RangeInclusive<usize>,
    shapes: &'static [usize],
    lowering: Lowering,
) -> Operation {
    Operation { name, since, operands, shapes, lowering }
}

const TABLE: &[Operation] = &[
    of("Parameter", 1, 0, Parameter),
    of("Const", 1, 0, Constant),
    of("Constant", 1, 0, Constant),
    of("Result", 1, 1, Output),
    // Element-wise.
    of("Acos", 1, 1, Function(Op::Acos)),
    of("Acosh", 4, 1, Function(Op::Acosh)),
    of("Asin", 1, 1, Function(Op::Asin)),
    of("Asinh", 4, 1, Function(Op::Asinh)),
    of("Atan", 1, 1, Function(Op::Atan)),
    of("Atanh", 4, 1, Function(Op::Atanh)),
    of("Cos", 1, 1, Function(Op::Cos)),
    of("Cosh", 1, 1, Function(Op::Cosh)),
    of("Erf", 1, 1, Function(Op::Erf)),
    of("Exp", 1, 1, Function(Op::Exp)),
    of("Log", 1, 1, Function(Op::Log)),
    of("Sigmoid", 1, 1, Function(Op::Logistic)),
    of("Sin", 1, 1, Function(Op::Sin)),
    of("Sinh", 1, 1, Function(Op::Sinh)),
    of("Sqrt", 1, 1, Function(Op::Sqrt)),
    of("Tan", 1, 1, Function(Op::Tan)),
    of("Tanh", 1, 1, Function(Op::Tanh)),
    of("Abs", 1, 1, Exact(Op::Abs)),
    of("Ceiling", 1, 1, Exact(Op::Ceil)),
    of("Floor", 1, 1, Exact(Op::Floor)),
    of("Negative", 1, 1, Exact(Op::Neg)),
    of("Sign", 1, 1, Exact(Op::Sign)),
    of("Round", 5, 1, Custom(elementwise::round)),
    of("IsFinite", 10, 1, Predicate(Op::IsFinite)),
    of("IsNaN", 10, 1, Predicate(Op::IsNan)),
    of("IsInf", 10, 1, Custom(elementwise::is_inf)),
    of("Convert", 1, 1, Custom(elementwise::convert)),
    of("ConvertLike", 1, 2, Custom(elementwise::convert_like)),
    of("Identity", 16, 1, Custom(elementwise::identity)),
    of("LogicalNot", 1, 1, Logical(Op::Not)),
    of("BitwiseNot", 13, 1, Bitwise(Op::Not)),
    // Two or three operands under a broadcast rule.
    of("Add", 1, 2, Arithmetic(Op::Add)),
    of("Subtract", 1, 2, Arithmetic(Op::Sub)),
    of("Multiply", 1, 2, Arithmetic(Op::Mul)),
    of("Divide", 1, 2, Custom(elementwise::divide)),
    of("Maximum", 1, 2, Arithmetic(Op::Max)),
    of("Minimum", 1, 2, Arithmetic(Op::Min)),
    of("Power", 1, 2, Arithmetic(Op::Pow)),
    of("SquaredDifference", 1, 2, Arithmetic(Op::SquaredDifference)),
    of("Mod", 1, 2, Arithmetic(Op::Rem)),
    of("FloorMod", 1, 2, Arithmetic(Op::PyMod)),
    of("Equal", 1, 2, Comparison(Op::Eq)),
    of("NotEqual", 1, 2, Comparison(Op::Ne)),
    of("Less", 1, 2, Comparison(Op::Lt)),
    of("LessEqual", 1, 2, Comparison(Op::Le)),
    of("Greater", 1, 2, Comparison(Op::Gt)),
    of("GreaterEqual", 1, 2, Comparison(Op::Ge)),
    of("LogicalAnd", 1, 2, Logical(Op::And)),
    of("LogicalOr", 1, 2, Logical(Op::Or)),
    of("LogicalXor", 1, 2, Logical(Op::Xor)),
    of("Xor", 1, 2, Logical(Op::Xor)),
    of("BitwiseAnd", 13, 2, Bitwise(Op::And)),
    of("BitwiseOr", 13, 2, Bitwise(Op::Or)),
    of("BitwiseXor", 13, 2, Bitwise(Op::Xor)),
    of("BitwiseLeftShift", 15, 2, Custom(elementwise::left_shift)),
    of("BitwiseRightShift", 15, 2, Custom(elementwise::right_shift)),
    of("Select", 1, 3, Custom(elementwise::select)),
    // Activation functions.
    of("Clamp", 1, 1, Custom(elementwise::clamp)),
    of("ReLU", 1, 1, Custom(elementwise::relu)),
    of("PReLU", 1, 2, Custom(elementwise::prelu)),
    of("Elu", 1, 1, Custom(activation::elu)),
    of("Selu", 1, 3, Custom(activation::selu)),
    of("HardSigmoid", 1, 3, Custom(activation::hard_sigmoid)),
    of("Gelu", 2, 1, Compose(Composition::Gelu)),
    of("Gelu", 7, 1, Custom(activation::gelu)),
    by("Swish", 4, 1..=2, &[], Custom(activation::swish)),
    of("HSwish", 4, 1, Compose(Composition::HardSwish)),
    of("HSigmoid", 5, 1, Custom(activation::hsigmoid)),
    of("SoftPlus", 4, 1, Compose(Composition::Softplus)),
    of("SoftSign", 9, 1, Compose(Composition::Softsign)),
    of("Mish", 4, 1, Compose(Composition::Mish)),
    of("FakeQuantize", 1, 5, Custom(activation::fake_quantize)),
    // Along axes.
    by("ReduceSum", 1, 2..=2, &[1], PlainReduction(Reduction::Sum)),
    by("ReduceProd", 1, 2..=2, &[1], PlainReduction(Reduction::Prod)),
    by("ReduceMax", 1, 2..=2, &[1], PlainReduction(Reduction::Max)),
    by("ReduceMin", 1, 2..=2, &[1], PlainReduction(Reduction::Min)),
    by("ReduceMean", 1, 2..=2, &[1], WideReduction(Reduction::Mean)),
    by("CumSum", 3, 1..=2, &[1], Custom(reduction::cumsum)),
    by("ReduceL1", 4, 2..=2, &[1], Custom(reduction::reduce_l1)),
    by("ReduceL2", 4, 2..=2, &[1], WideReduction(Reduction::Norm)),
    by("ReduceLogicalAnd", 1, 2..=2, &[1], LogicalReduction(Reduction::All)),
    by("ReduceLogicalOr", 1, 2..=2, &[1], LogicalReduction(Reduction::Any)),
    of("SoftMax", 1, 1, AlongAxis(Reduction::Softmax)),
    of("LogSoftmax", 5, 1, AlongAxis(Reduction::LogSoftmax)),
    // The second operation set introduced `MVN`, but files name the first one.
    of("MVN", 1, 1, Custom(reduction::mvn_of_channels)),
    by("MVN", 6, 2..=2, &[1], Custom(reduction::mvn)),
    by("NormalizeL2", 1, 2..=2, &[1], Custom(reduction::normalize_l2)),
    of("BatchNormInference", 1, 5, BatchNorm([2, 0, 1, 3, 4])),
    of("BatchNormInference", 5, 5, BatchNorm([0, 1, 2, 3, 4])),
    // Products.
    of("MatMul", 1, 2, Custom(product::mat_mul)),
    by("Einsum", 7, 1..=VARIADIC, &[], Custom(product::einsum)),
    // Convolutions and pooling.
    of("Convolution", 1, 2, Custom(windows::convolution)),
    of("GroupConvolution", 1, 2, Custom(windows::group_convolution)),
    by("ConvolutionBackpropData", 1, 2..=3, &[2], Custom(windows::backward)),
    by("GroupConvolutionBackpropData", 1, 2..=3, &[2], Custom(windows::group_backward)),
    of("AvgPool", 1, 1, Custom(windows::average_pool)),
    of("MaxPool", 1, 1, Custom(windows::max_pool)),
    // Data movement.
    by("Reshape", 1, 2..=2, &[1], Custom(view::reshape)),
    by("Transpose", 1, 2..=2, &[1], Custom(view::transpose)),
    by("Squeeze", 1, 1..=2, &[1], Custom(view::squeeze)),
    by("Unsqueeze", 1, 2..=2, &[1], Custom(view::unsqueeze)),
    by("Broadcast", 1, 2..=3, &[1, 2], Custom(view::broadcast)),
    by("Concat", 1, 1..=VARIADIC, &[], Custom(view::concat)),
    by("Split", 1, 2..=2, &[1], MultipleResults(view::split)),
    by("VariadicSplit", 1, 3..=3, &[1, 2], MultipleResults(view::variadic_split)),
    by("Slice", 8, 4..=5, &[1, 2, 3, 4], Custom(slice::slice)),
    by("StridedSlice", 1, 3..=4, &[1, 2, 3], Custom(slice::strided_slice)),
    by("Pad", 1, 3..=4, &[1, 2], Custom(view::pad)),
    by("Tile", 1, 2..=2, &[1], Custom(view::tile)),
    by("Range", 1, 3..=3, &[0, 1, 2], Custom(view::range)),
    // Functions of shapes.
    of("ShapeOf", 1, 1, Shape(view::shape_of)),
    // Indices.
    by("Gather", 1, 3..=3, &[2], Custom(gather::gather)),
    by("Gather", 8, 3..=3, &[2], Custom(gather::gather_from_end)),
    of("GatherElements", 6, 2, Custom(gather::gather_elements)),
    of("GatherND", 5, 2, Custom(gather::gather_nd_of_one_batch)),
    of("GatherND", 8, 2, Custom(gather::gather_nd)),
    by("OneHot", 1, 4..=4, &[1], Custom(gather::one_hot)),
    by("ScatterUpdate", 3, 4..=4, &[3], Custom(scatter::scatter_update)),
    by("ScatterElementsUpdate", 3, 4..=4, &[3], Custom(scatter::scatter_elements)),
    of("ScatterNDUpdate", 3, 3, Custom(scatter::scatter_nd)),
    by("TopK", 1, 2..=2, &[1], MultipleResults(sort::top_k)),
    of("SearchSorted", 15, 2, Custom(sort::search_sorted)),
    // Loops and branches.
    by("TensorIterator", 1, 1..=VARIADIC, &[], Control),
    by("Loop", 5, 2..=VARIADIC, &[], Control),
    by("If", 8, 1..=VARIADIC, &[], Control),
    // Recurrent layers.
    by("LSTMCell", 1, 5..=6, &[], MultipleResults(recurrent::lstm_cell)),
    by("GRUCell", 3, 4..=5, &[], MultipleResults(recurrent::gru_cell)),
    by("RNNCell", 1, 4..=5, &[], MultipleResults(recurrent::rnn_cell)),
    by("LSTMSequence", 1, 7..=7, &[], MultipleResults(recurrent::lstm_sequence)),
    by("GRUSequence", 5, 6..=6, &[], MultipleResults(recurrent::gru_sequence)),
    by("RNNSequence", 5, 6..=6, &[], MultipleResults(recurrent::rnn_sequence)),
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
