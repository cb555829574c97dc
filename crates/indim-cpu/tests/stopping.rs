//! A run can be stopped from its progress function.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use indim_builder::GraphBuilder;
use indim_cpu::{ArrayView, CompileOptions, Executable, RunError, RunOptions, compile};
use indim_ops::DType;

const LENGTH: usize = 1 << 24;

fn negation() -> Executable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [LENGTH]).unwrap();
    let graph = b.finish(&[-x]).unwrap();
    compile(&graph, &CompileOptions::default()).unwrap()
}

#[test]
fn a_run_stops_between_pieces_and_says_so() {
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
        let options = RunOptions { progress: &stop, ..RunOptions::default() };
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
    let options = RunOptions { progress: &count, ..RunOptions::default() };
    let result = executable.run_with(&[view], &options).unwrap();
    assert_eq!(done.into_inner(), LENGTH);
    assert!(result[0].elements::<f32>().unwrap().iter().all(|&y| y == -1.0));
}
