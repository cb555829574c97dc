//! The times of one job at one size.
//!
//! The machine may be noisy, so indim, the hand-written loop and the Rust peers take turns, and the times are
//! medians. The Python peers follow immediately, each alone: its arrays stay in the caches, and the threads
//! of others sleep. They are compared with times of indim alone.

use std::time::{Duration, Instant};

use indim::text::{Expression, ParseLimits};
use indim::{ArrayView, ArrayViewMut, CompileOptions, Executable, GraphBuilder, RuleSet, compile};

use crate::job::Job;
use crate::numbers::{Number, is_near};
use crate::python::{Python, Task};
use crate::sizes::Space;

/// Minimum and maximum of measured rounds; the time limit decides between them.
const ROUNDS: std::ops::RangeInclusive<usize> = 5..=201;

/// Minimum elements of a result whose memory comes from the system if none is kept.
const LARGE_RESULT: usize = 1 << 20;

/// The median seconds of a job at one size.
pub(crate) struct Measurement {
    pub(crate) job: &'static str,
    pub(crate) size: &'static str,
    pub(crate) shape: String,
    pub(crate) elements: usize,
    /// The bytes read and written.
    pub(crate) bytes: usize,
    /// `run_into` warm memory.
    pub(crate) ours: f64,
    /// A single `run_into` after a pause of [`PAUSE`].
    pub(crate) rested: f64,
    /// The hand-written loop, into warm memory.
    pub(crate) limit: f64,
    /// `run`, into memory that indim allocates and keeps.
    pub(crate) pooled: f64,
    /// `run`, into memory that is new to the process; `None` for small results.
    pub(crate) fresh: Option<f64>,
    /// `run_into` warm memory with nothing else between its runs; `None` without Python peers.
    pub(crate) alone: Option<f64>,
    pub(crate) peers: Vec<Measured>,
}

/// The median seconds of a peer.
pub(crate) struct Measured {
    pub(crate) engine: String,
    pub(crate) seconds: f64,
    /// The time of indim, measured in the same way, over that of the peer.
    pub(crate) ratio: f64,
}

impl Measured {
    fn new((engine, seconds): (String, f64), ours: f64) -> Measured {
        Measured { engine, seconds, ratio: ours / seconds }
    }
}

impl Measurement {
    /// The fastest peer, in proportion to indim.
    pub(crate) fn best_peer(&self) -> Option<&Measured> {
        self.peers.iter().max_by(|left, right| left.ratio.total_cmp(&right.ratio))
    }
}

/// # Panics
/// If results differ.
pub(crate) fn measure<J: Job>(
    size: &'static str,
    space: Space,
    budget: Duration,
    python: Option<&mut Python>,
) -> std::io::Result<Measurement> {
    let job = J::new(space);
    let executable = prepare(&job);
    let (times, mut results) = take_turns(&job, &executable, budget);
    let bytes = executable.forecast().bytes_read + executable.forecast().bytes_written;
    let (ours, mut alone) = (median(times.ours), None);
    let with = |ours: f64| move |peer| Measured::new(peer, ours);
    let mut peers: Vec<_> = times.peers.into_iter().map(with(ours)).collect();
    if let Some(python) = python {
        let times = python.measure(&Task { job: &job, size, results: &results })?;
        let seconds = run_alone(&job, &executable, &mut results, Python::budget(budget));
        peers.extend(times.into_iter().map(with(seconds)));
        alone = Some(seconds);
    }
    Ok(Measurement {
        job: J::NAME,
        size,
        shape: job.shape().to_string(),
        elements: space.elements(),
        bytes,
        ours,
        rested: median(times.rested),
        limit: median(times.limit),
        pooled: median(times.pooled),
        fresh: (results.len() > LARGE_RESULT).then(|| median(times.fresh)),
        alone,
        peers,
    })
}

fn prepare<J: Job>(job: &J) -> Executable {
    let expression =
        Expression::parse(job.expression(), &ParseLimits::default()).expect("it parses");
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

/// The times of the rounds.
#[derive(Default)]
struct Times {
    ours: Vec<Duration>,
    rested: Vec<Duration>,
    limit: Vec<Duration>,
    pooled: Vec<Duration>,
    fresh: Vec<Duration>,
    /// Medians, already computed.
    peers: Vec<(String, f64)>,
}

/// Measures all engines of this process in turns, and returns the results of indim.
fn take_turns<J: Job>(
    job: &J,
    executable: &Executable,
    budget: Duration,
) -> (Times, Vec<J::Result>) {
    let arguments: Vec<ArrayView<'_>> = job.arguments().into_iter().map(|(_, view)| view).collect();
    let elements = job.space().elements();
    let results = job.shape().iter().product();
    let mut ours = vec![J::Result::default(); results];
    let mut theirs = vec![J::Result::default(); results];
    let mut output = [ArrayViewMut::from_slice(job.shape(), &mut ours).expect("it fits")];
    #[cfg(feature = "peers")]
    let peers = job.peers();
    #[cfg(feature = "peers")]
    let mut peer_times = vec![Vec::new(); peers.len()];
    let repeat = repeats(elements);
    let mut times = Times::default();
    let start = Instant::now();
    while times.ours.len() <= *ROUNDS.start()
        || (start.elapsed() < budget && times.ours.len() <= *ROUNDS.end())
    {
        run_outside_pool(|| {
            let mut run_into = || executable.run_into(&arguments, &mut output).expect("it runs");
            times.ours.push(timed(repeat, &mut run_into));
            times.rested.push(timed_after_pause(run_into));
            times.pooled.push(timed(repeat, || drop(executable.run(&arguments).expect("it runs"))));
            if results > LARGE_RESULT {
                indim::array::set_memory_pool_limit(0);
                times.fresh.push(timed(1, || drop(executable.run(&arguments).expect("it runs"))));
                indim::array::set_memory_pool_limit(1 << 30);
            }
        });
        #[cfg(feature = "peers")]
        for (peer, times) in peers.iter().zip(&mut peer_times) {
            times.push(timed(repeat, || peer.run(std::hint::black_box(&mut theirs))));
        }
        // It runs last, so that its output is compared.
        times.limit.push(timed(repeat, || job.run_by_hand(std::hint::black_box(&mut theirs))));
    }
    let near = |(ours, theirs): (&J::Result, &J::Result)| {
        is_near(ours.real(), theirs.real(), J::TOLERANCE)
    };
    let agree = match J::IS_EXACT {
        true => bits(&ours) == bits(&theirs),
        false => ours.iter().zip(&theirs).all(near),
    };
    assert!(agree, "{}: the results differ", J::NAME);
    #[cfg(feature = "peers")]
    for (peer, peer_times) in peers.iter().zip(peer_times) {
        let agrees = peer.agrees(&ours, &mut theirs, J::TOLERANCE);
        assert!(agrees, "{}: {} differs", J::NAME, peer.engine);
        times.peers.push((peer.engine.to_owned(), median(peer_times)));
    }
    (times, ours)
}

/// Runs within one measurement: small jobs are repeated, because of the clock's resolution.
fn repeats(elements: usize) -> usize {
    (200_000 / elements).max(1)
}

/// The median seconds of `run_into` with nothing else between, like the function `seconds_of` of `peers.py`.
fn run_alone<J: Job>(
    job: &J,
    executable: &Executable,
    results: &mut [J::Result],
    budget: Duration,
) -> f64 {
    let arguments: Vec<ArrayView<'_>> = job.arguments().into_iter().map(|(_, view)| view).collect();
    let mut output = [ArrayViewMut::from_slice(job.shape(), results).expect("it fits")];
    let mut times = Vec::new();
    run_outside_pool(|| {
        let mut run_into = || executable.run_into(&arguments, &mut output).expect("it runs");
        let repeat = repeats(job.space().elements());
        let start = Instant::now();
        while times.len() <= *ROUNDS.start() || start.elapsed() < budget {
            let start = Instant::now();
            (0..repeat).for_each(|_| run_into());
            times.push(start.elapsed() / repeat as u32);
        }
    });
    median(times)
}

fn bits<T: indim::Element>(results: &[T]) -> Vec<u8> {
    indim::array::ArrayData::to_le_bytes(&T::into_data(results.to_vec()))
}

/// Warm-up time of an engine. Afterwards its threads are awake and its memory is in the caches, and the
/// threads of others, which spin for a while (candle's for a millisecond), sleep.
const WARM_UP: Duration = Duration::from_millis(2);

/// Pause before a single call: threads sleep, and other work has used the caches.
const PAUSE: Duration = Duration::from_millis(5);

/// Calls `run` as users do, from a thread outside any pool. The waiting worker leaves the others of its pool
/// to help, so the number of computing threads is that of the hand-written loop.
fn run_outside_pool(run: impl FnOnce() + Send) {
    std::thread::scope(|scope| scope.spawn(run).join()).expect("it runs");
}

/// The time of a single run after a pause.
fn timed_after_pause(mut run: impl FnMut()) -> Duration {
    std::thread::sleep(PAUSE);
    let start = Instant::now();
    run();
    start.elapsed()
}

/// The time of one run.
fn timed(repeat: usize, mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    loop {
        run();
        if start.elapsed() >= WARM_UP {
            break;
        }
    }
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
