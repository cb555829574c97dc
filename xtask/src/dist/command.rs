//! The command as a static program, with its manual pages and completions, in one archive for each machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::machine::{MACHINES, Machine};
use super::release::{self, Release};

/// The shells with completions, and the files that they read.
pub(crate) const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "indim.bash"), ("zsh", "_indim"), ("fish", "indim.fish")];

/// Debian's text of the licence of glibc, which is linked into the program.
const LGPL: &str = "/usr/share/common-licenses/LGPL-2.1";

/// The note above that text.
const NOTE: &str = "\
The program contains the GNU C Library (LGPL-2.1-or-later, copyright the Free Software Foundation and
others). To link it with another version of that library, build it from indim's source: `cargo rustc
--release --package indim-cli -- -C target-feature=+crt-static`.";

/// The name of the archive for a machine, without its ending, and of the folder in it.
pub(crate) fn name(release: &Release, machine: &Machine) -> String {
    format!("indim-{}-{}-linux", release.version, machine.name)
}

/// Makes the archive of each machine.
pub(crate) fn archives(release: &Release) -> Result<(), String> {
    let lgpl = release::read(Path::new(LGPL))
        .map_err(|error| format!("{error}; Debian's package base-files has it"))?;
    let line = "=".repeat(80);
    let licences =
        format!("{}\n{line}\n{NOTE}\n{line}\n\n{lgpl}", release.licences_of("indim-cli")?);
    let stage = release.root.join("target/dist-command");
    release::empty(&stage)?;
    // Documentation does not depend on the machine, so the program of this one writes it.
    let writer = build(release, &MACHINES[0])?;
    for machine in &release.machines {
        let program = build(release, machine)?;
        let name = name(release, machine);
        let folder = stage.join(&name);
        release::create(&folder)?;
        release::copy(&program, &folder.join("indim"))?;
        for document in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            release::copy(&release.root.join(document), &folder.join(document))?;
        }
        release::write(&folder.join("THIRD-PARTY-LICENSES.txt"), &licences)?;
        write_documentation(&writer, &folder)?;
        release.pack(&stage, &name)?;
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
    release::run(&mut command)?;
    Ok(builder.folder.join(machine.target).join("release/indim"))
}

/// Writes the manual pages of the command and of its subcommands, and the completions.
fn write_documentation(program: &Path, folder: &Path) -> Result<(), String> {
    let (pages, completions) = (folder.join("man"), folder.join("completions"));
    release::create(&pages)?;
    release::create(&completions)?;
    let page = release::text(Command::new(program).arg("man"))?;
    release::write(&pages.join("indim.1"), &page)?;
    for subcommand in subcommands(&page) {
        let page = release::text(Command::new(program).args(["man", &subcommand]))?;
        release::write(&pages.join(format!("indim-{subcommand}.1")), &page)?;
    }
    for (shell, file) in COMPLETIONS {
        let text = release::text(Command::new(program).args(["completions", shell]))?;
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
