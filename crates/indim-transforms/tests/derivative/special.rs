//! Kinks, poles, infinities and NaNs: the choices that `docs/gradients.md` documents.

use core::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use indim_builder::Value;

use super::{lists, pullback};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The derivative of a function of one number.
fn slope(function: &dyn Fn(&Value) -> Value, x: f64) -> f64 {
    pullback::<f64, f64>(&|x| function(&x[0]), &lists(&[&[x]]), &[1.0])[0][0]
}

/// The derivatives of a function of two numbers.
fn slopes(function: &dyn Fn(&Value, &Value) -> Value, a: f64, b: f64) -> [f64; 2] {
    let found = pullback::<f64, f64>(&|x| function(&x[0], &x[1]), &lists(&[&[a], &[b]]), &[1.0]);
    [found[0][0], found[1][0]]
}

/// Asserts that two results are equal; NaNs are equal.
#[track_caller]
fn assert_same(found: &[f64], expected: &[f64]) {
    let is_same = |(x, y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan());
    assert!(found.iter().zip(expected).all(is_same), "{found:?} is not {expected:?}");
}

#[test]
fn magnitudes_have_derivative_0_at_0() {
    for zero in [0.0, -0.0] {
        assert_eq!(slope(&|x| x.abs(), zero), 0.0);
        assert_eq!(slopes(&|a, b| a.hypot(b), zero, zero), [0.0, 0.0]);
        assert_eq!(slopes(&|a, b| a.copysign(b), zero, -3.0), [0.0, 0.0]);
    }
    assert_eq!(slope(&|x| x.abs(), -2.0), -1.0);
    assert_eq!(slopes(&|a, b| a.copysign(b), 2.0, -3.0), [-1.0, 0.0]);
    assert_eq!(slopes(&|a, b| a.copysign(b), -2.0, -0.0), [1.0, 0.0]);
}

#[test]
fn ties_are_shared_and_a_nan_takes_all() {
    let (max, min) = (|a: &Value, b: &Value| a.maximum(b), |a: &Value, b: &Value| a.minimum(b));
    for function in [&max as &dyn Fn(&Value, &Value) -> Value, &min] {
        assert_eq!(slopes(function, 1.0, 1.0), [0.5, 0.5]);
        assert_eq!(slopes(function, 0.0, -0.0), [0.5, 0.5]);
        assert_eq!(slopes(function, INF, INF), [0.5, 0.5]);
        assert_eq!(slopes(function, NAN, 1.0), [1.0, 0.0]);
        assert_eq!(slopes(function, 1.0, NAN), [0.0, 1.0]);
        assert_eq!(slopes(function, NAN, NAN), [0.5, 0.5]);
    }
    assert_eq!(slopes(&max, 1.0, 2.0), [0.0, 1.0]);
    assert_eq!(slopes(&min, 1.0, 2.0), [1.0, 0.0]);
}

#[test]
fn fmax_and_fmin_select_numbers_over_nans() {
    let (fmax, fmin) = (|a: &Value, b: &Value| a.fmax(b), |a: &Value, b: &Value| a.fmin(b));
    for function in [&fmax as &dyn Fn(&Value, &Value) -> Value, &fmin] {
        assert_eq!(slopes(function, 1.0, 1.0), [0.5, 0.5]);
        assert_eq!(slopes(function, NAN, 1.0), [0.0, 1.0]);
        assert_eq!(slopes(function, 1.0, NAN), [1.0, 0.0]);
        assert_eq!(slopes(function, NAN, NAN), [0.5, 0.5]);
    }
    assert_eq!(slopes(&fmax, 1.0, 2.0), [0.0, 1.0]);
}

#[test]
fn clamp_at_a_bound_passes_the_cotangent_to_the_value() {
    let clamp = |low: f64, x: f64, high: f64| -> Vec<f64> {
        let function = |x: &[Value]| x[1].clamp(&x[0], &x[2]);
        let found = pullback::<f64, f64>(&function, &lists(&[&[low], &[x], &[high]]), &[1.0]);
        found.concat()
    };
    assert_eq!(clamp(0.0, 0.5, 1.0), [0.0, 1.0, 0.0]);
    assert_eq!(clamp(0.0, 0.0, 1.0), [0.0, 1.0, 0.0]);
    assert_eq!(clamp(0.0, 1.0, 1.0), [0.0, 1.0, 0.0]);
    assert_eq!(clamp(0.0, -1.0, 1.0), [1.0, 0.0, 0.0]);
    assert_eq!(clamp(0.0, 2.0, 1.0), [0.0, 0.0, 1.0]);
    for x in [-1.0, 0.0, 0.5, 1.0, 2.0] {
        assert_eq!(clamp(1.0, x, 0.0), [0.0, 0.0, 1.0], "the bounds are exchanged");
    }
    assert_eq!(clamp(0.0, NAN, 1.0), [0.0, 0.0, 0.0]);
}

#[test]
fn poles_give_infinities() {
    for zero in [0.0, -0.0] {
        assert_eq!(slope(&|x| x.sqrt(), zero).abs(), INF);
        assert_eq!(slope(&|x| x.rsqrt(), zero), -INF);
        assert_eq!(slope(&|x| x.cbrt(), zero), INF);
        assert_eq!(slope(&|x| x.log(), zero).abs(), INF);
    }
    assert_eq!(slope(&|x| x.log1p(), -1.0), INF);
    assert_eq!(slope(&|x| x.asin(), 1.0), INF);
    assert_eq!(slope(&|x| x.acos(), -1.0), -INF);
    assert_eq!(slope(&|x| x.atanh(), 1.0), INF);
    assert_eq!(slope(&|x| x.acosh(), 1.0), INF);
    let nothing = pullback::<f64, f64>(&|x| x[0].sqrt(), &lists(&[&[0.0]]), &[0.0]);
    assert!(nothing[0][0].is_nan());
    assert_same(&slopes(&|a, b| a / b, 1.0, 0.0), &[INF, -INF]);
    assert_same(&slopes(&|a, b| a.atan2(b), 0.0, 0.0), &[NAN, NAN]);
}

#[test]
fn small_derivatives_keep_precision() {
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-14, "{found:e} is not {expected:e}");
    };
    near(slope(&|x| x.expm1(), -100.0), (-100f64).exp());
    near(slope(&|x| x.logistic(), 100.0), (-100f64).exp());
    near(slope(&|x| x.logistic(), -100.0), (-100f64).exp());
    near(slope(&|x| x.erfc(), 5.0), -FRAC_2_SQRT_PI * (-25f64).exp());
    near(slope(&|x| x.asinh(), 1e300), 1e-300);
    near(slope(&|x| x.acosh(), 1e300), 1e-300);
    near(slope(&|x| x.log2(), 3.0), 1.0 / (3.0 * LN_2));
    near(slope(&|x| x.log10(), 3.0), 1.0 / (3.0 * LN_10));
    let atan2 = slopes(&|a, b| a.atan2(b), 1e200, 1e200);
    near(atan2[0], 0.5e-200);
    near(slopes(&|a, b| a.hypot(b), 3e200, 4e200)[0], 0.6);
}

#[test]
fn powers_at_0() {
    let pow = |a, b| slopes(&|a, b| a.pow(b), a, b);
    assert_same(&pow(0.0, 0.0), &[0.0, 0.0]);
    assert_same(&pow(0.0, 2.0), &[0.0, 0.0]);
    assert_same(&pow(0.0, 1.0), &[1.0, 0.0]);
    assert_same(&pow(0.0, 0.5), &[INF, 0.0]);
    assert_same(&pow(-2.0, 3.0), &[12.0, NAN]);
    assert_same(&pow(3.0, 0.0), &[0.0, 3f64.ln()]);
    assert_eq!(pow(NAN, 0.0)[0], 0.0);
}

#[test]
fn equal_logarithms_have_equal_shares() {
    let logaddexp = |a, b| slopes(&|a, b| a.logaddexp(b), a, b);
    assert_eq!(logaddexp(-INF, -INF), [0.5, 0.5]);
    assert_eq!(logaddexp(INF, INF), [0.5, 0.5]);
    assert_eq!(logaddexp(2.0, 2.0), [0.5, 0.5]);
    assert_eq!(logaddexp(-INF, 2.0), [0.0, 1.0]);
    assert_eq!(logaddexp(1000.0, -1000.0), [1.0, 0.0]);
}

/// `1 / 0.1` rounds to 10, but the quotient of the remainder is 9.
#[test]
fn remainders_count_whole_divisors() {
    assert_eq!(slopes(&|a, b| a.rem(b), 1.0, 0.1), [1.0, -9.0]);
    assert_eq!(slopes(&|a, b| a.py_mod(b), 1.0, 0.1), [1.0, -9.0]);
    assert_eq!(slopes(&|a, b| a.rem(b), -7.5, 2.0), [1.0, 3.0]);
    assert_eq!(slopes(&|a, b| a.py_mod(b), -7.5, 2.0), [1.0, 4.0]);
}

#[test]
fn prelu_has_the_slope_of_each_side() {
    let prelu = |x, slope| slopes(&|x, s| x.prelu(s), x, slope);
    assert_eq!(prelu(2.0, 0.1), [1.0, 0.0]);
    assert_eq!(prelu(0.0, 0.1), [1.0, 0.0]);
    assert_eq!(prelu(-2.0, 0.1), [0.1, -2.0]);
}

#[test]
fn an_unselected_branch_may_give_a_nan() {
    let naive = |x: &Value| x.gt(0).select(x.log(), 0);
    assert!(slope(&naive, 0.0).is_nan(), "0 times infinity");
    let safe = |x: &Value| x.gt(0).select(x.gt(0).select(x, 1).log(), 0);
    assert_eq!(slope(&safe, 0.0), 0.0);
}

#[test]
fn relu_has_derivative_0_at_0_unlike_max() {
    assert_eq!(slope(&|x| x.relu(), 0.0), 0.0);
    assert_eq!(slope(&|x| x.maximum(0), 0.0), 0.5);
    assert_eq!(slope(&|x| x.relu(), NAN), 1.0);
    assert_eq!(slope(&|x| x.relu(), INF), 1.0);
}

#[test]
fn reduce_precision_has_the_derivative_of_its_operand() {
    for x in [1.1, -1e-300, 0.0, 1e300, INF, NAN] {
        assert_eq!(slope(&|x| x.reduce_precision(5, 3), x), 1.0);
    }
}
