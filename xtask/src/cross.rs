//! `cargo xtask cross`: builds and tests for another machine, by emulation.
//!
//! The tests on every machine cover rules, graphs, executors, machine code if the machine has a target,
//! files, the command, the digests of every operation over special values, and a sample of the checksums of
//! the functions.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::cargo_program;
use crate::{cargo_of, root};

const USAGE: &str = "\
cargo xtask cross [MACHINE...] [--bounded]
  Builds and tests for aarch64, s390x, i686 or wasm32; without a machine for each that this one can build for.
  `--bounded` leaves out the long tests: digests, checksums and machine code remain, and, where the width of
  pointers or the order of bytes differ, rules and graphs.";

/// A machine that this one builds for.
pub(crate) struct Machine {
    /// Its name as Linux and Python's platform tags have it.
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    /// The C compiler that links; for wasm32 a linker, which Debian's toolchain needs. `None` for that of
    /// this machine.
    linker: Option<&'static str>,
    runner: Runner,
    /// Its pointer width or byte order differs from that of x86-64 and aarch64, so bounded runs test rules
    /// and graphs too.
    has_other_layout: bool,
    /// Debian's packages of the linker, the libraries and the emulator.
    packages: &'static str,
}

/// The emulator of the other machine.
enum Runner {
    /// This machine, without an emulator.
    Host,
    /// QEMU's emulator of user programs, with the first version that computes correctly.
    Emulator { program: &'static str, libraries: &'static str, min_version: (u32, u32) },
    /// This processor, with the other machine's loader.
    Native { loader: &'static str },
    /// Node.js, for one module without imports.
    Node,
}

/// The machine that builds releases.
pub(crate) const X86_64: Machine = Machine {
    name: "x86_64",
    target: "x86_64-unknown-linux-gnu",
    linker: None,
    runner: Runner::Host,
    has_other_layout: false,
    packages: "",
};

pub(crate) const AARCH64: Machine = Machine {
    name: "aarch64",
    target: "aarch64-unknown-linux-gnu",
    linker: Some("aarch64-linux-gnu-gcc"),
    runner: Runner::Emulator {
        program: "qemu-aarch64",
        libraries: "/usr/aarch64-linux-gnu",
        min_version: (7, 2),
    },
    has_other_layout: false,
    packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
};

/// The machines with tests by emulation.
const MACHINES: &[Machine] = &[
    AARCH64,
    Machine {
        name: "s390x",
        target: "s390x-unknown-linux-gnu",
        linker: Some("s390x-linux-gnu-gcc"),
        // QEMU 7.2 multiplies 32-bit floats into 64 bits wrongly, which shows as wrong asin, erfc and hypot.
        runner: Runner::Emulator {
            program: "qemu-s390x",
            libraries: "/usr/s390x-linux-gnu",
            min_version: (8, 1),
        },
        has_other_layout: true,
        packages: "gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user",
    },
    Machine {
        name: "i686",
        target: "i686-unknown-linux-gnu",
        linker: Some("i686-linux-gnu-gcc"),
        runner: Runner::Native { loader: "/lib/ld-linux.so.2" },
        has_other_layout: true,
        packages: "gcc-i686-linux-gnu libc6-dev-i386-cross libc6-i386 lib32gcc-s1",
    },
    Machine {
        name: "wasm32",
        target: "wasm32-unknown-unknown",
        linker: Some("wasm-ld"),
        runner: Runner::Node,
        has_other_layout: true,
        packages: "nodejs lld",
    },
];

/// A compiler, and whether it must build the standard library for the target.
struct Toolchain {
    cargo: PathBuf,
    rustc: Option<PathBuf>,
    builds_std: bool,
}

/// Builds and tests for each requested machine.
pub(crate) fn cross(arguments: &[&str]) -> bool {
    let (flags, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|argument| argument.starts_with('-'));
    let unknown = names.iter().find(|&&name| machine(name).is_none());
    if unknown.is_some() || flags.iter().any(|&flag| flag != "--bounded") {
        eprintln!("{USAGE}");
        return false;
    }
    let is_asked = |machine: &&Machine| names.is_empty() || names.contains(&machine.name);
    // All machines run, even after a failure.
    let failed: Vec<&str> = (MACHINES.iter().filter(is_asked))
        .filter(|machine| !test_on(machine, !flags.is_empty()))
        .map(|machine| machine.name)
        .collect();
    failed.iter().for_each(|name| eprintln!("{name} FAILED, or something is missing for it"));
    failed.is_empty()
}

/// The missing programs and libraries for emulating the machine of this name, in words.
pub(crate) fn missing_for(name: &str) -> Vec<String> {
    machine(name).map(missing).unwrap_or_default()
}

/// The missing packages for building for wasm32, in words.
pub(crate) fn missing_to_build_for_wasm32() -> Vec<String> {
    machine("wasm32").map(missing_to_build).unwrap_or_default()
}

fn machine(name: &str) -> Option<&'static Machine> {
    MACHINES.iter().find(|machine| machine.name == name)
}

fn test_on(machine: &Machine, is_bounded: bool) -> bool {
    let missing = missing(machine);
    if !missing.is_empty() {
        eprintln!("{}", list_of_missing(machine, &missing));
        return false;
    }
    let Some(toolchain) = toolchain(machine) else { return false };
    match machine.runner {
        Runner::Node => build(machine, &toolchain) && run_module(machine),
        _ => test(machine, &toolchain, is_bounded),
    }
}

/// The missing programs and libraries for a machine, one a line.
fn list_of_missing(machine: &Machine, missing: &[String]) -> String {
    format!("for {} there is missing:\n  {}", machine.name, missing.join("\n  "))
}

/// The missing programs and libraries for building for the machine and for emulating it, in words.
fn missing(machine: &Machine) -> Vec<String> {
    let mut missing = missing_to_build(machine);
    let mut need = |is_there: bool, what: String| {
        if !is_there {
            missing.push(what);
        }
    };
    let packages = machine.packages;
    match machine.runner {
        Runner::Host => {}
        Runner::Emulator { program, libraries, min_version } => {
            let (major, minor) = min_version;
            let found = version(program).as_deref().and_then(emulator_version);
            need(
                found.is_some_and(|found| found >= min_version),
                format!(
                    "{program} {major}.{minor} or later (Debian, or its backports: {packages})"
                ),
            );
            need(Path::new(libraries).exists(), format!("{libraries} (Debian: {packages})"));
        }
        Runner::Native { loader } => {
            need(Path::new(loader).exists(), format!("{loader} (Debian: {packages})"));
        }
        Runner::Node => need(version("node").is_some(), format!("node (Debian: {packages})")),
    }
    missing
}

/// The missing packages for building for the machine, in words.
fn missing_to_build(machine: &Machine) -> Vec<String> {
    let mut missing = Vec::new();
    let is_x86_64 = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));
    if matches!(machine.runner, Runner::Host) && !is_x86_64 {
        missing.push("x86-64 Linux with glibc, which builds releases".to_owned());
    }
    let target = machine.target;
    if toolchain(machine).is_none() {
        missing.push(format!(
            "the standard library for {target}: `rustup target add {target}`, or Debian's packages \
             rustc-web cargo-web rust-web-src of Rust {} or later",
            env!("CARGO_PKG_RUST_VERSION")
        ));
    }
    if let Some(linker) = linker(machine)
        && version(linker).is_none()
    {
        missing.push(format!("{linker} (Debian: {})", machine.packages));
    }
    missing
}

/// Runs `cargo build` with these arguments for wasm32, and returns the folder of its profiles. Prints missing
/// packages.
pub(crate) fn build_for_wasm32(arguments: &[&str]) -> Option<PathBuf> {
    let machine = machine("wasm32")?;
    let toolchain = builds_with(machine).map_err(|error| eprintln!("{error}")).ok()?;
    let is_built = run_cargo(machine, &toolchain, &[&["build"], arguments].concat());
    is_built.then(|| target_folder(machine).join(machine.target))
}

/// How to build for another machine: cargo and its environment.
pub(crate) struct Builder {
    pub(crate) cargo: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
    /// Whether each build needs `-Zbuild-std`.
    pub(crate) builds_std: bool,
    /// The folder of the built profiles.
    pub(crate) folder: PathBuf,
}

impl Machine {
    /// How to build for it; an error lists what is missing.
    pub(crate) fn builder(&self) -> Result<Builder, String> {
        let toolchain = builds_with(self)?;
        let variables = variables(self, &toolchain);
        let folder = target_folder(self).join(self.target);
        Ok(Builder { cargo: toolchain.cargo, variables, builds_std: toolchain.builds_std, folder })
    }

    /// The program that runs its programs; `None` if this machine runs them.
    pub(crate) fn emulator(&self) -> Option<&'static str> {
        match self.runner {
            Runner::Emulator { program, .. } => Some(program),
            _ => None,
        }
    }
}

/// The toolchain that builds for the machine; an error lists what is missing.
fn builds_with(machine: &Machine) -> Result<Toolchain, String> {
    let missing = missing_to_build(machine);
    toolchain(machine)
        .filter(|_| missing.is_empty())
        .ok_or_else(|| list_of_missing(machine, &missing))
}

/// The output of `PROGRAM --version`; `None` if the program does not exist.
fn version(program: impl AsRef<OsStr>) -> Option<String> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Parses `qemu-s390x version 10.0.2 (Debian ...)`.
fn emulator_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().skip_while(|&word| word != "version").nth(1)?;
    first_numbers(number)
}

/// The first two numbers of `10.0.2`.
fn first_numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// Whether a compiler has at least the version that the workspace requires; parses `rustc 1.95.0 (...)`.
fn is_recent(rustc: &Path) -> bool {
    let found = version(rustc).and_then(|text| first_numbers(text.split_whitespace().nth(1)?));
    found >= first_numbers(env!("CARGO_PKG_RUST_VERSION"))
}

/// The first recent compiler that has the target's standard library, or else its source.
fn toolchain(machine: &Machine) -> Option<Toolchain> {
    let installed = (cargo_program(), None);
    let debian = (PathBuf::from("/usr/bin/cargo"), Some(PathBuf::from("/usr/bin/rustc")));
    let found = [installed, debian].into_iter().filter_map(|(cargo, rustc)| {
        if !is_recent(rustc.as_deref().unwrap_or(Path::new("rustc"))) {
            return None;
        }
        let libraries = sysroot(rustc.as_deref())?.join("lib/rustlib");
        let has_std = libraries.join(machine.target).join("lib").exists();
        let has_source = libraries.join("src/rust/library/std/Cargo.toml").exists();
        (has_std || has_source).then_some(Toolchain { cargo, rustc, builds_std: !has_std })
    });
    found.min_by_key(|toolchain| toolchain.builds_std)
}

/// The linker for cargo; `None` if the toolchain includes one.
fn linker(machine: &Machine) -> Option<&'static str> {
    let brings_one = matches!(machine.runner, Runner::Node)
        && toolchain(machine).is_some_and(|toolchain| toolchain.rustc.is_none());
    machine.linker.filter(|_| !brings_one)
}

fn sysroot(rustc: Option<&Path>) -> Option<PathBuf> {
    let compiler = rustc.unwrap_or(Path::new("rustc"));
    let output = Command::new(compiler).args(["--print", "sysroot"]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(path.trim()))
}

/// Runs the tests of every crate whose results could depend on the machine.
fn test(machine: &Machine, toolchain: &Toolchain, is_bounded: bool) -> bool {
    const TEST_COMMAND: &[&str] = &["test", "--release", "--no-fail-fast"];
    const RULE_CRATES: &[&str] = &[
        "-p=indim-errors",
        "-p=indim-shape",
        "-p=indim-lanes",
        "-p=indim-ops",
        "-p=indim-graph",
        "-p=indim-builder",
        "-p=indim-transforms",
        "-p=indim-text",
        "-p=indim-loops",
    ];
    const OTHER_CRATES: &[&str] = &[
        "-p=indim-kernels",
        "-p=indim-products",
        "-p=indim-codegen",
        "-p=indim-targets",
        "-p=indim-cpu",
        "-p=indim",
        "-p=indim-oracle",
        "-p=indim-cli",
    ];
    const ALL_TESTS: &[&str] = &["--lib", "--bins", "--tests"];
    // The digests by kernels and machine code; sums of products against their definition; the checksums and
    // every primitive by machine code. One build for both packages, because each alone has other features of
    // the crates below.
    const DIGESTS: &[&str] = &[
        "-p=indim-cpu",
        "-p=indim-targets",
        "--test=same_bits",
        "--test=contractions",
        "--test=machine",
        "--test=checksums",
        "--test=folding",
        "--test=listings",
        "--test=machine_code",
    ];
    if is_bounded {
        return run_cargo(machine, toolchain, &[TEST_COMMAND, DIGESTS].concat())
            && (!machine.has_other_layout
                || run_cargo(
                    machine,
                    toolchain,
                    &[TEST_COMMAND, RULE_CRATES, ALL_TESTS].concat(),
                ));
    }
    run_cargo(machine, toolchain, &[TEST_COMMAND, RULE_CRATES, OTHER_CRATES, ALL_TESTS].concat())
}

fn build(machine: &Machine, toolchain: &Toolchain) -> bool {
    let example = ["build", "--release", "--package", "indim-cpu", "--example", "self_check"];
    run_cargo(machine, toolchain, &example)
}

fn run_cargo(machine: &Machine, toolchain: &Toolchain, arguments: &[&str]) -> bool {
    let mut arguments = [arguments, &["--target", machine.target]].concat();
    if toolchain.builds_std {
        arguments.push(match machine.runner {
            Runner::Node => "-Zbuild-std=std,panic_abort",
            _ => "-Zbuild-std",
        });
    }
    let variables = variables(machine, toolchain);
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    cargo_of(&toolchain.cargo, &arguments, &variables)
}

/// The machine's own build folder, so that machines do not wait for each other.
fn target_folder(machine: &Machine) -> PathBuf {
    root().join("target/cross").join(machine.name)
}

/// The environment in which cargo builds, links and runs for the machine.
fn variables(machine: &Machine, toolchain: &Toolchain) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut set = |name: &str, value: &str| variables.push((name.to_owned(), value.to_owned()));
    set("CARGO_TARGET_DIR", &target_folder(machine).to_string_lossy());
    if let Some(rustc) = &toolchain.rustc {
        set("RUSTC", &rustc.to_string_lossy());
        set("RUSTDOC", &rustc.with_file_name("rustdoc").to_string_lossy());
    }
    if toolchain.builds_std {
        // `-Zbuild-std` is unstable; `RUSTC_BOOTSTRAP` makes the stable compiler accept it.
        set("RUSTC_BOOTSTRAP", "1");
    }
    let prefix = format!("CARGO_TARGET_{}", machine.target.to_uppercase().replace('-', "_"));
    if let Some(linker) = linker(machine) {
        set(&format!("{prefix}_LINKER"), linker);
    }
    if let Runner::Emulator { program, libraries, .. } = machine.runner {
        let runner = format!("{program} -L {libraries}");
        set(&format!("{prefix}_RUNNER"), &runner);
        // For tests that run the command themselves.
        set("INDIM_TEST_RUNNER", &runner);
    }
    variables
}

/// Runs the self-checking module; a failed check traps.
fn run_module(machine: &Machine) -> bool {
    const SCRIPT: &str = "\
        const bytes = require('fs').readFileSync(process.argv[1]);\
        WebAssembly.instantiate(bytes, {}).then(({ instance }) => instance.exports.main(0, 0))\
        .then(code => { process.exitCode = code; })";
    let built = target_folder(machine).join(machine.target);
    let module = built.join("release/examples/self_check.wasm");
    eprintln!("+ node self_check.wasm");
    let status = Command::new("node").args(["-e", SCRIPT]).arg(&module).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{first_numbers, is_recent};

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(first_numbers("1.95.0"), Some((1, 95)));
        assert!(first_numbers("1.100.0-nightly") > first_numbers("1.95"));
        assert_eq!(first_numbers("unknown"), None);
    }

    #[test]
    fn the_compiler_of_this_test_is_recent_and_a_missing_one_is_not() {
        assert!(is_recent("rustc".as_ref()));
        assert!(!is_recent("no-such-compiler".as_ref()));
    }
}
