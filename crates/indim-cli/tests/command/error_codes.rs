//! A test raises each error code: the command in its example, or the test of a library.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use indim_shape::{ErrorCode, ErrorExample};

use crate::run::{Folder, Run, binary, finish};

/// Codes that no command raises, and the test that does, within `crates/`.
const TESTS_OF_CODES: &[(&str, &str)] = &[
    ("owner-not-kept", "indim-cli/tests/command/files.rs"),
    ("outside-of-array", "indim-stores/tests/regions.rs"),
    ("read-once", "indim-stores/tests/pipe.rs"),
    ("wrong-piece", "indim-stores/tests/regions.rs"),
    ("incomplete", "indim-stores/tests/regions.rs"),
    ("file-changed", "indim/tests/npz.rs"),
    ("wrong-options", "indim-stores/tests/zarr.rs"),
    ("several-pages", "indim-stores/tests/images.rs"),
    ("remote-off", "indim-cli/tests/command/sources.rs"),
    ("remote-name", "indim-remote/tests/store.rs"),
    ("request-failed", "indim-remote/tests/store.rs"),
    ("wrong-order", "indim-stores/tests/images.rs"),
    ("terminal", "indim-cli/tests/command/pipes.rs"),
    ("too-many-operands", "indim-web/tests/hostile.rs"),
    ("name-too-long", "indim-web/tests/hostile.rs"),
    ("bad-field", "indim-web/tests/hostile.rs"),
    ("internal-error", "indim-py/tests/test_messages.py"),
    ("not-a-parameter", "indim-builder/tests/axis_names.rs"),
    ("argument-not-taken", "indim-builder/tests/values.rs"),
    ("slice-out-of-range", "indim-builder/tests/values.rs"),
    ("scatter-shape", "indim-cpu/tests/scatters.rs"),
    ("loop-state-type", "indim-cpu/tests/loops.rs"),
    ("region-type", "indim-cpu/tests/loops.rs"),
    ("region-limit", "indim-cpu/tests/loops.rs"),
    ("step-limit", "indim-cpu/tests/loops.rs"),
    ("convolution-shape", "indim-builder/tests/convolutions.rs"),
    ("bitcast-width", "indim-cpu/tests/lying_callers.rs"),
    ("duplicate-parameter", "indim-graph/tests/verify.rs"),
    ("bad-size", "indim-builder/tests/values.rs"),
    ("foreign-value", "indim-builder/tests/values.rs"),
    ("argument-type", "indim-transforms/tests/derivative/graphs.rs"),
    ("not-differentiable", "indim-transforms/tests/derivative/graphs.rs"),
    ("not-one-number", "indim-transforms/tests/derivative/graphs.rs"),
    ("unknown-parameter", "indim-transforms/tests/derivative/graphs.rs"),
    ("batched-output", "indim-transforms/tests/batching.rs"),
    ("operand-not-earlier", "indim-graph/tests/verify.rs"),
    ("operand-shape", "indim-graph/tests/verify.rs"),
    ("result-type", "indim-graph/tests/verify.rs"),
    ("parameter-index", "indim-graph/tests/verify.rs"),
    ("unknown-output", "indim-cpu/tests/lying_callers.rs"),
    ("missing-attribute", "indim-shape/tests/attributes.rs"),
    ("not-elementwise", "indim-shape/tests/attributes.rs"),
    ("unknown-rule", "indim-web/tests/hostile.rs"),
    ("guard-not-met", "indim-cpu/tests/symbolic.rs"),
    ("unknown-input", "indim-cpu/tests/named.rs"),
    ("duplicate-input", "indim-cpu/tests/named.rs"),
    ("missing-input", "indim-cpu/tests/named.rs"),
    ("unused-input", "indim/tests/evaluate.rs"),
    ("output-count", "indim-cpu/tests/named.rs"),
    ("output-type", "indim-cpu/tests/lying_callers.rs"),
    ("outputs-overlap", "indim-cpu/tests/in_place.rs"),
    ("overlap-undecided", "indim-cpu/tests/in_place.rs"),
    ("stopped", "indim-cpu/tests/groups.rs"),
    ("stride-count", "indim-cpu/tests/lying_callers.rs"),
    ("element-count", "indim-cpu/tests/named.rs"),
    ("out-of-bounds", "indim-cpu/tests/lying_callers.rs"),
    ("shared-elements", "indim-cpu/tests/lying_callers.rs"),
    ("element-type", "indim/tests/ecosystem.rs"),
    ("not-row-major", "indim/tests/user_programs/errors.rs"),
    ("not-scalar", "indim/tests/ecosystem.rs"),
    ("axis-count", "indim/tests/ecosystem.rs"),
    ("too-many-readings", "indim-transforms/tests/reread_limit.rs"),
    ("threads", "indim-cli/tests/command/eval.rs"),
    ("axis-or-operand", "indim-text/tests/expression_errors.rs"),
    ("text-too-long", "indim-text/tests/expression_errors.rs"),
    ("too-many-nodes", "indim-text/tests/expression_errors.rs"),
    ("undefined-value", "indim-text/tests/graph_text.rs"),
    ("duplicate-value", "indim-text/tests/graph_text.rs"),
    ("operand-shapes", "indim/tests/formats/lint.rs"),
    ("sizes-may-differ", "indim/tests/formats/lint.rs"),
    ("unknown-type", "indim/tests/formats/lint.rs"),
    ("rank-promoted", "indim/tests/formats/lint.rs"),
    ("outer-product", "indim/tests/formats/lint.rs"),
    ("wrong-axis", "indim/tests/formats/lint.rs"),
    ("needless-expand", "indim/tests/formats/lint.rs"),
    ("cancelling-reshapes", "indim/tests/formats/lint.rs"),
    ("repeated-constant", "indim/tests/formats/lint.rs"),
    ("pdpd-axis", "indim/tests/formats/lint_openvino.rs"),
    ("runtime-dependent", "indim/tests/formats/lint.rs"),
];

/// Runs the lines of a shell in an empty folder.
fn run_lines(lines: &[&str]) -> Run {
    let folder = Folder::new();
    let binaries = binary().parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &lines.join("\n")]).stdin(std::process::Stdio::null());
    finish(shell.env("PATH", path).current_dir(folder.path()))
}

/// Whether a run ends with the drawn error of this code, or with the oracle's verdict of this code.
fn raises(run: &Run, code: ErrorCode) -> bool {
    run.stderr.contains(&format!("error[{code}]: "))
        || run.stdout.contains(&format!(r#""code":"{code}""#))
}

#[test]
fn examples_raise_their_codes() {
    let mut failures = Vec::new();
    for code in ErrorCode::all() {
        let ErrorExample::Command(lines) = code.entry().example else {
            continue;
        };
        let run = run_lines(lines);
        if !raises(&run, code) {
            failures.push(format!("{code}: {}\n{}{}", lines.join("\n"), run.stdout, run.stderr));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn codes_without_a_command_have_a_test() {
    let without_command: BTreeSet<&str> = ErrorCode::all()
        .filter(|code| !matches!(code.entry().example, ErrorExample::Command(_)))
        .map(ErrorCode::as_str)
        .collect();
    let tested: BTreeSet<&str> = TESTS_OF_CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(tested, without_command, "a code has a command that raises it, or a test here");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder");
    for (code, test) in TESTS_OF_CODES {
        let text = std::fs::read_to_string(crates.join(test)).expect("a test");
        let is_named = [format!("\"{code}\""), format!("error[{code}]")];
        assert!(is_named.iter().any(|name| text.contains(name)), "{test} has no {code}");
    }
}

/// All Rust sources of a crate.
fn source(folder: &Path) -> String {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let text = |path: std::path::PathBuf| match path.is_dir() {
        true => source(&path),
        false => std::fs::read_to_string(path).expect("a source"),
    };
    entries.map(text).collect()
}

#[test]
fn pages_name_crates_that_use_the_code() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder");
    let mut sources = BTreeMap::new();
    for code in ErrorCode::all() {
        let constant = format!("ErrorCode::{}", code.as_str().to_uppercase().replace('-', "_"));
        for name in code.entry().raised_by {
            let text =
                sources.entry(name).or_insert_with(|| source(&crates.join(name).join("src")));
            assert!(text.contains(&constant), "{code}: no source of {name} has {constant}");
        }
    }
}
