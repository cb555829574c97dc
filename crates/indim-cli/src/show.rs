//! Printing of results: in NumPy's form, as CSV, or as JSON.

use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};
use indim::errors::{Diagnostic, ErrorCode};
use indim::print::{PrintOptions, array_text_with, csv_shape, write_csv, write_json};
use indim::{Array, ArrayType};
use indim_graph::terminal::printable_lines;

use crate::output;

/// The form of a printed result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrintFormat {
    /// NumPy's text of an array; large arrays are summarised.
    Text,
    /// Rows of numbers separated by commas; an array with one axis has one number a line.
    Csv,
    /// One object with dtype, shape and the elements row by row; nan, inf and -inf are strings.
    Json,
}

/// Arguments that select the form of printed results.
#[derive(Debug, Args)]
pub(crate) struct PrintArgs {
    /// The format of the printed result. CSV and JSON have every element, with all digits.
    #[arg(long, value_enum, default_value = "text", conflicts_with = "output")]
    format: PrintFormat,
    /// Print every element, even of arrays with more than 1000 elements.
    #[arg(long, conflicts_with = "output")]
    print_all: bool,
    /// Print at most this number of digits after the point, for --format text [default: 8].
    #[arg(
        long,
        value_name = "DIGITS",
        value_parser = clap::value_parser!(u8).range(..=100),
        conflicts_with = "output"
    )]
    precision: Option<u8>,
}

impl PrintArgs {
    /// Checks before the computation that results of these types can be printed in this form.
    pub(crate) fn check(&self, types: &[ArrayType]) -> Result<(), Diagnostic> {
        if self.format != PrintFormat::Text && self.precision.is_some() {
            return Err(Diagnostic::new(
                ErrorCode::FORMAT,
                "--precision is for --format text: CSV and JSON have all digits, so that they read back the \
                 same; write round(…, 3) around the expression",
            ));
        }
        match self.format {
            PrintFormat::Csv => match types {
                [array_type] => csv_shape(array_type)
                    .map(|_| ())
                    .map_err(|error| Diagnostic::new(ErrorCode::FORMAT, error.to_string())),
                _ => Err(Diagnostic::new(
                    ErrorCode::FORMAT,
                    format!(
                        "CSV holds one array, and the expression has {} results: end it with one of them, or \
                         print --format json",
                        types.len()
                    ),
                )),
            },
            PrintFormat::Text | PrintFormat::Json => Ok(()),
        }
    }

    /// Prints to standard output, several results with their labels; a closed pipe is not an error.
    pub(crate) fn print(&self, labels: &[String], results: &[Array]) -> Result<(), Diagnostic> {
        let mut output = BufWriter::new(io::stdout().lock());
        let written = match results {
            [result] => self.write(&mut output, result),
            results => self.write_several(&mut output, labels, results),
        };
        output::ignore_broken_pipe(written.and_then(|()| output.flush()))
    }

    /// Writes several results: as one JSON object by label, or in another format each after its label.
    fn write_several(
        &self,
        output: &mut dyn Write,
        labels: &[String],
        results: &[Array],
    ) -> io::Result<()> {
        if self.format != PrintFormat::Json {
            return labels.iter().zip(results).try_for_each(|(label, result)| {
                writeln!(output, "{}:", printable_lines(label))?;
                self.write(output, result)
            });
        }
        for (position, (label, result)) in labels.iter().zip(results).enumerate() {
            let separator = if position == 0 { "{" } else { "," };
            write!(output, "{separator}{}:", serde_json::to_string(label)?)?;
            write_json(output, result)?;
        }
        writeln!(output, "}}")
    }

    fn write(&self, output: &mut dyn Write, result: &Array) -> io::Result<()> {
        match self.format {
            PrintFormat::Csv => write_csv(output, result),
            PrintFormat::Json => {
                write_json(output, result)?;
                writeln!(output)
            }
            PrintFormat::Text => {
                let default = PrintOptions::default();
                let threshold = if self.print_all { usize::MAX } else { default.threshold };
                let mut options = default.threshold(threshold);
                options.precision = self.precision.map(usize::from);
                writeln!(output, "{}", array_text_with(result, &options))
            }
        }
    }
}
