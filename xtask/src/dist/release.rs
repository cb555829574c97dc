//! The folders and programs that all steps of a release use.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::machine::{MACHINES, Machine};
use super::packages::Packages;
use crate::python;

/// One release: its version, folders and machines.
pub(crate) struct Release {
    pub(crate) root: PathBuf,
    /// The folder of the made files.
    pub(crate) output: PathBuf,
    pub(crate) version: String,
    pub(crate) packages: Packages,
    pub(crate) machines: Vec<&'static Machine>,
    pub(crate) allows_dirty: bool,
    /// The time of the last commit, in seconds since 1970: the time of files in archives.
    pub(crate) time: String,
}

impl Release {
    /// Reads the version and the packages; no names of machines select all.
    pub(crate) fn new(
        root: &Path,
        machines: &[String],
        allows_dirty: bool,
    ) -> Result<Release, String> {
        let packages = Packages::read(root)?;
        let indim = packages.0.values().find(|package| package.name == "indim");
        let version = indim.ok_or("no package is called `indim`")?.version.clone();
        let is_selected =
            |it: &&Machine| machines.is_empty() || machines.iter().any(|name| name == it.name);
        let output = root.join("target/dist");
        create(&output)?;
        let time = text(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?;
        Ok(Release {
            root: root.to_owned(),
            output,
            version,
            packages,
            machines: MACHINES.iter().filter(is_selected).collect(),
            allows_dirty,
            time: time.trim().to_owned(),
        })
    }

    /// An interpreter with the packages that build wheels: maturin, and zig, which links for old versions of
    /// glibc.
    pub(crate) fn wheel_builder(&self) -> Result<PathBuf, String> {
        let folder = self.root.join("target/python/dist");
        let python = python::environment(&self.root, &folder)
            .ok_or_else(|| format!("no Python environment; it takes {}", PYTHON))?;
        let packages = ["install", "maturin[zig]>=1.9,<2"].map(OsStr::new);
        if python::pip(&self.root, &python, &packages) {
            Ok(python)
        } else {
            Err("maturin and ziglang cannot be installed from PyPI".to_owned())
        }
    }

    /// The licences of all crates in a build of `package`.
    pub(crate) fn licences_of(&self, package: &str) -> Result<String, String> {
        let identities = self.packages.in_build_of(&self.root, package)?;
        super::licences::text(&self.root, &self.packages, &identities)
    }

    /// The made files whose names start and end so; an error if there are none.
    pub(crate) fn made(
        &self,
        folder: &str,
        start: &str,
        end: &str,
    ) -> Result<Vec<PathBuf>, String> {
        let is_it = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(end)
        };
        let found: Vec<PathBuf> =
            files(&self.output.join(folder))?.into_iter().filter(is_it).collect();
        if found.is_empty() {
            return Err(format!(
                "no {start}*{end} in target/dist/{folder}: run `cargo xtask dist` first"
            ));
        }
        Ok(found)
    }

    /// Packs the folder `name` of `parent` into `target/dist/NAME.tar.gz`. The same files give the same
    /// bytes.
    pub(crate) fn pack(&self, parent: &Path, name: &str) -> Result<(), String> {
        let archive = self.output.join(format!("{name}.tar"));
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"]);
        tar.arg(format!("--mtime=@{}", self.time)).args(["--mode=go=rX,u+rw,a-s", "--create"]);
        tar.arg("--file").arg(&archive).arg("--directory").arg(parent).arg(name);
        run(&mut tar)?;
        run(Command::new("gzip").args(["--no-name", "--best", "--force"]).arg(&archive))
    }
}

/// The interpreter that makes and tries Python packages.
const PYTHON: &str = "python3 (3.10 or later) with venv";

/// Runs a command, and prints it.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    eprintln!("+ {}", line(command));
    let status = command.status();
    let status = status.map_err(|error| format!("{}: {error}", line(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", line(command))) }
}

/// Runs a command for its standard output.
pub(crate) fn text(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{}: {error}", line(command)))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}: {errors}", line(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", line(command)))
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Makes a folder anew, empty.
pub(crate) fn empty(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    create(folder)
}

/// Makes a folder and those above it.
pub(crate) fn create(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = std::fs::copy(from, to);
    copied.map(|_| ()).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The files of a folder and of those below it, in the order of their names; none if it does not exist.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(found) };
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}
