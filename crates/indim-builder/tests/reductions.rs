//! Reductions in graphs: results and errors.

use indim_builder::GraphBuilder;
use indim_graph::{Array, GraphError, evaluate};
use indim_ops::{DType, Element, ReduceOp};

/// The reduction `op` of `x` along `axis`.
fn reduce<T: Element, R: Element>(op: ReduceOp, shape: &[usize], x: &[T], axis: i64) -> Vec<R> {
    let b = GraphBuilder::new();
    let parameter = b.parameter("x", T::DTYPE, shape).unwrap();
    let graph = b.finish(&[b.reduce(op, parameter, axis).unwrap()]).unwrap();
    let results =
        evaluate(&graph, &[Array::from_data(shape, T::into_data(x.to_vec())).unwrap()]).unwrap();
    results[0].element_slice::<R>().unwrap().to_vec()
}

#[test]
fn the_reduced_axis_is_removed() {
    let x: Vec<i32> = (0..24).collect();
    let shape = [2, 3, 4];
    let along = |op, axis| reduce::<i32, i32>(op, &shape, &x, axis);
    assert_eq!(along(ReduceOp::Add, 0)[..4], [12, 14, 16, 18]);
    assert_eq!(along(ReduceOp::Add, 1), [12, 15, 18, 21, 48, 51, 54, 57]);
    assert_eq!(along(ReduceOp::Max, 2), [3, 7, 11, 15, 19, 23]);
    assert_eq!(along(ReduceOp::Xor, 2), [0; 6]);
}

#[test]
fn no_elements_give_the_identity() {
    assert_eq!(reduce::<f64, f64>(ReduceOp::Add, &[2, 0], &[], 1), [0.0, 0.0]);
    assert_eq!(reduce::<i8, i8>(ReduceOp::Mul, &[0], &[], 0), [1]);
    assert_eq!(reduce::<f32, f32>(ReduceOp::Max, &[0], &[], 0), [f32::NEG_INFINITY]);
    assert_eq!(reduce::<u8, u8>(ReduceOp::Min, &[0], &[], 0), [255]);
    assert_eq!(reduce::<bool, bool>(ReduceOp::And, &[0], &[], 0), [true]);
    assert!(reduce::<f32, f32>(ReduceOp::Fmax, &[0], &[], 0)[0].is_nan());
}

#[test]
fn an_arg_reduction_returns_the_first_nan_or_the_first_extreme() {
    let at = |x: &[f32], op| reduce::<f32, i64>(op, &[x.len()], x, 0)[0];
    let (largest, smallest) = (ReduceOp::ArgMax, ReduceOp::ArgMin);
    assert_eq!(at(&[1.0, 3.0, 3.0], largest), 1);
    assert_eq!(at(&[0.0, -0.0], largest), 0);
    assert_eq!(at(&[0.0, -0.0], smallest), 0);
    assert_eq!(at(&[-0.0, 0.0], largest), 0);
    assert_eq!(at(&[1.0, f32::NAN, f32::INFINITY, f32::NAN], largest), 1);
    assert_eq!(at(&[1.0, f32::NAN, f32::NEG_INFINITY], smallest), 1);
    assert_eq!(at(&[f32::NEG_INFINITY; 3], largest), 0);
    assert_eq!(reduce::<u8, i64>(largest, &[4], &[0, 0, 0, 0], 0), [0]);
    assert_eq!(reduce::<bool, i64>(smallest, &[3], &[true, true, false], 0), [2]);
}

fn mistake(op: ReduceOp, dtype: DType, shape: &[usize], axis: i64) -> GraphError {
    let b = GraphBuilder::new();
    let x = b.parameter("x", dtype, shape).unwrap();
    b.reduce(op, x, axis).unwrap_err()
}

#[test]
fn errors_offer_a_repair() {
    let narrow = mistake(ReduceOp::Add, DType::F32, &[3], 0);
    assert_eq!((narrow.code(), narrow.label()), ("element-type-not-allowed", Some("TY1")));
    assert!(narrow.draw().contains("convert it: f64(x), and the result back"), "{}", narrow.draw());
    assert_eq!(mistake(ReduceOp::Max, DType::F32, &[3], 1).code(), "axis-out-of-range");
    assert_eq!(mistake(ReduceOp::Max, DType::F32, &[3], -1).code(), "axis-out-of-range");
    let empty = mistake(ReduceOp::ArgMax, DType::F32, &[2, 0], 1);
    assert_eq!(empty.headline(), "`argmax` of nothing: axis 1 of `x` has size 0");
    assert_eq!(empty.code(), "empty-reduction");
    let complex = mistake(ReduceOp::Max, DType::C64, &[3], 0);
    assert_eq!(complex.code(), "element-type-not-allowed");
}

#[test]
fn removing_an_empty_axis_may_be_too_large() {
    let long = isize::MAX as usize / 4;
    assert_eq!(mistake(ReduceOp::Add, DType::F64, &[0, long], 0).code(), "too-large");
}
