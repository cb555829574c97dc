//! Branches in the steps of a loop, against sums by hand and the reference evaluator: each region is bound
//! once, and every step selects one.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};

use executors::executors;
use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    Array, ArrayView, ArrayViewMut, CompileOptions, RunError, RunOptions, Threads, compile,
};
use indim_graph::{Graph, TakeMode, evaluate};
use indim_ops::{DType, ReduceOp};

#[path = "executors/mod.rs"]
mod executors;

fn views(arguments: &[Array]) -> Vec<ArrayView<'_>> {
    arguments.iter().map(ArrayView::from).collect()
}

fn bits(arrays: &[Array]) -> Vec<Vec<u8>> {
    arrays.iter().map(Array::to_le_bytes).collect()
}

/// The results of the reference evaluator, which every executor gives too.
fn results(graph: &Graph, arguments: &[Array]) -> Vec<Array> {
    let expected = evaluate(graph, arguments).unwrap();
    for options in executors() {
        let found = compile(graph, &options).unwrap().run(&views(arguments)).unwrap();
        assert_eq!(bits(&found), bits(&expected), "{options:?}");
    }
    expected
}

#[test]
fn each_step_runs_the_region_of_its_index() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [3]).unwrap();
    let indices = b.parameter("indices", DType::I32, [8]).unwrap();
    let step = |b: &GraphBuilder, s: &[Value], index: &[Value]| {
        let double = |_: &GraphBuilder| Ok(vec![&s[0] * 2.0, &s[1] + 1]);
        let add = |_: &GraphBuilder| Ok(vec![&s[0] + &x, s[1].clone()]);
        let last = |_: &GraphBuilder| Ok(vec![s[0].clone(), &s[1] * 10]);
        let next = b.switch(&index[0], &[&double, &add, &last])?;
        Ok((next.clone(), next))
    };
    let (last, all) =
        b.scan_loop(8, &[x.clone(), b.scalar(0i64)], &[&indices], false, step).unwrap();
    let graph = b.finish(&[&last[0], &last[1], &all[0], &all[1]]).unwrap();
    let (x, indices) = ([1.0, -2.0, 0.5], [0, 1, 2, -1, 7, 1, 0, 0]);
    let arguments =
        [Array::new([3], x.to_vec()).unwrap(), Array::new([8], indices.to_vec()).unwrap()];
    let (mut state, mut count, mut states, mut counts) = (x, 0i64, Vec::new(), Vec::new());
    for index in indices {
        match index {
            0 => (state, count) = (state.map(|s| s * 2.0), count + 1),
            1 => state.iter_mut().zip(x).for_each(|(s, x)| *s += x),
            _ => count *= 10,
        }
        states.extend(state);
        counts.push(count);
    }
    let found = results(&graph, &arguments);
    assert_eq!(found[0].elements::<f64>().unwrap(), state);
    assert_eq!(found[1].scalar::<i64>(), Ok(count));
    assert_eq!(found[2].elements::<f64>().unwrap(), states);
    assert_eq!(found[3].elements::<i64>().unwrap(), counts);
}

/// Temporaries, numbers 0, 1, 2, ..., checked indices, reshaped operands, and another state unchanged.
#[test]
fn regions_have_memory_of_their_own() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4, 3]).unwrap();
    let body = |b: &GraphBuilder, i: &Value, s: &[Value]| {
        let odd = |b: &GraphBuilder| {
            let flat = b.reshape(b.transpose(&s[0], &[1, 0])?, [12])?;
            let at = (b.iota(DType::I64, [12], 0)? * 5 + i) % 12;
            let taken = b.take(&flat, at, 0, TakeMode::Error)?;
            let sum = b.reduce(ReduceOp::Add, &taken, 0)?;
            Ok(vec![b.reshape(taken * 0.5 + sum, [4, 3])?, s[0].clone()])
        };
        let even = |b: &GraphBuilder| {
            let rows = b.reduce(ReduceOp::Max, &s[1], 0)?;
            let rows = b.reshape(rows, [1, 3])?;
            let rows = b.broadcast_in_dim(rows, &[0, 1], [4, 3])?;
            Ok(vec![s[1].clone(), &s[0] - rows + b.iota(DType::F64, [4, 3], 0)?])
        };
        b.cond(&(i & 1).eq(1), odd, even)
    };
    let found = b.fori_loop(0..9, &[x.clone(), &x * 2.0], body).unwrap();
    let later = b.exp(&found[1]).unwrap();
    let graph = b.finish(&[&found[0], &found[1], &later]).unwrap();
    let x: Vec<f64> = (0..12).map(|i| f64::from(i) * 0.125 - 0.5).collect();
    results(&graph, &[Array::new([4, 3], x).unwrap()]);
}

/// A branch and a loop in a region of a branch.
#[test]
fn branches_nest() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I64, []).unwrap();
    let body = |b: &GraphBuilder, i: &Value, s: &[Value]| {
        let inner = |b: &GraphBuilder| {
            let halve = |_: &GraphBuilder| Ok(vec![&s[0] - i]);
            let looped =
                |b: &GraphBuilder| b.fori_loop(0..3, &[&s[0]], |_, j, t| Ok(vec![&t[0] + j * i]));
            b.cond(&(i % 3).eq(0), halve, looped)
        };
        b.cond(&(i & 1).eq(0), inner, |_| Ok(vec![&s[0] * 3 + &x]))
    };
    let found = b.fori_loop(0..20, &[&x], body).unwrap();
    let graph = b.finish(&found).unwrap();
    let expected = (0..20i64).fold(5i64, |s, i| match (i & 1, i % 3) {
        (0, 0) => s - i,
        (0, _) => s + 3 * i,
        _ => s.wrapping_mul(3).wrapping_add(5),
    });
    assert_eq!(results(&graph, &[Array::from_scalar(5i64)])[0].scalar::<i64>(), Ok(expected));
}

/// The inner loop begins anew in each outer step, so its branch is bound to other arrays.
#[test]
fn a_branch_in_an_inner_loop() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [5]).unwrap();
    let outer = |b: &GraphBuilder, i: &Value, s: &[Value]| {
        let inner = |b: &GraphBuilder, j: &Value, t: &[Value]| {
            let sum = |_: &GraphBuilder| Ok(vec![&t[0] + &x]);
            b.cond(&j.lt(i), sum, |_| Ok(vec![&t[0] * 0.5]))
        };
        b.fori_loop(0..4, &[&s[0]], inner)
    };
    let found = b.fori_loop(0..5, &[&x], outer).unwrap();
    let graph = b.finish(&found).unwrap();
    let x = [1.0f32, 2.0, -3.0, 0.25, 100.0];
    let expected = x
        .map(|x| (0..5).fold(x, |s, i| (0..4).fold(s, |t, j| if j < i { t + x } else { t * 0.5 })));
    let found = results(&graph, &[Array::new([5], x.to_vec()).unwrap()]);
    assert_eq!(found[0].elements::<f32>().unwrap(), expected);
}

#[test]
fn threads_run_a_large_region() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 19]).unwrap();
    let body = |b: &GraphBuilder, i: &Value, s: &[Value]| {
        let sum = |b: &GraphBuilder| {
            let sum = b.reduce(ReduceOp::Add, s[0].convert(DType::F64), 0)?;
            Ok(vec![&s[0] / sum.convert(DType::F32)])
        };
        b.cond(&(i & 1).eq(0), |_| Ok(vec![&s[0] * 0.75 + &x]), sum)
    };
    let found = b.fori_loop(0..4, &[&x], body).unwrap();
    let graph = b.finish(&found).unwrap();
    let x: Vec<f32> = (0..1u32 << 19).map(|i| (i % 1013) as f32 * 0.01 - 4.0).collect();
    let x = ArrayView::from_slice([1 << 19], &x).unwrap();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = RunOptions::new().threads(Threads::Pool(&pool));
        bits(&executable.run_with(std::slice::from_ref(&x), &options).unwrap())
    };
    let one = run(1);
    assert!([2, 7].into_iter().all(|threads| run(threads) == one));
}

/// Fails at step `rows`, in the region that odd steps run.
fn failing(rows: usize) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [rows]).unwrap();
    let body = |b: &GraphBuilder, i: &Value, s: &[Value]| {
        let taken = |b: &GraphBuilder| Ok(vec![&s[0] + b.take(&x, i, 0, TakeMode::Error)?]);
        b.cond(&(i & 1).eq(1), taken, |_| Ok(vec![&s[0] + 1.0]))
    };
    let found = b.fori_loop(0..12, &[b.scalar(0.0f32)], body).unwrap();
    b.finish(&found).unwrap()
}

#[test]
fn an_error_in_a_region_ends_the_run_and_writes_nothing() {
    let x: Vec<f32> = (0..12).map(|i| i as f32).collect();
    for options in executors() {
        let run = |rows: usize| {
            let executable = compile(&failing(rows), &options).unwrap();
            let mut sum = [7.0f32; 1];
            let outputs = &mut [ArrayViewMut::from_slice([], &mut sum).unwrap()];
            let result = executable.run_into(&[ArrayView::from(&x[..rows])], outputs);
            (result, sum)
        };
        let (result, sum) = run(7);
        assert_eq!(result.unwrap_err().code(), "index-out-of-range");
        assert_eq!(sum, [7.0]);
        assert_eq!(run(12), (Ok(()), [42.0]));
    }
}

#[test]
fn a_loop_with_a_branch_has_a_limit() {
    let b = GraphBuilder::new();
    let next = |b: &GraphBuilder, s: &[Value]| {
        b.cond(&(&s[0] & 1).eq(0), |_| Ok(vec![&s[0] + 1]), |_| Ok(vec![&s[0] + 3]))
    };
    let found = b.while_loop_up_to(5, &[b.scalar(0i64)], |b, _| Ok(b.scalar(true)), next).unwrap();
    let error = compile(&b.finish(&found).unwrap(), &CompileOptions::new()).unwrap().run(&[]);
    assert_eq!(error.unwrap_err(), RunError::StepLimit { limit: 5 });
}

#[test]
fn a_run_stops_at_any_call_of_a_region() {
    let executable = compile(&failing(12), &CompileOptions::new()).unwrap();
    let x: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let run = |stop_at: usize| {
        let calls = AtomicUsize::new(0);
        let progress = |_| match calls.fetch_add(1, Ordering::Relaxed) + 1 == stop_at {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = RunOptions::new().threads(Threads::Caller).progress(&progress);
        let result = executable.run_with(&[ArrayView::from(&x[..])], &options).map(drop);
        (result, calls.into_inner())
    };
    let (result, calls) = run(usize::MAX);
    assert_eq!(result, Ok(()));
    assert!(calls >= 24, "{calls}");
    for stop_at in 1..=calls {
        assert_eq!(run(stop_at), (Err(RunError::Stopped), stop_at));
    }
}
