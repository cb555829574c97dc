//! Runs programs, and compares their results with expected results.

use indim_cpu::{Array, ArrayView, CompileOptions, compile};
use indim_model::{Mismatch, Tolerance};

use super::error::LoadError;
use super::loaded::LoadedModel;

/// The report of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// Number of compared results.
    pub compared: usize,
    /// The results that differ.
    pub failures: Vec<CheckFailure>,
}

/// A result that differs from the expected one.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckFailure {
    /// Location of the expectation in the file, or the name of the output.
    pub place: String,
    /// The difference from the expected result.
    pub difference: Mismatch,
}

impl LoadedModel {
    /// Runs a program without inputs, and checks the expectations in its file, such as `check.expect_eq`.
    /// Compares nothing if the program has inputs.
    ///
    /// # Errors
    /// Like [`LoadedModel::run`].
    pub fn check(&self) -> Result<CheckReport, LoadError> {
        if !self.inputs().is_empty() {
            return Ok(CheckReport { compared: 0, failures: Vec::new() });
        }
        let program = self.program(&[])?;
        let executable = compile(&program.graph, &CompileOptions::default());
        let run = executable.map_err(|error| self.error(error))?.run(&[]);
        let results = run.map_err(|error| self.error(error))?;
        let mut failures = Vec::new();
        for expectation in &program.expectations {
            let [found, expected] =
                [expectation.result, expectation.expected].map(|output| results[output].clone());
            if let Some(difference) = expectation.tolerance.compare(&found, &expected) {
                let place = expectation.location.shown(self.source());
                failures.push(CheckFailure { place, difference });
            }
        }
        Ok(CheckReport { compared: program.expectations.len(), failures })
    }

    /// Runs the program on these inputs, and compares its results with `expected`.
    ///
    /// # Errors
    /// Like [`LoadedModel::run`].
    pub fn check_against(
        &self,
        inputs: &[Option<ArrayView<'_>>],
        expected: &[indim_graph::Array],
        tolerance: Tolerance,
    ) -> Result<CheckReport, LoadError> {
        let results: Vec<Array> = self.run(inputs)?;
        let mut failures = Vec::new();
        if results.len() != expected.len() {
            failures.push(CheckFailure {
                place: "outputs".to_owned(),
                difference: of_counts(results.len(), expected.len()),
            });
        }
        for (index, (found, expected)) in results.iter().zip(expected).enumerate() {
            if let Some(difference) = tolerance.compare(&found.clone(), expected) {
                let name = self.outputs().get(index).map_or("", String::as_str);
                let name = indim_graph::terminal::printable(name);
                let place = format!("output {index} `{name}`");
                failures.push(CheckFailure { place, difference });
            }
        }
        Ok(CheckReport { compared: expected.len(), failures })
    }
}

/// The mismatch of a program that has `found` outputs where `expected` are expected.
fn of_counts(found: usize, expected: usize) -> Mismatch {
    let count = found.abs_diff(expected);
    let (found, wanted) = (format!("{found} outputs"), format!("{expected}"));
    Mismatch { count, elements: expected, first: 0, found, expected: wanted }
}
