//! `cargo xtask test`: everything that must pass.
//!
//! Checks that need only the Rust toolchain always run. The others run if their tools are installed; the last
//! lines name each skipped check and the installation of its tools.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{
    asan, cargo, cross, formats, free_threaded, fuzz, lines, python, remote, site, weight,
};

const USAGE: &str = "\
cargo xtask test [--minutes N]
  Runs every check whose tools are installed. After N minutes no further optional check begins; the last lines
  name the checks that did not run.";

/// The features of `indim` that are off by default.
const FEATURES: &str = "--features=indim/half,indim/json,indim/macros,indim/ndarray,\
    indim/num-complex,indim/safetensors";

/// The crates that need only the Rust toolchain; `remote.rs` checks the other one.
const WORKSPACE: &[&str] = &["--workspace", "--exclude=indim-remote", FEATURES];

/// The packages that are tested with optimisation too.
const OPTIMISED: &[&str] = &["-p=indim-kernels", "-p=indim-products", "-p=indim-cpu"];

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
    Check {
        name: "free-threaded Python",
        missing: free_threaded::missing,
        run: free_threaded::test,
    },
    Check { name: "the site", missing: site::missing, run: |root| site::site(root, &["--test"]) },
    Check { name: "files for other systems", missing: python::missing, run: formats::formats },
    Check { name: "arrays for other libraries", missing: python::missing, run: formats::stores },
    Check { name: "remote stores", missing: remote::missing, run: |_| remote::test() },
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

/// A short run of each fuzz target with the same random numbers each time, so that it seldom fails by
/// chance; `cargo xtask fuzz` runs longer searches.
const FUZZING: [&str; 4] = ["--seconds", "10", "--seed", "1"];

const AARCH64: [&str; 2] = ["aarch64", "--bounded"];
const I686: [&str; 2] = ["i686", "--bounded"];
const S390X: [&str; 2] = ["s390x", "--bounded"];

/// Runs every check whose tools are installed, until one fails; prints the time of each, and skipped ones.
pub(crate) fn test(root: &Path, arguments: &[&str]) -> bool {
    let Some(limit) = time_limit(arguments) else {
        eprintln!("{USAGE}");
        return false;
    };
    let start = Instant::now();
    let mut report = Vec::new();
    let mut passed = timed("the Rust toolchain", &mut report, || checks_of_toolchain(root));
    for check in CHECKS {
        let missing = (check.missing)();
        if !missing.is_empty() {
            report.push(format!("NOT TESTED: {}, which takes {}", check.name, missing.join("; ")));
        } else if !passed {
            report.push(format!("NOT TESTED: {}, after a failure", check.name));
        } else if start.elapsed() > limit {
            report.push(format!("NOT TESTED: {}, after {} s", check.name, limit.as_secs()));
        } else {
            passed = timed(check.name, &mut report, || (check.run)(root));
        }
    }
    report.iter().for_each(|line| eprintln!("{line}"));
    passed
}

/// The time after which no optional check begins; `None` if the arguments are wrong.
fn time_limit(arguments: &[&str]) -> Option<Duration> {
    match arguments {
        [] => Some(Duration::MAX),
        ["--minutes", minutes] => {
            minutes.parse::<u32>().ok().map(|n| Duration::from_secs(60 * u64::from(n)))
        }
        _ => None,
    }
}

/// Runs a check, and adds its result and its time to the report.
fn timed(name: &str, report: &mut Vec<String>, check: impl FnOnce() -> bool) -> bool {
    eprintln!("+ check of {name}");
    let start = Instant::now();
    let passed = check();
    let result = if passed { "passed" } else { "FAILED" };
    report.push(format!("{result}: {name}, in {} s", start.elapsed().as_secs()));
    passed
}

/// Line lengths, weight, format, clippy, documentation, the tests of all crates, those of some crates
/// with optimisation too, and the dry run of publishing.
fn checks_of_toolchain(root: &Path) -> bool {
    lines::check(root)
        && weight::check(root)
        && cargo(&["fmt", "--all", "--check"], &[])
        && cargo(&[&["clippy"], WORKSPACE, &["--all-targets", "--", "--deny", "warnings"]].concat(), &[])
        && cargo(&[&["doc"], WORKSPACE, &["--no-deps"]].concat(), &[("RUSTDOCFLAGS", "--deny warnings")])
        && cargo(&[&["test"], WORKSPACE].concat(), &[])
        // A separate run, because the feature `zarr` of the command changes the tested behaviour.
        && cargo(&["test", "--package=indim", FEATURES, "--test=serde_features"], &[])
        // The compiler's optimisations must not change a bit.
        && cargo(&[&["test", "--release", "--tests"], OPTIMISED].concat(), &[])
        && packages()
}

/// The dry run of publishing. It takes seconds, because it does not build each crate from its package;
/// `cargo xtask package` does.
fn packages() -> bool {
    cargo(&["publish", "--dry-run", "--workspace", "--no-verify", "--allow-dirty", "--quiet"], &[])
}
