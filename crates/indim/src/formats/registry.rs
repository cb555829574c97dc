//! The formats of this build: each with its reader and writer, behind a feature.

use indim_model::outline::{Outline, OutlineOptions};
use indim_model::{
    FormatError, FormatErrorKind, Model, ModelFormat, ReadOptions, Reader, SourceFile,
    WriteOptions, Writer, WrittenModel,
};

/// Reads a file and detects its format.
///
/// # Errors
/// `unknown-format`, `limit`, and all errors of the format's reader.
pub fn read(source: &SourceFile, options: &ReadOptions) -> Result<Box<dyn Model>, FormatError> {
    let Some(format) = ModelFormat::of(source.bytes()) else {
        return Err(FormatErrorKind::UnknownFormat { advice: ModelFormat::advice(source.bytes()) }
            .without_location());
    };
    read_as(format, source, options)
}

/// Reads a file in this format.
///
/// # Errors
/// Those of [`read`].
pub fn read_as(
    format: ModelFormat,
    source: &SourceFile,
    options: &ReadOptions,
) -> Result<Box<dyn Model>, FormatError> {
    let limit = options.limits.file_bytes;
    if source.bytes().len() > limit {
        return Err(FormatErrorKind::Limit { what: "bytes in the file", limit }.without_location());
    }
    match reader(format) {
        Some(reader) => reader.read(source, options),
        None => {
            let what = format!("this build has no reader of {format}, which is");
            Err(FormatErrorKind::Unsupported { what }.without_location())
        }
    }
}

/// The outline of a file: every node with its types. The content determines the format.
///
/// # Errors
/// `unknown-format`, `limit`, and the errors of the file itself.
pub(super) fn outline(
    source: &SourceFile,
    options: &ReadOptions,
    outline: &OutlineOptions,
) -> Result<Outline, FormatError> {
    let Some(format) = ModelFormat::of(source.bytes()) else {
        return Err(FormatErrorKind::UnknownFormat { advice: ModelFormat::advice(source.bytes()) }
            .without_location());
    };
    let limit = options.limits.file_bytes;
    if source.bytes().len() > limit {
        return Err(FormatErrorKind::Limit { what: "bytes in the file", limit }.without_location());
    }
    // No trait object: a program that makes outlines alone then lacks the code that reads whole models.
    match format {
        #[cfg(feature = "onnx")]
        ModelFormat::Onnx => indim_onnx::Onnx.outline(source, options, outline),
        #[cfg(feature = "openvino")]
        ModelFormat::OpenVino => indim_openvino::OpenVino.outline(source, options, outline),
        #[cfg(feature = "xla")]
        ModelFormat::Hlo => indim_xla::Hlo.outline(source, options, outline),
        #[cfg(feature = "xla")]
        ModelFormat::StableHlo => indim_stablehlo::StableHloText.outline(source, options, outline),
        #[allow(unreachable_patterns, reason = "a build may leave readers out")]
        _ => {
            let what = format!("this build has no reader of {format}, which is");
            Err(FormatErrorKind::Unsupported { what }.without_location())
        }
    }
}

/// Names of the operations that the reader of the format supports; empty if this build has no such reader.
///
/// ```
/// use indim::formats::{ModelFormat, operations};
///
/// assert!(operations(ModelFormat::Onnx).contains(&"Softmax".to_owned()));
/// assert!(operations(ModelFormat::StableHlo).contains(&"stablehlo.gather".to_owned()));
/// ```
pub fn operations(format: ModelFormat) -> Vec<String> {
    reader(format).map_or_else(Vec::new, Reader::operations)
}

fn reader(format: ModelFormat) -> Option<&'static dyn Reader> {
    match format {
        #[cfg(feature = "onnx")]
        ModelFormat::Onnx => Some(&indim_onnx::Onnx),
        #[cfg(feature = "openvino")]
        ModelFormat::OpenVino => Some(&indim_openvino::OpenVino),
        #[cfg(feature = "xla")]
        ModelFormat::Hlo => Some(&indim_xla::Hlo),
        #[cfg(feature = "xla")]
        ModelFormat::StableHlo => Some(&indim_stablehlo::StableHloText),
        #[allow(unreachable_patterns, reason = "a build may leave readers out")]
        _ => None,
    }
}

/// Writes a graph, with these names for its outputs.
///
/// ```
/// use indim::formats::{ModelFormat, WriteOptions, write};
/// use indim::{DType, GraphBuilder};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [2])?;
/// let graph = b.finish(&[b.add(&x, &v, &[0])?])?;
/// let written = write(ModelFormat::OpenVino, &graph, &["sum".to_owned()], &WriteOptions::default())?;
/// assert!(String::from_utf8(written.content)?.contains("type=\"Add\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `unsupported-op`: lists all operations that the format lacks, and under `exact` the decomposed ones;
/// `unsupported-type`; `wrong-count` unless each output has a name.
pub fn write(
    format: ModelFormat,
    graph: &indim_graph::Graph,
    outputs: &[String],
    options: &WriteOptions,
) -> Result<WrittenModel, FormatError> {
    let (given, expected) = (outputs.len(), graph.outputs().len());
    if given != expected {
        let (what, expected) = ("names of outputs", expected.to_string());
        return Err(FormatErrorKind::Count { what, expected, given }.without_location());
    }
    let writers: &[(ModelFormat, &dyn Writer)] = &[
        #[cfg(feature = "onnx")]
        (ModelFormat::Onnx, &indim_onnx::Onnx),
        #[cfg(feature = "openvino")]
        (ModelFormat::OpenVino, &indim_openvino::OpenVino),
        #[cfg(feature = "xla")]
        (ModelFormat::Hlo, &indim_xla::Hlo),
        #[cfg(feature = "xla")]
        (ModelFormat::StableHlo, &indim_stablehlo::StableHloText),
    ];
    match writers.iter().find(|(written, _)| *written == format) {
        Some((_, writer)) => {
            writer.write(&indim_graph::drop_bitcast_pairs(graph).0, outputs, options)
        }
        None => {
            let what = format!("this build has no writer of {format}, which is");
            Err(FormatErrorKind::Unsupported { what }.without_location())
        }
    }
}
