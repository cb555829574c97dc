//! Trial of the crates: unpacked from their archives, and checked together.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{EmptyFolder, require};
use crate::dist::crates::{ORDER, name};
use crate::dist::release::{self, Release};
use crate::program::{self, cargo_program};

/// Checks the command with the crates of the archives alone, in place of those that are not published yet.
pub(crate) fn crates(release: &Release) -> Result<(), String> {
    let archives: Vec<String> = release.packages.published().map(name).collect();
    let folder = EmptyFolder::new("crates")?;
    archives.iter().try_for_each(|archive| folder.unpack(&release.made(archive)?))?;
    let order = release::read(&release.made(ORDER)?)?;
    let listed: BTreeSet<&str> = order.lines().collect();
    if listed != archives.iter().map(String::as_str).collect() {
        return Err(format!("{ORDER} does not list the {} archives", archives.len()));
    }
    let (mut members, mut patches) = (String::new(), String::new());
    for archive in order.lines() {
        let stem = archive.trim_end_matches(".crate");
        let crate_folder = folder.path().join(stem);
        for file in ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            require(&crate_folder.join(file))?;
        }
        let name = stem.strip_suffix(&format!("-{}", release.version)).unwrap_or(stem);
        members += &format!("    \"{stem}\",\n");
        patches += &format!("{name} = {{ path = \"{stem}\" }}\n");
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\n{members}]\n\n[patch.crates-io]\n{patches}"
    );
    release::write(&folder.path().join("Cargo.toml"), &manifest)?;
    // The versions of the lock file, which this machine has.
    release::copy(&release.root.join("Cargo.lock"), &folder.path().join("Cargo.lock"))?;
    check(release, folder.path())
}

fn check(release: &Release, folder: &Path) -> Result<(), String> {
    let mut check = Command::new(cargo_program());
    check.args(["check", "--quiet", "--package=indim-cli", "--package=indim"]);
    check.arg("--target-dir").arg(release.root.join("target/dist-trial"));
    program::run(check.current_dir(folder))
}
