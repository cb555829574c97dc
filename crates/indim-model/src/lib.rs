//! Models: programs read from files of other systems, independent of the file format.
//!
//! Read in this order:
//!
//! * `format.rs`: the file formats and their detection; `source.rs`: files and their folders; `limits.rs`:
//!   resource limits of one file.
//! * `model.rs`: a `Model`, its inputs, and the `ModelProgram` built for inputs of known types;
//!   `model_builder.rs`: builds its graph; `source_operation.rs`: the operation of the file that makes
//!   each value; `shape_values.rs`: constant folding of shapes; `loops.rs`: loops and branches;
//!   `recurrent/`: recurrent layers.
//! * `part.rs`: a part of a program between values that the caller names.
//! * `carried_text.rs`: texts of programs in which some operations are copied.
//! * `outline/`: every node of a model with types and broadcasts, also around nodes without a lowering.
//! * `lint/`: findings about an outline.
//! * `error.rs`: errors; `tolerance.rs`: comparison of results with expected results.
//! * `writer.rs`: the interface of writers, from a graph to a file; `written.rs`: written files;
//!   `element.rs`: elements as text.
//! * `match_composition.rs` and `match_reduction.rs`: find compositions and functions along axes in a graph
//!   with the graph patterns of `pattern.rs`; `match_product.rs`: finds matrix products, `dot_plan.rs` those
//!   of a whole graph; `standardise.rs`: the standardisation that normalisations share.
//! * `compositions/`: functions that several formats share, as nodes of a graph.
//! * `spatial_windows.rs`: attributes of convolutions and pools; `search_rows.rs`: searches in sorted rows.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod carried_text;
pub mod compositions;
pub mod dot_plan;
pub mod element;
mod error;
mod format;
mod limits;
pub mod lint;
pub mod loops;
mod match_composition;
mod match_product;
mod match_reduction;
mod model;
mod model_builder;
pub mod outline;
mod part;
mod pattern;
pub mod recurrent;
mod search_rows;
pub mod shape_values;
mod source;
mod source_operation;
pub mod spatial_windows;
mod standardise;
mod tolerance;
mod writer;
mod written;

pub use carried_text::{
    SourceNames, TextOperation, crossing_values, line_range, merged_texts, replaced_ranges,
};
pub use error::{FormatError, FormatErrorKind, Location, Unsupported};
pub use format::ModelFormat;
pub use limits::FormatLimits;
pub use match_composition::{CompositionMatch, CompositionMatcher};
pub use match_product::{DotForm, MatMulForm, MatMulOperand, ProductMatch, multiplied_and_added};
pub use match_reduction::{AxisOperation, ReductionMatch, ReductionMatcher};
pub use model::{
    DeclaredSize, Expectation, InputBinding, Model, ModelInput, ModelProgram, Tolerance,
    check_inputs,
};
pub use model_builder::{
    ModelBuilder, UnsupportedOperations, array_of_bytes, array_of_packed_bytes, integers,
    packed_bytes,
};
pub use part::{ProgramPart, remaining_positions};
pub use search_rows::search_rows;
pub use source::{Folder, SourceFile};
pub use source_operation::{BroadcastRule, RuleNote, SourceOperation};
pub use standardise::{Epsilon, centre, standardise};
pub use tolerance::{Distance, Mismatch, largest_distance};
pub use writer::{Notes, WriteOptions, Writer, WriterNotes, location_of};
pub use written::{Decomposition, WrittenModel, name_counts};

/// Options of reading a file.
///
/// ```
/// use indim_model::ReadOptions;
///
/// let options = ReadOptions::new().function("main".to_owned());
/// assert_eq!(options.function.as_deref(), Some("main"));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Resource limits of the file.
    pub limits: FormatLimits,
    /// The function to read as the program, if the file has several.
    pub function: Option<String>,
    /// The part of the program to read; the whole program by default.
    pub part: ProgramPart,
    /// Whether to leave out the nodes that indim cannot compute or write, and those behind them whose types
    /// are not known. [`Model::complete`] inserts them into a written file of the same format.
    pub carries: bool,
    /// Types of values, by their names, that the file leaves open; for [`ReadOptions::carries`].
    pub declared: Vec<(String, outline::ValueType)>,
}

impl ReadOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The resource limits of the file.
    pub fn limits(self, limits: FormatLimits) -> Self {
        ReadOptions { limits, ..self }
    }

    /// The function to read as the program, if the file has several.
    pub fn function(self, name: impl Into<Option<String>>) -> Self {
        ReadOptions { function: name.into(), ..self }
    }

    /// The part of the program to read.
    pub fn part(self, part: ProgramPart) -> Self {
        ReadOptions { part, ..self }
    }

    /// Whether to leave out the nodes that indim cannot compute or write, for a file of the same format.
    pub fn carries(self, carries: bool) -> Self {
        ReadOptions { carries, ..self }
    }

    /// Types of values that the file leaves open, for [`ReadOptions::carries`].
    pub fn declared(self, types: impl Into<Vec<(String, outline::ValueType)>>) -> Self {
        ReadOptions { declared: types.into(), ..self }
    }
}

/// A reader of one file format.
pub trait Reader {
    /// Reads the model in a file.
    ///
    /// # Errors
    /// Returns the error in the file.
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError>;

    /// Every node of the file with its types and broadcasts, also nodes that cannot be read.
    ///
    /// # Errors
    /// Errors of the file itself: `damaged`, `limit`, `undefined`, `duplicate`, `cycle`.
    fn outline(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
        outline: &outline::OutlineOptions,
    ) -> Result<outline::Outline, FormatError>;

    /// The names of the operations that can be read.
    fn operations(&self) -> Vec<String>;
}
