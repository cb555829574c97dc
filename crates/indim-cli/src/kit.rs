//! Kits of cases for testing other systems, in a folder.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use indim::oracle::Kit;
use indim::{Diagnostic, RuleSetName};
use indim_graph::terminal::shown;

/// More cases make no better kit.
pub(crate) const MOST_CASES: i64 = 1_000_000;

/// Which kit is written where.
pub(crate) struct Plan<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) rule: RuleSetName,
    pub(crate) cases: u32,
    pub(crate) seed: u64,
}

/// Writes a kit to its folder, which is made.
pub(crate) fn write(plan: &Plan<'_>) -> Result<(), Diagnostic> {
    let kit = Kit::new(plan.rule, plan.seed);
    let path = plan.folder.join("cases.jsonl");
    let failed = failed_at(&path);
    fs::create_dir_all(plan.folder).map_err(failed_at(plan.folder))?;
    let mut lines = BufWriter::new(File::create(&path).map_err(&failed)?);
    for case in kit.take(plan.cases as usize) {
        writeln!(lines, "{}", case.line()).map_err(&failed)?;
    }
    lines.flush().map_err(failed)
}

fn failed_at(path: &Path) -> impl Fn(io::Error) -> Diagnostic {
    let path = shown(&path.to_string_lossy());
    move |error| Diagnostic::new("io", format!("{path}: {error}"))
}
