//! The pages: the fragments of `site/` in one frame, and the documents with their list.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::address::to_root;
use super::markdown::{Document, DocumentPage, RenderedDocument, escaped};

/// Documents that come first, in this order; the others of `docs/` follow by name.
const FIRST_DOCUMENTS: [&str; 6] = [
    "crates/indim-shape/src/rules.md",
    "docs/expressions.md",
    "docs/ops.md",
    "docs/python.md",
    "crates/indim/src/guide.rs",
    "docs/numpy-differences.md",
];

/// The files that are copied unchanged.
const FILES: [&str; 12] = [
    "icon.svg",
    "style.css",
    "docs.css",
    "module.js",
    "page.js",
    "state.js",
    "drawing.js",
    "explore.js",
    "expressions.js",
    "live.js",
    "models.js",
    "models-worker.js",
];

/// The script modules that all pages with scripts share.
const SHARED_MODULES: [&str; 4] = ["module.js", "page.js", "drawing.js", "state.js"];

/// A page of the site.
struct Page<'a> {
    /// Path from the root of the site.
    path: &'a str,
    title: &'a str,
    description: &'a str,
    /// The entry of the frame's navigation bar that leads to the page: `explore`, `docs`.
    at: &'a str,
    /// Stylesheets and scripts beyond those of every page, and the WebAssembly module that the page
    /// needs.
    files: &'a [&'a str],
    body: &'a str,
}

/// Writes all pages and their files, except the WebAssembly modules.
pub(crate) fn write(root: &Path, output: &Path) -> io::Result<()> {
    let source = root.join("site");
    std::fs::create_dir_all(output.join("docs/decisions"))?;
    for file in FILES {
        std::fs::copy(source.join(file), output.join(file))
            .map_err(|error| io::Error::other(format!("site/{file}: {error}")))?;
    }
    let frame = read(&source.join("frame.html"))?;
    let write_page =
        |page: &Page<'_>| std::fs::write(output.join(page.path), page.in_frame(&frame));
    write_page(&Page {
        path: "index.html",
        title: "Explore broadcasting",
        description: "Shapes and a rule of NumPy, XLA, ONNX, OpenVINO or Paddle: see what broadcasts.",
        at: "explore",
        files: &["explore.js", "rules.wasm"],
        body: &read(&source.join("explore.html"))?,
    })?;
    write_page(&Page {
        path: "expressions.html",
        title: "Expressions",
        description: "Array expressions with each broadcast drawn, their loops, and their results.",
        at: "expressions",
        files: &["expressions.js", "expressions.wasm"],
        body: &read(&source.join("expressions.html"))?,
    })?;
    write_page(&Page {
        path: "models.html",
        title: "Models",
        description: "Nodes, types and findings of a model in ONNX, OpenVINO IR, StableHLO or HLO.",
        at: "models",
        // The worker loads its module itself: a page cannot fetch it in advance for a worker.
        files: &["models.js"],
        body: &read(&source.join("models.html"))?,
    })?;
    copy_folder(&source.join("models"), &output.join("models"))?;
    documents(root, &write_page)
}

/// Copies the files of a folder.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The gallery and the documentation.
fn documents(root: &Path, write_page: &impl Fn(&Page<'_>) -> io::Result<()>) -> io::Result<()> {
    let paths = paths(root)?;
    let mut texts =
        BTreeMap::from([("site/gallery.md".to_owned(), read(&root.join("site/gallery.md"))?)]);
    for path in &paths {
        texts.insert(path.clone(), text_of(&root.join(path))?);
    }
    let page_of = |(path, text): (&String, &String)| {
        (path.clone(), DocumentPage::new(&site_path(path), text))
    };
    let pages: BTreeMap<String, DocumentPage> = texts.iter().map(page_of).collect();
    let render = |path: &str| {
        Document { path, page: &pages[path].page, text: &texts[path], pages: &pages }.render()
    };
    let gallery = render("site/gallery.md");
    write_page(&Page {
        path: "gallery.html",
        title: &gallery.title,
        description: "Worked examples of broadcasting that you can change.",
        at: "gallery",
        files: &["docs.css", "live.js"],
        body: &format!("<main id=\"main\" class=\"page gallery\">{}</main>", gallery.html),
    })?;
    let rendered: Vec<RenderedDocument> = paths.iter().map(|path| render(path)).collect();
    let listed: Vec<(&str, &str)> = paths
        .iter()
        .zip(&rendered)
        .map(|(path, document)| (pages[path].page.as_str(), document.title.as_str()))
        .collect();
    for ((page, title), document) in listed.iter().zip(&rendered) {
        write_page(&Page {
            path: page,
            title,
            description: title,
            at: "docs",
            files: if document.has_examples { &["docs.css", "live.js"] } else { &["docs.css"] },
            body: &document_body(page, &listed, document),
        })?;
    }
    write_page(&Page {
        path: "docs/index.html",
        title: "Documentation",
        description: "What indim computes, by which rules, and why.",
        at: "docs",
        files: &["docs.css"],
        body: &index_body(&listed),
    })
}

/// The documents of the site, in their order.
fn paths(root: &Path) -> io::Result<Vec<String>> {
    let mut paths: Vec<String> = FIRST_DOCUMENTS.map(str::to_owned).to_vec();
    for folder in ["docs", "docs/decisions"] {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(root.join(folder))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            if name.ends_with(".md") && !paths.contains(&path) {
                found.push(path);
            }
        }
        // The list of decisions precedes them.
        found.sort_by_key(|path| (!path.ends_with("README.md"), path.clone()));
        paths.append(&mut found);
    }
    Ok(paths)
}

/// The path of a document on the site.
fn site_path(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    match path.strip_prefix("docs/decisions/") {
        None if path.starts_with("site/") => format!("{stem}.html"),
        Some("README.md") => "docs/decisions/index.html".to_owned(),
        Some(_) => format!("docs/decisions/{stem}.html"),
        None => format!("docs/{stem}.html"),
    }
}

/// The text of a document; for a Rust file, its documentation.
fn text_of(path: &Path) -> io::Result<String> {
    let text = read(path)?;
    if path.extension().is_none_or(|extension| extension != "rs") {
        return Ok(text);
    }
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    // Its headings begin at the first level, which is the title of a page.
    let shown = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).map(|line| {
        let is_heading =
            line.starts_with("# ") && line.chars().nth(2).is_some_and(char::is_uppercase);
        format!("{}{line}\n", if is_heading { "#" } else { "" })
    });
    Ok(format!("# Guide for Rust\n\n{}", shown.collect::<String>()))
}

fn document_body(page: &str, listed: &[(&str, &str)], document: &RenderedDocument) -> String {
    let sections: String = document
        .sections
        .iter()
        .map(|(id, text)| format!("<li><a href=\"#{}\">{}</a></li>", escaped(id), escaped(text)))
        .collect();
    let contents = match document.sections.len() {
        0..=2 => String::new(),
        _ => format!(
            "<nav class=\"contents\" aria-label=\"On this page\"><h2>On this page</h2>\
             <ul>{sections}</ul></nav>"
        ),
    };
    let list = list(page, listed);
    format!(
        "<div class=\"documents\"><nav class=\"list\" aria-label=\"Documentation\">{list}</nav>\
         <main id=\"main\" class=\"page\"><article>{}</article></main>{contents}</div>",
        document.html
    )
}

fn index_body(listed: &[(&str, &str)]) -> String {
    format!(
        "<main id=\"main\" class=\"page index\"><h1>Documentation</h1>\
         <p>Examples that are expressions or cases of rules can be tried where they stand.</p>{}</main>",
        list("docs/index.html", listed)
    )
}

/// The list of documents, with a separate list of decisions.
fn list(page: &str, listed: &[(&str, &str)]) -> String {
    let root = to_root(page);
    let item = |(to, title): &(&str, &str)| {
        let current = if *to == page { " aria-current=\"page\"" } else { "" };
        format!("<li><a href=\"{root}{to}\"{current}>{}</a></li>", escaped(title))
    };
    let is_decision = |(to, _): &&(&str, &str)| to.starts_with("docs/decisions/");
    let documents: String = listed.iter().filter(|entry| !is_decision(entry)).map(item).collect();
    let decisions: String = listed.iter().filter(is_decision).map(item).collect();
    let is_open =
        if page.starts_with("docs/decisions/") || page == "docs/index.html" { " open" } else { "" };
    format!(
        "<ul>{documents}</ul><details{is_open}><summary>Decisions</summary><ul>{decisions}</ul></details>"
    )
}

/// The reference to a file in the head of a page. Browsers fetch files that scripts request in parallel with
/// the scripts.
fn link(root: &str, file: &str) -> String {
    match file.rsplit('.').next() {
        Some("css") => format!("<link rel=\"stylesheet\" href=\"{root}{file}\">"),
        Some("wasm") => {
            format!("<link rel=\"preload\" as=\"fetch\" crossorigin href=\"{root}{file}\">")
        }
        _ if SHARED_MODULES.contains(&file) => {
            format!("<link rel=\"modulepreload\" href=\"{root}{file}\">")
        }
        _ => format!("<script type=\"module\" src=\"{root}{file}\"></script>"),
    }
}

impl Page<'_> {
    fn in_frame(&self, frame: &str) -> String {
        let root = to_root(self.path);
        let has_script = self.files.iter().any(|file| file.ends_with(".js"));
        let shared = if has_script { &SHARED_MODULES[..] } else { &[] };
        let links = self.files.iter().chain(shared).map(|file| link(&root, file));
        let mut page = frame.replace("{{title}}", &escaped(self.title));
        page = page.replace("{{description}}", &escaped(self.description));
        page = page.replace("{{head}}", &links.collect::<String>());
        for at in ["explore", "expressions", "models", "gallery", "docs"] {
            let current = if at == self.at { " aria-current=\"page\"" } else { "" };
            page = page.replace(&format!("{{{{at {at}}}}}"), current);
        }
        // Last, so that no document can fill a placeholder of the frame.
        page.replace("{{root}}", &root).replace("{{body}}", self.body)
    }
}

fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}
