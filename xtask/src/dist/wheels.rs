//! Wheels and the source distribution of the Python package, by maturin.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use super::release::{self, Release};

const PACKAGE: &str = "crates/indim-py";

/// The oldest systems that a wheel runs on: glibc 2.28, of 2018. Zig links against its symbols.
const COMPATIBILITY: &str = "manylinux_2_28";

/// The licences of dependencies: `license-files` of `pyproject.toml` takes the file into wheels.
const LICENCES: &str = "THIRD-PARTY-LICENSES.txt";

/// Makes the source distribution.
pub(crate) fn source(release: &Release) -> Result<(), String> {
    maturin(release)?.remove_earlier(".tar.gz")?.run(["sdist"])
}

/// Makes the wheel of each machine, for CPython 3.10 and later (abi3).
pub(crate) fn wheels(release: &Release) -> Result<(), String> {
    let licences = release.root.join(PACKAGE).join(LICENCES);
    release::write(&licences, &release.licences_of("indim-py")?)?;
    let result = build_wheels(release);
    // A later build from the checkout must not find a file of this one.
    std::fs::remove_file(&licences).map_err(|error| format!("{}: {error}", licences.display()))?;
    result
}

fn build_wheels(release: &Release) -> Result<(), String> {
    for machine in &release.machines {
        let builder = machine.builder()?;
        let end = format!("{}.whl", machine.name);
        let mut maturin = maturin(release)?.remove_earlier(&end)?;
        // Zig is the linker.
        let linker = |name: &str| name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER");
        for (name, value) in builder.variables.iter().filter(|(name, _)| !linker(name)) {
            maturin.command.env(name, value);
        }
        maturin.command.env("CARGO", &builder.cargo);
        if let Some(folder) = builder.cargo.parent().filter(|folder| folder.is_absolute()) {
            maturin.add_to_path(folder.to_owned());
        }
        let tools = maturin.tools.clone();
        maturin.add_to_path(tools);
        maturin.command.env("CARGO_TARGET_DIR", &builder.folder);
        let build = ["build", "--release", "--locked", "--zig", "--target", machine.target];
        let std: &[&str] = if builder.builds_std { &["-Zbuild-std"] } else { &[] };
        maturin.command.args(build).args(["--compatibility", COMPATIBILITY]).args(std);
        maturin.run([])?;
    }
    Ok(())
}

/// A call of maturin that writes into the folder of the release.
struct Maturin {
    command: Command,
    output: PathBuf,
    /// The folder of maturin and zig, which maturin calls by `python3 -m ziglang`.
    tools: PathBuf,
    /// The folders that it searches before `PATH`.
    path: Vec<PathBuf>,
}

fn maturin(release: &Release) -> Result<Maturin, String> {
    let python = release.wheel_builder()?;
    let tools = python.parent().ok_or("an interpreter without a folder")?.to_owned();
    let mut command = Command::new(python);
    command.args(["-m", "maturin"]).current_dir(release.root.join(PACKAGE));
    command.env("SOURCE_DATE_EPOCH", &release.time);
    let output = release.output.join("python");
    release::create(&output)?;
    Ok(Maturin { command, output, tools, path: Vec::new() })
}

impl Maturin {
    /// Removes files of earlier runs, perhaps of another version.
    fn remove_earlier(self, end: &str) -> Result<Maturin, String> {
        for path in release::files(&self.output)? {
            if path.to_string_lossy().ends_with(end) {
                let removed = std::fs::remove_file(&path);
                removed.map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(self)
    }

    /// Has programs of `folder` come before all others.
    fn add_to_path(&mut self, folder: PathBuf) {
        self.path.insert(0, folder);
    }

    fn run<const N: usize>(mut self, arguments: [&str; N]) -> Result<(), String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.path.iter().cloned().chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).map_err(|error| error.to_string())?;
        self.command.env("PATH", path);
        self.command.args(arguments.map(OsStr::new)).arg("--out").arg(&self.output);
        release::run(&mut self.command)
    }
}
