//! A Python interpreter of another machine: Debian's, unpacked into a folder, run by QEMU.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::python::Python;
use crate::cross::Machine;
use crate::dist::release::{self, Release};
use crate::program;

/// Debian's name of the machine, by ours.
const ARCHITECTURES: [(&str, &str); 1] = [("aarch64", "arm64")];

/// The interpreter, and a library that NumPy needs.
const DEBIAN_PACKAGES: [&str; 2] = ["python3", "libstdc++6"];

/// The packages of PyPI that the tests need beside the wheel.
const PACKAGES: [&str; 3] = ["numpy", "pytest", "hypothesis"];

/// Unpacks the interpreter if it is not there yet, and installs the wheel into a new folder next to it.
pub(crate) fn install(
    release: &Release,
    machine: &Machine,
    wheel: &Path,
) -> Result<Python, String> {
    let emulator = machine.emulator().ok_or("this machine needs no emulator")?;
    let root = release.root.join("target/dist-root").join(machine.name);
    let program = match interpreter(&root) {
        Some(program) => program,
        None => {
            unpack(machine, &root)?;
            interpreter(&root).ok_or_else(|| format!("{} has no python3", root.display()))?
        }
    };
    let version = program.file_name().unwrap_or_default().to_string_lossy().replace("python", "");
    let site = root.join("site");
    release::empty(&site)?;
    let mut pip = Command::new(release.wheel_builder()?);
    pip.args(["-m", "pip", "install", "--quiet", "--only-binary=:all:", "--implementation=cp"]);
    // pip takes wheels of the named platforms only.
    for glibc in ["2_17", "2_27", "2_28"] {
        pip.arg(format!("--platform=manylinux_{glibc}_{}", machine.name));
    }
    pip.arg(format!("--python-version={version}")).arg("--target").arg(&site);
    program::run(pip.args(PACKAGES).arg(wheel))?;
    let variable = |name: &str, path: &Path| (name.to_owned(), path.to_string_lossy().into_owned());
    Ok(Python {
        program: PathBuf::from(emulator),
        arguments: vec![
            "-L".to_owned(),
            root.to_string_lossy().into_owned(),
            program.to_string_lossy().into_owned(),
        ],
        variables: vec![variable("PYTHONHOME", &root.join("usr")), variable("PYTHONPATH", &site)],
    })
}

/// The interpreter with its version in its name.
fn interpreter(root: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(root.join("usr/bin")).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix("python3.").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    paths.into_iter().find(is_it)
}

/// Downloads Debian's interpreter and its libraries, and unpacks them into `root`. apt keeps its lists there
/// too, so it changes nothing of this machine.
fn unpack(machine: &Machine, root: &Path) -> Result<(), String> {
    let architecture = ARCHITECTURES.iter().find(|(name, _)| *name == machine.name);
    let (_, architecture) = architecture.ok_or("Debian's name of the machine is not known")?;
    let (state, cache) = (root.join("apt/state"), root.join("apt/cache"));
    release::empty(root)?;
    release::create(&state.join("lists/partial"))?;
    release::create(&cache.join("archives/partial"))?;
    release::write(&state.join("status"), "")?;
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.arg("--quiet=2").arg(format!("--option=APT::Architecture={architecture}"));
        apt.arg(format!("--option=APT::Architectures::={architecture}"));
        apt.arg(format!("--option=Dir::State={}", state.display()));
        apt.arg(format!("--option=Dir::State::status={}", state.join("status").display()));
        apt.arg(format!("--option=Dir::Cache={}", cache.display()));
        apt.arg("--option=APT::Sandbox::User=");
        apt
    };
    let takes =
        |error| format!("{error}; the interpreter of {architecture} is Debian's, by apt-get");
    program::run(apt().arg("update")).map_err(takes)?;
    let download = ["--yes", "--download-only", "--no-install-recommends", "install"];
    program::run(apt().args(download).args(DEBIAN_PACKAGES)).map_err(takes)?;
    for package in release::files(&cache.join("archives"))? {
        if package.extension().is_some_and(|extension| extension == "deb") {
            program::run(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(root))?;
        }
    }
    std::fs::remove_dir_all(root.join("apt"))
        .map_err(|error| format!("{}: {error}", root.display()))
}
