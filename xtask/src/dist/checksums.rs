//! `SHA256SUMS`: the checksums of all files of a release.

use std::process::Command;

use super::release::{self, Release};
use crate::program;

pub(crate) const NAME: &str = "SHA256SUMS";

/// Writes the checksums of all files in the folder of the release.
pub(crate) fn write(release: &Release) -> Result<(), String> {
    let names = names(release)?;
    if names.is_empty() {
        return Err("target/dist has no files".to_owned());
    }
    let sums = program::text(
        Command::new("sha256sum").arg("--").args(names).current_dir(&release.output),
    )?;
    release::write(&release.output.join(NAME), &sums)
}

/// Whether each file has its checksum, and each checksum its file.
pub(crate) fn check(release: &Release) -> Result<(), String> {
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "--quiet", NAME]).current_dir(&release.output);
    program::run(&mut check)?;
    let sums = release::read(&release.output.join(NAME))?;
    let listed: Vec<&str> =
        sums.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
    match names(release)?.iter().find(|name| !listed.contains(&name.as_str())) {
        Some(name) => Err(format!("{NAME} lacks {name}")),
        None => Ok(()),
    }
}

/// The names of all files but the list itself.
fn names(release: &Release) -> Result<Vec<String>, String> {
    let paths = release::files(&release.output)?;
    let inner = paths.iter().filter_map(|path| path.strip_prefix(&release.output).ok());
    let names: Vec<String> =
        inner.map(|path| path.to_string_lossy().into_owned()).filter(|name| name != NAME).collect();
    match names.iter().find(|name| name.contains('/')) {
        Some(name) => Err(format!("{name} is in a folder, and a downloaded file has none")),
        None => Ok(names),
    }
}
