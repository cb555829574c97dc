//! Computes a program over sources, as a whole or piece by piece, and prints or writes its results.

use indim::broadcast::AxisNames;
use indim::errors::{Diagnostic, ErrorCode};
use indim::files::ResultMetadata;
use indim::stream::{Source, StreamError};
use indim::{ArrayType, CompileError, Graph, compile};
use indim_graph::terminal::printable;
use indim_transforms::chunks::Cuts;

use crate::computation::{Computation, Resources};
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::show::PrintArgs;
use crate::source::{OpenOperand, map_files, read_all, read_pipe};
use crate::streamed::{RunMode, choose_run_mode, output_types};
use crate::timing::Timing;

/// A program to run.
pub(crate) struct Program<'a> {
    pub(crate) graph: &'a Graph,
    /// The labels of printed results.
    pub(crate) labels: &'a [String],
    /// The names of the results in an archive.
    pub(crate) members: &'a [String],
    /// The axis names of each result; empty if unknown.
    pub(crate) axis_names: &'a [AxisNames],
    pub(crate) resources: &'a Resources,
    pub(crate) show: &'a PrintArgs,
    pub(crate) timing: &'a Timing,
}

impl Program<'_> {
    /// Computes the results from these sources, reading at most `memory_left` bytes into memory, and
    /// prints them or writes them to `outputs`.
    pub(crate) fn run(
        &self,
        sources: Vec<(&str, OpenOperand)>,
        memory_left: usize,
        outputs: &Outputs<'_>,
    ) -> Result<(), Failure> {
        let types = output_types(self.graph);
        self.show.check(&types)?;
        let metadata = |(index, result): (usize, &ArrayType)| {
            let stored = sources.iter().filter_map(|(_, source)| source.stored_source());
            let mut metadata = ResultMetadata::of(result, stored);
            if let Some(names) = self.axis_names.get(index).filter(|names| names.has_any()) {
                let names = names.iter().map(|name| name.unwrap_or_default().to_owned());
                metadata.axis_names = Some(names.collect());
            }
            if metadata.geography.is_some() && is_transposed_grid(self.graph, index, &sources) {
                metadata.geography = None;
                metadata.has_other_grid_size = true;
            }
            (result.clone(), metadata)
        };
        let results: Vec<(ArrayType, ResultMetadata)> =
            types.iter().enumerate().map(metadata).collect();
        match choose_run_mode(self.graph, &sources, outputs, &results, self.resources)? {
            RunMode::StreamedRun(streamed) => {
                outputs.note_smaller_chunks(&results, &streamed.results);
                let destinations = outputs.open(&streamed.results)?;
                let sources = match streamed.holds_pipes {
                    true => read_pipe(sources, memory_left)?.0,
                    false => sources,
                };
                self.timing.mark("compile");
                match destinations.is_empty() {
                    true => self.show.print(self.labels, &streamed.results(&sources, &types)?)?,
                    false => {
                        streamed.write_results(&sources, destinations, &types, self.members)?
                    }
                }
                self.timing.mark("read, compute and write");
                Ok(())
            }
            RunMode::Whole => Ok(self.run_whole(sources, memory_left, outputs, &results)?),
            // If the whole exceeds the memory limit too, the error of streaming is more useful, because
            // it names the limit that streaming needs.
            RunMode::NotStreamed(error) => {
                let streaming_error = streaming_error(&error, &sources, outputs);
                let run = self.run_whole(sources, memory_left, outputs, &results);
                Ok(run.map_err(|whole| match whole.code {
                    ErrorCode::MEMORY_LIMIT => streaming_error,
                    _ => whole,
                })?)
            }
        }
    }

    fn run_whole(
        &self,
        sources: Vec<(&str, OpenOperand)>,
        memory_left: usize,
        outputs: &Outputs<'_>,
        results: &[(ArrayType, ResultMetadata)],
    ) -> Result<(), Diagnostic> {
        let options = self.resources.compile_options()?;
        let executable = compile(self.graph, &options).map_err(CompileError::diagnostic)?;
        self.timing.mark("compile");
        let (sources, memory_left) = map_files(sources, memory_left)?;
        let destinations = outputs.open(results)?;
        let sources = read_all(sources, memory_left)?;
        let computation = Computation::new(&executable, sources, self.resources, self.timing)?;
        self.timing.mark("read");
        match destinations.is_empty() {
            true => self.show.print(self.labels, &computation.results()?)?,
            false => computation.write_results(destinations, self.members)?,
        }
        self.timing.mark("write");
        Ok(())
    }
}

/// Whether a result is transposed with respect to a geographic grid.
fn is_transposed_grid(graph: &Graph, result: usize, sources: &[(&str, OpenOperand)]) -> bool {
    let cuts = Cuts::of(graph);
    let is_grid =
        |source: &OpenOperand| source.stored_source().is_some_and(|it| it.geography().is_some());
    let grid = sources.iter().position(|(_, source)| is_grid(source));
    let grid_axes = grid.and_then(|grid| Some(cuts.axes(*graph.parameters().get(grid)?)));
    match (grid_axes, cuts.axes(graph.outputs()[result])) {
        (Some(&[rows, columns, ..]), &[first, second, ..]) => {
            rows.is_some() && rows != columns && (first, second) == (columns, rows)
        }
        _ => false,
    }
}

/// A text, such as a source or a name, quoted for a shell.
pub(crate) fn shell_quoted(text: &str) -> String {
    let is_unquoted = |c: char| c.is_ascii_alphanumeric() || "._-/:+,@%".contains(c);
    let text = printable(text);
    match text.chars().all(is_unquoted) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The error of a program that cannot be computed piece by piece within the limit.
fn streaming_error(
    error: &StreamError,
    sources: &[(&str, OpenOperand)],
    outputs: &Outputs<'_>,
) -> Diagnostic {
    let mut diagnostic = error.diagnostic();
    let is_sequential =
        |source: &OpenOperand| source.stored_source().is_some_and(Source::is_sequential);
    let sequential = sources.iter().filter(|(_, source)| is_sequential(source));
    for (name, source) in sequential {
        let (name, text) =
            (printable(name), source.reopen_text().map_or_else(String::new, shell_quoted));
        diagnostic.help(format!(
            "`{name}` is compressed as a whole, and is read in the order of its elements alone; unpacked by \
             `indim eval x x={text} -o unpacked.npy` it is read in any, as `{name}=unpacked.npy`",
        ));
    }
    if outputs.is_empty() {
        let advice = "a result that is printed is held as a whole; `-o` writes it piece by piece";
        diagnostic.help(advice.to_owned());
    }
    diagnostic
}
