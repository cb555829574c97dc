//! `cargo xtask fuzz`: the targets in `fuzz/` under libFuzzer and AddressSanitizer, without `cargo-fuzz`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::asan::{self, sanitizer_target};
use crate::{cargo, root};

/// The compiler flags of `cargo fuzz`: coverage for libFuzzer, and every check.
const RUSTFLAGS: &str = "-Zsanitizer=address --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 \
    -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

const USAGE: &str = "\
cargo xtask fuzz [TARGET [FILE...]] [--seconds N] [--seed N]
  Runs every target, or TARGET, for N seconds each (60), or TARGET on the inputs FILE once.
  Each run tries other inputs, unless --seed sets the first random number.
  An input that breaks a promise is kept in fuzz/artifacts/TARGET.";

/// The parsed arguments: the target, and the files, or the duration and the seed of random numbers.
struct FuzzOptions<'a> {
    target: Option<&'a str>,
    files: Vec<&'a str>,
    seconds: u32,
    seed: Option<NonZeroU32>,
}

/// Builds the targets and runs the requested ones.
pub(crate) fn fuzz(arguments: &[&str]) -> bool {
    let Some(request) = request(arguments) else {
        eprintln!("{USAGE}");
        return false;
    };
    let targets = targets();
    if let Some(target) = request.target
        && !targets.iter().any(|known| known == target)
    {
        eprintln!("there is no target {target}; there are {}", targets.join(", "));
        return false;
    }
    let missing = missing();
    if !missing.is_empty() {
        eprintln!(
            "libFuzzer takes {}; `cargo xtask test` runs the targets without it",
            missing.join("; ")
        );
        return false;
    }
    if !build() {
        return false;
    }
    let requested =
        targets.iter().filter(|&known| request.target.is_none_or(|target| target == known));
    // All targets run, even after a failure.
    let failed: Vec<&String> = requested.filter(|target| !run(target, &request)).collect();
    failed.iter().for_each(|target| eprintln!("target {target} FAILED"));
    failed.is_empty()
}

fn request<'a>(arguments: &[&'a str]) -> Option<FuzzOptions<'a>> {
    let mut request = FuzzOptions { target: None, files: Vec::new(), seconds: 60, seed: None };
    let mut rest = arguments.iter();
    while let Some(&argument) = rest.next() {
        match argument {
            "--seconds" => request.seconds = rest.next()?.parse().ok().filter(|&n| n > 0)?,
            "--seed" => request.seed = Some(rest.next()?.parse().ok()?),
            _ if argument.starts_with('-') => return None,
            _ if request.target.is_none() => request.target = Some(argument),
            _ => request.files.push(argument),
        }
    }
    Some(request)
}

/// The names of the targets, each of them a file.
fn targets() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("fuzz/fuzz_targets")).into_iter().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// The missing compiler or system for libFuzzer, in words.
pub(crate) fn missing() -> Vec<String> {
    let mut missing = asan::missing();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let version = Command::new(&compiler)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !version.is_ok_and(|status| status.success()) {
        missing.push(format!(
            "a compiler of C++, `{compiler}` (Debian: g++), or another that CXX names"
        ));
    }
    missing
}

fn build() -> bool {
    let build = [
        "build",
        "--release",
        "--package",
        "indim-fuzz",
        "--features",
        "libfuzzer",
        "--bins",
        "--target",
        sanitizer_target(),
    ];
    let variables =
        [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", RUSTFLAGS), ("CARGO_TARGET_DIR", "target/fuzz")];
    cargo(&build, &variables)
}

/// Runs a target, starting from the committed corpus and the inputs that earlier runs found.
fn run(target: &str, request: &FuzzOptions<'_>) -> bool {
    let (fuzz, found) = (root().join("fuzz"), root().join("target/fuzz/corpus").join(target));
    let artifacts = fuzz.join("artifacts").join(target);
    if let Err(error) = make_folders(&[&found, &artifacts]) {
        eprintln!("a folder under target/fuzz or fuzz/artifacts cannot be made: {error}");
        return false;
    }
    let program = root().join("target/fuzz").join(sanitizer_target()).join("release").join(target);
    let mut command = Command::new(program);
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    // A text of some hundred bytes must not cause an allocation of a gigabyte, or take long.
    command.args(["-malloc_limit_mb=1024", "-rss_limit_mb=4096", "-timeout=20"]);
    if request.files.is_empty() {
        command.arg(format!("-max_total_time={}", request.seconds));
        // libFuzzer takes 0 as a random seed.
        command.arg(format!("-seed={}", request.seed.map_or(0, NonZeroU32::get)));
        command.arg("-print_final_stats=1").args(dictionary(&fuzz, target)).arg(found);
        command.arg(fuzz.join("corpus").join(target));
    } else {
        command.args(&request.files);
    }
    eprintln!("+ fuzz target {target}");
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("the target cannot be run: {error}");
            false
        }
    }
}

fn make_folders(folders: &[&Path]) -> std::io::Result<()> {
    folders.iter().try_for_each(std::fs::create_dir_all)
}

/// The dictionary of the target's language, if it has one.
fn dictionary(fuzz: &Path, target: &str) -> Option<String> {
    let path: PathBuf = fuzz.join("dictionaries").join(format!("{target}.dict"));
    path.exists().then(|| format!("-dict={}", path.display()))
}
