//! Graphs as files of other systems.

use std::collections::BTreeMap;

use indim_graph::{Graph, ValueId};

use crate::error::{FormatError, Location};
use crate::making::Census;

/// What there is to say about writing a file, beside the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOptions {
    /// What the file is called, without its extension: files beside it are called so too.
    pub name: String,
    /// Whether what the format lacks is refused rather than composed of what it has.
    pub exact: bool,
    /// The version of the operation set, where the format has several.
    pub opset: Option<u32>,
    /// The version of the operation set of the source, if it has one: the default, unless the graph needs a
    /// later one.
    pub source_opset: Option<u32>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { name: "model".to_owned(), exact: false, opset: None, source_opset: None }
    }
}

/// A file, and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenModel {
    /// The file.
    pub content: Vec<u8>,
    /// The file that has to lie beside it, with its name.
    pub beside: Option<(String, Vec<u8>)>,
    /// What was composed of other operations.
    pub composed: Vec<Composed>,
    /// Where the other system may compute something else, as sentences.
    pub warnings: Vec<String>,
}

/// An operation that the format lacks, and what stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The operation.
    pub operation: String,
    /// What stands for it: `Exp(x * ln 2)`.
    pub by: String,
    /// How often.
    pub count: usize,
}

/// Writes one format.
pub trait Writer {
    /// The file of a graph of which every value is used, with a name for each output.
    ///
    /// # Errors
    /// `unsupported-op`, `unsupported-type`.
    fn write(
        &self,
        graph: &Graph,
        outputs: &[String],
        options: &WriteOptions,
    ) -> Result<WrittenModel, FormatError>;
}

/// What is noted while a graph is written.
#[derive(Debug, Default)]
pub struct Notes {
    composed: BTreeMap<(String, &'static str), (usize, Location)>,
    warnings: Vec<String>,
    census: Census,
}

/// What was noted of a graph that could be written.
pub type WriterNotes = (Vec<Composed>, Vec<String>);

impl Notes {
    /// An operation that is composed of others.
    pub fn composed(&mut self, operation: &str, by: &'static str, place: Location) {
        self.composed.entry((operation.to_owned(), by)).or_insert((0, place)).0 += 1;
    }

    /// An operation that is not to be had.
    pub fn unsupported(&mut self, operation: &str, reason: Option<String>, place: Location) {
        self.census.add(operation, reason, place);
    }

    /// Something that the other system may compute otherwise.
    pub fn warning(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    /// # Errors
    /// `unsupported-op`, with all of them: under `exact` what was composed is none that is to be had either.
    pub fn finish(mut self, exact: bool) -> Result<WriterNotes, FormatError> {
        let mut all = Vec::with_capacity(self.composed.len());
        for ((operation, by), (count, place)) in self.composed {
            if exact {
                let reason = format!("not as one operation, only as {by}");
                (0..count).for_each(|_| {
                    self.census.add(&operation, Some(reason.clone()), place.clone());
                });
            }
            all.push(Composed { operation, by: by.to_owned(), count });
        }
        self.census.check().map(|()| (all, self.warnings))
    }
}

/// The place of a value in a graph that is written: `%3 = exp2 f32[4]`.
pub fn place_of(graph: &Graph, value: ValueId) -> Location {
    let node = &graph[value];
    Location::described(format!("{value} = {} {}", node.kind.name(), node.array_type))
}
