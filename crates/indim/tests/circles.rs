//! Import cycles between the files of a crate are at most three files long, so files can be read in import
//! order.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A file, as its folder names and its own name.
type Module = Vec<String>;

/// The largest number of files in one cycle.
const LARGEST_CIRCLE: usize = 3;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("sources").map(|entry| entry.expect("a file").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The module of a file; empty for the crate root.
fn module(source: &Path, path: &Path) -> Option<Module> {
    let path = path.strip_prefix(source).expect("below the sources").with_extension("");
    let mut names: Module =
        path.iter().map(|name| name.to_str().expect("UTF-8").to_owned()).collect();
    if names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    (names != ["lib"] && names != ["main"]).then_some(names)
}

/// Paths that begin with `crate` or `super`, resolved to names from the crate root.
fn named_paths(module: &Module, code: &str) -> Vec<Module> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let path = code[at..].split(|c| !is_part(c)).next().unwrap_or_default();
            let names = path.split("::").filter(|name| !name.is_empty());
            let climbed = names.clone().take_while(|name| *name == "super").count();
            let from = if start == "crate::" { 0 } else { module.len().saturating_sub(climbed) };
            let rest = names.filter(|name| !matches!(*name, "crate" | "super")).map(str::to_owned);
            paths.push(module[..from].iter().cloned().chain(rest).collect());
        }
    }
    paths
}

/// The files that each file of a crate names.
fn imports(crate_name: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("src");
    let sources: BTreeMap<Module, PathBuf> = files(&source)
        .into_iter()
        .filter_map(|path| Some((module(&source, &path)?, path)))
        .collect();
    let mut imports = BTreeMap::new();
    for (module, path) in &sources {
        let text = fs::read_to_string(path).expect("text");
        let code: Vec<&str> =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let is_file = |names: &Module| {
            (1..=names.len())
                .rev()
                .map(|length| names[..length].to_vec())
                .find(|names| sources.contains_key(names))
        };
        let named: BTreeSet<Module> =
            named_paths(module, &code.join("\n")).iter().filter_map(is_file).collect();
        imports.insert(module.clone(), named);
    }
    for (module, named) in &mut imports {
        named.remove(module);
    }
    imports
}

/// The modules that a module imports, directly or indirectly.
fn reached(from: &Module, imports: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from.clone()];
    while let Some(module) = next.pop() {
        for named in imports.get(&module).into_iter().flatten() {
            if reached.insert(named.clone()) {
                next.push(named.clone());
            }
        }
    }
    reached
}

/// The files that import a file and that it imports, directly or indirectly.
fn circle(module: &Module, imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Module> {
    let through = reached(module, imports);
    through.into_iter().filter(|other| reached(other, imports).contains(module)).collect()
}

#[test]
fn no_file_of_the_rules_names_itself_through_others() {
    let imports = imports("indim-shape");
    let module = |name: &str| vec![name.to_owned()];
    assert!(imports[&module("rule_set")].contains(&module("explicit")), "{imports:?}");
    assert!(reached(&module("picture"), &imports).contains(&module("shape")));
    for module in imports.keys() {
        assert!(circle(module, &imports).is_empty(), "{module:?} is in a circle");
    }
}

#[test]
fn circles_are_small() {
    let text = imports("indim-text");
    let parser = ["expression", "parser"].map(str::to_owned).to_vec();
    assert!(!circle(&parser, &text).is_empty(), "it names `call.rs`, which names it: {text:?}");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in fs::read_dir(crates).expect("the crates") {
        let folder = entry.expect("a crate").path();
        let crate_name = folder.file_name().and_then(OsStr::to_str).expect("UTF-8");
        let imports = imports(crate_name);
        for module in imports.keys() {
            let circle = circle(module, &imports);
            assert!(circle.len() <= LARGEST_CIRCLE, "{crate_name}: {circle:?}");
        }
    }
}
