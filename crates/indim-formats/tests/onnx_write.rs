//! Graphs as models of ONNX: read back they compute what they computed.
#![cfg(feature = "onnx")]

mod support;

use indim_builder::{GraphBuilder, Index, Value};
use indim_formats::{Format, FormatError, WriteOptions, Written, write};
use indim_graph::{Array, AxisSlice, Graph, GraphError, TakeMode, evaluate};
use indim_ops::{Arity, ArrayData, DType, DTypeClass, Op, ReduceOp};
use indim_shape::RuleSet;
use support::samples::disagreements;

fn written(graph: &Graph, opset: u32) -> Result<Written, FormatError> {
    let names: Vec<String> = (0..graph.outputs().len()).map(|i| format!("result{i}")).collect();
    write(Format::Onnx, graph, &names, &WriteOptions { opset: Some(opset), ..Default::default() })
}

/// Numbers of a type: small ones, and for floats fractions, zeros, infinities and NaN.
fn numbers(dtype: DType, count: usize, first: usize) -> Array {
    let floats = [0.5, -1.5, 2.0, -0.0, 0.25, -3.0, f64::INFINITY, 0.0, 1.0, f64::NAN, -0.75, 1e-3];
    let whole = [1, 3, -2, 5, -7, 2, 4, -1, 6, -3, 7, 2];
    let number = |i: usize| match dtype.class() {
        DTypeClass::Float => floats[(i + first) % floats.len()],
        DTypeClass::Unsigned => f64::from(i32::abs(whole[(i + first) % whole.len()])),
        DTypeClass::Bool => f64::from((i + first).is_multiple_of(2)),
        _ => f64::from(whole[(i + first) % whole.len()]),
    };
    let array = Array::new([count], (0..count).map(number).collect::<Vec<f64>>()).unwrap();
    let b = GraphBuilder::new();
    let converted = b.convert(b.constant(array), dtype).unwrap();
    evaluate(&b.finish(&[converted]).unwrap(), &[]).unwrap().remove(0)
}

/// Whether the model computes what the graph computes.
fn check(graph: &Graph, opset: u32, arguments: &[Array], what: &str) {
    let written = written(graph, opset).unwrap_or_else(|error| panic!("{what}: {error}"));
    let model = support::read("written.onnx", &written.content);
    let model = model.unwrap_or_else(|error| panic!("{what}: {error} {:?}", error.place));
    let found = support::run(&*model, arguments).unwrap_or_else(|error| panic!("{what}: {error}"));
    let differences = disagreements(&found, &evaluate(graph, arguments).unwrap());
    assert!(differences.is_empty(), "{what}, opset {opset}: {differences:?}");
}

fn graph_of(op: Op, dtype: DType) -> Result<(Graph, Vec<Array>), GraphError> {
    let b = GraphBuilder::new();
    let types = match op.arity() {
        Arity::Ternary if op == Op::Select => vec![DType::Bool, dtype, dtype],
        arity => vec![dtype; arity.count()],
    };
    let mut operands: Vec<Value> = Vec::new();
    for (index, dtype) in types.iter().enumerate() {
        operands.push(b.parameter(&format!("x{index}"), *dtype, [12])?);
    }
    let graph = b.finish(&[b.elementwise(op, &operands, &RuleSet::None)?])?;
    let arguments = types.iter().enumerate().map(|(i, dtype)| numbers(*dtype, 12, 5 * i)).collect();
    Ok((graph, arguments))
}

/// What ONNX has no operators for, on real numbers.
const REFUSED: &[Op] = &[
    Op::Atan2,
    Op::Clz,
    Op::Imag,
    Op::Mulhi,
    Op::Nextafter,
    Op::Popcnt,
    Op::ShrArithmetic,
    Op::TotalEq,
    Op::TotalGe,
    Op::TotalGt,
    Op::TotalLe,
    Op::TotalLt,
    Op::TotalNe,
    Op::Complex,
];

#[test]
fn operations_are_operators_or_made_of_them() {
    let mut count = 0;
    for (&op, &dtype) in
        Op::ALL.iter().flat_map(|op| DType::ALL.iter().map(move |dtype| (op, dtype)))
    {
        let Ok((graph, arguments)) = graph_of(op, dtype) else { continue };
        let what = format!("{op} {dtype}");
        let is_complex = dtype.class() == DTypeClass::Complex;
        if REFUSED.contains(&op) || is_complex {
            let error = written(&graph, 21).expect_err(&what);
            assert_eq!(error.code(), "unsupported-op", "{what}");
            continue;
        }
        for opset in [18, 21, 28] {
            check(&graph, opset, &arguments, &what);
        }
        count += 1;
    }
    assert!(count > 300, "{count} operations on types");
}

#[test]
fn broadcasts_are_numpys_where_axes_end_last_and_moved_there_else() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3, 4]).unwrap();
    let v = b.parameter("v", DType::F32, [3]).unwrap();
    let m = b.parameter("m", DType::F32, [4, 2]).unwrap();
    let channels = b.add(&x, &v, &[1]).unwrap();
    let permuted = b.broadcast_in_dim(&m, &[2, 0], [2, 3, 4]).unwrap();
    let only_repeated = b.broadcast_in_dim(v.exp(), &[1], [2, 3, 4]).unwrap();
    let scaled = b.mul(channels, permuted, &[]).unwrap() * 2.5f32;
    let graph = b.finish(&[scaled, only_repeated, v.clone(), x.clone(), v]).unwrap();
    let arguments = [
        numbers(DType::F32, 24, 0).reshaped([2, 3, 4].into()).unwrap(),
        numbers(DType::F32, 3, 0),
        numbers(DType::F32, 8, 1).reshaped([4, 2].into()).unwrap(),
    ];
    check(&graph, 21, &arguments, "broadcasts");
}

#[test]
fn views_and_reductions() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [4, 3]).unwrap();
    let slices = [AxisSlice::new(3, 4, -1), AxisSlice::new(0, 2, 2)];
    let all = Index::Slice { start: None, stop: None, step: None };
    let results = [
        b.slice(&x, &slices).unwrap(),
        b.reverse(&x, &[1]).unwrap(),
        b.transpose(&x, &[1, 0]).unwrap(),
        b.reshape(&x, [2, 6]).unwrap(),
        b.concatenate(&[&x, &x], 1).unwrap(),
        b.pad(&x, 7, &[(1, 0, 0), (-1, 1, 0)]).unwrap(),
        b.index(&x, &[all, Index::At(1)]).unwrap(),
        b.iota(DType::F32, [2, 5, 2], 1).unwrap(),
        b.iota(DType::I16, [3], 0).unwrap(),
        b.reduce(ReduceOp::Add, &x, 0).unwrap(),
        b.reduce(ReduceOp::Max, b.broadcast_in_dim(&x, &[0, 2], [4, 2, 3]).unwrap(), 1).unwrap(),
        b.reduce(ReduceOp::And, x.gt(0), 1).unwrap(),
        b.reduce(ReduceOp::Mul, x.convert(DType::I8), 1).unwrap(),
        b.reduce(ReduceOp::Add, b.broadcast_in_dim(&x, &[0, 2], [4, 0, 3]).unwrap(), 1).unwrap(),
        b.reshape(b.slice(&x, &[AxisSlice::new(0, 0, 1), AxisSlice::whole(3)]).unwrap(), [3, 0])
            .unwrap(),
    ];
    let graph = b.finish(&results).unwrap();
    let x = numbers(DType::I32, 12, 0).reshaped([4, 3].into()).unwrap();
    check(&graph, 18, core::slice::from_ref(&x), "views");
    check(&graph, 28, &[x], "views");
}

#[test]
fn what_is_composed_is_listed_or_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let graph = b.finish(&[x.exp2() + x.exp2().log2() + b.erfc(&x).unwrap()]).unwrap();
    let listed = written(&graph, 21).unwrap().composed;
    let names: Vec<(&str, usize)> =
        listed.iter().map(|c| (c.operation.as_str(), c.count)).collect();
    assert_eq!(names, [("erfc", 1), ("exp2", 1), ("log2", 1)]);
    let exact = WriteOptions { exact: true, ..Default::default() };
    let error = write(Format::Onnx, &graph, &["y".to_owned()], &exact).unwrap_err();
    assert_eq!(error.code(), "unsupported-op");
    let old = WriteOptions { opset: Some(7), ..Default::default() };
    assert_eq!(
        write(Format::Onnx, &graph, &["y".to_owned()], &old).unwrap_err().code(),
        "unsupported"
    );
}

#[test]
fn elements_that_are_taken_have_no_reader_yet_but_a_writer() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4]).unwrap();
    let i = b.parameter("i", DType::U8, [2]).unwrap();
    let graph = b.finish(&[b.take(&x, &i, 0, TakeMode::Clip).unwrap()]).unwrap();
    let written = written(&graph, 21).unwrap();
    let error = support::read("taken.onnx", &written.content).err().expect("an error");
    assert_eq!(error.code(), "unsupported-op");
}

#[test]
fn constants_keep_their_bits_and_stand_once() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let payload =
        Array::from_data([2], ArrayData::F32(vec![f32::from_bits(0x7fc0_0123), -0.0])).unwrap();
    let constant = b.constant(payload.clone());
    let graph = b.finish(&[b.add(&x, &constant, &[]).unwrap(), constant]).unwrap();
    let model = support::read("c.onnx", written(&graph, 21).unwrap().content).unwrap();
    let results = support::run(&*model, &[numbers(DType::F32, 2, 0)]).unwrap();
    assert_eq!(results[1], payload);
}
