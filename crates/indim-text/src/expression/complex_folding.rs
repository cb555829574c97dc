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
    let [x, y] = [x, y].map(|number| match number {
        Literal::Complex(value) => value,
        real => c128::new(real.to_float(), 0.0),
    });
    let value = match operator {
        B::Add => c128::new(x.re + y.re, x.im + y.im),
        B::Subtract => c128::new(x.re - y.re, x.im - y.im),
        B::Multiply => product(x, y),
        B::Divide if is_zero(y) => return Err(ExprErrorKind::LiteralDivisionByZero),
        B::Divide => quotient(x, y),
        B::Power => {
            let is_small = y.re.abs() <= MAX_PRODUCT_EXPONENT;
            if y.im != 0.0 || y.re != y.re.floor() || !is_small {
                return Ok(None);
            }
            let power = whole_power(x, y.re.abs() as u32);
            match y.re < 0.0 {
                true if is_zero(x) => return Err(ExprErrorKind::LiteralDivisionByZero),
                true => quotient(c128::new(1.0, 0.0), power),
                false => power,
            }
        }
        B::Equal => return Ok(Some(Literal::Bool(x.re == y.re && x.im == y.im))),
        B::NotEqual => return Ok(Some(Literal::Bool(x.re != y.re || x.im != y.im))),
        _ => return Ok(None),
    };
    Ok(Some(Literal::Complex(value)))
}

fn is_zero(x: c128) -> bool {
    x.re == 0.0 && x.im == 0.0
}

fn product(x: c128, y: c128) -> c128 {
    c128::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
}

/// Smith's quotient, which does not overflow in between. A part of `y` that is NaN gives NaN.
fn quotient(x: c128, y: c128) -> c128 {
    if y.re.abs() >= y.im.abs() {
        let ratio = y.im / y.re;
        let denominator = y.re + y.im * ratio;
        c128::new((x.re + x.im * ratio) / denominator, (x.im - x.re * ratio) / denominator)
    } else {
        let ratio = y.re / y.im;
        let denominator = y.re * ratio + y.im;
        c128::new((x.re * ratio + x.im) / denominator, (x.im * ratio - x.re) / denominator)
    }
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
