//! The progress function can stop a run, and each checkpoint can stop compilation.

use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    ArrayView, CompileError, CompileOptions, Executable, RunError, RunOptions, Threads, compile,
    compile_with,
};
use indim_graph::{Array, TakeMode};
use indim_ops::{DType, SearchSide};

const LENGTH: usize = 1 << 24;

fn negation() -> Executable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [LENGTH]).unwrap();
    let graph = b.finish(&[-x]).unwrap();
    compile(&graph, &CompileOptions::default()).unwrap()
}

#[test]
fn a_run_stops_between_pieces_with_an_error() {
    let executable = negation();
    let x = vec![1.0f32; LENGTH];
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let done = AtomicUsize::new(0);
        let stop = |elements| {
            done.fetch_add(elements, Ordering::Relaxed);
            ControlFlow::Break(())
        };
        let view = ArrayView::from_slice([LENGTH], &x).unwrap();
        let options = RunOptions::new().progress(&stop);
        let result = pool.install(|| executable.run_with(&[view], &options));
        assert_eq!(result.unwrap_err(), RunError::Stopped);
        assert!(done.into_inner() < LENGTH);
    }
}

#[test]
fn progress_counts_every_element_once() {
    let executable = negation();
    let x = vec![1.0f32; LENGTH];
    let done = AtomicUsize::new(0);
    let count = |elements| {
        done.fetch_add(elements, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let view = ArrayView::from_slice([LENGTH], &x).unwrap();
    let options = RunOptions::new().progress(&count);
    let result = executable.run_with(&[view], &options).unwrap();
    assert_eq!(done.into_inner(), LENGTH);
    assert!(result[0].elements::<f32>().unwrap().iter().all(|&y| y == -1.0));
}

/// Programs of one nest that is one tile, over `LONG` elements `x` and indices `i`. All of their work is
/// within the tile, or before it.
fn long_tiles() -> Vec<(&'static str, Executable)> {
    let program = |indices: usize, make: &dyn Fn(&GraphBuilder, Value, Value) -> Value| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [LONG]).unwrap();
        let i = b.parameter("i", DType::I64, [indices]).unwrap();
        compile(&b.finish(&[make(&b, x, i)]).unwrap(), &CompileOptions::default()).unwrap()
    };
    let zeros = |b: &GraphBuilder, shape: [usize; 2]| {
        b.constant(Array::new(shape, vec![0.0; shape[0] * shape[1]]).unwrap())
    };
    let add = |b: &GraphBuilder, x: Value, i: Value, row: usize| {
        let updates = b.reshape(x, &[LONG / row, row][..]).unwrap();
        b.scatter_add(zeros(b, [2, row]), i, updates, 0, TakeMode::Wrap).unwrap()
    };
    vec![
        ("sort", program(LONG, &|b, x, _| b.sort(x, 0, false).unwrap())),
        ("argsort", program(LONG, &|b, x, _| b.argsort(x, 0, true).unwrap())),
        ("lexsort", program(LONG, &|b, x, i| b.argsort_by(&[i, x], 0, false).unwrap())),
        ("scatter of elements", program(LONG, &|b, x, i| add(b, x, i, 1))),
        ("scatter of rows", program(LONG / 2, &|b, x, i| add(b, x, i, 2))),
        (
            "searchsorted",
            program(1, &|b, x, _| b.search_sorted(x, zeros(b, [1, 1]), SearchSide::Left).unwrap()),
        ),
    ]
}

/// Elements of a long tile.
const LONG: usize = 1 << 18;

/// Upper bound of the elements that a pass reads between two calls of the progress function.
const ELEMENTS_PER_CALL: usize = 1 << 17;

#[test]
fn long_tiles_stop_at_any_call_and_count_every_element_once() {
    let x: Vec<f64> = (0..LONG).map(|index| ((index * 7919) % LONG) as f64).collect();
    let i: Vec<i64> = (0..LONG).map(|index| (index * 31 % 3) as i64).collect();
    for (name, executable) in long_tiles() {
        let run = |stop_at: usize| {
            let (calls, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let progress = |elements| {
                done.fetch_add(elements, Ordering::Relaxed);
                match calls.fetch_add(1, Ordering::Relaxed) + 1 == stop_at {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let views = executable.parameters().iter().map(|of| match of.dtype {
                DType::F64 => ArrayView::from_slice([LONG], &x).unwrap(),
                _ => {
                    let count = of.shape.element_count().unwrap();
                    ArrayView::from_slice([count], &i[..count]).unwrap()
                }
            });
            let views: Vec<_> = views.collect();
            let options = RunOptions::new().threads(Threads::Caller).progress(&progress);
            let result = executable.run_with(&views, &options).map(drop);
            (result, calls.into_inner(), done.into_inner())
        };
        let (result, calls, done) = run(usize::MAX);
        assert_eq!(result, Ok(()), "{name}");
        assert!(calls >= LONG / ELEMENTS_PER_CALL, "{name}: {calls} calls");
        let elements: usize = executable.outputs()[0].shape.element_count().unwrap();
        assert!((elements..=2 * elements + 16384).contains(&done), "{name}: {done} elements");
        for stop_at in [1, 2, calls / 2, calls] {
            let (result, calls, _) = run(stop_at);
            assert_eq!((result, calls), (Err(RunError::Stopped), stop_at), "{name}");
        }
    }
}

#[test]
fn another_thread_stops_a_sort_at_the_next_call() {
    let (_, executable) = long_tiles().remove(0);
    let x: Vec<f64> = (0..LONG).map(|index| ((index * 7919) % LONG) as f64).collect();
    let indices = vec![0_i64; LONG];
    let (is_cancelled, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let started = Barrier::new(2);
    let progress = |_| {
        if calls.fetch_add(1, Ordering::Relaxed) == 0 {
            started.wait();
            started.wait();
        }
        match is_cancelled.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let stopped = thread::scope(|scope| {
        scope.spawn(|| {
            started.wait();
            is_cancelled.store(true, Ordering::Relaxed);
            started.wait();
        });
        let views = [ArrayView::from_slice([LONG], &x), ArrayView::from_slice([LONG], &indices)];
        let views = views.map(Result::unwrap);
        executable.run_with(&views, &RunOptions::new().progress(&progress))
    });
    assert_eq!(stopped.unwrap_err(), RunError::Stopped);
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn compiling_can_be_stopped_at_every_checkpoint() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F64, [3, 3]).unwrap());
    let v = b.parameter("v", DType::F64, [3]).unwrap();
    let row = b.broadcast_in_dim(b.sin(&v).unwrap(), &[1], [3, 3]).unwrap();
    let graph = b.finish(&[b.sin(&x).unwrap() * row + y]).unwrap();
    let mut count = 0;
    compile_with(&graph, &CompileOptions::default(), &mut || {
        count += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(count > 4);
    for last in 0..count {
        let mut calls = 0;
        let stopped = compile_with(&graph, &CompileOptions::default(), &mut || {
            calls += 1;
            if calls > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(stopped.unwrap_err(), CompileError::Stopped);
        assert_eq!(calls, last + 1);
    }
}
