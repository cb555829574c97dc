//! `indim check`: programs that say what they give are run, and their results compared.

use std::path::{Path, PathBuf};

use clap::Args;
use indim::Diagnostic;
use indim::formats::{Checked, Disagreement, Failed, LoadError, LoadedModel, ReadOptions, Source};
use indim_graph::terminal::shown;

use crate::failure::Failure;
use crate::model::open;
use crate::output::print;

/// Run programs that say themselves what they give, and compare.
#[derive(Debug, Args)]
#[command(after_help = "\
A file of StableHLO says what is expected by `check.expect_*`.

  indim check add.mlir divide.mlir")]
pub(crate) struct Check {
    /// Programs.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Say nothing of what passes.
    #[arg(long)]
    quiet: bool,
}

/// What came of all programs.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    out_of_scope: usize,
}

impl Check {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut count = Count::default();
        for file in &self.files {
            self.check(file, &mut count)?;
        }
        let Count { passed, failed, out_of_scope } = count;
        let total = format!("{passed} passed, {failed} failed, {out_of_scope} out of scope\n");
        print(total.as_bytes())?;
        if failed > 0 { Err(Failure::Told) } else { Ok(()) }
    }

    fn check(&self, path: &Path, count: &mut Count) -> Result<(), Diagnostic> {
        for source in open(path)?.pieces() {
            let name = piece_name(&source);
            let checked = LoadedModel::from_source(source, &ReadOptions::default())
                .and_then(|model| model.check());
            self.tell(&name, checked, count)?;
        }
        Ok(())
    }

    fn tell(
        &self,
        name: &str,
        checked: Result<Checked, LoadError>,
        count: &mut Count,
    ) -> Result<(), Diagnostic> {
        let text = match checked {
            Err(error) if error.is_out_of_scope() => {
                count.out_of_scope += 1;
                format!("out of scope: {name}\n{}", error.draw())
            }
            Err(error) => {
                count.failed += 1;
                format!("failed: {name}\n{}", error.draw())
            }
            Ok(Checked { failed, .. }) if !failed.is_empty() => {
                count.failed += 1;
                let differences: String = failed.iter().map(told).collect();
                format!("failed: {name}\n{differences}")
            }
            Ok(Checked { compared: 0, .. }) => {
                count.out_of_scope += 1;
                format!("out of scope: {name}\n   it says nothing of what it gives\n")
            }
            Ok(_) => {
                count.passed += 1;
                match self.quiet {
                    true => return Ok(()),
                    false => format!("passed: {name}\n"),
                }
            }
        };
        print(text.as_bytes())
    }
}

/// A piece of a file is told by its first line.
fn piece_name(source: &Source) -> String {
    let name = shown(source.name());
    match source.line_and_column(0).0 {
        1 => name,
        line => format!("{name}:{line}"),
    }
}

/// `   output 0 `y`: 3 of 24 elements, the first at 5: 1.5 where 1.25 belongs`.
fn told(failed: &Failed) -> String {
    let Failed { place, difference } = failed;
    let Disagreement { count, elements, first, found, expected } = difference;
    format!(
        "   {place}: {count} of {elements} elements, the first at {first}: {found} where {expected} belongs\n"
    )
}
