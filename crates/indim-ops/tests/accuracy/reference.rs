//! Reference functions: those of `core-math`, and those that it lacks, computed by sums of two floats and by
//! other methods than the definitions.

pub(crate) use core_math::*;

pub(crate) fn logisticf(x: f32) -> f32 {
    logistic(f64::from(x)) as f32
}

/// `core-math` has no logistic function: from its exponential and the error of the sum, to about
/// 0.6 ULP. For a 32-bit result that is exact enough; for a 64-bit one it may be 1 ULP off.
pub(crate) fn logistic(x: f64) -> f64 {
    let power = core_math::exp(-x.abs());
    let sum = 1.0 + power;
    let numerator = if x < 0.0 { power } else { 1.0 };
    let quotient = numerator / sum;
    let remainder = quotient.mul_add(-sum, numerator) - quotient * (power - (sum - 1.0));
    if power < f64::MIN_POSITIVE { numerator } else { quotient + remainder }
}

/// The unevaluated sum of two floats, to about 100 bits.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn of(x: f64) -> Self {
        Double(x, 0.0)
    }

    fn sum(x: f64, y: f64) -> Self {
        let high = x + y;
        let part = high - x;
        Double(high, (x - (high - part)) + (y - part))
    }

    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.0, other.0), Self::sum(self.1, other.1));
        let sum = Self::sum(high.0, high.1 + low.0);
        Self::sum(sum.0, sum.1 + low.1)
    }

    fn neg(self) -> Self {
        Double(-self.0, -self.1)
    }

    fn mul(self, other: Self) -> Self {
        let high = self.0 * other.0;
        let low = self.0.mul_add(other.0, -high);
        Self::sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }

    fn div(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self.add(other.mul(Self::of(first)).neg());
        let second = rest.0 / other.0;
        let rest = rest.add(other.mul(Self::of(second)).neg());
        Self::sum(first, second).add(Self::of(rest.0 / other.0))
    }

    fn value(self) -> f64 {
        self.0 + self.1
    }

    /// `e^x` for `|x| < 700`: the series for a 2^-9 part of the remainder, squared nine times.
    fn exp(self) -> Self {
        let count = (self.0 / LN_2.0).round();
        let rest = self.add(LN_2.mul(Self::of(-count)));
        let part = Double(rest.0 / 512.0, rest.1 / 512.0);
        let series = (1..=9).rev().fold(Self::of(0.0), |sum, n| {
            sum.add(Self::of(1.0)).mul(part).div(Self::of(f64::from(n)))
        });
        // `(1 + s)² - 1 = 2 s + s²` keeps the low bits.
        let less_one = (0..9).fold(series, |s, _| s.add(s).add(s.mul(s)));
        let power = less_one.add(Self::of(1.0));
        let scale = 2f64.powi(count as i32);
        Double(power.0 * scale, power.1 * scale)
    }

    fn log(self) -> Self {
        let first = Self::of(core_math::log(self.0));
        let quotient = self.mul(first.neg().exp());
        let rest = quotient.add(Self::of(-1.0));
        let square = rest.mul(rest);
        first.add(rest).add(Double(square.0 * -0.5, square.1 * -0.5))
    }
}

const LN_2: Double = Double(core::f64::consts::LN_2, 2.3190468138462996e-17);
/// `sqrt(π) / 2`.
const HALF_ROOT_OF_PI: Double = Double(0.886226925452758, -3.8332932499128993e-17);
const PI: Double = Double(core::f64::consts::PI, 1.2246467991473532e-16);

/// The sine and the cosine of `π x` for `|x| <= 1/2`, by their series.
fn sine_and_cosine(x: f64) -> (Double, Double) {
    let angle = PI.mul(Double::of(x));
    let square = angle.mul(angle).neg();
    let series = |odd: i32| {
        (1..=16).rev().fold(Double::of(1.0), |sum, n| {
            let divisor = f64::from((2 * n + odd) * (2 * n + odd - 1));
            sum.mul(square).div(Double::of(divisor)).add(Double::of(1.0))
        })
    };
    (series(1).mul(angle), series(0))
}

/// Bernoulli's numbers of even index, from the second.
const BERNOULLI: [(f64, f64); 12] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174611.0, 330.0),
    (854513.0, 138.0),
    (-236364091.0, 2730.0),
];

/// The argument raised to 25 or more by the recurrence, for the series, and the terms of the recurrence.
fn raised(x: f64, term: fn(Double) -> Double) -> (Double, Double) {
    let (mut y, mut terms) = (Double::of(x), Double::of(0.0));
    while y.0 < 25.0 {
        terms = terms.add(term(y));
        y = y.add(Double::of(1.0));
    }
    (y, terms)
}

fn reciprocal(y: Double) -> Double {
    Double::of(1.0).div(y)
}

fn positive_digamma(x: f64) -> Double {
    let (y, terms) = raised(x, reciprocal);
    let inverse = reciprocal(y);
    let square = inverse.mul(inverse);
    let series = BERNOULLI.iter().enumerate().rev().fold(Double::of(0.0), |sum, (k, &(p, q))| {
        let coefficient = Double::of(p).div(Double::of(q * (2 * k + 2) as f64));
        sum.add(coefficient).mul(square)
    });
    let half = Double(inverse.0 / 2.0, inverse.1 / 2.0);
    y.log().add(half.neg()).add(series.neg()).add(terms.neg())
}

pub(crate) fn digamma(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() || x == f64::INFINITY || x.abs() < 1e-300 {
        return if x == f64::INFINITY { x } else { -1.0 / x };
    }
    if x > 1e30 {
        return core_math::log(x);
    }
    if x > 0.0 {
        return positive_digamma(x).value();
    }
    let fraction = x - x.round_ties_even();
    if !x.is_finite() || fraction == 0.0 {
        return f64::NAN;
    }
    let (sine, cosine) = sine_and_cosine(fraction);
    let reflected = positive_digamma(-x).add(reciprocal(Double::of(-x)));
    reflected.add(cosine.div(sine).mul(PI).neg()).value()
}

fn positive_trigamma(x: f64) -> Double {
    let (y, terms) = raised(x, |y| reciprocal(y.mul(y)));
    let inverse = reciprocal(y);
    let square = inverse.mul(inverse);
    let series = BERNOULLI.iter().rev().fold(Double::of(0.0), |sum, &(p, q)| {
        sum.add(Double::of(p).div(Double::of(q))).mul(square)
    });
    let half = Double(square.0 / 2.0, square.1 / 2.0);
    inverse.add(half).add(series.mul(inverse)).add(terms)
}

pub(crate) fn trigamma(x: f64) -> f64 {
    if x.abs() < 1e-100 || x.is_nan() || x > 1e100 {
        return if x > 1e100 { 1.0 / x } else { 1.0 / x / x };
    }
    if x > 0.0 {
        return positive_trigamma(x).value();
    }
    let fraction = x - x.round_ties_even();
    if !x.is_finite() || fraction == 0.0 {
        return if x.is_finite() { f64::INFINITY } else { f64::NAN };
    }
    let inverse = PI.div(sine_and_cosine(fraction).0);
    let square = reciprocal(Double::of(x).mul(Double::of(x)));
    inverse.mul(inverse).add(square).add(positive_trigamma(-x).neg()).value()
}

/// `e^(x²) sqrt(π) / 2 (erf(x) - y)`, of complements where `y > 1/2`, for `x > 0`: the step to the root.
fn step_to_inverse(x: f64, y: f64) -> f64 {
    let square = Double::of(x).mul(Double::of(x));
    let power = square.exp();
    if x < 2.0 {
        // e^(x²) erf(x) sqrt(π) / 2 = x Σ (2 x²)^n / (2 n + 1)!!
        let series = (1..=80).rev().fold(Double::of(1.0), |sum, n| {
            sum.mul(square.add(square)).div(Double::of(f64::from(2 * n + 1))).add(Double::of(1.0))
        });
        let target = power.mul(HALF_ROOT_OF_PI).mul(Double::of(y));
        return series.mul(Double::of(x)).add(target.neg()).value();
    }
    // e^(x²) erfc(x) sqrt(π) as a continued fraction.
    let fraction = (1..=200)
        .rev()
        .fold(Double::of(x), |rest, n| Double::of(f64::from(n) / 2.0).div(rest).add(Double::of(x)));
    let complement = Double::of(0.5).div(fraction);
    let target = power.mul(HALF_ROOT_OF_PI).mul(Double::of(1.0 - y));
    target.add(complement.neg()).value()
}

/// By Newton's method from `core-math`'s functions, the last step in twice the precision.
pub(crate) fn erf_inv(x: f64) -> f64 {
    let y = x.abs();
    if y == 0.0 {
        return x;
    }
    if !(1e-9..1.0).contains(&y) {
        let small = x.mul_add(HALF_ROOT_OF_PI.0, x * HALF_ROOT_OF_PI.1 + x * y * y * 0.232);
        return match y.partial_cmp(&1.0) {
            Some(core::cmp::Ordering::Less) => small,
            Some(core::cmp::Ordering::Equal) => f64::INFINITY.copysign(x),
            _ => f64::NAN,
        };
    }
    let root = approximate_inverse(y);
    (root - step_to_inverse(root, y)).copysign(x)
}

/// The root of `erf(r) = y`, to about 2^-50.
fn approximate_inverse(y: f64) -> f64 {
    let w = -(1.0 - y).ln() - (1.0 + y).ln();
    let mut root = (w - 0.25 * (1.0 + w).ln()).max(0.0).sqrt().min(5.9).max(0.8 * y);
    for _ in 0..6 {
        let error = match y < 0.5 {
            true => core_math::erf(root) - y,
            false => (1.0 - y) - core_math::erfc(root),
        };
        let step = error * (root * root).exp() * HALF_ROOT_OF_PI.0;
        // Halley's method.
        root -= step / (1.0 + root * step);
    }
    root
}

pub(crate) fn erf_invf(x: f32) -> f32 {
    let y = f64::from(x.abs());
    if y > 1e-4 && y < 1.0 {
        return approximate_inverse(y).copysign(f64::from(x)) as f32;
    }
    erf_inv(f64::from(x)) as f32
}

pub(crate) fn digammaf(x: f32) -> f32 {
    digamma(f64::from(x)) as f32
}

pub(crate) fn trigammaf(x: f32) -> f32 {
    trigamma(f64::from(x)) as f32
}
