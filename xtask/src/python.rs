//! The Python package: its wheel built, installed into a clean environment, and tested there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "crates/indim-py";

/// Whether there is an interpreter that the package supports, with what makes environments.
pub(crate) fn is_available() -> bool {
    let program = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    let result = Command::new(system_python()).args(["-c", program]).output();
    result.is_ok_and(|output| output.status.success())
}

/// The interpreter of the system, or the one that `PYTHON` names.
fn system_python() -> OsString {
    std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into())
}

/// Builds the wheel and runs its tests against it.
pub(crate) fn test(root: &Path) -> bool {
    let target = root.join("target/python");
    let wheels = target.join("wheels");
    let Some(builder) = environment(root, &target.join("build")) else { return false };
    let Some(clean) = environment(root, &target.join("clean")) else { return false };
    // A wheel of an earlier version would be installed too.
    let _ = std::fs::remove_dir_all(&wheels);
    let package = root.join(PACKAGE);
    let requirements = package.join("requirements-test.txt");
    let build = [
        "-m".as_ref(),
        "maturin".as_ref(),
        "build".as_ref(),
        "--release".as_ref(),
        "--locked".as_ref(),
        "--out".as_ref(),
        wheels.as_os_str(),
    ];
    pip(root, &builder, &["install".as_ref(), "maturin>=1.9,<2".as_ref()])
        && run(&package, &builder, &build)
        && wheel(&wheels).is_some_and(|wheel| install(root, &clean, &wheel, &requirements))
        && run(&package, &clean, &["-m".as_ref(), "pytest".as_ref(), "--quiet".as_ref()])
}

/// Runs the benchmark of the Python package against the wheel that `test` installed.
pub(crate) fn bench(root: &Path) -> bool {
    let Some(python) = interpreter(&root.join("target/python/clean")) else {
        eprintln!("run `cargo xtask test` first: it builds and installs the wheel");
        return false;
    };
    let package = root.join(PACKAGE);
    let requirements = package.join("requirements-bench.txt");
    pip(root, &python, &["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()])
        && run(&package, &python, &["bench.py".as_ref()])
}

fn install(root: &Path, python: &Path, wheel: &Path, requirements: &Path) -> bool {
    pip(root, python, &["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()])
        && pip(
            root,
            python,
            &[
                "install".as_ref(),
                "--force-reinstall".as_ref(),
                "--no-deps".as_ref(),
                wheel.as_os_str(),
            ],
        )
}

/// The interpreter of a virtual environment, which is made if there is none.
pub(crate) fn environment(root: &Path, folder: &Path) -> Option<PathBuf> {
    if let Some(python) = interpreter(folder) {
        return Some(python);
    }
    let python = system_python();
    let made = run(root, Path::new(&python), &["-m".as_ref(), "venv".as_ref(), folder.as_os_str()]);
    if made { interpreter(folder) } else { None }
}

fn interpreter(folder: &Path) -> Option<PathBuf> {
    let places = [folder.join("bin/python"), folder.join("Scripts/python.exe")];
    places.into_iter().find(|place| place.exists())
}

fn wheel(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?;
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "whl"))
}

/// Runs pip, quietly.
pub(crate) fn pip(folder: &Path, python: &Path, arguments: &[&OsStr]) -> bool {
    let pip =
        ["-m".as_ref(), "pip".as_ref(), "--quiet".as_ref(), "--disable-pip-version-check".as_ref()];
    run(folder, python, &[&pip[..], arguments].concat())
}

/// Runs Python; says what it runs.
fn run(folder: &Path, python: &Path, arguments: &[&OsStr]) -> bool {
    let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    eprintln!("+ {} {}", python.display(), words.join(" "));
    match Command::new(python).args(arguments).current_dir(folder).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("{} cannot be run: {error}", python.display());
            false
        }
    }
}
