//! Running other programs: cargo, and commands with an error that names them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The cargo that runs this program.
pub(crate) fn cargo_program() -> PathBuf {
    std::env::var_os("CARGO").map_or("cargo".into(), PathBuf::from)
}

/// The crates in a build of `package` for `target`, itself included, as names and versions. `edges` are
/// those of `cargo tree`, such as `normal,build`.
pub(crate) fn tree(
    root: &Path,
    package: &str,
    target: &str,
    edges: &str,
) -> Result<BTreeSet<(String, String)>, String> {
    let mut tree = Command::new(cargo_program());
    tree.args(["tree", "--locked", "--prefix=none", "--format={p}", "--edges", edges]);
    tree.args(["--package", package, "--target", target]).current_dir(root);
    let name_and_version = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        Some((name.to_owned(), rest.split(' ').next()?.to_owned()))
    };
    Ok(text(&mut tree)?.lines().filter_map(name_and_version).collect())
}

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
