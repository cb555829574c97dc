//! The table of ARCHITECTURE.md names every file of the core crates, or a folder around it, and nothing
//! that is not there.

use std::fs;
use std::path::{Path, PathBuf};

/// The files in the folder and below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The paths in backticks of one line of the table; a bare name stands in the folder of the path before it.
fn paths(line: &str) -> Vec<String> {
    let mut folder = String::new();
    let mut paths = Vec::new();
    for quoted in line.split('`').skip(1).step_by(2) {
        if quoted.starts_with("crates/") {
            folder = quoted[..=quoted.rfind('/').unwrap()].to_owned();
            paths.push(quoted.to_owned());
        } else if !folder.is_empty() && quoted.contains(['.', '/']) {
            paths.push(format!("{folder}{quoted}"));
        }
    }
    paths
}

#[test]
fn the_table_is_complete_and_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let named: Vec<PathBuf> = page
        .lines()
        .filter(|line| line.starts_with("| "))
        .flat_map(paths)
        .map(|path| root.join(path))
        .collect();
    assert!(named.len() > 40, "the table was read");
    for path in &named {
        assert!(path.exists(), "{} is in the table of ARCHITECTURE.md", path.display());
    }
    for name in [
        "indim-shape",
        "indim-ops",
        "indim-graph",
        "indim-builder",
        "indim-text",
        "indim-model",
        "indim-xla",
        "indim-openvino",
        "indim-onnx",
        "indim-formats",
        "indim-loops",
        "indim-kernels",
        "indim-codegen",
        "indim-targets",
        "indim-arrays",
        "indim-stores",
        "indim-stream",
        "indim-cpu",
        "indim-macros",
        "indim-web",
        "indim",
    ] {
        for file in files(&root.join("crates").join(name).join("src")) {
            let is_named =
                file.ends_with("src/lib.rs") || named.iter().any(|n| file.starts_with(n));
            assert!(is_named, "{} is not in the table of ARCHITECTURE.md", file.display());
        }
    }
}
