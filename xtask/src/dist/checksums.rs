//! `SHA256SUMS`: the checksums of all files of a release.

use std::process::Command;

use super::release::{self, Release};

const NAME: &str = "SHA256SUMS";

/// Writes the checksums of all files in the folder of the release.
pub(crate) fn write(release: &Release) -> Result<(), String> {
    let names = names(release)?;
    if names.is_empty() {
        return Err("target/dist has no files".to_owned());
    }
    let sums = release::text(
        Command::new("sha256sum").arg("--").args(names).current_dir(&release.output),
    )?;
    release::write(&release.output.join(NAME), &sums)
}

/// Whether each file has its checksum, and each checksum its file.
pub(crate) fn check(release: &Release) -> Result<(), String> {
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "--quiet", NAME]).current_dir(&release.output);
    release::run(&mut check)?;
    let sums = release::read(&release.output.join(NAME))?;
    let listed: Vec<&str> =
        sums.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
    match names(release)?.iter().find(|name| !listed.contains(&name.as_str())) {
        Some(name) => Err(format!("{NAME} lacks {name}")),
        None => Ok(()),
    }
}

/// The paths of all files but the list itself, from the folder of the release.
fn names(release: &Release) -> Result<Vec<String>, String> {
    let paths = release::files(&release.output)?;
    let inner = paths.iter().filter_map(|path| path.strip_prefix(&release.output).ok());
    let names = inner.map(|path| path.to_string_lossy().into_owned());
    Ok(names.filter(|name| name != NAME).collect())
}
