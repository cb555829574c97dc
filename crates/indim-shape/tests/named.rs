//! Rule `named` against an oracle without axis maps, which looks up each element by the names of its
//! coordinates. All pairs and triples of operands with few axes, names and sizes; random operands with many
//! names; conversion, repairs and drawings.

mod common;

use std::collections::BTreeMap;

use common::{indices, lists, position, reads};
use indim_shape::{
    AxisNames, OperandLabel, RuleSet, RuleSetName, Shape, ShapeError, convert_broadcast,
    draw_error, find_repairs,
};
use proptest::prelude::*;

/// An operand: for each axis its name and its size.
type Operand = Vec<(String, usize)>;

const NAMES: [&str; 4] = ["", "t", "y", "z"];

fn rule_and_shapes(operands: &[Operand]) -> (RuleSet, Vec<Shape>) {
    let names = |operand: &Operand| operand.iter().map(|(name, _)| name.as_str()).collect();
    let shape = |operand: &Operand| operand.iter().map(|(_, size)| *size).collect();
    let rule = RuleSet::Named { names: operands.iter().map(names).collect() };
    (rule, operands.iter().map(shape).collect())
}

/// The sizes of the result and, for each of its indices, the element read of each operand; or the error code.
fn oracle(operands: &[Operand]) -> Result<(Vec<usize>, Vec<Vec<usize>>), &'static str> {
    for operand in operands {
        for (axis, (name, _)) in operand.iter().enumerate() {
            if name.is_empty() {
                return Err("axis-name-missing");
            }
            if operand[..axis].iter().any(|(other, _)| other == name) {
                return Err("axis-name-repeated");
            }
        }
    }
    let mut order: Vec<&str> = Vec::new();
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, size) in operands.iter().flatten() {
        match sizes.insert(name, *size) {
            None => order.push(name),
            Some(other) if other != *size => return Err("size-mismatch"),
            Some(_) => {}
        }
    }
    let result: Vec<usize> = order.iter().map(|name| sizes[name]).collect();
    let read = |index: Vec<usize>| {
        let at: BTreeMap<&str, usize> = order.iter().copied().zip(index).collect();
        let of = |operand: &Operand| {
            let shape: Vec<usize> = operand.iter().map(|(_, size)| *size).collect();
            let index: Vec<usize> = operand.iter().map(|(name, _)| at[name.as_str()]).collect();
            position(&shape, &index)
        };
        operands.iter().map(of).collect()
    };
    let reads = indices(&result).into_iter().map(read).collect();
    Ok((result, reads))
}

/// Compares with the oracle, and checks the error. Returns whether the case is legal.
fn check(operands: &[Operand]) -> bool {
    let (rule, shapes) = rule_and_shapes(operands);
    match (rule.elaborate(&shapes), oracle(operands)) {
        (Ok(form), Ok((result, read))) => {
            assert_eq!(form.result().sizes(), result, "{rule} {shapes:?}");
            assert_eq!(reads(&form), read, "{rule} {shapes:?}");
            let converted =
                convert_broadcast(&form, RuleSetName::Named).expect("the form has names");
            assert_eq!(
                converted.elaborate(&shapes).expect("a conversion is legal"),
                form,
                "{converted}"
            );
            true
        }
        (Err(error), Err(code)) => {
            assert_eq!(error.code(), code, "{rule} {shapes:?}");
            check_error(&error);
            false
        }
        (given, expected) => panic!("{rule} {shapes:?}: {given:?} {expected:?}"),
    }
}

/// The label, the drawing and the repairs of an error are valid.
fn check_error(error: &ShapeError) {
    assert!(!error.to_string().contains('\n') && error.label().starts_with('D'));
    let labels: Vec<String> = (0..error.shapes().len()).map(|k| format!("x{k}")).collect();
    let labels: Vec<OperandLabel<'_>> =
        labels.iter().map(|name| OperandLabel::new(name, "f32")).collect();
    assert!(draw_error(error, "add", &labels).starts_with(&format!("error[{}]", error.code())));
    for repair in find_repairs(error) {
        let form = repair.elaborate(error.shapes()).expect("a repair is legal");
        assert_eq!(form.result(), &repair.result);
        let is_reshaped = repair.reshapes.iter().any(Option::is_some);
        assert!(is_reshaped || &repair.rule != error.rule(), "{error}: {repair}");
    }
}

/// Every operand of at most `rank` axes with these names and sizes.
fn operands(rank: usize, names: &[&str], sizes: usize) -> Vec<Operand> {
    let entries = (names.len() * sizes) as i64;
    let axis = |entry: &i64| {
        let entry = *entry as usize;
        (names[entry / sizes].to_owned(), entry % sizes)
    };
    lists(rank, 0, entries - 1).iter().map(|list| list.iter().map(axis).collect()).collect()
}

#[test]
fn one_and_two_operands() {
    let (mut legal, mut refused) = (0, 0);
    let mut count = |is_legal| *(if is_legal { &mut legal } else { &mut refused }) += 1;
    for x in operands(3, &NAMES, 3) {
        count(check(core::slice::from_ref(&x)));
    }
    let all = operands(2, &NAMES, 3);
    for x in &all {
        for y in &all {
            count(check(&[x.clone(), y.clone()]));
        }
    }
    assert!(legal > 1_500 && refused > 10_000, "{legal} {refused}");
}

#[test]
fn three_operands() {
    let all = operands(2, &NAMES[1..], 2);
    let mut legal = 0;
    for x in &all {
        for y in &all {
            for z in all.iter().step_by(3) {
                legal += usize::from(check(&[x.clone(), y.clone(), z.clone()]));
            }
        }
    }
    assert!(legal > 1_000, "{legal}");
}

fn random_operand() -> impl Strategy<Value = Operand> {
    let names = ["a", "b", "c", "d", "e", "f", "g"].map(str::to_owned).to_vec();
    let sizes = prop::collection::vec(prop_oneof![9 => Just(2_usize), 1 => 0_usize..3], 7);
    let taken = prop::sample::subsequence(names, 0..=4).prop_shuffle();
    // Most sizes are equal, so that many cases are legal.
    (taken, sizes).prop_map(|(names, sizes)| names.into_iter().zip(sizes).collect())
}

proptest! {
    #[test]
    fn many_operands_in_any_order(operands in prop::collection::vec(random_operand(), 1..5)) {
        check(&operands);
    }

    #[test]
    fn every_rule_converts_to_names_if_possible(
        x in prop::collection::vec(1_usize..4, 0..4),
        y in prop::collection::vec(1_usize..4, 0..4),
    ) {
        let shapes = [Shape::from(x), Shape::from(y)];
        if let Ok(form) = RuleSet::Numpy.elaborate(&shapes)
            && let Ok(converted) = convert_broadcast(&form, RuleSetName::Named)
        {
            let elaborated = converted.elaborate(&shapes).expect("a conversion is legal");
            prop_assert_eq!(elaborated.result(), form.result());
            prop_assert_eq!(reads(&elaborated), reads(&form));
        }
    }
}

#[test]
fn broadcasts_that_names_cannot_state() {
    let form = RuleSet::Numpy.elaborate(&[Shape::from([3]), Shape::from([2, 3])]).unwrap();
    assert_eq!(
        convert_broadcast(&form, RuleSetName::Named).unwrap_err().to_string(),
        "named has the axes in the order in which operands have them first, and operand 0 lands on axis 1 \
         before an axis in front of that"
    );
    let form = RuleSet::Numpy.elaborate(&[Shape::from([2, 3]), Shape::from([2, 1])]).unwrap();
    assert_eq!(
        convert_broadcast(&form, RuleSetName::Named).unwrap().to_string(),
        "named names=[[i0, i1], [i0]], operand 1 reshaped to [2]"
    );
}

fn drawn(operands: &[(&[&str], &[usize])]) -> String {
    let names = operands.iter().map(|(names, _)| names.iter().copied().collect()).collect();
    let shapes: Vec<Shape> = operands.iter().map(|(_, sizes)| Shape::from(*sizes)).collect();
    let labels = ["x", "m", "w"].map(|name| OperandLabel::new(name, "f32"));
    let error = RuleSet::Named { names }.elaborate(&shapes).unwrap_err();
    draw_error(&error, "sub", &labels[..shapes.len()])
}

#[test]
fn sizes_are_drawn_below_one_another() {
    let expected = "\
error[size-mismatch]: `sub` cannot broadcast `m` onto `x` under rule named
   x : f32[time: 8760, lat: 721]
   m : f32[            lat: 720]
                       ^^^^^^^^ axis `lat` of `m` is 720, axis `lat` of `x` is 721
   = rule D3: axes of the same name have the same size; 1 does not expand
";
    assert_eq!(drawn(&[(&["time", "lat"], &[8760, 721]), (&["lat"], &[720])]), expected);
}

#[test]
fn a_size_of_one_is_dropped_and_an_axis_named_otherwise() {
    let one = drawn(&[(&["time", "lat"], &[8760, 721]), (&["lat", "time"], &[1, 8760])]);
    let expected = "\
error[size-mismatch]: `sub` cannot broadcast `m` onto `x` under rule named
   x : f32[time: 8760, lat: 721]
   m : f32[lat: 1, time: 8760]
           ^^^^^^ axis `lat` of `m` is 1, axis `lat` of `x` is 721
   = rule D3: axes of the same name have the same size; 1 does not expand
   = help: m reshaped to [8760] under names=[[time, lat], [time]] gives f32[8760, 721]
";
    assert_eq!(one, expected);
    let other = drawn(&[(&["time", "lat"], &[8760, 721]), (&["lat"], &[8760])]);
    let help = "   = help: names=[[time, lat], [time]] gives f32[8760, 721] \
                (the only axis of `x` of size 8760)\n";
    assert!(other.ends_with(help), "{other}");
}

#[test]
fn names_that_are_missing_or_repeated() {
    let expected = "\
error[axis-name-missing]: `sub` cannot match the axes of `m` by name under rule named
   x : f32[time: 8760, lat: 721]
   m : f32[721]
           ^^^ axis 0 of `m` has no name
   = rule D4: axes match by name: name each axis; only a scalar has no names
   = help: names=[[time, lat], [lat]] gives f32[8760, 721]
";
    assert_eq!(drawn(&[(&["time", "lat"], &[8760, 721]), (&[], &[721])]), expected);
    let expected = "\
error[axis-name-repeated]: `sub` cannot match the axes of `x` by name under rule named
   x : f32[t: 3, t: 3]
                 ^^^^ axes 0 and 1 of `x` are both named `t`
   = rule D1: the axes of an operand have distinct names: give one of them another name
";
    assert_eq!(drawn(&[(&["t", "t"], &[3, 3])]), expected);
}

#[test]
fn hostile_names_are_bounded() {
    let long = "x".repeat(1 << 20);
    let names =
        RuleSet::Named { names: vec![AxisNames::from([&*long]), AxisNames::from([&*long])] };
    let error = names.elaborate(&[Shape::from([2]), Shape::from([3])]).unwrap_err();
    assert!(draw_error(&error, "add", &[]).len() < 2000 && error.to_string().len() < 1000);
    let many: Vec<String> = (0..20_000).map(|name| format!("n{name}")).collect();
    let each = many.chunks(1).map(|name| name.iter().map(String::as_str).collect()).collect();
    let ones = vec![Shape::from([1]); many.len()];
    let form = RuleSet::Named { names: each }.elaborate(&ones).unwrap();
    assert_eq!(form.result().rank(), 20_000);
}
