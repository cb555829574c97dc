//! ONNX models compared with the results of ONNX Runtime and of ONNX's own node tests.

use std::path::Path;
use std::process::Command;

use crate::support;
use crate::support::samples::{Case, Samples, mismatches};
use indim::formats::{FormatLimits, ReadOptions, SourceFile, Tolerance, read_onnx_tensor};
use indim_graph::Array;

fn source(path: &Path) -> SourceFile {
    SourceFile::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The arrays in `input_0.pb`, `input_1.pb`, ... of a node test.
fn node_arrays(folder: &Path, name: &str) -> Vec<Array> {
    let paths = (0..).map(|index| folder.join(format!("{name}_{index}.pb")));
    let limits = FormatLimits::default();
    let read = |path: &Path| read_onnx_tensor(&source(path), &limits).expect("an array").1;
    paths.take_while(|path| path.exists()).map(|path| read(&path)).collect()
}

/// The differences outside the tolerance of a node test.
fn node_mismatches(case: &Case, found: &[Array], expected: &[Array]) -> Vec<String> {
    let number = |key: &str| case.entry[key].as_f64().expect("a tolerance");
    let near = Tolerance::Close { absolute: number("atol"), relative: number("rtol") };
    assert_eq!(found.len(), expected.len(), "{}", case.name);
    let pairs = found.iter().zip(expected).enumerate();
    let differences = pairs.filter_map(|(index, (found, expected))| {
        Some(format!("output {index}: {:?}", near.compare(found, expected)?))
    });
    differences.collect()
}

/// The failure of a case, if any.
fn outcome(case: &Case) -> Result<(), String> {
    let source = source(&case.file);
    let model = indim::formats::read(&source, &ReadOptions::default());
    // A case that the samples mark as out of scope can be supported by now.
    if let (false, Err(error)) = (case.is_in_scope, &model) {
        return match error.is_out_of_scope() {
            true => Ok(()),
            false => Err(format!("refused as damaged: {}", error.draw(&source))),
        };
    }
    let model = model.map_err(|error| error.draw(&source))?;
    let is_node_test = case.arrays.join("output_0.pb").exists();
    let inputs = match is_node_test {
        true => node_arrays(&case.arrays, "input"),
        false => case.read_inputs(),
    };
    let results = support::run(&*model, &inputs).map_err(|error| error.draw(&source))?;
    let differences = match is_node_test {
        true => node_mismatches(case, &results, &node_arrays(&case.arrays, "output")),
        false => mismatches(&results, &case.read_outputs()),
    };
    match differences.is_empty() {
        true => Ok(()),
        false => Err(differences.join("\n")),
    }
}

#[test]
fn every_case_in_scope_gives_the_expected_results_and_others_are_refused() {
    let Some(samples) = Samples::open() else { return };
    check_cases(&samples);
}

fn check_cases(samples: &Samples) {
    let cases = samples.cases("onnx");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| outcome(case).err().map(|problem| format!("{}: {problem}", case.name)))
        .collect();
    eprintln!("{} of {} cases are right", cases.len() - failures.len(), cases.len());
    assert!(!cases.is_empty() && failures.is_empty(), "{}", failures.join("\n"));
}

/// Operators whose node tests are written by ONNX's own package.
const NODE_TESTS: &[&str] = &[
    "AffineGrid",
    "Attention",
    "BlackmanWindow",
    "CenterCropPad",
    "Col2Im",
    "DFT",
    "Det",
    "DynamicQuantizeLinear",
    "GridSample",
    "HammingWindow",
    "HannWindow",
    "LRN",
    "LpPool",
    "MaxPool",
    "MaxUnpool",
    "MelWeightMatrix",
    "NegativeLogLikelihoodLoss",
    "Pad",
    "Resize",
    "ReverseSequence",
    "RoiAlign",
    "RotaryEmbedding",
    "SoftmaxCrossEntropyLoss",
    "TensorScatter",
    "Upsample",
];

/// Node tests of ONNX, if an environment variable names a Python that has it.
#[test]
fn node_tests_of_onnx_have_the_expected_results() {
    let Some(python) = std::env::var_os("INDIM_ONNX_PYTHON") else {
        eprintln!("skipped: INDIM_ONNX_PYTHON names no Python with onnx");
        return;
    };
    let folder = std::env::temp_dir().join(format!("indim-onnx-nodes-{}", std::process::id()));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/support/onnx_nodes.py");
    let run = Command::new(python).arg(script).arg(&folder).args(NODE_TESTS).output();
    let run = run.expect("the script starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    check_cases(&Samples::in_folder(folder.clone()));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn every_damaged_file_gives_an_error() {
    let Some(samples) = Samples::open() else { return };
    let files = samples.damaged("onnx");
    for damaged in &files {
        let source = source(&damaged.file);
        let error = match indim::formats::read(&source, &ReadOptions::default()) {
            Err(error) => error,
            Ok(model) => {
                let types: Option<Vec<_>> = model.inputs().iter().map(|i| i.array_type()).collect();
                let types = types.expect("the damaged files say all types");
                let bounds: Vec<_> =
                    types.into_iter().map(indim::formats::InputBinding::Type).collect();
                model.build(&bounds).err().unwrap_or_else(|| panic!("{} is read", damaged.about))
            }
        };
        eprintln!("{}: {}", damaged.about, error.draw(&source));
        assert!(
            error.location.described.is_some() || error.code() == "damaged",
            "{}",
            damaged.about
        );
    }
}
