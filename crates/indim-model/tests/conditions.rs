//! Conditions on sizes that are impossible, and conditions solved for a name.

use indim_model::outline::{NamedCondition, SymbolicSize};

#[test]
fn impossible_and_solved_conditions() {
    let (n, number) = (SymbolicSize::named("N"), SymbolicSize::known);
    let next = n.plus(&number(1)).unwrap();
    let double = n.times(&number(2)).unwrap();
    assert!(!next.may_be_equal(&n, 0));
    assert!(!double.may_be_equal(&n, 1) && double.may_be_equal(&n, 0));
    assert!(!double.may_be_equal(&number(1), 0) && double.may_be_equal(&number(4), 1));
    assert!(!next.may_be_equal(&number(1), 1) && next.may_be_equal(&number(1), 0));
    assert!(n.may_be_equal(&SymbolicSize::named("M"), 1));
    // A half that is rounded down may be 0.
    let half = n.floor_divided(2).unwrap();
    assert!(half.plus(&n).unwrap().may_be_equal(&n, 1));
    assert_eq!(NamedCondition::equal(&next, &number(1)).shown(), "N = 0");
    let (eight, nine) = (n.times(&number(8)).unwrap(), n.times(&number(9)).unwrap());
    assert_eq!(NamedCondition::equal(&eight, &nine).shown(), "N = 0");
    assert!(NamedCondition::equal(&eight, &nine).is_degenerate());
    assert_eq!(NamedCondition::equal(&number(3), &n).values(), Some(("N", vec![3])));
}
