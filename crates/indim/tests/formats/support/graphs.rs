//! Graphs with arguments, for the tests of writers.

use indim_builder::{GraphBuilder, Index, ReduceOptions, Reduction, Value};
use indim_graph::{
    Array, AxisSlice, Graph, GraphError, ScatterMode, TakeMode, evaluate, remove_unused,
};
use indim_ops::{Arity, DType, DTypeClass, Op, ReduceOp, ScatterOp, SearchSide};
use indim_shape::RuleSet;

/// A graph and its arguments.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) graph: Graph,
    pub(crate) arguments: Vec<Array>,
}

/// Small numbers of a type; floats include fractions, zeros, infinities and NaN.
pub(crate) fn numbers(dtype: DType, count: usize, first: usize) -> Array {
    let floats = [0.5, -1.5, 2.0, -0.0, 0.25, -3.0, f64::INFINITY, 0.0, 1.0, f64::NAN, -0.75, 1e-3];
    let whole = [1, 3, -2, 5, -7, 2, 4, -1, 6, -3, 7, 2];
    let number = |i: usize| match dtype.class() {
        DTypeClass::Float => floats[(i + first) % floats.len()],
        DTypeClass::Storage if dtype.is_float8() => floats[(i + first) % floats.len()],
        DTypeClass::Unsigned => f64::from(i32::abs(whole[(i + first) % whole.len()])),
        DTypeClass::Bool => f64::from((i + first).is_multiple_of(2)),
        _ => f64::from(whole[(i + first) % whole.len()]),
    };
    let array = Array::new([count], (0..count).map(number).collect::<Vec<f64>>()).unwrap();
    let b = GraphBuilder::new();
    let converted = b.convert(b.constant(array), dtype).unwrap();
    evaluate(&b.finish(&[converted]).unwrap(), &[]).unwrap().remove(0)
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

/// Each operation on each element type that it supports.
pub(crate) fn operations() -> Vec<(Op, DType, Case)> {
    let all = Op::ALL.iter().flat_map(|&op| DType::ALL.iter().map(move |&dtype| (op, dtype)));
    let case = |(op, dtype): (Op, DType)| {
        let (graph, arguments) = graph_of(op, dtype).ok()?;
        Some((op, dtype, Case { name: format!("{op} {dtype}"), graph, arguments }))
    };
    all.filter_map(case).collect()
}

/// Broadcasts along trailing, leading and permuted axes, and broadcasts of scalars.
pub(crate) fn broadcasts() -> Case {
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
        numbers(DType::F32, 24, 0).reshaped([2, 3, 4]).unwrap(),
        numbers(DType::F32, 3, 0),
        numbers(DType::F32, 8, 1).reshaped([4, 2]).unwrap(),
    ];
    Case { name: "broadcasts".to_owned(), graph, arguments: arguments.to_vec() }
}

/// Slices, reversals, reductions and similar operations.
pub(crate) fn views() -> Case {
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
        b.reshape(b.slice(&x, &[AxisSlice::new(0, 0, 1), AxisSlice::whole(3)]).unwrap(), [3, 0])
            .unwrap(),
    ];
    let graph = b.finish(&results).unwrap();
    let x = numbers(DType::I32, 12, 0).reshaped([4, 3]).unwrap();
    Case { name: "views".to_owned(), graph, arguments: vec![x] }
}

/// A sum over an axis without elements.
pub(crate) fn sum_of_nothing() -> Case {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [4, 3]).unwrap();
    let nothing = b.broadcast_in_dim(&x, &[0, 2], [4, 0, 3]).unwrap();
    let graph = b.finish(&[b.reduce(ReduceOp::Add, nothing, 1).unwrap()]).unwrap();
    let x = numbers(DType::I32, 12, 0).reshaped([4, 3]).unwrap();
    Case { name: "sum of nothing".to_owned(), graph, arguments: vec![x] }
}

/// Matrix products of small numbers: batches, vectors, transposed operands and results, several summed axes.
pub(crate) fn products() -> Vec<Case> {
    let forms: [(&str, &[usize], &[usize]); 10] = [
        ("mk,kn->mn", &[5, 70], &[70, 3]),
        ("km,nk->mn", &[4, 5], &[3, 4]),
        ("mk,kn->nm", &[5, 4], &[4, 3]),
        ("bmk,kn->bmn", &[2, 5, 4], &[4, 3]),
        ("mk,bkn->bmn", &[5, 4], &[2, 4, 3]),
        ("bmk,bnk->bmn", &[2, 5, 4], &[2, 3, 4]),
        ("bhqd,bkhd->bhqk", &[2, 3, 5, 4], &[2, 6, 3, 4]),
        ("abk,kcd->abcd", &[2, 3, 4], &[4, 2, 3]),
        ("mkl,lk->m", &[5, 4, 3], &[3, 4]),
        ("bk,bk->b", &[5, 4], &[5, 4]),
    ];
    let case = |(equation, x, y): (&str, &[usize], &[usize]), dtype: DType| {
        let b = GraphBuilder::new();
        let shapes = [x, y];
        let operands = [0, 1].map(|index| b.parameter(["x", "y"][index], dtype, shapes[index]));
        let operands = operands.map(Result::unwrap);
        let graph = b.finish(&[b.einsum(equation, &operands).unwrap()]).unwrap();
        let array = |index: usize| {
            let count = shapes[index].iter().product();
            let numbers = (0..count).map(|i| ((i * 7 + index) % 11) as f64 / 4.0 - 1.0);
            let numbers = Array::new(shapes[index], numbers.collect::<Vec<f64>>()).unwrap();
            let b = GraphBuilder::new();
            let converted = b.convert(b.constant(numbers), dtype).unwrap();
            evaluate(&b.finish(&[converted]).unwrap(), &[]).unwrap().remove(0)
        };
        let name =
            format!("product {} {dtype}", equation.replace(",", " by ").replace("->", " to "));
        Case { name, graph, arguments: vec![array(0), array(1)] }
    };
    let types = [DType::F32, DType::F64, DType::I32, DType::I8];
    types.iter().flat_map(|&dtype| forms.map(|form| case(form, dtype))).collect()
}

/// Functions of f32 along axes, with their ONNX operators.
pub(crate) fn functions_along() -> Vec<(&'static str, Case)> {
    use Reduction::{LayerNorm, LogSoftmax, LogSumExp, Mean, Norm, Prod, Softmax, Sum};
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3, 4]).unwrap();
    let gain = b.parameter("gain", DType::F32, [4]).unwrap();
    let bias = b.parameter("bias", DType::F32, [4]).unwrap();
    let kept = |axes: &[i64]| ReduceOptions::axes(axes).keepdims(true);
    let along = |function, axes: &[i64]| b.along(function, &x, ReduceOptions::axes(axes)).unwrap();
    let layer = |gain: &Value, bias: &Value| {
        let operands = [x.clone(), gain.clone(), bias.clone()];
        b.along_of(LayerNorm, &operands, [-1], &RuleSet::None).unwrap()
    };
    let number = |number: f32| b.scalar(number);
    let cases = [
        ("Softmax", along(Softmax, &[1])),
        ("Softmax", along(Softmax, &[1, 2])),
        ("LogSoftmax", along(LogSoftmax, &[-1])),
        ("ReduceLogSumExp", along(LogSumExp, &[0, 2])),
        ("ReduceLogSumExp", b.along(LogSumExp, &x, kept(&[1])).unwrap()),
        ("ReduceMean", along(Mean, &[1, 2])),
        ("ReduceSum", b.along(Sum, &x, kept(&[0, 1])).unwrap()),
        ("ReduceProd", along(Prod, &[2])),
        ("ReduceL2", along(Norm, &[0, 1, 2])),
        ("LayerNormalization", layer(&gain, &bias)),
        ("LayerNormalization", layer(&number(2.0), &number(0.5))),
    ];
    let case = |(operator, value): (&'static str, Value)| {
        let graph = remove_unused(&b.finish(&[value]).unwrap()).into_owned();
        let arguments = vec![
            small_numbers(24).reshaped([2, 3, 4]).unwrap(),
            small_numbers(4),
            small_numbers(4),
        ];
        (operator, Case { name: operator.to_owned(), graph, arguments })
    };
    cases.into_iter().map(case).collect()
}

fn small_numbers(count: usize) -> Array {
    let number = |index: usize| ((index * 7) % 5) as f32 * 0.5 - 0.75 + index as f32 * 0.125;
    Array::new([count], (0..count).map(number).collect::<Vec<f32>>()).unwrap()
}

/// Modes with `u64` indices that a cast to `i64` makes negative, and the largest that it does not.
pub(crate) fn large_indices() -> Vec<(TakeMode, Vec<u64>)> {
    let all = [u64::MAX, u64::MAX - 2, 1 << 63, i64::MAX as u64, 4];
    let single = all.map(|index| (TakeMode::Error, vec![index]));
    single.into_iter().chain([TakeMode::Clip, TakeMode::Wrap].map(|m| (m, all.to_vec()))).collect()
}

/// A gather of five elements, as constants because OpenVINO's reader wants them.
pub(crate) fn gather_of_five(mode: TakeMode, indices: &[u64]) -> Graph {
    let b = GraphBuilder::new();
    let x = b.constant(Array::new([5], vec![0.0f32, 1.0, 2.0, 3.0, 4.0]).unwrap());
    let i = b.constant(Array::new([indices.len()], indices.to_vec()).unwrap());
    b.finish(&[b.take(&x, &i, 0, mode).unwrap()]).unwrap()
}

/// Gathers along each axis under each mode, by indices of each type.
pub(crate) fn gathers() -> Vec<Case> {
    let types = [DType::I8, DType::U8, DType::I32, DType::U32, DType::I64, DType::U64];
    let modes = [TakeMode::Error, TakeMode::Clip, TakeMode::Wrap];
    let all = types.into_iter().flat_map(|dtype| modes.map(|mode| (dtype, mode)));
    let one = |(dtype, mode): (DType, TakeMode)| {
        let is_signed = dtype.class() == DTypeClass::Signed;
        let given = match (mode, is_signed) {
            (TakeMode::Error, false) => [2.0, 0.0, 1.0, 2.0],
            (TakeMode::Error, true) => [2.0, -3.0, -1.0, 0.0],
            (_, false) => [2.0, 100.0, 1.0, 7.0],
            (_, true) => [2.0, -100.0, -1.0, 7.0],
        };
        let x = Array::new([3, 3, 3], (0..27).collect::<Vec<i32>>()).unwrap();
        let indices = converted(&given, dtype).reshaped([2, 2]).unwrap();
        let b = GraphBuilder::new();
        let value = b.parameter("x", DType::I32, [3, 3, 3]).unwrap();
        let index = b.parameter("i", dtype, [2, 2]).unwrap();
        let outputs = [0, 1, 2].map(|axis| b.take(&value, &index, axis, mode).unwrap());
        let name = format!("take-{dtype}-{mode}");
        Case { name, graph: b.finish(&outputs).unwrap(), arguments: vec![x, indices] }
    };
    all.map(one).collect()
}

/// Numbers as elements of a type.
fn converted(numbers: &[f64], dtype: DType) -> Array {
    let b = GraphBuilder::new();
    let list = b.constant(Array::new([numbers.len()], numbers.to_vec()).unwrap());
    let graph = b.finish(&[b.convert(list, dtype).unwrap()]).unwrap();
    evaluate(&graph, &[]).unwrap().remove(0)
}

/// Scatters of each operation on each element type, under each mode.
pub(crate) fn scatters() -> Vec<Case> {
    let ops = [ScatterOp::Set, ScatterOp::Add, ScatterOp::Mul, ScatterOp::Min, ScatterOp::Max];
    let modes = [TakeMode::Error, TakeMode::Clip, TakeMode::Wrap].map(ScatterMode::Take);
    let modes = [&modes[..], &[ScatterMode::Drop]].concat();
    let all = ops.into_iter().flat_map(|op| DType::ALL.iter().map(move |&dtype| (op, dtype)));
    let one = |(number, (op, dtype)): (usize, (ScatterOp, DType))| {
        let mode = modes[number % modes.len()];
        let given = match mode {
            ScatterMode::Take(TakeMode::Error) => [2, 0, -1, -3, 1],
            _ => [2, 0, -1, 7, 2],
        };
        let [x, updates] = [(9, [3, 3]), (15, [3, 5])].map(|(count, shape)| {
            let numbers: Vec<f64> = (0..count).map(|at| f64::from(at * 7 % 5)).collect();
            converted(&numbers, dtype).reshaped(shape).unwrap()
        });
        let indices = Array::new([5], given.to_vec()).unwrap();
        let b = GraphBuilder::new();
        let value = b.parameter("x", dtype, [3, 3]).unwrap();
        let index = b.parameter("i", DType::I32, [5]).unwrap();
        let update = b.parameter("u", dtype, [3, 5]).unwrap();
        let rows = b.transpose(&update, &[1, 0]).unwrap();
        let outputs = [
            b.scatter(op, &value, &index, &update, 1, mode).unwrap(),
            b.scatter(op, &value, &index, rows, 0, mode).unwrap(),
        ];
        let name = format!("{op:?}-{dtype}-{mode}");
        Case { name, graph: b.finish(&outputs).unwrap(), arguments: vec![x, indices, updates] }
    };
    all.filter(|(op, dtype)| op.takes(*dtype)).enumerate().map(one).collect()
}

/// Sorts and searches of each element type but complex numbers.
pub(crate) fn sorts() -> Vec<Case> {
    let one = |&dtype: &DType| {
        let special = [2.0, f64::NAN, -0.0, 5.0, 0.0, 2.0, -1.0, f64::NEG_INFINITY];
        let numbers = if dtype.is_float() { special } else { [2., 9., 0., 5., 0., 2., 1., 9.] };
        let x = converted(&numbers, dtype).reshaped([2, 4]).unwrap();
        let y = converted(&[1., 0., 1., 0., 1., 1., 0., 0.], DType::U8).reshaped([2, 4]).unwrap();
        let b = GraphBuilder::new();
        let value = b.parameter("x", dtype, [2, 4]).unwrap();
        let other = b.parameter("y", DType::U8, [2, 4]).unwrap();
        let table = b.sort(b.reshape(&value, [8]).unwrap(), 0, false).unwrap();
        let mut outputs = vec![
            b.sort(&value, 1, false).unwrap(),
            b.sort(&value, 0, true).unwrap(),
            b.argsort(&value, 1, true).unwrap(),
            b.argsort_by(&[other.clone(), value.clone()], 1, false).unwrap(),
            b.argsort_by(&[value.clone(), other.clone()], 1, true).unwrap(),
        ];
        for side in [SearchSide::Left, SearchSide::Right] {
            outputs.push(b.search_sorted(&table, &value, side).unwrap());
        }
        let graph = b.finish(&outputs).unwrap();
        Case { name: format!("sorts-{dtype}"), graph, arguments: vec![x, y] }
    };
    let orders =
        |dtype: &&DType| !matches!(dtype.class(), DTypeClass::Complex | DTypeClass::Storage);
    DType::ALL.iter().filter(orders).map(one).collect()
}
