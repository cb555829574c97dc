//! Floats as text: as scalars, or aligned with equal widths.
//!
//! A float is printed as the shortest decimal that reads back the same, up to a precision. The limits beyond
//! which numbers have exponents are those of NumPy 2.4.

use core::fmt;
use core::str::FromStr;

use indim_ops::elements::*;

use super::{ElementText, Style};

/// Numbers other than 0 whose magnitude is below this are printed with exponents.
const MIN_POSITIONAL: f64 = 1e-4;

/// Requirements of printing on a float type. All its values are exact as f64.
pub(super) trait Float:
    Copy + PartialEq + Into<f64> + FromStr + fmt::Display + fmt::LowerExp + 'static
{
    /// Arrays with a number of at least this have exponents.
    const MIN_SCIENTIFIC: f64;
    /// A scalar of at least this has an exponent.
    const MIN_SCIENTIFIC_SCALAR: f64;
    /// The nearest value of the type. NumPy compares magnitudes with limits in this type.
    fn rounded(value: f64) -> f64;
}

macro_rules! float {
    ($($type:ident: $large:literal, $large_scalar:literal, $round:expr;)*) => {$(
        impl Float for $type {
            const MIN_SCIENTIFIC: f64 = $large;
            const MIN_SCIENTIFIC_SCALAR: f64 = $large_scalar;
            fn rounded(value: f64) -> f64 { f64::from($round(value)) }
        }
    )*};
}

float! {
    f16: 1e3, 1e3, f16::from_f64;
    // NumPy has no such type.
    bf16: 1e3, 1e3, bf16::from_f64;
    f32: 1e6, 1e6, |value| value as f32;
    f64: 1e8, 1e16, |value: f64| value;
    f8e4m3fn: 1e3, 1e3, f8e4m3fn::from_f64;
    f8e5m2: 1e3, 1e3, f8e5m2::from_f64;
    f8e4m3fnuz: 1e3, 1e3, f8e4m3fnuz::from_f64;
    f8e5m2fnuz: 1e3, 1e3, f8e5m2fnuz::from_f64;
    f8e4m3b11fnuz: 1e3, 1e3, f8e4m3b11fnuz::from_f64;
}

/// The parts of a number, which are aligned separately.
struct Decimal {
    /// The digits before the point, after a minus if the number is negative.
    whole: String,
    fraction: String,
    /// Sign and digits, at least two.
    exponent: Option<(char, String)>,
}

impl Decimal {
    /// The parts of `-12.5` or `1.25e-7`.
    fn split(text: &str) -> Decimal {
        let (mantissa, exponent) =
            text.split_once('e').map_or((text, None), |(mantissa, rest)| (mantissa, Some(rest)));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent = exponent.map(|exponent| {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
            (sign, format!("{digits:0>2}"))
        });
        Decimal { whole: whole.to_owned(), fraction: fraction.to_owned(), exponent }
    }

    /// The shortest decimal that reads back as `x`; the nearest of several, and the even one of two equally
    /// near.
    fn shortest<F: Float>(x: F) -> Decimal {
        let text = format!("{x}");
        let digits = Decimal::split(&text).fraction.len();
        let nearest = format!("{:.digits$}", x.into());
        // If two decimals are equally near, Rust sometimes takes the odd one, and it writes zeros for the low
        // digits of large whole numbers. The decimal in `nearest` is used only if it has a fraction and
        // reads back the same.
        let is_shortest = digits > 0 && reads_back(&nearest, x);
        Decimal::split(if is_shortest { &nearest } else { &text })
    }

    /// Like [`Decimal::shortest`], with an exponent.
    fn shortest_scientific<F: Float>(x: F) -> Decimal {
        let text = format!("{x:e}");
        let digits = Decimal::split(&text).fraction.len();
        let nearest = format!("{:.digits$e}", x.into());
        Decimal::split(if reads_back(&nearest, x) { &nearest } else { &text })
    }

    /// The shortest decimal; if it has more than `precision` digits after the point, the exact value
    /// rounded half to even.
    fn positional<F: Float>(x: F, precision: usize) -> Decimal {
        let mut decimal = Decimal::shortest(x);
        if decimal.fraction.len() > precision {
            decimal = Decimal::split(&format!("{:.precision$}", x.into()));
        }
        decimal.without_zeros()
    }

    /// Like [`Decimal::positional`], with an exponent.
    fn scientific<F: Float>(x: F, precision: usize) -> Decimal {
        let mut decimal = Decimal::shortest_scientific(x);
        if decimal.fraction.len() > precision {
            decimal = Decimal::split(&format!("{:.precision$e}", x.into()));
        }
        decimal.without_zeros()
    }

    /// The number with an exponent and `digits` digits after the point. Digits beyond the shortest decimal
    /// are those of the exact value, not zeros.
    fn scientific_to<F: Float>(x: F, digits: usize) -> Decimal {
        let shortest = Decimal::shortest_scientific(x);
        match shortest.fraction.len() == digits {
            true => shortest,
            false => Decimal::split(&format!("{:.digits$e}", x.into())),
        }
    }

    fn without_zeros(mut self) -> Decimal {
        self.fraction.truncate(self.fraction.trim_end_matches('0').len());
        self
    }
}

/// Whether the text parses as `x`. At a power of two, where the gap to the next float below is half of the
/// gap above, the nearest decimal of a given length may parse as the neighbour.
fn reads_back<F: Float>(text: &str, x: F) -> bool {
    text.parse::<F>().is_ok_and(|read| read == x)
}

/// `nan`, `inf` or `-inf`.
fn special<F: Float>(x: F) -> &'static str {
    let value: f64 = x.into();
    match (value.is_nan(), value > 0.0) {
        (true, _) => "nan",
        (_, true) => "inf",
        _ => "-inf",
    }
}

fn is_finite<F: Float>(x: F) -> bool {
    x.into().is_finite()
}

/// A scalar as NumPy prints it: with all digits that it needs, or at most `precision` after the point.
pub(super) fn scalar_text<F: Float>(x: F, precision: Option<usize>) -> String {
    let precision = precision.unwrap_or(usize::MAX);
    if !is_finite(x) {
        return special(x).to_owned();
    }
    let magnitude = x.into().abs();
    if magnitude >= F::MIN_SCIENTIFIC_SCALAR || (magnitude != 0.0 && magnitude < MIN_POSITIONAL) {
        let Decimal { whole, fraction, exponent } = Decimal::scientific(x, precision);
        let (sign, digits) = exponent.unwrap_or_default();
        let point = if fraction.is_empty() { "" } else { "." };
        return format!("{whole}{point}{fraction}e{sign}{digits}");
    }
    let Decimal { whole, fraction, .. } = Decimal::positional(x, precision);
    format!("{whole}.{}", if fraction.is_empty() { "0" } else { &fraction })
}

/// Common widths of the parts of all numbers.
pub(super) struct Widths {
    /// Characters before the point, with the sign.
    whole: usize,
    /// Whether positive numbers have a sign too, like imaginary parts.
    has_plus: bool,
    /// Digits after the point.
    fraction: usize,
    /// The maximum of digits after the point.
    precision: usize,
    /// Digits of the exponent; `None` without exponents.
    exponent: Option<usize>,
}

impl Widths {
    /// Widths that fit all printed numbers.
    pub(super) fn of<F: Float>(printed: &[F], has_plus: bool, precision: usize) -> Widths {
        let finite: Vec<F> = printed.iter().copied().filter(|x| is_finite(*x)).collect();
        let decimal =
            if has_exponents(&finite) { Decimal::scientific } else { Decimal::positional };
        let mut widths = Widths { whole: 0, has_plus, fraction: 0, precision, exponent: None };
        let decimals = finite.into_iter().map(|x| decimal(x, precision));
        for Decimal { whole, fraction, exponent } in decimals {
            widths.whole = widths.whole.max(widths.signed(&whole).len());
            widths.fraction = widths.fraction.max(fraction.len());
            widths.exponent = widths.exponent.max(exponent.map(|(_, digits)| digits.len()));
        }
        if printed.iter().any(|x| !is_finite(*x)) {
            // The width fits infinity even if all elements are NaN.
            let has_sign =
                has_plus || printed.iter().any(|x| special(*x) == "-inf" && !is_finite(*x));
            let length = "inf".len() + usize::from(has_sign);
            widths.whole = widths.whole.max(length.saturating_sub(widths.fraction_width()));
        }
        widths
    }

    /// The digits, with a plus if requested.
    fn signed(&self, digits: &str) -> String {
        let plus = if self.has_plus && !digits.starts_with('-') { "+" } else { "" };
        format!("{plus}{digits}")
    }

    /// The width from the point on.
    fn fraction_width(&self) -> usize {
        1 + self.fraction + self.exponent.map_or(0, |digits| digits + 2)
    }

    /// The text of a number in these widths.
    pub(super) fn text<F: Float>(&self, x: F) -> String {
        let Widths { whole: width, fraction: digits, precision, exponent, .. } = *self;
        if !is_finite(x) {
            return format!(
                "{:>total$}",
                self.signed(special(x)),
                total = width + self.fraction_width()
            );
        }
        let Some(exponent_width) = exponent else {
            let Decimal { whole, fraction, .. } = Decimal::positional(x, precision);
            return format!("{:>width$}.{fraction:<digits$}", self.signed(&whole));
        };
        let Decimal { whole, fraction, exponent } = Decimal::scientific_to(x, digits);
        let (sign, exponent) = exponent.unwrap_or_default();
        format!("{:>width$}.{fraction}e{sign}{exponent:0>exponent_width$}", self.signed(&whole))
    }
}

/// Whether aligned numbers are printed with exponents.
fn has_exponents<F: Float>(finite: &[F]) -> bool {
    let magnitudes = finite.iter().map(|&x| x.into().abs()).filter(|magnitude| *magnitude != 0.0);
    let (smallest, largest) =
        magnitudes.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    let ratio = F::rounded(largest / smallest);
    largest >= F::MIN_SCIENTIFIC || smallest < F::rounded(MIN_POSITIONAL) || ratio > 1000.0
}

/// A function from the position of a float to its text. All printed floats have texts of equal width.
pub(super) fn float_format<'a, F: Float>(
    elements: &'a [F],
    printed: &[usize],
    style: Style,
) -> Box<ElementText<'a>> {
    let precision = match style {
        Style::Scalar(precision) => {
            return Box::new(move |position| scalar_text(elements[position], precision));
        }
        Style::Aligned(precision) => precision,
    };
    let printed: Vec<F> = printed.iter().map(|&position| elements[position]).collect();
    let widths = Widths::of(&printed, false, precision);
    Box::new(move |position| widths.text(elements[position]))
}
