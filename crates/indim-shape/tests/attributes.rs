//! Construction of rules from names and attributes: every name gives its rule, foreign attributes are
//! refused, and as written the attributes imply the rule.

use indim_shape::{
    AnyRule, Attribute, AttributeError, Attributes, AxisNames, RuleChoice, RuleSet, RuleSetName,
    Shape, TargetRule, draw_error, find_repairs,
};

const ALL: [Attribute; 5] =
    [Attribute::Dims, Attribute::Axis, Attribute::Broadcast, Attribute::Target, Attribute::Names];

/// These attributes with arbitrary values.
fn given(attributes: &[Attribute]) -> Attributes {
    let is_given = |attribute| attributes.contains(&attribute);
    Attributes {
        dims: is_given(Attribute::Dims).then(|| vec![1]),
        axis: is_given(Attribute::Axis).then_some(1),
        broadcast: is_given(Attribute::Broadcast).then_some(false),
        target: is_given(Attribute::Target).then(|| Shape::from([2, 3])),
        names: is_given(Attribute::Names).then(|| vec![AxisNames::from(["t"])]),
    }
}

/// Every set of attributes.
fn sets() -> Vec<Vec<Attribute>> {
    let is_in = |set: usize, index: usize| set >> index & 1 == 1;
    let members = |set| (0..5).filter(|&index| is_in(set, index)).map(|index| ALL[index]).collect();
    (0..32).map(members).collect()
}

#[test]
fn every_name_makes_the_rule_of_its_name() {
    for name in RuleSetName::ALL {
        let rule = name.with_attributes(&given(name.attributes())).expect("its own attributes");
        assert_eq!(rule.name(), Some(name));
        assert_eq!(matches!(rule, AnyRule::Target(_)), name.is_target_rule());
        let defaults = name.is_target_rule().then_some(Attribute::Target);
        let rule = name.with_attributes(&given(defaults.as_slice())).expect("its defaults");
        assert_eq!(rule.name(), Some(name));
    }
}

#[test]
fn attributes_that_do_not_belong_are_refused_by_name() {
    let mut refused = 0;
    for name in RuleSetName::ALL {
        for set in sets() {
            let has_target = set.contains(&Attribute::Target);
            let rule = name.target_rule().filter(|_| has_target).unwrap_or(name);
            let is_foreign = |attribute: &&Attribute| !rule.attributes().contains(attribute);
            let made = name.with_attributes(&given(&set));
            let expected = match set.iter().find(is_foreign) {
                Some(&attribute) => Some(AttributeError::Foreign { rule, attribute }),
                None if rule.is_target_rule() && !has_target => {
                    Some(AttributeError::Missing { rule, attribute: Attribute::Target })
                }
                None => None,
            };
            refused += usize::from(expected.is_some());
            assert_eq!(made.as_ref().err().copied(), expected, "{name} {set:?}");
            assert_eq!(
                made.ok().and_then(|made| made.name()),
                Some(rule).filter(|_| expected.is_none())
            );
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn attributes_reach_the_rule() {
    let of = |name: RuleSetName, set: &[Attribute]| name.with_attributes(&given(set)).unwrap();
    let (dims, axis, target) = (Attribute::Dims, Attribute::Axis, Attribute::Target);
    assert_eq!(of(RuleSetName::Xla, &[dims]), RuleSet::Xla { dims: vec![1] }.into());
    assert_eq!(of(RuleSetName::Xla, &[]), RuleSet::Xla { dims: vec![] }.into());
    assert_eq!(of(RuleSetName::Pdpd, &[axis]), RuleSet::Pdpd { axis: Some(1) }.into());
    assert_eq!(of(RuleSetName::Pdpd, &[]), RuleSet::Pdpd { axis: None }.into());
    let legacy = |broadcast, axis| AnyRule::from(RuleSet::OnnxLegacy { broadcast, axis });
    assert_eq!(of(RuleSetName::OnnxLegacy, &[]), legacy(true, None));
    assert_eq!(of(RuleSetName::OnnxLegacy, &[axis]), legacy(true, Some(1)));
    assert_eq!(of(RuleSetName::OnnxLegacy, &[Attribute::Broadcast]), legacy(false, None));
    let explicit = TargetRule::Explicit { axes: vec![1] };
    assert_eq!(of(RuleSetName::Explicit, &[dims, target]), explicit.into());
    // With a target, the target rule of the same system.
    assert_eq!(of(RuleSetName::Numpy, &[target]), TargetRule::Unidirectional.into());
    assert_eq!(of(RuleSetName::Pdpd, &[axis, target]), TargetRule::Pdpd { axis: Some(1) }.into());
    let in_dim = TargetRule::XlaBroadcastInDim { dims: vec![1] };
    assert_eq!(of(RuleSetName::Xla, &[dims, target]), in_dim.into());
    let in_dim = TargetRule::StableHloBroadcastInDim { dims: vec![1] };
    assert_eq!(of(RuleSetName::StableHlo, &[dims, target]), in_dim.into());
}

#[test]
fn as_written_the_attributes_decide_and_under_numpy_they_are_refused() {
    let numpy = RuleChoice::Named(RuleSetName::Numpy);
    let as_written = |set: &[Attribute]| RuleChoice::AsWritten.elementwise(&given(set));
    assert_eq!(as_written(&[]), Ok(RuleSet::Numpy));
    assert_eq!(as_written(&[Attribute::Dims]), Ok(RuleSet::Xla { dims: vec![1] }));
    assert_eq!(as_written(&[Attribute::Axis]), Ok(RuleSet::Pdpd { axis: Some(1) }));
    let both = as_written(&[Attribute::Dims, Attribute::Axis]);
    assert_eq!(both, Err(AttributeError::Conflicting));
    assert_eq!(numpy.elementwise(&given(&[])), Ok(RuleSet::Numpy));
    for attribute in [Attribute::Dims, Attribute::Axis, Attribute::Target] {
        let refused = AttributeError::Foreign { rule: RuleSetName::Numpy, attribute };
        assert_eq!(numpy.elementwise(&given(&[attribute])), Err(refused));
    }
    assert_eq!(RuleChoice::AsWritten.of_expression(), Ok(None));
    assert_eq!(numpy.of_expression(), Ok(Some(RuleSet::Numpy)));
    assert_eq!(RuleChoice::default(), RuleChoice::AsWritten);
}

#[test]
fn operations_have_the_rules_without_a_target() {
    let of_operations: Vec<RuleChoice> = RuleChoice::of_operations().collect();
    for choice in RuleChoice::all() {
        let rule = choice.of_expression();
        assert_eq!(rule.is_ok(), of_operations.contains(&choice), "{choice}");
        if let Ok(Some(rule)) = &rule {
            assert_eq!(choice, RuleChoice::Named(rule.name()));
        }
    }
    let refused = RuleChoice::Named(RuleSetName::Bidirectional).of_expression().unwrap_err();
    assert_eq!(refused.code(), "not-elementwise");
    assert_eq!(
        refused.advice(),
        "operations follow one of as-written, none, numpy, xla, stablehlo, pdpd, onnx-legacy, named",
    );
}

#[test]
fn a_rule_has_the_attributes_that_construct_it() {
    let rules = [
        RuleSet::None,
        RuleSet::Xla { dims: vec![] },
        RuleSet::Xla { dims: vec![0, 2] },
        RuleSet::StableHlo,
        RuleSet::Pdpd { axis: None },
        RuleSet::Pdpd { axis: Some(-1) },
        RuleSet::OnnxLegacy { broadcast: false, axis: Some(2) },
        RuleSet::OnnxLegacy { broadcast: true, axis: None },
    ];
    for rule in rules {
        assert_eq!(rule.name().with_attributes(&rule.attributes()), Ok(rule.clone().into()));
    }
}

#[test]
fn errors_say_what_belongs() {
    let error = |name: RuleSetName, set: &[Attribute]| {
        let error = name.with_attributes(&given(set)).unwrap_err();
        (error.code(), error.attribute(), format!("{error}: {}", error.advice()))
    };
    let (dims, axis, target) = (Attribute::Dims, Attribute::Axis, Attribute::Target);
    for (found, code, attribute, text) in [
        (
            error(RuleSetName::Numpy, &[dims]),
            "foreign-attribute",
            dims,
            "rule numpy takes no `dims`: numpy takes no attributes; `dims` belongs to as-written, xla",
        ),
        (
            error(RuleSetName::Pdpd, &[Attribute::Broadcast]),
            "foreign-attribute",
            Attribute::Broadcast,
            "rule pdpd takes no `broadcast`: pdpd takes `axis`; `broadcast` belongs to onnx-legacy",
        ),
        (
            error(RuleSetName::Explicit, &[axis, target]),
            "foreign-attribute",
            axis,
            "rule explicit takes no `axis`: explicit takes `dims`, `target`; `axis` belongs to \
             pdpd-broadcast",
        ),
        (
            error(RuleSetName::Bidirectional, &[]),
            "missing-attribute",
            target,
            "rule bidirectional needs `target`: give `target` too",
        ),
    ] {
        assert_eq!(found, (code, Some(attribute), text.to_owned()));
    }
    assert_eq!(AttributeError::Conflicting.code(), "conflicting-attributes");
}

#[test]
fn any_rule_refuses_any_other_number_of_operands() {
    let target = Shape::from([2, 3]);
    for name in RuleSetName::ALL {
        let rule = name.with_attributes(&given(name.attributes())).expect("its own attributes");
        let given_target = Some(&target).filter(|_| name.is_target_rule());
        for count in [0, 2, 5] {
            let operands = vec![Shape::from([3]); count];
            let Err(error) = rule.elaborate(&operands, given_target) else { continue };
            assert!(draw_error(&error, "broadcast", &[]).starts_with("error["), "{name} {count}");
            assert!(find_repairs(&error).len() < 100, "{name} {count}");
            if name.is_target_rule() {
                assert_eq!((error.code(), error.label()), ("wrong-operand-count", "T"), "{name}");
            }
        }
    }
    let data = [Shape::from([3])];
    let rule = AnyRule::from(TargetRule::Unidirectional);
    assert_eq!(rule.elaborate(&data, None).unwrap_err().code(), "wrong-operand-count");
    assert_eq!(rule.elaborate(&data, Some(&target)).unwrap().result(), &target);
}
