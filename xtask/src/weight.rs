//! Check of weight: crates that a build compiles, and bytes of the command. Times depend on the machine and
//! are not checked.

use std::path::Path;

use crate::program::tree;

/// Maximum number of crates that a package compiles with default features, itself included. The present
/// numbers are 43, 117 and 75. Before you raise a limit, weigh the new crate (`docs/decisions/light.md`).
const MAX_CRATES: [(&str, usize); 3] = [
    // `cargo add indim`: no archive format, no JSON, no derive macro.
    ("indim", 44),
    // `cargo install indim-cli`: every format, without a C compiler.
    ("indim-cli", 118),
    // The wheel: no archive formats; models are saved by the writer of whole files.
    ("indim-py", 75),
];

/// Maximum size of the stripped release command for x86-64 Linux, in bytes. The present size is 20,045,608
/// bytes.
const MAX_COMMAND_BYTES: u64 = 20_100_000;

/// The target whose dependencies count, so that every machine counts the same crates.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Crates that compile C or C++ in a build.
const C_COMPILERS: [&str; 2] = ["cc", "cmake"];

/// Whether no limit is exceeded; prints each one that is.
pub(crate) fn check(root: &Path) -> bool {
    let mut is_fine = true;
    for (package, limit) in MAX_CRATES {
        let listed = ["normal", "normal,build"].map(|edges| tree(root, package, TARGET, edges));
        let [crates, with_build] = match listed {
            [Ok(crates), Ok(with_build)] => [crates, with_build],
            [Err(error), _] | [_, Err(error)] => {
                eprintln!("{error}");
                return false;
            }
        };
        if crates.len() > limit {
            eprintln!("{package} takes {} crates, more than {limit}", crates.len());
            is_fine = false;
        }
        for (name, _) in &with_build {
            if C_COMPILERS.contains(&name.as_str()) {
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
