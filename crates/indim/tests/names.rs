//! One concept, one name: a type does not repeat the name of a public type of a crate that its crate builds
//! on, and no two crates have a public type of the same name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names that recur, with the crates that define them. `docs/decisions/names.md` has the reasons.
const RECURRING: [(&str, &[&str]); 3] = [
    ("Attribute", &["indim-openvino", "indim-shape"]),
    ("Attributes", &["indim-shape", "indim-xla"]),
    ("Literal", &["indim-graph", "indim-xla"]),
];

/// The crate whose types stand for those of the same name in calls from Python. It has no public Rust API.
const PYTHON: &str = "indim-py";

/// A type definition.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    crate_name: String,
    file: PathBuf,
    is_public: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates")
}

/// The Rust files in `folder` and below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The name of the type that a line defines at the top level of a file, and whether it is public.
fn defined_type(line: &str) -> Option<(&str, bool)> {
    let (rest, is_public) = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (rest.split_once(") ")?.1, false),
        Some(rest) => (rest.strip_prefix(' ')?, true),
        None => (line, false),
    };
    let keywords = ["struct ", "enum ", "trait ", "type ", "union "];
    let name = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
    Some((&name[..end], is_public))
}

/// The types of every crate, by name.
fn types() -> BTreeMap<String, BTreeSet<Definition>> {
    let mut types: BTreeMap<String, BTreeSet<Definition>> = BTreeMap::new();
    for entry in fs::read_dir(root()).unwrap() {
        let folder = entry.unwrap().path();
        let crate_name = folder.file_name().unwrap().to_str().unwrap();
        if crate_name == PYTHON {
            continue;
        }
        for file in files(&folder.join("src")) {
            for (name, is_public) in
                fs::read_to_string(&file).unwrap().lines().filter_map(defined_type)
            {
                let definition =
                    Definition { crate_name: crate_name.to_owned(), file: file.clone(), is_public };
                types.entry(name.to_owned()).or_default().insert(definition);
            }
        }
    }
    types
}

/// The crates of this workspace that a manifest names as dependencies.
fn dependencies(crate_name: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join(crate_name).join("Cargo.toml")).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split([' ', '.', '=']).next());
    names.filter(|name| name.starts_with("indim")).map(str::to_owned).collect()
}

/// The crates that a crate builds on, directly or not.
fn foundations(crate_name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = dependencies(crate_name);
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            open.extend(dependencies(&name));
        }
    }
    found
}

#[test]
fn a_type_has_a_name_of_its_own() {
    let types = types();
    assert!(types.len() > 1000, "the types were read");
    assert!(foundations("indim").len() > 15, "the manifests were read");
    let mut clashes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, definitions) in &types {
        for public in definitions.iter().filter(|definition| definition.is_public) {
            for other in definitions.iter().filter(|&other| other != public) {
                let is_visible = other.crate_name == public.crate_name
                    || foundations(&other.crate_name).contains(&public.crate_name);
                if other.is_public || is_visible {
                    let crates = [public.crate_name.as_str(), other.crate_name.as_str()];
                    clashes.entry(name).or_default().extend(crates);
                }
            }
        }
    }
    let recurring: BTreeMap<&str, BTreeSet<&str>> =
        RECURRING.iter().map(|&(name, crates)| (name, crates.iter().copied().collect())).collect();
    assert_eq!(clashes, recurring, "names of several types: rename the later one");
}
