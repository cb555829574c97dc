//! Benchmarks: each job by indim, by a loop written by hand, and by its peers, in one run.
//!
//! The loop is the limit: plain Rust over slices, compiled for the same instruction sets, with the
//! same threads, into memory that is warm. `README.md` says how to read the table. Every run checks
//! the results: of the loop bit for bit, of peers to a tolerance.

mod job;
mod jobs;
mod measure;
mod numbers;
#[cfg(feature = "peers")]
mod peers;
mod python;
mod record;
mod report;
mod sizes;

use std::process::ExitCode;
use std::time::Duration;

use job::Job;
use jobs::{bias, chain, complex, features, functions, fused, pictures};
use measure::measure;
use python::Python;
use record::Record;

const HELP: &str = "\
cargo xtask bench OPTIONS
  --job TEXT       only jobs whose names contain this
  --size SIZE      only this size: 128B, 64KiB, 1MiB, 64MiB
  --large          rasters of 460MiB too
  --threads N      threads of every engine that can; 2 if not said
  --seconds TIME   about how long each job at each size is measured; 1.5 if not said
  --peers          against ndarray and candle
  --python         against NumPy, numexpr, JAX and OpenVINO, in an environment under target/
  --record NOTE    keep the times in bench/records/, with a note on the machine";

/// What is asked for on the command line.
pub(crate) struct Request {
    pub(crate) threads: usize,
    pub(crate) budget: Duration,
    job: String,
    size: Option<String>,
    large: bool,
    /// The interpreter that has the libraries of Python.
    python: Option<String>,
    /// The note of the record.
    record: Option<String>,
}

impl Request {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Request> {
        let mut request = Request {
            threads: 2,
            budget: Duration::from_millis(1500),
            job: String::new(),
            size: None,
            large: false,
            python: None,
            record: None,
        };
        while let Some(argument) = arguments.next() {
            if argument == "--large" {
                request.large = true;
                continue;
            }
            let value = arguments.next()?;
            match argument.as_str() {
                "--threads" => request.threads = value.parse().ok().filter(|&count| count > 0)?,
                "--seconds" => {
                    request.budget = Duration::try_from_secs_f64(value.parse().ok()?).ok()?;
                }
                "--job" => request.job = value,
                "--size" => request.size = Some(value),
                "--python" => request.python = Some(value),
                "--record" => request.record = Some(value),
                _ => return None,
            }
        }
        Some(request)
    }

    fn wants(&self, size: &str) -> bool {
        match &self.size {
            Some(asked) => asked == size,
            None => self.large || size != sizes::LARGE,
        }
    }
}

fn main() -> ExitCode {
    let Some(request) = Request::parse(std::env::args().skip(1)) else {
        eprintln!("{HELP}");
        return ExitCode::from(2);
    };
    match run(&request) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(request: &Request) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.threads).build()?;
    let mut session = Session {
        request,
        python: request.python.as_deref().map(|it| Python::start(it, request)).transpose()?,
        record: request.record.as_deref().map(|note| Record::start(note, request)).transpose()?,
    };
    report::heading(request.threads);
    pool.install(|| session.run_all()).map_err(Into::into)
}

/// A run over jobs and sizes.
struct Session<'a> {
    request: &'a Request,
    python: Option<Python>,
    record: Option<Record>,
}

impl Session<'_> {
    fn run_all(&mut self) -> std::io::Result<()> {
        macro_rules! run {
            ($($module:ident::$job:ident),* $(,)?) => { $(self.run_job::<$module::$job>()?;)* };
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
            chain::Chain,
            functions::ExpJob,
            functions::LogisticJob,
            functions::Gelu,
            functions::Circle,
            functions::Polynomial,
            functions::BlackScholes,
            pictures::PicturesLast,
            pictures::PicturesFirst,
            pictures::VegetationIndex,
            pictures::QualityMask,
            features::Bias,
            features::BiasF16,
            features::BiasBf16,
            features::Relu,
            features::ReluF16,
            features::ReluBf16,
            complex::Conjugate,
            complex::Power,
        ];
        Ok(())
    }

    fn run_job<J: Job>(&mut self) -> std::io::Result<()> {
        if !J::NAME.contains(&self.request.job) {
            return Ok(());
        }
        for (size, space) in J::SIZES.iter().filter(|(size, _)| self.request.wants(size)) {
            let measured = measure::<J>(size, *space, self.request.budget, self.python.as_mut())?;
            report::row(&measured);
            if let Some(record) = &mut self.record {
                record.add(&measured)?;
            }
        }
        Ok(())
    }
}
