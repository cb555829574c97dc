//! The file map: ARCHITECTURE.md names every crate, documents name only existing paths, items and project
//! commands, and link to existing files and headings, each file has a first line that describes it, the
//! page of each module names its files, and no crate is too large.

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

/// The documents that name files of the source by their paths from the root.
const MAPS: [(&str, usize); 4] = [
    ("ARCHITECTURE.md", 40),
    ("CONTRIBUTING.md", 60),
    ("docs/decisions/README.md", 15),
    ("docs/glossary.md", 1),
];

#[test]
fn documents_name_paths_that_exist() {
    for (map, min_paths) in MAPS {
        let text = fs::read_to_string(root().join(map)).unwrap();
        let quoted = text.split('`').skip(1).step_by(2);
        let paths: Vec<&str> = quoted
            .filter(|quoted| quoted.starts_with("crates/") && !quoted.contains(' '))
            .collect();
        assert!(paths.len() >= min_paths, "{map} names {} paths", paths.len());
        for path in paths {
            assert!(root().join(path).exists(), "{map} names {path}");
        }
    }
}

/// The Markdown files of the root, of `docs/` and of `docs/decisions/`, and the rules.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/decisions"].map(|folder| root().join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut documents: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    documents.push(root().join("crates/indim-shape/src/rules.md"));
    documents
}

/// In prose such as "`push` in `crates/indim-codegen/src/builder.rs`", the file contains the name.
#[test]
fn documents_name_items_that_exist() {
    let mut count = 0;
    for document in documents() {
        let text = prose(&fs::read_to_string(&document).unwrap());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let quoted: Vec<&str> = text.split('`').collect();
        for [item, between, path] in quoted.array_windows().skip(1).step_by(2) {
            if *between == " in " && path.starts_with("crates/") && path.ends_with(".rs") {
                let source = fs::read_to_string(root().join(path)).unwrap();
                let name = item.rsplit("::").next().unwrap_or_default();
                assert!(source.contains(name), "{}: no `{item}` in {path}", document.display());
                count += 1;
            }
        }
    }
    assert!(count >= 10, "documents name {count} items");
}

#[test]
fn documents_and_workflows_name_project_commands_that_exist() {
    let commands = fs::read_to_string(root().join("xtask/src/main.rs")).unwrap();
    let workflows: Vec<PathBuf> = fs::read_dir(root().join(".github/workflows"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yml"))
        .collect();
    assert!(!workflows.is_empty());
    for document in documents().into_iter().chain(workflows) {
        let text = fs::read_to_string(&document).unwrap();
        for rest in text.split("cargo xtask ").skip(1) {
            let name: String =
                rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            let is_known = commands.contains(&format!("Some(\"{name}\")"));
            assert!(is_known, "{}: `cargo xtask {name}`", document.display());
        }
    }
}

/// The lines of a document outside code blocks.
fn prose(document: &str) -> String {
    document.split("\n```").step_by(2).collect::<Vec<_>>().join("\n")
}

/// The targets of the links `[text](target)` in prose, without addresses of other hosts.
fn links(prose: &str) -> Vec<&str> {
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).collect()
}

/// The anchors of the headings of a document: lower case, hyphens for spaces, no punctuation.
fn anchors(prose: &str) -> Vec<String> {
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let titles = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let is_in_anchor =
        |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    titles
        .map(|title| title.chars().filter(is_in_anchor).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn documents_link_to_files_and_headings_that_exist() {
    let mut links_read = 0;
    for document in documents() {
        let text = prose(&fs::read_to_string(&document).unwrap());
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                document.clone()
            } else {
                document.parent().unwrap().join(path)
            };
            assert!(target.exists(), "{} links to {link}", document.display());
            links_read += 1;
            if !anchor.is_empty() {
                let target = prose(&fs::read_to_string(&target).unwrap());
                let found = anchors(&target).iter().any(|name| name == anchor);
                assert!(found, "{} links to {link}", document.display());
            }
        }
    }
    assert!(links_read > 100, "the links were read");
}

/// Every page of `docs/` is in its index.
#[test]
fn the_index_links_to_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let decisions = fs::read_to_string(root().join("docs/decisions/README.md")).unwrap();
    for document in documents() {
        let name = document.file_name().unwrap().to_str().unwrap();
        let is_decision = document.parent().unwrap().ends_with("decisions");
        let index = match is_decision {
            true => &decisions,
            false if document.parent().unwrap().ends_with("docs") => &index,
            false => continue,
        };
        let is_listed = name == "README.md" || index.contains(&format!("]({name})"));
        assert!(is_listed, "no index lists {}", document.display());
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

/// Maximum number of lines of code of a crate, without blank lines and comments.
/// `docs/decisions/crate-size.md` has the reasons.
const MAX_CRATE_LINES: usize = 7000;

/// The lines of a source that are neither blank nor comments.
fn code_lines(text: &str) -> usize {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn no_crate_is_too_large() {
    let mut all_lines = 0;
    for folder in crates() {
        let sources = files(&folder.join("src"));
        let lines: usize =
            sources.iter().map(|file| code_lines(&fs::read_to_string(file).unwrap())).sum();
        let name = folder.file_name().unwrap().display();
        assert!(
            lines <= MAX_CRATE_LINES,
            "{name} has {lines} lines of code, more than {MAX_CRATE_LINES}: split it"
        );
        all_lines += lines;
    }
    assert!(all_lines > 100_000, "the sources were read");
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
