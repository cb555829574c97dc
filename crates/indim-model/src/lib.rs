//! What a program in the file of another system is, whichever system that is.
//!
//! `format.rs` says which format a file has, `source.rs` where it is read from, `limits.rs` what it may ask
//! for. A reader makes a `Model` of it (`model.rs`), and that for inputs of known types a `ModelProgram`, by
//! `making.rs`, with its `origin.rs`; what is wrong is said by `error.rs`; whether results are as expected,
//! by `agreement.rs`. `writer.rs` is the way back: from a graph to a file. `recognise.rs` and
//! `recognise_along.rs` find compositions and functions along axes in a graph, by `pattern.rs`;
//! `standardise.rs` is the definition that normalisations share.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod agreement;
mod error;
mod format;
mod limits;
mod making;
mod model;
mod origin;
mod pattern;
mod recognise;
mod recognise_along;
pub mod shape_values;
mod source;
mod standardise;
mod writer;

pub use agreement::Disagreement;
pub use error::{FormatError, FormatErrorKind, Location, Unsupported};
pub use format::ModelFormat;
pub use limits::FormatLimits;
pub use making::{Census, ModelBuilder, array_of_bytes, integers};
pub use model::{
    Agreement, Bound, Expectation, Model, ModelInput, ModelProgram, Size, check_inputs,
};
pub use origin::{BroadcastRule, RuleNote, SourceOperation};
pub use recognise::{Recognised, Recogniser};
pub use recognise_along::{AlongAxes, AlongRecogniser, RecognisedReduction};
pub use source::{Directory, Folder, SourceFile};
pub use standardise::{Epsilon, centred, standardised};
pub use writer::{Composed, Notes, WriteOptions, Writer, WriterNotes, WrittenModel, place_of};

/// What there is to say about reading a file, beside the file.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// What the file may ask for.
    pub limits: FormatLimits,
    /// Which function of the file is the program, where it has several.
    pub function: Option<String>,
}

/// Reads one format.
pub trait Reader {
    /// # Errors
    /// What is wrong with the file.
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError>;

    /// The names of the operations that can be read.
    fn operations(&self) -> Vec<String>;
}
