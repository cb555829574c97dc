//! Loops and branches, against sums by hand and the reference evaluator: every executor and level gives the
//! same bits.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};

use executors::executors;
use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    Array, ArrayView, ArrayViewMut, CompileOptions, InPlace, Order, RunError, RunOptions, Threads,
    compile, compile_symbolic,
};
use indim_graph::{
    AxisSlice, Graph, GraphErrorKind, NodeKind, Region, ScatterMode, SymbolicGraph, TakeMode,
    evaluate, optimize,
};
use indim_ops::{DType, ReduceOp, ScatterOp};

#[path = "executors/mod.rs"]
mod executors;

fn run(graph: &Graph, arguments: &[Array], options: &CompileOptions) -> Vec<Array> {
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    compile(graph, options).unwrap().run(&inputs).unwrap()
}

fn bits(arrays: &[Array]) -> Vec<Vec<u8>> {
    arrays.iter().map(Array::to_le_bytes).collect()
}

/// The results of the reference evaluator, which every executor gives too.
fn results(graph: &Graph, arguments: &[Array]) -> Vec<Array> {
    let expected = evaluate(graph, arguments).unwrap();
    for options in executors() {
        for optimize in [false, true] {
            let options = options.clone().optimize(optimize);
            assert_eq!(bits(&run(graph, arguments, &options)), bits(&expected), "{options:?}");
        }
    }
    expected
}

fn f64s(shape: &[usize], elements: &[f64]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

#[test]
fn a_loop_runs_until_its_condition_is_false() {
    let b = GraphBuilder::new();
    let a = b.parameter("a", DType::F64, [3]).unwrap();
    // Newton's steps for the root of each element, until the largest step is small.
    let begin = a.clone() + 1.0;
    let change = b.reduce(ReduceOp::Max, &begin, 0).unwrap();
    let newton = |_: &GraphBuilder, s: &[Value]| {
        let next = 0.5 * (&s[0] + &a / &s[0]);
        let change = (&next - &s[0]).abs();
        let change = change.builder().reduce(ReduceOp::Max, &change, 0)?;
        Ok(vec![next, change])
    };
    let roots = b.while_loop(&[begin, change], |_, s| Ok(s[1].gt(1e-12)), newton).unwrap();
    let graph = b.finish(&[&roots[0]]).unwrap();
    let [roots] = &results(&graph, &[f64s(&[3], &[2.0, 9.0, 100.0])])[..] else { panic!() };
    for (root, square) in roots.elements::<f64>().unwrap().iter().zip([2.0, 9.0, 100.0]) {
        assert!((root * root - square).abs() < 1e-9 * square, "{root}");
    }
}

#[test]
fn a_loop_that_does_not_run_returns_the_initial_states() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I16, [2, 2]).unwrap();
    let kept = b.while_loop(&[&x], |b, _| Ok(b.scalar(false)), |_, s| Ok(vec![&s[0] + 1])).unwrap();
    let none = b.fori_loop(5..5, &[&x], |_, _, s| Ok(vec![&s[0] + 1])).unwrap();
    let graph = b.finish(&[&kept[0], &none[0]]).unwrap();
    let x = Array::new([2, 2], vec![1i16, 2, 3, 4]).unwrap();
    let found = results(&graph, std::slice::from_ref(&x));
    assert_eq!(bits(&found), bits(&[x.clone(), x]));
}

/// States that swap, one that stays, one that is overwritten, and an outer value.
fn fibonacci() -> Graph {
    let b = GraphBuilder::new();
    let step = b.parameter("step", DType::I64, []).unwrap();
    let states = [b.scalar(0i64), b.scalar(1i64), b.scalar(7i64), b.scalar(0i64)];
    let body = |_: &GraphBuilder, i: &Value, s: &[Value]| {
        Ok(vec![s[1].clone(), &s[0] + &s[1], s[2].clone(), &s[3] + i * &step])
    };
    let found = b.fori_loop(0..10, &states, body).unwrap();
    b.finish(&found).unwrap()
}

#[test]
fn states_swap_stay_and_are_overwritten() {
    let found = results(&fibonacci(), &[Array::from_scalar(2i64)]);
    let found: Vec<i64> = found.iter().map(|array| array.scalar().unwrap()).collect();
    assert_eq!(found, [55, 89, 7, 90]);
}

#[test]
fn nodes_of_one_loop_run_once() {
    let executable = compile(&fibonacci(), &CompileOptions::new()).unwrap();
    assert_eq!(executable.nests().len(), 1);
    let text = executable.nests()[0].to_string();
    assert!(text.contains("control 0"), "{text}");
}

#[test]
fn a_scan_stacks_the_results_of_every_step() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4, 3]).unwrap();
    let begin = b.parameter("begin", DType::F64, [3]).unwrap();
    let step = |_: &GraphBuilder, s: &[Value], x: &[Value]| {
        let next = &s[0] * 0.5 + &x[0];
        Ok((vec![next.clone()], vec![next.clone() * 10.0, next]))
    };
    let (last, all) = b.scan_loop(4, &[&begin], &[&x], false, step).unwrap();
    let (_, back) = b.scan_loop(4, &[&begin], &[&x], true, step).unwrap();
    let graph = b.finish(&[&last[0], &all[0], &all[1], &back[1]]).unwrap();
    let elements: Vec<f64> = (0..12).map(|i| f64::from(i * i)).collect();
    let begin = [1.0, 2.0, 3.0];
    let found = results(&graph, &[f64s(&[4, 3], &elements), f64s(&[3], &begin)]);
    let recurrence = |order: Vec<usize>| {
        let (mut state, mut all) = (begin, vec![0.0; 12]);
        for row in order {
            for column in 0..3 {
                state[column] = state[column] * 0.5 + elements[row * 3 + column];
                all[row * 3 + column] = state[column];
            }
        }
        (state, all)
    };
    let (state, forth) = recurrence(vec![0, 1, 2, 3]);
    assert_eq!(found[0].elements::<f64>().unwrap(), state);
    let tens: Vec<f64> = forth.iter().map(|x| x * 10.0).collect();
    assert_eq!(found[1].elements::<f64>().unwrap(), tens);
    assert_eq!(found[2].elements::<f64>().unwrap(), forth);
    assert_eq!(found[3].elements::<f64>().unwrap(), recurrence(vec![3, 2, 1, 0]).1);
}

#[test]
fn loops_nest_and_read_values_of_every_outer_level() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I64, [2]).unwrap();
    let outer = |b: &GraphBuilder, i: &Value, s: &[Value]| {
        let inner = |_: &GraphBuilder, j: &Value, t: &[Value]| Ok(vec![&t[0] + &x * i + j]);
        b.fori_loop(0..3, &[&s[0]], inner)
    };
    let found = b.fori_loop(0..4, &[&x], outer).unwrap();
    let graph = b.finish(&found).unwrap();
    let expected =
        [10i64, -1].map(|x| (0..4i64).fold(x, |s, i| (0..3i64).fold(s, |t, j| t + x * i + j)));
    let found = results(&graph, &[Array::new([2], vec![10i64, -1]).unwrap()]);
    assert_eq!(found[0].elements::<i64>().unwrap(), expected);
}

#[test]
fn a_graph_is_inlined_into_a_body_for_values_outside_it() {
    let b = GraphBuilder::new();
    let (x, y) =
        (b.parameter("x", DType::F64, [2]).unwrap(), b.parameter("y", DType::F64, [2]).unwrap());
    let difference = b.finish(&[&y - &x]).unwrap();
    let b = GraphBuilder::new();
    let _first = b.parameter("first", DType::I64, []).unwrap();
    let x = b.parameter("x", DType::F64, [2]).unwrap();
    let outer = b.parameter("outer", DType::F64, [2]).unwrap();
    let body = |b: &GraphBuilder, _: &Value, s: &[Value]| {
        b.inline(&difference, &[outer.clone(), s[0].clone()])
    };
    let looped = b.fori_loop(0..3, &[&x], body).unwrap();
    let graph = b.finish(&looped).unwrap();
    let arguments = [Array::from_scalar(0i64), f64s(&[2], &[10.0, 20.0]), f64s(&[2], &[1.0, 2.0])];
    assert_eq!(results(&graph, &arguments)[0].elements::<f64>(), Ok(&[7.0, 14.0][..]));
}

#[test]
fn only_the_chosen_branch_runs_and_an_index_out_of_range_is_the_last() {
    for (dtype, indices) in [
        (DType::I32, &[(0, 10), (1, 20), (2, 30), (3, 30), (-1, 30), (-3, 30)][..]),
        (DType::U8, &[(0, 10), (1, 20), (255, 30)]),
        (DType::Bool, &[(0, 10), (1, 20)]),
    ] {
        let b = GraphBuilder::new();
        let index = b.parameter("index", dtype, []).unwrap();
        let x = b.parameter("x", DType::I64, []).unwrap();
        // The second branch would fail for any other index.
        let table = b.constant(Array::new([2], vec![20i64, 20]).unwrap());
        let second = |b: &GraphBuilder| {
            let at = b.convert(&index, DType::I64)?;
            Ok(vec![&x - &x + b.take(&table, at, 0, TakeMode::Error)?])
        };
        let first = |_: &GraphBuilder| Ok(vec![&x - &x + 10]);
        let third = |_: &GraphBuilder| Ok(vec![&x - &x + 30]);
        let found = b.switch(&index, &[&first, &second, &third]).unwrap();
        let graph = b.finish(&found).unwrap();
        for &(index, expected) in indices {
            let index = match dtype {
                DType::I32 => Array::from_scalar(index),
                DType::U8 => Array::from_scalar(index as u8),
                _ => Array::from_scalar(index == 1),
            };
            let found = results(&graph, &[index, Array::from_scalar(5i64)]);
            assert_eq!(found[0].scalar::<i64>(), Ok(expected));
        }
    }
}

#[test]
fn operands_may_be_views_and_results_parts_of_arrays() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 4]).unwrap();
    let column = b.slice(&x, &[AxisSlice::whole(3), AxisSlice::new(1, 1, 1)]).unwrap();
    let reversed = b.slice(&x, &[AxisSlice::new(2, 3, -1), AxisSlice::whole(4)]).unwrap();
    let wide = b.broadcast_in_dim(&column, &[0, 1], [3, 4]).unwrap();
    let turned = b.transpose(&x, &[1, 0]).unwrap();
    let flat = b.reshape(&turned, [12]).unwrap();
    let counted = b.iota(DType::F32, [3, 4], 1).unwrap();
    let body = |b: &GraphBuilder, _: &Value, s: &[Value]| {
        let flat = b.reshape(&flat, [3, 4])?;
        Ok(vec![&s[0] + &reversed * 0.5 + &flat, &s[1] * &counted])
    };
    let found = b.fori_loop(0..3, &[&wide, &b.exp(&x).unwrap()], body).unwrap();
    // A part of a concatenation, an operand of later nodes, and an output twice.
    let joined = b.concatenate(&[&x, &found[0], &x], 1).unwrap();
    let later = b.exp(&found[1]).unwrap();
    let graph = b.finish(&[&joined, &found[0], &found[0], &later]).unwrap();
    let elements = (0..12).map(|i| i as f32 * 0.25).collect::<Vec<f32>>();
    let dense = Array::new([3, 4], elements.clone()).unwrap();
    let expected = results(&graph, std::slice::from_ref(&dense));
    // The parameter with strides of the caller, read backwards.
    let mut stored = vec![0.0f32; 24];
    for (index, &element) in elements.iter().enumerate() {
        stored[22 - 2 * index] = element;
    }
    let view = ArrayView::from_strided([3, 4], &[-8, -2], &stored, 22).unwrap();
    let found = compile(&graph, &CompileOptions::new()).unwrap().run(&[view]).unwrap();
    assert_eq!(bits(&found), bits(&expected));
}

#[test]
fn every_element_type_may_be_a_state() {
    for &dtype in DType::ALL {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [2, 3]).unwrap();
        let y = b.parameter("y", dtype, [2, 3]).unwrap();
        let swap = |_: &GraphBuilder, _: &Value, s: &[Value]| Ok(vec![s[1].clone(), s[0].clone()]);
        let found = b.fori_loop(0..3, &[&x, &y], swap).unwrap();
        let graph = b.finish(&found).unwrap();
        let of = |bits: u8| {
            let bytes: Vec<u8> = (0..6 * dtype.size() as u8).map(|i| (i ^ bits) & 1).collect();
            Array::from_data([2, 3], indim_ops::ArrayData::from_le_bytes(dtype, &bytes)).unwrap()
        };
        let found = results(&graph, &[of(0), of(1)]);
        assert_eq!(bits(&found), bits(&[of(1), of(0)]), "{dtype}");
    }
}

#[test]
fn arrays_without_elements_may_be_states() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [0, 3]).unwrap();
    let found = b.fori_loop(0..3, &[&x], |_, _, s| Ok(vec![&s[0] + 1.0])).unwrap();
    let graph = b.finish(&found).unwrap();
    assert!(
        results(&graph, &[Array::new([0, 3], Vec::<f32>::new()).unwrap()])[0].bytes().is_empty()
    );
}

#[test]
fn a_loop_beyond_its_limit_is_an_error() {
    let b = GraphBuilder::new();
    let n = b.parameter("n", DType::I64, []).unwrap();
    let counted = b
        .while_loop_up_to(3, &[b.scalar(0i64)], |_, s| Ok(s[0].lt(&n)), |_, s| Ok(vec![&s[0] + 1]))
        .unwrap();
    let graph = b.finish(&counted).unwrap();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    let three = executable.run(&[ArrayView::from(&Array::from_scalar(3i64))]).unwrap();
    assert_eq!(three[0].scalar::<i64>(), Ok(3));
    let error = executable.run(&[ArrayView::from(&Array::from_scalar(4i64))]).unwrap_err();
    assert_eq!(error, RunError::StepLimit { limit: 3 });
    assert_eq!(error.code(), "step-limit");
    assert!(evaluate(&graph, &[Array::from_scalar(4i64)]).is_err());
}

/// An output before the loop, the loop's states, and an output after it.
#[test]
fn a_loop_beyond_its_limit_writes_nothing() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4]).unwrap();
    let (first, start) = (&x + 1.0, b.scalar(0i64));
    let body = |_: &GraphBuilder, s: &[Value]| Ok(vec![&s[0] + 1, &s[1] + 1.0]);
    let looped = b.while_loop_up_to(3, &[&start, &x], |_, s| Ok(s[0].lt(9)), body).unwrap();
    let last = &looped[1] * 2.0;
    let graph = b.finish(&[first, looped[0].clone(), looped[1].clone(), last]).unwrap();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    let x = [1.0f32, 2.0, 3.0, 4.0];
    let (mut count, mut arrays) = ([7i64; 1], [[7.0f32; 4]; 3]);
    let [first, state, last] = &mut arrays;
    let outputs = &mut [
        ArrayViewMut::from_slice([4], first).unwrap(),
        ArrayViewMut::from_slice([], &mut count).unwrap(),
        ArrayViewMut::from_slice([4], state).unwrap(),
        ArrayViewMut::from_slice([4], last).unwrap(),
    ];
    let error = executable.run_into(&[(&x).into()], outputs).unwrap_err();
    assert_eq!(error, RunError::StepLimit { limit: 3 });
    assert_eq!((count, arrays), ([7], [[7.0; 4]; 3]));
}

#[test]
fn an_error_in_a_step_ends_the_run_and_writes_nothing() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4]).unwrap();
    let first = &x + 1.0;
    let body = |b: &GraphBuilder, i: &Value, s: &[Value]| {
        Ok(vec![&s[0] + b.take(&x, i, 0, TakeMode::Error)?])
    };
    let found = b.fori_loop(0..5, &[b.scalar(0.0f32)], body).unwrap();
    let graph = b.finish(&[first, found[0].clone()]).unwrap();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    let x = [1.0f32, 2.0, 3.0, 4.0];
    let (mut sums, mut last) = ([0.0f32; 4], [0.0f32; 1]);
    let outputs = &mut [
        ArrayViewMut::from_slice([4], &mut sums).unwrap(),
        ArrayViewMut::from_slice([], &mut last).unwrap(),
    ];
    let error = executable.run_into(&[(&x).into()], outputs).unwrap_err();
    assert_eq!(error.code(), "index-out-of-range");
    assert_eq!((sums, last), ([0.0; 4], [0.0; 1]));
}

#[test]
fn an_endless_loop_can_be_stopped() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [8]).unwrap();
    let endless =
        b.while_loop(&[&x], |b, _| Ok(b.scalar(true)), |_, s| Ok(vec![&s[0] + 1.0])).unwrap();
    let executable = compile(&b.finish(&endless).unwrap(), &CompileOptions::new()).unwrap();
    let calls = AtomicUsize::new(0);
    let progress = |_: usize| match calls.fetch_add(1, Ordering::Relaxed) {
        1000.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let options = RunOptions::new().progress(&progress);
    let error = executable.run_with(&[(&[0.0f32; 8]).into()], &options).unwrap_err();
    assert_eq!(error, RunError::Stopped);
}

#[test]
fn a_state_is_written_over_an_input_only_after_the_last_step() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [5]).unwrap();
    let body = |_: &GraphBuilder, _: &Value, s: &[Value]| Ok(vec![&s[0] + &x]);
    let found = b.fori_loop(0..3, &[&x], body).unwrap();
    let executable = compile(&b.finish(&found).unwrap(), &CompileOptions::new()).unwrap();
    let mut x = [1.0, 2.0, 3.0, 4.0, 5.0];
    let over = InPlace::Overwrite(ArrayViewMut::from_slice([5], &mut x).unwrap());
    executable.run_in_place(vec![over]).unwrap();
    assert_eq!(x, [4.0, 8.0, 12.0, 16.0, 20.0]);
}

#[test]
fn several_threads_give_the_bits_of_one() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 19]).unwrap();
    let body = |b: &GraphBuilder, _: &Value, s: &[Value]| {
        let next = &s[0] * 0.75 + &x;
        let sum = b.convert(b.reduce(ReduceOp::Add, next.convert(DType::F64), 0)?, DType::F32)?;
        Ok(vec![&next / &sum, &s[1] + sum])
    };
    let found = b.fori_loop(0..4, &[&x, &b.scalar(0.0f32)], body).unwrap();
    let graph = b.finish(&found).unwrap();
    let x: Vec<f32> = (0..1u32 << 19).map(|i| (i % 1013) as f32 * 0.01 + 1.0).collect();
    let x = ArrayView::from_slice([1 << 19], &x).unwrap();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    assert!(executable.is_parallel());
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = RunOptions::new().threads(Threads::Pool(&pool));
        bits(&executable.run_with(std::slice::from_ref(&x), &options).unwrap())
    };
    let one = run(1);
    assert!([2, 7].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn the_forecast_counts_the_states() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [1000]).unwrap();
    let body = |b: &GraphBuilder, _: &Value, s: &[Value]| {
        Ok(vec![b.slice(&s[0], &[AxisSlice::new(999, 1000, -1)])?])
    };
    let found = b.fori_loop(0..3, &[&x], body).unwrap();
    let executable = compile(&b.finish(&found).unwrap(), &CompileOptions::new()).unwrap();
    // A reversed state has two buffers.
    let forecast = executable.forecast();
    assert!((16_000..20_000).contains(&forecast.temporary_bytes), "{forecast:?}");
    assert_eq!(forecast.bytes_read, 8000);
    let error = executable.check_memory_limit(8000, 1, false).unwrap_err();
    assert_eq!(error.code(), "memory-limit");
}

#[test]
fn stacked_results_are_written_in_place() {
    let b = GraphBuilder::new();
    let zero = b.scalar(0.0f64);
    let step = |_: &GraphBuilder, s: &[Value], _: &[Value]| {
        let next = &s[0] + 1.0;
        Ok((vec![next.clone()], vec![next]))
    };
    let none: [Value; 0] = [];
    let (_, all) = b.scan_loop(1000, &[zero], &none, false, step).unwrap();
    let executable = compile(&b.finish(&all).unwrap(), &CompileOptions::new()).unwrap();
    // One buffer for the stack; its initial zeros are a temporary too.
    let bytes = executable.forecast().temporary_bytes;
    assert!(bytes < 20_000, "{bytes}");
    let all = executable.run(&[]).unwrap();
    let expected: Vec<f64> = (1..=1000).map(f64::from).collect();
    assert_eq!(all[0].elements::<f64>().unwrap(), expected);
}

/// A single update leaves the other elements of the operand, which is not always what the result lies over.
#[test]
fn single_updates_of_values_that_are_no_states() {
    let elements: Vec<f64> = (0..12).map(f64::from).collect();
    type Body = fn(&GraphBuilder, &[Value], &Value) -> Vec<Value>;
    let bodies: [Body; 4] = [
        // A temporary.
        |b, s, _| vec![row(b, &(&s[0] * 2.0), &s[2]), &s[1] + 1.0],
        // An array outside the loop.
        |b, s, x| vec![row(b, x, &s[2]), &s[1] + 1.0],
        // One result for two states.
        |b, s, _| {
            let next = row(b, &s[0], &s[2]);
            vec![next.clone(), next]
        },
        // The state itself.
        |b, s, _| vec![row(b, &s[0], &s[2]), &s[1] + 1.0],
    ];
    for body in bodies {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [4, 3]).unwrap();
        let step = |b: &GraphBuilder, s: &[Value]| {
            let mut next = body(b, s, &x);
            next.push(&s[2] + 1);
            Ok(next)
        };
        let initial = [&x * 10.0, &x * 100.0, b.scalar(0i64)];
        let found = b.while_loop(&initial, |_, s| Ok(s[2].lt(3)), step).unwrap();
        let graph = b.finish(&found).unwrap();
        results(&graph, &[f64s(&[4, 3], &elements)]);
    }
}

/// `into` with row `index` replaced by -1.
fn row(b: &GraphBuilder, into: &Value, index: &Value) -> Value {
    let update = b.constant(f64s(&[1, 3], &[-1.0; 3]));
    b.scatter(ScatterOp::Set, into, b.reshape(index, [1]).unwrap(), update, 0, TakeMode::Error)
        .unwrap()
}

/// Folds make every NaN canonical, also without updates.
#[test]
fn nans_without_an_update_are_canonical() {
    let odd = f64::from_bits(0x7ff8_0000_0000_1234);
    for op in ScatterOp::ALL {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [4]).unwrap();
        let update = b.constant(f64s(&[1], &[2.0]));
        let step = |b: &GraphBuilder, i: &Value, s: &[Value]| {
            let at = b.reshape(b.convert(i, DType::I64)?, [1])?;
            Ok(vec![b.scatter(op, &s[0], at, &update, 0, TakeMode::Error)?])
        };
        let found = b.fori_loop(0..2, &[&x], step).unwrap();
        results(&b.finish(&found).unwrap(), &[f64s(&[4], &[1.0, 2.0, odd, -odd])]);
    }
}

/// Elements without updates keep the bits that the first step gives them. Rows have 12,000 elements, so the
/// state lies in the result.
#[test]
fn steps_after_the_first_write_only_the_targets_of_updates() {
    let odd = f64::from_bits(0x7ff8_0000_0000_1234);
    let elements: Vec<f64> =
        (0..36_000).map(|i| if i % 7 == 0 { odd } else { f64::from(i) }).collect();
    for op in ScatterOp::ALL {
        for count in [1, 2] {
            let b = GraphBuilder::new();
            let x = b.parameter("x", DType::F64, [3, 12_000]).unwrap();
            let update = b.constant(f64s(&[count, 1], &[1.5, -2.5][..count]));
            let update = b.broadcast_in_dim(update, &[0, 1], [count, 12_000]).unwrap();
            let step = |b: &GraphBuilder, i: &Value, s: &[Value]| {
                // Steps 0, 1 and 2 update rows 0 and 0, 0 and 1, 1 and 2.
                let rows = b.iota(DType::I64, [count], 0)? + i - 1;
                let rows = rows.maximum(0);
                Ok(vec![b.scatter(op, &s[0], rows, &update, 0, TakeMode::Error)?])
            };
            let found = b.fori_loop(0..3, &[&x], step).unwrap();
            results(&b.finish(&found).unwrap(), &[f64s(&[3, 12_000], &elements)]);
        }
    }
}

/// A cache of keys `[layer, head, position, 16]`: each step updates some positions of one layer.
#[test]
fn a_dynamic_update_slice_of_a_state_is_in_place() {
    let shape = [2, 3, 40, 16];
    let count: usize = shape.iter().product();
    let cache: Vec<f64> = (0..count).map(|i| i as f64).collect();
    let keys: Vec<f64> = (0..3 * 2 * 16).map(|i| -f64::from(i)).collect();
    for taken in [1, 2] {
        let b = GraphBuilder::new();
        let cache_state = b.parameter("cache", DType::F64, shape).unwrap();
        let keys_of_step = b.parameter("keys", DType::F64, [1, 3, taken, 16]).unwrap();
        let body = |b: &GraphBuilder, i: &Value, s: &[Value]| {
            let zero = b.scalar(0i64);
            let starts = [i & 1, zero.clone(), i * taken as i64, zero];
            Ok(vec![b.dynamic_update_slice(
                &s[0],
                &keys_of_step + i.convert(DType::F64),
                &starts,
            )?])
        };
        let found = b.fori_loop(0..25, &[&cache_state], body).unwrap();
        let graph = b.finish(&found).unwrap();
        let keys = f64s(&[1, 3, taken, 16], &keys[..3 * taken * 16]);
        results(&graph, &[f64s(&shape, &cache), keys]);
        let executable = compile(&graph, &CompileOptions::new()).unwrap();
        let bytes = executable.forecast().temporary_bytes;
        // One buffer, and a layer for the second update.
        assert!(bytes < 8 * count * 7 / 4, "{bytes}");
    }
}

/// A loop that writes rows of a stack of 9,000 elements a row, from `begin` on, `steps` rows up to `end`.
fn stacking(begin: &Value, rows: usize, end: i64, reverse: bool) -> Graph {
    let b = begin.builder();
    let row = b.parameter("row", DType::F64, [9_000]).unwrap();
    let stack = b.parameter("stack", DType::F64, [rows, 9_000]).unwrap();
    let body = |b: &GraphBuilder, s: &[Value]| {
        let next = &s[1] * 0.5 + 1.0;
        let place = if reverse { rows as i64 - 1 - &s[0] } else { s[0].clone() };
        let stack = b.scatter(ScatterOp::Set, &s[2], place, &next, 0, ScatterMode::Drop)?;
        Ok(vec![&s[0] + 1, next, stack])
    };
    let initial = [begin.clone(), row, stack];
    let found = b.while_loop(&initial, |_, s| Ok(s[0].lt(end)), body).unwrap();
    b.finish(&found[1..]).unwrap()
}

/// The initial rows of a stack stay unless the loop writes all rows.
#[test]
fn stacks_keep_the_rows_that_no_step_writes() {
    let row: Vec<f64> = (0..9_000).map(f64::from).collect();
    let stack: Vec<f64> = (0..36_000).map(|i| -f64::from(i)).collect();
    for reverse in [false, true] {
        for (begin, end) in [(0i64, 4), (0, 3), (1, 4), (-2, 4), (0, 6), (4, 4)] {
            let inputs = [f64s(&[9_000], &row), f64s(&[4, 9_000], &stack)];
            let b = GraphBuilder::new();
            let graph = stacking(&b.scalar(begin), 4, end, reverse);
            results(&graph, &inputs);
            // The first position is known only at run time.
            let b = GraphBuilder::new();
            let graph = stacking(&b.parameter("i", DType::I64, []).unwrap(), 4, end, reverse);
            let [row, stack] = inputs;
            let inputs = [Array::from_scalar(begin), row, stack];
            let found = results(&graph, &inputs);
            // Results that are not dense, and threads.
            let executable = compile(&graph, &CompileOptions::new()).unwrap();
            let views: Vec<ArrayView<'_>> = inputs.iter().map(ArrayView::from).collect();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(7).build().unwrap();
            let options = RunOptions::default().threads(Threads::Pool(&pool));
            for order in [Order::C, Order::F] {
                let results = executable.run_with(&views, &options.order(order)).unwrap();
                let equal = |(found, expected): (&Array, &Array)| {
                    let found = found.to_row_major().unwrap();
                    assert_eq!(bits(&[found]), bits(std::slice::from_ref(expected)));
                };
                results.iter().zip(&found).for_each(equal);
            }
        }
    }
}

/// A step that reads the stack after its write sees the rows of later steps as they were before the loop.
#[test]
fn stacks_that_a_step_reads_after_its_write() {
    type Read = fn(&GraphBuilder, &Value) -> Value;
    let reads: [Read; 2] =
        [|b, stack| b.reduce(ReduceOp::Max, stack, 0).unwrap(), |_, stack| stack.clone()];
    for (number, read) in reads.into_iter().enumerate() {
        for zeros in [false, true] {
            let b = GraphBuilder::new();
            let row = b.parameter("row", DType::F64, [9_000]).unwrap();
            let stack = match zeros {
                true => b.broadcast(b.scalar(0.0f64), &[4, 9_000]).unwrap(),
                false => b.parameter("stack", DType::F64, [4, 9_000]).unwrap() * 2.0,
            };
            let seen = read(&b, &stack);
            let body = |b: &GraphBuilder, s: &[Value]| {
                let next = &s[1] * 0.5 + 1.0;
                let stack =
                    b.scatter(ScatterOp::Set, &s[2], s[0].clone(), &next, 0, ScatterMode::Drop)?;
                let seen = &s[3] + read(b, &stack);
                Ok(vec![&s[0] + 1, next, stack, seen])
            };
            let initial = [b.scalar(0i64), row, stack, seen];
            let found = b.while_loop(&initial, |_, s| Ok(s[0].lt(4)), body).unwrap();
            let graph = b.finish(&found[1..]).unwrap();
            let row: Vec<f64> = (0..9_000).map(f64::from).collect();
            let stack: Vec<f64> = (0..36_000).map(|i| -f64::from(i)).collect();
            let inputs = [f64s(&[9_000], &row), f64s(&[4, 9_000], &stack)];
            let used = graph.parameters().len();
            assert_eq!(used, if zeros { 1 } else { 2 }, "{number}");
            results(&graph, &inputs[..used]);
        }
    }
}

/// A large state lies in the result of the loop, but not in an array of the caller before the loop has ended.
#[test]
fn a_loop_with_a_large_state_writes_nothing_on_an_error() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [20_000]).unwrap();
    let body = |_: &GraphBuilder, s: &[Value]| Ok(vec![&s[0] + 1, &s[1] + 1.0]);
    let initial = [b.scalar(0i64), x];
    let looped = b.while_loop_up_to(3, &initial, |_, s| Ok(s[0].lt(9)), body).unwrap();
    let executable = compile(&b.finish(&looped[1..]).unwrap(), &CompileOptions::new()).unwrap();
    let (x, mut result) = (vec![1.0f64; 20_000], vec![7.0f64; 20_000]);
    let outputs = &mut [ArrayViewMut::from_slice([20_000], &mut result).unwrap()];
    let error = executable.run_into(&[ArrayView::from(&x[..])], outputs).unwrap_err();
    assert_eq!(error, RunError::StepLimit { limit: 3 });
    assert!(result.iter().all(|&x| x == 7.0));
}

#[test]
fn programs_for_any_sizes_pin_those_of_loops() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [6]).unwrap();
    let y = b.parameter("y", DType::F32, [7]).unwrap();
    let found = b.fori_loop(0..2, &[&x], |_, _, s| Ok(vec![&s[0] + 1.0])).unwrap();
    let graph = b.finish(&[found[0].clone(), y * 2.0]).unwrap();
    let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    let program = compile_symbolic(&symbolic, &CompileOptions::new()).unwrap();
    let (x, y) = ([0.5f32; 6], [1.0f32; 67]);
    let results = program.run(&[(&x).into(), (&y).into()]).unwrap();
    assert_eq!(results[0].elements::<f32>().unwrap(), [2.5; 6]);
    assert_eq!(results[1].elements::<f32>().unwrap(), [2.0; 67]);
    let error = program.run(&[(&[0.5f32; 5]).into(), (&y).into()]).unwrap_err();
    assert_eq!(error.code(), "guard-not-met");
}

#[test]
fn regions_that_do_not_fit_are_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let wide = |_: &GraphBuilder, s: &[Value]| Ok(vec![s[0].convert(DType::F64)]);
    let error = b.while_loop(&[&x], |b, _| Ok(b.scalar(true)), wide).unwrap_err();
    assert_eq!(error.code(), "loop-state-type");
    let message = error.to_string();
    assert!(message.contains("returns f64[3] for state 0, `s0`, which is f32[3]"), "{message}");

    let same = |_: &GraphBuilder, s: &[Value]| Ok(s.to_vec());
    let error = b.while_loop(&[&x], |_, s| Ok(s[0].lt(1)), same).unwrap_err();
    assert_eq!(error.code(), "region-type");
    let fewer = |_: &GraphBuilder, s: &[Value]| Ok(s[..1].to_vec());
    let error = b.while_loop(&[&x, &x], |b, _| Ok(b.scalar(true)), fewer).unwrap_err();
    assert_eq!(error.code(), "region-type");

    let error = b
        .cond(&b.scalar(true), |_| Ok(vec![x.clone()]), |_| Ok(vec![x.convert(DType::F64)]))
        .unwrap_err();
    assert_eq!(error.code(), "region-type");
    let step = |_: &GraphBuilder, s: &[Value], _: &[Value]| Ok((s.to_vec(), Vec::new()));
    let error = b.scan_loop(4, &[&x], &[&x], false, step).unwrap_err();
    assert_eq!(error.code(), "region-type");
    let message = error.to_string();
    assert!(message.contains("input 0 of the loop is f32[3], not f32[4]"), "{message}");
    let error = b.switch(&x, &[&|_| Ok(vec![x.clone()])]).unwrap_err();
    assert_eq!(error.code(), "element-type-not-allowed");
    let other = GraphBuilder::new().parameter("y", DType::F32, [3]).unwrap();
    let foreign = b.cond(&b.scalar(true), |_| Ok(vec![other.clone()]), |_| Ok(vec![x.clone()]));
    assert_eq!(foreign.unwrap_err().code(), "foreign-value");
}

#[test]
fn regions_nest_to_a_limit() {
    let b = GraphBuilder::new();
    let x = b.parameter("s0", DType::F32, []).unwrap();
    let mut body = Region::new(b.finish(&[&x + 1.0]).unwrap());
    let condition = Region::new(b.finish(&[x.lt(9)]).unwrap());
    let nested = |body: &Region| {
        let b = GraphBuilder::new();
        let x = b.parameter("s0", DType::F32, []).unwrap();
        let looped = b.while_of(&condition, body, &[x], 9)?;
        b.finish(&looped)
    };
    let error = loop {
        match nested(&body) {
            Ok(graph) => body = Region::new(graph),
            Err(error) => break error,
        }
    };
    assert_eq!((error.code(), body.depth()), ("region-limit", 17));
    assert!(matches!(error.kind, GraphErrorKind::RegionLimit { .. }));
}

/// A condition is a part of two programs of its loop; a loop inside it is compiled once.
#[test]
fn loops_in_conditions_nest_to_the_limit() {
    let b = GraphBuilder::new();
    let x = b.parameter("s0", DType::F32, []).unwrap();
    let body = Region::new(b.finish(&[&x + 9.0]).unwrap());
    let mut condition = Region::new(b.finish(&[x.lt(9)]).unwrap());
    let graph = |condition: &Region| {
        let b = GraphBuilder::new();
        let x = b.parameter("s0", DType::F32, []).unwrap();
        let end = b.while_of(condition, &body, &[x], 9).unwrap().remove(0);
        (b.finish(&[&end]).unwrap(), b.finish(&[end.lt(9)]).unwrap())
    };
    for _ in 0..15 {
        condition = Region::new(graph(&condition).1);
    }
    let arguments = [Array::new([], vec![0f32]).unwrap()];
    for options in executors() {
        let end = run(&graph(&condition).0, &arguments, &options);
        assert_eq!(bits(&end), bits(&arguments), "{options:?}");
    }
}

#[test]
fn passes_run_in_regions_and_keep_them_shared() {
    let graph = optimize(&fibonacci());
    let bodies: Vec<&Region> = graph
        .iter()
        .filter_map(|(_, node)| match &node.kind {
            NodeKind::While { body, .. } => Some(body),
            _ => None,
        })
        .collect();
    assert_eq!(bodies.len(), 4);
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    indim_graph::verify(&graph).unwrap();
}
