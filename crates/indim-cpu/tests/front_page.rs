//! The front pages of this crate, of the kernels and of machine code name the files and folders that hold
//! unsafe code, and no others.

use std::fs;
use std::path::{Path, PathBuf};

/// The files in the folder and below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn has_unsafe_code(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap();
    let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.any(|line| ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|it| line.contains(it)))
}

#[test]
fn unsafe_code_stands_where_the_front_page_says() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    check(&crates.join("indim-arrays/src"), 5);
    check(&crates.join("indim-cpu/src"), 8);
    check(&crates.join("indim-kernels/src"), 1);
    check(&crates.join("indim-products/src"), 7);
    check(&crates.join("indim-executors/src"), 10);
    check(&crates.join("indim-targets/src"), 3);
}

/// Checks the front page of this source, which names at least `least` paths.
fn check(source: &Path, least: usize) {
    let page = fs::read_to_string(source.join("lib.rs")).unwrap();
    let (_, list) = page.split_once("Unsafe code stands only in").unwrap();
    let (list, _) = list.split_once("#![").unwrap();
    let list = list.split_once("of the other").map_or(list, |(own, _)| own);
    let named: Vec<PathBuf> = list.split('`').skip(1).step_by(2).map(|n| source.join(n)).collect();
    assert!(named.len() >= least, "the list was read");
    let unsafe_files: Vec<PathBuf> =
        files(source).into_iter().filter(|file| has_unsafe_code(file)).collect();
    for file in &unsafe_files {
        let is_named = named.iter().any(|name| file.starts_with(name));
        assert!(is_named, "{} holds unsafe code", file.display());
    }
    for name in &named {
        let is_needed = unsafe_files.iter().any(|file| file.starts_with(name));
        assert!(is_needed, "{} holds none", name.display());
    }
}
