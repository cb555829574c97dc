//! The table of element-wise operations for the writer.

use indim_ops::{DType, Op};

use crate::write::compose;
use crate::write::file::WriterPort;
use crate::write::layer_writer::{LayerResult, LayerWriter};

/// The encoding of an operation of indim in OpenVINO.
#[derive(Clone, Copy)]
pub(super) enum OperationEncoding {
    /// One operation of this operation set; its operands broadcast by NumPy's rule.
    One(&'static str, u32),
    /// One operation; the third field is the operation for booleans.
    OrLogical(&'static str, u32, &'static str),
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
    /// Layers with the same results, which the writer does not report.
    Same(fn(&mut LayerWriter, &[WriterPort]) -> LayerResult),
    /// A decomposition whose results can differ, and its description, which the writer reports to the
    /// user.
    Decomposition(fn(&mut LayerWriter, &[WriterPort]) -> LayerResult, &'static str),
    /// No encoding.
    Unsupported,
}

use OperationEncoding::{
    Decomposition, IntegerDivision, One, OrLogical, Prelu, RightShift, Same, Unsupported,
};

/// The encoding of an operation on elements of this type.
pub(super) fn form(op: Op, dtype: DType) -> OperationEncoding {
    match (op, dtype.is_integer()) {
        (Op::Div, true) => IntegerDivision("false"),
        (Op::FloorDiv, true) => IntegerDivision("true"),
        (Op::Neg, true) if !is_signed(dtype) => Same(compose::from_zero),
        // Unsigned integers are their own magnitude.
        (Op::Abs, true) if !is_signed(dtype) => Same(compose::identity),
        _ => row(op),
    }
}

fn row(op: Op) -> OperationEncoding {
    match op {
        Op::Neg => One("Negative", 1),
        Op::Abs => One("Abs", 1),
        Op::Sign => One("Sign", 1),
        Op::Not => OrLogical("BitwiseNot", 13, "LogicalNot"),
        Op::Floor => One("Floor", 1),
        Op::Ceil => One("Ceiling", 1),
        Op::Trunc => Decomposition(compose::trunc, "Select(x < 0, Ceiling, Floor)"),
        Op::RoundEven => One("Round half_to_even", 5),
        Op::RoundAway => One("Round half_away_from_zero", 5),
        Op::IsFinite => One("IsFinite", 10),
        Op::IsNan => One("IsNaN", 10),
        Op::IsInf => One("IsInf", 10),
        Op::Real | Op::Conj => Same(compose::identity),
        Op::Square => Same(compose::square),
        Op::Reciprocal => Same(compose::reciprocal),
        Op::Sqrt => One("Sqrt", 1),
        Op::Rsqrt => Decomposition(compose::rsqrt, "1 / Sqrt(x)"),
        Op::Exp => One("Exp", 1),
        Op::Exp2 => Decomposition(compose::exp2, "Power(2, x)"),
        Op::Expm1 => Decomposition(compose::expm1, "Tanh(x / 2) * (Exp(x) + 1)"),
        Op::Log => One("Log", 1),
        Op::Log2 => Decomposition(compose::log2, "Log(x) / ln 2"),
        Op::Log10 => Decomposition(compose::log10, "Log(x) / ln 10"),
        Op::Log1p => {
            Decomposition(compose::log1p, "2 * Atanh(x / (x + 2)) near 0, else Log(1 + x)")
        }
        Op::Sin => One("Sin", 1),
        Op::Cos => One("Cos", 1),
        Op::Tan => One("Tan", 1),
        Op::Tanh => One("Tanh", 1),
        Op::Cbrt => Decomposition(compose::cbrt, "Sign(x) * Power(Abs(x), 1/3)"),
        Op::Asin => One("Asin", 1),
        Op::Acos => One("Acos", 1),
        Op::Atan => One("Atan", 1),
        Op::Sinh => One("Sinh", 1),
        Op::Cosh => One("Cosh", 1),
        Op::Asinh => One("Asinh", 4),
        Op::Acosh => One("Acosh", 4),
        Op::Atanh => One("Atanh", 4),
        Op::Erf => One("Erf", 1),
        Op::Erfc => Decomposition(compose::erfc, "1 - Erf(x)"),
        Op::Logistic => One("Sigmoid", 1),
        Op::Add => OrLogical("Add", 1, "LogicalOr"),
        Op::Sub => One("Subtract", 1),
        Op::Mul => OrLogical("Multiply", 1, "LogicalAnd"),
        Op::Div => One("Divide", 1),
        Op::FloorDiv => Decomposition(compose::floor_div, "Floor(x / y)"),
        Op::PyMod => One("FloorMod", 1),
        Op::Rem => One("Mod", 1),
        Op::Max => OrLogical("Maximum", 1, "LogicalOr"),
        Op::Min => OrLogical("Minimum", 1, "LogicalAnd"),
        Op::Pow => One("Power", 1),
        Op::Hypot => {
            Decomposition(compose::hypot, "m * Sqrt(1 + (n / m)^2) of the larger and the smaller")
        }
        Op::Logaddexp => Decomposition(compose::logaddexp, "Maximum(x, y) + SoftPlus(-Abs(x - y))"),
        Op::Fmax => Decomposition(compose::fmax, "Select(x is a NaN, y, Maximum(x, y))"),
        Op::Fmin => Decomposition(compose::fmin, "Select(x is a NaN, y, Minimum(x, y))"),
        Op::Prelu => Prelu,
        Op::SquaredDifference => One("SquaredDifference", 1),
        Op::And => OrLogical("BitwiseAnd", 13, "LogicalAnd"),
        Op::Or => OrLogical("BitwiseOr", 13, "LogicalOr"),
        Op::Xor => OrLogical("BitwiseXor", 13, "LogicalXor"),
        Op::Shl => One("BitwiseLeftShift", 15),
        Op::ShrArithmetic => RightShift { signed: true },
        Op::ShrLogical => RightShift { signed: false },
        Op::Eq => One("Equal", 1),
        Op::Ne => One("NotEqual", 1),
        Op::Lt => One("Less", 1),
        Op::Le => One("LessEqual", 1),
        Op::Gt => One("Greater", 1),
        Op::Ge => One("GreaterEqual", 1),
        Op::Select => One("Select", 1),
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
