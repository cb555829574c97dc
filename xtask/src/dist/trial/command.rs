//! Trial of the static programs: in a root with nothing else, without an environment.

use std::path::Path;
use std::process::Command;

use super::{EmptyFolder, require};
use crate::cross::Machine;
use crate::dist::command::{COMPLETIONS, name};
use crate::dist::release::{self, Release};
use crate::program;

/// A program that contains its expected results.
const PROGRAM: &str = "\
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = stablehlo.add %x, %x : tensor<3xf32>
  check.expect_eq_const %y, dense<[2.0, 4.0, 6.0]> : tensor<3xf32>
  func.return
}
";

/// Files that each archive has.
const FILES: [&str; 9] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "THIRD-PARTY-LICENSES.txt",
    "indim",
    "man/indim.1",
    "man/indim-eval.1",
    "man/indim-convert-reduction.1",
];

/// Unpacks and runs the command of each machine.
pub(crate) fn command(release: &Release) -> Result<(), String> {
    for machine in &release.machines {
        let name = name(release, machine);
        let folder = EmptyFolder::new("command")?;
        folder.unpack(&release.made(&format!("{name}.tar.gz"))?)?;
        let unpacked = folder.path().join(name);
        FILES.iter().try_for_each(|file| require(&unpacked.join(file)))?;
        COMPLETIONS
            .iter()
            .try_for_each(|(_, file)| require(&unpacked.join("completions").join(file)))?;
        run_in_empty_root(release, machine, &unpacked.join("indim"))?;
    }
    Ok(())
}

/// Runs the program in a folder that has it, and one array and one model, as its root.
fn run_in_empty_root(release: &Release, machine: &Machine, program: &Path) -> Result<(), String> {
    let root = EmptyFolder::new("root")?;
    release::copy(program, &root.path().join("indim"))?;
    release::copy(&release.root.join("data/iris.npy"), &root.path().join("iris.npy"))?;
    release::write(&root.path().join("add.mlir"), PROGRAM)?;
    let literals = ["eval", "add(X, v, dims=[1])", "X=[[1,2,3],[4,5,6]]", "v=[7,8,9]"];
    let columns = ["eval", "max(x, axis=0)", "x=iris.npy", "-o", "max.npy"];
    let expected: [(&[&str], &str); 5] = [
        (&["--version"], &format!("indim {}", release.version)),
        (&literals, "[[ 8 10 12]\n [11 13 15]]"),
        (&columns, ""),
        (&["eval", "x", "x=max.npy"], "[7.9 4.4 6.9 2.5]"),
        (&["check", "add.mlir"], "passed: add.mlir"),
    ];
    for (arguments, expected) in expected {
        let text = program::text(in_root(machine, root.path()).args(arguments).env_clear())?;
        if !text.contains(expected) {
            return Err(format!("indim {}: {text}", arguments.join(" ")));
        }
    }
    // A shape error has its own exit code, so it ends by itself and not by a signal.
    let error = in_root(machine, root.path())
        .args(["eval", "x + y", "x=[1,2]", "y=[1,2,3]"])
        .env_clear()
        .output()
        .map_err(|error| error.to_string())?;
    let message = String::from_utf8_lossy(&error.stderr);
    if error.status.code().is_none_or(|code| code == 0) || !message.contains("size-mismatch") {
        return Err(format!("a shape error gives {}: {message}", error.status));
    }
    Ok(())
}

/// The command that runs `/indim` of `root`, in which it cannot see any other file. An emulator would not
/// find its own libraries there, so it runs the program in that folder; it lends the program no library.
fn in_root(machine: &Machine, root: &Path) -> Command {
    if let Some(emulator) = machine.emulator() {
        let mut command = Command::new(emulator);
        command.arg("./indim").current_dir(root);
        return command;
    }
    let mut command = Command::new("/usr/bin/unshare");
    command.arg("--map-root-user").arg(format!("--root={}", root.display()));
    command.args(["--wd=/", "/indim"]);
    command
}
