//! Wheels and the source distribution of the Python package, by maturin.

use std::path::PathBuf;
use std::process::Command;

use super::product::PYTHON;
use super::release::{self, Release};
use crate::cross::Machine;
use crate::program;

const PACKAGE: &str = "crates/indim-py";

/// The oldest systems that a wheel runs on: glibc 2.28, of 2018. Zig links against its symbols.
const COMPATIBILITY: &str = "manylinux_2_28";

/// The licences of dependencies: `license-files` of `pyproject.toml` takes the file into wheels.
const LICENCES: &str = "THIRD-PARTY-LICENSES.txt";

pub(crate) fn source_name(release: &Release) -> String {
    format!("{}.tar.gz", source_folder(release))
}

/// The folder that the source distribution holds.
fn source_folder(release: &Release) -> String {
    format!("indim-{}", python_version(&release.version))
}

/// The wheel is for CPython 3.10 and later (abi3).
pub(crate) fn wheel_name(release: &Release, machine: &Machine) -> String {
    let version = python_version(&release.version);
    format!("indim-{version}-cp310-abi3-{COMPATIBILITY}_{}.whl", machine.name)
}

/// Cargo's version as PyPI writes it: `1.0.0rc1` for `1.0.0-rc.1`.
fn python_version(version: &str) -> String {
    version.replace("-alpha.", "a").replace("-beta.", "b").replace("-rc.", "rc")
}

/// Makes the source distribution.
pub(crate) fn source(release: &Release) -> Result<(), String> {
    program::run(maturin(release, &[])?.arg("sdist").arg("--out").arg(&release.output))?;
    let archive = release.made(&source_name(release))?;
    let folder = release.root.join("target/dist-source");
    release::empty(&folder)?;
    program::run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder))?;
    let sources = folder.join(source_folder(release));
    // maturin leaves out the crates that the package does not need, but not their lines of the lock file,
    // which `--locked` then refuses (PyO3/maturin#2609).
    let mut cargo = Command::new(program::cargo_program());
    cargo.args(["update", "--workspace", "--offline", "--quiet"]).current_dir(&sources);
    program::run(&mut cargo)?;
    release.pack(&sources, &source_folder(release))
}

/// Makes the wheel of each machine.
pub(crate) fn wheels(release: &Release) -> Result<(), String> {
    let licences = release.root.join(PACKAGE).join(LICENCES);
    release::write(&licences, &release.licences_of(&PYTHON)?)?;
    let result = release.machines.iter().try_for_each(|machine| wheel(release, machine));
    // A later build from the checkout must not find a file of this one.
    std::fs::remove_file(&licences).map_err(|error| format!("{}: {error}", licences.display()))?;
    result
}

fn wheel(release: &Release, machine: &Machine) -> Result<(), String> {
    let builder = machine.builder()?;
    let folder_of_cargo = builder.cargo.parent().filter(|folder| folder.is_absolute());
    // maturin calls zig by `python3 -m ziglang`.
    let folder_of_zig = release.wheel_builder()?.parent();
    let folders: Vec<PathBuf> =
        folder_of_zig.into_iter().chain(folder_of_cargo).map(PathBuf::from).collect();
    let mut maturin = maturin(release, &folders)?;
    maturin.args(["build", "--release", "--locked", "--zig", "--target", machine.target]);
    maturin.args(["--compatibility", COMPATIBILITY]);
    if builder.builds_std {
        maturin.arg("-Zbuild-std");
    }
    // Zig is the linker.
    let is_linker = |name: &str| name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER");
    maturin.envs(builder.variables.into_iter().filter(|(name, _)| !is_linker(name)));
    maturin.env("CARGO", &builder.cargo);
    program::run(maturin.arg("--out").arg(&release.output))?;
    release.made(&wheel_name(release, machine)).map(|_| ())
}

/// A call of maturin that finds programs in `folders`, then in `PATH`.
fn maturin(release: &Release, folders: &[PathBuf]) -> Result<Command, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folders.iter().cloned().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).map_err(|error| error.to_string())?;
    let mut maturin = Command::new(release.wheel_builder()?);
    maturin.args(["-m", "maturin"]).current_dir(release.root.join(PACKAGE));
    maturin.env("SOURCE_DATE_EPOCH", release.time()?).env("PATH", path);
    Ok(maturin)
}
