//! Products of operands: every label, a table of shapes by NumPy, and `dot_general` by its definition.

use indim_shape::{
    ContractionError, ContractionForm, ContractionRule, DotDimensions, Einsum, Shape,
};

/// The shapes by NumPy 2.4.6, from `numpy_products.py`.
const NUMPY: &str = include_str!("numpy_products.txt");

fn numbers(text: &str) -> Vec<i64> {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    inner.split(',').filter(|item| !item.is_empty()).map(|item| item.parse().unwrap()).collect()
}

fn shape(text: &str) -> Shape {
    numbers(text).into_iter().map(|size| usize::try_from(size).unwrap()).collect()
}

/// The result's shape under a rule by name, or `None` if the rule refuses the operands.
fn result(call: &str, shapes: &[Shape]) -> Option<Shape> {
    if let Some(equation) = call.strip_prefix("einsum:") {
        let einsum: Einsum = equation.parse().ok()?;
        let plan = einsum.elaborate(shapes).ok()?;
        return Some(match plan.products.last() {
            Some(product) => product.form.result(),
            None => alone(&plan, &shapes[0]),
        });
    }
    let rule = match call {
        "matmul" => ContractionRule::Matmul,
        "dot" => ContractionRule::Dot,
        "inner" => ContractionRule::Inner,
        "matvec" => ContractionRule::Matvec,
        "vecmat" => ContractionRule::Vecmat,
        "vecdot" => ContractionRule::Vecdot { axis: -1 },
        _ => {
            let (x, y) = call.strip_prefix("tensordot").unwrap().split_once("][").unwrap();
            ContractionRule::Tensordot { x: numbers(x), y: numbers(y) }
        }
    };
    let operands = [shapes[0].clone(), shapes[1].clone()];
    rule.elaborate(&operands).ok().map(|form| form.result())
}

/// The shape of a single operand after its diagonals, sums and transposition.
fn alone(plan: &indim_shape::EinsumPlan, operand: &Shape) -> Shape {
    let mut sizes = operand.to_vec();
    for [_, second] in &plan.operands[0].diagonals {
        sizes.remove(*second);
    }
    for axis in plan.operands[0].summed.iter().rev() {
        sizes.remove(*axis);
    }
    let mut result = vec![0; sizes.len()];
    plan.result.iter().zip(sizes).for_each(|(&axis, size)| result[axis] = size);
    result.into()
}

#[test]
fn equal_operands_are_printed_one_after_the_other() {
    let vector = Shape::from([3]);
    let form = ContractionRule::Dot.elaborate(&[vector.clone(), vector]).unwrap();
    assert_eq!(form.to_string(), "[3] at [0], [3] at [0] of [3*]: []");
}

#[test]
fn numpy_gives_the_same_shapes() {
    let (mut legal, mut different) = (0, Vec::new());
    for line in NUMPY.lines() {
        let (call, expected) = line.split_once(" -> ").unwrap();
        let (call, shapes) = call.split_once(' ').unwrap();
        let shapes: Vec<Shape> = shapes.split(' ').map(shape).collect();
        let expected = if expected == "error" { None } else { Some(shape(expected)) };
        legal += usize::from(expected.is_some());
        let found = result(call, &shapes);
        if found != expected {
            different.push((line, found));
        }
    }
    assert_eq!(different, []);
    assert!(legal > 1000, "{legal} legal cases");
}

fn dot_general(
    shapes: [&[usize]; 2],
    batch: [&[i64]; 2],
    contracting: [&[i64]; 2],
) -> Result<ContractionForm, ContractionError> {
    let dimensions = DotDimensions {
        lhs_batch: batch[0].to_vec(),
        rhs_batch: batch[1].to_vec(),
        lhs_contracting: contracting[0].to_vec(),
        rhs_contracting: contracting[1].to_vec(),
    };
    ContractionRule::DotGeneral(dimensions).elaborate(&shapes.map(Shape::from))
}

#[test]
fn dot_general_orders_batch_left_right_and_sums_in_the_order_listed() {
    let form =
        dot_general([&[2, 3, 4, 5], &[5, 4, 7, 2]], [&[0], &[3]], [&[3, 2], &[0, 1]]).unwrap();
    assert_eq!(form.shape().sizes(), [2, 3, 7, 5, 4]);
    assert_eq!((form.summed(), form.result().sizes()), (2, &[2, 3, 7][..]));
    assert_eq!(&form.maps()[0][..], [0, 1, 4, 3]);
    assert_eq!(&form.maps()[1][..], [3, 4, 2, 0]);
    // Size 1 is not expanded.
    assert_eq!(
        dot_general([&[1, 3], &[2, 3]], [&[0], &[0]], [&[1], &[1]]).unwrap_err().label(),
        "P5"
    );
}

#[test]
fn every_label_has_a_refusal() {
    let matmul = |x: &[usize], y: &[usize]| {
        ContractionRule::Matmul.elaborate(&[Shape::from(x), Shape::from(y)]).unwrap_err()
    };
    let found = |error: &ContractionError| (error.label(), error.code(), error.operand());
    assert_eq!(found(&matmul(&[3], &[])), ("P1", "too-few-axes", Some(1)));
    assert_eq!(found(&matmul(&[2, 3], &[4, 5])), ("P5", "size-mismatch", Some(1)));
    assert_eq!(found(&matmul(&[2, 1, 3], &[3, 3, 4])), ("P5", "size-mismatch", Some(1)));
    let refused =
        |batch, contracting| dot_general([&[2, 3], &[3, 2]], batch, contracting).unwrap_err();
    let negative = refused([&[], &[]], [&[1], &[-2]]);
    assert_eq!(found(&negative), ("P2", "axis-out-of-range", Some(1)));
    let twice = refused([&[0], &[1]], [&[0], &[0]]);
    assert_eq!(found(&twice), ("P3", "axes-not-unique", Some(0)));
    let count = refused([&[], &[]], [&[0, 1], &[1]]);
    assert_eq!(found(&count), ("P4", "axis-count-mismatch", None));
}

#[test]
fn every_label_of_einsum_has_a_refusal() {
    let refusal = |equation: &str, shapes: &[&[usize]]| {
        let shapes: Vec<Shape> = shapes.iter().map(|&sizes| Shape::from(sizes)).collect();
        let elaborated = equation.parse().and_then(|einsum: Einsum| einsum.elaborate(&shapes));
        let error = elaborated.unwrap_err();
        (error.label(), error.code(), error.operand())
    };
    let size = ("P5", "size-mismatch");
    assert_eq!(refusal("ij,jk", &[&[2, 3], &[4, 5]]), (size.0, size.1, Some(1)));
    assert_eq!(refusal("ii", &[&[1, 3]]), (size.0, size.1, Some(0)));
    for equation in ["i1", "i->j", "i->ii", "i...j...", "i->i->i", "i->i..."] {
        assert_eq!(refusal(equation, &[&[2]]), ("P6", "einsum-equation", None), "{equation}");
    }
    assert_eq!(refusal("i...->i", &[&[2, 3]]), ("P6", "einsum-equation", None));
    assert_eq!(refusal("i,j", &[&[2]]), ("P7", "wrong-operand-count", None));
    assert_eq!(refusal("ij", &[&[2]]), ("P8", "einsum-rank", Some(0)));
    assert_eq!(refusal("ij", &[&[2, 2, 2]]), ("P8", "einsum-rank", Some(0)));
}

#[test]
fn products_of_several_operands_are_in_the_order_of_growth() {
    let einsum: Einsum = "bij,bjk,bk->bi".parse().unwrap();
    let shapes = [Shape::from([2, 30, 40]), Shape::from([2, 40, 50]), Shape::from([2, 50])];
    let plan = einsum.elaborate(&shapes).unwrap();
    let pairs: Vec<[usize; 2]> = plan.products.iter().map(|product| product.operands).collect();
    // The last two first, whose product is the second of the list then.
    assert_eq!(pairs, [[1, 2], [0, 1]]);
    assert_eq!(plan.products[0].form.result().sizes(), [2, 40]);
    assert_eq!(plan.products[1].form.result().sizes(), [2, 30]);
    // Both pairs shrink by as much; the product of matrices has more multiplications.
    let shapes = [Shape::from([8, 64, 64]), Shape::from([8, 64, 64]), Shape::from([8, 64])];
    let plan = einsum.elaborate(&shapes).unwrap();
    assert_eq!(plan.products[0].operands, [1, 2]);
}

#[test]
fn repairs_are_tried() {
    let advice = |x: &[usize], y: &[usize]| {
        let error =
            ContractionRule::Matmul.elaborate(&[Shape::from(x), Shape::from(y)]).unwrap_err();
        error.advice(&["a", "b"])
    };
    assert_eq!(
        advice(&[2, 3], &[4, 3]).as_deref(),
        Some("exchange the last two axes of `b`: the result is [2, 4]")
    );
    assert_eq!(
        advice(&[2, 3], &[4, 2]).as_deref(),
        Some("exchange the operands: the result is [4, 3]")
    );
    assert_eq!(advice(&[2, 3], &[5, 4]), None);
}
