//! Benchmarks: each job by indim and by a hand-written fused loop, in one run.
//!
//! The loop is the limit: plain Rust over slices, compiled for the same instruction sets, with the
//! same threads, into memory that is warm. The machine may be noisy, so the two take turns and the
//! medians and their ratio are printed. Every run checks the results.

mod jobs;
mod limit;

use std::time::{Duration, Instant};

use indim::{ArrayView, ArrayViewMut, CompileOptions, compile};
use jobs::{Job, jobs};

/// Pairs of runs that are counted.
const PAIRS: usize = 15;

fn main() {
    let threads: usize = match std::env::args().nth(1).map(|text| text.parse()) {
        None => 2,
        Some(Ok(threads)) => threads,
        Some(Err(_)) => return eprintln!("cargo xtask bench [THREADS]"),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.expect("threads can be started");
    eprintln!(
        "level {}, {threads} threads, f32, into warm memory, medians of {PAIRS}",
        indim::Level::detect()
    );
    eprintln!(
        "{:<28}{:>12}{:>14}{:>12}{:>12}{:>8}",
        "job", "size", "elements/s", "bytes/s", "limit", "ratio"
    );
    for job in jobs() {
        pool.install(|| measure(&job));
    }
}

fn measure(job: &Job) {
    let executable = compile(&job.graph(), &CompileOptions::default()).expect("the job compiles");
    let inputs: Vec<Vec<f32>> = job.inputs();
    let elements = job.rows * job.columns;
    let (mut ours, mut theirs) = (vec![0.0f32; elements], vec![0.0f32; elements]);
    let (mut our_times, mut limit_times) = (Vec::new(), Vec::new());
    for _ in 0..=PAIRS {
        let views: Vec<ArrayView<'_>> = job
            .shapes()
            .into_iter()
            .zip(&inputs)
            .map(|(shape, elements)| ArrayView::from_slice(shape, elements).expect("it fits"))
            .collect();
        let output = ArrayViewMut::from_slice([job.rows, job.columns], &mut ours).expect("it fits");
        let mut outputs = [output];
        our_times.push(timed(|| executable.run_into(&views, &mut outputs).expect("it runs")));
        limit_times.push(timed(|| limit::run(job, &inputs, &mut theirs)));
    }
    assert_eq!(ours, theirs, "{}: the results differ", job.name);
    report(job, elements, median(our_times), median(limit_times));
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// The median without the first run, which warms the memory.
fn median(mut times: Vec<Duration>) -> f64 {
    times.remove(0);
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn report(job: &Job, elements: usize, ours: f64, limit: f64) {
    let bytes =
        4 * (elements + job.shapes().iter().map(|s| s.iter().product::<usize>()).sum::<usize>());
    let rate = |amount: usize, time: f64| amount as f64 / time / 1e9;
    let size = format!("{} KiB", elements * 4 / 1024);
    eprintln!(
        "{:<28}{:>12}{:>10.2} G/s{:>7.1} GB/s{:>7.1} GB/s{:>8.2}",
        job.name,
        size,
        rate(elements, ours),
        rate(bytes, ours),
        rate(bytes, limit),
        ours / limit
    );
}
