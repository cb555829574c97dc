//! Complex functions against NumPy at special values, and against mpmath elsewhere.
//!
//! `corpus.py`, in this folder, generates the corpus.

use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_ops::{Complex, Op, c64, c128};
use indim_shape::RuleSet;

struct Case {
    op: Op,
    operands: Vec<c128>,
    expected: c128,
}

fn cases(corpus: &str) -> Vec<Case> {
    let read = |line: &str| {
        let mut words = line.split(' ');
        let op = words.next().unwrap().parse().unwrap();
        let parts: Vec<f64> =
            words.map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap())).collect();
        let mut numbers: Vec<c128> =
            parts.chunks(2).map(|part| Complex::new(part[0], part[1])).collect();
        let expected = numbers.pop().unwrap();
        Case { op, operands: numbers, expected }
    };
    corpus.lines().map(read).collect()
}

fn narrow(x: c128) -> c64 {
    Complex::new(x.re as f32, x.im as f32)
}

fn apply(case: &Case) -> (c128, c64) {
    let b = GraphBuilder::new();
    let wide: Vec<_> = case.operands.iter().map(|&x| b.scalar(x)).collect();
    let single: Vec<_> = case.operands.iter().map(|&x| b.scalar(narrow(x))).collect();
    let wide = b.elementwise(case.op, &wide, &RuleSet::None).unwrap();
    let single = b.elementwise(case.op, &single, &RuleSet::None).unwrap();
    let results: Vec<Array> = evaluate(&b.finish(&[wide, single]).unwrap(), &[]).unwrap();
    (results[0].elements::<c128>().unwrap()[0], results[1].elements::<c64>().unwrap()[0])
}

/// Whether a part equals the expected one, to `tolerance`. Choices that C99 leaves open are not compared: the
/// sign of a zero or an infinity next to a NaN, and the sign of a zero part of a quotient, which
/// depends on the formula.
fn is_same_part(result: f64, expected: f64, is_signed: bool, tolerance: f64) -> bool {
    if expected.is_nan() {
        return result.is_nan();
    }
    if expected == 0.0 || expected.is_infinite() {
        let is_same = result.to_bits() == expected.to_bits();
        return is_same || (!is_signed && result.abs() == expected.abs());
    }
    (result - expected).abs() <= tolerance * expected.abs()
}

fn is_same(op: Op, result: c128, expected: c128, tolerance: f64) -> bool {
    let is_quotient = matches!(op, Op::Div | Op::Reciprocal);
    let is_signed = |part: f64, other: f64| !(other.is_nan() || is_quotient && part == 0.0);
    is_same_part(result.re, expected.re, is_signed(expected.re, expected.im), tolerance)
        && is_same_part(result.im, expected.im, is_signed(expected.im, expected.re), tolerance)
}

#[test]
fn special_values_are_those_of_numpy_and_c() {
    let mut wrong = Vec::new();
    for case in cases(include_str!("special_values.txt")) {
        let (result, single) = apply(&case);
        let Case { op, operands, expected } = &case;
        let single = Complex::new(f64::from(single.re), f64::from(single.im));
        for (result, tolerance) in [(result, 1e-15), (single, 3e-7)] {
            if !is_same(*op, result, *expected, tolerance) {
                wrong.push(format!("{op}{operands:?} = {result}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn modulus(x: c128) -> f64 {
    x.re.hypot(x.im)
}

/// The error relative to the modulus, in ULP of 64 bits; 0 if both overflow in the same way.
fn error(result: c128, expected: c128) -> f64 {
    if result == expected {
        return 0.0;
    }
    let difference = Complex::new(result.re - expected.re, result.im - expected.im);
    modulus(difference) / modulus(expected) * 2f64.powi(52)
}

#[test]
fn values_are_close_to_the_exact_ones() {
    let mut worst = std::collections::BTreeMap::<&str, (f64, f64)>::new();
    let corpus = [include_str!("values.txt"), include_str!("edges.txt")];
    for case in corpus.into_iter().flat_map(cases) {
        let (result, single) = apply(&case);
        let single = Complex::new(f64::from(single.re), f64::from(single.im));
        let is_in_range = |x: c128| {
            let modulus = modulus(x);
            modulus < 3e38 && modulus > 1.2e-38
        };
        let entry = worst.entry(case.op.name()).or_default();
        entry.0 = entry.0.max(error(result, case.expected));
        let is_exact = |x: c128| {
            let single = narrow(x);
            f64::from(single.re) == x.re && f64::from(single.im) == x.im
        };
        let comes_through = |&x: &c128| is_exact(x) && is_in_range(x);
        if case.operands.iter().all(comes_through) && is_in_range(case.expected) {
            entry.1 = entry.1.max(error(single, case.expected) / 2f64.powi(29));
        }
    }
    for (name, (double, single)) in worst {
        let bound = match name {
            // Takes the exponential of a rounded product.
            "pow" => 100.0,
            // Computed in pairs to the end.
            "tan" | "tanh" => 1.0,
            _ => 3.0,
        };
        assert!(double <= bound, "{name}: {double} ULP");
        assert!(single <= 1.01, "{name}: {single} ULP in c64");
    }
}

/// An exponential that overflows times a part that is nearly 0: the product is finite.
#[test]
fn exponentials_times_subnormal_parts_are_their_products() {
    let tiny = f64::from_bits(1);
    let infinity = f64::INFINITY;
    // e^1420 times the smallest subnormal, from 50 digits.
    let product = 2.465_749_532_768_495_3e293;
    let cases = [
        (Op::Exp, infinity, tiny, infinity, infinity),
        (Op::Sinh, infinity, tiny, infinity, infinity),
        (Op::Sinh, -infinity, tiny, -infinity, infinity),
        (Op::Cosh, infinity, -tiny, infinity, -infinity),
        (Op::Sin, tiny, infinity, infinity, infinity),
        (Op::Cos, tiny, infinity, infinity, -infinity),
        (Op::Exp, 1420.0, tiny, infinity, product),
        (Op::Sinh, 1420.0, -tiny, infinity, -product / 2.0),
        (Op::Cosh, -1420.0, tiny, infinity, -product / 2.0),
    ];
    for (op, re, im, expected_re, expected_im) in cases {
        let case = Case {
            op,
            operands: vec![Complex::new(re, im)],
            expected: Complex::new(expected_re, expected_im),
        };
        let (result, _) = apply(&case);
        assert!(is_same(op, result, case.expected, 2e-15), "{op}({re} + {im}j) = {result}");
    }
}
