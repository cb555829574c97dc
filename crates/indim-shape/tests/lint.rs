//! The lint for surprising outer products: findings and silent cases.

use indim_shape::{OuterProduct, RuleSet, Shape, TargetRule, surprising_outer_product};

fn found(shapes: &[&[usize]], factor: usize) -> Option<OuterProduct> {
    let shapes: Vec<Shape> = shapes.iter().map(|&sizes| Shape::from(sizes)).collect();
    surprising_outer_product(
        &RuleSet::Numpy.elaborate(&shapes).expect("the lint is about legal uses"),
        factor,
    )
}

#[test]
fn every_operand_expands_and_the_result_is_far_larger() {
    let outer = OuterProduct { largest_operand: 1, largest_count: 10, result_count: 80 };
    assert_eq!(found(&[&[8, 1], &[10]], 7), Some(outer));
    assert_eq!(found(&[&[8, 1], &[10]], 8), None);
    assert_eq!(found(&[&[8, 1], &[10], &[]], 7), Some(outer));
    assert_eq!(
        outer.to_string(),
        "every operand expands: the result has 80 elements, and operand 1, the largest, has 10"
    );
}

#[test]
fn ordinary_broadcasts_are_silent() {
    assert_eq!(found(&[&[1000, 1000], &[1000]], 0), None);
    assert_eq!(found(&[&[1000], &[]], 0), None);
    assert_eq!(found(&[&[1000, 1], &[0]], 0), None);
    assert_eq!(found(&[&[1000, 1], &[1000]], usize::MAX), None);
    let target = TargetRule::Unidirectional;
    let repeated = target.elaborate(&Shape::from([3]), &Shape::from([1000, 3])).unwrap();
    assert_eq!(surprising_outer_product(&repeated, 1), None);
}
