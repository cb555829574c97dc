//! Numbers as inputs: if a program accepts other numbers, it gives the bits of the program built for those
//! numbers.

use std::sync::atomic::{AtomicU32, Ordering};

use indim_builder::GraphBuilder;
use indim_graph::{Array, Graph, Literal, evaluate};
use indim_ops::{DType, c128};
use indim_shape::RuleSet;
use indim_text::{Binding, Expression, NumberProgram, Numbers, ParseLimits};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// The graph of a text over arrays and two numbers, which are inputs or constants.
fn built(
    text: &str,
    numbers: [Literal; 2],
    are_inputs: bool,
    rule: Option<&RuleSet>,
) -> Option<(Graph, NumberProgram)> {
    let (b, program) = (GraphBuilder::new(), Numbers::default());
    let mut bindings: Vec<(&str, Binding)> = arrays()
        .iter()
        .map(|(name, array)| {
            let parameter = b.parameter(name, array.dtype(), array.shape().clone());
            (*name, Binding::Array(parameter.unwrap()))
        })
        .collect();
    for (name, number) in ["k", "m"].into_iter().zip(numbers) {
        let given = program.input(name, number).filter(|_| are_inputs);
        bindings.push((name, given.map_or(Binding::Number(number), Binding::Input)));
    }
    let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
    let result = expression.build_bound(&b, &bindings, rule).ok()?;
    Some((b.finish(&[result]).unwrap(), program.program()))
}

fn arrays() -> [(&'static str, Array); 5] {
    [
        ("x", Array::new([3], vec![1.5f32, -2.25, 0.1]).unwrap()),
        ("d", Array::new([2, 3], vec![0.1, 1.0, -3.0, 1e300, 0.0, 7.0]).unwrap()),
        ("i", Array::new([3], vec![-7i32, 5, 100]).unwrap()),
        ("u", Array::new([3], vec![1u8, 5, 255]).unwrap()),
        ("c", Array::new([3], vec![true, false, true]).unwrap()),
    ]
}

/// Runs the program built for the first numbers on the second ones, if it accepts them; both programs must
/// agree.
fn check(text: &str, first: [Literal; 2], then: [Literal; 2], rule: Option<&RuleSet>) -> bool {
    let Some((graph, numbers)) = built(text, first, true, rule) else {
        assert!(
            built(text, first, false, rule).is_none(),
            "{text}: legal where {first:?} is known"
        );
        return false;
    };
    let taken = |of: [Literal; 2]| -> Vec<Literal> {
        let pairs = first.into_iter().zip(of);
        pairs.filter(|(first, _)| Numbers::accepts(*first)).map(|(_, of)| of).collect()
    };
    assert!(
        numbers.is_valid_for(&taken(first)),
        "{text}: holds for what it was made for, {first:?}"
    );
    // Numbers of other kinds are constants, so each needs its own program.
    let is_alike = |(x, y): (Literal, Literal)| Numbers::accepts(x) || x == y;
    if !first.into_iter().zip(then).all(is_alike) {
        return false;
    }
    let Some(inputs) = numbers.inputs(&taken(then)) else { return false };
    let given: Vec<Array> = arrays().into_iter().map(|(_, array)| array).collect();
    let Some((known, _)) = built(text, then, false, rule) else {
        panic!("{text}: holds from {first:?} to {then:?}, but it is illegal there");
    };
    let as_inputs: Vec<Array> = given.iter().cloned().chain(inputs).collect();
    let found = evaluate(&graph, &as_inputs).unwrap();
    let expected = evaluate(&known, &given).unwrap();
    assert_eq!(found[0], expected[0], "{text}: {first:?} to {then:?}");
    true
}

const OF_ONE: &[&str] = &[
    "(-#)",
    "exp(#)",
    "(~(#))",
    "(# ** 2)",
    "(# ** k)",
    "(2 ** #)",
    "f16(#)",
    "i32(#)",
    "u8(#)",
    "bool(#)",
    "sum(#)",
    "max(#, initial=k)",
    "elu(#, k)",
    "round(#, m)",
    "(# > k)",
    "(# == 300)",
    "clip(#, k, m)",
    "where(c, #, k)",
    "nan_to_num(#, nan=k)",
    "pow(#, k)",
    "float_power(#, m)",
    "isclose(#, k)",
    "x[m]",
    "pad(#, [[1, 1]], constant_values=k)",
    "sqrt(#)",
];

const OF_TWO: &[&str] = &[
    "(# + @)",
    "(# - @)",
    "(# * @)",
    "(# / @)",
    "(# // @)",
    "(# % @)",
    "(# < @)",
    "(# & @)",
    "(# << @)",
    "maximum(#, @)",
    "where(c, #, @)",
    "atan2(#, @)",
    "logaddexp(#, @)",
    "mul(#, @, axis=0)",
];

fn expression() -> impl Strategy<Value = String> {
    let leaves = vec!["x", "d", "i", "u", "k", "m", "k", "m", "k", "2", "0.5"];
    let leaf = prop::sample::select(leaves).prop_map(str::to_owned);
    leaf.prop_recursive(4, 16, 2, |inner| {
        let of_one = (prop::sample::select(OF_ONE), inner.clone());
        let of_two = (prop::sample::select(OF_TWO), inner.clone(), inner);
        prop_oneof![
            of_one.prop_map(|(pattern, x)| pattern.replace('#', &x)),
            of_two.prop_map(|(pattern, x, y)| pattern.replace('#', &x).replace('@', &y)),
            of_two_again(),
        ]
    })
}

/// Expressions in which numbers meet numbers.
fn of_two_again() -> impl Strategy<Value = String> {
    let leaf = || prop::sample::select(vec!["k", "m", "1", "2.5", "2j", "(1 - k)", "x"]);
    (prop::sample::select(&OF_TWO[..6]), leaf(), leaf())
        .prop_map(|(pattern, x, y)| pattern.replace('#', x).replace('@', y))
}

fn number() -> impl Strategy<Value = Literal> {
    prop_oneof![
        prop::sample::select(vec![-300i128, -1, 0, 1, 2, 3, 255, 256, 1 << 31, 1 << 53, 1 << 60])
            .prop_map(Literal::Int),
        prop::sample::select(vec![-0.0, 0.0, 0.5, 2.0, 3.0, -1.0, 1e300, f64::INFINITY, f64::NAN])
            .prop_map(Literal::Float),
        any::<f64>().prop_map(Literal::Float),
        (prop::sample::select(vec![0.0, -0.0, 1.5]), prop::sample::select(vec![-2.0, 0.0, 1.0]))
            .prop_map(|(re, im)| Literal::Complex(c128::new(re, im))),
        any::<bool>().prop_map(Literal::Bool),
    ]
}

const CASES: u32 = 6000;

#[test]
fn programs_for_other_numbers_give_the_bits_of_those_made_for_them() {
    let held = AtomicU32::new(0);
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..Default::default() };
    let strategy = (expression(), [number(), number()], [number(), number()], 0usize..4);
    TestRunner::new(config)
        .run(&strategy, |(text, first, other, rule)| {
            let rules = [None, None, Some(RuleSet::Numpy), Some(RuleSet::Pdpd { axis: None })];
            // In most cases both numbers are of one kind.
            let is_of_kind = |(x, y): (&Literal, &Literal)| {
                core::mem::discriminant(x) == core::mem::discriminant(y)
            };
            let then = core::array::from_fn(|place| {
                let alike = [&first, &other].map(|of| of[place]);
                if is_of_kind((&alike[0], &alike[1])) { alike[1] } else { alike[0] }
            });
            let holds = check(&text, first, then, rules[rule].as_ref());
            held.fetch_add(u32::from(holds && first != then), Ordering::Relaxed);
            check(&text, first, other, rules[rule].as_ref());
            Ok(())
        })
        .unwrap();
    let held = held.into_inner();
    assert!(held > CASES / 20, "programs held for other numbers in {held} of {CASES} cases");
}

#[test]
fn what_a_program_is_made_for_is_said() {
    let two = [Literal::Int(2), Literal::Float(0.5)];
    let guards = |text: &str| built(text, two, true, None).unwrap().1.guards();
    assert_eq!(guards("x * k + m"), Vec::<String>::new());
    assert_eq!(guards("x * (1 - k) / m"), Vec::<String>::new());
    assert_eq!(guards("x ** k"), ["k = 2"]);
    assert_eq!(guards("x ** (k + 1)"), ["(k + 1) = 3"]);
    assert_eq!(guards("where(k > m, x, 1)"), ["(k > m) = True"]);
    assert_eq!(guards("round(x, k)"), ["k = 2"]);
    assert_eq!(guards("x[k]"), ["k = 2"]);
}

#[test]
fn numbers_that_no_program_takes_are_constants() {
    for number in [Literal::Bool(true), Literal::Int(1 << 60), Literal::Int(-(1 << 60))] {
        assert!(!Numbers::accepts(number) && Numbers::default().input("k", number).is_none());
    }
    assert!(Numbers::accepts(Literal::Int(1 << 53)) && Numbers::accepts(Literal::Float(f64::NAN)));
}

#[test]
fn elements_of_numbers_are_those_that_literals_become() {
    let floats = [0.0, -0.0, 0.1, 2.5, -7.9, 1e-8, 65519.9, 65520.0, 1e39, 1e300, f64::NAN];
    let floats = floats.into_iter().chain([f64::INFINITY, -1e300]).map(Literal::Float);
    let integers = [0, 1, -1, 3, 255, 1 << 40, (1 << 53) - 1].map(Literal::Int);
    let complex = [c128::new(0.1, -2.5), c128::new(-0.0, 1e300)].map(Literal::Complex);
    for number in floats.chain(integers).chain(complex) {
        for dtype in DType::ALL.iter().copied().filter(|&dtype| number.fits(dtype)) {
            let b = GraphBuilder::new();
            let literal = b.literal(number, dtype).unwrap();
            let expected = evaluate(&b.finish(&[literal]).unwrap(), &[]).unwrap();
            let found = number.element(dtype);
            assert_eq!(found, expected[0]);
        }
    }
}

/// The numbers are those of CPython 3.
#[test]
fn complex_numbers_have_the_arithmetic_of_python() {
    for (text, re, im) in [
        ("1j ** 2", -1.0, 0.0),
        ("(1 + 2j) ** 3", -11.0, -2.0),
        ("(0.1 - 0.7j) ** -3", -1.1680000000000006, -2.5760000000000005),
        ("(3 + 4j) / (1 - 7j)", -0.5, 0.49999999999999994),
        ("2 / 3j", 0.0, -0.6666666666666666),
        ("(1 + 2j) * (0.3 - 1e-9j) - 1", -0.699999998, 0.599999999),
        ("(1 + 2j) ** 2.0", -3.0, 4.0),
        ("0j ** 0", 1.0, 0.0),
        ("(1 + 1j) ** 100", -1125899906842624.0, 0.0),
    ] {
        let b = GraphBuilder::new();
        let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
        let result = expression.build_bound(&b, &[], None).unwrap();
        let found = evaluate(&b.finish(&[result]).unwrap(), &[]).unwrap();
        assert_eq!(found[0].scalar::<c128>(), Ok(c128::new(re, im)), "{text}");
    }
    for text in ["0j ** -1", "1 / 0j"] {
        let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
        let error = expression.build_bound(&GraphBuilder::new(), &[], None).unwrap_err();
        assert_eq!(error.code(), "literal-division-by-zero", "{text}");
    }
    // Other complex numbers need no other program.
    let numbers = [c128::new(0.1, -2.5), c128::new(3.0, 1.0)].map(Literal::Complex);
    let others = [c128::new(-4.0, 0.5), c128::new(0.25, -1.0)].map(Literal::Complex);
    for text in ["x * (1 - k)", "x + k * m", "x / (k / m)", "x - k ** 2"] {
        assert!(check(text, numbers, others, None), "{text}");
    }
}
