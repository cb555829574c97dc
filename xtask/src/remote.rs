//! Check of remote stores: the crate `indim-remote`, and the feature `remote` of the other crates. Their
//! encryption compiles C.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{cargo, python};

/// The crates with the feature `remote`.
const FEATURES: [&str; 4] = [
    "--package=indim-remote",
    "--package=indim-stores",
    "--package=indim-cli",
    "--features=indim-stores/remote,indim-cli/remote",
];

/// The C compiler, if it is not installed.
pub(crate) fn missing() -> Vec<String> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let version = Command::new(compiler).arg("--version").stdout(Stdio::null()).status();
    match version.is_ok_and(|status| status.success()) {
        true => Vec::new(),
        false => vec!["a C compiler (Debian: gcc)".to_owned()],
    }
}

/// Lints the crates with the feature, and runs the tests of remote stores against servers of their own.
pub(crate) fn test() -> bool {
    let lint =
        [&["clippy"], &FEATURES[..], &["--all-targets", "--", "--deny", "warnings"]].concat();
    let document = [&["doc"], &FEATURES[..], &["--no-deps"]].concat();
    let test = [&["test"], &FEATURES[..], &["--test=store", "--test=remote"]].concat();
    cargo(&lint, &[])
        && cargo(&document, &[("RUSTDOCFLAGS", "--deny warnings")])
        && cargo(&test, &[])
}

/// Runs the test of the command with zarr-python over a server of moto. It is skipped if the packages or
/// the C compiler are missing.
pub(crate) fn moto(root: &Path, interpreter: &Path) -> bool {
    let requirements = root.join("crates/indim-cli/tests/remote/requirements.txt");
    let install = ["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()];
    if !missing().is_empty() || !python::pip(root, interpreter, &install) {
        eprintln!("NOT TESTED: arrays of zarr-python in S3, which take a C compiler and moto");
        return true;
    }
    let path = interpreter.to_string_lossy();
    let test = ["test", "--package=indim-cli", "--features=remote", "--test=remote", "zarr_python"];
    cargo(&test, &[("INDIM_REMOTE_PYTHON", &*path)])
}
