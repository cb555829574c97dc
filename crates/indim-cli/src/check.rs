//! `indim check`: runs programs that contain their expected results, and compares.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use indim::Array;
use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::{
    CheckFailure, CheckReport, FormatLimits, LintOptions, LintReport, LoadError, LoadedModel,
    Mismatch, ReadOptions, SourceFile, Tolerance, read_onnx_tensor,
};
use indim_graph::terminal::printable;

use crate::failure::Failure;
use crate::model::open;
use crate::output::print;

/// Run programs that state their expected results, and compare the results with these.
#[derive(Debug, Args)]
#[command(after_help = "\
A StableHLO file states its expected results by `check.expect_*` operations. An ONNX test is a folder with
model.onnx, test_data_set_N/input_N.pb and test_data_set_N/output_N.pb. If FILE is a folder of such folders,
all its tests run. A program with operations that indim does not compute counts as out of scope; it fails
only if its types are illegal.

  indim check add.mlir divide.mlir
  indim check onnx/backend/test/data/node")]
pub(crate) struct Check {
    /// A program, a folder with one test, or a folder of such folders.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    tolerance: ToleranceArgs,
    /// Print failures only.
    #[arg(long)]
    quiet: bool,
}

/// The tolerance for floats, as options.
#[derive(Debug, Args)]
pub(crate) struct ToleranceArgs {
    /// Relative tolerance for floats of ONNX tests and dumps: a result may differ from the expected value by
    /// at most `absolute + relative * |expected|`.
    #[arg(long, value_name = "FACTOR", default_value_t = 1e-3)]
    relative: f64,
    /// Absolute tolerance for floats of ONNX tests and dumps.
    #[arg(long, value_name = "DIFFERENCE", default_value_t = 1e-7)]
    absolute: f64,
}

impl ToleranceArgs {
    /// The tolerance.
    pub(crate) fn tolerance(&self) -> Tolerance {
        Tolerance::Close { absolute: self.absolute, relative: self.relative }
    }
}

/// The number of checks with each result. A program is one check, and so is each data set of an ONNX
/// test.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    out_of_scope: usize,
}

impl Check {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut counts = Counts::default();
        for file in &self.files {
            self.check(file, &mut counts)?;
        }
        let Counts { passed, failed, out_of_scope } = counts;
        let total = format!("{passed} passed, {failed} failed, {out_of_scope} out of scope\n");
        print(total.as_bytes())?;
        if failed > 0 { Err(Failure::AlreadyReported) } else { Ok(()) }
    }

    fn check(&self, path: &Path, counts: &mut Counts) -> Result<(), Diagnostic> {
        if path.is_dir() {
            return self.check_folder(path, counts);
        }
        for source in open(path)?.pieces() {
            let name = piece_name(&source);
            let result = LoadedModel::from_source(source.clone(), &ReadOptions::default())
                .and_then(|model| model.check());
            self.report((&name, &source), result, counts)?;
        }
        Ok(())
    }

    /// Checks a folder that contains one test, or folders of tests.
    fn check_folder(&self, folder: &Path, counts: &mut Counts) -> Result<(), Diagnostic> {
        let model = folder.join("model.onnx");
        if model.exists() {
            return self.check_onnx(folder, &model, counts);
        }
        let mut tests: Vec<PathBuf> = list_folder(folder)?;
        tests.retain(|path| path.join("model.onnx").exists());
        if tests.is_empty() {
            let message = format!("{}: the folder contains no test", shown_path(folder));
            return Err(Diagnostic::new(ErrorCode::NO_TEST, message));
        }
        tests.iter().try_for_each(|test| self.check_onnx(test, &test.join("model.onnx"), counts))
    }

    fn check_onnx(
        &self,
        folder: &Path,
        model: &Path,
        counts: &mut Counts,
    ) -> Result<(), Diagnostic> {
        let name = shown_path(folder);
        let source = open(model)?;
        let model = match LoadedModel::from_source(source.clone(), &ReadOptions::default()) {
            Ok(model) => model,
            Err(error) => return self.report((&name, &source), Err(error), counts),
        };
        for set in list_folder(folder)?.iter().filter(|path| path.is_dir()) {
            let (inputs, expected) = (tensors(set, "input_")?, tensors(set, "output_")?);
            let views: Vec<_> = inputs.iter().map(|array| Some(array.into())).collect();
            let result = model.check_against(&views, &expected, self.tolerance.tolerance());
            self.report((&name, &source), result, counts)?;
        }
        Ok(())
    }

    fn report(
        &self,
        (name, source): (&str, &SourceFile),
        result: Result<CheckReport, LoadError>,
        counts: &mut Counts,
    ) -> Result<(), Diagnostic> {
        let text = match result {
            Err(error) if error.is_out_of_scope() => match lint_errors(source) {
                Some(findings) => {
                    counts.failed += 1;
                    format!("failed: {name}\n{findings}")
                }
                None => {
                    counts.out_of_scope += 1;
                    format!("out of scope: {name}\n{}", error.draw())
                }
            },
            Err(error) => {
                counts.failed += 1;
                format!("failed: {name}\n{}", error.draw())
            }
            Ok(CheckReport { failures, .. }) if !failures.is_empty() => {
                counts.failed += 1;
                let differences: String = failures.iter().map(failure_line).collect();
                format!("failed: {name}\n{differences}")
            }
            Ok(CheckReport { compared: 0, .. }) => match lint_errors(source) {
                Some(findings) => {
                    counts.failed += 1;
                    format!("failed: {name}\n{findings}")
                }
                None => {
                    counts.out_of_scope += 1;
                    format!("out of scope: {name}\n   the case states no expected results\n")
                }
            },
            Ok(_) => {
                counts.passed += 1;
                match self.quiet {
                    true => return Ok(()),
                    false => format!("passed: {name}\n"),
                }
            }
        };
        print(text.as_bytes())
    }
}

/// The findings of the lint about a program without compared results; `None` if none of them is an error.
fn lint_errors(source: &SourceFile) -> Option<String> {
    let report = LintReport::new(source.clone(), &LintOptions::default()).ok()?;
    (!report.passes(false)).then(|| report.to_string())
}

/// The label of a piece of a file, which is one of the programs in it: the name of the file, with the
/// line on which the piece begins unless that is line 1.
fn piece_name(source: &SourceFile) -> String {
    let name = printable(source.name());
    match source.line_and_column(0).0 {
        1 => name,
        line => format!("{name}:{line}"),
    }
}

/// `   output 0 `y`: 3 of 24 elements, the first at 5: 1.5 where 1.25 belongs`.
fn failure_line(failure: &CheckFailure) -> String {
    let CheckFailure { place, difference } = failure;
    format!("   {place}: {}\n", difference_text(difference))
}

/// `3 of 24 elements, the first at 5: 1.5 where 1.25 belongs`.
pub(crate) fn difference_text(difference: &Mismatch) -> String {
    let Mismatch { count, elements, first, found, expected } = difference;
    format!(
        "{count} of {elements} elements, the first at {first}: {found} where {expected} belongs"
    )
}

/// The entries of a folder, sorted by name.
pub(crate) fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let io_error = |error: std::io::Error| {
        Diagnostic::new(ErrorCode::IO, format!("{}: {error}", shown_path(folder)))
    };
    let entries = fs::read_dir(folder).map_err(io_error)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(io_error));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// The arrays in the files `input_0.pb`, `input_1.pb`, ... of a folder, up to the first missing one.
fn tensors(folder: &Path, prefix: &str) -> Result<Vec<Array>, Diagnostic> {
    let files = (0..).map(|index| folder.join(format!("{prefix}{index}.pb")));
    let read = |path: PathBuf| {
        let source = open(&path)?;
        read_onnx_tensor(&source, &FormatLimits::default())
            .map(|(_, array)| array)
            .map_err(|error| error.diagnostic(&source))
    };
    files.take_while(|path| path.exists()).map(read).collect()
}

fn shown_path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
