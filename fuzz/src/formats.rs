//! Programs in the files of other systems. A program that is read and built is a legal graph; a refused
//! program has a report with a place. The lint of a file gives findings in the order of
//! their nodes, and as valid JSON. If a program has
//! unsupported operations, its error names values from which the rest of the program is supported; the text
//! that is written with copies of these operations is read again. No input takes long.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use indim::formats::{
    DeclaredSize, Folder, FormatLimits, InputBinding, LintOptions, LintReport, LoadError,
    LoadedModel, ModelFormat, ModelInput, ProgramPart, ReadOptions, SarifLog, SourceFile,
    WriteOptions,
};
use indim::{Array, ArrayType, DType};

use crate::engine;

/// Reads the bytes as StableHLO.
pub fn stablehlo(bytes: &[u8]) {
    run(ModelFormat::StableHlo, bytes);
}

/// Reads the bytes as HLO.
pub fn hlo(bytes: &[u8]) {
    run(ModelFormat::Hlo, bytes);
}

/// Reads the bytes as OpenVINO's IR.
pub fn openvino(bytes: &[u8]) {
    run(ModelFormat::OpenVino, bytes);
}

/// Reads the bytes as ONNX.
pub fn onnx(bytes: &[u8]) {
    run(ModelFormat::Onnx, bytes);
}

/// A folder in which every file has the same 4096 bytes.
struct SameBytes;

impl Folder for SameBytes {
    fn read(&self, _: &str) -> io::Result<Bytes> {
        Ok((0..4096u32).map(|byte| (byte % 251) as u8).collect())
    }
}

/// Writes the program with copies of its unsupported operations, and reads what was written as text.
fn check_copies(
    format: ModelFormat,
    source: &SourceFile,
    options: &ReadOptions,
    error: &LoadError,
) {
    let written = |source: &SourceFile, error: &LoadError| {
        let model = LoadedModel::carrying(source.clone(), options, format, error)?.ok()?;
        let inputs: Option<Vec<InputBinding>> = model.inputs().iter().map(bound).collect();
        model.write(format, &inputs?, &WriteOptions::new()).ok()
    };
    let is_text = matches!(format, ModelFormat::StableHlo | ModelFormat::Hlo);
    let Some(first) = written(source, error).filter(|_| is_text) else { return };
    let again = SourceFile::new("written", first.content);
    let error = match LoadedModel::read_as(format, again.clone(), options) {
        Ok(_) => return,
        Err(error) => error,
    };
    assert!(written(&again, &error).is_some(), "{}", error.draw());
}

fn run(format: ModelFormat, bytes: &[u8]) {
    let _ = ModelFormat::of(bytes);
    let source = SourceFile::new("input", bytes.to_vec()).with_folder(Arc::new(SameBytes));
    source.pieces();
    let limits = FormatLimits {
        file_bytes: 1 << 16,
        depth: 100,
        operations: 300,
        constant_bytes: 1 << 16,
        ..FormatLimits::default()
    };
    let options = ReadOptions::new().limits(limits);
    lint(format, &source, &options);
    let model = match LoadedModel::read_as(format, source.clone(), &options) {
        Ok(model) => model,
        Err(error) => {
            check_rest(format, &source, &options, &error);
            check_copies(format, &source, &options, &error);
            return check_report(&error.draw());
        }
    };
    let Some(inputs) = model.inputs().iter().map(bound).collect::<Option<Vec<InputBinding>>>()
    else {
        return;
    };
    match model.program(&inputs) {
        Ok(program) => {
            let outputs = program.outputs.len() + 2 * program.expectations.len();
            assert_eq!(program.graph.outputs().len(), outputs);
            engine::check(&program.graph);
        }
        Err(error) => check_report(&error.draw()),
    }
}

/// Checks the findings in each form, and builds the part of the program that ends at one of its values,
/// and the part that starts there.
fn lint(format: ModelFormat, source: &SourceFile, options: &ReadOptions) {
    let lint = LintOptions::new().read(options.clone());
    let report = match LintReport::new(source.clone(), &lint) {
        Ok(report) => report,
        Err(error) => return check_report(&error.draw()),
    };
    let outline = report.outline();
    assert!(outline.to_string().ends_with(&format!("{}\n", outline.counts_text())));
    assert!(report.findings().is_sorted_by_key(|finding| finding.node));
    assert!(report.to_string().lines().count() > report.findings().len());
    let mut log = SarifLog::default();
    log.add(&report);
    for text in [report.to_json(), log.to_string()] {
        serde_json::from_str::<serde_json::Value>(&text).expect("findings are JSON");
    }
    let named: Vec<&str> = outline
        .values
        .iter()
        .filter(|value| !value.is_internal && !value.name.is_empty())
        .map(|value| value.name.as_str())
        .collect();
    let Some(name) = named.get(source.bytes().len() % named.len().max(1)) else { return };
    for is_start in [false, true] {
        let names = vec![(*name).to_owned()];
        let part = match is_start {
            true => ProgramPart { from: names, to: Vec::new() },
            false => ProgramPart { from: Vec::new(), to: names },
        };
        let options = options.clone().part(part);
        match LoadedModel::read_as(format, source.clone(), &options) {
            Ok(model) => build(&model),
            Err(error) => check_report(&error.draw()),
        }
    }
}

/// Builds the program without running it.
fn build(model: &LoadedModel) {
    let inputs = model.inputs().iter().map(bound).collect::<Option<Vec<InputBinding>>>();
    if let Some(Err(error)) = inputs.map(|inputs| model.program(&inputs)) {
        check_report(&error.draw());
    }
}

/// Checks that the rest of the program is supported if the values that the error names are provided.
fn check_rest(format: ModelFormat, source: &SourceFile, options: &ReadOptions, error: &LoadError) {
    let from: Vec<String> =
        error.values_to_provide().iter().map(|(name, _)| name.clone()).collect();
    if from.is_empty() {
        return;
    }
    let part = ProgramPart { from: from.clone(), to: Vec::new() };
    let options = options.clone().part(part);
    if let Err(error) = LoadedModel::read_as(format, source.clone(), &options) {
        assert_ne!(error.code(), "unsupported-op", "given {from:?}: {error}");
    }
}

fn check_report(report: &str) {
    assert!(report.starts_with("error["), "{report}");
    assert!(report.contains("--> input"), "{report}");
}

/// A binding that the input accepts; `None` for elements of a shape with more than 64 of them.
fn bound(input: &ModelInput) -> Option<InputBinding> {
    if input.has_default {
        return Some(InputBinding::Default);
    }
    let size = |size: &DeclaredSize| match size {
        DeclaredSize::Known(size) => *size,
        DeclaredSize::Range { min, .. } => *min,
        _ => 2,
    };
    let sizes: Vec<usize> = input.sizes.as_deref().unwrap_or(&[]).iter().map(size).collect();
    let array_type = ArrayType::new(input.dtype.unwrap_or(DType::F32), sizes);
    let count = array_type.shape.element_count().ok()?;
    match input.is_shape {
        true if count > 64 => None,
        true => {
            let ones = Array::new([count], vec![1i64; count]).ok()?;
            Some(InputBinding::Elements(ones))
        }
        false => Some(InputBinding::Type(array_type)),
    }
}
