//! Texts of files, names and arguments cannot control or flood the terminal.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::run::{Folder, f32_bytes, indim, npy};

/// Terminal escapes, 8-bit control characters, and a change of text direction.
const HOSTILE: &str = "a\u{1b}]0;owned\u{7}\u{1b}[31mb\rc\u{9b}2Jd\u{202e}e\u{8}f";

/// Standard error of a failing run, which must have no control characters.
#[track_caller]
fn harmless(arguments: &[&str]) -> String {
    let run = indim(arguments);
    assert!(matches!(run.code, Some(1 | 2)), "{run:?}");
    let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!run.stderr.contains(steers), "{:?}", run.stderr);
    assert!(!run.stdout.contains(steers), "{:?}", run.stdout);
    assert!(run.stderr.len() < 10_000, "{} bytes", run.stderr.len());
    run.stderr
}

fn archive(member: &str) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file(member, SimpleFileOptions::default()).expect("a member");
    archive.write_all(&npy("<f4", false, "(1,)", &f32_bytes(&[1.0]))).expect("written");
    archive.finish().expect("an archive").into_inner()
}

#[test]
fn names_of_files_and_what_they_hold() {
    let folder = Folder::new();
    let path = |name: &str| folder.file(name).to_str().expect("UTF-8").to_owned();
    let missing = format!("x={}", path(&format!("{HOSTILE}.npy")));
    assert!(harmless(&["eval", "x", &missing]).contains("\\u{1b}]0;owned"));
    let lines = format!("x={}", path("first\nerror[second]: line.npy"));
    assert_eq!(harmless(&["eval", "x", &lines]).lines().count(), 1);
    let descr = folder.bind("x", "x.npy", &npy(HOSTILE, false, "(1,)", &[0; 4]));
    assert!(harmless(&["eval", "x", &descr]).starts_with("error[unknown-element-type]"));
    let members = folder.bind("x", "x.npz", &archive(HOSTILE));
    for binding in [members.clone(), format!("{members}:y"), format!("{members}:{HOSTILE}z")] {
        harmless(&["eval", "x", &binding]);
        harmless(&["explain", "x", &binding]);
    }
    let output = path(&format!("{HOSTILE}/r.npy"));
    harmless(&["eval", "1", "-o", &output]);
    harmless(&["explain", "x", "x=f32[2]", "--svg", &format!("{output}.svg")]);
}

#[test]
fn arguments() {
    for arguments in [
        &["eval", "x", "x=1", &format!("{HOSTILE}=1")][..],
        &["eval", "x", HOSTILE],
        &["eval", "x", &format!("x={HOSTILE}")],
        &["eval", "x", &format!("x=[{HOSTILE}]")],
        &["eval", "x", "x=1", &format!("{HOSTILE}=1"), &format!("{HOSTILE}=1")],
        &["eval", HOSTILE, "x=1"],
        &["eval", "x", "x=1", "--rule", HOSTILE],
        &["eval", "x", "x=1", "--memory-limit", HOSTILE],
        &["eval", "x", "x=1", &format!("--{HOSTILE}")],
        &[HOSTILE],
        &["explain", HOSTILE],
        &["explain", "x", &format!("x={HOSTILE}")],
        &["explain", "x", &format!("x={HOSTILE}[2]"), "--json"],
        &["explain", "--rule", HOSTILE, "2,3", "3"],
        &["convert", "--from", "numpy", "--to", "xla", HOSTILE],
        &["convert", "--from", "xla", "--dims", HOSTILE, "--to", "numpy", "2,3"],
        &["oracle", "--limit-elements", HOSTILE],
    ] {
        harmless(arguments);
    }
}

#[test]
fn long_arguments_are_not_echoed_whole() {
    let long = "s".repeat(100_000);
    for arguments in [
        &["eval", &format!("{long}(x)"), "x=1"][..],
        &["eval", "x", "x=1", &format!("{long}=1")],
        &["eval", "x", &format!("x={long}")],
        &["eval", "x", &long],
        &["eval", "x", "x=1", "--rule", &long],
        &["explain", &long],
        &["explain", "x", &format!("x={long}[2]")],
    ] {
        harmless(arguments);
    }
}
