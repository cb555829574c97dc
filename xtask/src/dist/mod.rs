//! `cargo xtask dist`: makes the files of a release in `target/dist`, and tries them.
//!
//! `machine.rs` has the machines that get binaries; `packages.rs` lists crates and their dependencies.
//! `wheels.rs`, `command.rs`, `crates.rs` and `documents.rs` make wheels, the command, crates, and the site
//! with licences and bills of materials; `licences.rs` and `bill.rs` write the last two. `checksums.rs`
//! writes and checks the checksums of all files. `release.rs` has the folders and programs that all need.
//! `trial/` installs each file into an empty folder, and tries it.

mod bill;
mod checksums;
mod command;
mod crates;
mod documents;
mod licences;
mod machine;
mod packages;
mod release;
mod trial;
mod wheels;

use std::path::Path;
use std::time::Instant;

use machine::MACHINES;
use release::Release;

const USAGE: &str = "\
cargo xtask dist [--test] [--only NAME,...] [--machines NAME,...] [--allow-dirty]
  Makes the files of a release in target/dist: sdist, wheels, command, crates, site, licences, bill and
  checksums. `--test` installs the made files into empty folders and tries them instead. `--machines` is
  x86_64, aarch64 or both, the default. `--allow-dirty` packages crates with uncommitted changes.";

/// A part of a release.
struct Artefact {
    name: &'static str,
    make: fn(&Release) -> Result<(), String>,
    try_out: fn(&Release) -> Result<(), String>,
}

/// The parts, in the order of making; checksums cover all others.
const ARTEFACTS: &[Artefact] = &[
    Artefact { name: "sdist", make: wheels::source, try_out: trial::source },
    Artefact { name: "wheels", make: wheels::wheels, try_out: trial::wheels },
    Artefact { name: "command", make: command::archives, try_out: trial::command },
    Artefact { name: "crates", make: crates::crates, try_out: trial::crates },
    Artefact { name: "site", make: documents::site, try_out: trial::site },
    Artefact { name: "licences", make: documents::licences, try_out: trial::licences },
    Artefact { name: "bill", make: documents::bills, try_out: trial::bills },
    Artefact { name: "checksums", make: checksums::write, try_out: checksums::check },
];

/// Makes or tries the selected parts; all run, even after a failure. Prints the result and the time of each.
pub(crate) fn dist(root: &Path, arguments: &[&str]) -> bool {
    let Some(options) = options(arguments) else {
        eprintln!("{USAGE}");
        return false;
    };
    let release = match Release::new(root, &options.machines, options.allows_dirty) {
        Ok(release) => release,
        Err(error) => {
            eprintln!("{error}");
            return false;
        }
    };
    let mut report = Vec::new();
    let mut is_fine = true;
    for artefact in ARTEFACTS.iter().filter(|artefact| options.has(artefact.name)) {
        eprintln!("+ {} of {}", if options.tests { "trial" } else { "making" }, artefact.name);
        let start = Instant::now();
        let step = if options.tests { artefact.try_out } else { artefact.make };
        let result = step(&release);
        let seconds = start.elapsed().as_secs();
        report.push(match &result {
            Ok(()) => format!("passed: {}, in {seconds} s", artefact.name),
            Err(error) => format!("FAILED: {}: {error}", artefact.name),
        });
        is_fine &= result.is_ok();
    }
    report.iter().for_each(|line| eprintln!("{line}"));
    is_fine
}

/// The options of the command line.
#[derive(Default)]
struct Options {
    tests: bool,
    allows_dirty: bool,
    /// Names of parts; empty for all.
    only: Vec<String>,
    /// Names of machines; empty for all.
    machines: Vec<String>,
}

impl Options {
    fn has(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| it == name)
    }
}

/// `None` if an option or a name is unknown.
fn options(arguments: &[&str]) -> Option<Options> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(&argument) = rest.next() {
        let mut names = |is_known: &dyn Fn(&str) -> bool| {
            let names: Vec<String> = rest.next()?.split(',').map(str::to_owned).collect();
            names.iter().all(|name| is_known(name)).then_some(names)
        };
        match argument {
            "--test" => options.tests = true,
            "--allow-dirty" => options.allows_dirty = true,
            "--only" => options.only = names(&|name| ARTEFACTS.iter().any(|it| it.name == name))?,
            "--machines" => {
                options.machines = names(&|name| MACHINES.iter().any(|it| it.name == name))?;
            }
            _ => return None,
        }
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_known_names_only() {
        let some = options(&["--only", "wheels,site", "--machines", "aarch64", "--test"]).unwrap();
        assert!(some.has("wheels") && some.has("site") && !some.has("crates") && some.tests);
        assert_eq!(some.machines, ["aarch64"]);
        assert!(options(&[]).is_some_and(|all| ARTEFACTS.iter().all(|it| all.has(it.name))));
        for wrong in [&["--only", "wheel"][..], &["--only"], &["--machines", "arm"], &["wheels"]] {
            assert!(options(wrong).is_none(), "{wrong:?}");
        }
    }
}
