//! Files of a crate do not import each other in a circle, so that each can be read after those it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// For each file of a crate whose modules lie in one folder, the modules that it names.
fn imports(crate_name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("src");
    let mut imports = BTreeMap::new();
    for entry in fs::read_dir(source).expect("the crate has sources") {
        let path = entry.expect("a file").path();
        let is_module = path.extension().is_some_and(|extension| extension == "rs");
        let module = path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
        if !is_module || module == "lib" {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let named = code.flat_map(|line| line.split("crate::").skip(1)).filter_map(|rest| {
            rest.split_once("::").map(|(name, _)| name.to_owned()).filter(|name| *name != module)
        });
        imports.insert(module.clone(), named.collect());
    }
    imports
}

/// What a module names, and what that names, and so on.
fn reached(from: &str, imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from.to_owned()];
    while let Some(module) = next.pop() {
        for named in imports.get(&module).into_iter().flatten() {
            if reached.insert(named.clone()) {
                next.push(named.clone());
            }
        }
    }
    reached
}

#[test]
fn no_file_of_the_rules_names_itself_through_others() {
    let imports = imports("indim-shape");
    assert!(imports["rule_set"].contains("explicit"), "{imports:?}");
    assert!(reached("picture", &imports).contains("shape"));
    for module in imports.keys() {
        assert!(!reached(module, &imports).contains(module), "{module} is in a circle");
    }
}
