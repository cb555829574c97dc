//! Contents of each published crate: licences, a README, and the address of its documentation.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the crates that are published.
fn published() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path());
    let is_published = |folder: &PathBuf| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        !manifest.is_empty() && !manifest.contains("publish = false")
    };
    folders.filter(is_published).collect()
}

#[test]
fn each_crate_has_the_licences_and_a_readme_of_its_own() {
    let crates = published();
    assert_eq!(crates.len(), 31, "the number of published crates");
    for folder in crates {
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let original = fs::read_to_string(folder.join("../..").join(licence)).unwrap();
            let copy = fs::read_to_string(folder.join(licence)).unwrap_or_default();
            assert!(
                copy == original,
                "{licence} of {} is that of the repository",
                folder.display()
            );
        }
        let name = folder.canonicalize().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")), "{readme}");
    }
}

#[test]
fn each_manifest_says_where_the_documentation_is() {
    for folder in published() {
        let name = folder.canonicalize().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for line in [
            format!("documentation = \"https://docs.rs/{name}\"").as_str(),
            "readme = \"README.md\"",
            "rust-version.workspace = true",
            "license.workspace = true",
            "keywords.workspace = true",
            "[package.metadata.docs.rs]",
        ] {
            assert!(manifest.lines().any(|found| found == line), "{name}: {line}");
        }
    }
}

/// The values of the lines `name = ...` in a section of a manifest, by name.
fn section(manifest: &str, title: &str) -> Vec<(String, String)> {
    let lines = manifest.lines().skip_while(|line| *line != format!("[{title}]")).skip(1);
    let entries =
        lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
    let split = entries.filter_map(|line| line.split_once(" = "));
    split.map(|(name, value)| (name.trim().to_owned(), value.to_owned())).collect()
}

#[test]
fn the_table_of_features_is_that_of_the_manifest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let features = section(&manifest, "features");
    let (_, default) = features.iter().find(|(name, _)| name == "default").unwrap();
    let mut expected: Vec<(String, bool)> = features
        .iter()
        .filter(|(name, _)| name != "default")
        .map(|(name, _)| (name.clone(), default.contains(&format!("\"{name}\""))))
        .collect();
    expected.sort();

    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = readme.lines().filter(|line| line.starts_with("| `"));
    let mut told: Vec<(String, bool)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert!(!cells[3].is_empty(), "{row}");
            (cells[1].trim_matches('`').to_owned(), cells[2] == "yes")
        })
        .collect();
    told.sort();
    assert_eq!(told, expected);
}

#[test]
fn the_badges_say_what_the_manifest_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let package = section(&manifest, "workspace.package");
    let value = |wanted: &str| {
        let (_, value) = package.iter().find(|(name, _)| name == wanted).unwrap();
        value.trim_matches('"').to_owned()
    };
    let licence = value("license").replace("OR", "or").replace('-', "--").replace(' ', "%20");
    for readme in ["README.md", "crates/indim/README.md"] {
        let readme = fs::read_to_string(root.join(readme)).unwrap();
        assert!(readme.contains(&format!("/badge/licence-{licence}-")), "{licence}");
        assert!(readme.contains(&format!("/badge/rust-{}%2B-", value("rust-version"))));
    }
}
