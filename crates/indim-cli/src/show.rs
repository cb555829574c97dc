//! How `indim eval` prints a result: as NumPy does, as CSV, or as JSON.

use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};
use indim::print::{PrintOptions, array_text_with, csv_shape, write_csv, write_json};
use indim::{ArrayType, Buffer, Diagnostic};

use crate::output;

/// The form of a printed result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// As NumPy prints arrays; large ones are summarised.
    Text,
    /// Rows of numbers separated by commas, or one number a line.
    Csv,
    /// One object with dtype, shape and the elements row by row; nan, inf and -inf as texts.
    Json,
}

/// How a result is printed.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The form of the printed result. CSV and JSON have every element, with all digits.
    #[arg(long, value_enum, default_value = "text", conflicts_with = "output")]
    format: Format,
    /// Print every element, also of an array of more than 1000.
    #[arg(long, conflicts_with = "output")]
    print_all: bool,
    /// Print at most so many digits behind the point (in text: 8 without it).
    #[arg(
        long,
        value_name = "DIGITS",
        value_parser = clap::value_parser!(u8).range(..=100),
        conflicts_with = "output"
    )]
    precision: Option<u8>,
}

impl Show {
    /// Whether a result of this type can be printed so; asked before anything is computed.
    pub(crate) fn check(&self, array_type: &ArrayType) -> Result<(), Diagnostic> {
        if self.format != Format::Text && self.precision.is_some() {
            return Err(Diagnostic::new(
                "format",
                "--precision is for --format text: CSV and JSON have all digits, so that they read back the \
                 same; write round(…, 3) around the expression",
            ));
        }
        match self.format {
            Format::Csv => csv_shape(array_type)
                .map(|_| ())
                .map_err(|error| Diagnostic::new("format", error.to_string())),
            Format::Text | Format::Json => Ok(()),
        }
    }

    /// Prints to standard output; a reader that has seen enough is no error.
    pub(crate) fn print(&self, result: &Buffer) -> Result<(), Diagnostic> {
        let mut output = BufWriter::new(io::stdout().lock());
        output::written(self.write(&mut output, result).and_then(|()| output.flush()))
    }

    fn write(&self, output: &mut dyn Write, result: &Buffer) -> io::Result<()> {
        match self.format {
            Format::Csv => write_csv(output, result),
            Format::Json => {
                write_json(output, result)?;
                writeln!(output)
            }
            Format::Text => {
                let default = PrintOptions::default();
                let threshold = if self.print_all { usize::MAX } else { default.threshold };
                let options =
                    PrintOptions { precision: self.precision.map(usize::from), threshold };
                writeln!(output, "{}", array_text_with(result, &options))
            }
        }
    }
}
