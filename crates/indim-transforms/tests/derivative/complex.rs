//! Complex numbers: the gradient of a real number `L` is `∂L/∂re + i ∂L/∂im`, so that the derivative of `L`
//! along `u` is `re(conj(gradient) * u)`.

use indim_builder::Value;
use indim_ops::{Complex, DType, Op};
use indim_shape::RuleSet;

use super::{Argument, pullback, pushforward, slope, value};

type C128 = Complex<f64>;

const POINTS: [C128; 7] = [
    C128 { re: 0.3, im: 0.4 },
    C128 { re: -0.6, im: 0.7 },
    C128 { re: 1.4, im: -0.8 },
    C128 { re: -1.7, im: -0.35 },
    C128 { re: 0.2, im: -1.6 },
    C128 { re: 2.3, im: 0.1 },
    C128 { re: -2.1, im: 0.2 },
];

/// `re(conj(x) * y)`.
fn inner(x: C128, y: C128) -> f64 {
    x.re * y.re + x.im * y.im
}

/// Compares the gradients and tangents with the slopes of `re(conj(cotangent) * y)` along both axes of the
/// plane.
fn check(name: &str, function: super::Function<'_>, point: &[C128]) {
    let cotangent = C128 { re: 0.8, im: -0.5 };
    let at = |point: &[C128]| -> Vec<Argument<C128>> {
        point.iter().map(|&x| Argument(vec![], vec![x])).collect()
    };
    let gradients = pullback(function, &at(point), &[cotangent]);
    for (index, gradient) in gradients.iter().enumerate() {
        for direction in [C128 { re: 1.0, im: 0.0 }, C128 { re: 0.0, im: 1.0 }] {
            let along = |step: f64| {
                let mut moved = point.to_vec();
                moved[index].re += step * direction.re;
                moved[index].im += step * direction.im;
                inner(cotangent, value::<C128, C128>(function, &at(&moved))[0])
            };
            let (found, expected) = (inner(gradient[0], direction), slope(along, 1e-4));
            let scale = 1.0 + expected.abs();
            assert!(
                (found - expected).abs() <= 1e-8 * scale,
                "{name} at {point:?}, operand {index}: {found} against {expected}"
            );
            let mut directions = vec![vec![C128::default()]; point.len()];
            directions[index] = vec![direction];
            let tangent = pushforward::<C128, C128>(function, &at(point), &directions)[0];
            let along_tangent = inner(cotangent, tangent);
            assert!(
                (along_tangent - found).abs() <= 1e-12 * scale,
                "{name} at {point:?}, operand {index}: {along_tangent} against {found}"
            );
        }
    }
}

#[test]
fn operations_of_complex_numbers_have_the_slope_of_finite_differences() {
    let dtype = DType::C128;
    for &op in Op::ALL {
        if !op.takes(dtype) || op.result_dtype(dtype) != dtype || op.first_is_bool() {
            continue;
        }
        let function = |x: &[Value]| x[0].builder().elementwise(op, x, &RuleSet::None).unwrap();
        for (index, &x) in POINTS.iter().enumerate() {
            let point = [x, POINTS[(index + 3) % POINTS.len()]];
            check(op.name(), &function, &point[..op.arity().count()]);
        }
    }
}

/// Functions of complex numbers with operations between real and complex types, and conversions.
#[test]
fn parts_and_magnitudes() {
    let functions: &[(&str, super::Function<'_>)] = &[
        ("real", &|z| z[0].real().complex(z[0].imag() * 3)),
        ("abs", &|z| z[0].abs().complex(z[0].abs().square())),
        ("convert", &|z| z[0].convert(DType::F64).convert(DType::C128) * &z[0]),
        ("select", &|z| z[0].real().gt(z[0].imag()).select(z[0].exp(), &z[0] * &z[0].conj())),
        ("sinc", &|z| z[0].sinc()),
        ("fma of parts", &|z| z[0].real().fma(z[0].imag(), 2).complex(0)),
    ];
    for (name, function) in functions {
        POINTS.iter().for_each(|&x| check(name, *function, &[x]));
    }
}

#[test]
fn abs_and_sign_have_derivative_0_at_0() {
    let zero = [Argument(vec![], vec![C128 { re: 0.0, im: 0.0 }])];
    let flat = C128 { re: 0.0, im: 0.0 };
    assert_eq!(pullback(&|z| z[0].abs(), &zero, &[1.0f64]), [[flat]]);
    assert_eq!(pullback(&|z| z[0].sign(), &zero, &[C128 { re: 1.0, im: 1.0 }]), [[flat]]);
}

/// The gradient is the direction of ascent: that of `abs(z)²` is `2 z`, not its conjugate.
#[test]
fn the_gradient_is_the_direction_of_ascent() {
    let z = C128 { re: 3.0, im: -4.0 };
    let squared = |z: &[Value]| z[0].abs().square();
    let gradient = pullback(&squared, &[Argument(vec![], vec![z])], &[1.0f64])[0][0];
    assert!((gradient.re - 6.0).abs() < 1e-14 && (gradient.im + 8.0).abs() < 1e-14, "{gradient:?}");
}

#[test]
fn zero_to_a_power() {
    let zero = C128 { re: 0.0, im: 0.0 };
    let at = |b: C128| {
        let operands = [Argument(vec![], vec![zero]), Argument(vec![], vec![b])];
        pullback(&|x| x[0].pow(&x[1]), &operands, &[C128 { re: 1.0, im: 0.0 }])
    };
    assert_eq!(at(zero), [[zero], [zero]]);
    assert_eq!(at(C128 { re: 2.0, im: 0.0 })[1], [zero]);
}
