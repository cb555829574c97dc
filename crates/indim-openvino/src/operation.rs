//! THE table of operations: what each of OpenVINO's is in indim.
//!
//! A row gives the name, the operation set that introduced this version of it, how many operands it has,
//! which of them say shapes or axes, so that they must be known while the graph is made, and what it is. A
//! layer says an operation set: it is of the newest version that this has.

use core::ops::RangeInclusive;

use indim_builder::{Composition, Reduction, Value};
use indim_graph::Array;
use indim_ops::Op;

use crate::activation;
use crate::call::{Call, Lowered};
use crate::elementwise;
use crate::layer::Layer;
use crate::reduction;
use crate::slice;
use crate::view;

/// A row of the table.
pub(super) struct Operation {
    name: &'static str,
    since: u32,
    pub(super) operands: RangeInclusive<usize>,
    /// The operands that must be known.
    pub(super) shapes: &'static [usize],
    pub(super) meaning: Meaning,
}

/// What an operation is.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// An input of the network.
    Parameter,
    /// Elements that lie beside the file.
    Constant,
    /// An output of the network.
    Result,
    /// What is known as soon as its operand's shape is.
    Shape(fn(&Call<'_>) -> Lowered<Array>),
    /// A function of floats.
    Function(Op),
    /// What leaves integers integers.
    Exact(Op),
    /// Of numbers that meet by a rule.
    Arithmetic(Op),
    /// Of elements that meet by a rule.
    Comparison(Op),
    /// Of truth values that meet by a rule.
    Logical(Op),
    /// Of integers or truth values that meet by a rule.
    Bitwise(Op),
    /// What says of floats which they are.
    Predicate(Op),
    /// A composition without numbers.
    Composed(Composition),
    /// A reduction that keeps the element type.
    PlainReduction(Reduction),
    /// A reduction that is computed in double precision.
    WideReduction(Reduction),
    /// A reduction of truth values.
    LogicalReduction(Reduction),
    /// Along one axis, which stays.
    AlongAxis(Reduction),
    /// `[data, gamma, beta, mean, variance]`: where these stand among the operands.
    BatchNorm([usize; 5]),
    /// A definition of its own.
    Own(fn(&Call<'_>) -> Lowered),
    /// One with several results.
    Several(fn(&Call<'_>) -> Lowered<Vec<Value>>),
}

use Meaning::{
    AlongAxis, Arithmetic, BatchNorm, Bitwise, Comparison, Composed, Constant, Exact, Function,
    Logical, LogicalReduction, Own, Parameter, PlainReduction, Predicate, Result as Output,
    Several, Shape, WideReduction,
};

const ANY_NUMBER: usize = usize::MAX;

/// A row whose operands are all data.
const fn of(name: &'static str, since: u32, operands: usize, meaning: Meaning) -> Operation {
    Operation { name, since, operands: operands..=operands, shapes: &[], meaning }
}

/// A row with operands that must be known.
const fn by(
    name: &'static str,
    since: u32,
    operands: RangeInclusive<usize>,
    shapes: &'static [usize],
    meaning: Meaning,
) -> Operation {
    Operation { name, since, operands, shapes, meaning }
}

const TABLE: &[Operation] = &[
    of("Parameter", 1, 0, Parameter),
    of("Const", 1, 0, Constant),
    of("Constant", 1, 0, Constant),
    of("Result", 1, 1, Output),
    // Element by element.
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
    of("Round", 5, 1, Own(elementwise::round)),
    of("IsFinite", 10, 1, Predicate(Op::IsFinite)),
    of("IsNaN", 10, 1, Predicate(Op::IsNan)),
    of("IsInf", 10, 1, Own(elementwise::is_inf)),
    of("Convert", 1, 1, Own(elementwise::convert)),
    of("ConvertLike", 1, 2, Own(elementwise::convert_like)),
    of("Identity", 16, 1, Own(elementwise::identity)),
    of("LogicalNot", 1, 1, Logical(Op::Not)),
    of("BitwiseNot", 13, 1, Bitwise(Op::Not)),
    // Two operands, or three, that meet by a rule.
    of("Add", 1, 2, Arithmetic(Op::Add)),
    of("Subtract", 1, 2, Arithmetic(Op::Sub)),
    of("Multiply", 1, 2, Arithmetic(Op::Mul)),
    of("Divide", 1, 2, Own(elementwise::divide)),
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
    of("BitwiseLeftShift", 15, 2, Own(elementwise::left_shift)),
    of("BitwiseRightShift", 15, 2, Own(elementwise::right_shift)),
    of("Select", 1, 3, Own(elementwise::select)),
    // Functions of neural networks.
    of("Clamp", 1, 1, Own(elementwise::clamp)),
    of("ReLU", 1, 1, Own(elementwise::relu)),
    of("PReLU", 1, 2, Own(elementwise::prelu)),
    of("Elu", 1, 1, Own(activation::elu)),
    of("Selu", 1, 3, Own(activation::selu)),
    of("HardSigmoid", 1, 3, Own(activation::hard_sigmoid)),
    of("Gelu", 2, 1, Composed(Composition::Gelu)),
    of("Gelu", 7, 1, Own(activation::gelu)),
    by("Swish", 4, 1..=2, &[], Own(activation::swish)),
    of("HSwish", 4, 1, Composed(Composition::HardSwish)),
    of("HSigmoid", 5, 1, Own(activation::hsigmoid)),
    of("SoftPlus", 4, 1, Composed(Composition::Softplus)),
    of("SoftSign", 9, 1, Composed(Composition::Softsign)),
    of("Mish", 4, 1, Composed(Composition::Mish)),
    of("FakeQuantize", 1, 5, Own(activation::fake_quantize)),
    // Along axes.
    by("ReduceSum", 1, 2..=2, &[1], PlainReduction(Reduction::Sum)),
    by("ReduceProd", 1, 2..=2, &[1], PlainReduction(Reduction::Prod)),
    by("ReduceMax", 1, 2..=2, &[1], PlainReduction(Reduction::Max)),
    by("ReduceMin", 1, 2..=2, &[1], PlainReduction(Reduction::Min)),
    by("ReduceMean", 1, 2..=2, &[1], WideReduction(Reduction::Mean)),
    by("ReduceL1", 4, 2..=2, &[1], Own(reduction::reduce_l1)),
    by("ReduceL2", 4, 2..=2, &[1], WideReduction(Reduction::Norm)),
    by("ReduceLogicalAnd", 1, 2..=2, &[1], LogicalReduction(Reduction::All)),
    by("ReduceLogicalOr", 1, 2..=2, &[1], LogicalReduction(Reduction::Any)),
    of("SoftMax", 1, 1, AlongAxis(Reduction::Softmax)),
    of("LogSoftmax", 5, 1, AlongAxis(Reduction::LogSoftmax)),
    // It came with the second set, but files say the first.
    of("MVN", 1, 1, Own(reduction::mvn_of_channels)),
    by("MVN", 6, 2..=2, &[1], Own(reduction::mvn)),
    by("NormalizeL2", 1, 2..=2, &[1], Own(reduction::normalize_l2)),
    of("BatchNormInference", 1, 5, BatchNorm([2, 0, 1, 3, 4])),
    of("BatchNormInference", 5, 5, BatchNorm([0, 1, 2, 3, 4])),
    // Views.
    by("Reshape", 1, 2..=2, &[1], Own(view::reshape)),
    by("Transpose", 1, 2..=2, &[1], Own(view::transpose)),
    by("Squeeze", 1, 1..=2, &[1], Own(view::squeeze)),
    by("Unsqueeze", 1, 2..=2, &[1], Own(view::unsqueeze)),
    by("Broadcast", 1, 2..=3, &[1, 2], Own(view::broadcast)),
    by("Concat", 1, 1..=ANY_NUMBER, &[], Own(view::concat)),
    by("Split", 1, 2..=2, &[1], Several(view::split)),
    by("VariadicSplit", 1, 3..=3, &[1, 2], Several(view::variadic_split)),
    by("Slice", 8, 4..=5, &[1, 2, 3, 4], Own(slice::slice)),
    by("StridedSlice", 1, 3..=4, &[1, 2, 3], Own(slice::strided_slice)),
    by("Pad", 1, 3..=4, &[1, 2], Own(view::pad)),
    by("Tile", 1, 2..=2, &[1], Own(view::tile)),
    by("Range", 1, 3..=3, &[0, 1, 2], Own(view::range)),
    // Of what is known.
    of("ShapeOf", 1, 1, Shape(view::shape_of)),
    by("Gather", 1, 3..=3, &[], Own(view::gather)),
];

/// The names of the operations that can be read.
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> = TABLE.iter().map(|row| row.name.to_owned()).collect();
    names.dedup();
    names
}

/// Why there is no row for a layer.
pub(super) enum Missing {
    /// No version of the operation is to be had.
    Operation,
    /// This set has none, the sets have it from that number on.
    Since(u32),
    /// OpenVINO has no such set of its own.
    Set,
}

/// The newest operation set of OpenVINO 2026.4.
const NEWEST_SET: u32 = 17;

/// The row of a layer.
///
/// # Errors
/// Why there is none.
pub(super) fn operation_of(layer: &Layer) -> Result<&'static Operation, Missing> {
    let named = || TABLE.iter().filter(|row| row.name.eq_ignore_ascii_case(&layer.operation));
    let Some(first) = named().map(|row| row.since).min() else { return Err(Missing::Operation) };
    let set = layer.version.strip_prefix("opset").and_then(|number| number.parse::<u32>().ok());
    let Some(set) = set.filter(|set| (1..=NEWEST_SET).contains(set)) else {
        return Err(Missing::Set);
    };
    let newest = named().filter(|row| row.since <= set).max_by_key(|row| row.since);
    newest.ok_or(Missing::Since(first))
}

impl Operation {
    /// The nodes of a layer; what it is known to be where it is no more than that.
    ///
    /// # Errors
    /// What is wrong with its attributes or operands.
    pub(super) fn lower(&self, call: &Call<'_>) -> Lowered<Vec<Value>> {
        let one = match self.meaning {
            Parameter | Constant | Output | Shape(_) => return Ok(Vec::new()),
            Several(own) => return own(call),
            Function(op) => elementwise::function(call, op),
            Exact(op) => elementwise::exact(call, op),
            Arithmetic(op) => elementwise::arithmetic(call, op),
            Comparison(op) => elementwise::comparison(call, op),
            Logical(op) => elementwise::logical(call, op),
            Bitwise(op) => elementwise::bitwise(call, op),
            Predicate(op) => elementwise::predicate(call, op),
            Composed(composition) => activation::composition(call, composition, &[]),
            PlainReduction(function) => reduction::reduce(call, function),
            WideReduction(function) => reduction::reduce_wide(call, function),
            LogicalReduction(function) => reduction::reduce_logical(call, function),
            AlongAxis(function) => reduction::softmax(call, function),
            BatchNorm(positions) => reduction::batch_norm(call, positions),
            Own(own) => own(call),
        };
        one.map(|value| vec![value])
    }
}
