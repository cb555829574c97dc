//! Check of weight: crates that a build compiles, and bytes of the command. Times depend on the machine and
//! are not checked.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

/// Maximum number of crates that a package compiles with default features, itself included. A limit is
/// the present number plus two; before you raise it, weigh the new crate (`docs/decisions/light.md`).
const MAX_CRATES: [(&str, usize); 3] = [
    // `cargo add indim`: no archive format, no JSON, no derive macro.
    ("indim", 44),
    // `cargo install indim-cli`: every format, without a C compiler.
    ("indim-cli", 118),
    // The wheel: no archive formats; models are saved by the writer of whole files.
    ("indim-py", 75),
];

/// Maximum size of the stripped release command for x86-64 Linux, in bytes: the present size plus 400 KB
/// for features.
const MAX_COMMAND_BYTES: u64 = 19_700_000;

/// The target whose dependencies count, so that every machine counts the same crates.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Crates that compile C or C++ in a build.
const C_COMPILERS: [&str; 2] = ["cc", "cmake"];

/// Whether no limit is exceeded; prints each one that is.
pub(crate) fn check(root: &Path) -> bool {
    let mut is_fine = true;
    for (package, limit) in MAX_CRATES {
        let both = crates_of(root, package, "normal").zip(crates_of(root, package, "normal,build"));
        let Some((crates, with_build)) = both else {
            eprintln!("cargo tree does not list the crates of {package}");
            return false;
        };
        if crates.len() > limit {
            eprintln!("{package} takes {} crates, more than {limit}", crates.len());
            is_fine = false;
        }
        for name in with_build.iter().filter_map(|line| line.split(' ').next()) {
            if C_COMPILERS.contains(&name) {
                eprintln!("{package} takes {name}, which needs a C compiler");
                is_fine = false;
            }
        }
    }
    let command = root.join("target/release/indim");
    if let Ok(file) = command.metadata()
        && file.len() > MAX_COMMAND_BYTES
    {
        let (command, bytes) = (command.display(), file.len());
        eprintln!("{command} has {bytes} bytes, more than {MAX_COMMAND_BYTES}");
        is_fine = false;
    }
    is_fine
}

/// The distinct crates of a package and its dependencies, with versions.
fn crates_of(root: &Path, package: &str, edges: &str) -> Option<HashSet<String>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let arguments = ["tree", "--prefix=none", "--no-dedupe", "--target", TARGET, "--edges", edges];
    let mut command = Command::new(cargo);
    let output = command.args(arguments).args(["-p", package]).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.lines().map(|line| line.trim().to_owned()).filter(|it| !it.is_empty()).collect())
}
