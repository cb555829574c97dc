//! The console examples of the README and of `docs/` give the output that is shown.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Folder;

/// A command, and the output that the document shows for it.
struct Example {
    command: String,
    output: String,
}

fn examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut in_block = false;
    let mut continues = false;
    for line in document.lines() {
        if line.starts_with("```") {
            in_block = line == "```console";
        } else if let (true, Some(command)) = (in_block, line.strip_prefix("$ ")) {
            examples.push(Example { command: command.to_owned(), output: String::new() });
            continues = command.ends_with('\\');
        } else if let (true, Some(example)) = (in_block, examples.last_mut()) {
            let text = if continues { &mut example.command } else { &mut example.output };
            text.push('\n');
            text.push_str(line);
            continues &= line.ends_with('\\');
        }
    }
    examples
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the examples of a document in a folder with the data; there must be at least `least`.
fn run_examples(document: &str, min_examples: usize) -> Folder {
    let root = root();
    let text = std::fs::read_to_string(root.join(document)).expect("the document");
    let folder = Folder::new();
    std::fs::create_dir(folder.file("data")).expect("a folder");
    for entry in std::fs::read_dir(root.join("data")).expect("data") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), folder.file("data").join(entry.file_name())).expect("copied");
    }
    let binaries = crate::run::binary().parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let examples = examples(&text);
    assert!(examples.len() >= min_examples, "{document} has examples");
    for Example { command, output } in examples {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]);
        let run = crate::run::finish(shell.env("PATH", &path).current_dir(folder.path()));
        // An example without output is only run, because its output varies.
        if output.trim().is_empty() {
            assert_eq!(run.code, Some(0), "{command}\n{}", run.stdout);
        } else {
            assert_eq!(run.stdout.trim(), output.trim(), "{command}");
        }
    }
    folder
}

#[test]
fn examples_do_what_the_readme_says() {
    let folder = run_examples("README.md", 5);
    assert!(folder.names().contains(&"standardised.npy".to_owned()));
    let drawn = std::fs::read_to_string(folder.file("broadcast.svg")).expect("a drawing");
    let shown =
        std::fs::read_to_string(root().join("docs/images/broadcast.svg")).expect("the image");
    assert_eq!(drawn, shown, "the README's image is what `explain` draws");
}

#[test]
fn examples_do_what_the_pages_say() {
    run_examples("docs/command-line.md", 12);
    run_examples("docs/larger-than-memory.md", 7);
    run_examples("docs/files.md", 7);
    run_examples("docs/literals.md", 11);
    run_examples("docs/oracle.md", 6);
    run_examples("docs/storage-types.md", 2);
    run_examples("docs/numpy-differences.md", 29);
}
