//! Benchmarks: each job by indim, by a hand-written loop, and by its peers, in one run.
//!
//! The loop is the limit: plain Rust over slices, compiled for the same instruction sets, with the same
//! threads, into warm memory. `README.md` explains the table. Every run checks the results: those of the loop
//! bit for bit, those of peers to a tolerance.

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
use jobs::{bias, chain, complex, features, functions, fused, pictures, reductions};
use measure::measure;
use python::Python;
use record::Record;
use sizes::Sizes;

const HELP: &str = "\
cargo xtask bench OPTIONS
  --job TEXT       only jobs whose names contain this, or one of several such texts with | between them
  --size SIZE      only this size: 128B, 64KiB, 1MiB, 64MiB
  --large          rasters of 460MiB too
  --threads N      threads of every engine that can; 2 if not said
  --seconds TIME   about how long each job at each size is measured; 1.5 if not said
  --peers          against ndarray and candle
  --python         against NumPy, numexpr, JAX and OpenVINO, in an environment under target/
  --record NOTE    keep the times in bench/records/, with a note on the machine";

/// The command-line options.
pub(crate) struct Request {
    pub(crate) threads: usize,
    pub(crate) budget: Duration,
    job: String,
    size: Option<String>,
    large: bool,
    /// The interpreter with the Python libraries.
    python: Option<String>,
    /// The note of the record.
    record: Option<String>,
}

impl Request {
    /// Whether the job of this name is requested.
    fn includes_job(&self, name: &str) -> bool {
        self.job.split('|').any(|part| name.contains(part))
    }

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

    /// Refuses an unknown name or size, whose table would be empty after a long start.
    fn check(&self) -> Result<(), String> {
        let jobs = all_jobs();
        let named = || jobs.iter().filter(|(name, _)| self.includes_job(name));
        if named().next().is_none() {
            let names: Vec<&str> = jobs.iter().map(|(name, _)| *name).collect();
            let (job, names) = (&self.job, names.join(", "));
            return Err(format!("no job's name contains `{job}`; the jobs are {names}"));
        }
        let mut sizes: Vec<&str> = Vec::new();
        for (size, _) in named().flat_map(|(_, sizes)| sizes.iter()) {
            if !sizes.contains(size) {
                sizes.push(size);
            }
        }
        match sizes.iter().any(|size| self.includes_size(size)) {
            true => Ok(()),
            false => {
                let (size, sizes) = (self.size.as_deref().unwrap_or_default(), sizes.join(", "));
                Err(format!("there is no size `{size}` here; the sizes are {sizes}"))
            }
        }
    }

    fn includes_size(&self, size: &str) -> bool {
        match &self.size {
            Some(requested) => requested == size,
            None => self.large || size != sizes::LARGE,
        }
    }
}

/// Passes every job, as module and type, to a macro.
macro_rules! for_each_job {
    ($apply:ident) => {
        $apply![
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
            reductions::Sum,
            reductions::RowSums,
            reductions::ColumnSums,
            reductions::Mean,
            reductions::Maximum,
            reductions::RowMaxima,
            reductions::ColumnMaxima,
            reductions::SquaredDistance,
            reductions::RowDistances,
            reductions::ColumnDistances,
            reductions::RowPlaces,
            reductions::ColumnPlaces,
            reductions::AnyAbove,
            reductions::CountAbove,
            reductions::Threes,
            reductions::Seventeens,
            reductions::Hundreds,
            reductions::Thousands,
            reductions::EightColumns,
            reductions::MiddleAxis,
            reductions::RowVariances,
            reductions::Softmax,
            reductions::LogSumExp,
            reductions::Standardise,
            reductions::PairDistances,
            reductions::NearestPair
        ]
    };
}

/// Prints the name and the sizes of each job.
fn all_jobs() -> Vec<(&'static str, Sizes)> {
    macro_rules! list {
        ($($module:ident::$job:ident),*) => {
            vec![$((<$module::$job as Job>::NAME, <$module::$job as Job>::SIZES)),*]
        };
    }
    for_each_job!(list)
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
    request.check()?;
    // The pool that helps callers outside it.
    rayon::ThreadPoolBuilder::new().num_threads(request.threads).build_global()?;
    let mut session = Session {
        request,
        python: request.python.as_deref().map(|it| Python::start(it, request)).transpose()?,
        record: request.record.as_deref().map(|note| Record::start(note, request)).transpose()?,
    };
    report::heading(request.threads);
    rayon::scope(|_| session.run_all()).map_err(Into::into)
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
            ($($module:ident::$job:ident),*) => { $(self.run_job::<$module::$job>()?;)* };
        }
        for_each_job!(run);
        Ok(())
    }

    fn run_job<J: Job>(&mut self) -> std::io::Result<()> {
        if !self.request.includes_job(J::NAME) {
            return Ok(());
        }
        for (size, space) in J::SIZES.iter().filter(|(size, _)| self.request.includes_size(size)) {
            let measured = measure::<J>(size, *space, self.request.budget, self.python.as_mut())?;
            report::row(&measured);
            if let Some(record) = &mut self.record {
                record.add(&measured)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Request;

    fn check(arguments: &[&str]) -> Result<(), String> {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned());
        Request::parse(arguments).expect("options").check()
    }

    #[test]
    fn what_matches_nothing_is_refused() {
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&["--size", "64KiB"]), Ok(()));
        assert_eq!(check(&["--job", "gelu", "--size", "1MiB"]), Ok(()));
        let error = check(&["--size", "64 KiB"]).unwrap_err();
        assert!(
            error.contains("`64 KiB`") && error.contains("128B, 64KiB, 1MiB, 64MiB"),
            "{error}"
        );
        let error = check(&["--job", "no such"]).unwrap_err();
        assert!(error.contains("gelu"), "{error}");
        assert!(check(&["--job", "gelu", "--size", "460MiB"]).is_err());
    }
}
