//! The elementary functions beside a correctly rounded reference, and the distance in ULP.
//!
//! Used by the quick test `main.rs` here and by the long run `examples/accuracy.rs`.

use indim_graph::{Binary, Unary, bf16, f16, operations};

/// A function of one operand: ours at both widths, and the correctly rounded ones of `core-math`.
pub(crate) struct UnaryCase {
    pub(crate) name: &'static str,
    pub(crate) single: fn(f32) -> f32,
    pub(crate) double: fn(f64) -> f64,
    pub(crate) f16: fn(f16) -> f16,
    pub(crate) bf16: fn(bf16) -> bf16,
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

macro_rules! unary_cases {
    ($($name:literal $op:ident $single:path, $double:path;)*) => {
        /// Every elementary function of one operand.
        pub(crate) const UNARY: &[UnaryCase] = &[$(UnaryCase {
            name: $name,
            single: <operations::$op as Unary<f32>>::apply,
            double: <operations::$op as Unary<f64>>::apply,
            f16: <operations::$op as Unary<f16>>::apply,
            bf16: <operations::$op as Unary<bf16>>::apply,
            single_reference: $single,
            double_reference: $double,
        }),*];
    };
}

unary_cases! {
    "exp" Exp core_math::expf, core_math::exp;
    "exp2" Exp2 core_math::exp2f, core_math::exp2;
    "expm1" Expm1 core_math::expm1f, core_math::expm1;
    "log" Log core_math::logf, core_math::log;
    "log2" Log2 core_math::log2f, core_math::log2;
    "log10" Log10 core_math::log10f, core_math::log10;
    "log1p" Log1p core_math::log1pf, core_math::log1p;
    "sin" Sin core_math::sinf, core_math::sin;
    "cos" Cos core_math::cosf, core_math::cos;
    "tan" Tan core_math::tanf, core_math::tan;
    "tanh" Tanh core_math::tanhf, core_math::tanh;
    "rsqrt" Rsqrt core_math::rsqrtf, core_math::rsqrt;
    "cbrt" Cbrt core_math::cbrtf, core_math::cbrt;
    "asin" Asin core_math::asinf, core_math::asin;
    "acos" Acos core_math::acosf, core_math::acos;
    "atan" Atan core_math::atanf, core_math::atan;
    "sinh" Sinh core_math::sinhf, core_math::sinh;
    "cosh" Cosh core_math::coshf, core_math::cosh;
    "asinh" Asinh core_math::asinhf, core_math::asinh;
    "acosh" Acosh core_math::acoshf, core_math::acosh;
    "atanh" Atanh core_math::atanhf, core_math::atanh;
    "erf" Erf core_math::erff, core_math::erf;
    "erfc" Erfc core_math::erfcf, core_math::erfc;
    "logistic" Logistic logistic_single, logistic_double;
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

fn logistic_single(x: f32) -> f32 {
    logistic_double(f64::from(x)) as f32
}

/// `core-math` has no logistic function: from its exponential and the error of the sum, to about
/// 0.6 ULP. For a 32-bit result that is exact enough; for a 64-bit one it may be 1 ULP off.
fn logistic_double(x: f64) -> f64 {
    let power = core_math::exp(-x.abs());
    let sum = 1.0 + power;
    let numerator = if x < 0.0 { power } else { 1.0 };
    let quotient = numerator / sum;
    let remainder = quotient.mul_add(-sum, numerator) - quotient * (power - (sum - 1.0));
    if power < f64::MIN_POSITIVE { numerator } else { quotient + remainder }
}

/// The error of a 32-bit result in ULP of the exact value, which is given in 64 bits. Infinite where
/// one is a NaN and the other is not, or where the sign of a zero is wrong.
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
    // An overflow counts as if the exponent went on.
    let reached = if result.is_infinite() {
        2f64.powi(128).copysign(f64::from(result))
    } else {
        f64::from(result)
    };
    let exponent = ((exact.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    (reached - exact).abs() / 2f64.powi(exponent - 23)
}

/// How many floats a 64-bit result lies from the correctly rounded one.
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

/// How many floats one 16-bit float lies from another; infinite where the signs differ.
pub(crate) fn distance_half(result: u16, rounded: u16) -> f64 {
    if (result ^ rounded) & 0x8000 != 0 {
        return f64::INFINITY;
    }
    f64::from(result.abs_diff(rounded))
}

/// The largest error so far, and where it was.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Worst {
    pub(crate) error: f64,
    pub(crate) at: (f64, f64),
    pub(crate) tried: u64,
    pub(crate) not_nearest: u64,
}

impl Worst {
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
    pub(crate) fn measure_single(&self, x: f32, worst: &mut Worst) {
        let result = (self.single)(x);
        if result.to_bits() == (self.single_reference)(x).to_bits() {
            worst.record(0.5, (f64::from(x), 0.0));
        } else {
            let exact = (self.double_reference)(f64::from(x));
            worst.record(ulp_error_single(result, exact), (f64::from(x), 0.0));
        }
    }

    /// Measures all 65536 arguments of a 16-bit float, in floats from the correctly rounded result.
    /// The 64-bit reference is near enough to that to be rounded in its place.
    pub(crate) fn measure_f16(&self) -> Worst {
        let mut worst = Worst::default();
        for x in (0..=u16::MAX).map(f16::from_bits) {
            let rounded = f16::from_f64((self.double_reference)(x.to_f64()));
            let distance = distance_half((self.f16)(x).to_bits(), rounded.to_bits());
            worst.record(distance, (x.to_f64(), 0.0));
        }
        worst
    }

    /// The same for the other 16-bit float.
    pub(crate) fn measure_bf16(&self) -> Worst {
        let mut worst = Worst::default();
        for x in (0..=u16::MAX).map(bf16::from_bits) {
            let rounded = bf16::from_f64((self.double_reference)(x.to_f64()));
            let distance = distance_half((self.bf16)(x).to_bits(), rounded.to_bits());
            worst.record(distance, (x.to_f64(), 0.0));
        }
        worst
    }

    /// Measures one 64-bit argument, in floats from the nearest one.
    pub(crate) fn measure_double(&self, x: f64, worst: &mut Worst) {
        let distance = distance_double((self.double)(x), (self.double_reference)(x));
        worst.record(distance as f64, (x, 0.0));
    }
}

impl BinaryCase {
    /// Measures one pair of 32-bit arguments.
    pub(crate) fn measure_single(&self, x: f32, y: f32, worst: &mut Worst) {
        let at = (f64::from(x), f64::from(y));
        let result = (self.single)(x, y);
        if result.to_bits() == (self.single_reference)(x, y).to_bits() {
            worst.record(0.5, at);
        } else {
            worst.record(ulp_error_single(result, (self.double_reference)(at.0, at.1)), at);
        }
    }

    /// Measures one pair of 64-bit arguments, in floats from the nearest one.
    pub(crate) fn measure_double(&self, x: f64, y: f64, worst: &mut Worst) {
        let distance = distance_double((self.double)(x, y), (self.double_reference)(x, y));
        worst.record(distance as f64, (x, y));
    }
}

/// A small generator of bits with a fixed start (Steele, Lea and Flood's SplitMix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2f64.powi(53)
    }

    /// An argument for a function of one operand: any float, or one of ordinary size.
    pub(crate) fn argument(&mut self) -> f64 {
        match self.bits() % 4 {
            0 => f64::from_bits(self.bits()),
            1 => (self.unit() - 0.5) * 1500.0,
            2 => (self.unit() - 0.5) * 2f64.powi((self.bits() % 80) as i32 - 40),
            _ => 1.0 + (self.unit() - 0.5) * 2f64.powi(-((self.bits() % 50) as i32)),
        }
    }

    /// Arguments for a function of two operands: any, or a base and an exponent whose power is
    /// within `range` in its binary logarithm.
    pub(crate) fn arguments(&mut self, range: f64) -> (f64, f64) {
        match self.bits() % 4 {
            0 => (f64::from_bits(self.bits()), f64::from_bits(self.bits())),
            1 => ((self.unit() - 0.5) * 20.0, ((self.unit() - 0.5) * 60.0).round()),
            2 => (
                1.0 + (self.unit() - 0.5) * 2f64.powi(-((self.bits() % 30) as i32)),
                (self.unit() - 0.5) * 2.0 * range,
            ),
            _ => {
                let base = 2f64.powf((self.unit() - 0.5) * 2.0 * range);
                (base, (self.unit() - 0.5) * 2.0 * range / base.log2())
            }
        }
    }
}

/// What tells the bits of a function's results: the sum of a hash of each argument with its result.
/// So it does not depend on the order, and the parts of several threads add up.
pub(crate) fn checksum_of(case: &UnaryCase, arguments: impl Iterator<Item = u32>) -> u64 {
    arguments.fold(0, |sum: u64, bits| {
        let result = (case.single)(f32::from_bits(bits)).to_bits();
        sum.wrapping_add(Random(u64::from(bits) << 32 | u64::from(result)).bits())
    })
}

/// The step through the arguments of a sample; odd, so that it meets every exponent and both signs.
pub(crate) const SAMPLE_STEP: usize = 32_719;

/// The checksum of a sample.
pub(crate) fn sample_checksum(case: &UnaryCase) -> u64 {
    checksum_of(case, (0..=u32::MAX).step_by(SAMPLE_STEP))
}

/// What was measured of a function at one type: a line of `measured.txt`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FunctionLine {
    pub(crate) name: String,
    pub(crate) dtype: String,
    /// In ULP for f32, in floats from the nearest one for the others.
    pub(crate) error: f64,
    pub(crate) tried: u64,
    pub(crate) not_nearest: u64,
    pub(crate) sample_checksum: Option<u64>,
    /// Over all arguments, if all were tried.
    pub(crate) checksum: Option<u64>,
}

const HEADER: &str = "\
# What examples/accuracy.rs measured: function, type, largest error, arguments tried, results that
# are not the nearest float; for f32 the checksums over the sample and, if all were tried, over all arguments.
# The error is in ULP for f32, for the others in floats from the correctly rounded result.
";

impl FunctionLine {
    /// The lines of a record; those that cannot be read are left out.
    pub(crate) fn read_all(text: &str) -> Vec<FunctionLine> {
        text.lines().filter_map(Self::read).collect()
    }

    fn read(line: &str) -> Option<FunctionLine> {
        let mut words = line.split_ascii_whitespace();
        let mut word = || words.next();
        let (name, dtype) = (word()?.to_owned(), word()?.to_owned());
        let error = word()?.parse().ok()?;
        let (tried, not_nearest) = (word()?.parse().ok()?, word()?.parse().ok()?);
        let mut checksum = || u64::from_str_radix(word()?, 16).ok();
        let (sample_checksum, checksum) = (checksum(), checksum());
        Some(FunctionLine { name, dtype, error, tried, not_nearest, sample_checksum, checksum })
    }

    /// The record with these lines.
    pub(crate) fn write_all(lines: &[FunctionLine]) -> String {
        lines.iter().fold(HEADER.to_owned(), |text, line| text + &line.write())
    }

    /// The line of a record.
    pub(crate) fn write(&self) -> String {
        let FunctionLine { name, dtype, error, tried, not_nearest, .. } = self;
        let mut line = format!("{name:9} {dtype:4} {error:6.4} {tried:10} {not_nearest:9}");
        for checksum in self.sample_checksum.iter().chain(&self.checksum) {
            line += &format!(" {checksum:016x}");
        }
        line + "\n"
    }
}
