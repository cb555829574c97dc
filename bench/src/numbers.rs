//! Arguments for the jobs, and tolerances of results.

use indim::array::{bf16, c64, f16};

/// An element type of job arguments or results.
pub(crate) trait Number: Copy {
    /// The tolerance for results of other libraries, relative to their magnitude or to 1.
    const TOLERANCE: f64;

    /// An argument from a number below 1009.
    fn from_index(number: usize) -> Self;
    /// The number, or its real part.
    fn real(self) -> f64;
    /// The imaginary part.
    fn imaginary(self) -> f64 {
        0.0
    }

    /// `count` ordinary numbers, the same on every machine and in `peers.py`.
    fn numbers(count: usize, seed: usize) -> Vec<Self> {
        (0..count).map(|index| Self::from_index((index * 7 + seed * 131) % 1009)).collect()
    }
}

macro_rules! define_numbers {
    ($($type:ident, $tolerance:literal, |$number:ident| $from:expr, |$value:ident| $real:expr;)*) => {
        $(impl Number for $type {
            const TOLERANCE: f64 = $tolerance;

            fn from_index($number: usize) -> Self {
                $from
            }

            fn real(self) -> f64 {
                let $value = self;
                $real
            }
        })*
    };
}

define_numbers! {
    bool, 0.0, |number| number % 2 == 1, |value| f64::from(u8::from(value));
    u8, 0.0, |number| number as u8, |value| f64::from(value);
    u16, 0.0, |number| number as u16 * 7 + 1, |value| f64::from(value);
    f16, 4e-3, |number| f16::from_f32(f32::from_index(number)), |value| value.to_f64();
    bf16, 3e-2, |number| bf16::from_f32(f32::from_index(number)), |value| value.to_f64();
    i64, 0.0, |number| number as i64, |value| value as f64;
    f32, 2e-5, |number| number as f32 * 0.01 - 5.0, |value| f64::from(value);
    f64, 1e-12, |number| number as f64 * 0.01 - 5.0, |value| value;
}

impl Number for c64 {
    const TOLERANCE: f64 = f32::TOLERANCE;

    fn from_index(number: usize) -> Self {
        c64::new(f32::from_index(number), f32::from_index((number * 3) % 1009))
    }

    fn real(self) -> f64 {
        f64::from(self.re)
    }

    fn imaginary(self) -> f64 {
        f64::from(self.im)
    }
}

/// Whether `theirs` is within the tolerance of `ours`.
pub(crate) fn is_near(ours: f64, theirs: f64, tolerance: f64) -> bool {
    if ours.is_finite() {
        return (ours - theirs).abs() <= tolerance * ours.abs().max(1.0);
    }
    ours == theirs || (ours.is_nan() && theirs.is_nan())
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn nearness_is_relative_above_one_and_absolute_below() {
        assert!(is_near(1000.0, 1000.9, 1e-3));
        assert!(!is_near(1000.0, 1001.1, 1e-3));
        assert!(is_near(1e-9, 2e-9, 1e-3));
        assert!(is_near(f64::NAN, f64::NAN, 0.0));
        assert!(is_near(f64::INFINITY, f64::INFINITY, 0.0));
        assert!(!is_near(f64::INFINITY, 1.0, 1e-3));
        assert!(!is_near(1.0, f64::NAN, 1e-3));
    }
}
