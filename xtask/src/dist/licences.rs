//! The licences of all crates in a build, as one text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::packages::{Package, Packages};
use super::product::Product;
use super::release;

/// Texts of crates whose archives contain none, and of glibc, each in a file `NAME.txt`.
const TEXTS: &str = "xtask/licences";

/// Beginnings of the names of files with licences, in lower case.
const NAMES: [&str; 6] = ["licence", "license", "copying", "copyright", "notice", "unlicense"];

/// The text of the licences of the product, whose crates are these: those of the crates, of the standard
/// library, and of glibc if it is linked. Without the text of a crate, it is an error, which names the crate.
pub(crate) fn text(
    root: &Path,
    packages: &Packages,
    product: &Product,
    identities: &BTreeSet<String>,
) -> Result<String, String> {
    let crates = identities.iter().filter_map(|identity| packages.0.get(identity));
    // Crates with the same text share one entry.
    let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut missing = Vec::new();
    for package in crates.filter(|package| !package.is_local) {
        let entry = format!("{} {} ({})", package.name, package.version, package.licence);
        match texts(root, package)? {
            texts if texts.is_empty() => missing.push(entry),
            texts => texts.into_iter().for_each(|text| {
                owners.entry(text).or_default().push(entry.clone());
            }),
        }
    }
    if !missing.is_empty() {
        return Err(format!(
            "no licence text in the archive of {}; put the text of its repository into {TEXTS}/NAME.txt",
            missing.join(", ")
        ));
    }
    let mut all = String::from(
        "Licences of the software that is compiled into this distribution of indim.\n\
         indim itself: MIT OR Apache-2.0, in LICENSE-MIT and LICENSE-APACHE.\n\
         The Rust standard library: MIT OR Apache-2.0, copyright the Rust project contributors, in its \
         COPYRIGHT\nof <https://github.com/rust-lang/rust>.\n",
    );
    let mut add = |owners: &[String], text: &str| {
        let line = "=".repeat(80);
        write!(all, "\n{line}\n{}\n{line}\n\n{text}\n", owners.join("\n"))
            .map_err(|error| error.to_string())
    };
    owners.iter().try_for_each(|(text, owners)| add(owners, text))?;
    if product.links_glibc {
        let text = release::read(&root.join(TEXTS).join("glibc.txt"))?;
        add(&["glibc (LGPL-2.1-or-later)".to_owned()], text.trim_end())?;
    }
    Ok(all)
}

/// The licence texts of a crate, in the order of the names of their files.
fn texts(root: &Path, package: &Package) -> Result<Vec<String>, String> {
    let io = |path: &Path, error| format!("{}: {error}", path.display());
    let entries = std::fs::read_dir(&package.folder).map_err(|error| io(&package.folder, error))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && is_licence(path))
        .collect();
    files.sort();
    let by_hand = root.join(TEXTS).join(format!("{}.txt", package.name));
    if files.is_empty() && by_hand.exists() {
        files.push(by_hand);
    }
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).map_err(|error| io(path, error))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim_end().to_owned())
    };
    files.iter().map(read).collect()
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_source = name.ends_with(".rs");
    !is_source && NAMES.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::product::{COMMAND, PYTHON};

    #[test]
    fn each_crate_of_the_command_and_of_the_wheel_has_its_licences() {
        let root = crate::root();
        let packages = Packages::read(&root).unwrap();
        for (product, dependency) in [(COMMAND, "clap "), (PYTHON, "pyo3 ")] {
            let identities = packages.in_build_of(&root, product.package).unwrap();
            let text = text(&root, &packages, &product, &identities).unwrap();
            assert!(text.contains("iced-x86"), "a crate without a text of its own");
            assert!(text.lines().any(|line| line.starts_with(dependency)), "{}", product.name);
            assert!(text.contains("Permission is hereby granted"));
            // The command alone is a static program.
            let has_glibc = text.contains("GNU C Library") && text.contains("GNU LESSER GENERAL");
            assert_eq!(has_glibc, product.package == "indim-cli", "{}", product.name);
        }
    }

    #[test]
    fn a_crate_without_a_licence_is_named() {
        let root = crate::root();
        let mut packages = Packages::read(&root).unwrap();
        let (identity, package) =
            packages.0.iter_mut().find(|(_, package)| package.name == "rayon").unwrap();
        package.folder = root.join("xtask/src");
        let identities = BTreeSet::from([identity.clone()]);
        let error = text(&root, &packages, &PYTHON, &identities).unwrap_err();
        assert!(error.contains("rayon") && error.contains(TEXTS), "{error}");
    }
}
