//! Rows of stacks that the steps of a loop write: their values, the progress of each step, and its end.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};

use executors::executors;
use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    Array, ArrayView, CompileOptions, Executable, Order, RunError, RunOptions, Threads, compile,
};
use indim_graph::{Graph, ScatterMode, evaluate};
use indim_ops::{DType, ScatterOp};

#[path = "executors/mod.rs"]
mod executors;

/// A scan over rows of `sizes`: each step halves the state, adds a row of `x` and stacks the new state.
fn scan(steps: usize, sizes: &[usize], reverse: bool) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [&[steps], sizes].concat()).unwrap();
    let begin = b.parameter("begin", DType::F32, sizes).unwrap();
    let step = |_: &GraphBuilder, s: &[Value], x: &[Value]| {
        let next = &s[0] * 0.5 + &x[0];
        Ok((vec![next.clone()], vec![next]))
    };
    let (last, all) = b.scan_loop(steps, &[&begin], &[&x], reverse, step).unwrap();
    b.finish(&[&last[0], &all[0]]).unwrap()
}

/// The last state and the stack of [`scan`], one row after another.
fn naive_scan(x: &[f32], begin: &[f32], reverse: bool) -> (Vec<f32>, Vec<f32>) {
    let (mut state, mut stack) = (begin.to_vec(), vec![0.0; x.len()]);
    let rows = x.len() / begin.len();
    for number in 0..rows {
        let row = if reverse { rows - 1 - number } else { number };
        let row = row * begin.len()..(row + 1) * begin.len();
        state.iter_mut().zip(&x[row.clone()]).for_each(|(state, x)| *state = *state * 0.5 + x);
        stack[row].copy_from_slice(&state);
    }
    (state, stack)
}

fn elements(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37) % 101) as f32 - 50.0).collect()
}

fn shaped(sizes: &[usize], elements: &[f32]) -> Array {
    Array::new(sizes, elements.to_vec()).unwrap()
}

/// Rows of one element, dense rows of one and two axes, and rows that several threads write.
#[test]
fn stacks_have_the_rows_of_a_naive_loop() {
    for (steps, sizes) in [(9, &[][..]), (1, &[5]), (7, &[64]), (6, &[3, 4]), (3, &[1 << 18])] {
        for reverse in [false, true] {
            let graph = scan(steps, sizes, reverse);
            let count: usize = sizes.iter().product();
            let (x, begin) = (elements(steps * count), elements(count));
            let (state, stack) = naive_scan(&x, &begin, reverse);
            let whole = [&[steps], sizes].concat();
            let inputs = [shaped(&whole, &x), shaped(sizes, &begin)];
            let views: Vec<ArrayView<'_>> = inputs.iter().map(ArrayView::from).collect();
            let check = |found: &[Array]| {
                let found = found.iter().map(|array| array.to_row_major().unwrap());
                let found: Vec<Array> = found.collect();
                assert_eq!(found[0].elements::<f32>().unwrap(), state, "{sizes:?}");
                assert_eq!(found[1].elements::<f32>().unwrap(), stack, "{sizes:?}");
            };
            for options in executors() {
                let executable = compile(&graph, &options).unwrap();
                check(&executable.run(&views).unwrap());
                // Rows of a result in column-major order are not contiguous.
                let options = RunOptions::new().order(Order::F);
                check(&executable.run_with(&views, &options).unwrap());
            }
        }
    }
}

/// A row is copied with its bits. Storage types have no scatters.
#[test]
fn every_element_type_has_stacks() {
    for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_storage()) {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [4, 3]).unwrap();
        let step =
            |_: &GraphBuilder, _: &[Value], x: &[Value]| Ok((Vec::new(), vec![x[0].clone()]));
        let none: [Value; 0] = [];
        let (_, all) = b.scan_loop(4, &none, &[&x], true, step).unwrap();
        let graph = b.finish(&all).unwrap();
        let bytes: Vec<u8> = (0..12 * dtype.size()).map(|i| (i * 89 % 251) as u8).collect();
        let bytes =
            bytes.into_iter().map(|byte| if dtype == DType::Bool { byte & 1 } else { byte });
        let data = indim_ops::ArrayData::from_le_bytes(dtype, &bytes.collect::<Vec<u8>>());
        let x = Array::from_data([4, 3], data).unwrap();
        for options in executors() {
            let found = compile(&graph, &options).unwrap().run(&[ArrayView::from(&x)]).unwrap();
            assert_eq!(found[0].to_le_bytes(), x.to_le_bytes(), "{dtype}");
        }
    }
}

/// Each step replaces row `at[t]` of a state, which may be out of range, or adds to it.
fn row_updates(op: ScatterOp, mode: ScatterMode) -> Graph {
    let b = GraphBuilder::new();
    let state = b.parameter("state", DType::F64, [4, 5]).unwrap();
    let at = b.parameter("at", DType::I64, [6]).unwrap();
    let step = |b: &GraphBuilder, s: &[Value], at: &[Value]| {
        let row = b.iota(DType::F64, [5], 0)? + at[0].convert(DType::F64);
        let next = b.scatter(op, &s[0], &at[0], row, 0, mode)?;
        Ok((vec![next], Vec::new()))
    };
    let (last, _) = b.scan_loop(6, &[&state], &[&at], false, step).unwrap();
    b.finish(&last).unwrap()
}

#[test]
fn rows_out_of_range_are_dropped() {
    let state: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.25).collect();
    let at = [2i64, 4, -1, 0, 9, 2];
    for op in [ScatterOp::Set, ScatterOp::Add, ScatterOp::Max] {
        let graph = row_updates(op, ScatterMode::Drop);
        let inputs =
            [Array::new([4, 5], state.clone()).unwrap(), Array::new([6], at.to_vec()).unwrap()];
        let mut expected = state.clone();
        for &row in at.iter().filter(|row| (0..4).contains(*row)) {
            for (column, element) in expected[row as usize * 5..][..5].iter_mut().enumerate() {
                let update = column as f64 + row as f64;
                *element = match op {
                    ScatterOp::Set => update,
                    ScatterOp::Add => *element + update,
                    _ => element.max(update),
                };
            }
        }
        let reference = evaluate(&graph, &inputs).unwrap();
        assert_eq!(reference[0].elements::<f64>().unwrap(), expected, "{op}");
        let views: Vec<ArrayView<'_>> = inputs.iter().map(ArrayView::from).collect();
        for options in executors() {
            let found = compile(&graph, &options).unwrap().run(&views).unwrap();
            assert_eq!(found[0].elements::<f64>().unwrap(), expected, "{op} {options:?}");
        }
    }
}

/// A run whose progress function stops it at call `stop_at`: its result, the calls and the elements.
fn counted(
    executable: &Executable,
    inputs: &[Array],
    threads: Threads<'_>,
    stop_at: usize,
) -> (Result<(), RunError>, usize, usize) {
    let (calls, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let progress = |elements| {
        done.fetch_add(elements, Ordering::Relaxed);
        match calls.fetch_add(1, Ordering::Relaxed) + 1 == stop_at {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let views: Vec<ArrayView<'_>> = inputs.iter().map(ArrayView::from).collect();
    let options = RunOptions::new().threads(threads).progress(&progress);
    let result = executable.run_with(&views, &options).map(drop);
    (result, calls.into_inner(), done.into_inner())
}

/// A step reports its state, its row and its scalars, also if the stack has many rows.
#[test]
fn a_step_reports_the_row_that_it_writes() {
    for options in executors() {
        for count in [1, 64, 20_000] {
            let total = |steps: usize| {
                let inputs = [
                    shaped(&[steps, count], &elements(steps * count)),
                    shaped(&[count], &elements(count)),
                ];
                let executable = compile(&scan(steps, &[count], false), &options).unwrap();
                let (result, _, done) = counted(&executable, &inputs, Threads::Caller, usize::MAX);
                assert_eq!(result, Ok(()));
                done
            };
            // The rows of two runs differ, and nothing else does. Small stacks are copied to the result.
            let step = (total(20) - total(10)) / 10;
            assert!((2 * count..=3 * count + 16).contains(&step), "{step} elements of {count}");
            assert_eq!(total(30) - total(20), total(20) - total(10));
        }
    }
}

#[test]
fn threads_report_a_large_row_once() {
    let count = 1 << 18;
    let inputs = [shaped(&[3, count], &elements(3 * count)), shaped(&[count], &elements(count))];
    let executable = compile(&scan(3, &[count], false), &CompileOptions::new()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let (_, _, one) = counted(&executable, &inputs, Threads::Caller, usize::MAX);
    let (_, _, several) = counted(&executable, &inputs, Threads::Pool(&pool), usize::MAX);
    assert_eq!(one, several);
}

#[test]
fn a_run_stops_at_any_call_of_a_step() {
    let inputs = [shaped(&[40, 8], &elements(320)), shaped(&[8], &elements(8))];
    let executable = compile(&scan(40, &[8], false), &CompileOptions::new()).unwrap();
    let (result, calls, _) = counted(&executable, &inputs, Threads::Caller, usize::MAX);
    assert_eq!(result, Ok(()));
    // The state, the row, and the counter with its condition.
    assert!(calls >= 40 * 3, "{calls}");
    for stop_at in 1..=calls {
        let (result, stopped, _) = counted(&executable, &inputs, Threads::Caller, stop_at);
        assert_eq!((result, stopped), (Err(RunError::Stopped), stop_at));
    }
}
