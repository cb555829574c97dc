//! Decompositions of operations that XLA lacks, each with a text that describes it.

use indim_builder::Value;
use indim_graph::GraphError;
use indim_ops::{DType, DTypeClass, Op};

/// The decomposition of an operation and its text; `None` if the operation is unsupported.
///
/// # Errors
/// Returns errors of the builder.
pub(super) fn compose(
    op: Op,
    operands: &[Value],
) -> Result<Option<(Value, &'static str)>, GraphError> {
    let Some(first) = operands.first() else { return Ok(None) };
    let dtype = operands.last().unwrap_or(first).array_type()?.dtype;
    Ok(match operands {
        [x] if dtype.is_float() && trigonometric(op) => inverse_or_hyperbolic(op, x, dtype)?,
        [x] => compose_unary(op, x, dtype),
        [x, y] => compose_binary(op, x, y, dtype)?,
        [x, y, z] if op == Op::Fma => Some((x * y + z, "x * y + z, which rounds twice")),
        _ => None,
    })
}

fn compose_unary(op: Op, x: &Value, dtype: DType) -> Option<(Value, &'static str)> {
    let is_complex = dtype.class() == DTypeClass::Complex;
    Some(match op {
        Op::IsNan => (x.ne(x), "x != x"),
        Op::IsInf => (x.abs().eq(f64::INFINITY), "abs(x) = inf"),
        Op::IsFinite if is_complex => {
            (x.real().is_finite() & x.imag().is_finite(), "is_finite of both parts")
        }
        Op::Conj if is_complex => (x.real().complex(-x.imag()), "complex(real(x), -imag(x))"),
        Op::Conj => (x.clone(), "x"),
        Op::Square => (x * x, "x * x"),
        // Only unsigned integers come here: XLA has the operation for other types.
        Op::Sign => (x.minimum(1), "min(x, 1)"),
        Op::Reciprocal => (1.0 / x, "1 / x"),
        Op::Exp2 => ((x * core::f64::consts::LN_2).exp(), "exp(x * ln 2)"),
        Op::Log2 => (x.log() / core::f64::consts::LN_2, "log(x) / ln 2"),
        Op::Log10 => (x.log() / core::f64::consts::LN_10, "log(x) / ln 10"),
        Op::Trunc => (x.lt(0.0).select(x.ceil(), x.floor()), "select(x < 0, ceil(x), floor(x))"),
        Op::Erfc => (1.0 - x.erf(), "1 - erf(x), which cancels"),
        _ => return None,
    })
}

const fn trigonometric(op: Op) -> bool {
    matches!(
        op,
        Op::Acos | Op::Asin | Op::Atan | Op::Acosh | Op::Asinh | Op::Atanh | Op::Cosh | Op::Sinh
    )
}

fn inverse_or_hyperbolic(op: Op, x: &Value, dtype: DType) -> Result<DecomposedValue, GraphError> {
    let ln2 = core::f64::consts::LN_2;
    // Above this |x|, `asinh` and `acosh` equal `log(2 |x|)` in the element type.
    let far = match dtype {
        DType::F64 => 1e9,
        DType::F32 => 1e4,
        _ => 100.0,
    };
    let size = x.abs();
    // Half of `e^|x|`: finite also where `e^|x|` just overflows.
    let half = (&size - ln2).exp();
    Ok(Some(match op {
        Op::Atan => (x.atan2(1.0), "atan2(x, 1)"),
        Op::Asin => {
            let other = ((1f64 - x) * (1f64 + x)).sqrt() + 1.0;
            (x.atan2(other) * 2.0, "2 atan2(x, 1 + sqrt((1 - x) (1 + x)))")
        }
        Op::Acos => {
            let angle = (1f64 - x).sqrt().atan2((1f64 + x).sqrt());
            (angle * 2.0, "2 atan2(sqrt(1 - x), sqrt(1 + x))")
        }
        Op::Cosh => (&half + 0.25 / &half, "exp(|x|) / 2 + exp(-|x|) / 2"),
        Op::Sinh => {
            let less = size.expm1();
            let near = (&less + &less / (&less + 1.0)) * 0.5;
            let all = size.gt(1.0).select(&half - 0.25 / &half, near);
            (copysign(&all, x, dtype)?, "exp(|x|) / 2 - exp(-|x|) / 2, and the sign of x")
        }
        Op::Asinh => {
            let root = (&size * &size + 1.0).sqrt();
            let near = (&size + &size * &size / (root + 1.0)).log1p();
            let all = size.gt(far).select(size.log() + ln2, near);
            (copysign(&all, x, dtype)?, "log(|x| + sqrt(x * x + 1)), and the sign of x")
        }
        Op::Acosh => {
            let less = x - 1.0;
            let near = (&less + less.sqrt() * (x + 1.0).sqrt()).log1p();
            (x.gt(far).select(x.log() + ln2, near), "log(x + sqrt(x - 1) sqrt(x + 1))")
        }
        Op::Atanh => ((x.log1p() - (-x).log1p()) * 0.5, "(log(1 + x) - log(1 - x)) / 2"),
        _ => return Ok(None),
    }))
}

type DecomposedValue = Option<(Value, &'static str)>;

fn compose_binary(
    op: Op,
    x: &Value,
    y: &Value,
    dtype: DType,
) -> Result<DecomposedValue, GraphError> {
    let is_nan = |x: &Value| x.ne(x);
    let numbers = |extreme: Value| is_nan(x).select(y, is_nan(y).select(x, extreme));
    Ok(Some(match op {
        Op::Add if dtype == DType::Bool => (x | y, "or"),
        Op::Mul if dtype == DType::Bool => (x & y, "and"),
        Op::SquaredDifference => {
            let difference = x - y;
            (&difference * &difference, "(x - y) * (x - y)")
        }
        Op::Prelu => (x.ge(0.0).select(x, y * x), "select(x >= 0, x, y * x)"),
        Op::Fmax => (numbers(x.maximum(y)), "maximum, and select where one is a NaN"),
        Op::Fmin => (numbers(x.minimum(y)), "minimum, and select where one is a NaN"),
        Op::Copysign => (copysign(x, y, dtype)?, "and, or of the bits"),
        Op::Hypot => (hypot(x, y), "the larger times sqrt(1 + the square of the quotient)"),
        Op::Logaddexp => {
            let apart =
                (x.maximum(y) + (-(x - y).abs()).exp().log1p(), x + core::f64::consts::LN_2);
            (x.eq(y).select(apart.1, apart.0), "maximum + log(1 + exp(-abs(x - y)))")
        }
        Op::FloorDiv if dtype.is_float() => (floor_div(x, y, dtype)?, "divide of what rem leaves"),
        Op::PyMod if dtype.is_float() => {
            (py_mod(x, y, dtype)?, "remainder, and y where signs differ")
        }
        Op::FloorDiv => {
            let quotient = x / y;
            let moved = rounds_up(&x.rem(y), y, dtype).select(&quotient - 1, &quotient);
            (y.eq(0).select(0, moved), "divide, and 1 less where signs differ")
        }
        Op::PyMod => {
            let remainder = x.rem(y);
            let moved = rounds_up(&remainder, y, dtype).select(&remainder + y, &remainder);
            (y.eq(0).select(0, moved), "remainder, and y where signs differ")
        }
        _ => return Ok(None),
    }))
}

/// Whether a remainder is not 0 and differs in sign from the divisor, so that XLA's quotient is above
/// the floor. Never for unsigned integers.
fn rounds_up(remainder: &Value, divisor: &Value, dtype: DType) -> Value {
    match dtype.class() {
        DTypeClass::Unsigned => remainder.ne(remainder),
        _ => remainder.ne(0) & remainder.lt(0).ne(divisor.lt(0)),
    }
}

/// The magnitude of `x` with the sign bit of `y`.
fn copysign(x: &Value, y: &Value, dtype: DType) -> Result<Value, GraphError> {
    let (unsigned, sign) = match dtype {
        DType::F64 => (DType::U64, 1u64 << 63),
        DType::F32 => (DType::U32, 1 << 31),
        _ => (DType::U16, 1 << 15),
    };
    let b = x.builder();
    let magnitude = b.bitcast(x, unsigned)? & (sign - 1);
    let bits = magnitude | (b.bitcast(y, unsigned)? & sign);
    let signed = b.bitcast(bits, dtype)?;
    // A NaN stays as it is: the sign of `y` would make a NaN that is not canonical.
    Ok(x.ne(x).select(x, signed))
}

fn hypot(x: &Value, y: &Value) -> Value {
    let (x, y) = (x.abs(), y.abs());
    let (large, small) = (x.maximum(&y), x.minimum(&y));
    let quotient = &small / &large;
    let length = &large * (&quotient * &quotient + 1.0).sqrt();
    let is_infinite = x.eq(f64::INFINITY) | y.eq(f64::INFINITY);
    // The quotient of two zeros is NaN.
    is_infinite.select(f64::INFINITY, large.eq(0.0).select(&large, length))
}

/// Python's `%`: a zero has the sign of the divisor.
fn py_mod(x: &Value, y: &Value, dtype: DType) -> Result<Value, GraphError> {
    let remainder = x.rem(y);
    let differs = remainder.ne(0.0) & remainder.lt(0.0).ne(y.lt(0.0));
    let moved = differs.select(&remainder + y, &remainder);
    let zero = copysign(&remainder, y, dtype)?;
    Ok(remainder.eq(0.0).select(zero, moved))
}

/// NumPy's `floor_divide`, computed from the exact remainder.
fn floor_div(x: &Value, y: &Value, dtype: DType) -> Result<Value, GraphError> {
    let remainder = x.rem(y);
    let exact = (x - &remainder) / y;
    let differs = remainder.ne(0.0) & remainder.lt(0.0).ne(y.lt(0.0));
    let quotient = differs.select(&exact - 1.0, &exact);
    let floor = quotient.floor();
    // The quotient is an integer up to rounding; if the division rounded it down, `floor` is 1 too small.
    let nearest = (&quotient - &floor).gt(0.5).select(&floor + 1.0, &floor);
    let plain = x / y;
    let zero = copysign(&quotient, &plain, dtype)?;
    let signed = quotient.eq(0.0).select(zero, nearest);
    Ok(y.eq(0.0).select(&plain, signed))
}
