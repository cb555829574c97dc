//! Conversion of every legal broadcast of the exhaustive scope to every rule set keeps its meaning.

mod common;

use std::collections::HashSet;

use common::{lists, reads, shapes};
use indim_shape::{AnyRule, Broadcast, RuleSet, RuleSetName, Shape, TargetRule, convert_broadcast};

fn elementwise_rules() -> Vec<(RuleSetName, RuleSet)> {
    let mut rules = vec![
        (RuleSetName::None, RuleSet::None),
        (RuleSetName::Numpy, RuleSet::Numpy),
        (RuleSetName::StableHlo, RuleSet::StableHlo),
        (RuleSetName::OnnxLegacy, RuleSet::OnnxLegacy { broadcast: false, axis: None }),
        (RuleSetName::OnnxLegacy, RuleSet::OnnxLegacy { broadcast: true, axis: None }),
        (RuleSetName::Pdpd, RuleSet::Pdpd { axis: None }),
    ];
    for axis in (-1..=3).map(Some) {
        rules.push((RuleSetName::Pdpd, RuleSet::Pdpd { axis }));
        rules.push((RuleSetName::OnnxLegacy, RuleSet::OnnxLegacy { broadcast: true, axis }));
    }
    for dims in lists(3, 0, 2) {
        rules.push((RuleSetName::Xla, RuleSet::Xla { dims }));
    }
    rules
}

fn target_rules() -> Vec<(RuleSetName, TargetRule)> {
    let mut rules = vec![
        (RuleSetName::Unidirectional, TargetRule::Unidirectional),
        (RuleSetName::Bidirectional, TargetRule::Bidirectional),
        (RuleSetName::XlaBroadcast, TargetRule::XlaBroadcast),
    ];
    for axis in -1..=3 {
        rules.push((RuleSetName::PdpdBroadcast, TargetRule::Pdpd { axis: Some(axis) }));
    }
    for dims in lists(3, 0, 2) {
        rules.push((RuleSetName::Explicit, TargetRule::Explicit { axes: dims.clone() }));
        let xla = TargetRule::XlaBroadcastInDim { dims: dims.clone() };
        rules.push((RuleSetName::XlaBroadcastInDim, xla));
        let stablehlo = TargetRule::StableHloBroadcastInDim { dims: dims.clone() };
        rules.push((RuleSetName::StableHloBroadcastInDim, stablehlo));
        rules.push((RuleSetName::HloBroadcast, TargetRule::HloBroadcast { dims }));
    }
    rules
}

/// Converts `form` to every rule set. Conversion to its own rule set must succeed.
fn check_round_trips(from: RuleSetName, form: &Broadcast) -> usize {
    let mut conversions = 0;
    for name in RuleSetName::ALL {
        let converted = match convert_broadcast(form, name) {
            Ok(converted) => converted,
            Err(reason) => {
                assert_ne!(name, from, "{form:?}: {reason}");
                continue;
            }
        };
        conversions += 1;
        assert_eq!(converted.rule.name(), Some(name), "{form:?} as {converted}");
        let elaborated = converted.elaborate(form.operands());
        let elaborated =
            elaborated.unwrap_or_else(|error| panic!("{form:?} as {converted}: {error}"));
        assert_eq!(elaborated.result(), form.result(), "{form:?} as {converted}");
        assert_eq!(reads(&elaborated), reads(form), "{form:?} as {converted}");
        if converted.reshapes.iter().all(Option::is_none) {
            assert_eq!(elaborated, *form, "{converted}");
        }
        for (shape, reshape) in form.operands().iter().zip(&converted.reshapes) {
            let others =
                |shape: &Shape| shape.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
            assert!(reshape.as_ref().is_none_or(|to| others(to) == others(shape) && to != shape));
        }
    }
    conversions
}

#[test]
fn two_operands() {
    let (all, mut seen, mut conversions) = (shapes(3), HashSet::new(), 0);
    for (name, rule) in elementwise_rules() {
        for x in &all {
            for y in &all {
                let Ok(form) = rule.elaborate(&[x.clone(), y.clone()]) else { continue };
                if seen.insert((name, form.clone())) {
                    conversions += check_round_trips(name, &form);
                }
            }
        }
    }
    assert!(conversions > 3 * seen.len(), "{conversions} {}", seen.len());
}

#[test]
fn one_and_three_operands() {
    let all = shapes(2);
    for (name, rule) in elementwise_rules() {
        for x in &all {
            if let Ok(form) = rule.elaborate(core::slice::from_ref(x)) {
                assert!(check_round_trips(name, &form) >= 6);
            }
            for y in &all {
                for z in &all {
                    let operands = [x.clone(), y.clone(), z.clone()];
                    if let Ok(form) = rule.elaborate(&operands) {
                        check_round_trips(name, &form);
                    }
                }
            }
        }
    }
}

#[test]
fn targets() {
    let (all, mut seen) = (shapes(3), HashSet::new());
    for (name, rule) in target_rules() {
        for data in &all {
            for target in &all {
                let Ok(form) = rule.elaborate(data, target) else { continue };
                if seen.insert((name, form.clone())) {
                    check_round_trips(name, &form);
                }
            }
        }
    }
    assert!(seen.len() > 5_000);
}

/// If a conversion fails, no attributes of the rule set give the same explicit form.
#[test]
fn failed_conversions_are_impossible() {
    let (all, rules, mut refused) = (shapes(2), elementwise_rules(), 0);
    let mut forms = HashSet::new();
    for (_, rule) in &rules {
        for x in &all {
            forms.extend(all.iter().filter_map(|y| rule.elaborate(&[x.clone(), y.clone()]).ok()));
        }
    }
    // Forms that no rule of two operands elaborates into: permuting, and with uncovered axes.
    for x in &all {
        for dims in lists(2, 0, 2) {
            let result = Shape::from([2, 2, 3]);
            let operands = [x.clone(), Shape::from([1, 2, 1])];
            forms.extend(Broadcast::explicit(&operands, &[dims, vec![0, 1, 2]], result));
        }
    }
    for form in &forms {
        for (name, rule) in &rules {
            if convert_broadcast(form, *name).is_err() {
                refused += 1;
                assert_ne!(rule.elaborate(form.operands()).as_ref(), Ok(form), "{rule}");
            }
        }
    }
    assert!(refused > 1_000);
}

#[test]
fn names_are_read_as_they_are_printed() {
    for name in RuleSetName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
    }
    let error = "NumPy".parse::<RuleSetName>().unwrap_err();
    assert!(error.to_string().starts_with("no such rule set; the names are none, numpy, xla"));
}

#[test]
fn examples() {
    let bias = [Shape::from([1, 3, 224, 224]), Shape::from([3])];
    let form = RuleSet::Xla { dims: vec![1] }.elaborate(&bias).unwrap();
    let say = |name| match convert_broadcast(&form, name) {
        Ok(converted) => converted.to_string(),
        Err(reason) => reason.to_string(),
    };
    assert_eq!(say(RuleSetName::Xla), "xla broadcast_dimensions=[1]");
    assert_eq!(say(RuleSetName::Pdpd), "pdpd axis=1");
    assert_eq!(say(RuleSetName::OnnxLegacy), "onnx-legacy broadcast=1 axis=1");
    assert_eq!(say(RuleSetName::Numpy), "numpy, operand 1 reshaped to [3, 1, 1]");
    assert_eq!(say(RuleSetName::Explicit), "explicit does not take 2 operands");

    let outer = RuleSet::Numpy.elaborate(&[Shape::from([3, 1]), Shape::from([4])]).unwrap();
    let converted = convert_broadcast(&outer, RuleSetName::Xla).unwrap();
    assert_eq!(converted.rule, AnyRule::Elementwise(RuleSet::Xla { dims: vec![1] }));
    let reason = convert_broadcast(&outer, RuleSetName::Pdpd).unwrap_err();
    assert_eq!(
        reason.to_string(),
        "pdpd does not expand operand 0 to size 4 on axis 1 of the result"
    );

    let transposed = [Shape::from([2, 3])];
    let form = Broadcast::explicit(&transposed, &[vec![1, 0]], Shape::from([3, 2])).unwrap();
    assert_eq!(
        convert_broadcast(&form, RuleSetName::XlaBroadcastInDim).unwrap_err().to_string(),
        "xla-broadcast-in-dim keeps the order of axes; transpose operand 0 first"
    );
    assert_eq!(
        convert_broadcast(&form, RuleSetName::StableHloBroadcastInDim).unwrap().to_string(),
        "stablehlo broadcast_in_dim dims=[1, 0] target=[3, 2]"
    );
    let repeated =
        Broadcast::explicit(&[Shape::from([3])], &[vec![1]], Shape::from([2, 3])).unwrap();
    assert_eq!(
        convert_broadcast(&repeated, RuleSetName::Numpy).unwrap_err().to_string(),
        "no operand gives axis 0 of the result its size 2; use a target rule"
    );
}
