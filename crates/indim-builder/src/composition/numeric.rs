//! Compositions that are functions of NumPy; the table in `mod.rs` has their element types and defaults.

use core::f64::consts::PI;

use indim_ops::{DType, DTypeClass, bf16, f16};

use crate::builder::{BuildResult, Value};

pub(super) fn positive(x: &Value) -> BuildResult {
    Ok(x.clone())
}

pub(super) fn deg2rad(x: &Value) -> BuildResult {
    compute_wide(x, |x| x * (PI / 180.0))
}

pub(super) fn rad2deg(x: &Value) -> BuildResult {
    compute_wide(x, |x| x * (180.0 / PI))
}

pub(super) fn sinc(x: &Value) -> BuildResult {
    compute_wide(x, |x| {
        let is_zero = x.eq(0);
        // Avoids a division by 0, also in the derivative.
        let angle = is_zero.select(1, x) * PI;
        // The beginning of the Taylor series, which has the value 1 and the first five derivatives.
        let square = (x * PI) * (x * PI);
        let at_zero = 1 - &square / 6 + (&square * &square) / 120;
        is_zero.select(at_zero, angle.sin() / &angle)
    })
}

pub(super) fn heaviside(x: &Value, y: &Value) -> BuildResult {
    Ok(x.eq(0).select(y, x.sign().maximum(0)))
}

pub(super) fn float_power(x: &Value, y: &Value) -> BuildResult {
    Ok(x.pow(y))
}

pub(super) fn isclose(x: &Value, y: &Value, rtol: f64, atol: f64, equal_nan: bool) -> BuildResult {
    let is_near = (x - y).abs().le(y.abs() * rtol + atol);
    let is_close = is_near & y.is_finite() | x.eq(y);
    Ok(if equal_nan { is_close | (x.is_nan() & y.is_nan()) } else { is_close })
}

pub(super) fn nan_to_num(
    x: &Value,
    nan: f64,
    posinf: Option<f64>,
    neginf: Option<f64>,
) -> BuildResult {
    use DType::{
        Bool, F8E4m3b11fnuz, F8E4m3fn, F8E4m3fnuz, F8E5m2, F8E5m2fnuz, I4, I8, I16, I32, I64, U4,
        U8, U16, U32, U64,
    };
    let largest = match x.array_type()?.dtype {
        DType::F16 => f16::MAX.to_f64(),
        DType::Bf16 => bf16::MAX.to_f64(),
        DType::F32 => f64::from(f32::MAX),
        DType::F64 => f64::MAX,
        DType::C64 | DType::C128 => {
            return map_parts(x, |part| nan_to_num(part, nan, posinf, neginf));
        }
        Bool | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 => return Ok(x.clone()),
        F8E4m3fn | F8E5m2 | F8E4m3fnuz | F8E5m2fnuz | F8E4m3b11fnuz | I4 | U4 => {
            unreachable!("invariant: no composition takes storage types")
        }
    };
    let below = x.eq(f64::NEG_INFINITY).select(neginf.unwrap_or(-largest), x);
    let finite = x.eq(f64::INFINITY).select(posinf.unwrap_or(largest), below);
    Ok(x.is_nan().select(nan, finite))
}

pub(super) fn round(x: &Value, decimals: i64) -> BuildResult {
    match x.array_type()?.dtype.class() {
        DTypeClass::Complex => map_parts(x, |part| round(part, decimals)),
        DTypeClass::Float if decimals == 0 => Ok(x.round_even()),
        DTypeClass::Float => compute_wide(x, |x| round_float(x, decimals)),
        _ if decimals >= 0 => Ok(x.clone()),
        _ => round_integer(x, decimals.unsigned_abs()),
    }
}

fn round_float(x: &Value, decimals: i64) -> Value {
    let power = power_of_ten(decimals.unsigned_abs());
    if decimals > 0 {
        let scaled = x * power;
        return scaled.is_finite().select(scaled.round_even() / power, x);
    }
    let rounded = (x / power).round_even();
    // 0 times an infinite power would be NaN.
    rounded.eq(0).select(&rounded, &rounded * power)
}

/// The nearest float to `10^exponent`.
fn power_of_ten(exponent: u64) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// The nearest multiple of `10^zeros`, ties to the even multiple.
fn round_integer(x: &Value, zeros: u64) -> BuildResult {
    let dtype = x.array_type()?.dtype;
    let power = u32::try_from(zeros).ok().and_then(|zeros| 10u64.checked_pow(zeros));
    let Some(power) = power.filter(|power| fits(*power, dtype)) else {
        // 0 is the only multiple that the type represents.
        return Ok(x.sub(x));
    };
    let quotient = x.floor_div(power);
    let above = x - &quotient * power;
    let below = power - &above;
    let is_odd = (&quotient & 1).ne(0);
    let is_up = above.gt(&below) | (above.eq(&below) & is_odd);
    Ok((quotient + is_up.convert(dtype)) * power)
}

/// Whether the integer type represents `value`.
fn fits(value: u64, dtype: DType) -> bool {
    let is_signed = dtype.class() == DTypeClass::Signed;
    let bits = 8 * dtype.size() as u32 - u32::from(is_signed);
    value <= u64::MAX >> (u64::BITS - bits)
}

/// Applies `function` to the real and to the imaginary part.
fn map_parts(x: &Value, function: impl Fn(&Value) -> BuildResult) -> BuildResult {
    Ok(function(&x.real())?.complex(function(&x.imag())?))
}

/// Applies `function`, in `f32` for narrower floats, with one rounding of the result.
fn compute_wide(x: &Value, function: impl Fn(&Value) -> Value) -> BuildResult {
    let dtype = x.array_type()?.dtype;
    let is_narrow = dtype.is_float() && dtype.size() < DType::F32.size();
    Ok(if is_narrow { function(&x.convert(DType::F32)).convert(dtype) } else { function(x) })
}
