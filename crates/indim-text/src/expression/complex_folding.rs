//! Arithmetic of complex numbers in a program, as CPython computes it.

use indim_graph::Literal;
use indim_ops::{BinaryOperator, c128};

use super::error::ExprErrorKind;

/// Maximum magnitude of a whole exponent whose power is a product: the same as in CPython.
const MAX_PRODUCT_EXPONENT: f64 = 100.0;

/// Folds a binary operator of two numbers, one of which is complex. `None` for other powers than those by a
/// small whole number, and for operators that complex numbers do not have.
pub(super) fn fold_complex(
    operator: BinaryOperator,
    x: Literal,
    y: Literal,
) -> Result<Option<Literal>, ExprErrorKind> {
    use BinaryOperator as B;
    let [x, y] = [x, y].map(Literal::to_complex);
    let is_whole = y.im == 0.0 && y.re == y.re.floor() && y.re.abs() <= MAX_PRODUCT_EXPONENT;
    let value = match operator {
        B::Add => Some(c128::new(x.re + y.re, x.im + y.im)),
        B::Subtract => Some(c128::new(x.re - y.re, x.im - y.im)),
        B::Multiply => Some(product(x, y)),
        B::Divide => quotient(x, y),
        B::Power if is_whole => {
            let power = whole_power(x, y.re.abs() as u32);
            if y.re < 0.0 { quotient(c128::new(1.0, 0.0), power) } else { Some(power) }
        }
        B::Equal => return Ok(Some(Literal::Bool(x.re == y.re && x.im == y.im))),
        B::NotEqual => return Ok(Some(Literal::Bool(x.re != y.re || x.im != y.im))),
        _ => return Ok(None),
    };
    value.map(|value| Some(Literal::Complex(value))).ok_or(ExprErrorKind::LiteralDivisionByZero)
}

fn product(x: c128, y: c128) -> c128 {
    c128::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
}

/// Smith's quotient, which does not overflow in between; `None` if `y` is 0. A part of `y` that is NaN gives
/// NaN.
fn quotient(x: c128, y: c128) -> Option<c128> {
    if y.re == 0.0 && y.im == 0.0 {
        return None;
    }
    Some(if y.re.abs() >= y.im.abs() {
        let ratio = y.im / y.re;
        let denominator = y.re + y.im * ratio;
        c128::new((x.re + x.im * ratio) / denominator, (x.im - x.re * ratio) / denominator)
    } else {
        let ratio = y.re / y.im;
        let denominator = y.re * ratio + y.im;
        c128::new((x.re * ratio + x.im) / denominator, (x.im * ratio - x.re) / denominator)
    })
}

/// `x` to the power of `exponent`, by squares.
fn whole_power(x: c128, exponent: u32) -> c128 {
    let (mut power, mut square, mut rest) = (c128::new(1.0, 0.0), x, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            power = product(power, square);
        }
        square = product(square, square);
        rest >>= 1;
    }
    power
}
