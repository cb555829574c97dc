//! Developer commands. `cargo xtask` lists them.

mod asan;
mod bench;
mod cross;
mod everything;
mod formats;
mod fuzz;
mod lines;
mod python;
mod site;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask COMMAND
  demo          jobs on raw data: a table standardised, a picture normalised, a softmax, a vegetation index
  test          everything that must pass: format, clippy, documentation, all tests, and, where what they take
                is installed, python, site, formats, stores, asan, fuzz and cross, the last two bounded
  python        the Python package: the wheel built, installed into a clean environment, tested
  package       the dry run of publishing every crate, each built from its package alone; takes the network
  deny          the licences, duplicates and sources of all dependencies against deny.toml, by cargo-deny
  bless         write what the compiler does now into the documents it is tested against
  bits          record the bits that operations give on special values, against which every machine is tested
  ops           write docs/ops.md from the table of operations and the record of their accuracy
  errors        write docs/errors.md from the registry of error codes
  accuracy      measure the functions over all arguments of 32 bits [record | check] [every=N] [FUNCTION...]
  bench         the benchmarks, with the ratio to hand-written loops and to peers; `--help` says more
  bench-python  the Python package against NumPy, numexpr and JAX
  bench-cluster one function in memory, over Dask's chunks, and on two workers, by indim and by NumPy
  formats       what is written for other systems, read and run by JAX, ONNX Runtime and OpenVINO
  site          the site of the browser, into target/site [--serve [PORT] | --test]
  stores        arrays that are written, read by zarr-python, xarray, Pillow, tifffile and rasterio
  cross         builds and tests for other machines, by emulation [aarch64 | s390x | i686 | wasm32]
  asan          the tests of the crates with unsafe code under AddressSanitizer
  asan-python   the Python package under AddressSanitizer [pytest's arguments]
  tsan          the parallel runs under ThreadSanitizer, with the standard library built anew
  fuzz          the fuzz targets under libFuzzer [TARGET [FILE...]] [--seconds N]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let succeeded = match arguments.first().map(String::as_str) {
        Some("demo") => demo(),
        Some("test") => everything::test(&root()),
        Some("python") => python::test(&root()),
        Some("bench-python") => python::bench(&root()),
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
        Some("errors") => page("indim-shape", "errors_page", "docs/errors.md"),
        Some("accuracy") => accuracy(&rest),
        Some("formats") => formats::formats(&root()),
        Some("site") => site::site(&root(), &rest),
        Some("stores") => formats::stores(&root()),
        Some("cross") => cross::cross(&rest),
        Some("asan") => asan::asan(),
        Some("asan-python") => python::asan(&root(), &rest),
        Some("tsan") => asan::tsan(),
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

/// Advisories are left out: their list is fetched from the network.
fn deny() -> bool {
    let succeeded = cargo(&["deny", "--workspace", "check", "licenses", "bans", "sources"], &[]);
    if !succeeded {
        eprintln!("the command is a package of its own: `cargo install --locked cargo-deny`");
    }
    succeeded
}

/// Whole jobs on the data that the repository ships, from what was measured to the result.
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
        // The share of each measurement in its row, of exponentials.
        ["softmax(x, axis=1)", "x=data/iris.npy"],
        // A vegetation index of the red and the near infrared band of one file.
        [
            "nir, red = f32(bands[..., 3]), f32(bands[..., 2]); (nir - red) / (nir + red)",
            "bands=data/bands.npy",
        ],
    ];
    let indim =
        ["run", "--quiet", "--release", "--package", "indim-cli", "--", "eval", "--rule", "xla"];
    jobs.iter().all(|job| cargo(&[&indim[..], job].concat(), &[]))
}

/// Writes the document at `path`, which the example of this name in `package` prints.
fn page(package: &str, example: &str, path: &str) -> bool {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let arguments = ["run", "--quiet", "--package", package, "--example", example];
    match Command::new(cargo).args(arguments).current_dir(root).output() {
        Ok(output) if output.status.success() => {
            std::fs::write(format!("{root}/{path}"), output.stdout)
                .map_err(|error| eprintln!("{path} cannot be written: {error}"))
                .is_ok()
        }
        Ok(output) => {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            false
        }
        Err(error) => {
            eprintln!("cargo cannot be run: {error}");
            false
        }
    }
}

/// The measurement is compiled for this processor: it is several times faster, with the same bits.
fn accuracy(arguments: &[&str]) -> bool {
    let run = ["run", "--release", "--package", "indim-ops", "--example", "accuracy", "--"];
    let variables = [("RUSTFLAGS", "-C target-cpu=native"), ("CARGO_TARGET_DIR", "target/native")];
    let succeeded = cargo(&[&run[..], arguments].concat(), &variables);
    let Some((&"check", functions)) = arguments.split_first() else { return succeeded };
    let run = ["run", "--release", "--package", "indim-targets", "--example", "checksums", "--"];
    succeeded && cargo(&[&run[..], functions].concat(), &[])
}

/// Runs cargo in the workspace; says what it runs.
fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    cargo_of(Path::new(&cargo), arguments, variables)
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
