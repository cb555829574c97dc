//! The folders and programs that all steps of a release use.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages::Packages;
use super::product::{PRODUCTS, Product};
use crate::cross::{self, Machine};
use crate::{program, python};

/// The machines that a release has binaries for.
pub(crate) const MACHINES: [&Machine; 2] = [&cross::X86_64, &cross::AARCH64];

/// One release: its version, folders and machines.
pub(crate) struct Release {
    pub(crate) root: PathBuf,
    /// The folder of the made files. It has no folders, because those who download a file get its name only.
    pub(crate) output: PathBuf,
    pub(crate) version: String,
    pub(crate) packages: Packages,
    /// Identities of the crates in each product, by its name.
    crates: BTreeMap<&'static str, BTreeSet<String>>,
    pub(crate) machines: Vec<&'static Machine>,
    pub(crate) allows_dirty: bool,
    wheel_builder: OnceCell<PathBuf>,
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
        let crates = PRODUCTS.iter().map(|product| {
            packages.in_build_of(root, product.package).map(|crates| (product.name, crates))
        });
        let crates = crates.collect::<Result<_, String>>()?;
        let is_selected =
            |it: &&Machine| machines.is_empty() || machines.iter().any(|name| name == it.name);
        let output = root.join("target/dist");
        create(&output)?;
        Ok(Release {
            root: root.to_owned(),
            output,
            version,
            packages,
            crates,
            machines: MACHINES.into_iter().filter(is_selected).collect(),
            allows_dirty,
            wheel_builder: OnceCell::new(),
        })
    }

    /// An interpreter with the packages that build wheels: maturin, and zig, which links for old versions of
    /// glibc.
    pub(crate) fn wheel_builder(&self) -> Result<&Path, String> {
        if let Some(python) = self.wheel_builder.get() {
            return Ok(python);
        }
        let folder = self.root.join("target/python/dist");
        let python = python::environment(&self.root, &folder)
            .ok_or_else(|| format!("no Python environment; it takes {}", python::INTERPRETER))?;
        let maturin = format!("maturin[zig]{}", python::MATURIN_VERSIONS);
        if python::pip(&self.root, &python, &["install".as_ref(), maturin.as_ref()]) {
            Ok(self.wheel_builder.get_or_init(|| python))
        } else {
            Err("maturin and ziglang cannot be installed from PyPI".to_owned())
        }
    }

    /// The time of the last commit, in seconds since 1970: the time of files in archives.
    pub(crate) fn time(&self) -> Result<String, String> {
        let mut log = Command::new("git");
        log.args(["log", "-1", "--format=%ct"]).current_dir(&self.root);
        Ok(program::text(&mut log)?.trim().to_owned())
    }

    /// Identities of the crates in a build of the product.
    pub(crate) fn crates_of(&self, product: &Product) -> &BTreeSet<String> {
        &self.crates[product.name]
    }

    /// The licences of all crates in a build of the product.
    pub(crate) fn licences_of(&self, product: &Product) -> Result<String, String> {
        super::licences::text(&self.root, &self.packages, product, self.crates_of(product))
    }

    /// The path of a made file; an error if it does not exist.
    pub(crate) fn made(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.output.join(name);
        if path.exists() {
            Ok(path)
        } else {
            Err(format!("target/dist has no {name}, which `cargo xtask dist` makes"))
        }
    }

    /// Packs a folder into `target/dist/NAME.tar.gz`, where it is called `name`. The same files give the same
    /// bytes.
    pub(crate) fn pack(&self, folder: &Path, name: &str) -> Result<(), String> {
        let archive = self.output.join(format!("{name}.tar"));
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"]);
        tar.arg(format!("--mtime=@{}", self.time()?)).args(["--mode=go=rX,u+rw,a-s", "--create"]);
        tar.arg("--file").arg(&archive).arg("--directory").arg(folder);
        tar.arg(format!("--transform=s,^\\.,{name},")).arg(".");
        program::run(&mut tar)?;
        program::run(Command::new("gzip").args(["--no-name", "--best", "--force"]).arg(&archive))
    }
}

/// Removes everything from a folder but the files of these names.
pub(crate) fn remove_all_but(folder: &Path, names: &[String]) -> Result<(), String> {
    let io = |path: &Path, error| format!("{}: {error}", path.display());
    for entry in std::fs::read_dir(folder).map_err(|error| io(folder, error))? {
        let path = entry.map_err(|error| io(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let removed = if path.is_dir() {
            std::fs::remove_dir_all(&path)
        } else if names.iter().any(|it| *it == name) {
            Ok(())
        } else {
            std::fs::remove_file(&path)
        };
        removed.map_err(|error| io(&path, error))?;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_versions_are_removed() {
        let folder = std::env::temp_dir().join(format!("indim-dist-{}", std::process::id()));
        empty(&folder).unwrap();
        create(&folder.join("crates")).unwrap();
        for name in ["indim-0.2.0.tar.gz", "indim-0.1.0.tar.gz", "crates/indim-0.1.0.crate"] {
            write(&folder.join(name), name).unwrap();
        }
        remove_all_but(&folder, &["indim-0.2.0.tar.gz".to_owned()]).unwrap();
        assert_eq!(files(&folder).unwrap(), [folder.join("indim-0.2.0.tar.gz")]);
        assert!(!folder.join("crates").exists());
        remove_all_but(&folder, &[]).unwrap();
        assert!(files(&folder).unwrap().is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
