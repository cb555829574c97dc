//! Random cases beyond the exhaustive scope against the naive oracle: ranks up to 8, many operands, larger
//! sizes, any attribute. Hostile ranks and sizes cause no panic.

mod common;

use common::oracle::{agree, elementwise, target};
use common::reads;
use indim_shape::{
    RuleSet, RuleSetName, Shape, ShapeError, TargetRule, check_broadcast_in_dim, convert_broadcast,
    draw_broadcast, draw_error, find_repairs,
};
use proptest::prelude::*;

fn shape(rank: usize) -> impl Strategy<Value = Shape> {
    // Mostly ones and twos, so that many cases are legal and results stay small.
    let size = prop_oneof![4 => Just(1_usize), 4 => Just(2), 1 => Just(3), 1 => Just(0)];
    prop::collection::vec(size, 0..=rank).prop_map(Shape::from)
}

/// A shape, a second shape with some of its axes, some of them of size 1, and the list of kept axes.
fn related() -> impl Strategy<Value = (Shape, Shape, Vec<i64>)> {
    shape(8).prop_flat_map(|large| {
        let choices = prop::collection::vec(0..4, large.rank());
        (Just(large), choices).prop_map(|(large, choices)| {
            let kept: Vec<usize> = (0..large.rank()).filter(|&axis| choices[axis] > 1).collect();
            let size = |&axis: &usize| if choices[axis] == 2 { 1 } else { large[axis] };
            let small = kept.iter().map(size).collect();
            (large, small, kept.iter().map(|&axis| axis as i64).collect())
        })
    })
}

fn any_rule() -> impl Strategy<Value = RuleSet> {
    let axis = prop::option::of(-3_i64..9);
    prop_oneof![
        Just(RuleSet::None),
        Just(RuleSet::Numpy),
        Just(RuleSet::StableHlo),
        prop::collection::vec(-2_i64..9, 0..4).prop_map(|dims| RuleSet::Xla { dims }),
        axis.clone().prop_map(|axis| RuleSet::Pdpd { axis }),
        (any::<bool>(), axis).prop_map(|(broadcast, axis)| RuleSet::OnnxLegacy { broadcast, axis }),
    ]
}

/// Calls every method of an error.
fn ask(error: &ShapeError) {
    assert!(!error.to_string().contains('\n') && !error.label().is_empty());
    assert!(draw_error(error, "add", &[]).starts_with(&format!("error[{}]", error.code())));
    for repair in find_repairs(error) {
        let form = repair.elaborate(error.shapes()).expect("a repair is legal");
        assert_eq!(form.result(), &repair.result);
    }
}

proptest! {
    #[test]
    fn numpy_with_many_operands(shapes in prop::collection::vec(shape(8), 1..7)) {
        let elaborated = RuleSet::Numpy.elaborate(&shapes);
        prop_assert!(agree(&elaborated, &elementwise(&RuleSet::Numpy, &shapes)));
        if let Err(error) = elaborated {
            ask(&error);
        }
    }

    #[test]
    fn any_rule_with_two_or_three_operands(
        rule in any_rule(),
        shapes in prop::collection::vec(shape(8), 2..=3),
    ) {
        let elaborated = rule.elaborate(&shapes);
        prop_assert!(agree(&elaborated, &elementwise(&rule, &shapes)), "{rule} {elaborated:?}");
        if let Err(error) = elaborated {
            ask(&error);
        }
    }

    #[test]
    fn lists_that_fit((large, small, dims) in related(), entry in 0_usize..8, dim in -1_i64..9) {
        let mut wrong = dims.clone();
        if let Some(slot) = wrong.get_mut(entry) {
            *slot = dim;
        }
        for dims in [dims, wrong] {
            let rule = RuleSet::Xla { dims: dims.clone() };
            for shapes in [[large.clone(), small.clone()], [small.clone(), large.clone()]] {
                let elaborated = rule.elaborate(&shapes);
                prop_assert!(agree(&elaborated, &elementwise(&rule, &shapes)), "{rule}");
            }
            for rule in [
                TargetRule::Explicit { axes: dims.clone() },
                TargetRule::XlaBroadcastInDim { dims: dims.clone() },
                TargetRule::StableHloBroadcastInDim { dims: dims.clone() },
                TargetRule::HloBroadcast { dims },
            ] {
                let elaborated = rule.elaborate(&small, &large);
                prop_assert!(agree(&elaborated, &target(&rule, &small, &large)), "{rule}");
                elaborated.err().iter().for_each(ask);
            }
        }
    }

    #[test]
    fn conversion((large, small, dims) in related()) {
        let forms = [
            check_broadcast_in_dim(&small, &dims, &large)
                .and_then(|_| TargetRule::Explicit { axes: dims.clone() }.elaborate(&small, &large)),
            RuleSet::Numpy.elaborate(&[large.clone(), small.clone(), Shape::scalar()]),
            RuleSet::Xla { dims }.elaborate(&[small, large]),
        ];
        for form in forms.into_iter().flatten() {
            draw_broadcast(&form, &[]);
            for name in RuleSetName::ALL {
                let Ok(converted) = convert_broadcast(&form, name) else { continue };
                let elaborated = converted.elaborate(form.operands()).expect("a conversion is legal");
                prop_assert_eq!(elaborated.result(), form.result());
                prop_assert_eq!(reads(&elaborated), reads(&form), "{}", converted);
            }
        }
    }

    #[test]
    fn hostile_ranks_and_sizes(
        x in prop::collection::vec(prop_oneof![Just(1), Just(2), any::<usize>()], 0..80),
        y in prop::collection::vec(prop_oneof![Just(1), Just(2), any::<usize>()], 0..80),
        dims in prop::collection::vec(any::<i64>(), 0..80),
        axis in any::<i64>(),
    ) {
        let (x, y) = (Shape::from(x), Shape::from(y));
        x.row_major_strides();
        let rules = [
            RuleSet::None,
            RuleSet::Numpy,
            RuleSet::Xla { dims },
            RuleSet::Pdpd { axis: Some(axis) },
            RuleSet::OnnxLegacy { broadcast: true, axis: Some(axis) },
        ];
        for rule in rules {
            match rule.elaborate(&[x.clone(), y.clone()]) {
                Ok(form) => prop_assert!(form.result().element_count().is_ok()),
                Err(error) => ask(&error),
            }
        }
    }
}

#[test]
fn rank_64_and_more() {
    let rank = 100;
    let large: Shape = (0..rank).map(|axis| if axis % 20 == 0 { 2 } else { 1 }).collect();
    let small = Shape::from(vec![1; 64]);
    let form = RuleSet::Numpy.elaborate(&[large.clone(), small.clone()]).unwrap();
    assert_eq!((form.result(), form.maps()[1][0]), (&large, 36));
    let error = RuleSet::Xla { dims: vec![] }.elaborate(&[large, small]).unwrap_err();
    assert_eq!(error.label(), "X4");
    ask(&error);
}
