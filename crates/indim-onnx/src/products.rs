//! Matrix products, also of quantised matrices, `Einsum` and `Det`.

use indim_builder::{Reduction, Value};
use indim_graph::{Array, Literal};
use indim_model::{FormatErrorKind, compositions};
use indim_ops::DType;
use indim_shape::{ContractionRule, Einsum, Shape, TargetRule};

use super::call::{Call, LoweringResult, single_result};
use super::quantization::{broadcast_along_axis, round_and_saturate};
use super::reductions::reduce_options;

/// Whether `MatMul` and `Gemm` take the type: floats, and integers of 32 and 64 bits.
fn is_of_products(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_integer() && dtype.size() >= 4
}

pub(super) fn mat_mul(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, is_of_products)?;
    let rule = call.rule.of(ContractionRule::Matmul);
    single_result(call.builder.product(&rule, call.value(0)?, call.value(1)?, None)?)
}

/// `Det`: the determinants of the matrices in the last two axes.
pub(super) fn determinant(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    match call.shape(0)?[..] {
        [.., rows, columns] if rows == columns => {
            single_result(compositions::determinant(call.value(0)?)?)
        }
        _ => {
            let expected = format!("square matrices, not {}", call.value(0)?.array_type()?);
            Err(FormatErrorKind::Unexpected { expected })
        }
    }
}

/// The opset from which the third operand of `Gemm` broadcasts without an attribute.
const BROADCASTS_SINCE: i64 = 7;

/// `alpha * a * b + beta * c`; the attributes `transA` and `transB` transpose `a` and `b`.
pub(super) fn gemm(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, is_of_products)?;
    let (a, b) = (matrix(call, 0, "transA")?, matrix(call, 1, "transB")?);
    // A bias broadcasts by another rule than the matrices. The node's `RuleNote` holds one rule, so with
    // a bias it stays empty.
    if call.optional(2).is_none() {
        call.rule.of(ContractionRule::Matmul);
    }
    let product = call.builder.matmul(a, b)?;
    let product = scale_value(call, product, "alpha", call.float("alpha", 1.0)?)?;
    let beta = call.float("beta", 1.0)?;
    let Some(bias) = call.optional(2) else { return single_result(product) };
    let shape = product.array_type()?.shape;
    let broadcasts = call.version() >= BROADCASTS_SINCE || call.int("broadcast", 0)? != 0;
    let bias = match broadcasts {
        true => {
            call.builder.broadcast_to_target(&bias.value, &TargetRule::Unidirectional, &shape)?
        }
        false => bias.value.clone(),
    };
    // A bias times 0 is no bias, even if it has NaNs.
    match beta == 0.0 {
        true => single_result(product),
        false => {
            single_result(call.builder.none().add(product, scale_value(call, bias, "beta", beta)?)?)
        }
    }
}

/// A matrix, transposed if the attribute is set.
fn matrix(call: &Call<'_>, position: usize, name: &str) -> Result<Value, FormatErrorKind> {
    let value = call.value(position)?;
    let rank = value.array_type()?.shape.rank();
    if rank != 2 {
        let expected = format!("a matrix as operand {position}, not an array of rank {rank}");
        return Err(FormatErrorKind::Unexpected { expected });
    }
    match call.int(name, 0)? {
        0 => Ok(value.clone()),
        _ => Ok(call.builder.transpose(value, &[1, 0])?),
    }
}

/// The value times `factor`, in the value's type; a factor of 1 adds no node. The error names the
/// attribute from which the factor comes.
fn scale_value(
    call: &Call<'_>,
    value: Value,
    attribute: &str,
    factor: f64,
) -> Result<Value, FormatErrorKind> {
    if factor == 1.0 {
        return Ok(value);
    }
    let dtype = value.array_type()?.dtype;
    let literal = factor_literal(factor, dtype).ok_or_else(|| {
        let what = format!("Gemm of {dtype} with {attribute} = {factor}, which is no {dtype}, is");
        FormatErrorKind::Unsupported { what }
    })?;
    Ok(call.builder.numpy().mul(value, call.builder.literal(literal, dtype)?)?)
}

/// A factor as a literal of a type; `None` if it is an integer type that cannot represent the factor.
fn factor_literal(factor: f64, dtype: DType) -> Option<Literal> {
    if !dtype.is_integer() {
        return Some(Literal::Float(factor));
    }
    // The cast to `i128` is exact for whole numbers of up to 64 bits. A larger number stays too large for
    // `fits`.
    let literal = Literal::Int(factor as i128);
    (factor.fract() == 0.0 && literal.fits(dtype)).then_some(literal)
}

pub(super) fn einsum(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, |dtype| dtype.is_float() || dtype.is_integer())?;
    let equation = call.text("equation", "")?;
    let mut operands = Vec::with_capacity(call.operands.len());
    for position in 0..call.operands.len() {
        operands.push(call.value(position)?);
    }
    if let Ok(parsed) = equation.parse::<Einsum>() {
        call.rule.of(parsed);
    }
    single_result(call.builder.einsum(&equation, &operands)?)
}

/// The side of a quantised matrix in a product, which determines the axis of its scales and zero points.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatrixSide {
    /// A vector of scales or zero points has one element per row.
    Left,
    /// A vector of scales or zero points has one element per column.
    Right,
}

/// The elements of operand `position` as `i32`, minus the zero points in operand `zero`.
fn subtract_zero_point(
    call: &Call<'_>,
    position: usize,
    zero: usize,
    side: MatrixSide,
) -> Result<Value, FormatErrorKind> {
    call.check_dtype(position, |dtype| matches!(dtype, DType::I8 | DType::U8))?;
    let value = call.value(position)?;
    let Some(zero) = call.optional(zero) else { return Ok(value.convert(DType::I32)) };
    let shape = value.array_type()?.shape;
    // Differences of bytes fit 16 bits, which take less memory and time than 32.
    let zero = broadcast_parameter(call, &zero.value.convert(DType::I16), &shape, side)?;
    Ok((value.convert(DType::I16) - zero).convert(DType::I32))
}

/// Broadcasts scales or zero points to the shape of the matrix: one for the matrix, or one per row or
/// column.
fn broadcast_parameter(
    call: &Call<'_>,
    parameter: &Value,
    shape: &Shape,
    side: MatrixSide,
) -> Result<Value, FormatErrorKind> {
    let own = parameter.array_type()?.shape;
    if own.rank() <= 1 && side == MatrixSide::Left && shape.rank() > 1 {
        return broadcast_along_axis(call, parameter, shape, Some(shape.rank() - 2));
    }
    match own.rank() {
        0 | 1 => broadcast_along_axis(call, parameter, shape, shape.rank().checked_sub(1)),
        _ => {
            let rule = TargetRule::Unidirectional;
            Ok(call.builder.broadcast_to_target(parameter, &rule, shape)?)
        }
    }
}

/// The matrix product of `a - a_zero_point` and `b - b_zero_point`, in 32 bits.
pub(super) fn mat_mul_integer(call: &Call<'_>) -> LoweringResult {
    single_result(integer_product(call, (0, 2), (1, 3))?)
}

/// The product of two matrices minus their zero points; a pair has the positions of a matrix and of its zero
/// points.
fn integer_product(
    call: &Call<'_>,
    a: (usize, usize),
    b: (usize, usize),
) -> Result<Value, FormatErrorKind> {
    if let Some(product) = product_of_bytes(call, a, b)? {
        return Ok(product);
    }
    let a = subtract_zero_point(call, a.0, a.1, MatrixSide::Left)?;
    let b = subtract_zero_point(call, b.0, b.1, MatrixSide::Right)?;
    Ok(call.builder.matmul(a, b)?)
}

/// The product of `integer_product`, as `sum(a * b) - a_zero * sum(b - b_zero) - b_zero * sum(a)`. The
/// factors of `sum(a * b)` are bytes that are only converted to 32 bits, for which the matrix product is
/// fastest; both forms are equal because sums wrap. `None` for vectors, or zero points that differ along
/// the summed axis.
fn product_of_bytes(
    call: &Call<'_>,
    (a, a_zero): (usize, usize),
    (b, b_zero): (usize, usize),
) -> Result<Option<Value>, FormatErrorKind> {
    for position in [a, b] {
        call.check_dtype(position, |dtype| matches!(dtype, DType::I8 | DType::U8))?;
    }
    let a_zero = zero_points(call, (a, a_zero), MatrixSide::Left)?;
    let b_zero = zero_points(call, (b, b_zero), MatrixSide::Right)?;
    let is_along_sum = |zero: &ZeroPoints| matches!(zero, ZeroPoints::AlongSum);
    if is_along_sum(&a_zero) || is_along_sum(&b_zero) {
        return Ok(None);
    }
    let length = call.shape(b)?.iter().rev().nth(1).copied().unwrap_or(1);
    let [a, b] = [call.value(a)?.convert(DType::I32), call.value(b)?.convert(DType::I32)];
    let numpy = call.builder.numpy();
    // The sums along axis `rank - 1 - from_last`, which stays with size 1.
    let sum = |value: &Value, from_last: usize| -> Result<Value, FormatErrorKind> {
        let axis = value.array_type()?.shape.rank() - 1 - from_last;
        Ok(call.builder.along(Reduction::Sum, value, reduce_options(&[axis], true))?)
    };
    let mut product = call.builder.matmul(&a, &b)?;
    if let ZeroPoints::Each(zero) = &a_zero {
        let mut sums = sum(&b, 1)?;
        if let ZeroPoints::Each(zero) = &b_zero {
            // `length` wraps to `i32`, as all sums here do.
            let length = call.builder.scalar(length as i32);
            sums = numpy.sub(sums, numpy.mul(zero, length)?)?;
        }
        product = numpy.sub(product, numpy.mul(zero, sums)?)?;
    }
    if let ZeroPoints::Each(zero) = &b_zero {
        product = numpy.sub(product, numpy.mul(zero, sum(&a, 0)?)?)?;
    }
    Ok(Some(product))
}

/// The zero points of a matrix in a product of bytes.
enum ZeroPoints {
    /// All are 0.
    AllZero,
    /// These numbers in 32 bits, with size 1 along the summed axis.
    Each(Value),
    /// They differ along the summed axis, or the operand is a vector.
    AlongSum,
}

fn zero_points(
    call: &Call<'_>,
    (position, zero): (usize, usize),
    side: MatrixSide,
) -> Result<ZeroPoints, FormatErrorKind> {
    let mut shape = call.shape(position)?.to_vec();
    let rank = shape.len();
    if rank < 2 {
        return Ok(ZeroPoints::AlongSum);
    }
    let summed = if side == MatrixSide::Left { rank - 1 } else { rank - 2 };
    let Some(known) = call.optional(zero) else { return Ok(ZeroPoints::AllZero) };
    let own = known.value.array_type()?.shape;
    if own.rank() > 1 && own.iter().rev().nth(rank - 1 - summed) != Some(&1) {
        return Ok(ZeroPoints::AlongSum);
    }
    let are_zero = |elements: &Array| {
        let numbers = indim_model::integers(elements);
        numbers.is_some_and(|numbers| numbers.iter().all(|&number| number == 0))
    };
    if own.rank() <= 1 && known.elements.as_ref().is_some_and(are_zero) {
        return Ok(ZeroPoints::AllZero);
    }
    shape[summed] = 1;
    let zero = broadcast_parameter(call, &known.value.convert(DType::I32), &shape.into(), side)?;
    Ok(ZeroPoints::Each(zero))
}

/// The integer product in 32 bits times `a_scale * b_scale / y_scale`, rounded, plus the zero point of
/// the result, saturated to the type of that zero point.
pub(super) fn mat_mul_quantized(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(7, |dtype| matches!(dtype, DType::I8 | DType::U8))?;
    let product = integer_product(call, (0, 2), (3, 5))?.convert(DType::F32);
    let shape = product.array_type()?.shape;
    let scale = |position: usize, side| {
        broadcast_parameter(call, &call.value(position)?.convert(DType::F32), &shape, side)
    };
    // A product with a vector has one axis less: if it has rows, they are its last axis.
    let has_vector = [0, 3].iter().any(|&of| call.shape(of).is_ok_and(|shape| shape.rank() == 1));
    let rows = if has_vector { MatrixSide::Right } else { MatrixSide::Left };
    let scale = scale(1, rows)? * scale(4, MatrixSide::Right)? / scale(6, rows)?;
    let zero = broadcast_parameter(call, &call.value(7)?.convert(DType::F32), &shape, rows)?;
    single_result(round_and_saturate(call, product * scale, Some(zero), call.dtype(7)?)?)
}
