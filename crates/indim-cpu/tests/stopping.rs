//! The progress function can stop a run, and each checkpoint can stop compilation.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use indim_builder::GraphBuilder;
use indim_cpu::{
    ArrayView, CompileError, CompileOptions, Executable, RunError, RunOptions, compile,
    compile_with,
};
use indim_ops::DType;

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
