//! Peers in Python: `python/peers.py` runs as a child process and answers one task at a time.
//!
//! A task is a JSON line with the expression, the arguments' types and shapes, and a sample of our results
//! for the check. Each engine answers with a line, and an empty object ends the answer.

use std::io::{BufRead, BufReader, Error, Lines, Result, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use indim::Element;
use serde_json::{Value, json};

use crate::Request;
use crate::job::Job;
use crate::numbers::Number;

/// Number of results that a task sends for the check.
const SAMPLE: usize = 64;

/// The child process.
pub(crate) struct Python {
    process: Child,
    tasks: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// A task of the child process.
pub(crate) struct Task<'a, J: Job> {
    pub(crate) job: &'a J,
    pub(crate) size: &'a str,
    /// The result of indim.
    pub(crate) results: &'a [J::Result],
}

impl Python {
    /// Starts the script with this interpreter.
    pub(crate) fn start(interpreter: &str, request: &Request) -> Result<Python> {
        let mut process = Command::new(interpreter)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/python/peers.py"))
            .args(["--threads", &request.threads.to_string()])
            .args(["--seconds", &Python::budget(request.budget).as_secs_f64().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (tasks, answers) = (process.stdin.take(), process.stdout.take());
        Ok(Python {
            process,
            tasks: tasks.expect("it is piped"),
            answers: BufReader::new(answers.expect("it is piped")).lines(),
        })
    }

    /// The time for each engine, if a job has `budget`.
    pub(crate) fn budget(budget: Duration) -> Duration {
        budget / 3
    }

    /// The seconds of each engine that supports the job.
    ///
    /// # Panics
    /// If an engine's results differ from ours.
    pub(crate) fn measure<J: Job>(&mut self, task: &Task<'_, J>) -> Result<Vec<(String, f64)>> {
        writeln!(self.tasks, "{}", task.to_json())?;
        let mut times = Vec::new();
        loop {
            let line = self.answers.next().ok_or_else(|| Error::other("peers.py ended"))??;
            let answer: Value = serde_json::from_str(&line)?;
            let Some(engine) = answer["engine"].as_str() else { return Ok(times) };
            assert!(answer["wrong"].is_null(), "{}: {engine}: {}", J::NAME, answer["wrong"]);
            if let Some(seconds) = answer["seconds"].as_f64() {
                times.push((engine.to_owned(), seconds));
            }
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // The process may have ended already; a failure has no remedy.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl<J: Job> Task<'_, J> {
    fn to_json(&self) -> Value {
        let arguments = self.job.arguments().into_iter().map(|(name, view)| {
            let array_type = view.array_type();
            json!({
                "name": name,
                "dtype": array_type.dtype.name(),
                "shape": array_type.shape.to_vec(),
            })
        });
        let step = (self.results.len() / SAMPLE).max(1);
        let places: Vec<usize> = (0..self.results.len()).step_by(step).collect();
        let parts = |part: fn(J::Result) -> f64| -> Vec<f64> {
            places.iter().map(|&place| part(self.results[place])).collect()
        };
        json!({
            "job": J::NAME,
            "size": self.size,
            "expression": self.job.expression(),
            "arguments": arguments.collect::<Vec<_>>(),
            "dtype": J::Result::DTYPE.name(),
            "shape": self.job.shape().to_vec(),
            "tolerance": J::TOLERANCE,
            "sample": {
                "places": places,
                "real": parts(Number::real),
                "imaginary": parts(Number::imaginary),
            },
        })
    }
}
