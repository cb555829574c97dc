//! The command as a static program, with its manual pages and completions, in one archive for each machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::product::COMMAND;
use super::release::{self, Release};
use crate::cross::{Machine, X86_64};
use crate::program;

/// The shells with completions, and the files that they read.
pub(crate) const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "indim.bash"), ("zsh", "_indim"), ("fish", "indim.fish")];

/// The name of the archive for a machine, without its ending, and of the folder in it.
pub(crate) fn name(release: &Release, machine: &Machine) -> String {
    format!("indim-{}-{}-linux", release.version, machine.name)
}

/// Makes the archive of each machine.
pub(crate) fn archives(release: &Release) -> Result<(), String> {
    let licences = release.licences_of(&COMMAND)?;
    let stage = release.root.join("target/dist-command");
    release::empty(&stage)?;
    // Documentation does not depend on the machine, so the program of this one writes it.
    let writer = build(release, &X86_64)?;
    for machine in &release.machines {
        let program = build(release, machine)?;
        let folder = stage.join(machine.name);
        release::create(&folder)?;
        release::copy(&program, &folder.join("indim"))?;
        for document in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            release::copy(&release.root.join(document), &folder.join(document))?;
        }
        release::write(&folder.join("THIRD-PARTY-LICENSES.txt"), &licences)?;
        write_documentation(&writer, &folder)?;
        release.pack(&folder, &name(release, machine))?;
    }
    std::fs::remove_dir_all(&stage).map_err(|error| format!("{}: {error}", stage.display()))
}

/// Builds the static program, and returns its path.
fn build(release: &Release, machine: &Machine) -> Result<PathBuf, String> {
    let builder = machine.builder()?;
    let mut command = Command::new(&builder.cargo);
    command.args(["rustc", "--release", "--locked", "--package=indim-cli", "--bin=indim"]);
    command.args(["--target", machine.target]);
    if builder.builds_std {
        command.arg("-Zbuild-std");
    }
    command.args(["--", "-C", "target-feature=+crt-static"]);
    command.envs(builder.variables).current_dir(&release.root);
    program::run(&mut command)?;
    Ok(builder.folder.join("release/indim"))
}

/// Writes the manual pages of the command and of its subcommands, and the completions.
fn write_documentation(program: &Path, folder: &Path) -> Result<(), String> {
    let (pages, completions) = (folder.join("man"), folder.join("completions"));
    release::create(&pages)?;
    release::create(&completions)?;
    let page = program::text(Command::new(program).arg("man"))?;
    release::write(&pages.join("indim.1"), &page)?;
    for subcommand in subcommands(&page) {
        let page = program::text(Command::new(program).args(["man", &subcommand]))?;
        release::write(&pages.join(format!("indim-{subcommand}.1")), &page)?;
    }
    for (shell, file) in COMPLETIONS {
        let text = program::text(Command::new(program).args(["completions", shell]))?;
        release::write(&completions.join(file), &text)?;
    }
    Ok(())
}

/// The subcommands that the manual page of the command refers to, as in `indim\-eval(1)`.
fn subcommands(page: &str) -> Vec<String> {
    let names = page.lines().filter_map(|line| line.strip_prefix("indim\\-")?.strip_suffix("(1)"));
    names.filter(|&name| name != "help").map(|name| name.replace("\\-", "-")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_those_that_the_main_page_refers_to() {
        let page = ".SH SUBCOMMANDS\n.TP\nindim\\-eval(1)\nEvaluates\n.TP\nindim\\-convert\\-reduction(1)\n\
                    .TP\nindim\\-help(1)\n";
        assert_eq!(subcommands(page), ["eval", "convert-reduction"]);
    }
}
