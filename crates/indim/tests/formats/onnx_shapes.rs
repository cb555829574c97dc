//! Shape rules of ONNX operators against ONNX's own inference and ONNX Runtime, on random nodes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use indim::formats::{LintReport, Verdict};

use crate::lint::lint;

/// Number of random nodes: about 50 for each operator.
const NODES: &str = "8000";

const SEED: &str = "1";

/// A line for each node: its name, verdict, the types of its results and its first problem.
fn described(report: &LintReport) -> String {
    let outline = report.outline();
    let mut text = String::new();
    for node in &outline.nodes {
        let illegal = node.broadcasts.iter().find_map(|broadcast| match &broadcast.verdict {
            Verdict::Illegal(diagnostic) => Some(diagnostic.as_ref()),
            _ => None,
        });
        let problem = node.problems.first().or(illegal);
        let mut verdicts = node.broadcasts.iter().map(|broadcast| &broadcast.verdict);
        let is_conditional = !node.conditions.is_empty()
            || verdicts.any(|verdict| matches!(verdict, Verdict::LegalIf(..)));
        let verdict = match (problem.is_some(), is_conditional) {
            (true, _) => "illegal",
            (false, true) => "legal if",
            (false, false) => "legal",
        };
        write!(text, "{}|{verdict}", node.name).unwrap();
        for result in &node.results {
            let value_type = result.map(|result| outline.values[result].value_type.to_string());
            write!(text, "|{}", value_type.unwrap_or_default()).unwrap();
        }
        let problem =
            problem.map_or(String::new(), |problem| problem.headline.replace(['\n', '|'], " "));
        writeln!(text, "|{problem}").unwrap();
    }
    text
}

fn run(python: &std::ffi::OsStr, arguments: &[&str]) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/support/onnx_shapes.py");
    let run = Command::new(python).arg("-B").arg(script).args(arguments).output();
    let run = run.expect("the script starts");
    eprintln!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

/// Lints each model of the folder, and writes the findings beside the model.
fn describe_models(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "onnx") {
            let report = lint("model.onnx", std::fs::read(&path).unwrap());
            std::fs::write(path.with_extension("txt"), described(&report)).unwrap();
        }
    }
}

/// If an environment variable names a Python with the packages `onnx` and `onnxruntime`.
#[test]
fn rules_agree_with_onnx() {
    let Some(python) = std::env::var_os("INDIM_ONNX_PYTHON") else { return };
    let folder = std::env::temp_dir().join(format!("indim-shapes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.to_str().expect("a path in Unicode");
    run(&python, &["make", path, NODES, SEED]);
    describe_models(&folder);
    run(&python, &["compare", path]);
    std::fs::remove_dir_all(&folder).unwrap();
}
