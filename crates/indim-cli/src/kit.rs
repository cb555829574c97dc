//! Kits of cases for testing other systems, in a folder.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use indim::Array;
use indim::broadcast::RuleSetName;
use indim::errors::{Diagnostic, ErrorCode};
use indim::files::write_npy;
use indim::formats::{ModelFormat, save};
use indim_graph::terminal::printable;
use indim_oracle::{Kit, KitCase, native_rules};

/// Maximum number of cases of a kit; more do not improve it.
pub(crate) const MAX_CASES: i64 = 1_000_000;

/// The kit and its folder.
pub(crate) struct KitPlan<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) rule: RuleSetName,
    pub(crate) cases: usize,
    pub(crate) seed: u64,
    /// The format of files of the cases, if any are wanted.
    pub(crate) files: Option<ModelFormat>,
}

/// Parses the name of a format that has broadcasting rules of its own.
pub(crate) fn formats() -> impl TypedValueParser<Value = ModelFormat> {
    let formats = ModelFormat::ALL.into_iter().filter(|format| !native_rules(*format).is_empty());
    let named = |name: String| ModelFormat::named(&name).ok_or("no format has this name");
    PossibleValuesParser::new(formats.map(ModelFormat::name)).try_map(named)
}

/// Makes the folder and writes the kit to it.
pub(crate) fn write(plan: &KitPlan<'_>) -> Result<(), Diagnostic> {
    let kit = match plan.files {
        None => Kit::new(plan.rule, plan.seed),
        Some(format) => Kit::of_files(plan.rule, plan.seed, format)
            .ok_or_else(|| rule_not_in_format(plan.rule, format))?,
    };
    let path = plan.folder.join("cases.jsonl");
    let io_error = io_error_at(&path);
    fs::create_dir_all(plan.folder).map_err(io_error_at(plan.folder))?;
    let mut lines = BufWriter::new(File::create(&path).map_err(&io_error)?);
    for (index, case) in kit.take(plan.cases).enumerate() {
        writeln!(lines, "{}", case.line()).map_err(&io_error)?;
        if let Some(format) = plan.files {
            write_files(&plan.folder.join(format!("{index:04}")), format, &case)?;
        }
    }
    lines.flush().map_err(io_error)
}

/// Writes the model of a case, and for a legal case the inputs and the expected result.
fn write_files(folder: &Path, format: ModelFormat, case: &KitCase) -> Result<(), Diagnostic> {
    fs::create_dir_all(folder).map_err(io_error_at(folder))?;
    if let Some(written) = case.file(format) {
        let path = folder.join(format!("model.{}", format.extensions()[0]));
        save(&written, &path).map_err(|error| error.diagnostic())?;
    }
    let Some(expected) = case.expected() else { return Ok(()) };
    for (index, operand) in case.operands().iter().enumerate() {
        write_array(&folder.join(format!("input_{index}.npy")), operand)?;
    }
    write_array(&folder.join("expected_0.npy"), expected)
}

fn write_array(path: &Path, array: &Array) -> Result<(), Diagnostic> {
    let bytes = array.to_le_bytes();
    write_npy(path, array.array_type(), &bytes).map_err(|error| error.diagnostic())
}

fn rule_not_in_format(rule: RuleSetName, format: ModelFormat) -> Diagnostic {
    let message = format!("{format} has no rule `{rule}` of its own");
    let mut unknown = Diagnostic::new(ErrorCode::RULE_NOT_IN_FORMAT, message);
    let rules: Vec<&str> = native_rules(format).iter().map(|rule| rule.as_str()).collect();
    unknown.help(format!("it has {}", rules.join(", ")));
    unknown
}

fn io_error_at(path: &Path) -> impl Fn(io::Error) -> Diagnostic {
    let path = printable(&path.to_string_lossy());
    move |error| Diagnostic::new(ErrorCode::IO, format!("{path}: {error}"))
}
