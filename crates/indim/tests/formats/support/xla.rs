//! Runs the samples of StableHLO and HLO as their manifest says.

use indim::formats::{FormatError, InputBinding, Model, ReadOptions, SourceFile};
use indim_graph::{Array, evaluate};

use super::npz;
use super::samples::{Case, Samples, mismatches};

/// Runs all samples of a format and prints their number. Samples in scope must give their expected results;
/// the others must give these or an error that names the unsupported feature. Samples whose file has a
/// suffix in `known_to_differ` must differ.
///
/// # Panics
/// If a sample fails.
pub(crate) fn run_all(samples: &Samples, format: &str, known_to_differ: &[&str]) {
    let cases = samples.cases(format);
    let (mut passed, mut refused, mut differ, mut failures) = (0, 0, 0, Vec::new());
    for case in &cases {
        let result = run(case);
        if known_to_differ.iter().any(|known| case.file.ends_with(known)) {
            assert!(result.is_ok_and(|found| !found.is_empty()), "{} agrees", case.name);
            differ += 1;
            continue;
        }
        match result {
            Ok(found) if found.is_empty() => passed += 1,
            Ok(found) => failures.push(format!("{}: {}", case.file.display(), found.join("; "))),
            Err(error) if !case.is_in_scope && error.is_out_of_scope() => refused += 1,
            Err(error) => failures.push(error.draw(&source(case))),
        }
    }
    eprintln!(
        "{format}: {passed} of {} passed, {refused} out of scope, {differ} differ",
        cases.len()
    );
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

fn source(case: &Case) -> SourceFile {
    let source = SourceFile::open(&case.file).expect("the sample can be read");
    match case.entry["piece"].as_u64() {
        Some(piece) => source.pieces().swap_remove(piece as usize),
        None => source,
    }
}

/// The differences of a sample from its expected results.
fn run(case: &Case) -> Result<Vec<String>, FormatError> {
    let model = indim::formats::read(&source(case), &ReadOptions::default())?;
    let has_arrays = case.entry["arrays"].is_string();
    let inputs = match has_arrays {
        true => npz::read(&case.arrays, "input", &case.inputs),
        false => Vec::new(),
    };
    let expected = match has_arrays {
        true => npz::read(&case.arrays, "output", &case.outputs),
        false => Vec::new(),
    };
    compare(model.as_ref(), &inputs, has_arrays.then_some(&expected))
}

fn compare(
    model: &dyn Model,
    inputs: &[Array],
    expected: Option<&Vec<Array>>,
) -> Result<Vec<String>, FormatError> {
    let types: Vec<InputBinding> =
        inputs.iter().map(|input| InputBinding::Type(input.array_type().clone())).collect();
    let program = model.build(&types)?;
    let results = evaluate(&program.graph, inputs).expect("the inputs are of their types");
    let mut wrong = match expected {
        Some(expected) => mismatches(&results[..program.outputs.len()], expected),
        None if program.expectations.is_empty() => vec!["nothing is expected".to_owned()],
        None => Vec::new(),
    };
    for expectation in &program.expectations {
        let (found, expected) = (&results[expectation.result], &results[expectation.expected]);
        let difference = expectation.tolerance.compare(found, expected);
        wrong.extend(difference.map(|difference| format!("{difference:?}")));
    }
    Ok(wrong)
}

/// Reads all damaged files of a format; each must give an error at the line in the manifest.
///
/// # Panics
/// If a file does not.
pub(crate) fn read_damaged(samples: &Samples, format: &str) {
    for damaged in samples.damaged(format) {
        let source = SourceFile::open(&damaged.file).expect("the file can be read");
        let built = indim::formats::read(&source, &ReadOptions::default()).and_then(|model| {
            let types = model.inputs().iter().map(|input| input.array_type().expect("a type"));
            let types: Vec<InputBinding> = types.map(InputBinding::Type).collect();
            model.build(&types).map(drop)
        });
        // An operation that the samples call unsupported can be supported by now.
        let error = match built {
            Err(error) => error,
            Ok(()) if damaged.about.starts_with("unsupported operation") => continue,
            Ok(()) => panic!("{} is read", damaged.about),
        };
        let report = error.draw(&source);
        let line = error.location.span.as_ref().map(|span| source.line_and_column(span.start).0);
        assert_eq!(line, damaged.line, "{}: {report}", damaged.about);
    }
}
