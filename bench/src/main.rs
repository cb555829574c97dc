//! Benchmarks: each job by indim and by a loop written by hand, in one run.
//!
//! The loop is the limit: plain Rust over slices, compiled for the same instruction sets, with the
//! same threads, into memory that is warm. The machine may be noisy, so the two take turns and the
//! medians and their ratio are printed. Every run checks the results, bit for bit.

mod job;
mod jobs;
mod numbers;

use std::time::{Duration, Instant};

use indim::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, Expression, GraphBuilder, Limits, RuleSet,
    compile,
};
use job::{Job, Space, run_by_hand};
use jobs::{bias, functions, fused, pictures};

const HELP: &str = "cargo xtask bench [--threads N] [--job TEXT] [--size 128B|64KiB|1MiB|64MiB]";

/// Pairs of runs that are counted: enough for a second of each, between these.
const PAIRS: std::ops::RangeInclusive<usize> = 5..=201;

/// How long a job at one size is measured.
const BUDGET: Duration = Duration::from_millis(1500);

/// What is asked for on the command line.
struct Request {
    threads: usize,
    job: String,
    size: Option<String>,
}

fn main() {
    let Some(request) = parse(std::env::args().skip(1)) else { return eprintln!("{HELP}") };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.threads).build();
    let pool = pool.expect("threads can be started");
    eprintln!("level {}, {} threads, into warm memory", indim::Level::detect(), request.threads);
    eprintln!(
        "ratio: to the loop by hand; run, fresh: of `run` to `run_into`, its memory kept or new"
    );
    eprintln!(
        "{:<24}{:>8}{:>13}{:>14}{:>14}{:>8}{:>8}{:>8}",
        "job", "size", "elements/s", "bytes/s", "limit", "ratio", "run", "fresh"
    );
    pool.install(|| run_all(&request));
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Request> {
    let mut request = Request { threads: 2, job: String::new(), size: None };
    while let Some(argument) = arguments.next() {
        let value = arguments.next()?;
        match argument.as_str() {
            "--threads" => request.threads = value.parse().ok()?,
            "--job" => request.job = value,
            "--size" => request.size = Some(value),
            _ => return None,
        }
    }
    Some(request)
}

/// Iteration spaces of 128 bytes (32 elements of f32), 64 KiB, 1 MiB and 64 MiB, as near to a
/// square as threes allow: some jobs have three channels.
const SIZES: [(&str, Space); 4] = [
    ("128B", Space { rows: 3, columns: 12 }),
    ("64KiB", Space { rows: 126, columns: 132 }),
    ("1MiB", Space { rows: 510, columns: 516 }),
    ("64MiB", Space { rows: 4095, columns: 4098 }),
];

fn run_all(request: &Request) {
    macro_rules! run {
        ($($module:ident::$job:ident),* $(,)?) => {
            for (size, space) in SIZES {
                if request.size.as_deref().is_some_and(|asked| asked != size) {
                    continue;
                }
                $(measure(|| $module::$job::new(space), size, request);)*
            }
        };
    }
    run![
        bias::RowBias,
        bias::ColumnBias,
        bias::OuterProduct,
        bias::Kept,
        fused::Normalise,
        fused::MultiplyAdd,
        fused::MultiplyAddF64,
        fused::LinearCombination,
        fused::Predicate,
        fused::Points,
        functions::ExpJob,
        functions::LogisticJob,
        functions::Gelu,
        functions::Circle,
        functions::Polynomial,
        functions::BlackScholes,
        pictures::PicturesLast,
        pictures::PicturesFirst,
        pictures::ScaleShiftRelu,
        pictures::VegetationIndex,
        pictures::QualityMask,
    ];
}

fn measure<J: Job>(make: impl FnOnce() -> J, size: &str, request: &Request) {
    let job = make();
    if !job.name().contains(&request.job) {
        return;
    }
    let executable = prepare(&job);
    let arguments: Vec<ArrayView<'_>> = job.arguments().into_iter().map(|(_, view)| view).collect();
    let elements = job.space().elements();
    let (mut ours, mut theirs) =
        (vec![J::Result::default(); elements], vec![J::Result::default(); elements]);
    let mut output = [ArrayViewMut::from_slice(job.shape(), &mut ours).expect("it fits")];
    // Small jobs are repeated within one measurement, so that the clock can see them.
    let repeat = (200_000 / elements).max(1);
    let mut times = Times::default();
    let start = Instant::now();
    while times.ours.len() <= *PAIRS.start()
        || (start.elapsed() < BUDGET && times.ours.len() <= *PAIRS.end())
    {
        times.ours.push(timed(repeat, || {
            executable.run_into(&arguments, &mut output).expect("it runs");
        }));
        times.limit.push(timed(repeat, || run_by_hand(&job, std::hint::black_box(&mut theirs))));
        drop(executable.run(&arguments));
        times.kept.push(timed(repeat, || drop(executable.run(&arguments).expect("it runs"))));
        if job.space().elements() > 1 << 20 {
            indim::keep_memory(0);
            times.fresh.push(timed(1, || drop(executable.run(&arguments).expect("it runs"))));
            indim::keep_memory(1 << 30);
        }
    }
    drop(output);
    let bits = |results: &[J::Result]| {
        indim::ArrayData::to_le_bytes(&indim::Element::into_data(results.to_vec()))
    };
    assert!(bits(&ours) == bits(&theirs), "{}: the results differ", job.name());
    let bytes = executable.forecast().bytes_read + executable.forecast().bytes_written;
    report(&job, size, bytes, times);
}

/// The times of the runs.
#[derive(Default)]
struct Times {
    /// Into warm memory.
    ours: Vec<Duration>,
    /// The loop by hand, into warm memory.
    limit: Vec<Duration>,
    /// Into memory that indim allocates and keeps.
    kept: Vec<Duration>,
    /// Into memory that is new to the process.
    fresh: Vec<Duration>,
}

fn prepare<J: Job>(job: &J) -> Executable {
    let expression = Expression::parse(job.expression(), &Limits::default()).expect("it parses");
    let b = GraphBuilder::new();
    let values: Vec<_> = job
        .arguments()
        .into_iter()
        .map(|(name, view)| {
            let array_type = view.array_type().clone();
            (name, b.parameter(name, array_type.dtype, array_type.shape).expect("names differ"))
        })
        .collect();
    let value = expression.build(&b, &values, Some(&RuleSet::Numpy)).expect("it is legal");
    let graph = b.finish(&[value]).expect("it is complete");
    compile(&graph, &CompileOptions::default()).expect("it compiles")
}

fn timed(repeat: usize, mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..repeat {
        run();
    }
    start.elapsed() / repeat as u32
}

/// The median without the first run, which warms the memory.
fn median(mut times: Vec<Duration>) -> f64 {
    times.remove(0);
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn report<J: Job>(job: &J, size: &str, bytes: usize, times: Times) {
    let rate = |amount: usize, time: f64| amount as f64 / time / 1e9;
    let (ours, limit) = (median(times.ours), median(times.limit));
    let relative = |times: Vec<Duration>| match times.len() {
        0 => "-".to_owned(),
        _ => format!("{:.2}", median(times) / ours),
    };
    eprintln!(
        "{:<24}{:>8}{:>9.2} G/s{:>9.1} GB/s{:>9.1} GB/s{:>8.2}{:>8}{:>8}",
        job.name(),
        size,
        rate(job.space().elements(), ours),
        rate(bytes, ours),
        rate(bytes, limit),
        ours / limit,
        relative(times.kept),
        relative(times.fresh),
    );
}
