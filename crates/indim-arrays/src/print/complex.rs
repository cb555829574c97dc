//! Complex numbers as text: both parts printed like floats, the imaginary one always with a sign.

use indim_ops::Complex;

use super::float::{Float, Widths, scalar_text};
use super::{ElementText, Style};

/// The format of complex elements: each part has its own widths, and `j` follows the last digit.
pub(super) fn complex_format<'a, F: Float>(
    elements: &'a [Complex<F>],
    printed: &[usize],
    style: Style,
) -> Box<ElementText<'a>> {
    let precision = match style {
        Style::Scalar(precision) => {
            return Box::new(move |position| complex_scalar_text(elements[position], precision));
        }
        Style::Aligned(precision) => precision,
    };
    let parts = |part: fn(&Complex<F>) -> F| -> Vec<F> {
        printed.iter().map(|&position| part(&elements[position])).collect()
    };
    let real = Widths::of(&parts(|x| x.re), false, precision);
    let imaginary = Widths::of(&parts(|x| x.im), true, precision);
    Box::new(move |position| {
        let Complex { re, im } = elements[position];
        let text = imaginary.text(im);
        let digits = text.trim_end();
        let spaces = " ".repeat(text.len() - digits.len());
        format!("{}{digits}j{spaces}", real.text(re))
    })
}

/// A scalar complex number: `(1-2.5j)`, and `2j` if the real part is 0.
fn complex_scalar_text<F: Float>(x: Complex<F>, precision: Option<usize>) -> String {
    let part = |x: F| {
        let text = scalar_text(x, precision);
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    let imaginary = part(x.im);
    // A real part of -0 is printed, to show its sign.
    if x.re.into().to_bits() == 0 {
        return format!("{imaginary}j");
    }
    let plus = if imaginary.starts_with('-') { "" } else { "+" };
    format!("({}{plus}{imaginary}j)", part(x.re))
}
