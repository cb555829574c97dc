//! Developer commands. `cargo xtask` lists them.

mod asan;
mod bench;
mod cross;
mod dist;
mod everything;
mod formats;
mod free_threaded;
mod fuzz;
mod lines;
mod program;
mod python;
mod remote;
mod site;
mod weight;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use program::cargo_program;

const HELP: &str = "\
cargo xtask COMMAND
  demo          jobs on raw data: a table standardised, a picture normalised, a softmax, a vegetation index
  test          everything that must pass: format, clippy, documentation, all tests, and, if their tools are
                installed, python, free-threaded, site, formats, stores, asan, fuzz and cross, the last two
                bounded
  python        builds the wheel of the Python package, installs it into a clean environment, and tests it
  free-threaded builds the wheel for a free-threaded interpreter, and tests it in several threads at once
  package       the dry run of publishing every crate, each built from its package alone; needs the network
  dist          makes the files of a release in target/dist [--test] [--only NAME,...]; `--help` lists options
  workflows     lints the workflows of .github/workflows, by actionlint
  deny          checks licences, duplicates and sources of all dependencies against deny.toml, by cargo-deny
  bless         writes the compiler's present output into the documents of crates/indim/tests/documents
  bits          records the bits of operations on special values, which the tests of every machine compare
  ops           writes docs/ops.md from the table of operations and the record of their accuracy
  errors        writes docs/errors.md from the registry of error codes
  accuracy      measures the functions over all arguments of 32 bits [record | check] [every=N] [FUNCTION...]
  bench         the benchmarks, with the ratio to hand-written loops and to peers; `--help` lists options
  bench-python  the Python package against NumPy, numexpr and JAX; with `programs` or `products`, programs or
                matrix products against more libraries [--job NAME] [--both] [--minutes M] [--record FILE]
  bench-cluster one function in memory, over Dask's chunks, and on two workers, by indim and by NumPy
  formats       runs written model files by JAX, ONNX Runtime and OpenVINO
  site          builds the site into target/site [--serve [PORT] | --test]
  stores        reads written arrays by zarr-python, xarray, Pillow, tifffile and rasterio
  cross         builds and tests for other machines, by emulation [aarch64 | s390x | i686 | wasm32]
  asan          the tests of the crates with unsafe code under AddressSanitizer
  asan-python   the Python package under AddressSanitizer [pytest's arguments]
  tsan          the parallel runs under ThreadSanitizer, with the standard library built anew
  fuzz          the fuzz targets under libFuzzer [TARGET [FILE...]] [--seconds N] [--seed N]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let succeeded = match arguments.first().map(String::as_str) {
        Some("demo") => demo(),
        Some("test") => everything::test(&root(), &rest),
        Some("python") => python::test(&root()),
        Some("free-threaded") => free_threaded::test(&root()),
        Some("bench-python") => python::bench(&root(), &rest),
        Some("bench-cluster") => python::bench_cluster(&root()),
        Some("bless") => {
            cargo(&["test", "--package", "indim", "--test", "documents"], &[("INDIM_BLESS", "1")])
        }
        Some("bits") => {
            let test = ["test", "--package", "indim-cpu", "--test", "same_bits"];
            cargo(&test, &[("INDIM_BLESS", "1")])
        }
        Some("package") => cargo(&["publish", "--dry-run", "--workspace"], &[]),
        Some("deny") => deny(),
        Some("bench") => bench::bench(&rest),
        Some("ops") => page("indim-text", "ops_page", "docs/ops.md"),
        Some("errors") => page("indim-errors", "errors_page", "docs/errors.md"),
        Some("accuracy") => accuracy(&rest),
        Some("formats") => formats::formats(&root()),
        Some("site") => site::site(&root(), &rest),
        Some("stores") => formats::stores(&root()),
        Some("cross") => cross::cross(&rest),
        Some("asan") => asan::asan(),
        Some("asan-python") => python::asan(&root(), &rest),
        Some("tsan") => asan::tsan(),
        Some("dist") => dist::dist(&root(), &rest),
        Some("workflows") => workflows::lint(&root()),
        Some("fuzz") => fuzz::fuzz(&rest),
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// Runs `cargo deny` without advisories, whose list needs the network.
fn deny() -> bool {
    let succeeded = cargo(&["deny", "--workspace", "check", "licenses", "bans", "sources"], &[]);
    if !succeeded {
        eprintln!("the command is a package of its own: `cargo install --locked cargo-deny`");
    }
    succeeded
}

/// Runs complete jobs on the data of the repository, from raw data to the result.
fn demo() -> bool {
    let jobs = [
        // The table, standardised column by column.
        [
            "m = mean(x, axis=0); s = std(x, axis=0); div(sub(x, m, dims=[1]), s, dims=[1])",
            "x=data/iris.npy",
        ],
        // The picture, normalised by the mean and the deviation of each of its channels.
        [
            "p = f32(x) / f32(255); m = mean(p, axis=[0, 1]); s = std(p, axis=[0, 1])\n\
             div(sub(p, m, dims=[2]), s, dims=[2])",
            "x=data/picture.npy",
        ],
        // The softmax of each row.
        ["softmax(x, axis=1)", "x=data/iris.npy"],
        // A vegetation index of the red and the near infrared band of one file.
        [
            "nir, red = f32(bands[..., 3]), f32(bands[..., 2]); (nir - red) / (nir + red)",
            "bands=data/bands.npy",
        ],
    ];
    let indim = [
        "run",
        "--quiet",
        "--release",
        "--package",
        "indim-cli",
        "--",
        "eval",
        "--precision=3",
        "--rule=xla",
    ];
    // The first build takes minutes, so it shows its progress.
    cargo(&["build", "--release", "--package", "indim-cli"], &[])
        && jobs.iter().all(|job| cargo(&[&indim[..], job].concat(), &[]))
}

/// Writes the output of the example `example` of `package` to the document at `path`.
fn page(package: &str, example: &str, path: &str) -> bool {
    let mut run = Command::new(cargo_program());
    run.args(["run", "--quiet", "--package", package, "--example", example]).current_dir(root());
    let written = program::text(&mut run).and_then(|text| {
        std::fs::write(root().join(path), text)
            .map_err(|error| format!("{path} cannot be written: {error}"))
    });
    written.map_err(|error| eprintln!("{error}")).is_ok()
}

/// Measures accuracy, compiled for this processor: that is several times faster, with the same bits.
fn accuracy(arguments: &[&str]) -> bool {
    let run = ["run", "--release", "--package", "indim-ops", "--example", "accuracy", "--"];
    let variables = [("RUSTFLAGS", "-C target-cpu=native"), ("CARGO_TARGET_DIR", "target/native")];
    let succeeded = cargo(&[&run[..], arguments].concat(), &variables);
    let Some((&"check", functions)) = arguments.split_first() else { return succeeded };
    let run = ["run", "--release", "--package", "indim-targets", "--example", "checksums", "--"];
    succeeded && cargo(&[&run[..], functions].concat(), &[])
}

/// Runs cargo in the workspace, and prints the command.
fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    cargo_of(&cargo_program(), arguments, variables)
}

/// Like [`cargo`], with the cargo of another toolchain.
fn cargo_of(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    eprintln!("+ cargo {}", arguments.join(" "));
    let status = Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(root())
        .status();
    match status {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cargo cannot be run: {error}");
            false
        }
    }
}
