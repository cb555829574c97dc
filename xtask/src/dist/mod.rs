//! `cargo xtask dist`: makes the files of a release in `target/dist`, and tries them.
//!
//! `product.rs` has the products with binaries; `packages.rs` lists crates and their dependencies.
//! `wheels.rs`, `command.rs`, `crates.rs` and `documents.rs` make wheels, the command, crates, and the site
//! with licences and bills of materials; `licences.rs` and `bill.rs` write the last two. `checksums.rs`
//! writes and checks the checksums of all files. `release.rs` has the machines and folders that all need.
//! `trial/` installs each file into an empty folder, and tries it.

mod bill;
mod checksums;
mod command;
mod crates;
mod documents;
mod licences;
mod packages;
mod product;
mod release;
mod trial;
mod wheels;

use std::path::Path;
use std::time::Instant;

use product::PRODUCTS;
use release::{MACHINES, Release};

const USAGE: &str = "\
cargo xtask dist [--test] [--only NAME,...] [--machines NAME,...] [--allow-dirty]
  Makes the files of a release in target/dist: sdist, wheels, command, crates, site, licences, bill and
  checksums. `--test` installs the made files into empty folders and tries them instead. `--machines` is
  x86_64, aarch64 or both, the default. `--allow-dirty` packages crates with uncommitted changes.";

/// A part of a release.
struct Artefact {
    name: &'static str,
    /// The names of its files for all machines.
    files: fn(&Release) -> Vec<String>,
    make: fn(&Release) -> Result<(), String>,
    try_out: fn(&Release) -> Result<(), String>,
}

/// The parts, in the order of making; checksums cover all others.
const ARTEFACTS: &[Artefact] = &[
    Artefact {
        name: "sdist",
        files: |release| vec![wheels::source_name(release)],
        make: wheels::source,
        try_out: trial::source,
    },
    Artefact {
        name: "wheels",
        files: |release| MACHINES.iter().map(|it| wheels::wheel_name(release, it)).collect(),
        make: wheels::wheels,
        try_out: trial::wheels,
    },
    Artefact {
        name: "command",
        files: |release| MACHINES.iter().map(|it| archive(&command::name(release, it))).collect(),
        make: command::archives,
        try_out: trial::command,
    },
    Artefact {
        name: "crates",
        files: |release| {
            let archives = release.packages.published().map(crates::name);
            archives.chain([crates::ORDER.to_owned()]).collect()
        },
        make: crates::crates,
        try_out: trial::crates,
    },
    Artefact {
        name: "site",
        files: |release| vec![archive(&documents::site_name(release))],
        make: documents::site,
        try_out: trial::site,
    },
    Artefact {
        name: "licences",
        files: |release| PRODUCTS.iter().map(|it| documents::licences_name(release, it)).collect(),
        make: documents::licences,
        try_out: trial::licences,
    },
    Artefact {
        name: "bill",
        files: |release| PRODUCTS.iter().map(|it| documents::bill_name(release, it)).collect(),
        make: documents::bills,
        try_out: trial::bills,
    },
    Artefact {
        name: "checksums",
        files: |_| vec![checksums::NAME.to_owned()],
        make: checksums::write,
        try_out: checksums::check,
    },
];

/// The file that [`Release::pack`] makes.
fn archive(name: &str) -> String {
    format!("{name}.tar.gz")
}

/// The names of all files of the release.
fn files(release: &Release) -> Vec<String> {
    ARTEFACTS.iter().flat_map(|artefact| (artefact.files)(release)).collect()
}

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
    // Checksums cover all files of the folder, so it keeps none of another version.
    let kept = if options.selects_all() { Vec::new() } else { files(&release) };
    if !options.tests
        && let Err(error) = release::remove_all_but(&release.output, &kept)
    {
        eprintln!("{error}");
        return false;
    }
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
    fn selects_all(&self) -> bool {
        self.only.is_empty() && self.machines.is_empty()
    }

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
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn files_have_names_of_their_own_without_folders() {
        let release = Release::new(&crate::root(), &[], false).unwrap();
        let names = files(&release);
        assert!(names.len() > 30 && names.contains(&crates::ORDER.to_owned()), "{names:?}");
        assert!(names.iter().all(|name| !name.contains('/')), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    }

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
