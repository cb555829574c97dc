//! Edge cases of operations that no other system in the tests has, bit for bit.

use indim_ops::operations::*;
use indim_ops::{Binary, Complex, Unary, bf16, c64, f16};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn binary<O: Binary<f64, Result = f64> + Binary<f32, Result = f32> + Binary<f16, Result = f16>>(
    _: O,
    cases: &[(f64, f64, f64)],
) {
    for &(x, y, expected) in cases {
        let double = <O as Binary<f64>>::apply(x, y);
        let single = <O as Binary<f32>>::apply(x as f32, y as f32);
        let half = <O as Binary<f16>>::apply(f16::from_f64(x), f16::from_f64(y));
        assert_eq!(double.to_bits(), expected.to_bits(), "({x:?}, {y:?}) = {double:?}");
        assert_eq!(single.to_bits(), (expected as f32).to_bits(), "({x:?}, {y:?}) = {single:?}");
        assert_eq!(half.to_bits(), f16::from_f64(expected).to_bits(), "({x:?}, {y:?}) = {half:?}");
    }
}

#[test]
fn a_number_wins_over_a_nan_in_fmax_and_fmin() {
    binary(
        Fmax,
        &[(1.0, NAN, 1.0), (NAN, -2.0, -2.0), (NAN, NAN, NAN), (-0.0, 0.0, 0.0), (1.0, INF, INF)],
    );
    binary(
        Fmin,
        &[
            (1.0, NAN, 1.0),
            (NAN, -2.0, -2.0),
            (NAN, NAN, NAN),
            (0.0, -0.0, -0.0),
            (1.0, -INF, -INF),
        ],
    );
}

#[test]
fn prelu_multiplies_what_is_below_zero() {
    binary(
        Prelu,
        &[
            (2.0, NAN, 2.0),
            (-2.0, 0.25, -0.5),
            (-0.0, 5.0, -0.0),
            (NAN, 1.0, NAN),
            (-INF, 0.5, -INF),
        ],
    );
}

#[test]
fn logaddexp_takes_infinities() {
    binary(
        Logaddexp,
        &[
            (0.0, 0.0, core::f64::consts::LN_2),
            (-INF, 3.0, 3.0),
            (-INF, -INF, -INF),
            (INF, -INF, INF),
            (INF, INF, INF),
            (NAN, INF, NAN),
            (-INF, NAN, NAN),
            (100.0, -100.0, 100.0),
        ],
    );
}

/// Against 60 digits: `log1p(exp(-d))` of exact arguments.
#[test]
fn logaddexp_is_near_the_exact_value() {
    let cases = [
        (0.0, -0.5, 0.474_076_984_180_106_7),
        (0.0, -40.0, 4.248_354_255_291_589e-18),
        (0.0, -700.0, 9.859_676_543_759_77e-305),
        (1.0, 3.0, 3.126_928_011_042_972_5),
        (-0.25, -3.0, -0.188_032_410_996_801_37),
    ];
    for (x, y, expected) in cases {
        let result = <Logaddexp as Binary<f64>>::apply(x, y);
        assert!((result - expected).abs() <= 2.3e-16 * expected.abs(), "({x}, {y}) = {result}");
    }
}

/// If `e^x + e^y` is nearly 1, the error stays below the last bit of the larger operand.
#[test]
#[allow(clippy::approx_constant, reason = "a number near ln 2 is meant")]
fn logaddexp_near_zero_keeps_its_absolute_error() {
    // From 400 bits.
    let cases = [
        (-0.5, -0.932_752_129_567_188_6, 4.964_190_929_818_499e-18),
        (-0.1, -2.352_168_461_044_090_7, 3.508_453_175_749_642_5e-18),
        (-1e-6, -13.815_511_057_964_233, -8.052_821_802_397_53e-22),
        (-0.6931, -0.693_194_363_346_000_8, 8.285_304_581_711_233e-18),
        (-0.7, -0.686_341_002_808_385_2, -8.277_582_133_894_774e-18),
        (-5.0, -0.006_760_749_449_488_557, 4.121_221_970_914_227e-19),
    ];
    for (x, y, expected) in cases {
        let result = <Logaddexp as Binary<f64>>::apply(x, y);
        assert!((result - expected).abs() <= 2f64.powi(-54), "({x}, {y}) = {result}");
        let (x, y) = (x as f32, y as f32);
        let exact = <Logaddexp as Binary<f64>>::apply(x.into(), y.into());
        let single = f64::from(<Logaddexp as Binary<f32>>::apply(x, y));
        assert!((single - exact).abs() <= 2f64.powi(-25), "({x}, {y}) = {single}");
    }
}

/// In 32 bits against 64 bits, around the curve where `e^x + e^y` is 1 and far from it.
#[test]
fn logaddexp_is_within_1_ulp_where_it_does_not_cancel() {
    for step in 1..40_000 {
        let x = f64::from(step) * -1e-4;
        let y = (-x.exp()).ln_1p() + f64::from(step % 64 - 32) * f64::from(step % 7).exp2() * 1e-3;
        let (x, y) = (x as f32, y as f32);
        let exact = <Logaddexp as Binary<f64>>::apply(x.into(), y.into());
        let single = f64::from(<Logaddexp as Binary<f32>>::apply(x, y));
        let ulp = (exact.abs().log2().floor() - 23.0).exp2();
        assert!((single - exact).abs() <= ulp.max(2f64.powi(-25)), "({x}, {y}) = {single}");
    }
}

#[test]
fn nextafter_steps_in_the_type_itself() {
    let half = |x: u16, y: u16| {
        <Nextafter as Binary<f16>>::apply(f16::from_bits(x), f16::from_bits(y)).to_bits()
    };
    assert_eq!(half(0x3c00, 0x7c00), 0x3c01);
    assert_eq!(half(0x3c00, 0x0000), 0x3bff);
    assert_eq!(half(0x0000, 0xbc00), 0x8001);
    assert_eq!(half(0x8000, 0x3c00), 0x0001);
    assert_eq!(half(0x0000, 0x8000), 0x8000);
    assert_eq!(half(0xbc00, 0x3c00), 0xbbff);
    assert_eq!(half(0x7bff, 0x7c00), 0x7c00);
    assert_eq!(half(0x7c01, 0x3c00), f16::NAN.to_bits());
    let next = <Nextafter as Binary<bf16>>::apply(bf16::from_f32(1.0), bf16::INFINITY);
    assert_eq!(next.to_f32(), 1.0 + 2f32.powi(-7));
    for (x, y) in [(1.0, 2.0), (-1.0, 2.0), (0.0, -1.0), (f64::MAX, INF), (5.0, 5.0), (-0.0, 0.0)] {
        let result = <Nextafter as Binary<f64>>::apply(x, y);
        let expected = if x == y {
            y
        } else if x < y {
            x.next_up()
        } else {
            x.next_down()
        };
        assert_eq!(result.to_bits(), expected.to_bits(), "({x}, {y})");
    }
}

#[test]
fn the_total_order_is_that_of_rust() {
    let values = [
        -NAN,
        -INF,
        -1.0,
        -1e-310,
        -0.0,
        0.0,
        1e-310,
        1.0,
        INF,
        NAN,
        f64::from_bits(0x7ff0_0000_0000_0001),
    ];
    for x in values {
        for y in values {
            let order = x.total_cmp(&y);
            assert_eq!(<TotalLt as Binary<f64>>::apply(x, y), order.is_lt(), "{x} {y}");
            assert_eq!(<TotalLe as Binary<f64>>::apply(x, y), order.is_le(), "{x} {y}");
            assert_eq!(<TotalGt as Binary<f64>>::apply(x, y), order.is_gt(), "{x} {y}");
            assert_eq!(<TotalGe as Binary<f64>>::apply(x, y), order.is_ge(), "{x} {y}");
            assert_eq!(<TotalEq as Binary<f64>>::apply(x, y), order.is_eq(), "{x} {y}");
            assert_eq!(<TotalNe as Binary<f64>>::apply(x, y), order.is_ne(), "{x} {y}");
        }
    }
    let [low, high] = [0xfc00, 0xfe00].map(f16::from_bits);
    assert!(<TotalLt as Binary<f16>>::apply(high, low), "a negative NaN is below -inf");
}

#[test]
fn mulhi_is_the_upper_half() {
    for x in [0i64, 1, -1, 7, i64::MIN, i64::MAX, 0x1234_5678_9abc_def0] {
        for y in [0i64, 1, -1, -3, i64::MIN, i64::MAX] {
            let exact = (i128::from(x) * i128::from(y)) >> 64;
            assert_eq!(<Mulhi as Binary<i64>>::apply(x, y), exact as i64);
            let (x, y) = (x as u64, y as u64);
            let exact = (u128::from(x) * u128::from(y)) >> 64;
            assert_eq!(<Mulhi as Binary<u64>>::apply(x, y), exact as u64);
        }
    }
    assert_eq!(<Mulhi as Binary<i8>>::apply(-128, -128), 64);
    assert_eq!(<Mulhi as Binary<u8>>::apply(255, 255), 254);
}

#[test]
fn complex_parts_come_apart_and_together() {
    let x: c64 = <operations_complex::Complex as Binary<f32>>::apply(1.5, -2.5);
    assert_eq!(x, Complex::new(1.5, -2.5));
    assert_eq!(<Real as Unary<c64>>::apply(x), 1.5);
    assert_eq!(<Imag as Unary<c64>>::apply(x), -2.5);
    assert_eq!(<Conj as Unary<c64>>::apply(x), Complex::new(1.5, 2.5));
    assert_eq!(<Imag as Unary<f32>>::apply(3.0).to_bits(), 0);
    assert_eq!(<Abs as Unary<c64>>::apply(Complex::new(3e38, -3e38)), f32::INFINITY);
    assert_eq!(<Abs as Unary<c64>>::apply(Complex::new(3.0, -4.0)), 5.0);
}

/// The plain formulas of these functions overflow or underflow in intermediate results; expected values by
/// CPython's `cmath`.
#[test]
fn complex_functions_reach_the_largest_numbers() {
    const LARGEST: f64 = f64::MAX;
    let (quarter, turn) = (core::f64::consts::FRAC_PI_4, core::f64::consts::FRAC_PI_2);
    let (log, log_diagonal) = (710.475860073944, 710.8224336642239);
    let root = 1.3407807929942596e154;
    let tiny = 2.0f64.powi(-537);
    let cases = [
        ("acos", Acos::apply(c128(-LARGEST, LARGEST)), c128(3.0 * quarter, -log_diagonal)),
        ("acos", Acos::apply(c128(LARGEST, 1.0)), c128(1.0 / LARGEST, -log)),
        ("acos", Acos::apply(c128(1e304, -1e304)), c128(quarter, 701.0255890410298)),
        ("asin", Asin::apply(c128(LARGEST, -LARGEST)), c128(quarter, -log_diagonal)),
        ("asin", Asin::apply(c128(1.0, LARGEST)), c128(1.0 / LARGEST, log)),
        ("asin", Asin::apply(c128(-LARGEST, 0.0)), c128(-turn, log)),
        ("asinh", Asinh::apply(c128(-LARGEST, LARGEST)), c128(-log_diagonal, quarter)),
        ("acosh", Acosh::apply(c128(LARGEST, LARGEST)), c128(log_diagonal, quarter)),
        ("sqrt", Sqrt::apply(c128(-LARGEST, 1.0 / root)), c128(0.5 / LARGEST, root)),
        ("sqrt", Sqrt::apply(c128(-LARGEST, -1.0)), c128(0.5 / root, -root)),
        ("sqrt", Sqrt::apply(c128(0.0, f64::from_bits(2))), c128(tiny, tiny)),
    ];
    for (name, found, expected) in cases {
        for (found, expected) in [(found.re, expected.re), (found.im, expected.im)] {
            let error = (found - expected).abs();
            let allowed = 1e-15 * expected.abs() + f64::from_bits(1);
            assert!(error <= allowed, "{name}: {found:?} where {expected:?} belongs");
        }
    }
}

fn c128(re: f64, im: f64) -> Complex<f64> {
    Complex::new(re, im)
}

/// The operation, whose name is that of the type.
mod operations_complex {
    pub(crate) use indim_ops::operations::Complex;
}

#[test]
fn conversions_to_16_bits_are_rounded_once() {
    use indim_ops::ConvertTo;
    // One above the middle of two bf16: a conversion through f32 would round to the middle.
    let middle = (1i64 << 40) + (1 << 32);
    let up = |x: i64| ConvertTo::<bf16>::convert(x).to_f64();
    assert_eq!(up(middle), 2f64.powi(40));
    assert_eq!(up(middle + 1), 2f64.powi(40) + 2f64.powi(33));
    assert_eq!(up(-middle - 1), -(2f64.powi(40) + 2f64.powi(33)));
    let large = (1i64 << 62) + (1 << 54);
    assert_eq!(up(large), 2f64.powi(62));
    assert_eq!(up(large + 1), 2f64.powi(62) + 2f64.powi(55));
    assert_eq!(up(-large - 1), -(2f64.powi(62) + 2f64.powi(55)));
    assert_eq!(ConvertTo::<bf16>::convert(u64::MAX).to_f64(), 2f64.powi(64));
    assert_eq!(ConvertTo::<f16>::convert(65_519i32), f16::MAX);
    assert_eq!(ConvertTo::<f16>::convert(65_520i32), f16::INFINITY);
    assert_eq!(ConvertTo::<i8>::convert(f16::NEG_INFINITY), i8::MIN);
    assert_eq!(ConvertTo::<u8>::convert(f16::NAN), 0);
    assert!(ConvertTo::<bool>::convert(f16::NAN));
    assert!(ConvertTo::<bool>::convert(Complex::new(0.0f32, f32::NAN)));
    assert_eq!(ConvertTo::<i32>::convert(Complex::new(-2.7f64, 9.0)), -2);
    assert_eq!(ConvertTo::<c64>::convert(true), Complex::new(1.0, 0.0));
}
