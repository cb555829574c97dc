//! The Python package: builds its wheel, installs it into a clean environment, and tests it there; runs its
//! tests under AddressSanitizer.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::asan::{ASAN_VARIABLES, sanitizer_target};
use crate::cargo;

pub(crate) const PACKAGE: &str = "crates/indim-py";

/// The interpreter that makes and tests Python packages, in words.
pub(crate) const INTERPRETER: &str = "python3 (3.10 or later) with venv";

/// The versions of maturin that build wheels.
pub(crate) const MATURIN_VERSIONS: &str = ">=1.9,<2";

/// Whether a supported interpreter is installed, with the module that makes environments.
pub(crate) fn is_available() -> bool {
    let program = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    let result = Command::new(system_python()).args(["-c", program]).output();
    result.is_ok_and(|output| output.status.success())
}

/// The missing interpreter, in words.
pub(crate) fn missing() -> Vec<String> {
    if is_available() { Vec::new() } else { vec![INTERPRETER.to_owned()] }
}

/// The interpreter of the system, or the one that `PYTHON` names.
pub(crate) fn system_python() -> OsString {
    std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into())
}

/// Builds the wheel and runs its tests against it.
pub(crate) fn test(root: &Path) -> bool {
    let clean = environment(root, &root.join("target/python/clean"));
    clean.is_some_and(|clean| test_with(root, &clean, &[]))
}

/// Builds the wheel, installs it into an environment, and runs these tests against it; all if `tests` is
/// empty.
pub(crate) fn test_with(root: &Path, python: &Path, tests: &[&str]) -> bool {
    let package = root.join(PACKAGE);
    let requirements = package.join("requirements-test.txt");
    built_wheel(root).is_some_and(|wheel| install(root, python, &wheel, &requirements))
        && pytest(&package, python, tests)
}

/// Builds the wheel for the stable ABI, and returns its path.
fn built_wheel(root: &Path) -> Option<PathBuf> {
    let target = root.join("target/python");
    let builder = environment(root, &target.join("build"))?;
    build_wheel(root, &builder, &target.join("wheels"))
}

/// Builds the wheel that the interpreter `python` of an environment loads, in a folder of its own, and
/// returns its path.
pub(crate) fn build_wheel(root: &Path, python: &Path, wheels: &Path) -> Option<PathBuf> {
    // `wheel` finds any wheel in the folder, so wheels of earlier versions are removed.
    let _ = std::fs::remove_dir_all(wheels);
    let build = [
        "-m".as_ref(),
        "maturin".as_ref(),
        "build".as_ref(),
        "--release".as_ref(),
        "--locked".as_ref(),
        "--interpreter".as_ref(),
        python.as_os_str(),
        "--out".as_ref(),
        wheels.as_os_str(),
    ];
    let maturin = format!("maturin{MATURIN_VERSIONS}");
    let is_built = pip(root, python, &["install".as_ref(), maturin.as_ref()])
        && run(&root.join(PACKAGE), python, &build);
    if is_built { wheel(wheels) } else { None }
}

/// Runs the benchmark of the Python package against the wheel that `test` installed.
pub(crate) fn bench(root: &Path, arguments: &[&str]) -> bool {
    match arguments.split_first() {
        None => run_program(root, "requirements-bench.txt", &["bench.py"]),
        // Programs of `bench/python`; paths are relative to the package.
        Some((&name @ ("programs" | "products"), options)) => {
            let program = format!("../../bench/python/{name}.py");
            run_program(
                root,
                "../../bench/python/requirements.txt",
                &[&[program.as_str()], options].concat(),
            )
        }
        Some((name, _)) => {
            eprintln!(
                "`bench-python` has no program `{name}`: write `programs`, `products`, or no name"
            );
            false
        }
    }
}

/// Runs the benchmark of Dask's chunks and workers against the same wheel.
pub(crate) fn bench_cluster(root: &Path) -> bool {
    run_program(root, "requirements-test.txt", &["bench_cluster.py"])
}

fn run_program(root: &Path, requirements: &str, program: &[&str]) -> bool {
    let Some(python) = interpreter(&root.join("target/python/clean")) else {
        eprintln!("run `cargo xtask python` first: it builds and installs the wheel");
        return false;
    };
    let package = root.join(PACKAGE);
    let requirements = package.join(requirements);
    pip(root, &python, &["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()])
        && run(&package, &python, &program.iter().map(OsStr::new).collect::<Vec<_>>())
}

/// The tests that compute in this process, the only one that the sanitizer observes.
const ASAN_TESTS: [&str; 10] = [
    "tests/test_arguments.py",
    "tests/test_arrays.py",
    "tests/test_captured.py",
    "tests/test_element_types.py",
    "tests/test_evaluate.py",
    "tests/test_jit.py",
    "tests/test_products.py",
    "tests/test_properties.py",
    "tests/test_rules.py",
    "tests/test_traced_functions.py",
];

/// Tests that measure or limit the memory of a process, and tests with hundreds of variants.
const NOT_UNDER_ASAN: &str = "not takes_no_memory and not new_pages and not fill_the_memory \
                              and not in_main and not order_k_is";

/// Runs tests of the package built with AddressSanitizer, or pytest with `arguments` instead.
///
/// The interpreter is not instrumented, so the sanitizer's library is preloaded. The library is that of
/// the C compiler, because Rust provides its own only for Rust programs.
pub(crate) fn asan(root: &Path, arguments: &[&str]) -> bool {
    let Some(library) = sanitizer_library() else {
        eprintln!("there is no libasan.so, which comes with GCC (Debian: libgcc-12-dev)");
        return false;
    };
    let build = ["build", "--package", "indim-py", "--target", sanitizer_target()];
    if !cargo(&build, &ASAN_VARIABLES) {
        return false;
    }
    let target = root.join("target/asan");
    let built = target.join(sanitizer_target()).join("debug/lib_indim.so");
    let (package, staged) = (root.join(PACKAGE), target.join("python"));
    if let Err(error) = stage(&package.join("python/indim"), &built, &staged.join("indim")) {
        eprintln!("the package cannot be copied into {}: {error}", staged.display());
        return false;
    }
    let Some(python) = environment(root, &target.join("environment")) else { return false };
    let requirements = package.join("requirements-test.txt");
    if !pip(
        root,
        &python,
        &["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()],
    ) {
        return false;
    }
    let mut command = Command::new(&python);
    command.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]);
    match arguments {
        [] => command.args(ASAN_TESTS).args(["-k", NOT_UNDER_ASAN]),
        _ => command.args(arguments),
    };
    command.env("PYTHONPATH", staged).env("LD_PRELOAD", library).current_dir(package);
    // The interpreter keeps memory until it ends, and some tests request more than the machine has. Each
    // object gets its own allocation, so that the sanitizer sees its bounds.
    command.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1");
    command.env("PYTHONMALLOC", "malloc");
    eprintln!("+ {command:?}");
    command.status().is_ok_and(|status| status.success())
}

/// The sanitizer's library for uninstrumented programs.
fn sanitizer_library() -> Option<PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler).arg("-print-file-name=libasan.so").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // A compiler without the library prints the bare name.
    path.is_absolute().then_some(path)
}

/// Copies the Python part of the package, and the compiled part next to it.
fn stage(package: &Path, built: &Path, staged: &Path) -> std::io::Result<()> {
    copy_python(package, staged)?;
    std::fs::copy(built, staged.join("_indim.abi3.so")).map(|_| ())
}

/// Copies Python files, and those of subpackages.
fn copy_python(package: &Path, staged: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(staged)?;
    for entry in std::fs::read_dir(package)? {
        let path = entry?.path();
        let target = staged.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_python(&path, &target)?;
        } else if path.extension().is_some_and(|extension| extension == "py") {
            std::fs::copy(&path, target)?;
        }
    }
    Ok(())
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

/// The interpreter of a virtual environment of the system's interpreter, which is made if missing.
pub(crate) fn environment(root: &Path, folder: &Path) -> Option<PathBuf> {
    environment_of(root, Path::new(&system_python()), folder)
}

/// The interpreter of a virtual environment of the interpreter `of`, which is made if missing.
pub(crate) fn environment_of(root: &Path, of: &Path, folder: &Path) -> Option<PathBuf> {
    if let Some(python) = interpreter(folder) {
        return Some(python);
    }
    let is_created = run(root, of, &["-m".as_ref(), "venv".as_ref(), folder.as_os_str()]);
    if is_created { interpreter(folder) } else { None }
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

/// Runs pytest with these arguments.
pub(crate) fn pytest(folder: &Path, python: &Path, arguments: &[&str]) -> bool {
    let words = ["-m", "pytest", "--quiet"].iter().chain(arguments);
    run(folder, python, &words.map(OsStr::new).collect::<Vec<_>>())
}

/// Runs Python, and prints the command.
pub(crate) fn run(folder: &Path, python: &Path, arguments: &[&OsStr]) -> bool {
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
