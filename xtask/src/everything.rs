//! `cargo xtask test`: everything that must pass.
//!
//! Checks that need only the Rust toolchain always run. The others run if their tools are installed; the last
//! lines name each skipped check and the installation of its tools.

use std::path::Path;

use crate::{asan, cargo, cross, formats, fuzz, lines, python, site, weight};

/// The features of `indim` that are off by default.
const FEATURES: &str = "--features=indim/half,indim/json,indim/macros,indim/ndarray,\
    indim/num-complex,indim/safetensors";

/// A check that needs more than the Rust toolchain.
struct Check {
    name: &'static str,
    /// The programs, libraries and packages that are not installed, in words.
    missing: fn() -> Vec<String>,
    run: fn(&Path) -> bool,
}

/// The optional checks; those that fail most often come first.
const CHECKS: &[Check] = &[
    Check { name: "the Python package", missing: python::missing, run: python::test },
    Check { name: "the site", missing: site::missing, run: |root| site::site(root, &["--test"]) },
    Check { name: "files for other systems", missing: python::missing, run: formats::formats },
    Check { name: "arrays for other libraries", missing: python::missing, run: formats::stores },
    Check { name: "AddressSanitizer", missing: asan::missing, run: |_| asan::asan() },
    Check { name: "libFuzzer", missing: fuzz::missing, run: |_| fuzz::fuzz(&FUZZING) },
    // Other processors could differ in large numbers, floats and NaNs.
    Check {
        name: "aarch64",
        missing: || cross::missing_for("aarch64"),
        run: |_| cross::cross(&AARCH64),
    },
    Check { name: "i686", missing: || cross::missing_for("i686"), run: |_| cross::cross(&I686) },
    Check { name: "s390x", missing: || cross::missing_for("s390x"), run: |_| cross::cross(&S390X) },
    Check {
        name: "wasm32",
        missing: || cross::missing_for("wasm32"),
        run: |_| cross::cross(&["wasm32"]),
    },
];

/// A short run of each fuzz target; `cargo xtask fuzz` runs longer searches.
const FUZZING: [&str; 2] = ["--seconds", "10"];

const AARCH64: [&str; 2] = ["aarch64", "--bounded"];
const I686: [&str; 2] = ["i686", "--bounded"];
const S390X: [&str; 2] = ["s390x", "--bounded"];

/// Runs every check whose tools are installed, until one fails; prints the skipped ones.
pub(crate) fn test(root: &Path) -> bool {
    let (ready, left_out): (Vec<_>, Vec<_>) = CHECKS
        .iter()
        .map(|check| (check, (check.missing)()))
        .partition(|(_, missing)| missing.is_empty());
    let passed = checks_of_toolchain(root)
        && ready.iter().all(|(check, _)| {
            eprintln!("+ check of {}", check.name);
            (check.run)(root)
        });
    for (check, missing) in left_out {
        eprintln!("NOT TESTED: {}, which takes {}", check.name, missing.join("; "));
    }
    passed
}

/// Line lengths, weight, format, clippy, documentation, the tests of all crates, and the dry run of
/// publishing.
fn checks_of_toolchain(root: &Path) -> bool {
    lines::check(root)
        && weight::check(root)
        && cargo(&["fmt", "--all", "--check"], &[])
        && cargo(&["clippy", "--workspace", FEATURES, "--all-targets", "--", "--deny", "warnings"], &[])
        && cargo(&["doc", "--workspace", FEATURES, "--no-deps"], &[("RUSTDOCFLAGS", "--deny warnings")])
        && cargo(&["test", "--workspace", FEATURES], &[])
        // A separate run, because the feature `zarr` of the command changes the tested behaviour.
        && cargo(&["test", "--package=indim", FEATURES, "--test=serde_features"], &[])
        // The compiler's optimisations must not change a bit.
        && cargo(&["test", "--release", "-p=indim-kernels", "-p=indim-cpu", "--tests"], &[])
        && packages()
}

/// The dry run of publishing. It takes seconds, because it does not build each crate from its package;
/// `cargo xtask package` does.
fn packages() -> bool {
    cargo(&["publish", "--dry-run", "--workspace", "--no-verify", "--allow-dirty", "--quiet"], &[])
}
