//! `indim compare`: compares a model with the values of another runtime.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use indim::ArrayView;
use indim::errors::{Diagnostic, ErrorCode};
use indim::files::ArrayFormat;
use indim::formats::{ComparedValue, Distance, DumpComparison, ReadOptions, Tolerance};
use indim_graph::terminal::printable;

use crate::check::{ToleranceArgs, difference_text, list_folder};
use crate::failure::Failure;
use crate::model::open;
use crate::output::print;
use crate::source::{LoadedOperand, split_binding};

/// The maximum number of names in a line of the summary.
const MAX_NAMES: usize = 8;

/// The maximum depth of folders in a dump.
const MAX_DEPTH: usize = 64;

/// Compare a model with the values that another runtime computed, and name the first that differs.
#[derive(Debug, Args)]
#[command(after_help = "\
The dump has inputs and some other values of the model under their names. It is a folder with NAME.npy for
each value, in which `/` in a name separates folders, or one .npz or .safetensors file. indim computes each
value from the nearest values of the dump before it, so an early difference does not hide a later one. An
operation that indim does not compute needs only its results in the dump.

  indim compare model.onnx --dump values/
  indim compare model.onnx --dump values.npz --ulps 4 --all
  indim compare model.onnx --dump values/ x=x.npy")]
pub(crate) struct Compare {
    /// The model: StableHLO, HLO, OpenVINO IR or ONNX.
    file: PathBuf,
    /// The values of the other runtime: a folder of .npy files, a .npz or a .safetensors file.
    #[arg(long, value_name = "FOLDER")]
    dump: PathBuf,
    /// Values that the dump lacks, such as inputs.
    #[arg(value_name = "NAME=SOURCE")]
    values: Vec<String>,
    #[command(flatten)]
    tolerance: ToleranceArgs,
    /// Accept floats that differ by at most N units in the last place, instead of --relative and --absolute.
    #[arg(long, value_name = "N", conflicts_with_all = ["relative", "absolute"])]
    ulps: Option<u64>,
    /// The function to run, if the file has several.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Print a line for every compared value, not only the first that differs.
    #[arg(long)]
    all: bool,
}

impl Compare {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let source = open(&self.file)?;
        let values = self.values()?;
        let views: Vec<(String, ArrayView<'_>)> =
            values.iter().map(|(name, value)| (name.clone(), value.view())).collect();
        let tolerance = match self.ulps {
            Some(max) => Tolerance::Ulps { min: 0, max },
            None => self.tolerance.tolerance(),
        };
        let options = ReadOptions::new().function(self.function.clone());
        let comparison = DumpComparison::new(&source, &options, &views, tolerance);
        let comparison = comparison.map_err(|error| error.diagnostic())?;
        for (name, value) in &values {
            value.check_unchanged(name)?;
        }
        if comparison.compared.is_empty() {
            return Err(nothing_compared(&self.dump, &comparison).into());
        }
        print(self.text(&comparison).as_bytes())?;
        match comparison.first_difference() {
            Some(_) => Err(Failure::AlreadyReported),
            None => Ok(()),
        }
    }

    /// The values of the arguments, followed by the values of the dump.
    fn values(&self) -> Result<Vec<(String, LoadedOperand)>, Diagnostic> {
        let mut values = Vec::new();
        for value in &self.values {
            let (name, source) = split_binding(value)?;
            values.push((name.to_owned(), LoadedOperand::open(source, usize::MAX)?));
        }
        match ArrayFormat::of_name(&self.dump).filter(|format| format.is_archive()) {
            Some(archive) => add_members(archive, &self.dump, &mut values)?,
            None => add_folder(&self.dump, "", 0, &mut values)?,
        }
        Ok(values)
    }

    fn text(&self, comparison: &DumpComparison) -> String {
        let mut text = String::new();
        if self.all {
            comparison.compared.iter().for_each(|value| text.push_str(&line(value)));
        }
        if let Some(first) = comparison.first_difference() {
            text.push_str(&difference_report(first));
        }
        text.push_str(&summary(&comparison.compared));
        for line in remarks(comparison) {
            text.push_str(&format!("{line}\n"));
        }
        text
    }
}

/// `3 values compared, 1 different; the others by at most 2 ulp (`y`)`.
fn summary(compared: &[ComparedValue]) -> String {
    let (different, agreeing): (Vec<&ComparedValue>, Vec<&ComparedValue>) =
        compared.iter().partition(|value| value.difference.is_some());
    let noun = if compared.len() == 1 { "value" } else { "values" };
    let counts = format!("{} {noun} compared, {} different", compared.len(), different.len());
    match agreeing.into_iter().max_by_key(|value| value.distance) {
        Some(ComparedValue { name, distance: Some(Distance::Ulps(ulps @ 1..)), .. }) => {
            let (name, distance) = (printable(name), ulps_text(*ulps));
            format!("{counts}; the others by at most {distance} (`{name}`)\n")
        }
        Some(_) => format!("{counts}; the others are equal\n"),
        None => format!("{counts}\n"),
    }
}

/// A line for each kind of values that were not compared.
fn remarks(comparison: &DumpComparison) -> Vec<String> {
    let DumpComparison { opaque, lacking, unknown, .. } = comparison;
    let opaque =
        opaque.iter().map(|it| format!("{} ({})", printable(&it.name), printable(&it.operator)));
    let lacking = lacking
        .iter()
        .map(|(name, needed)| format!("{} needs {}", printable(name), printable(needed)));
    let lines = [
        listing("given, because nothing computes it here", opaque),
        listing("not compared, because the dump lacks a value", lacking),
        listing(
            "not compared, because no value has the name",
            unknown.iter().map(|it| printable(it)),
        ),
    ];
    lines.into_iter().flatten().collect()
}

/// Adds the arrays of an archive.
fn add_members(
    format: &'static ArrayFormat,
    path: &Path,
    values: &mut Vec<(String, LoadedOperand)>,
) -> Result<(), Diagnostic> {
    let members = format.members(path).unwrap_or_else(|| Ok(Vec::new()));
    for member in members.map_err(|error| error.diagnostic())? {
        let value = LoadedOperand::of_file(format, path, Some(&member))?;
        values.push((member, value));
    }
    Ok(())
}

/// Adds the `.npy` files of a folder and of the folders in it. The name of a value is the path of its file
/// without the ending.
fn add_folder(
    folder: &Path,
    prefix: &str,
    depth: usize,
    values: &mut Vec<(String, LoadedOperand)>,
) -> Result<(), Diagnostic> {
    if depth > MAX_DEPTH {
        let message =
            format!("{}: folders more than {MAX_DEPTH} deep", printable(&folder.to_string_lossy()));
        return Err(Diagnostic::new(ErrorCode::IO, message));
    }
    for path in list_folder(folder)? {
        let named = |name: Option<&OsStr>| {
            format!("{prefix}{}", name.unwrap_or_default().to_string_lossy())
        };
        let npy = ArrayFormat::npy();
        if path.is_dir() {
            add_folder(&path, &format!("{}/", named(path.file_name())), depth + 1, values)?;
        } else if ArrayFormat::of_name(&path) == Some(npy) {
            values.push((named(path.file_stem()), LoadedOperand::of_file(npy, &path, None)?));
        }
    }
    Ok(())
}

fn nothing_compared(dump: &Path, comparison: &DumpComparison) -> Diagnostic {
    let dump = printable(&dump.to_string_lossy());
    let message = format!("{dump}: the dump has no value that indim computes");
    let mut error = Diagnostic::new(ErrorCode::NOTHING_COMPARED, message);
    remarks(comparison).into_iter().for_each(|remark| error.remark("note", remark));
    error.help(
        "`indim explain` prints the names of values; a file has the name of its value and `.npy`",
    );
    error
}

/// `first difference: `y` of Add, model.onnx: node 3 `add`, ...`.
fn difference_report(value: &ComparedValue) -> String {
    let ComparedValue { name, operator, place, difference, distance, .. } = value;
    let difference = difference.as_ref().map_or_else(String::new, difference_text);
    let distance = match distance {
        Some(Distance::Ulps(ulps)) => format!(", at most {} apart", ulps_text(*ulps)),
        Some(Distance::Difference(difference)) => format!(", at most {difference} apart"),
        None => String::new(),
    };
    let (name, operator) = (printable(name), printable(operator));
    format!("first difference: `{name}` of {operator}\n  --> {place}\n   {difference}{distance}\n")
}

/// A line about a value: `agrees   y (Add): 0 ulp`, `differs  i (Cast): difference 3`.
fn line(value: &ComparedValue) -> String {
    let verdict = if value.difference.is_some() { "differs" } else { "agrees" };
    let distance = match value.distance {
        Some(Distance::Ulps(ulps)) => ulps_text(ulps),
        Some(Distance::Difference(difference)) => format!("difference {difference}"),
        None => "other type".to_owned(),
    };
    format!(
        "{verdict:<8} {} ({}): {distance}\n",
        printable(&value.name),
        printable(&value.operator)
    )
}

/// `3 ulp`; `u64::MAX` is the distance of a number from a NaN or an infinity.
fn ulps_text(ulps: u64) -> String {
    match ulps {
        u64::MAX => "infinitely many ulp".to_owned(),
        ulps => format!("{ulps} ulp"),
    }
}

/// A line with the title and at most `MAX_NAMES` items; `None` without items.
fn listing(title: &str, items: impl ExactSizeIterator<Item = String>) -> Option<String> {
    let total = items.len();
    let mut text: Vec<String> = items.take(MAX_NAMES).collect();
    if total > MAX_NAMES {
        text.push(format!("and {} more", total - MAX_NAMES));
    }
    (total > 0).then(|| format!("{title}: {}", text.join(", ")))
}
