//! Reductions along short axes: the bits of the reference evaluator for every reduction and element type, for
//! rows, columns and pairs, in arrays that end with their last element.

mod executors;

use executors::executors;
use indim_builder::{GraphBuilder, Value};
use indim_cpu::{Array, ArrayView, RunOptions, Threads, compile, compile_symbolic};
use indim_graph::{AxisWindow, Graph, SymbolicGraph, evaluate};
use indim_ops::{ArrayType, DType, ReduceOp};

/// Elements of any type: special values and numbers of different magnitudes.
fn elements(array_type: &ArrayType, seed: u64) -> Array {
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310];
    let number = |index: u64| {
        let bits = (index + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        match bits % 8 {
            0 => special[(bits >> 3) as usize % special.len()],
            _ => (bits as f64 * 2f64.powi(-52) - 1.0) * 2f64.powi((bits % 23) as i32 - 11),
        }
    };
    let count: usize = array_type.shape.iter().product();
    let numbers = Array::from((0..count as u64).map(number).collect::<Vec<f64>>());
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [count]).unwrap();
    let converted = b.convert(&x, array_type.dtype).unwrap();
    let shaped = b.reshape(converted, array_type.shape.clone()).unwrap();
    evaluate(&b.finish(&[shaped]).unwrap(), &[numbers]).unwrap().remove(0)
}

/// Compares every executor, for one and three threads, with the evaluator.
fn check(graph: &Graph, arrays: &[Array], name: &str) {
    let expected = evaluate(graph, arrays).unwrap();
    let views: Vec<ArrayView<'_>> = arrays.iter().map(ArrayView::from).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for options in executors() {
        let executable = compile(graph, &options).unwrap();
        for threads in [Threads::Caller, Threads::Pool(&pool)] {
            let run = RunOptions::new().threads(threads);
            let results = executable.run_with(&views, &run).unwrap();
            assert_eq!(results, expected, "{name}, {options:?}");
        }
    }
}

/// The reductions of an array of this type along an axis; sums also in the types that they widen to.
fn reductions(b: &GraphBuilder, x: &Value, dtype: DType, axis: i64) -> Vec<Value> {
    let all = ReduceOp::ALL.iter().filter(|op| !op.is_arg_reduction());
    let folds = all.filter(|op| op.takes(dtype)).map(|&op| b.reduce(op, x, axis).unwrap());
    let mut folds: Vec<Value> = folds.collect();
    // A complex sum has an operation, the conversion.
    let is_wide = |wide: DType| {
        ReduceOp::Add.widens(dtype, wide) || (dtype, wide) == (DType::C64, DType::C128)
    };
    let wide = DType::ALL.iter().filter(|&&wide| is_wide(wide));
    folds.extend(wide.map(|&wide| {
        let sum = b.reduce(ReduceOp::Add, b.convert(x, wide).unwrap(), axis).unwrap();
        b.convert(sum, dtype).unwrap()
    }));
    folds
}

/// The graph of all reductions along an axis of one array.
fn graph(dtype: DType, shape: &[usize], axis: i64) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", dtype, shape).unwrap();
    b.finish(&reductions(&b, &x, dtype, axis)).unwrap()
}

#[test]
fn every_reduction_of_every_type() {
    for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_storage()) {
        for length in 2..=9 {
            for (shape, axis) in [(vec![3, length, 37], 1), (vec![41, length], 1)] {
                let x = elements(&ArrayType::new(dtype, &shape[..]), length as u64);
                let name = format!("{dtype} {shape:?} along {axis}");
                check(&graph(dtype, &shape, axis), &[x], &name);
            }
        }
    }
}

#[test]
fn rows_of_every_length() {
    for dtype in [DType::F32, DType::F64, DType::I32] {
        for length in [2, 3, 5, 8] {
            for columns in (1..=35).chain([47, 48, 49, 63, 64, 65]).chain([127, 128, 1030]) {
                let shape = [5, length, columns];
                let x = elements(&ArrayType::new(dtype, &shape[..]), columns as u64);
                check(&graph(dtype, &shape, 1), &[x], &format!("{dtype} {shape:?}"));
            }
        }
    }
}

/// Windows along the last axis that share elements, though neighbours are apart by several.
#[test]
fn windows_that_overlap_at_a_stride() {
    for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_storage()) {
        for (size, stride, dilation) in
            [(3, 2, 1), (4, 2, 1), (5, 3, 1), (8, 2, 1), (2, 3, 2), (3, 4, 2)]
        {
            for columns in [17, 57, 130] {
                let shape = [3, 5, columns];
                let x = elements(&ArrayType::new(dtype, &shape[..]), columns as u64);
                let b = GraphBuilder::new();
                let parameter = b.parameter("x", dtype, shape).unwrap();
                let window = AxisWindow::new(size, stride, dilation);
                let windows = b.window(&parameter, 2, window).unwrap();
                let graph = b.finish(&reductions(&b, &windows, dtype, 3)).unwrap();
                check(&graph, &[x], &format!("{dtype} {shape:?} {window}"));
            }
        }
    }
}

/// The sums of the squared differences between points, and the least of each row.
fn distances(dtype: DType, [rows, columns, coordinates]: [usize; 3]) -> Graph {
    let b = GraphBuilder::new();
    let p = b.parameter("p", dtype, [rows, 1, coordinates]).unwrap();
    let q = b.parameter("q", dtype, [1, columns, coordinates]).unwrap();
    let numpy = b.numpy();
    let squares = numpy.sub(&p, &q).unwrap().square();
    let sums = b.reduce(ReduceOp::Add, b.convert(&squares, DType::F64).unwrap(), 2).unwrap();
    let sums = b.convert(sums, dtype).unwrap();
    b.finish(&[sums.clone(), b.reduce(ReduceOp::Min, &sums, 1).unwrap()]).unwrap()
}

#[test]
fn pairs_of_points() {
    for dtype in [DType::F32, DType::F64] {
        for coordinates in [2, 3, 5, 8] {
            for columns in [1, 15, 31, 32, 33, 100, 512, 513, 1025, 2050] {
                for rows in [1, 3, 17, 40] {
                    let sizes = [rows, columns, coordinates];
                    let p = elements(&ArrayType::new(dtype, &[rows, 1, coordinates][..]), 1);
                    let q = elements(&ArrayType::new(dtype, &[1, columns, coordinates][..]), 2);
                    check(&distances(dtype, sizes), &[p, q], &format!("{dtype} {sizes:?}"));
                }
            }
        }
    }
}

#[test]
fn a_program_for_any_sizes_is_unrolled_for_those_of_a_call() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [6, 5, 70]).unwrap();
    let sum = b.reduce(ReduceOp::Add, b.convert(&x, DType::F64).unwrap(), 1).unwrap();
    let graph = b.finish(&[b.reduce(ReduceOp::Max, &x, 1).unwrap(), sum]).unwrap();
    for options in executors() {
        let program =
            compile_symbolic(&SymbolicGraph::new(&graph, &b.size_facts()), &options).unwrap();
        for shape in [[6, 3, 70], [40, 2, 33], [5, 6, 64], [7, 4, 128], [9, 3, 50]] {
            let x = elements(&ArrayType::new(DType::F32, &shape[..]), 7);
            let b = GraphBuilder::new();
            let p = b.parameter("x", DType::F32, shape).unwrap();
            let sum = b.reduce(ReduceOp::Add, b.convert(&p, DType::F64).unwrap(), 1).unwrap();
            let outputs = [b.reduce(ReduceOp::Max, &p, 1).unwrap(), sum];
            let expected =
                evaluate(&b.finish(&outputs).unwrap(), std::slice::from_ref(&x)).unwrap();
            let results = program.run(&[ArrayView::from(&x)]).unwrap();
            assert_eq!(results, expected, "{shape:?}, {options:?}");
        }
    }
}

/// All reductions of `x + y`, computed inside the reduction, and the positions of its extremes.
fn reductions_of_sum(dtype: DType, [x, y]: [&[usize]; 2], axis: i64) -> Graph {
    let b = GraphBuilder::new();
    let (p, q) = (b.parameter("x", dtype, x).unwrap(), b.parameter("y", dtype, y).unwrap());
    let sum = b.numpy().add(&p, &q).unwrap();
    let mut results = reductions(&b, &sum, dtype, axis);
    if ReduceOp::ArgMax.takes(dtype) {
        results.extend(
            [ReduceOp::ArgMax, ReduceOp::ArgMin].map(|op| b.reduce(op, &sum, axis).unwrap()),
        );
    }
    b.finish(&results).unwrap()
}

/// Kept axes that are short and do not merge, because an operand is constant along some of them.
#[test]
fn several_short_axes_are_kept() {
    let types = [DType::F32, DType::F64, DType::I32, DType::U8, DType::F16, DType::C64];
    for (at, dtype) in types.into_iter().enumerate() {
        for length in [2, 3, 7, 8, 9, 12, 17, 40] {
            for inner in [2, 3, 7, 20] {
                for outer in [2, 37, 600 / inner] {
                    let is_skipped = (length + inner + outer + at) % 3 != 0;
                    if is_skipped {
                        continue;
                    }
                    for (shape, other, axis) in [
                        ([outer, inner, length], [outer, 1, 1], 2),
                        ([outer, inner, length], [1, inner, length], 2),
                        ([outer, length, inner], [outer, 1, 1], 1),
                        ([outer, length, inner], [1, 1, inner], 1),
                    ] {
                        let x = elements(&ArrayType::new(dtype, &shape[..]), length as u64);
                        let y = elements(&ArrayType::new(dtype, &other[..]), 3);
                        let graph = reductions_of_sum(dtype, [&shape, &other], axis);
                        check(
                            &graph,
                            &[x, y],
                            &format!("{dtype} {shape:?} {other:?} along {axis}"),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn four_short_axes() {
    for length in [2, 5, 9, 30] {
        for (shape, other, axis) in [
            ([11, 3, 2, length], [11, 1, 2, 1], 3),
            ([11, 3, 2, length], [1, 3, 1, length], 3),
            ([7, 3, length, 4], [7, 1, 1, 4], 2),
            ([70, length, 3, 2], [1, length, 1, 2], 1),
            ([length, 70, 3, 2], [1, 70, 1, 2], 0),
        ] {
            let x = elements(&ArrayType::new(DType::F32, &shape[..]), length as u64);
            let y = elements(&ArrayType::new(DType::F32, &other[..]), 3);
            let graph = reductions_of_sum(DType::F32, [&shape, &other], axis);
            check(&graph, &[x, y], &format!("{shape:?} {other:?} along {axis}"));
        }
    }
}
