//! `indim ops`: the operations and functions, with their types, accuracy and other names.

use std::fmt::Write as _;

use clap::Args;
use indim::errors::{Diagnostic, ErrorCode};
use indim_ops::Accuracy;
use indim_text::catalogue::{Entry, entries, find};

use crate::failure::Failure;
use crate::output::print;

/// List the functions of expressions, or describe one.
#[derive(Debug, Args)]
#[command(after_help = "\
Types: P is bool, S i8 to i64, U u8 to u64, F f16 bf16 f32 f64, C c64 c128, N types that are only stored,
such as f8e4m3fn and i4. A type after an arrow is the type of the result, if it differs from the operands.
docs/ops.md has the same list. docs/expressions.md describes the language, and functions of shapes such as
reshape, transpose and broadcast_to.

Examples:
  indim ops
  indim ops gelu
  indim ops arctan2")]
pub(crate) struct Ops {
    /// The function to describe, by any of its names.
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl Ops {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = match &self.name {
            None => list(),
            Some(name) => {
                find(name).map(|entry| entry_page(&entry)).map_err(|near| unknown(name, near))?
            }
        };
        Ok(print(text.as_bytes())?)
    }
}

fn unknown(name: &str, near: Option<&str>) -> Diagnostic {
    let name: String = name.escape_debug().take(80).collect();
    let mut unknown =
        Diagnostic::new(ErrorCode::UNKNOWN_OPERATION, format!("no operation is called `{name}`"));
    unknown.help(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`indim ops` lists them all".to_owned(),
    });
    unknown
}

/// One line per function: the call, the types, the largest error of f32, other names.
fn list() -> String {
    let rows: Vec<[String; 4]> = entries()
        .map(|entry| {
            let accuracy = entry.accuracy().into_iter().find(|measured| measured.dtype == "f32");
            let error = accuracy.map_or("", |accuracy| accuracy.error).to_owned();
            [entry.call.clone(), entry.types.clone(), error, entry.other_names.join(" ")]
        })
        .collect();
    let header = ["call", "types", "f32 ULP", "other names"].map(str::to_owned);
    let widths: [usize; 3] = core::array::from_fn(|column| {
        let cells = rows.iter().chain([&header]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    });
    let mut text = String::new();
    for row in [&header].into_iter().chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        line += &row[3];
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text + "\nf32 ULP is the largest error measured; `indim ops NAME` says the rest.\n"
}

/// The description of one function: meaning, types, parameters, other names, measured accuracy.
fn entry_page(entry: &Entry) -> String {
    let mut text = format!("{}\n\n  {}\n\n  types        {}\n", entry.call, entry.doc, entry.types);
    for parameter in &entry.parameters {
        let default =
            parameter.default().map_or_else(String::new, |text| format!(", {text} if not given"));
        let _ = writeln!(text, "  {:<12} {}{default}", parameter.name(), parameter.expected());
    }
    if !entry.other_names.is_empty() {
        let _ = writeln!(text, "  other names  {}", entry.other_names.join(" "));
    }
    for accuracy in entry.accuracy() {
        let _ =
            writeln!(text, "  {:<12} {}", format!("{} error", accuracy.dtype), error(&accuracy));
    }
    text
}

fn error(accuracy: &Accuracy) -> String {
    let Accuracy { dtype, error, tried, not_nearest, .. } = accuracy;
    match *dtype {
        "f32" => format!("at most {error} ULP, of {tried} arguments"),
        "f64" => {
            let floats = error.trim_end_matches(".0000");
            format!("at most {floats} floats from the nearest, of {tried} arguments")
        }
        _ => format!("{not_nearest} of {tried} results are not the nearest"),
    }
}
