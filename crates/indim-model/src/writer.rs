//! The interface of writers: from a graph to a file of another system.

use std::collections::BTreeMap;

use indim_graph::{Graph, ValueId};

use crate::error::{FormatError, Location};
use crate::model_builder::UnsupportedOperations;
use crate::written::{Decomposition, WrittenModel};

/// Options of writing a file.
///
/// ```
/// use indim_model::WriteOptions;
///
/// let options = WriteOptions::new().name("mlp").exact(true).opset(21);
/// assert_eq!((options.name.as_str(), options.exact, options.opset), ("mlp", true, Some(21)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Name of the file without its extension; external files have the same name.
    pub name: String,
    /// Whether to reject operations that the format lacks, instead of composing them from others.
    pub exact: bool,
    /// Version of the operation set, if the format has several.
    pub opset: Option<u32>,
    /// Version of the operation set of the file from which the graph was read, if any. It is the default
    /// of `opset`, unless the graph needs a later one.
    pub source_opset: Option<u32>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { name: "model".to_owned(), exact: false, opset: None, source_opset: None }
    }
}

impl WriteOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of the file without its extension.
    pub fn name(self, name: impl Into<String>) -> Self {
        WriteOptions { name: name.into(), ..self }
    }

    /// Whether to reject operations that the format lacks.
    pub fn exact(self, exact: bool) -> Self {
        WriteOptions { exact, ..self }
    }

    /// The version of the operation set; `None` for the default.
    pub fn opset(self, version: impl Into<Option<u32>>) -> Self {
        WriteOptions { opset: version.into(), ..self }
    }

    /// The version of the operation set of the source.
    pub fn source_opset(self, version: impl Into<Option<u32>>) -> Self {
        WriteOptions { source_opset: version.into(), ..self }
    }
}

/// A writer of one file format.
pub trait Writer {
    /// Writes the graph, with one name for each output. Every value of the graph must be used.
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

/// Collects notes while a graph is written.
#[derive(Debug, Default)]
pub struct Notes {
    composed: BTreeMap<(String, &'static str), (usize, Location)>,
    warnings: Vec<String>,
    unsupported_operations: UnsupportedOperations,
}

/// Notes of a written graph: decompositions and warnings.
pub type WriterNotes = (Vec<Decomposition>, Vec<String>);

impl Notes {
    /// Notes a decomposed operation.
    pub fn composed(&mut self, operation: &str, by: &'static str, location: Location) {
        self.composed.entry((operation.to_owned(), by)).or_insert((0, location)).0 += 1;
    }

    /// Notes a contraction that is written as products and their sum.
    pub fn multiplied_and_added(&mut self, graph: &Graph, value: ValueId) {
        let name = graph[value].kind.name();
        self.composed(name, "products and their sum", location_of(graph, value));
        if graph[value].array_type.dtype.is_float() {
            self.warning("sums of products are added in the other system's own order");
        }
    }

    /// Notes an unsupported operation.
    pub fn unsupported(&mut self, operation: &str, reason: Option<String>, location: Location) {
        self.unsupported_operations.add(operation, reason, location);
    }

    /// Notes a possible difference in the results of the other system.
    pub fn warning(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    /// The notes, if the format has all operations.
    ///
    /// # Errors
    /// `unsupported-op`, with all unsupported operations; under `exact` the decomposed ones count too.
    pub fn finish(mut self, exact: bool) -> Result<WriterNotes, FormatError> {
        let mut all = Vec::with_capacity(self.composed.len());
        for ((operation, by), (count, location)) in self.composed {
            if exact {
                let reason = format!("not as one operation, only as {by}");
                (0..count).for_each(|_| {
                    self.unsupported_operations.add(
                        &operation,
                        Some(reason.clone()),
                        location.clone(),
                    );
                });
            }
            all.push(Decomposition { operation, by: by.to_owned(), count });
        }
        self.unsupported_operations.check().map(|()| (all, self.warnings))
    }
}

/// Location of a value in a graph: `%3 = exp2 f32[4]`.
pub fn location_of(graph: &Graph, value: ValueId) -> Location {
    let node = &graph[value];
    Location::described(format!("{value} = {} {}", node.kind.name(), node.array_type))
}
