//! Axis names: propagation through every kind of node, and operations that match axes by name.

use indim_builder::{GraphBuilder, Index, ReduceOptions, Reduction, Value};
use indim_graph::{Array, AxisSlice, NodeKind, TakeMode, evaluate};
use indim_ops::{DType, Op};
use indim_shape::{AxisNames, RuleSet};

fn x(b: &GraphBuilder) -> Value {
    b.named_parameter("x", DType::F32, &[("time", 4), ("level", 1), ("lat", 3)]).unwrap()
}

fn names(value: &Value) -> String {
    value.axis_names().to_string()
}

#[test]
fn operations_keep_the_names_of_their_operands() {
    let b = GraphBuilder::new();
    let x = x(&b);
    for value in [
        x.exp(),
        2 * &x + 1,
        b.convert(&x, DType::F64).unwrap(),
        b.bitcast(&x, DType::I32).unwrap(),
        x.gt(0).select(&x, -&x),
        b.clamp(0, &x, 1).unwrap(),
        b.elu(&x, 0.5).unwrap(),
        b.reverse(&x, &[0]).unwrap(),
        b.slice(&x, &[AxisSlice::new(1, 2, 1), AxisSlice::whole(1), AxisSlice::whole(3)]).unwrap(),
        b.concatenate(&[&x, &x], 0).unwrap(),
    ] {
        assert_eq!(names(&value), "[time, level, lat]", "{value:?}");
    }
    assert_eq!(names(&b.scalar(1.0f32)), "[]");
    assert_eq!(names(&b.iota(DType::F32, [4, 3], 0).unwrap()), "[?, ?]");
}

#[test]
fn moved_removed_and_added_axes() {
    let b = GraphBuilder::new();
    let x = x(&b);
    assert_eq!(names(&b.transpose(&x, &[2, 0, 1]).unwrap()), "[lat, time, level]");
    assert_eq!(names(&b.broadcast(&x, &[5]).unwrap()), "[?, time, level, lat]");
    let index = |indices: &[Index]| names(&b.index(&x, indices).unwrap());
    assert_eq!(index(&[Index::At(0)]), "[level, lat]");
    assert_eq!(index(&[Index::ALL, Index::At(0)]), "[time, lat]");
    assert_eq!(index(&[Index::ALL, Index::ALL, Index::At(-1)]), "[time, level]");
    assert_eq!(index(&[Index::NewAxis, Index::Ellipsis]), "[?, time, level, lat]");
    assert_eq!(index(&[Index::Ellipsis, Index::NewAxis]), "[time, level, lat, ?]");
    assert_eq!(names(&b.reshape(&x, [4, 3]).unwrap()), "[time, lat]");
    assert_eq!(names(&b.reshape(&x, [12]).unwrap()), "[?]");
    let which = b.named_parameter("which", DType::I32, &[("station", 5)]).unwrap();
    let taken = b.take(&x, &which, 2, TakeMode::Error).unwrap();
    assert_eq!(names(&taken), "[time, level, station]");
    let stacked = b.stack(&[&x, &x], 1).unwrap();
    assert_eq!(names(&stacked), "[time, ?, level, lat]");
}

#[test]
fn functions_along_an_axis_keep_the_names_of_the_others() {
    for &function in Reduction::ALL {
        if function.operands().len() != 1 || !function.takes(DType::F32) {
            continue;
        }
        for (axis, left) in
            ["time", "level", "lat"].iter().zip(["[level, lat]", "[time, lat]", "[time, level]"])
        {
            let b = GraphBuilder::new();
            let options = ReduceOptions::axes([*axis]);
            let Ok(value) = b.along(function, x(&b), &options) else { continue };
            let expected = match value.array_type().unwrap().shape.rank() {
                3 => "[time, level, lat]",
                _ => left,
            };
            assert_eq!(names(&value), expected, "{function:?} along {axis}");
        }
    }
    let b = GraphBuilder::new();
    let kept = ReduceOptions::axes(["time", "lat"]).keepdims(true);
    let sum = b.along(Reduction::Sum, x(&b), &kept).unwrap();
    assert_eq!(
        (names(&sum).as_str(), sum.array_type().unwrap().shape.sizes()),
        ("[?, level, ?]", &[1, 1, 1][..])
    );
}

#[test]
fn an_unknown_axis_is_refused_with_the_known_names() {
    let b = GraphBuilder::new();
    let error = b.along(Reduction::Sum, x(&b), ["lon"]).unwrap_err();
    assert_eq!(error.code(), "unknown-axis-name");
    assert_eq!(error.headline(), "`x` has no axis `lon`; its axes are [time, level, lat]");
    let twice = ReduceOptions::axes(["lat", "lat"]);
    let other = b.named_parameter("y", DType::F32, &[("lat", 3)]).unwrap();
    assert_eq!(b.along(Reduction::Sum, other, &twice).unwrap_err().code(), "axes-not-unique");
}

#[test]
fn only_parameters_are_named_by_distinct_names() {
    let b = GraphBuilder::new();
    let code = |named: Result<Value, indim_graph::GraphError>| {
        let error = named.unwrap_err();
        (error.code(), error.label())
    };
    let twice = b.named_parameter("p", DType::F32, &[("t", 2), ("t", 2)]);
    assert_eq!(code(twice), ("axis-name-repeated", Some("D1")));
    let q = b.parameter("q", DType::F32, [2, 2]).unwrap();
    assert_eq!(code(b.name_axes(&q, ["t"])), ("dims-length-mismatch", Some("D4")));
    assert_eq!(code(b.name_axes(&q.exp(), ["t", "y"])), ("not-a-parameter", None));
    let partly = b.name_axes(&q, AxisNames::of_each([Some("t"), None])).unwrap();
    assert_eq!(code(b.named().add(&partly, &partly)), ("axis-name-missing", Some("D4")));
    assert_eq!(code(b.named().add(x(&b), &q)), ("axis-name-missing", Some("D4")));
}

#[test]
fn axes_with_two_names_that_meet_under_other_rules_lose_both() {
    let b = GraphBuilder::new();
    let p = b.named_parameter("p", DType::F32, &[("t", 2), ("y", 3)]).unwrap();
    let q = b.named_parameter("q", DType::F32, &[("t", 2), ("z", 3)]).unwrap();
    assert_eq!(names(&b.numpy().add(&p, &q).unwrap()), "[t, ?]");
    let plain = b.parameter("plain", DType::F32, [3]).unwrap();
    assert_eq!(names(&b.numpy().add(&p, &plain).unwrap()), "[t, y]");
}

#[test]
fn a_transposed_operand_is_one_broadcast() {
    let b = GraphBuilder::new();
    let p = b.named_parameter("p", DType::F32, &[("t", 2), ("y", 3)]).unwrap();
    let q = b.named_parameter("q", DType::F32, &[("y", 3), ("t", 2)]).unwrap();
    let graph = b.finish(&[b.named().sub(&p, &q).unwrap()]).unwrap();
    let kinds: Vec<&str> = graph.iter().map(|(_, node)| node.kind.name()).collect();
    assert_eq!(kinds, ["parameter", "parameter", "broadcast_in_dim", "sub"]);
    let map = graph.iter().find_map(|(_, node)| match &node.kind {
        NodeKind::BroadcastInDim(map) => Some(map.to_vec()),
        _ => None,
    });
    assert_eq!(map, Some(vec![1, 0]));
    let p = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let q = Array::new([3, 2], vec![10.0f32, 20.0, 30.0, 40.0, 50.0, 60.0]).unwrap();
    let result = evaluate(&graph, &[p, q]).unwrap();
    let expected = [-9.0f32, -28.0, -47.0, -16.0, -35.0, -54.0];
    assert_eq!(result[0].elements::<f32>(), Ok(&expected[..]));
}

#[test]
fn a_rule_may_contain_the_names() {
    let b = GraphBuilder::new();
    let constant = b.constant(Array::new([3], vec![1.0f32, 2.0, 3.0]).unwrap());
    let p = b.parameter("p", DType::F32, [2, 3]).unwrap();
    let names_of = ["t", "y"];
    let rule = RuleSet::Named { names: vec![AxisNames::from(["y"]), AxisNames::from(names_of)] };
    let sum = b.elementwise(Op::Add, &[constant, p], &rule).unwrap();
    assert_eq!(sum.array_type().unwrap().shape.sizes(), [3, 2]);
}

#[test]
fn names_do_not_change_the_graph() {
    let build = |is_named: bool| {
        let b = GraphBuilder::new();
        let p = b.parameter("p", DType::F32, [4, 3]).unwrap();
        if is_named {
            b.name_axes(&p, ["t", "y"]).unwrap();
        }
        let mean = b.along(Reduction::Mean, &p, [0]).unwrap();
        b.finish(&[b.numpy().sub(&p, &mean).unwrap()]).unwrap()
    };
    assert_eq!(build(true), build(false));
}
