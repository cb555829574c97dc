//! The errors of the functions against the exact values, on a sample.

use indim_ops::{Binary, operations};

use crate::functions::SAMPLE_STEP;
use crate::measure::{BINARY, WorstError, unary_cases};
use crate::random::Random;

/// All exponents and both signs, with significands at which the rounding changes.
fn boundaries_single() -> impl Iterator<Item = f32> {
    let significands =
        [0, 1, 2, 0x2a_aaaa, 0x35_04f2, 0x35_04f3, 0x35_04f4, 0x40_0000, 0x7f_fffe, 0x7f_ffff];
    (0u32..512).flat_map(move |top| significands.map(|low| f32::from_bits(top << 23 | low)))
}

fn boundaries_double() -> impl Iterator<Item = f64> {
    let significands = [
        0,
        1,
        2,
        0x5_5555_5555_5555,
        0x6_a09e_667f_3bcc,
        0x6_a09e_667f_3bcd,
        0x8_0000_0000_0000,
        0xf_ffff_ffff_ffff,
    ];
    (0u64..4096).flat_map(move |top| significands.map(|low| f64::from_bits(top << 52 | low)))
}

/// The neighbours of multiples of `π / 2`, which need an exact reduction, among them the closest ones
/// (Muller, Elementary Functions, table of worst cases).
fn near_quarter_turns() -> impl Iterator<Item = f64> {
    let multiples = (1..2000).map(|count| f64::from(count) * core::f64::consts::FRAC_PI_2);
    let neighbours = multiples.flat_map(|x| [x.next_down(), x, x.next_up()]);
    neighbours.chain([
        6381956970095103.0 * 2f64.powi(797),
        16367173.0 * 2f64.powi(72),
        710.0,
        355.0,
    ])
}

/// Results in 16 bits are those of 32 bits, rounded once more: correctly rounded, except for the few that are
/// so close to the middle of two floats that the first rounding reaches it.
#[test]
fn unary_functions_in_16_bits_are_rounded_but_for_double_rounding() {
    for case in unary_cases() {
        for (name, worst) in [("f16", case.measure_f16()), ("bf16", case.measure_bf16())] {
            assert!(worst.error <= 1.0, "{} {name}: {worst:?}", case.function.name);
            assert!(worst.not_nearest <= 64, "{} {name}: {worst:?}", case.function.name);
        }
    }
}

#[test]
fn unary_functions_in_32_bits_are_within_1_ulp() {
    for case in unary_cases() {
        let mut worst = WorstError::default();
        for bits in (0..=u32::MAX).step_by(SAMPLE_STEP) {
            case.measure_single(f32::from_bits(bits), &mut worst);
        }
        let near = near_quarter_turns().map(|x| x as f32);
        for x in boundaries_single().chain(near) {
            case.measure_single(x, &mut worst);
        }
        assert!(worst.error <= 1.0, "{} in 32 bits: {worst:?}", case.function.name);
    }
}

#[test]
fn unary_functions_in_64_bits_are_within_1_float_of_the_nearest() {
    for case in unary_cases() {
        let (mut worst, mut random) = (WorstError::default(), Random(7));
        for _ in 0..100_000 {
            case.measure_double(random.argument(), &mut worst);
        }
        for x in boundaries_double().chain(near_quarter_turns()) {
            case.measure_double(x, &mut worst);
        }
        assert!(worst.error <= 1.0, "{} in 64 bits: {worst:?}", case.function.name);
    }
}

#[test]
fn binary_functions_in_32_bits_are_within_1_ulp() {
    for case in BINARY {
        let (mut worst, mut random) = (WorstError::default(), Random(7));
        for _ in 0..200_000 {
            let (x, y) = random.arguments(150.0);
            case.measure_single(x as f32, y as f32, &mut worst);
        }
        for x in boundaries_single() {
            for y in [-1.5, -1.0, 0.5, 1.0, 2.0, 3.0, 1e9] {
                case.measure_single(x, y, &mut worst);
            }
        }
        assert!(worst.error <= 1.0, "{} in 32 bits: {worst:?}", case.name);
    }
}

#[test]
fn binary_functions_in_64_bits_are_within_1_float_of_the_nearest() {
    for case in BINARY {
        let (mut worst, mut random) = (WorstError::default(), Random(7));
        for _ in 0..200_000 {
            let (x, y) = random.arguments(1080.0);
            case.measure_double(x, y, &mut worst);
        }
        for x in boundaries_double() {
            for y in [-1.5, -1.0, 0.5, 1.0, 2.0, 3.0, 1e9] {
                case.measure_double(x, y, &mut worst);
            }
        }
        assert!(worst.error <= 1.0, "{} in 64 bits: {worst:?}", case.name);
    }
}

/// The exponents that `pow` computes by products, and others.
fn small_exponents() -> impl Iterator<Item = f64> {
    (-8..=40).filter(|&twice| twice != 0).map(|twice| f64::from(twice) / 2.0)
}

#[test]
fn powers_to_small_exponents_are_within_1_ulp() {
    let case = BINARY.iter().find(|case| case.name == "pow").unwrap();
    for y in small_exponents() {
        let (mut single, mut double, mut random) =
            (WorstError::default(), WorstError::default(), Random(7));
        for bits in (0..=u32::MAX).step_by(8 * SAMPLE_STEP) {
            case.measure_single(f32::from_bits(bits), y as f32, &mut single);
        }
        for _ in 0..4000 {
            // Bases whose powers are floats, down to the subnormals.
            let size = (random.unit() - 0.5) * 2100.0 / y.abs().max(1.0);
            let x = 2f64.powf(size);
            case.measure_double(
                if random.bits().is_multiple_of(2) { x } else { -x },
                y,
                &mut double,
            );
        }
        for x in boundaries_double().step_by(3) {
            case.measure_double(x, y, &mut double);
        }
        assert!(single.error <= 1.0, "x^{y} in 32 bits: {single:?}");
        assert!(double.error <= 1.0, "x^{y} in 64 bits: {double:?}");
    }
}

#[test]
fn powers_to_small_exponents_have_the_special_values_of_c() {
    let infinity = f64::INFINITY;
    let bases = [0.0, 1.0, 0.5, 2.0, f64::MAX, f64::from_bits(1), infinity, f64::NAN];
    let pow = <operations::Pow as Binary<f64>>::apply;
    let single = <operations::Pow as Binary<f32>>::apply;
    for y in small_exponents() {
        for x in bases.into_iter().flat_map(|x| [x, -x]) {
            let expected = core_math::pow(x, y);
            let is_same = |result: f64| {
                result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan()
            };
            assert!(is_same(pow(x, y)), "{x}^{y} = {}, not {expected}", pow(x, y));
            if x == f64::from(x as f32) && (expected == 0.0 || !expected.is_finite()) {
                assert!(is_same(single(x as f32, y as f32).into()), "{x}^{y} in 32 bits");
            }
        }
    }
}

/// The nearest float, not a neighbour of it.
#[test]
fn a_subnormal_quotient_has_a_correctly_rounded_angle() {
    for (y, x) in
        [(1.727_740_813_270_707_5e-308, 0.393_931_586_631_249_7), (3e-320, 7.0), (1e-300, 1e20)]
    {
        assert_eq!(<operations::Atan2 as Binary<f64>>::apply(y, x), core_math::atan2(y, x));
    }
}
