//! Nests that are unrolled along a short reduced axis.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, TakeMode, optimize};
use indim_loops::loop_nest::LoopNests;
use indim_loops::lower;
use indim_loops::unroll::{MAX_UNROLLED, UnrolledNest, UnrolledSource};
use indim_ops::{DType, ReduceOp};

/// The nests of the outputs.
fn nests(b: &GraphBuilder, outputs: &[Value]) -> LoopNests {
    lower(&optimize(&b.finish(outputs).unwrap()))
}

/// The sum in f64 along an axis, rounded.
fn sum(b: &GraphBuilder, x: &Value, axis: i64) -> Value {
    let sum = b.reduce(ReduceOp::Add, b.convert(x, DType::F64).unwrap(), axis).unwrap();
    b.convert(sum, DType::F32).unwrap()
}

#[test]
fn a_sum_begins_with_its_identity_and_keeps_its_order() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [5, 3, 7]).unwrap();
    let nests = nests(&b, &[sum(&b, &x, 1)]);
    let unrolled = UnrolledNest::new(&nests.nests[0], &nests.constants, 3).unwrap();
    let text = "\
for i in [5, 7] {
  a0 = load parameter 0 : f32[5, 3, 7] [i0, 0, i1]
  a1 = load parameter 0 : f32[5, 3, 7] [i0, 1, i1]
  a2 = load parameter 0 : f32[5, 3, 7] [i0, 2, i1]
  a3 = load constant 0 : f64[] []
  t0 = convert.f32.f64 a0
  t1 = convert.f32.f64 a1
  t2 = convert.f32.f64 a2
  t3 = add.f64 a3, t0
  t4 = add.f64 t3, t1
  t5 = add.f64 t4, t2
  t6 = convert.f64.f32 t5
  store t6 -> output 0 : f32[5, 7] [i0, i1]
}";
    assert_eq!(unrolled.nest.to_string(), text);
    assert_eq!(unrolled.constants[..], [Array::from_scalar(0.0f64)]);
    let element = |position| UnrolledSource::Access { access: 0, position };
    let identity = UnrolledSource::Identity(0);
    assert_eq!(unrolled.sources, [element(0), element(1), element(2), identity]);
}

#[test]
fn operands_that_do_not_move_are_read_once_and_stores_share_values() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2, 9]).unwrap();
    let y = b.parameter("y", DType::I32, [9]).unwrap();
    let product = b.numpy().mul(&x, &y).unwrap();
    let outputs = [ReduceOp::Max, ReduceOp::Add].map(|op| b.reduce(op, &product, 0).unwrap());
    let nests = nests(&b, &outputs);
    let unrolled = UnrolledNest::new(&nests.nests[0], &nests.constants, 2).unwrap();
    let text = "\
for i in [9] {
  a0 = load parameter 0 : i32[2, 9] [0, i0]
  a1 = load parameter 0 : i32[2, 9] [1, i0]
  a2 = load parameter 1 : i32[9] [i0]
  t0 = mul.i32 a0, a2
  t1 = mul.i32 a1, a2
  t2 = max.i32 t0, t1
  t3 = add.i32 t0, t1
  store t2 -> output 0 : i32[9] [i0]
  store t3 -> output 1 : i32[9] [i0]
}";
    assert_eq!(unrolled.nest.to_string(), text);
}

#[test]
fn a_reversed_axis_begins_at_its_end() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [9, 2]).unwrap();
    let reversed = b.reverse(&x, &[1]).unwrap();
    let nests = nests(&b, &[b.reduce(ReduceOp::Min, reversed, 1).unwrap()]);
    let unrolled = UnrolledNest::new(&nests.nests[0], &[], 2).unwrap();
    let text = unrolled.nest.to_string();
    assert!(text.contains("a0 = load parameter 0 : i32[9, 2] [i0, 1]"), "{text}");
    assert!(text.contains("a1 = load parameter 0 : i32[9, 2] [i0, 0]"), "{text}");
}

#[test]
fn other_nests_are_not_unrolled() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [9, 3]).unwrap();
    let indices = b.parameter("i", DType::I64, [9]).unwrap();
    let reduced = |value: &Value, op| b.reduce(op, value, 1).unwrap();
    let is_unrolled = |output: Value, length| {
        let nests = nests(&b, &[output]);
        UnrolledNest::new(&nests.nests[0], &nests.constants, length).is_some()
    };
    for length in 0..12 {
        let is_short = (2..=MAX_UNROLLED).contains(&length);
        assert_eq!(is_unrolled(reduced(&x, ReduceOp::Max), length), is_short, "{length}");
    }
    assert!(!is_unrolled(reduced(&x, ReduceOp::ArgMax), 3), "a search");
    assert!(!is_unrolled(&x + 1, 3), "no reduction");
    let gathered = b.take(&x, &indices, 0, TakeMode::Clip).unwrap();
    assert!(!is_unrolled(reduced(&gathered, ReduceOp::Max), 3), "a gather");
}
