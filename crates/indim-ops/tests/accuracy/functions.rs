//! The elementary functions of one operand, and checksums of their bits. Checksums need no reference, so
//! every machine can compare its bits with those of another.

use indim_ops::{Unary, bf16, f16, operations};

use crate::random::Random;

/// A function of one operand, at every width.
pub(crate) struct UnaryFunction {
    pub(crate) name: &'static str,
    pub(crate) single: fn(f32) -> f32,
    pub(crate) double: fn(f64) -> f64,
    pub(crate) f16: fn(f16) -> f16,
    pub(crate) bf16: fn(bf16) -> bf16,
}

/// Every elementary function of one operand: its name, its operation, and the names of the correctly rounded
/// functions for 32 and 64 bits.
macro_rules! for_each_unary_function {
    ($callback:ident) => {
        $callback! {
            "exp" Exp expf exp;
            "exp2" Exp2 exp2f exp2;
            "expm1" Expm1 expm1f expm1;
            "log" Log logf log;
            "log2" Log2 log2f log2;
            "log10" Log10 log10f log10;
            "log1p" Log1p log1pf log1p;
            "sin" Sin sinf sin;
            "cos" Cos cosf cos;
            "tan" Tan tanf tan;
            "tanh" Tanh tanhf tanh;
            "rsqrt" Rsqrt rsqrtf rsqrt;
            "cbrt" Cbrt cbrtf cbrt;
            "asin" Asin asinf asin;
            "acos" Acos acosf acos;
            "atan" Atan atanf atan;
            "sinh" Sinh sinhf sinh;
            "cosh" Cosh coshf cosh;
            "asinh" Asinh asinhf asinh;
            "acosh" Acosh acoshf acosh;
            "atanh" Atanh atanhf atanh;
            "erf" Erf erff erf;
            "erfc" Erfc erfcf erfc;
            "erf_inv" ErfInv erf_invf erf_inv;
            "lgamma" Lgamma lgammaf lgamma;
            "digamma" Digamma digammaf digamma;
            "trigamma" Trigamma trigammaf trigamma;
            "logistic" Logistic logisticf logistic;
        }
    };
}
pub(crate) use for_each_unary_function;

macro_rules! unary_function {
    ($name:literal $op:ident) => {
        UnaryFunction {
            name: $name,
            single: <operations::$op as Unary<f32>>::apply,
            double: <operations::$op as Unary<f64>>::apply,
            f16: <operations::$op as Unary<f16>>::apply,
            bf16: <operations::$op as Unary<bf16>>::apply,
        }
    };
}

macro_rules! unary_functions {
    ($($name:literal $op:ident $single:ident $double:ident;)*) => {
        /// Every elementary function of one operand.
        pub(crate) const UNARY_FUNCTIONS: &[UnaryFunction] = &[$(unary_function!($name $op)),*];
    };
}

for_each_unary_function!(unary_functions);

/// The step through the arguments of a sample; odd, so that it meets every exponent and both signs.
pub(crate) const SAMPLE_STEP: usize = 32_719;

/// Fingerprint of a function's results: the sum of a hash of each argument with its result.
/// So it does not depend on the order, and the parts of several threads add up.
pub(crate) fn checksum_of(function: &UnaryFunction, arguments: impl Iterator<Item = u32>) -> u64 {
    arguments.fold(0, |sum: u64, bits| {
        let result = (function.single)(f32::from_bits(bits)).to_bits();
        sum.wrapping_add(Random(u64::from(bits) << 32 | u64::from(result)).bits())
    })
}

/// The checksum of a sample.
pub(crate) fn sample_checksum(function: &UnaryFunction) -> u64 {
    checksum_of(function, (0..=u32::MAX).step_by(SAMPLE_STEP))
}
