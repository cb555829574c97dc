//! A legal and an illegal case of every label of the rules, with the code and the operand and axis at fault.
//! The two cases differ in one number if possible.

use indim_shape::{AxisNames, Broadcast, RuleSet, Shape, ShapeError, TargetRule};

/// A refusal: label, code, operand, axis.
type Refusal = (&'static str, &'static str, Option<usize>, Option<usize>);

fn refusal(elaborated: Result<Broadcast, ShapeError>) -> Refusal {
    let error = elaborated.expect_err("the rule refuses this");
    (error.label(), error.code(), error.operand(), error.axis())
}

fn result(elaborated: Result<Broadcast, ShapeError>) -> Vec<usize> {
    elaborated.expect("the rule takes this").result().to_vec()
}

fn under(rule: &RuleSet, shapes: &[&[usize]]) -> Result<Broadcast, ShapeError> {
    let shapes: Vec<Shape> = shapes.iter().map(|&sizes| Shape::from(sizes)).collect();
    rule.elaborate(&shapes)
}

fn onto(rule: &TargetRule, data: &[usize], target: &[usize]) -> Result<Broadcast, ShapeError> {
    rule.elaborate(&Shape::from(data), &Shape::from(target))
}

fn explicit(data: &[usize], dims: &[i64], target: &[usize]) -> Result<Broadcast, ShapeError> {
    Broadcast::explicit(&[Shape::from(data)], &[dims.to_vec()], Shape::from(target))
}

fn xla(dims: &[i64]) -> RuleSet {
    RuleSet::Xla { dims: dims.to_vec() }
}

fn pdpd(axis: i64) -> RuleSet {
    RuleSet::Pdpd { axis: Some(axis) }
}

fn legacy(broadcast: bool, axis: Option<i64>) -> RuleSet {
    RuleSet::OnnxLegacy { broadcast, axis }
}

#[test]
fn e1() {
    assert_eq!(result(explicit(&[3], &[1], &[2, 3])), [2, 3]);
    let refused = ("E1", "dims-length-mismatch", Some(0), None);
    assert_eq!(refusal(explicit(&[3], &[0, 1], &[2, 3])), refused);
    let no_maps = Broadcast::explicit(&[Shape::from([3])], &[], Shape::from([3]));
    assert_eq!(refusal(no_maps), ("E1", "dims-length-mismatch", None, None));
}

#[test]
fn e2() {
    assert_eq!(result(explicit(&[1, 3], &[0, 1], &[2, 3])), [2, 3]);
    let refused = ("E2", "dim-out-of-range", Some(0), Some(1));
    assert_eq!(refusal(explicit(&[1, 3], &[0, 2], &[2, 3])), refused);
    assert_eq!(refusal(explicit(&[1, 3], &[0, -1], &[2, 3])), refused);
    assert_eq!(refusal(explicit(&[1, 3], &[0, i64::MIN], &[2, 3])), refused);
}

#[test]
fn e3() {
    assert_eq!(result(explicit(&[2, 2], &[1, 0], &[2, 2])), [2, 2]);
    let refused = ("E3", "dims-not-unique", Some(0), Some(1));
    assert_eq!(refusal(explicit(&[2, 2], &[0, 0], &[2, 2])), refused);
}

#[test]
fn e4() {
    assert_eq!(result(explicit(&[1], &[0], &[2, 3])), [2, 3]);
    let refused = ("E4", "size-mismatch", Some(0), Some(0));
    assert_eq!(refusal(explicit(&[3], &[0], &[2, 3])), refused);
}

#[test]
fn e5() {
    let half = 1 << (usize::BITS / 2 - 1);
    assert_eq!(result(under(&RuleSet::Numpy, &[&[half, 1], &[half]])), [half, half]);
    let too_large = under(&RuleSet::Numpy, &[&[4 * half, 1], &[half]]);
    assert_eq!(refusal(too_large), ("E5", "too-large", None, None));
    // A shape without elements always fits.
    let none = under(&RuleSet::Numpy, &[&[usize::MAX, 1, 0], &[usize::MAX, 1]]);
    assert_eq!(result(none), [usize::MAX, usize::MAX, 0]);
    let shape = Shape::from([half, half]);
    assert_eq!(shape.byte_count(1).ok(), Some(half * half));
    assert_eq!(shape.byte_count(8).map_err(|error| error.label()), Err("E5"));
    assert_eq!(Shape::from([usize::MAX, 0, usize::MAX]).byte_count(16).ok(), Some(0));
    let result_too_large = onto(&TargetRule::Bidirectional, &[4 * half, 1], &[1, half]);
    let message = result_too_large.unwrap_err().to_string();
    assert!(message.contains(&format!("[{}, {half}]", 4 * half)), "{message}");
}

#[test]
fn o1() {
    for rule in [RuleSet::None, RuleSet::StableHlo, legacy(false, Some(0))] {
        assert_eq!(result(under(&rule, &[&[2, 3], &[2, 3]])), [2, 3]);
        let refused = ("O1", "shapes-differ", Some(1), Some(0));
        assert_eq!(refusal(under(&rule, &[&[2, 3], &[1, 3]])), refused);
        let ranks = ("O1", "shapes-differ", Some(1), None);
        assert_eq!(refusal(under(&rule, &[&[], &[1]])), ranks);
    }
    let third = under(&RuleSet::None, &[&[2], &[2], &[3]]);
    assert_eq!(refusal(third), ("O1", "shapes-differ", Some(2), Some(0)));
}

#[test]
fn n1_n2() {
    assert_eq!(result(under(&RuleSet::Numpy, &[&[3], &[2, 3]])), [2, 3]);
    let refused = ("N2", "size-mismatch", Some(1), Some(0));
    assert_eq!(refusal(under(&RuleSet::Numpy, &[&[2, 3], &[2]])), refused);
    // Size 0: 1 unifies with 0, 2 does not.
    assert_eq!(result(under(&RuleSet::Numpy, &[&[1], &[0]])), [0]);
    assert_eq!(refusal(under(&RuleSet::Numpy, &[&[0], &[2]])), refused);
}

#[test]
fn n2_names_the_operand_that_set_the_size() {
    let error = under(&RuleSet::Numpy, &[&[1], &[2, 1], &[4], &[2, 5]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "axis 1 of operand 3 is 5, axis 0 of operand 2 is 4 \
         (N2: right-aligned axes must be equal, or one of them 1)"
    );
}

#[test]
fn x2() {
    assert_eq!(result(under(&xla(&[0, 1]), &[&[2, 3], &[2, 1]])), [2, 3]);
    let refused = ("X2", "same-rank-dims-not-identity", None, None);
    assert_eq!(refusal(under(&xla(&[0]), &[&[2, 3], &[2, 1]])), refused);
    assert_eq!(refusal(under(&xla(&[1, 0]), &[&[2, 2], &[2, 2]])), refused);
    assert_eq!(refusal(under(&xla(&[0]), &[&[], &[]])), refused);
}

#[test]
fn x3() {
    assert_eq!(result(under(&xla(&[]), &[&[], &[2, 3]])), [2, 3]);
    let refused = ("X3", "dims-length-mismatch", Some(0), None);
    assert_eq!(refusal(under(&xla(&[0]), &[&[], &[2, 3]])), refused);
}

#[test]
fn x4() {
    assert_eq!(result(under(&xla(&[1]), &[&[4, 3], &[3]])), [4, 3]);
    let refused = ("X4", "rank-mismatch-without-dims", Some(1), None);
    assert_eq!(refusal(under(&xla(&[]), &[&[4, 3], &[3]])), refused);
    assert_eq!(refusal(under(&xla(&[]), &[&[4, 3], &[1]])), refused);
}

#[test]
fn x5() {
    assert_eq!(result(under(&xla(&[0, 2]), &[&[2, 1], &[2, 3, 4]])), [2, 3, 4]);
    let refused = ("X5", "dims-length-mismatch", Some(0), None);
    assert_eq!(refusal(under(&xla(&[0]), &[&[2, 1], &[2, 3, 4]])), refused);
}

#[test]
fn x6() {
    assert_eq!(result(under(&xla(&[0]), &[&[2, 3], &[2]])), [2, 3]);
    let negative = ("X6", "dim-negative", Some(1), Some(0));
    assert_eq!(refusal(under(&xla(&[-1]), &[&[2, 3], &[2]])), negative);
    let large = ("X6", "dim-too-large", Some(1), Some(0));
    assert_eq!(refusal(under(&xla(&[2]), &[&[2, 3], &[2]])), large);
    assert_eq!(refusal(under(&xla(&[i64::MAX]), &[&[2, 3], &[2]])), large);
}

#[test]
fn x7() {
    assert_eq!(result(under(&xla(&[0, 1]), &[&[2, 1, 4], &[2, 3]])), [2, 3, 4]);
    let refused = ("X7", "dim-size-mismatch", Some(1), Some(1));
    assert_eq!(refusal(under(&xla(&[0, 2]), &[&[2, 1, 4], &[2, 3]])), refused);
}

#[test]
fn x8() {
    assert_eq!(result(under(&xla(&[0, 1]), &[&[2, 2, 4], &[2, 2]])), [2, 2, 4]);
    let refused = ("X8", "dims-not-strictly-increasing", Some(1), Some(1));
    assert_eq!(refusal(under(&xla(&[1, 0]), &[&[2, 2, 4], &[2, 2]])), refused);
    assert_eq!(refusal(under(&xla(&[0, 0]), &[&[2, 2, 4], &[2, 2]])), refused);
    // The first entry at fault is reported; within an entry, size before order.
    let size = ("X7", "dim-size-mismatch", Some(1), Some(1));
    assert_eq!(refusal(under(&xla(&[1, 0]), &[&[3, 2, 4], &[2, 2]])), size);
    let order_before_range = under(&xla(&[1, 0, 9]), &[&[2, 2, 4, 4], &[2, 2, 4]]);
    assert_eq!(refusal(order_before_range), refused);
}

#[test]
fn x9() {
    assert_eq!(result(under(&xla(&[]), &[&[2, 1], &[1, 3]])), [2, 3]);
    let refused = ("X9", "degenerate-incompatible", Some(1), Some(2));
    assert_eq!(refusal(under(&xla(&[]), &[&[7, 2, 5], &[7, 2, 6]])), refused);
}

#[test]
fn ternary_operations_of_xla() {
    assert_eq!(result(under(&xla(&[]), &[&[], &[2, 3], &[2, 3]])), [2, 3]);
    assert_eq!(result(under(&xla(&[]), &[&[2, 3], &[], &[2, 3]])), [2, 3]);
    assert_eq!(result(under(&xla(&[]), &[&[], &[], &[]])), []);
    let refused = ("XT", "implicit-broadcast-unsupported", Some(0), None);
    assert_eq!(refusal(under(&xla(&[]), &[&[2, 3], &[1, 3], &[]])), refused);
    // The error names the operand whose shape differs from the two others; with two shapes, the one that
    // differs from the middle operand.
    let odd = |shapes: &[&[usize]]| refusal(under(&xla(&[]), shapes)).2;
    assert_eq!(odd(&[&[3], &[2, 3], &[2, 3]]), Some(0));
    assert_eq!(odd(&[&[2, 3], &[3], &[2, 3]]), Some(1));
    assert_eq!(odd(&[&[2, 3], &[2, 3], &[3]]), Some(2));
    assert_eq!(odd(&[&[3], &[2, 3], &[]]), Some(0));
    assert_eq!(odd(&[&[3], &[], &[2, 3]]), Some(0));
    let list = ("XT", "implicit-broadcast-unsupported", None, None);
    assert_eq!(refusal(under(&xla(&[0, 1]), &[&[2, 3], &[2, 3], &[2, 3]])), list);
    // StableHLO: the result has the shape of operand 1.
    let stablehlo = RuleSet::StableHlo;
    assert_eq!(result(under(&stablehlo, &[&[], &[2, 3], &[]])), [2, 3]);
    let refused = ("XT", "implicit-broadcast-unsupported", Some(0), None);
    assert_eq!(refusal(under(&stablehlo, &[&[2], &[], &[2]])), refused);
    // Its select takes a scalar predicate, but no scalar branch.
    let select = RuleSet::StableHloSelect;
    assert_eq!(result(under(&select, &[&[], &[2, 3], &[2, 3]])), [2, 3]);
    let refused = ("XT", "implicit-broadcast-unsupported", Some(2), None);
    assert_eq!(refusal(under(&select, &[&[], &[2, 3], &[]])), refused);
    assert_eq!(refusal(under(&select, &[&[2, 3], &[], &[2, 3]])), refused);
    let refused = ("XT", "implicit-broadcast-unsupported", Some(0), None);
    assert_eq!(refusal(under(&select, &[&[1, 3], &[2, 3], &[2, 3]])), refused);
    let refused = ("S", "wrong-operand-count", None, None);
    assert_eq!(refusal(under(&select, &[&[3], &[3]])), refused);
}

#[test]
fn s_and_hlo() {
    let stablehlo = |dims: &[i64]| TargetRule::StableHloBroadcastInDim { dims: dims.to_vec() };
    let transposed = onto(&stablehlo(&[2, 1]), &[2, 3], &[5, 3, 2]);
    assert_eq!(transposed.unwrap().maps()[0].to_string(), "[2, 1]");
    let refused = ("E3", "dims-not-unique", Some(0), Some(1));
    assert_eq!(refusal(onto(&stablehlo(&[1, 1]), &[3, 3], &[5, 3, 2])), refused);
    let xla = |dims: &[i64]| TargetRule::XlaBroadcastInDim { dims: dims.to_vec() };
    assert_eq!(result(onto(&xla(&[0, 1]), &[3, 1], &[3, 3])), [3, 3]);
    let order = ("X8", "dims-not-strictly-increasing", Some(0), Some(1));
    assert_eq!(refusal(onto(&xla(&[1, 0]), &[3, 3], &[3, 3])), order);
    assert_eq!(refusal(onto(&xla(&[1, 1]), &[3, 3], &[3, 3])), order);
    // Entry by entry, like XLA: the order of entry 1 comes after its size and before the size of entry 2.
    assert_eq!(refusal(onto(&xla(&[1, 0, 2]), &[3, 3, 5], &[3, 3, 4])), order);
    let size = ("E4", "size-mismatch", Some(0), Some(1));
    assert_eq!(refusal(onto(&xla(&[1, 0]), &[3, 5], &[3, 3])), size);
    let hlo = |dims: &[i64]| TargetRule::HloBroadcast { dims: dims.to_vec() };
    assert_eq!(result(onto(&hlo(&[1, 0]), &[2, 3], &[3, 2])), [3, 2]);
    let expands = ("E4", "size-mismatch", Some(0), Some(1));
    assert_eq!(refusal(onto(&hlo(&[1, 0]), &[2, 1], &[3, 2])), expands);
    assert_eq!(result(onto(&TargetRule::XlaBroadcast, &[2], &[4, 5])), [4, 5, 2]);
}

#[test]
fn p1() {
    assert_eq!(result(under(&pdpd(-1), &[&[2, 3], &[2, 3]])), [2, 3]);
    let refused = ("P1", "rank-too-large", Some(1), None);
    assert_eq!(refusal(under(&pdpd(-1), &[&[3], &[1, 3]])), refused);
}

#[test]
fn p2() {
    assert_eq!(result(under(&pdpd(-1), &[&[2, 3], &[3]])), [2, 3]);
    assert_eq!(result(under(&RuleSet::Pdpd { axis: None }, &[&[2, 3], &[3]])), [2, 3]);
    let refused = ("P2", "axis-out-of-range", Some(1), None);
    assert_eq!(refusal(under(&pdpd(-2), &[&[2, 3], &[3]])), refused);
    assert_eq!(refusal(under(&pdpd(3), &[&[2, 3], &[]])), refused);
    assert_eq!(refusal(under(&pdpd(i64::MIN), &[&[2, 3], &[]])), refused);
}

#[test]
fn p3() {
    assert_eq!(result(under(&pdpd(1), &[&[2, 3, 4, 5], &[3, 1]])), [2, 3, 4, 5]);
    // The trailing 1 of B is not trimmed, so 3 is matched with 4.
    let refused = ("P5", "size-mismatch", Some(1), Some(0));
    assert_eq!(refusal(under(&pdpd(-1), &[&[2, 3, 4, 5], &[3, 1]])), refused);
}

#[test]
fn p4() {
    assert_eq!(result(under(&pdpd(1), &[&[2, 3, 4], &[3, 1]])), [2, 3, 4]);
    assert_eq!(result(under(&pdpd(3), &[&[2, 3, 4], &[]])), [2, 3, 4]);
    let refused = ("P4", "axis-out-of-range", Some(1), None);
    assert_eq!(refusal(under(&pdpd(2), &[&[2, 3, 4], &[4, 1]])), refused);
    assert_eq!(refusal(under(&pdpd(3), &[&[2, 3, 4], &[1]])), refused);
}

#[test]
fn p5() {
    assert_eq!(result(under(&pdpd(0), &[&[2, 0], &[2, 1]])), [2, 0]);
    let refused = ("P5", "size-mismatch", Some(1), Some(1));
    assert_eq!(refusal(under(&pdpd(0), &[&[2, 1], &[2, 0]])), refused);
    assert_eq!(refusal(under(&pdpd(0), &[&[2, 1], &[2, 5]])), refused);
    // With three operands the second is the anchor; the third is broadcast onto it before the first.
    assert_eq!(result(under(&pdpd(0), &[&[2], &[2, 3], &[]])), [2, 3]);
    let first = ("P5", "size-mismatch", Some(0), Some(0));
    assert_eq!(refusal(under(&pdpd(0), &[&[3], &[2, 3], &[2]])), first);
    let third = ("P5", "size-mismatch", Some(2), Some(0));
    assert_eq!(refusal(under(&pdpd(0), &[&[3], &[2, 3], &[3]])), third);
}

#[test]
fn t1() {
    let rule = TargetRule::Unidirectional;
    assert_eq!(result(onto(&rule, &[1], &[0])), [0]);
    let size = ("T1", "size-mismatch", Some(0), Some(0));
    assert_eq!(refusal(onto(&rule, &[0], &[1])), size);
    let rank = ("T1", "rank-too-large", Some(0), None);
    assert_eq!(refusal(onto(&rule, &[1, 3], &[3])), rank);
}

#[test]
fn t2() {
    let rule = TargetRule::Bidirectional;
    assert_eq!(result(onto(&rule, &[3, 1], &[2, 1, 6])), [2, 3, 6]);
    let refused = ("T2", "size-mismatch", Some(0), Some(0));
    assert_eq!(refusal(onto(&rule, &[3, 1], &[2, 2, 6])), refused);
}

#[test]
fn t3() {
    let rule = |axes: &[i64]| TargetRule::Explicit { axes: axes.to_vec() };
    assert_eq!(result(onto(&rule(&[0, 2]), &[3, 1], &[3, 4, 5])), [3, 4, 5]);
    let length = ("T3", "dims-length-mismatch", Some(0), None);
    assert_eq!(refusal(onto(&rule(&[0]), &[3, 1], &[3, 4, 5])), length);
    let range = ("T3", "dim-out-of-range", Some(0), Some(1));
    assert_eq!(refusal(onto(&rule(&[0, 3]), &[3, 1], &[3, 4, 5])), range);
    let order = ("T3", "dims-not-strictly-increasing", Some(0), Some(1));
    assert_eq!(refusal(onto(&rule(&[0, 0]), &[3, 3], &[3, 4, 5])), order);
    let size = ("T3", "size-mismatch", Some(0), Some(1));
    assert_eq!(refusal(onto(&rule(&[0, 2]), &[3, 4], &[3, 4, 5])), size);
}

#[test]
fn t4() {
    let rule = |axis| TargetRule::Pdpd { axis: Some(axis) };
    assert_eq!(result(onto(&rule(1), &[3], &[2, 3, 4])), [2, 3, 4]);
    assert_eq!(refusal(onto(&rule(0), &[3], &[])).0, "P1");
    assert_eq!(refusal(onto(&rule(4), &[3], &[2, 3, 4])).0, "P2");
    assert_eq!(refusal(onto(&rule(3), &[3], &[2, 3, 4])).0, "P4");
    let size = ("P5", "size-mismatch", Some(0), Some(0));
    assert_eq!(refusal(onto(&rule(0), &[3], &[2, 3, 4])), size);
}

#[test]
fn l() {
    assert_eq!(result(under(&legacy(true, Some(1)), &[&[2, 3, 4], &[3]])), [2, 3, 4]);
    assert_eq!(result(under(&legacy(true, None), &[&[2, 3, 4], &[3, 4]])), [2, 3, 4]);
    assert_eq!(result(under(&legacy(true, Some(9)), &[&[2, 3, 4], &[1, 1]])), [2, 3, 4]);
    let size = ("L", "size-mismatch", Some(1), Some(0));
    assert_eq!(refusal(under(&legacy(true, None), &[&[2, 3, 4], &[3]])), size);
    let axis = ("L", "axis-out-of-range", Some(1), None);
    assert_eq!(refusal(under(&legacy(true, Some(-1)), &[&[2, 3, 4], &[4]])), axis);
    let rank = ("L", "rank-too-large", Some(1), None);
    assert_eq!(refusal(under(&legacy(true, None), &[&[2], &[1, 1]])), rank);
}

fn named(names: &[&[&str]]) -> RuleSet {
    RuleSet::Named { names: names.iter().map(|names| names.iter().copied().collect()).collect() }
}

#[test]
fn d1() {
    let shapes: [&[usize]; 2] = [&[2, 2], &[2]];
    assert_eq!(result(under(&named(&[&["t", "y"], &["t"]]), &shapes)), [2, 2]);
    let refused = ("D1", "axis-name-repeated", Some(0), Some(1));
    assert_eq!(refusal(under(&named(&[&["t", "t"], &["t"]]), &shapes)), refused);
}

#[test]
fn d2() {
    let shapes: [&[usize]; 3] = [&[3], &[2, 3], &[5, 2]];
    let form = under(&named(&[&["y"], &["t", "y"], &["z", "t"]]), &shapes).unwrap();
    assert_eq!(form.result().sizes(), [3, 2, 5]);
    assert_eq!(
        form.maps().iter().map(|map| map.to_vec()).collect::<Vec<_>>(),
        [vec![0], vec![1, 0], vec![2, 1]]
    );
}

#[test]
fn d3() {
    let names = named(&[&["t", "y"], &["y"]]);
    assert_eq!(result(under(&names, &[&[2, 3], &[3]])), [2, 3]);
    assert_eq!(result(under(&names, &[&[2, 1], &[1]])), [2, 1]);
    let refused = ("D3", "size-mismatch", Some(1), Some(0));
    for size in [0, 1, 2] {
        assert_eq!(refusal(under(&names, &[&[2, 3], &[size]])), refused);
    }
    assert_eq!(refusal(under(&names, &[&[2, 1], &[3]])), refused);
}

#[test]
fn d4() {
    assert_eq!(result(under(&named(&[&["t"], &[]]), &[&[2], &[]])), [2]);
    assert_eq!(result(under(&named(&[&["t"]]), &[&[2], &[]])), [2]);
    let missing = |operand, axis| ("D4", "axis-name-missing", Some(operand), Some(axis));
    assert_eq!(refusal(under(&named(&[&["t"], &[]]), &[&[2], &[2]])), missing(1, 0));
    assert_eq!(refusal(under(&named(&[&["t", ""]]), &[&[2, 3]])), missing(0, 1));
    assert_eq!(refusal(under(&named(&[]), &[&[2, 3]])), missing(0, 0));
    let partly = AxisNames::of_each([None, Some("t")]);
    let rule = RuleSet::Named { names: vec![partly] };
    assert_eq!(refusal(under(&rule, &[&[2, 3]])), missing(0, 0));
    let length = |operand| ("D4", "dims-length-mismatch", operand, None);
    assert_eq!(refusal(under(&named(&[&["t", "y"]]), &[&[2]])), length(Some(0)));
    assert_eq!(refusal(under(&named(&[&["t"]]), &[&[2, 3]])), length(Some(0)));
    assert_eq!(refusal(under(&named(&[&["t"], &[]]), &[&[2]])), length(None));
}

#[test]
fn the_number_of_operands() {
    let refused = |label| (label, "wrong-operand-count", None, None);
    assert_eq!(refusal(under(&RuleSet::Numpy, &[])), refused("N"));
    assert_eq!(refusal(under(&named(&[]), &[])), refused("D"));
    let four: [&[usize]; 4] = [&[2]; 4];
    assert_eq!(result(under(&RuleSet::Numpy, &four)), [2]);
    assert_eq!(refusal(under(&xla(&[]), &four)), refused("X"));
    assert_eq!(refusal(under(&pdpd(-1), &four)), refused("P"));
    assert_eq!(refusal(under(&legacy(true, None), &four[1..])), refused("L"));
}
