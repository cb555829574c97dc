//! Programs in the files of other systems, read into graphs in which every broadcast is explicit.
//!
//! `format.rs` says which format a file has, `source.rs` where it is read from, `limits.rs` what it may ask
//! for. A reader makes a `Model` of it (`model.rs`), and that for inputs of known types a `Program`, by
//! `making.rs`; what is wrong is said by `error.rs`; whether results are as expected,
//! by `agreement.rs`. `writer.rs` is the way back: from a graph to a file.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "hlo", feature = "onnx", feature = "openvino", feature = "stablehlo")),
    allow(dead_code, reason = "what formats share, not each of them needs")
)]

mod agreement;
mod error;
mod format;
#[cfg(feature = "hlo")]
mod hlo;
mod limits;
mod making;
mod model;
#[cfg(feature = "onnx")]
mod onnx;
#[cfg(feature = "openvino")]
mod openvino;
mod recognise;
mod shape_values;
mod source;
#[cfg(feature = "stablehlo")]
mod stablehlo;
mod writer;
#[cfg(any(feature = "hlo", feature = "stablehlo"))]
mod xla;

pub use agreement::Disagreement;
pub use error::{FormatError, FormatErrorKind, Place, Unsupported};
pub use format::Format;
pub use limits::FormatLimits;
pub use model::{Agreement, Bound, Expectation, Input, Model, Program, Size};
#[cfg(feature = "onnx")]
pub use onnx::{OnnxNode, read_onnx_tensor};
pub use source::{Directory, Folder, Source};
pub use writer::{Composed, WriteOptions, Written};

/// What there is to say about reading a file, beside the file.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// What the file may ask for.
    pub limits: FormatLimits,
    /// Which function of the file is the program, where it has several.
    pub function: Option<String>,
}

/// Reads one format.
pub(crate) trait Reader {
    /// # Errors
    /// What is wrong with the file.
    fn read(&self, source: &Source, options: &ReadOptions) -> Result<Box<dyn Model>, FormatError>;
}

/// Reads a file, in whichever format it is.
///
/// # Errors
/// `unknown-format`, `limit`, and what is wrong with the file.
pub fn read(source: &Source, options: &ReadOptions) -> Result<Box<dyn Model>, FormatError> {
    let Some(format) = Format::of(source.bytes()) else {
        return Err(
            FormatErrorKind::UnknownFormat { advice: format::advice(source.bytes()) }.nowhere()
        );
    };
    read_as(format, source, options)
}

/// Reads a file in this format.
///
/// # Errors
/// As [`read`].
pub fn read_as(
    format: Format,
    source: &Source,
    options: &ReadOptions,
) -> Result<Box<dyn Model>, FormatError> {
    let limit = options.limits.file_bytes;
    if source.bytes().len() > limit {
        return Err(FormatErrorKind::Limit { what: "bytes in the file", limit }.nowhere());
    }
    let readers: &[(Format, &dyn Reader)] = &[
        #[cfg(feature = "onnx")]
        (Format::Onnx, &onnx::Onnx),
        #[cfg(feature = "openvino")]
        (Format::OpenVino, &openvino::OpenVino),
        #[cfg(feature = "hlo")]
        (Format::Hlo, &hlo::HloText),
        #[cfg(feature = "stablehlo")]
        (Format::StableHlo, &stablehlo::StableHloText),
    ];
    match readers.iter().find(|(read, _)| *read == format) {
        Some((_, reader)) => reader.read(source, options),
        None => {
            let what = format!("this build has no reader of {format}, which is");
            Err(FormatErrorKind::Unsupported { what }.nowhere())
        }
    }
}

/// The file of a graph, with these names for its outputs.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_formats::{Format, WriteOptions, write};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [2])?;
/// let graph = b.finish(&[b.add(&x, &v, &[0])?])?;
/// let written = write(Format::OpenVino, &graph, &["sum".to_owned()], &WriteOptions::default())?;
/// assert!(String::from_utf8(written.content)?.contains("type=\"Add\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `unsupported-op`: what the format lacks, all of it at once, and what would be composed, if that is not
/// wanted; `unsupported-type`; `wrong-count` unless there is a name for each output.
pub fn write(
    format: Format,
    graph: &indim_graph::Graph,
    outputs: &[String],
    options: &WriteOptions,
) -> Result<Written, FormatError> {
    let (given, expected) = (outputs.len(), graph.outputs().len());
    if given != expected {
        let (what, expected) = ("names of outputs", expected.to_string());
        return Err(FormatErrorKind::Count { what, expected, given }.nowhere());
    }
    let writers: &[(Format, &dyn writer::Writer)] = &[
        #[cfg(feature = "onnx")]
        (Format::Onnx, &onnx::Onnx),
        #[cfg(feature = "openvino")]
        (Format::OpenVino, &openvino::OpenVino),
        #[cfg(feature = "hlo")]
        (Format::Hlo, &hlo::HloText),
        #[cfg(feature = "stablehlo")]
        (Format::StableHlo, &stablehlo::StableHloText),
    ];
    match writers.iter().find(|(written, _)| *written == format) {
        Some((_, writer)) => writer.write(&indim_graph::remove_unused(graph), outputs, options),
        None => {
            let what = format!("this build has no writer of {format}, which is");
            Err(FormatErrorKind::Unsupported { what }.nowhere())
        }
    }
}
