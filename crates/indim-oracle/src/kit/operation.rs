//! The operations of a kit, with their names in other systems.

use indim_ops::{DType, Op};

use super::random::SplitMix64;

/// An operation of a kit.
#[derive(Debug)]
pub(super) struct KitOperation {
    pub(super) op: Op,
    pub(super) operands: usize,
    /// The tested element types.
    pub(super) dtypes: &'static [DType],
    /// Element types in ONNX before opset 7; empty if the operation does not broadcast there.
    pub(super) legacy_dtypes: &'static [DType],
    pub(super) onnx: Option<&'static str>,
    pub(super) openvino: Option<&'static str>,
    /// The name without `stablehlo.`, and the direction of a comparison.
    pub(super) stablehlo: (&'static str, Option<&'static str>),
}

const NUMBERS: &[DType] = &[DType::F32, DType::I32];
const BOOLEANS: &[DType] = &[DType::Bool];
const ALL_TYPES: &[DType] = &[DType::F32, DType::I32, DType::Bool];

/// An operation that ONNX, OpenVINO and StableHLO have under these names.
const fn named(
    op: Op,
    operands: usize,
    dtypes: &'static [DType],
    legacy_dtypes: &'static [DType],
    onnx: &'static str,
    openvino: &'static str,
    stablehlo: &'static str,
) -> KitOperation {
    let (onnx, openvino, stablehlo) = (Some(onnx), Some(openvino), (stablehlo, None));
    KitOperation { op, operands, dtypes, legacy_dtypes, onnx, openvino, stablehlo }
}

/// A comparison: in StableHLO the operation `compare` with a direction.
const fn comparison(
    op: Op,
    dtypes: &'static [DType],
    legacy_dtypes: &'static [DType],
    onnx: &'static str,
    openvino: &'static str,
    direction: &'static str,
) -> KitOperation {
    let mut comparison = named(op, 2, dtypes, legacy_dtypes, onnx, openvino, "compare");
    comparison.stablehlo.1 = Some(direction);
    comparison
}

/// Only StableHLO and XLA have this operation.
const CLAMP: KitOperation = {
    let mut clamp = named(Op::Clamp, 3, NUMBERS, &[], "", "", "clamp");
    (clamp.onnx, clamp.openvino) = (None, None);
    clamp
};

#[rustfmt::skip]
pub(super) static OPERATIONS: &[KitOperation] = &[
    named(Op::Neg, 1, NUMBERS, NUMBERS, "Neg", "Negative", "negate"),
    named(Op::Not, 1, BOOLEANS, BOOLEANS, "Not", "LogicalNot", "not"),
    named(Op::Add, 2, NUMBERS, NUMBERS, "Add", "Add", "add"),
    named(Op::Sub, 2, NUMBERS, NUMBERS, "Sub", "Subtract", "subtract"),
    named(Op::Mul, 2, NUMBERS, NUMBERS, "Mul", "Multiply", "multiply"),
    named(Op::Div, 2, NUMBERS, NUMBERS, "Div", "Divide", "divide"),
    named(Op::Max, 2, NUMBERS, &[], "Max", "Maximum", "maximum"),
    named(Op::Min, 2, NUMBERS, &[], "Min", "Minimum", "minimum"),
    named(Op::And, 2, BOOLEANS, BOOLEANS, "And", "LogicalAnd", "and"),
    named(Op::Or, 2, BOOLEANS, BOOLEANS, "Or", "LogicalOr", "or"),
    named(Op::Xor, 2, BOOLEANS, BOOLEANS, "Xor", "LogicalXor", "xor"),
    comparison(Op::Eq, ALL_TYPES, &[DType::I32, DType::Bool], "Equal", "Equal", "EQ"),
    comparison(Op::Lt, NUMBERS, &[DType::F32], "Less", "Less", "LT"),
    comparison(Op::Gt, NUMBERS, &[DType::F32], "Greater", "Greater", "GT"),
    named(Op::Select, 3, ALL_TYPES, &[], "Where", "Select", "select"),
    CLAMP,
];

impl KitOperation {
    /// The element type of an operand, if the element type of the operation is `dtype`.
    pub(super) fn operand_dtype(&self, operand: usize, dtype: DType) -> DType {
        if self.op == Op::Select && operand == 0 { DType::Bool } else { dtype }
    }
}

/// A random element of an operand. Elements are small, so that results are exact. Dividends are not
/// negative and divisors are powers of two, so that no division is by 0, or rounded in a direction in
/// which systems differ.
pub(super) fn element(
    op: Option<Op>,
    operand: usize,
    dtype: DType,
    random: &mut SplitMix64,
) -> i64 {
    match (op, operand) {
        _ if dtype == DType::Bool => random.between(0, 1),
        (Some(Op::Div), 0) => random.between(0, 16),
        (Some(Op::Div), _) => random.pick(&[1, 2, 4]),
        // The low bound is never above the high one.
        (Some(Op::Clamp), 0) => random.between(-6, 0),
        (Some(Op::Clamp), 2) => random.between(0, 6),
        _ => random.between(-8, 8),
    }
}
