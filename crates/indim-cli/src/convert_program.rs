//! `indim convert FILE`: translates a program between formats.

use std::path::{Path, PathBuf};

use clap::Args;
use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::{ModelFormat, WriteOptions, WrittenModel, save};
use indim_graph::terminal::printable;

use crate::failure::Failure;
use crate::model::{declared_inputs, load, load_diagnostic};
use crate::output::{print, print_message};

/// Options of the written file.
#[derive(Debug, Args)]
pub(crate) struct ProgramOptions {
    /// The opset to write, if the format has several.
    #[arg(long, value_name = "N", conflicts_with = "from")]
    opset: Option<u32>,
    /// Fail if the format lacks an operation, instead of composing it from other operations.
    #[arg(long, conflicts_with = "from")]
    exact: bool,
    /// The function to convert, if the file has several.
    #[arg(long, value_name = "NAME", conflicts_with = "from")]
    function: Option<String>,
    /// The file to write. Without it, a text format goes to standard output.
    #[arg(short, long, value_name = "FILE", conflicts_with = "from")]
    output: Option<PathBuf>,
}

impl ProgramOptions {
    /// Converts the program in `file` to the format `to`; `types` are the arguments with the types of
    /// inputs that the file leaves open.
    pub(crate) fn convert(
        &self,
        file: &str,
        to: ModelFormat,
        types: &[String],
    ) -> Result<(), Failure> {
        self.check_name(to)?;
        let model = load(Path::new(file), self.function.as_deref())?;
        let inputs = declared_inputs(&model, types)?;
        let (exact, opset) = (self.exact, self.opset);
        let options = WriteOptions::new().name(self.name(file)).exact(exact).opset(opset);
        let written =
            model.write(to, &inputs, &options).map_err(|error| load_diagnostic(&error, &model))?;
        print_notes(&written);
        match &self.output {
            Some(path) => {
                // A signal then leaves no partial file.
                crate::signals::watch()
                    .map_err(|error| Diagnostic::new(ErrorCode::IO, error.to_string()))?;
                save(&written, path).map_err(|error| error.diagnostic())?;
            }
            None if to.is_text() && written.external_file.is_none() => print(&written.content)?,
            None => {
                let message = format!("{to} is written to a file, not to standard output");
                let mut error = Diagnostic::new(ErrorCode::OUTPUT_NEEDED, message);
                error.help("say which: -o FILE");
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Refuses an output name with the ending of another format.
    fn check_name(&self, to: ModelFormat) -> Result<(), Diagnostic> {
        let Some(path) = &self.output else { return Ok(()) };
        // Pipes and devices take any bytes.
        let is_stream = path.metadata().is_ok_and(|old| !old.is_file() && !old.is_dir());
        if is_stream || to.fits_name(path) {
            return Ok(());
        }
        let names = to.extensions().iter().map(|extension| format!(".{extension}"));
        let names = names.collect::<Vec<_>>().join(" or ");
        let path = printable(&path.to_string_lossy());
        let message = format!("{path}: a program of {to} is written as {names}; name the file so");
        Err(Diagnostic::new(ErrorCode::UNKNOWN_FORMAT, message))
    }

    /// The name of the written program: the output file without its extension, else the input file
    /// without its extension. The external file, which holds the constants of some formats, is named
    /// after the program.
    fn name(&self, file: &str) -> String {
        let path = self.output.as_deref().unwrap_or(Path::new(file));
        path.file_stem()
            .map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }
}

/// Prints to standard error the composed operations, and where the other system's results may differ.
fn print_notes(written: &WrittenModel) {
    for composed in &written.composed {
        let (operation, by) = (printable(&composed.operation), printable(&composed.by));
        print_message(&format!("note[composed]: {operation} x{}, written as {by}", composed.count));
    }
    written.warnings.iter().for_each(|warning| print_message(&format!("warning: {warning}")));
}
