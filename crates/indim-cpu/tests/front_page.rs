//! The page of each crate's root names the files and folders that hold unsafe code, and no others. A crate
//! without such a list forbids unsafe code.

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
    let (mut with_list, mut without_list) = (0, 0);
    for entry in fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
        let root = root.iter().find(|root| root.exists()).expect("a root");
        let text = fs::read_to_string(root).unwrap();
        let named = named_paths(&source, &text);
        if named.is_empty() {
            without_list += 1;
            // The exports of the site have unmangled names, which `forbid` counts as unsafe code.
            let level = if source.ends_with("indim-web/src") { "deny" } else { "forbid" };
            let attribute = format!("#![{level}(unsafe_code)]");
            assert!(text.contains(&attribute), "{} lacks {attribute}", root.display());
        } else {
            with_list += 1;
        }
        check(&source, &named);
    }
    assert!(
        with_list >= 7 && without_list >= 15,
        "{with_list} pages with a list, {without_list} without"
    );
}

/// The paths that the page of a root lists.
fn named_paths(source: &Path, text: &str) -> Vec<PathBuf> {
    let page: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let page = page.join(" ");
    let list = page.split_once("Unsafe code stands only in").map_or("", |(_, list)| list);
    let list = list.split_once(". ").map_or(list, |(sentence, _)| sentence);
    list.split('`').skip(1).step_by(2).map(|name| source.join(name)).collect()
}

/// Compares the files that hold unsafe code with the named ones.
fn check(source: &Path, named: &[PathBuf]) {
    let unsafe_files: Vec<PathBuf> =
        files(source).into_iter().filter(|file| has_unsafe_code(file)).collect();
    for file in &unsafe_files {
        let is_named = named.iter().any(|name| file.starts_with(name));
        assert!(is_named, "{} holds unsafe code", file.display());
    }
    for name in named {
        let is_needed = unsafe_files.iter().any(|file| file.starts_with(name));
        assert!(is_needed, "{} holds none", name.display());
    }
}
