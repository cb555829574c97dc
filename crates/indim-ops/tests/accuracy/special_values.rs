//! The values that the documentation of the operations promises, bit for bit, at both widths.

use indim_ops::{Binary, Unary, operations};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn same(result: f64, expected: f64) -> bool {
    result.to_bits() == expected.to_bits()
}

/// Checks `OP(argument) = result` at both widths.
macro_rules! check_unary {
    ($($op:ident: $($x:expr => $result:expr),+;)+) => {$($({
        let (x, expected): (f64, f64) = ($x, $result);
        let single = <operations::$op as Unary<f32>>::apply(x as f32);
        let double = <operations::$op as Unary<f64>>::apply(x);
        assert!(same(f64::from(single), expected), "{}({x:?}) = {single:?} in 32 bits", stringify!($op));
        assert!(same(double, expected), "{}({x:?}) = {double:?} in 64 bits", stringify!($op));
    })+)+};
}

#[test]
fn unary_special_values() {
    check_unary! {
        Exp: 0.0 => 1.0, -0.0 => 1.0, INF => INF, -INF => 0.0, NAN => NAN, 1e4 => INF, -1e4 => 0.0;
        Exp2: 0.0 => 1.0, -0.0 => 1.0, INF => INF, -INF => 0.0, NAN => NAN, 10.0 => 1024.0, -3.0 => 0.125;
        Expm1: 0.0 => 0.0, -0.0 => -0.0, INF => INF, -INF => -1.0, NAN => NAN, -50.0 => -1.0;
        Log: 1.0 => 0.0, 0.0 => -INF, -0.0 => -INF, INF => INF, -1.0 => NAN, -INF => NAN, NAN => NAN;
        Log2: 1.0 => 0.0, 8.0 => 3.0, 0.0 => -INF, -0.0 => -INF, INF => INF, -1.0 => NAN, -INF => NAN,
            NAN => NAN;
        Log10: 1.0 => 0.0, 1000.0 => 3.0, 0.0 => -INF, -0.0 => -INF, INF => INF, -1.0 => NAN, NAN => NAN;
        Log1p: 0.0 => 0.0, -0.0 => -0.0, -1.0 => -INF, INF => INF, -1.5 => NAN, -INF => NAN, NAN => NAN;
        Sin: 0.0 => 0.0, -0.0 => -0.0, INF => NAN, -INF => NAN, NAN => NAN;
        Cos: 0.0 => 1.0, -0.0 => 1.0, INF => NAN, -INF => NAN, NAN => NAN;
        Tan: 0.0 => 0.0, -0.0 => -0.0, INF => NAN, -INF => NAN, NAN => NAN;
        Tanh: 0.0 => 0.0, -0.0 => -0.0, INF => 1.0, -INF => -1.0, NAN => NAN, 50.0 => 1.0;
        Rsqrt: 0.0 => INF, -0.0 => -INF, INF => 0.0, -INF => NAN, -1.0 => NAN, NAN => NAN, 4.0 => 0.5;
        Cbrt: 0.0 => 0.0, -0.0 => -0.0, INF => INF, -INF => -INF, NAN => NAN, -27.0 => -3.0;
        Asin: 0.0 => 0.0, -0.0 => -0.0, 1.5 => NAN, -INF => NAN, NAN => NAN;
        Acos: 1.0 => 0.0, -1.5 => NAN, INF => NAN, NAN => NAN;
        Atan: 0.0 => 0.0, -0.0 => -0.0, NAN => NAN;
        Sinh: 0.0 => 0.0, -0.0 => -0.0, INF => INF, -INF => -INF, NAN => NAN;
        Cosh: 0.0 => 1.0, -0.0 => 1.0, INF => INF, -INF => INF, NAN => NAN;
        Asinh: 0.0 => 0.0, -0.0 => -0.0, INF => INF, -INF => -INF, NAN => NAN;
        Acosh: 1.0 => 0.0, INF => INF, 0.5 => NAN, 0.0 => NAN, -INF => NAN, NAN => NAN;
        Atanh: 0.0 => 0.0, -0.0 => -0.0, 1.0 => INF, -1.0 => -INF, 1.5 => NAN, INF => NAN, NAN => NAN;
        Erf: 0.0 => 0.0, -0.0 => -0.0, INF => 1.0, -INF => -1.0, NAN => NAN;
        ErfInv: 0.0 => 0.0, -0.0 => -0.0, 1.0 => INF, -1.0 => -INF, 1.5 => NAN, -INF => NAN, NAN => NAN;
        Lgamma: 1.0 => 0.0, 2.0 => 0.0, 0.0 => INF, -0.0 => INF, -1.0 => INF, -3.0 => INF, INF => INF,
            -INF => INF, NAN => NAN, -1e30 => INF;
        Digamma: 0.0 => -INF, -0.0 => INF, -1.0 => NAN, -2.0 => NAN, INF => INF, -INF => NAN, NAN => NAN,
            -1e30 => NAN;
        Trigamma: 0.0 => INF, -0.0 => INF, -1.0 => INF, INF => 0.0, -INF => NAN, NAN => NAN, -1e30 => INF;
        Logistic: 0.0 => 0.5, -0.0 => 0.5, INF => 1.0, -INF => 0.0, NAN => NAN;
    }
}

#[test]
fn subnormals_are_kept() {
    let smallest = f32::from_bits(1);
    assert_eq!(<operations::Exp as Unary<f32>>::apply(-103.0), smallest);
    assert_eq!(<operations::Exp2 as Unary<f32>>::apply(-149.0), smallest);
    assert_eq!(<operations::Exp2 as Unary<f64>>::apply(-1074.0), f64::from_bits(1));
    assert_eq!(<operations::Log2 as Unary<f32>>::apply(smallest), -149.0);
    assert_eq!(<operations::Log2 as Unary<f64>>::apply(f64::from_bits(1)), -1074.0);
    for bits in [1, 2, 3, 0x7f_ffff] {
        let x = f32::from_bits(bits);
        assert_eq!(<operations::Sin as Unary<f32>>::apply(x), x);
        assert_eq!(<operations::Tan as Unary<f32>>::apply(x), x);
        assert_eq!(<operations::Tanh as Unary<f32>>::apply(x), x);
        assert_eq!(<operations::Expm1 as Unary<f32>>::apply(x), x);
        assert_eq!(<operations::Log1p as Unary<f32>>::apply(x), x);
    }
}

/// Every case of C99, annex F.9.4.4, at both widths.
#[test]
fn special_values_of_pow() {
    let cases = [
        (0.0, -3.0, INF),
        (-0.0, -3.0, -INF),
        (0.0, -2.5, INF),
        (-0.0, -2.5, INF),
        (-0.0, -2.0, INF),
        (0.0, -INF, INF),
        (-0.0, -INF, INF),
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 2.5, 0.0),
        (0.0, INF, 0.0),
        (-0.0, INF, 0.0),
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (1.0, NAN, 1.0),
        (1.0, INF, 1.0),
        (1.0, -INF, 1.0),
        (NAN, 0.0, 1.0),
        (NAN, -0.0, 1.0),
        (INF, 0.0, 1.0),
        (-INF, -0.0, 1.0),
        (0.0, 0.0, 1.0),
        (-8.0, 1.0 / 3.0, NAN),
        (-1.0, 0.5, NAN),
        (0.5, -INF, INF),
        (-0.5, -INF, INF),
        (2.0, -INF, 0.0),
        (-2.0, -INF, 0.0),
        (0.5, INF, 0.0),
        (-0.5, INF, 0.0),
        (2.0, INF, INF),
        (-2.0, INF, INF),
        (-INF, -3.0, -0.0),
        (-INF, -2.0, 0.0),
        (-INF, -2.5, 0.0),
        (-INF, 3.0, -INF),
        (-INF, 2.0, INF),
        (-INF, 2.5, INF),
        (INF, -1.0, 0.0),
        (INF, 0.5, INF),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (-2.0, NAN, NAN),
        (NAN, NAN, NAN),
        (-INF, INF, INF),
        (-INF, -INF, 0.0),
        (-2.0, 3.0, -8.0),
        (-2.0, -1.0, -0.5),
        (3.0, 4.0, 81.0),
        (-1.0, 1e30, 1.0),
        (-1.0, 16_777_215.0, -1.0),
        (-2.0, 1e30, INF),
        (2.0, 1e30, INF),
        (2.0, -1e30, 0.0),
    ];
    for (x, y, expected) in cases {
        let single = <operations::Pow as Binary<f32>>::apply(x as f32, y as f32);
        let double = <operations::Pow as Binary<f64>>::apply(x, y);
        assert!(same(f64::from(single), expected), "pow({x:?}, {y:?}) = {single:?} in 32 bits");
        assert!(same(double, expected), "pow({x:?}, {y:?}) = {double:?} in 64 bits");
    }
}

/// Every case of C99, annex F.9.1.4, at both widths.
#[test]
fn special_values_of_atan2() {
    use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let three_quarters = 2.356_194_490_192_345;
    let cases = [
        (0.0, -0.0, PI),
        (-0.0, -0.0, -PI),
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -1.0, PI),
        (-0.0, -1.0, -PI),
        (0.0, 1.0, 0.0),
        (-0.0, 1.0, -0.0),
        (-1.0, 0.0, -FRAC_PI_2),
        (-1.0, -0.0, -FRAC_PI_2),
        (1.0, 0.0, FRAC_PI_2),
        (1.0, -0.0, FRAC_PI_2),
        (1.0, -INF, PI),
        (-1.0, -INF, -PI),
        (1.0, INF, 0.0),
        (-1.0, INF, -0.0),
        (INF, 1.0, FRAC_PI_2),
        (-INF, 1.0, -FRAC_PI_2),
        (INF, -INF, three_quarters),
        (-INF, -INF, -three_quarters),
        (INF, INF, FRAC_PI_4),
        (-INF, INF, -FRAC_PI_4),
        (NAN, 1.0, NAN),
        (1.0, NAN, NAN),
        (NAN, INF, NAN),
    ];
    for (y, x, expected) in cases {
        let single = <operations::Atan2 as Binary<f32>>::apply(y as f32, x as f32);
        let double = <operations::Atan2 as Binary<f64>>::apply(y, x);
        assert!(
            same(f64::from(single), f64::from(expected as f32)),
            "atan2({y:?}, {x:?}) = {single:?} in 32 bits"
        );
        assert!(same(double, expected), "atan2({y:?}, {x:?}) = {double:?} in 64 bits");
    }
}

#[test]
fn special_values_of_hypot_and_copysign() {
    let hypot = [
        (INF, NAN, INF),
        (NAN, -INF, INF),
        (-INF, 1.0, INF),
        (NAN, 1.0, NAN),
        (0.0, -0.0, 0.0),
        (-3.0, 4.0, 5.0),
        (-0.0, -2.0, 2.0),
    ];
    for (x, y, expected) in hypot {
        assert!(
            same(<operations::Hypot as Binary<f64>>::apply(x, y), expected),
            "hypot({x:?}, {y:?})"
        );
    }
    for (x, y, expected) in
        [(1.0, -0.0, -1.0), (-0.0, 1.0, 0.0), (-INF, 2.0, INF), (2.0, -NAN, -2.0), (NAN, -1.0, NAN)]
    {
        assert!(
            same(<operations::Copysign as Binary<f64>>::apply(x, y), expected),
            "copysign({x:?}, {y:?})"
        );
    }
}
