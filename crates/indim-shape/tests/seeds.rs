//! Examples of the source documents: XLA's page on broadcasting, and OpenVINO's page on the broadcast rules
//! of element-wise operations.

use indim_shape::{RuleSet, Shape, TargetRule};

/// The result's shape, and the axis map of each operand.
fn forms(rule: &RuleSet, shapes: &[&[usize]]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let shapes: Vec<Shape> = shapes.iter().map(|&sizes| Shape::from(sizes)).collect();
    let broadcast = rule.elaborate(&shapes).expect("the document says that this works");
    (broadcast.result().to_vec(), broadcast.maps().iter().map(|map| map.to_vec()).collect())
}

fn code(rule: &RuleSet, shapes: &[&[usize]]) -> &'static str {
    let shapes: Vec<Shape> = shapes.iter().map(|&sizes| Shape::from(sizes)).collect();
    rule.elaborate(&shapes).expect_err("the document says that this is illegal").code()
}

fn xla(dims: &[i64]) -> RuleSet {
    RuleSet::Xla { dims: dims.to_vec() }
}

#[test]
fn xla_scalars_go_with_anything() {
    assert_eq!(forms(&xla(&[]), &[&[2, 3], &[]]), (vec![2, 3], vec![vec![0, 1], vec![]]));
}

#[test]
fn xla_matrix_and_vector() {
    assert_eq!(code(&xla(&[]), &[&[2, 3], &[3]]), "rank-mismatch-without-dims");
    assert_eq!(forms(&xla(&[1]), &[&[2, 3], &[3]]), (vec![2, 3], vec![vec![0, 1], vec![1]]));
    // "when adding a 2x3 matrix to a 3-element vector, a broadcasting dimension of 0 is invalid"
    assert_eq!(code(&xla(&[0]), &[&[2, 3], &[3]]), "dim-size-mismatch");
}

#[test]
fn xla_square_matrix_and_vector() {
    assert_eq!(forms(&xla(&[1]), &[&[3, 3], &[3]]).1[1], [1]);
    assert_eq!(forms(&xla(&[0]), &[&[3, 3], &[3]]).1[1], [0]);
}

#[test]
fn xla_cuboid_and_matrix() {
    let (result, maps) = forms(&xla(&[1, 2]), &[&[2, 3, 4], &[3, 4]]);
    assert_eq!((result, maps[1].as_slice()), (vec![2, 3, 4], [1, 2].as_slice()));
}

#[test]
fn xla_formal_definition() {
    // M x N x P x Q, with T on each axis in turn, and T x V on pairs of them.
    let large: &[usize] = &[2, 3, 4, 5];
    for axis in 0..4 {
        assert_eq!(forms(&xla(&[axis as i64]), &[large, &large[axis..=axis]]).1[1], [axis]);
    }
    for pair in [[2, 3], [1, 2], [0, 3]] {
        let small = pair.map(|axis| large[axis]);
        let dims = pair.map(|axis| axis as i64);
        assert_eq!(forms(&xla(&dims), &[large, &small]).1[1], pair);
    }
    // "it is illegal to match V to N and T to P; it is also illegal to match V to both P and N"
    let order = "dims-not-strictly-increasing";
    assert_eq!(code(&xla(&[2, 1]), &[&[2, 4, 4, 5], &[4, 4]]), order);
    assert_eq!(code(&xla(&[1, 1]), &[&[2, 4, 4, 5], &[4, 4]]), order);
}

#[test]
fn xla_degenerate_dimensions() {
    assert_eq!(forms(&xla(&[]), &[&[2, 1], &[2, 3]]).0, [2, 3]);
    assert_eq!(forms(&xla(&[]), &[&[1, 2, 5], &[7, 2, 5]]).0, [7, 2, 5]);
    assert_eq!(forms(&xla(&[]), &[&[7, 2, 5], &[7, 1, 5]]).0, [7, 2, 5]);
    assert_eq!(code(&xla(&[]), &[&[7, 2, 5], &[7, 2, 6]]), "degenerate-incompatible");
    // "an outer operation"
    assert_eq!(forms(&xla(&[]), &[&[2, 1], &[1, 3]]).0, [2, 3]);
}

#[test]
fn xla_composition() {
    let (result, maps) = forms(&xla(&[0]), &[&[4], &[1, 2]]);
    assert_eq!((result, maps), (vec![4, 2], vec![vec![0], vec![0, 1]]));
    let (result, maps) = forms(&xla(&[1, 2]), &[&[1, 2], &[4, 3, 1]]);
    assert_eq!((result, maps), (vec![4, 3, 2], vec![vec![1, 2], vec![0, 1, 2]]));
}

#[test]
fn openvino_none() {
    assert_eq!(forms(&RuleSet::None, &[&[2, 3], &[2, 3]]).0, [2, 3]);
    assert_eq!(code(&RuleSet::None, &[&[2, 3], &[1]]), "shapes-differ");
}

#[test]
fn openvino_numpy() {
    let cases: [(&[usize], &[usize], &[usize]); 9] = [
        (&[], &[], &[]),
        (&[2, 3], &[1], &[2, 3]),
        (&[3], &[2, 3], &[2, 3]),
        (&[2, 3, 5], &[], &[2, 3, 5]),
        (&[2, 1, 5], &[1, 4, 5], &[2, 4, 5]),
        (&[6, 5], &[2, 1, 5], &[2, 6, 5]),
        (&[2, 1, 5], &[4, 1], &[2, 4, 5]),
        (&[3, 2, 1, 4], &[5, 4], &[3, 2, 5, 4]),
        (&[1, 5, 3], &[5, 2, 1, 3], &[5, 2, 5, 3]),
    ];
    for (a, b, result) in cases {
        assert_eq!(forms(&RuleSet::Numpy, &[a, b]).0, result);
    }
    assert_eq!(code(&RuleSet::Numpy, &[&[3], &[2]]), "size-mismatch");
    // "on the leftmost axis"
    let shapes = [Shape::from([3, 1, 5]), Shape::from([4, 4, 5])];
    let error = RuleSet::Numpy.elaborate(&shapes).unwrap_err();
    assert_eq!((error.code(), error.axis()), ("size-mismatch", Some(0)));
}

#[test]
fn openvino_pdpd() {
    let a: &[usize] = &[2, 3, 4, 5];
    let cases: [(&[usize], Option<i64>, &[usize]); 9] = [
        (&[3, 4], Some(1), &[1, 2]),
        (&[3, 1], Some(1), &[1, 2]),
        (&[4, 5], Some(-1), &[2, 3]),
        (&[4, 5], None, &[2, 3]),
        (&[4, 5], Some(2), &[2, 3]),
        (&[1, 3], Some(0), &[0, 1]),
        (&[], None, &[]),
        (&[5], Some(-1), &[3]),
        (&[5], Some(3), &[3]),
    ];
    for (b, axis, map) in cases {
        let (result, maps) = forms(&RuleSet::Pdpd { axis }, &[a, b]);
        assert_eq!((result.as_slice(), maps[1].as_slice()), (a, map));
    }
    let one_way: [&[usize]; 2] = [&[8, 1, 6, 1], &[7, 1, 5]];
    assert_eq!(code(&RuleSet::Pdpd { axis: Some(1) }, &one_way), "size-mismatch");
}

#[test]
fn openvino_bidirectional() {
    let cases: [(&[usize], &[usize], &[usize]); 5] = [
        (&[5], &[1], &[5]),
        (&[2, 3], &[3], &[2, 3]),
        (&[3, 1], &[3, 4], &[3, 4]),
        (&[3, 4], &[], &[3, 4]),
        (&[3, 1], &[2, 1, 6], &[2, 3, 6]),
    ];
    for (data, target, result) in cases {
        let (data, target) = (Shape::from(data), Shape::from(target));
        let broadcast = TargetRule::Bidirectional.elaborate(&data, &target).unwrap();
        assert_eq!(broadcast.result().sizes(), result);
    }
}
