//! Check of line lengths: at most 110 columns, so that two files fit next to each other.

use std::path::{Path, PathBuf};

/// Maximum columns of a source line.
const MAX_COLUMNS: usize = 110;

/// Folders of hand-written sources.
const FOLDERS: [&str; 5] = ["crates", "bench", "fuzz", "site", "xtask"];

/// Whether no source line is too long; prints those that are.
pub(crate) fn check(root: &Path) -> bool {
    let mut is_fine = true;
    for path in FOLDERS.iter().flat_map(|folder| sources(&root.join(folder))) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                is_fine = false;
                continue;
            }
        };
        for (index, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > MAX_COLUMNS {
                let (file, line) = (path.display(), index + 1);
                eprintln!("{file}:{line}: {columns} columns, more than {MAX_COLUMNS}");
                is_fine = false;
            }
        }
    }
    is_fine
}

/// The Rust and Python sources in a folder and below it, without the generated stubs.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let below = |path: PathBuf| match path.is_dir() {
        true if path.ends_with("target") => Vec::new(),
        true => sources(&path),
        false => vec![path],
    };
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "rs" || extension == "py")
    };
    paths.flat_map(below).filter(is_source).collect()
}
