//! The elementary functions against a correctly rounded reference, and the distance in ULP.
//!
//! Used by the quick test `main.rs` here and by the long run `examples/accuracy.rs`.

use indim_ops::{Binary, bf16, f16, operations};

use crate::functions::{UNARY_FUNCTIONS, UnaryFunction, for_each_unary_function};
use crate::reference;

/// A function of one operand with the correctly rounded ones of `core-math`.
pub(crate) struct UnaryCase {
    pub(crate) function: &'static UnaryFunction,
    pub(crate) single_reference: fn(f32) -> f32,
    pub(crate) double_reference: fn(f64) -> f64,
}

/// A function of two operands.
pub(crate) struct BinaryCase {
    pub(crate) name: &'static str,
    pub(crate) single: fn(f32, f32) -> f32,
    pub(crate) double: fn(f64, f64) -> f64,
    pub(crate) single_reference: fn(f32, f32) -> f32,
    pub(crate) double_reference: fn(f64, f64) -> f64,
}

macro_rules! references {
    ($($name:literal $op:ident $single:ident $double:ident;)*) => {
        const REFERENCES: &[(fn(f32) -> f32, fn(f64) -> f64)] =
            &[$((reference::$single, reference::$double)),*];
    };
}

for_each_unary_function!(references);

/// Every elementary function of one operand.
pub(crate) fn unary_cases() -> impl Iterator<Item = UnaryCase> {
    let pairs = UNARY_FUNCTIONS.iter().zip(REFERENCES);
    pairs.map(|(function, &(single_reference, double_reference))| UnaryCase {
        function,
        single_reference,
        double_reference,
    })
}

macro_rules! binary_cases {
    ($($name:literal $op:ident $single:path, $double:path;)*) => {
        /// Every elementary function of two operands.
        pub(crate) const BINARY: &[BinaryCase] = &[$(BinaryCase {
            name: $name,
            single: <operations::$op as Binary<f32>>::apply,
            double: <operations::$op as Binary<f64>>::apply,
            single_reference: $single,
            double_reference: $double,
        }),*];
    };
}

binary_cases! {
    "pow" Pow core_math::powf, core_math::pow;
    "atan2" Atan2 core_math::atan2f, core_math::atan2;
    "hypot" Hypot core_math::hypotf, core_math::hypot;
}

/// The error of a 32-bit result in ULP of the exact value, which is given in 64 bits. Infinite if only one of
/// them is a NaN, or if the sign of a zero is wrong.
pub(crate) fn ulp_error_single(result: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if result.to_bits() == rounded.to_bits() {
        return 0.5;
    }
    if result.is_nan() || rounded.is_nan() {
        return if result.is_nan() && rounded.is_nan() { 0.5 } else { f64::INFINITY };
    }
    if result == 0.0 && rounded == 0.0 {
        return f64::INFINITY;
    }
    // An overflow counts as the next power of two.
    let reached = if result.is_infinite() {
        2f64.powi(128).copysign(f64::from(result))
    } else {
        f64::from(result)
    };
    let exponent = ((exact.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    (reached - exact).abs() / 2f64.powi(exponent - 23)
}

/// The distance of a 64-bit result from the correctly rounded one, in floats.
pub(crate) fn distance_double(result: f64, rounded: f64) -> u64 {
    let ordered = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits).wrapping_sub(1) } else { bits }
    };
    match (result.is_nan(), rounded.is_nan()) {
        (true, true) => 0,
        (false, false) => ordered(result).abs_diff(ordered(rounded)),
        _ => u64::MAX,
    }
}

/// The distance of two 16-bit floats, in floats; infinite if the signs differ.
pub(crate) fn distance_half(result: u16, rounded: u16) -> f64 {
    if (result ^ rounded) & 0x8000 != 0 {
        return f64::INFINITY;
    }
    f64::from(result.abs_diff(rounded))
}

/// The largest error so far, and its argument.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WorstError {
    pub(crate) error: f64,
    pub(crate) at: (f64, f64),
    pub(crate) tried: u64,
    pub(crate) not_nearest: u64,
}

impl WorstError {
    pub(crate) fn record(&mut self, error: f64, at: (f64, f64)) {
        self.tried += 1;
        self.not_nearest += u64::from(error > 0.5);
        if error > self.error {
            (self.error, self.at) = (error, at);
        }
    }
}

impl UnaryCase {
    /// Measures one 32-bit argument.
    pub(crate) fn measure_single(&self, x: f32, worst: &mut WorstError) {
        let result = (self.function.single)(x);
        if result.to_bits() == (self.single_reference)(x).to_bits() {
            worst.record(0.5, (f64::from(x), 0.0));
        } else {
            let exact = (self.double_reference)(f64::from(x));
            worst.record(ulp_error_single(result, exact), (f64::from(x), 0.0));
        }
    }

    /// Measures all 65536 arguments of a 16-bit float, in floats from the correctly rounded result.
    /// The 64-bit reference is near enough to that to be rounded in its place.
    pub(crate) fn measure_f16(&self) -> WorstError {
        let mut worst = WorstError::default();
        for x in (0..=u16::MAX).map(f16::from_bits) {
            let rounded = f16::from_f64((self.double_reference)(x.to_f64()));
            let distance = distance_half((self.function.f16)(x).to_bits(), rounded.to_bits());
            worst.record(distance, (x.to_f64(), 0.0));
        }
        worst
    }

    /// Measures all arguments of `bf16`, like [`UnaryCase::measure_f16`].
    pub(crate) fn measure_bf16(&self) -> WorstError {
        let mut worst = WorstError::default();
        for x in (0..=u16::MAX).map(bf16::from_bits) {
            let rounded = bf16::from_f64((self.double_reference)(x.to_f64()));
            let distance = distance_half((self.function.bf16)(x).to_bits(), rounded.to_bits());
            worst.record(distance, (x.to_f64(), 0.0));
        }
        worst
    }

    /// Measures one 64-bit argument, in floats from the nearest one. Near the zeros of `digamma` below zero
    /// the distance counts in floats of size 1/2.
    pub(crate) fn measure_double(&self, x: f64, worst: &mut WorstError) {
        let (result, exact) = ((self.function.double)(x), (self.double_reference)(x));
        let is_near_zero = self.function.name == "digamma" && x < 0.0 && exact.abs() < 0.5;
        let distance = match is_near_zero {
            true => ((result - exact) / 2f64.powi(-53)).abs().floor(),
            false => distance_double(result, exact) as f64,
        };
        worst.record(distance, (x, 0.0));
    }
}

impl BinaryCase {
    /// Measures one pair of 32-bit arguments.
    pub(crate) fn measure_single(&self, x: f32, y: f32, worst: &mut WorstError) {
        let at = (f64::from(x), f64::from(y));
        let result = (self.single)(x, y);
        if result.to_bits() == (self.single_reference)(x, y).to_bits() {
            worst.record(0.5, at);
        } else {
            worst.record(ulp_error_single(result, (self.double_reference)(at.0, at.1)), at);
        }
    }

    /// Measures one pair of 64-bit arguments, in floats from the nearest one.
    pub(crate) fn measure_double(&self, x: f64, y: f64, worst: &mut WorstError) {
        let distance = distance_double((self.double)(x, y), (self.double_reference)(x, y));
        worst.record(distance as f64, (x, y));
    }
}
