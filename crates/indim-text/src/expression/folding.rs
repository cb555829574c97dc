//! Folding of literals: arithmetic of literals follows Python.
//!
//! `typing.rs` determines the element type of a literal.

use indim_graph::Literal;
use indim_ops::{BinaryOperator, c128, meaning};

use super::complex_folding::fold_complex;
use super::error::ExprErrorKind;
use super::syntax::UnaryOperator;

/// Folds a unary operator.
pub(super) fn fold_unary(operator: UnaryOperator, x: Literal) -> Result<Literal, ExprErrorKind> {
    let overflow = ExprErrorKind::LiteralOverflow;
    match (operator, x) {
        (UnaryOperator::Not, Literal::Bool(x)) => Ok(Literal::Bool(!x)),
        (UnaryOperator::Not, Literal::Int(x)) => Ok(Literal::Int(!x)),
        (UnaryOperator::Not, Literal::Float(_) | Literal::Complex(_)) => {
            Err(ExprErrorKind::LiteralNotWhole { operator: "~", literal: x })
        }
        (UnaryOperator::Negate, Literal::Float(x)) => Ok(Literal::Float(-x)),
        (UnaryOperator::Negate, Literal::Complex(x)) => {
            Ok(Literal::Complex(c128::new(-x.re, -x.im)))
        }
        (UnaryOperator::Plus, Literal::Float(_) | Literal::Complex(_)) => Ok(x),
        (_, x) => {
            let x = x.to_int().unwrap_or_default();
            let is_plus = operator == UnaryOperator::Plus;
            let value = if is_plus { Some(x) } else { x.checked_neg() };
            value.map(Literal::Int).ok_or(overflow)
        }
    }
}

/// Folds a binary operator, as Python computes it. `None` for a power with a float operand, and for an
/// operator that [`fold_complex`] leaves, which the caller evaluates through the operation of the table.
pub(super) fn fold_binary(
    operator: BinaryOperator,
    x: Literal,
    y: Literal,
) -> Result<Option<Literal>, ExprErrorKind> {
    if let (Literal::Bool(x), Literal::Bool(y)) = (x, y)
        && let Some(value) = fold_bools(operator, x, y)
    {
        return Ok(Some(Literal::Bool(value)));
    }
    if matches!((x, y), (Literal::Complex(_), _) | (_, Literal::Complex(_))) {
        return fold_complex(operator, x, y);
    }
    match (x.to_int(), y.to_int()) {
        (Some(x), Some(y)) => fold_integers(operator, x, y).map(Some),
        _ => fold_floats(operator, x, y),
    }
}

const fn fold_bools(operator: BinaryOperator, x: bool, y: bool) -> Option<bool> {
    match operator {
        BinaryOperator::And => Some(x & y),
        BinaryOperator::Or => Some(x | y),
        BinaryOperator::Xor => Some(x ^ y),
        _ => None,
    }
}

fn fold_integers(operator: BinaryOperator, x: i128, y: i128) -> Result<Literal, ExprErrorKind> {
    use BinaryOperator as B;
    let is_quotient = matches!(operator, B::Divide | B::FloorDivide | B::Modulo);
    if y == 0 && is_quotient {
        return Err(ExprErrorKind::LiteralDivisionByZero);
    }
    let value = match operator {
        B::Add => x.checked_add(y),
        B::Subtract => x.checked_sub(y),
        B::Multiply => x.checked_mul(y),
        B::Divide => return Ok(Literal::Float(x as f64 / y as f64)),
        B::FloorDivide => x.checked_div_euclid(y).map(|euclidean| {
            // Euclid's remainder is never negative; Python's has the sign of the divisor.
            if y < 0 && x.rem_euclid(y) != 0 { euclidean - 1 } else { euclidean }
        }),
        B::Modulo => x
            .checked_rem_euclid(y)
            .map(|euclidean| if y < 0 && euclidean != 0 { euclidean + y } else { euclidean }),
        B::Power => return fold_integer_power(x, y),
        B::ShiftLeft | B::ShiftRight => return fold_shift(operator, x, y),
        B::And => Some(x & y),
        B::Or => Some(x | y),
        B::Xor => Some(x ^ y),
        B::Less => return Ok(Literal::Bool(x < y)),
        B::LessEqual => return Ok(Literal::Bool(x <= y)),
        B::Greater => return Ok(Literal::Bool(x > y)),
        B::GreaterEqual => return Ok(Literal::Bool(x >= y)),
        B::Equal => return Ok(Literal::Bool(x == y)),
        B::NotEqual => return Ok(Literal::Bool(x != y)),
    };
    value.map(Literal::Int).ok_or(ExprErrorKind::LiteralOverflow)
}

fn fold_integer_power(base: i128, exponent: i128) -> Result<Literal, ExprErrorKind> {
    if base == 0 && exponent < 0 {
        return Err(ExprErrorKind::LiteralDivisionByZero);
    }
    let magnitude = exponent.unsigned_abs();
    let power = match base {
        // Powers of these bases do not overflow for any exponent.
        0 | 1 => Some(if magnitude == 0 { 1 } else { base }),
        -1 => Some(if magnitude.is_multiple_of(2) { 1 } else { -1 }),
        _ => u32::try_from(magnitude).ok().and_then(|magnitude| base.checked_pow(magnitude)),
    };
    let power = power.ok_or(ExprErrorKind::LiteralOverflow)?;
    if exponent < 0 { Ok(Literal::Float(1.0 / power as f64)) } else { Ok(Literal::Int(power)) }
}

fn fold_shift(operator: BinaryOperator, x: i128, y: i128) -> Result<Literal, ExprErrorKind> {
    if y < 0 {
        return Err(ExprErrorKind::LiteralNegativeShift);
    }
    let amount = u32::try_from(y).unwrap_or(u32::MAX);
    if operator == BinaryOperator::ShiftRight {
        return Ok(Literal::Int(x.checked_shr(amount).unwrap_or(if x < 0 { -1 } else { 0 })));
    }
    let factor = if amount < 127 { Some(1i128 << amount) } else { None };
    let value = if x == 0 { Some(0) } else { factor.and_then(|factor| x.checked_mul(factor)) };
    value.map(Literal::Int).ok_or(ExprErrorKind::LiteralOverflow)
}

fn fold_floats(
    operator: BinaryOperator,
    left: Literal,
    right: Literal,
) -> Result<Option<Literal>, ExprErrorKind> {
    use BinaryOperator as B;
    let (x, y) = (left.to_float(), right.to_float());
    if y == 0.0 && matches!(operator, B::Divide | B::FloorDivide | B::Modulo) {
        return Err(ExprErrorKind::LiteralDivisionByZero);
    }
    let value = match operator {
        B::Add => x + y,
        B::Subtract => x - y,
        B::Multiply => x * y,
        B::Divide => x / y,
        B::FloorDivide => meaning::float::floor_div(x, y),
        B::Modulo => meaning::float::py_mod(x, y),
        B::Power => return Ok(None),
        B::Less => return Ok(Some(Literal::Bool(x < y))),
        B::LessEqual => return Ok(Some(Literal::Bool(x <= y))),
        B::Greater => return Ok(Some(Literal::Bool(x > y))),
        B::GreaterEqual => return Ok(Some(Literal::Bool(x >= y))),
        B::Equal => return Ok(Some(Literal::Bool(x == y))),
        B::NotEqual => return Ok(Some(Literal::Bool(x != y))),
        B::ShiftLeft | B::ShiftRight | B::And | B::Or | B::Xor => {
            let literal = if left.to_int().is_none() { left } else { right };
            return Err(ExprErrorKind::LiteralNotWhole { operator: operator.symbol(), literal });
        }
    };
    Ok(Some(Literal::Float(value)))
}
