//! Every rule set against the naive oracle: all shapes of rank at most 3 with sizes 0 to 3, all lists of
//! dimensions and all axes, legal or not; for three operands, ranks at most 2.

mod common;

use common::oracle::{Verdict, agree, elementwise, explicit, target};
use common::{lists, shapes};
use indim_shape::{Broadcast, RuleSet, Shape, TargetRule, check_broadcast_in_dim};

/// Absent, and from -3 to 4.
fn axes() -> Vec<Option<i64>> {
    [None].into_iter().chain((-3..=4).map(Some)).collect()
}

fn pairs() -> Vec<[Shape; 2]> {
    let all = shapes(3);
    let with_each = |x: &Shape| all.iter().map(|y| [x.clone(), y.clone()]).collect::<Vec<_>>();
    all.iter().flat_map(with_each).collect()
}

/// Returns the number of legal cases, so that no test passes by refusing everything.
fn check_elementwise(rules: &[RuleSet], cases: &[impl AsRef<[Shape]>]) -> usize {
    let mut legal = 0;
    for rule in rules {
        for operands in cases {
            let operands = operands.as_ref();
            let verdict = elementwise(rule, operands);
            let elaborated = rule.elaborate(operands);
            assert!(agree(&elaborated, &verdict), "{rule} {operands:?} {elaborated:?} {verdict:?}");
            legal += usize::from(elaborated.is_ok());
        }
    }
    legal
}

#[test]
fn none_and_numpy() {
    let cases = pairs();
    assert_eq!(check_elementwise(&[RuleSet::None], &cases), 85);
    assert_eq!(check_elementwise(&[RuleSet::StableHlo], &cases), 85);
    // On each of three axes 10 of the 16 pairs of sizes unify; fewer axes are padded.
    let legal: usize = cases.iter().filter(|[x, y]| unifies(x, y)).count();
    assert_eq!(check_elementwise(&[RuleSet::Numpy], &cases), legal);
}

fn unifies(x: &[usize], y: &[usize]) -> bool {
    x.iter().rev().zip(y.iter().rev()).all(|(&m, &n)| m == n || m == 1 || n == 1)
}

#[test]
fn one_operand() {
    let cases: Vec<[Shape; 1]> = shapes(3).into_iter().map(|shape| [shape]).collect();
    let pdpd = axes().into_iter().map(|axis| RuleSet::Pdpd { axis });
    let rules = [RuleSet::None, RuleSet::Numpy, RuleSet::StableHlo, RuleSet::Xla { dims: vec![] }];
    let legacy = RuleSet::OnnxLegacy { broadcast: true, axis: Some(0) };
    for rule in rules.into_iter().chain(pdpd).chain([legacy]) {
        assert_eq!(check_elementwise(&[rule], &cases), 85);
    }
    assert_eq!(check_elementwise(&[RuleSet::Xla { dims: vec![0] }], &cases), 0);
}

#[test]
fn xla() {
    let rules: Vec<RuleSet> =
        lists(3, -1, 3).into_iter().map(|dims| RuleSet::Xla { dims }).collect();
    assert_eq!(rules.len(), 156);
    assert!(check_elementwise(&rules, &pairs()) > 2_000);
}

#[test]
fn pdpd_and_onnx_legacy() {
    let pdpd: Vec<RuleSet> = axes().into_iter().map(|axis| RuleSet::Pdpd { axis }).collect();
    assert!(check_elementwise(&pdpd, &pairs()) > 2_000);
    let legacy = |broadcast| move |axis| RuleSet::OnnxLegacy { broadcast, axis };
    let with: Vec<RuleSet> = axes().into_iter().map(legacy(true)).collect();
    assert!(check_elementwise(&with, &pairs()) > 2_000);
    let without: Vec<RuleSet> = axes().into_iter().map(legacy(false)).collect();
    assert_eq!(check_elementwise(&without, &pairs()), 9 * 85);
}

#[test]
fn three_operands() {
    let all = shapes(2);
    let mut cases = Vec::new();
    for x in &all {
        for y in &all {
            cases.extend(all.iter().map(|z| [x.clone(), y.clone(), z.clone()]));
        }
    }
    assert_eq!(cases.len(), 9261);
    let stablehlo = [RuleSet::StableHlo, RuleSet::StableHloSelect];
    let others = [RuleSet::None, RuleSet::Numpy, RuleSet::Xla { dims: vec![] }];
    for rule in others.into_iter().chain(stablehlo) {
        assert!(check_elementwise(&[rule], &cases) >= 21);
    }
    assert_eq!(check_elementwise(&[RuleSet::Xla { dims: vec![0] }], &cases), 0);
    for axis in axes() {
        let legal = check_elementwise(&[RuleSet::Pdpd { axis }], &cases);
        assert_eq!(legal > 0, matches!(axis, None | Some(-1..=2)));
    }
    let legacy = RuleSet::OnnxLegacy { broadcast: true, axis: None };
    assert_eq!(check_elementwise(&[legacy], &cases), 0);
}

fn check_target(rules: &[TargetRule]) -> usize {
    let mut legal = 0;
    for rule in rules {
        for [data, onto] in &pairs() {
            let verdict = target(rule, data, onto);
            let elaborated = rule.elaborate(data, onto);
            assert!(
                agree(&elaborated, &verdict),
                "{rule} {data} {onto} {elaborated:?} {verdict:?}"
            );
            legal += usize::from(elaborated.is_ok());
        }
    }
    legal
}

#[test]
fn target_rules_without_a_list() {
    assert!(check_target(&[TargetRule::Unidirectional]) > 500);
    assert!(check_target(&[TargetRule::Bidirectional]) > 500);
    assert_eq!(check_target(&[TargetRule::XlaBroadcast]), 85 * 85);
    let pdpd: Vec<TargetRule> = axes().into_iter().map(|axis| TargetRule::Pdpd { axis }).collect();
    assert!(check_target(&pdpd) > 2_000);
}

#[test]
fn target_rules_with_a_list() {
    let rule_of: [fn(Vec<i64>) -> TargetRule; 4] = [
        |axes| TargetRule::Explicit { axes },
        |dims| TargetRule::XlaBroadcastInDim { dims },
        |dims| TargetRule::StableHloBroadcastInDim { dims },
        |dims| TargetRule::HloBroadcast { dims },
    ];
    let legal = rule_of.map(|rule| {
        let rules: Vec<TargetRule> = lists(3, -1, 3).into_iter().map(rule).collect();
        check_target(&rules)
    });
    // T3 and XLA accept the same; StableHLO also permutes; HLO's text permutes but does not expand.
    assert_eq!(legal[0], legal[1]);
    assert!(legal[2] > legal[1] && legal[3] > 500 && legal[3] < legal[2]);
}

#[test]
fn the_explicit_form() {
    let all_dims = lists(3, -1, 3);
    for [operand, result] in pairs() {
        for dims in &all_dims {
            let verdict = explicit(&operand, dims, &result);
            let one = core::slice::from_ref(&operand);
            let form = Broadcast::explicit(one, core::slice::from_ref(dims), result.clone());
            assert!(agree(&form, &verdict), "{operand} {dims:?} {result}");
            let map = check_broadcast_in_dim(&operand, dims, &result);
            assert_eq!(map.is_ok(), matches!(verdict, Verdict::Legal { .. }));
        }
    }
}
