//! Expressions of several statements and several results, printed and written to files.

use std::fs;

use crate::run::{Folder, command, f32_bytes, fails_with, finish, indim, npy, succeeds};

const RANGE: &str = "low = min(x); high = max(x)\nlow, high, x - low";

#[test]
fn several_results_are_printed_with_their_names() {
    let text = succeeds(&["eval", RANGE, "x=[[3,5],[4,7]]"]);
    assert_eq!(text, "low:\n3\nhigh:\n7\n2:\n[[0 2]\n [1 4]]\n");
    let json = succeeds(&["eval", RANGE, "x=[3,5]", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let data = |label: &str| json[label]["data"].to_string();
    assert_eq!([data("low"), data("high"), data("2")], ["[3]", "[5]", "[0,2]"]);
    fails_with("format", &["eval", RANGE, "x=[3,5]", "--format", "csv"]);
    assert_eq!(succeeds(&["eval", "m = sum(x); m", "x=[3,5]", "--format", "csv"]), "8\n");
    // A name that occurs twice gives two results.
    assert_eq!(succeeds(&["eval", "x, x", "x=1"]), "x:\n1\n1:\n1\n");
}

#[test]
fn results_are_written_to_files_by_their_names() {
    let folder = Folder::new();
    let option = |name: &str| format!("{name}={}", folder.file(&format!("{name}.npy")).display());
    let (low, range) = (option("low"), option("range"));
    let text = "low = min(x); high = max(x); range = high - low; (x - low) / range";
    succeeds(&["eval", text, "x=[3,5]", "-o", &low, "-o", &range]);
    assert_eq!(folder.names(), ["low.npy", "range.npy"]);
    assert_eq!(succeeds(&["eval", "low, range", &low, &range]), "low:\n3\nrange:\n2\n");
    // A single named result, also of an earlier statement.
    let high = option("high");
    succeeds(&["eval", text, "x=[3,5]", "-o", &high]);
    assert_eq!(succeeds(&["eval", "high", &high]), "5\n");
    let named = option("z");
    succeeds(&["eval", "z = x * 2", "x=3", "-o", &named]);
    assert_eq!(succeeds(&["eval", "z", &named]), "6\n");
}

#[test]
fn an_archive_takes_all_results() {
    let folder = Folder::new();
    let all = folder.file("all.npz").display().to_string();
    let member = |name: &str| succeeds(&["eval", "r", &format!("r={all}:{name}")]);
    succeeds(&["eval", RANGE, "x=[[3,5],[4,7]]", "-o", &all]);
    let read = ["low", "high", "arr_2"].map(member);
    assert_eq!(read, ["3\n", "7\n", "[[0 2]\n [1 4]]\n"]);
    // A result named like the default name of an unnamed one.
    succeeds(&["eval", "arr_0 = x * 2; x + 0, arr_0, arr_0", "x=3", "-o", &all]);
    assert_eq!(["arr_0_", "arr_0", "arr_2"].map(member), ["3\n", "6\n", "6\n"]);
    succeeds(&["eval", "z = x * 2; w = 1", "x=3", "-o", &format!("z={all}")]);
    assert_eq!(member("z"), "6\n");
    // A failed run leaves the old file.
    fails_with("unused-name", &["eval", "1, 2", "x=3", "-o", &all]);
    assert_eq!(member("z"), "6\n");
    assert_eq!(folder.names(), ["all.npz"]);
}

#[test]
fn a_file_whose_name_has_an_equals_sign() {
    let folder = Folder::new();
    let eval = |output: &str| {
        let mut command = command();
        finish(command.args(["eval", "a = 1", "-o", output]).current_dir(folder.path())).code
    };
    assert_eq!((eval("./a=1.npy"), eval("2=3.npy"), eval("a=1.npy")), (Some(0), Some(0), Some(0)));
    assert_eq!(folder.names(), ["1.npy", "2=3.npy", "a=1.npy"]);
}

#[test]
fn files_are_told_apart() {
    let folder = Folder::new();
    let path = |name: &str| folder.file(name).display().to_string();
    let write = |outputs: &[String]| {
        let mut arguments = vec!["eval".to_owned(), RANGE.to_owned(), "x=[3,5]".to_owned()];
        outputs.iter().for_each(|output| arguments.extend(["-o".to_owned(), output.clone()]));
        let run = indim(&arguments);
        assert_eq!(run.stdout, "");
        (run.code, run.stderr)
    };
    let (code, message) = write(&[path("x.npy")]);
    assert_eq!(code, Some(1));
    assert!(message.starts_with("error[several-results]: 3 results"), "{message}");
    assert!(message.contains("-o low=low.npy -o high=high.npy"), "{message}");
    let (low, high) = (format!("low={}", path("x.npy")), format!("high={}", path("./x.npy")));
    let (code, message) = write(&[low.clone(), high]);
    assert_eq!(code, Some(1));
    assert!(message.starts_with("error[duplicate-output]"), "{message}");
    let (code, message) = write(&[format!("hihg={}", path("x.npy"))]);
    assert_eq!(code, Some(1));
    assert!(message.starts_with("error[unknown-result]"), "{message}");
    assert!(message.contains("did you mean `high`?"), "{message}");
    for outputs in [
        [low.clone(), path("y.npy")],
        [low.clone(), format!("low={}", path("y.npy"))],
        ["low=-".to_owned(), "high=-".to_owned()],
    ] {
        assert_eq!(write(&outputs).0, Some(2), "{outputs:?}");
    }
    assert_eq!(folder.names(), [""; 0]);
}

/// A failed run leaves none of its files, and every old file unchanged.
#[test]
fn no_file_appears_unless_all_do() {
    let folder = Folder::new();
    let old = folder.file("low.npy");
    fs::write(&old, "old").expect("written");
    let low = format!("low={}", old.display());
    let high = format!("high={}", folder.file("no/such/high.npy").display());
    fails_with("io", &["eval", RANGE, "x=[3,5]", "-o", &low, "-o", &high]);
    // The second file is written after the first is complete, and rejects its bytes.
    #[cfg(target_os = "linux")]
    fails_with("io", &["eval", RANGE, "x=[3,5]", "-o", &low, "-o", "high=/dev/full"]);
    assert_eq!(fs::read_to_string(&old).expect("a file"), "old");
    assert_eq!(folder.names(), ["low.npy"]);
}

#[test]
fn statements_are_explained() {
    let text = "d = x - mean(x); s = d * 2; k = s + 1; d * d";
    let run = indim(&["explain", text, "x=f32[2,3]"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let note = |name| {
        format!("note[unused-value]: no result depends on `{name}`, so it is not computed\n")
    };
    assert_eq!(run.stderr, note("s") + &note("k"));
    // One subtraction, and the product of its result with itself.
    assert_eq!(run.stdout.matches("= sub(").count(), 1, "{}", run.stdout);
    let several = succeeds(&["explain", RANGE, "x=f32[2,3]", "--json"]);
    let several: serde_json::Value = serde_json::from_str(&several).expect("JSON");
    assert_eq!(several["outputs"].as_array().map(Vec::len), Some(3));
    let run = indim(&["explain", "m = 1; m = 2", "--json"]);
    assert!(run.stdout.starts_with(r#"{"error":{"code":"assigned-twice","#), "{}", run.stdout);
}

#[test]
fn mistakes_stand_in_their_line() {
    let message = indim(&["eval", "m = mean(x, axis=1)\nx - m", "x=[[1,2,3],[4,5,6]]"]).stderr;
    assert!(message.contains("`sub` cannot broadcast `m` onto `x`"), "{message}");
    assert!(message.contains(" 2 | x - m\n"), "{message}");
    fails_with("assigned-input", &["eval", "m = 2; x + m", "x=1", "m=2"]);
    fails_with("assigned-function", &["eval", "mean = mean(x); x - mean", "x=1"]);
    // The text is parsed before any file is opened.
    fails_with("unnamed-statement", &["eval", "x; x", "x=missing.npy"]);
    fails_with("unused-name", &["eval", "m = 2", "x=missing.npy"]);
}

/// Many results; each one is an output.
#[test]
fn many_results() {
    let folder = Folder::new();
    let binding = folder.bind("x", "x.npy", &npy("<f4", false, "(2,)", &f32_bytes(&[1.0, 2.0])));
    let text = (0..2000).map(|k| format!("x + {k}")).collect::<Vec<_>>().join(", ");
    let printed = succeeds(&["eval", &text, &binding]);
    assert!(printed.starts_with("0:\n[1. 2.]\n1:\n[2. 3.]\n"), "{}", &printed[..60]);
    assert_eq!(printed.lines().count(), 4000);
}
