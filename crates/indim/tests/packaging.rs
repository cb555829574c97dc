//! What each published crate brings along: licences, a README, and where its documentation is.

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
    assert_eq!(crates.len(), 21);
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
