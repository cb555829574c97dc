//! Kits: the fields and variety of their cases; the oracle confirms every verdict.

use std::collections::BTreeSet;

use indim::broadcast::RuleSetName;
use indim_oracle::{Kit, KitCase, verdict};
use serde_json::Value;

/// The first case of the rule `none` with the seed 0.
const FIRST: &str = r#"{"id":0,"rule":"none","op":"mul","operands":[\
{"dtype":"i32","shape":[2,4,4,1],\
"data":[-1,-4,-6,-1,1,2,-3,8,-3,3,-2,8,8,7,-4,-1,-6,-7,-6,7,-2,0,7,2,3,-3,0,-3,5,-8,-3,-1]},\
{"dtype":"i32","shape":[2,4,4,1],\
"data":[1,-1,-1,2,-5,-2,0,3,-7,-1,5,6,6,5,7,5,8,-3,-5,8,-8,-8,-1,-4,-2,-8,6,-7,6,-3,7,4]}]}"#;

/// The labels of the illegal cases in a kit of 300 cases of each rule, without labels of element types.
const LABELS: [(RuleSetName, &[&str]); 15] = [
    (RuleSetName::None, &["O1"]),
    (RuleSetName::Numpy, &["N2"]),
    (RuleSetName::Xla, &["X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9", "XT"]),
    (RuleSetName::StableHlo, &["O1", "XT"]),
    (RuleSetName::Pdpd, &["P1", "P2", "P4", "P5"]),
    (RuleSetName::OnnxLegacy, &["L", "O1"]),
    (RuleSetName::Named, &["D1", "D3", "D4"]),
    (RuleSetName::Unidirectional, &["T1"]),
    (RuleSetName::Bidirectional, &["T2"]),
    (RuleSetName::Explicit, &["T3"]),
    (RuleSetName::PdpdBroadcast, &["P1", "P2", "P4", "P5"]),
    (RuleSetName::XlaBroadcast, &[]),
    (RuleSetName::XlaBroadcastInDim, &["E1", "E2", "E4", "X8"]),
    (RuleSetName::StableHloBroadcastInDim, &["E1", "E2", "E3", "E4"]),
    (RuleSetName::HloBroadcast, &["E1", "E2", "E3", "E4"]),
];

fn cases(rule: RuleSetName) -> Vec<KitCase> {
    Kit::new(rule, 1).take(300).collect()
}

#[test]
fn the_verdicts_are_those_of_the_oracle() {
    for (rule, _) in LABELS {
        for (index, case) in cases(rule).iter().enumerate() {
            assert_eq!(verdict(case.text()), case.verdict());
            let line: Value = serde_json::from_str(&case.line()).unwrap();
            assert_eq!(line["case"]["id"], index);
            assert_eq!(line["expected"]["id"], index);
            assert_eq!(line["expected"]["ok"], case.expected().is_some(), "{line}");
            assert_eq!(line["expected"]["data"].is_array(), case.expected().is_some(), "{line}");
        }
    }
}

#[test]
fn a_third_is_illegal_by_every_label() {
    for (rule, labels) in LABELS {
        let cases = cases(rule);
        let illegal: Vec<&KitCase> = cases.iter().filter(|case| case.code().is_some()).collect();
        let found: BTreeSet<&str> = illegal.iter().filter_map(|case| case.label()).collect();
        let of_shapes: Vec<&str> = found.into_iter().filter(|it| !it.starts_with("TY")).collect();
        assert_eq!(of_shapes, labels, "{rule}");
        if !labels.is_empty() {
            assert!((60..140).contains(&illegal.len()), "{rule}: {} of 300", illegal.len());
        }
    }
}

#[test]
fn ranks_sizes_and_operand_counts_vary() {
    let cases = cases(RuleSetName::Numpy);
    let shapes = || cases.iter().flat_map(KitCase::operands).map(|operand| operand.shape());
    let ranks: BTreeSet<usize> = shapes().map(|shape| shape.rank()).collect();
    assert_eq!(ranks, (0..=5).collect());
    let sizes: Vec<usize> = shapes().flat_map(|shape| shape.sizes().to_vec()).collect();
    assert_eq!(sizes.iter().copied().collect::<BTreeSet<_>>(), (0..=7).collect());
    let ones = sizes.iter().filter(|&&size| size == 1).count();
    assert!(ones * 3 > sizes.len(), "{ones} of {}", sizes.len());
    let counts: BTreeSet<usize> = cases.iter().map(|case| case.operands().len()).collect();
    assert_eq!(counts, (1..=3).collect());
}

#[test]
fn a_seed_means_the_same_cases_everywhere() {
    let lines = |seed| Kit::new(RuleSetName::Xla, seed).take(50).map(|case| case.line());
    assert!(lines(3).eq(lines(3)));
    assert!(!lines(3).eq(lines(4)));
    let first = Kit::new(RuleSetName::None, 0).next().unwrap();
    assert_eq!(first.text(), FIRST.replace("\\\n", ""));
}
