//! Complex elements `c64` and `c128`: two adjacent floats, the real part first.
//!
//! `meaning/complex/` defines the operations on them.

use alloc::string::ToString;
use core::fmt;
use core::str::FromStr;

use indim_lanes::lane::{FloatBits, FloatLane, Lane};

/// A complex number in Cartesian form, laid out as in C, Fortran and NumPy.
///
/// ```
/// use indim_ops::Complex;
/// assert_eq!(Complex::new(1.0, -2.5).to_string(), "1-2.5j");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct Complex<F> {
    /// The real part.
    pub re: F,
    /// The imaginary part.
    pub im: F,
}

/// A pair of binary32.
///
/// ```
/// use indim_ops::{DType, Element, c64};
/// assert_eq!((c64::DTYPE, c64::new(0.5, 1.0).re), (DType::C64, 0.5f32));
/// ```
#[allow(non_camel_case_types, reason = "element types have the names that every framework uses")]
pub type c64 = Complex<f32>;

/// A pair of binary64.
///
/// ```
/// use indim_ops::{DType, Element, c128};
/// assert_eq!((c128::DTYPE, c128::new(0.5, 1.0).im), (DType::C128, 1.0f64));
/// ```
#[allow(non_camel_case_types, reason = "element types have the names that every framework uses")]
pub type c128 = Complex<f64>;

impl<F> Complex<F> {
    /// `re + im j`.
    #[inline(always)]
    pub const fn new(re: F, im: F) -> Self {
        Complex { re, im }
    }
}

impl<F: FloatBits> Complex<F> {
    /// The number with canonical NaNs in both parts.
    #[inline(always)]
    pub fn with_canonical_nans(self) -> Self {
        Complex::new(self.re.with_canonical_nan(), self.im.with_canonical_nan())
    }
}

impl<F: FloatLane> Complex<F> {
    /// `on_true` if `condition` holds, else `on_false`.
    #[inline(always)]
    pub fn select(condition: F::Bool, on_true: Self, on_false: Self) -> Self {
        Complex {
            re: <F as Lane>::select(condition, on_true.re, on_false.re),
            im: <F as Lane>::select(condition, on_true.im, on_false.im),
        }
    }
}

/// Python's notation, `1-2.5j`; the imaginary part always has a sign.
impl<F: fmt::Display + Copy> fmt::Display for Complex<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let imaginary = self.im.to_string();
        let sign = if imaginary.starts_with('-') { "" } else { "+" };
        write!(formatter, "{}{sign}{imaginary}j", self.re)
    }
}

impl<F: FromStr + Default> FromStr for Complex<F> {
    type Err = F::Err;

    /// Reads `1-2.5j`, `2.5j` and `1`.
    fn from_str(text: &str) -> Result<Self, F::Err> {
        let Some(parts) = text.strip_suffix(['j', 'J']) else {
            return Ok(Complex { re: text.parse()?, im: F::default() });
        };
        // The sign between the parts is the last one that is not an exponent's.
        let is_between = |&(at, _): &(usize, &str)| at > 0 && !parts[..at].ends_with(['e', 'E']);
        match parts.rmatch_indices(['+', '-']).find(is_between) {
            Some((at, _)) => Ok(Complex { re: parts[..at].parse()?, im: parts[at..].parse()? }),
            None => Ok(Complex { re: F::default(), im: parts.parse()? }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_written() {
        let cases = [
            ("1-2.5j", 1.0, -2.5),
            ("2j", 0.0, 2.0),
            ("-3", -3.0, 0.0),
            ("1e-3+2e+5j", 1e-3, 2e5),
            ("-inf-infj", f64::NEG_INFINITY, f64::NEG_INFINITY),
        ];
        for (text, re, im) in cases {
            assert_eq!(text.parse(), Ok(Complex::new(re, im)), "{text}");
        }
        assert_eq!(c128::new(-0.0, -0.0).to_string(), "-0-0j");
        assert_eq!(c64::new(1.5, f32::NAN).to_string(), "1.5+NaNj");
        for wrong in ["", "j", "1+", "1+j2", "1 + 2j", "1+2i"] {
            assert!(wrong.parse::<c128>().is_err(), "{wrong}");
        }
    }
}
