//! Repairs over the exhaustive scope: each gives its stated result, and the likeliest comes first.

mod common;

use common::{lists, shapes};
use indim_shape::{
    AnyRule, Broadcast, Repair, RuleSet, Shape, ShapeError, TargetRule, check_broadcast_in_dim,
    find_repairs,
};

/// Every repair elaborates to its stated result, keeps the sizes other than 1, and differs from the refused
/// broadcast; repairs with the same `broadcast_number` have the same result. Returns the number of repairs.
fn check(error: &ShapeError) -> usize {
    let repairs = find_repairs(error);
    for repair in &repairs {
        let form = repair.elaborate(error.shapes());
        assert_eq!(form.as_ref().map(Broadcast::result), Ok(&repair.result), "{error}: {repair}");
        let is_reshaped = repair.reshapes.iter().any(Option::is_some);
        assert!(is_reshaped || &repair.rule != error.rule(), "{error}: {repair}");
        let unlike_one =
            |shape: &Shape| shape.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
        for (shape, reshape) in error.shapes().iter().zip(&repair.reshapes) {
            assert!(reshape.as_ref().is_none_or(|to| unlike_one(to) == unlike_one(shape)));
        }
    }
    for pair in repairs.windows(2) {
        assert!(pair[0].broadcast_number <= pair[1].broadcast_number);
        assert!(
            pair[0].broadcast_number != pair[1].broadcast_number
                || pair[0].result == pair[1].result
        );
    }
    repairs.len()
}

#[test]
fn elementwise_repairs_do_what_they_say() {
    let (all, mut offered) = (shapes(3), 0);
    let xla = lists(2, -1, 3).into_iter().map(|dims| RuleSet::Xla { dims });
    let pdpd = (-2..=3).map(|axis| RuleSet::Pdpd { axis: Some(axis) });
    let legacy = RuleSet::OnnxLegacy { broadcast: true, axis: None };
    for rule in xla.chain(pdpd).chain([RuleSet::None, RuleSet::Numpy, RuleSet::StableHlo, legacy]) {
        for x in &all {
            for y in &all {
                let refused = rule.elaborate(&[x.clone(), y.clone()]).err();
                offered += refused.map_or(0, |error| check(&error));
            }
        }
    }
    assert!(offered > 50_000, "{offered}");
}

#[test]
fn target_repairs_do_what_they_say() {
    let (all, mut offered) = (shapes(3), 0);
    let mut rules = vec![TargetRule::Unidirectional, TargetRule::Bidirectional];
    rules.extend((-1..=3).map(|axis| TargetRule::Pdpd { axis: Some(axis) }));
    for dims in [vec![], vec![0], vec![2], vec![0, 0], vec![1, 0], vec![0, 2], vec![2, 3]] {
        rules.push(TargetRule::Explicit { axes: dims.clone() });
        rules.push(TargetRule::XlaBroadcastInDim { dims: dims.clone() });
        rules.push(TargetRule::StableHloBroadcastInDim { dims: dims.clone() });
        rules.push(TargetRule::HloBroadcast { dims });
    }
    for rule in rules {
        for data in &all {
            for target in &all {
                let refused = rule.elaborate(data, target).err();
                offered += refused.map_or(0, |error| check(&error));
            }
        }
    }
    assert!(offered > 20_000, "{offered}");
}

/// For two operands of different rank, the repairs offer every list that xla accepts without expanding the
/// larger operand; if none exists, every list that it accepts.
#[test]
fn no_list_is_missed() {
    let all = shapes(3);
    for x in &all {
        for y in all.iter().filter(|y| y.rank() < x.rank() && !y.is_scalar()) {
            let operands = [x.clone(), y.clone()];
            let error = RuleSet::Xla { dims: vec![] }.elaborate(&operands).unwrap_err();
            let takes = |dims: &Vec<i64>| {
                RuleSet::Xla { dims: dims.clone() }
                    .elaborate(&operands)
                    .ok()
                    .map(|b| b.result() == x)
            };
            let every = lists(2, 0, 2);
            let mut expected: Vec<_> = every.iter().filter(|d| takes(d) == Some(true)).collect();
            if expected.is_empty() {
                expected = every.iter().filter(|d| takes(d).is_some()).collect();
            }
            let repairs = find_repairs(&error);
            let mut found: Vec<&Vec<i64>> = repairs.iter().filter_map(list_of).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{x} {y}");
        }
    }
}

fn list_of(repair: &Repair) -> Option<&Vec<i64>> {
    match &repair.rule {
        AnyRule::Elementwise(RuleSet::Xla { dims }) => Some(dims),
        _ => None,
    }
}

fn offered(error: &ShapeError) -> Vec<String> {
    find_repairs(error).iter().map(Repair::to_string).collect()
}

#[test]
fn the_likeliest_comes_first() {
    let refused = |rule: RuleSet, shapes: &[&[usize]]| {
        let shapes: Vec<Shape> = shapes.iter().map(|&sizes| Shape::from(sizes)).collect();
        offered(&rule.elaborate(&shapes).unwrap_err())
    };
    assert_eq!(
        refused(RuleSet::Numpy, &[&[1, 3, 224, 224], &[3]]),
        [
            "broadcast_dimensions=[1] gives [1, 3, 224, 224] (the only axis of operand 0 of size 3)",
            "pdpd axis=1 gives [1, 3, 224, 224] (the only axis of operand 0 of size 3)",
            "operand 1 reshaped to [3, 1, 1] under numpy gives [1, 3, 224, 224] (the only axis of operand 0 \
             of size 3)",
        ]
    );
    // Trailing axes before leading ones, and consecutive axes before axes with gaps.
    let lists = refused(RuleSet::Xla { dims: vec![] }, &[&[2, 2, 2], &[2, 2]]);
    let lists: Vec<&String> = lists.iter().filter(|text| text.starts_with("broadcast")).collect();
    assert_eq!(
        lists,
        [
            "broadcast_dimensions=[1, 2] gives [2, 2, 2]",
            "broadcast_dimensions=[0, 1] gives [2, 2, 2]",
            "broadcast_dimensions=[0, 2] gives [2, 2, 2]",
        ]
    );
    // The requested rule comes first.
    let pdpd = refused(RuleSet::Pdpd { axis: Some(2) }, &[&[2, 3, 4, 5], &[3, 4]]);
    assert_eq!(pdpd[0], "pdpd axis=1 gives [2, 3, 4, 5] (the only place for operand 1)");
    let list = refused(RuleSet::Xla { dims: vec![0] }, &[&[2, 3], &[2, 3], &[]]);
    assert_eq!(list[0], "xla without broadcast_dimensions gives [2, 3]");
    assert!(refused(RuleSet::Numpy, &[&[3], &[2]]).is_empty());
}

#[test]
fn targets() {
    let data = Shape::from([3]);
    let explicit = check_broadcast_in_dim(&data, &[0], &Shape::from([2, 3])).unwrap_err();
    assert_eq!(
        offered(&explicit)[0],
        "stablehlo broadcast_in_dim dims=[1] gives [2, 3] (the only axis of the target of size 3)"
    );
    let grows = TargetRule::Unidirectional.elaborate(&Shape::from([5, 3]), &data).unwrap_err();
    assert_eq!(offered(&grows), ["bidirectional gives [5, 3]"]);
}
