//! `--timing`: the phases that a command reports.

use crate::run::{Folder, indim};

/// The phases in a line of output, each with a time.
fn phases(stderr: &str) -> Vec<String> {
    let line = stderr.strip_prefix("note: ").unwrap_or_default().trim_end();
    let (each, total) = line.split_once("; in all ").unwrap_or_default();
    let time = |text: &str| text.strip_suffix(" ms").and_then(|number| number.parse::<f64>().ok());
    assert!(time(total).is_some_and(|total| total > 0.0), "{stderr}");
    let phase = |text: &str| {
        let at = text.find(|c: char| c.is_ascii_digit()).unwrap_or_default();
        assert!(time(&text[at..]).is_some(), "{stderr}");
        text[..at].trim_end().to_owned()
    };
    each.split(", ").map(phase).collect()
}

#[test]
fn phases_are_said_on_standard_error() {
    let run = indim(&["eval", "x * 2", "x=[1,2]", "--timing"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "[2 4]\n"));
    assert_eq!(phases(&run.stderr), ["open", "compile", "read", "compute", "write"]);
    let folder = Folder::new();
    let output = folder.file("y.npy");
    let run =
        indim(&["eval", "x * 2", "x=[1,2]", "--timing", "-o", output.to_str().expect("UTF-8")]);
    assert_eq!(phases(&run.stderr), ["open", "compile", "read", "compute", "write"]);
    assert_eq!(indim(&["eval", "x * 2", "x=[1,2]"]).stderr, "");
}
