//! `indim convert FILE`: translates a program between formats.

use std::path::{Path, PathBuf};

use clap::Args;
use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::{
    LintOptions, LintReport, LoadError, LoadedModel, ModelFormat, ProgramPart, ReadOptions,
    SourceFile, StagedModel, ValueType, WriteOptions, WrittenModel, save,
};
use indim_graph::terminal::printable;
use indim_text::parse_array_type;

use crate::failure::Failure;
use crate::model::{declared_inputs, load_diagnostic, open_one};
use crate::output::{print, print_message};

/// Maximum number of nodes that the error of a conversion names.
const MAX_NAMED_NODES: usize = 32;

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
        let (exact, opset) = (self.exact, self.opset);
        let write = WriteOptions::new().name(self.name(file)).exact(exact).opset(opset);
        let read =
            ReadOptions::new().function(self.function.clone()).declared(declared_types(types));
        let written = written(open_one(Path::new(file))?, &read, to, types, &write)?;
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

/// The written program. If it cannot be computed or written as a whole, and `to` is its own format, the
/// nodes in question are copied.
fn written(
    source: SourceFile,
    read: &ReadOptions,
    to: ModelFormat,
    types: &[String],
    options: &WriteOptions,
) -> Result<WrittenModel, Diagnostic> {
    let of_model = |model: &LoadedModel| -> Result<Result<WrittenModel, LoadError>, Diagnostic> {
        let inputs = declared_inputs(model, types)?;
        Ok(model.write(to, &inputs, options))
    };
    let model = LoadedModel::from_source(source.clone(), read);
    let (error, model) = match model {
        Err(error) => (error, None),
        Ok(model) => match of_model(&model)? {
            Ok(written) => return Ok(written),
            Err(error) => (error, Some(model)),
        },
    };
    let Some(carrying) = LoadedModel::carrying(source.clone(), read, to, &error) else {
        return Err(match &model {
            Some(model) => load_diagnostic(&error, model),
            None => refused(&error, source, read, to),
        });
    };
    let carrying = carrying.map_err(|error| error.diagnostic())?;
    of_model(&carrying)?.map_err(|error| load_diagnostic(&error, &carrying))
}

/// The error of a program that is not loaded as a whole, with what its conversion needs.
fn refused(
    error: &LoadError,
    source: SourceFile,
    read: &ReadOptions,
    to: ModelFormat,
) -> Diagnostic {
    let staged = StagedModel::from_source(source.clone(), read);
    if let Some(error) = staged.ok().and_then(|staged| staged.whole().err()) {
        return error.diagnostic();
    }
    let mut diagnostic = error.diagnostic();
    if error.code() == "unsupported-op" {
        name_nodes(&mut diagnostic, &source, read);
        let source_bytes = source.bytes();
        let from = ModelFormat::of(source_bytes);
        // HLO is written as text, which has no place for parts of a protobuf.
        let is_protobuf = from == Some(ModelFormat::Hlo) && ModelFormat::is_binary(source_bytes);
        match from {
            Some(ModelFormat::Hlo) if is_protobuf && to == ModelFormat::Hlo => {
                diagnostic.help("these operations are copied from HLO text, not from a protobuf");
            }
            Some(own) if !is_protobuf && own != to => {
                diagnostic.help(format!("--to {} copies these operations", own.name()));
            }
            _ => {}
        }
        diagnostic.help(format!(
            "for {to}, define each by operations that indim reads, as a function of the file"
        ));
    }
    diagnostic
}

/// Names each node that indim does not compute, with its place and types.
fn name_nodes(diagnostic: &mut Diagnostic, source: &SourceFile, read: &ReadOptions) {
    let Ok(report) = LintReport::new(source.clone(), &LintOptions::new().read(read.clone())) else {
        return;
    };
    let outline = report.outline();
    let is_needed = outline.needed_nodes(&ProgramPart::default());
    let nodes = outline.nodes.iter().zip(is_needed).filter(|(node, is)| node.is_opaque && *is);
    let typed = |values: &[Option<usize>]| {
        let texts: Vec<String> =
            values.iter().flatten().map(|&value| outline.typed(value)).collect();
        texts.join(", ")
    };
    for (node, _) in nodes.clone().take(MAX_NAMED_NODES) {
        let (place, operands) = (report.place_of(node), typed(&node.operands));
        diagnostic.remark("note", format!("{place}: {operands} -> {}", typed(&node.results)));
    }
    let count = nodes.count();
    if count > MAX_NAMED_NODES {
        diagnostic.remark("note", format!("{} more", count - MAX_NAMED_NODES));
    }
}

/// The types in arguments of the form `NAME=TYPE`.
fn declared_types(arguments: &[String]) -> Vec<(String, ValueType)> {
    let declared = |argument: &String| {
        let (name, text) = argument.split_once('=')?;
        Some((name.to_owned(), ValueType::of_arrays(&parse_array_type(text).ok()?)))
    };
    arguments.iter().filter_map(declared).collect()
}

/// Prints to standard error the composed operations, and where the other system's results may differ.
fn print_notes(written: &WrittenModel) {
    for composed in &written.composed {
        let (operation, by) = (printable(&composed.operation), printable(&composed.by));
        print_message(&format!("note[composed]: {operation} x{}, written as {by}", composed.count));
    }
    for (operator, count) in &written.carried {
        print_message(&format!(
            "note[carried]: {} x{count}, as in the source",
            printable(operator)
        ));
    }
    for dropped in &written.dropped {
        print_message(&format!("note[dropped]: {}", printable(dropped)));
    }
    written.warnings.iter().for_each(|warning| print_message(&format!("warning: {warning}")));
}
