//! The table of element-wise operations for the writer.

use indim_ops::{DType, Op};

use crate::write::compose;
use crate::write::file::WriterPort;
use crate::write::layer_writer::{LayerResult, LayerWriter};

/// The encoding of an operation of indim in OpenVINO.
#[derive(Clone, Copy)]
pub(super) enum OperationEncoding {
    /// A layer of this type and operation set; its operands broadcast by NumPy's rule.
    Layer(&'static str, u32),
    /// A layer of this type and operation set; for booleans it has the type of the third field.
    LayerOrLogical(&'static str, u32, &'static str),
    /// A quotient of integers, with the value of `m_pythondiv`: whether quotients are rounded down.
    IntegerDivision(&'static str),
    /// A right shift of integers.
    RightShift {
        /// Whether the shift is arithmetic, for which the integers must be signed; a logical shift needs
        /// unsigned ones.
        signed: bool,
    },
    /// PReLU with a slope of the rank of the first operand.
    Prelu,
    /// A decomposition whose results are equal, so the writer does not report it.
    ExactDecomposition(fn(&mut LayerWriter, &[WriterPort]) -> LayerResult),
    /// A decomposition whose results can differ, and its description, which the writer reports to the
    /// user.
    Decomposition(fn(&mut LayerWriter, &[WriterPort]) -> LayerResult, &'static str),
    /// No encoding.
    Unsupported,
}

use OperationEncoding::{
    Decomposition, ExactDecomposition, IntegerDivision, Layer, LayerOrLogical, Prelu, RightShift,
    Unsupported,
};

/// The encoding of an operation on elements of this type.
pub(super) fn encoding_of(op: Op, dtype: DType) -> OperationEncoding {
    match (op, dtype.is_integer()) {
        (Op::Div, true) => IntegerDivision("false"),
        (Op::FloorDiv, true) => IntegerDivision("true"),
        (Op::Neg, true) if !is_signed(dtype) => ExactDecomposition(compose::from_zero),
        // Unsigned integers are their own magnitude.
        (Op::Abs, true) if !is_signed(dtype) => ExactDecomposition(compose::identity),
        _ => default_encoding(op),
    }
}

/// The encoding for every element type that [`encoding_of`] does not treat itself.
fn default_encoding(op: Op) -> OperationEncoding {
    match op {
        Op::Neg => Layer("Negative", 1),
        Op::Abs => Layer("Abs", 1),
        Op::Sign => Layer("Sign", 1),
        Op::Not => LayerOrLogical("BitwiseNot", 13, "LogicalNot"),
        Op::Floor => Layer("Floor", 1),
        Op::Ceil => Layer("Ceiling", 1),
        Op::Trunc => Decomposition(compose::trunc, "Select(x < 0, Ceiling, Floor)"),
        Op::RoundEven => Layer("Round half_to_even", 5),
        Op::RoundAway => Layer("Round half_away_from_zero", 5),
        Op::IsFinite => Layer("IsFinite", 10),
        Op::IsNan => Layer("IsNaN", 10),
        Op::IsInf => Layer("IsInf", 10),
        Op::Real | Op::Conj => ExactDecomposition(compose::identity),
        Op::Square => ExactDecomposition(compose::square),
        Op::Reciprocal => ExactDecomposition(compose::reciprocal),
        Op::Sqrt => Layer("Sqrt", 1),
        Op::Rsqrt => Decomposition(compose::rsqrt, "1 / Sqrt(x)"),
        Op::Exp => Layer("Exp", 1),
        Op::Exp2 => Decomposition(compose::exp2, "Power(2, x)"),
        Op::Expm1 => Decomposition(compose::expm1, "Tanh(x / 2) * (Exp(x) + 1)"),
        Op::Log => Layer("Log", 1),
        Op::Log2 => Decomposition(compose::log2, "Log(x) / ln 2"),
        Op::Log10 => Decomposition(compose::log10, "Log(x) / ln 10"),
        Op::Log1p => {
            Decomposition(compose::log1p, "2 * Atanh(x / (x + 2)) near 0, else Log(1 + x)")
        }
        Op::Sin => Layer("Sin", 1),
        Op::Cos => Layer("Cos", 1),
        Op::Tan => Layer("Tan", 1),
        Op::Tanh => Layer("Tanh", 1),
        Op::Cbrt => Decomposition(compose::cbrt, "Sign(x) * Power(Abs(x), 1/3)"),
        Op::Asin => Layer("Asin", 1),
        Op::Acos => Layer("Acos", 1),
        Op::Atan => Layer("Atan", 1),
        Op::Sinh => Layer("Sinh", 1),
        Op::Cosh => Layer("Cosh", 1),
        Op::Asinh => Layer("Asinh", 4),
        Op::Acosh => Layer("Acosh", 4),
        Op::Atanh => Layer("Atanh", 4),
        Op::Erf => Layer("Erf", 1),
        Op::Erfc => Decomposition(compose::erfc, "1 - Erf(x)"),
        Op::Logistic => Layer("Sigmoid", 1),
        Op::Add => LayerOrLogical("Add", 1, "LogicalOr"),
        Op::Sub => Layer("Subtract", 1),
        Op::Mul => LayerOrLogical("Multiply", 1, "LogicalAnd"),
        Op::Div => Layer("Divide", 1),
        Op::FloorDiv => Decomposition(compose::floor_div, "Floor(x / y)"),
        Op::PyMod => Layer("FloorMod", 1),
        Op::Rem => Layer("Mod", 1),
        Op::Max => LayerOrLogical("Maximum", 1, "LogicalOr"),
        Op::Min => LayerOrLogical("Minimum", 1, "LogicalAnd"),
        Op::Pow => Layer("Power", 1),
        Op::Hypot => {
            Decomposition(compose::hypot, "m * Sqrt(1 + (n / m)^2) of the larger and the smaller")
        }
        Op::Logaddexp => Decomposition(compose::logaddexp, "Maximum(x, y) + SoftPlus(-Abs(x - y))"),
        Op::Fmax => Decomposition(compose::fmax, "Select(x is a NaN, y, Maximum(x, y))"),
        Op::Fmin => Decomposition(compose::fmin, "Select(x is a NaN, y, Minimum(x, y))"),
        Op::Prelu => Prelu,
        Op::SquaredDifference => Layer("SquaredDifference", 1),
        Op::And => LayerOrLogical("BitwiseAnd", 13, "LogicalAnd"),
        Op::Or => LayerOrLogical("BitwiseOr", 13, "LogicalOr"),
        Op::Xor => LayerOrLogical("BitwiseXor", 13, "LogicalXor"),
        Op::Shl => Layer("BitwiseLeftShift", 15),
        Op::ShrArithmetic => RightShift { signed: true },
        Op::ShrLogical => RightShift { signed: false },
        Op::Eq => Layer("Equal", 1),
        Op::Ne => Layer("NotEqual", 1),
        Op::Lt => Layer("Less", 1),
        Op::Le => Layer("LessEqual", 1),
        Op::Gt => Layer("Greater", 1),
        Op::Ge => Layer("GreaterEqual", 1),
        Op::Select => Layer("Select", 1),
        Op::Clamp => Decomposition(compose::clamp, "Minimum(Maximum(x, low), high)"),
        Op::Fma => Decomposition(compose::fma, "x * y + z, which rounds twice"),
        _ => Unsupported,
    }
}

pub(super) fn is_signed(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// A possible difference in OpenVINO's results.
pub(super) fn warning(op: Op, dtype: DType) -> Option<&'static str> {
    match op {
        Op::Max | Op::Min | Op::Clamp if dtype.is_float() => {
            Some("Maximum and Minimum give either operand where one is a NaN")
        }
        Op::Div | Op::FloorDiv | Op::Rem | Op::PyMod if dtype.is_integer() => {
            Some("integers divided by 0 are undefined, and CPUs round all quotients towards 0")
        }
        Op::Rem | Op::PyMod if dtype.is_float() => {
            Some("Mod and FloorMod by an infinity give NaN on CPUs")
        }
        Op::Shl | Op::ShrArithmetic | Op::ShrLogical => {
            Some("shifts by amounts that are negative or beyond the width are undefined")
        }
        Op::Add | Op::Sub | Op::Mul if dtype.is_integer() && dtype.size() == 1 => {
            Some("sums, differences and products of 8-bit integers saturate on CPUs")
        }
        _ => None,
    }
}
