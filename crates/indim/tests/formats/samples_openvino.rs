//! OpenVINO networks compared with OpenVINO's results.

use crate::support;
use crate::support::samples::{Case, Samples, mismatches};
use indim::formats::{ReadOptions, SourceFile};

fn source(path: &std::path::Path) -> SourceFile {
    SourceFile::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The failure of a case, if any.
fn outcome(case: &Case) -> Result<(), String> {
    let source = source(&case.file);
    let model = indim::formats::read(&source, &ReadOptions::default());
    // A case that the samples mark as out of scope can be supported by now.
    if let (false, Err(error)) = (case.is_in_scope, &model) {
        return match error.is_out_of_scope() && error.location.span.is_some() {
            true => Ok(()),
            false => Err(format!("refused as damaged: {}", error.draw(&source))),
        };
    }
    let model = model.map_err(|error| error.draw(&source))?;
    let results =
        support::run(&*model, &case.read_inputs()).map_err(|error| error.draw(&source))?;
    match mismatches(&results, &case.read_outputs()) {
        differences if differences.is_empty() => Ok(()),
        differences => Err(differences.join("\n")),
    }
}

#[test]
fn every_case_in_scope_gives_openvinos_results_and_others_are_refused() {
    let Some(samples) = Samples::open() else { return };
    let cases = samples.cases("openvino");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| outcome(case).err().map(|problem| format!("{}: {problem}", case.name)))
        .collect();
    eprintln!("{} of {} cases are right", cases.len() - failures.len(), cases.len());
    assert!(!cases.is_empty() && failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_damaged_file_gives_an_error_at_its_line() {
    let Some(samples) = Samples::open() else { return };
    let files = samples.damaged("openvino");
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
        let Some(line) = damaged.line else { continue };
        let span = error.location.span.clone().expect("the error has a place");
        assert_eq!(source.line_and_column(span.start).0, line, "{}", damaged.about);
    }
    eprintln!("{} damaged files", files.len());
}
