//! Trials of the Python package: wheels in a clean environment, and a build from the source distribution.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{EmptyFolder, emulated_python};
use crate::dist::release::{self, Release};
use crate::dist::wheels::{source_name, wheel_name};
use crate::{program, python};

/// Tests that need only NumPy, pytest and hypothesis. An emulator, which is slow, runs only the first.
const TESTS: [&str; 3] = ["test_evaluate.py", "test_rules.py", "test_reductions.py"];

/// The tests that start another interpreter, which the emulator cannot.
const NOT_EMULATED: &str = "not ever_new_long_texts";

/// Installs each wheel, and runs the examples of the README and some tests with it.
pub(crate) fn wheels(release: &Release) -> Result<(), String> {
    for machine in &release.machines {
        let wheel = &release.made(&wheel_name(release, machine))?;
        contents(wheel)?;
        let folder = EmptyFolder::new("wheel")?;
        let python = match machine.emulator() {
            None => install(folder.path(), wheel)?,
            Some(_) => emulated_python::install(release, machine, wheel)?,
        };
        try_package(release, folder.path(), &python)?;
    }
    Ok(())
}

/// Builds a wheel from the source distribution alone, without optimisation, and tries it.
pub(crate) fn source(release: &Release) -> Result<(), String> {
    let archive = release.made(&source_name(release))?;
    let folder = EmptyFolder::new("sdist")?;
    let python = environment(folder.path())?;
    let mut install = Command::new(&python.program);
    install.args(["-m", "pip", "install", "--quiet", "--no-cache-dir"]).arg(archive);
    install.args(["pytest", "hypothesis"]).current_dir(folder.path());
    // A debug build takes a third of the time; the code is the same.
    install.env("MATURIN_PEP517_ARGS", "--profile dev --locked");
    install.env("CARGO_PROFILE_DEV_DEBUG", "0");
    install.env("CARGO_TARGET_DIR", release.root.join("target/dist-trial"));
    program::run(&mut install)?;
    try_package(release, folder.path(), &python)
}

/// An interpreter, and how to run it.
pub(crate) struct Python {
    pub(crate) program: PathBuf,
    /// The emulator's words before the interpreter's arguments; empty for this machine.
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
}

impl Python {
    fn is_emulated(&self) -> bool {
        !self.arguments.is_empty()
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(folder);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A new environment in `folder`, with nothing installed.
fn environment(folder: &Path) -> Result<Python, String> {
    let python = python::environment(folder, &folder.join("environment"));
    let program =
        python.ok_or_else(|| format!("no Python environment; it takes {}", python::INTERPRETER))?;
    Ok(Python { program, arguments: Vec::new(), variables: Vec::new() })
}

fn install(folder: &Path, wheel: &Path) -> Result<Python, String> {
    let python = environment(folder)?;
    let mut install = python.command(folder);
    install.args(["-m", "pip", "install", "--quiet"]).arg(wheel).args(["pytest", "hypothesis"]);
    program::run(&mut install)?;
    Ok(python)
}

/// Whether the wheel has the stubs, the licences of indim and of its dependencies.
fn contents(wheel: &Path) -> Result<(), String> {
    let listing = program::text(
        Command::new(python::system_python()).args(["-m", "zipfile", "--list"]).arg(wheel),
    )?;
    let expected = [
        "indim/_indim.abi3.so",
        "indim/__init__.pyi",
        "indim/py.typed",
        "dist-info/licenses/LICENSE-APACHE",
        "dist-info/licenses/LICENSE-MIT",
        "dist-info/licenses/THIRD-PARTY-LICENSES.txt",
    ];
    match expected.iter().find(|file| !listing.contains(*file)) {
        Some(file) => Err(format!("{} lacks {file}", wheel.display())),
        None => Ok(()),
    }
}

/// Runs the README's examples and some tests with the installed package.
fn try_package(release: &Release, folder: &Path, python: &Python) -> Result<(), String> {
    let program = "import indim; print(indim.__version__, indim.__file__)";
    let told = program::text(python.command(folder).args(["-c", program]))?;
    let root = release.root.join("crates");
    if !told.starts_with(&release.version) || told.contains(&*root.to_string_lossy()) {
        return Err(format!("the package is not the installed one: {told}"));
    }
    // `doctest` takes the end of a code block for output.
    let readme = release::read(&release.root.join("README.md"))?;
    let outside = readme.lines().map(|line| if line.starts_with("```") { "" } else { line });
    release::write(&folder.join("README.txt"), &outside.collect::<Vec<_>>().join("\n"))?;
    program::run(python.command(folder).args(["-m", "doctest", "README.txt"]))?;
    let tests = folder.join("tests");
    release::create(&tests)?;
    let (tests_run, except) = if python.is_emulated() {
        (&TESTS[..1], &["-k", NOT_EMULATED][..])
    } else {
        (&TESTS[..], &[][..])
    };
    for name in tests_run {
        let test = release.root.join("crates/indim-py/tests").join(name);
        release::copy(&test, &tests.join(name))?;
    }
    let pytest = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "tests"];
    program::run(python.command(folder).args(pytest).args(except))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tried_tests_exist() {
        let folder = crate::root().join("crates/indim-py/tests");
        for name in TESTS {
            assert!(folder.join(name).exists(), "{name}");
        }
    }
}
