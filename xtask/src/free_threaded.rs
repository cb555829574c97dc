//! The Python package on a free-threaded interpreter: builds the wheel for it, and runs tests in several
//! threads at once, without the interpreter's lock.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use crate::python::{PACKAGE, build_wheel, environment_of, pip, run};

/// The variable that names the interpreter; otherwise it is one of these programs.
const VARIABLE: &str = "FREE_THREADED_PYTHON";
const PROGRAMS: [&str; 2] = ["python3.15t", "python3.14t"];

/// The packages of the tests below. `pytest-run-parallel` runs each test in several threads at once.
const REQUIREMENTS: [&str; 4] =
    ["numpy>=2.3", "pytest>=8", "hypothesis>=6.100", "pytest-run-parallel>=0.4"];

/// Tests that start threads of their own.
const THREADED: [&str; 2] = ["tests/test_free_threads.py", "tests/test_threads.py"];

/// Tests that run in several threads at once: they trace, compile, run and differentiate. Tests that write to
/// names outside their functions, such as those of captures, are not among them.
const PARALLEL: [&str; 10] = [
    "tests/test_arguments.py",
    "tests/test_gradients.py",
    "tests/test_jit.py",
    "tests/test_loops.py",
    "tests/test_reductions.py",
    "tests/test_scans.py",
    "tests/test_scatters.py",
    "tests/test_sorting.py",
    "tests/test_traced_functions.py",
    "tests/test_trees.py",
];

/// The first free-threaded interpreter that runs.
fn interpreter() -> Option<OsString> {
    let is_free_threaded = |program: &OsString| {
        let check =
            "import sys, sysconfig; sys.exit(not sysconfig.get_config_var('Py_GIL_DISABLED'))";
        let result = Command::new(program).args(["-c", check]).output();
        result.is_ok_and(|output| output.status.success())
    };
    let programs = std::env::var_os(VARIABLE).into_iter().chain(PROGRAMS.map(OsString::from));
    programs.into_iter().find(is_free_threaded)
}

/// The missing interpreter, in words.
pub(crate) fn missing() -> Vec<String> {
    match interpreter() {
        Some(_) => Vec::new(),
        None => vec![format!("python3.14t or later, or {VARIABLE} with the path of one")],
    }
}

/// Builds the wheel for the interpreter, and tests it in an environment of its own.
pub(crate) fn test(root: &Path) -> bool {
    let folder = root.join("target/python/free-threaded");
    let made = interpreter().and_then(|of| environment_of(root, Path::new(&of), &folder));
    let Some(python) = made else { return false };
    let wheel = build_wheel(root, &python, &root.join("target/python/free-threaded-wheels"));
    wheel.is_some_and(|wheel| {
        install(root, &python, &wheel)
            && pytest(root, &python, &[], &THREADED)
            && pytest(root, &python, &["--parallel-threads=4", "--iterations=1"], &PARALLEL)
    })
}

fn install(root: &Path, python: &Path, wheel: &Path) -> bool {
    let install = ["install", "--force-reinstall"].map(OsStr::new);
    let requirements = REQUIREMENTS.map(OsStr::new);
    pip(root, python, &[&install[..], &requirements, &[wheel.as_os_str()]].concat())
}

/// Runs these tests without the lock, also if another package would enable it.
fn pytest(root: &Path, python: &Path, options: &[&str], tests: &[&str]) -> bool {
    let words = [&["-X", "gil=0", "-m", "pytest", "--quiet"], options, tests].concat();
    run(&root.join(PACKAGE), python, &words.into_iter().map(OsStr::new).collect::<Vec<_>>())
}
