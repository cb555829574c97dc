//! The file map: ARCHITECTURE.md names every crate and only existing paths, each file has a first line that
//! describes it, and the page of each module names its files.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Rust files in `folder` and below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

fn crates() -> Vec<PathBuf> {
    let folders: Vec<PathBuf> =
        fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(folders.len() > 20, "the crates were found");
    folders
}

/// The `//!` lines at the beginning of a file.
fn page(text: &str) -> String {
    text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n")
}

#[test]
fn architecture_names_paths_that_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|quoted| quoted.starts_with("crates/") && !quoted.contains(' '))
        .collect();
    assert!(paths.len() > 40, "the paths were read");
    for path in paths {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}");
    }
}

#[test]
fn architecture_has_a_row_for_each_crate() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for folder in crates() {
        let quoted = format!("`{}`", folder.file_name().unwrap().to_str().unwrap());
        let has_row = text.lines().any(|line| {
            line.strip_prefix("| ")
                .and_then(|row| row.split(" |").next())
                .is_some_and(|cell| cell.contains(&quoted))
        });
        assert!(has_row, "no row of ARCHITECTURE.md begins with {quoted}");
    }
}

#[test]
fn each_file_says_what_it_contains() {
    for folder in crates() {
        for file in files(&folder.join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            let first = text.lines().next().unwrap_or_default();
            let says = first.strip_prefix("//! ").is_some_and(|line| line.len() > 5);
            assert!(
                says,
                "{} begins with `{first}`, not with a line on its contents",
                file.display()
            );
        }
    }
}

/// The modules that `page_file` declares in files of their own: `name.rs` or `name/`, as its page writes
/// them.
fn modules(page_file: &Path, text: &str) -> Vec<String> {
    let folder = page_file.parent().unwrap();
    let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| page_file.ends_with(name));
    let folder = if is_root { folder.to_owned() } else { page_file.with_extension("") };
    let declared = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
        let line = line.strip_prefix("pub(super) ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    declared
        .filter_map(|name| match (folder.join(format!("{name}.rs")), folder.join(name)) {
            (_, nested) if nested.is_dir() => Some(format!("{name}/")),
            (file, _) if file.exists() => Some(format!("{name}.rs")),
            _ => None, // a file elsewhere, by `#[path]`: a unit test
        })
        .collect()
}

#[test]
fn the_page_of_a_module_names_its_files() {
    let mut missing = Vec::new();
    for folder in crates() {
        for file in files(&folder.join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            let page = page(&text);
            for module in modules(&file, &text) {
                let stem = module.trim_end_matches(".rs").trim_end_matches('/');
                let names = [format!("`{stem}.rs`"), format!("`{stem}/`"), format!("[`{stem}`]")];
                if !names.iter().any(|name| page.contains(name.as_str())) {
                    missing.push(format!("{}: {module}", file.display()));
                }
            }
        }
    }
    let missing = missing.join("\n");
    assert!(missing.is_empty(), "pages that do not name a file of theirs:\n{missing}");
}
