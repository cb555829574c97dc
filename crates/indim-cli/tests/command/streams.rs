//! Standard input and output: the oracle, readers that stop early, closed streams.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::run::{command, indim, indim_fed, indim_with_input};

#[test]
fn the_oracle_answers_line_by_line() {
    let input = concat!(
        concat!(
            r#"{"rule":"xla","op":"add","dims":[1],"#,
            r#""operands":[{"dtype":"f32","shape":[2,3]},{"dtype":"f32","shape":[3]}]}"#,
        ),
        "\n\nno case\n",
        r#"{"rule":"numpy","operands":[{"shape":[2,3]},{"shape":[2]}]}"#,
        "\n",
        concat!(
            r#"{"rule":"numpy","op":"add","operands":["#,
            r#"{"dtype":"f32","shape":[2],"data":[1,"inf"]},{"dtype":"f32","shape":[],"data":[0.1]}]}"#,
        ),
    );
    let run = indim_with_input(&["oracle"], input.as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let verdicts: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(verdicts.len(), 4);
    assert_eq!(
        verdicts[0],
        json!({"ok": true, "dtype": "f32", "shape": [2, 3], "maps": [[0, 1], [1]]})
    );
    assert_eq!((&verdicts[1]["ok"], &verdicts[1]["code"]), (&json!(false), &json!("bad-request")));
    assert_eq!(
        (&verdicts[2]["code"], &verdicts[2]["rule"]),
        (&json!("size-mismatch"), &json!("N2"))
    );
    assert_eq!(verdicts[3]["data"], json!([1.1, "inf"]));
}

#[test]
fn the_oracle_answers_before_the_next_case_comes() {
    let mut child = command()
        .arg("oracle")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut verdict = String::new();
    for size in 1..4 {
        let case = format!(r#"{{"rule":"none","operands":[{{"shape":[{size}]}}]}}"#);
        writeln!(input, "{case}").expect("written");
        verdict.clear();
        output.read_line(&mut verdict).expect("a verdict");
        assert!(verdict.contains(&format!("\"shape\":[{size}]")), "{verdict}");
    }
    drop(input);
    assert!(child.wait().expect("ends").success());
}

#[test]
fn the_oracle_takes_bytes_that_are_no_text() {
    let run = indim_with_input(&["oracle"], b"\xff\xfe\n{}\n");
    assert_eq!(run.code, Some(0));
    assert_eq!(run.stdout.lines().count(), 2);
    assert!(run.stdout.lines().all(|line| line.contains("bad-request")), "{}", run.stdout);
}

#[test]
fn an_empty_stream_has_no_verdicts() {
    let run = indim(&["oracle"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
}

/// A reader that closes its end after the first bytes, like `head -1`.
#[track_caller]
fn is_quiet_when_the_reader_leaves(arguments: &[&str], input: &[u8]) {
    let (mut child, writer) = indim_fed(arguments, input);
    let mut output = child.stdout.take().expect("a pipe");
    output.read_exact(&mut [0; 16]).expect("a beginning");
    drop(output);
    let finished = child.wait_with_output().expect("ends");
    let _ = writer.join().expect("no panic");
    assert_eq!(String::from_utf8_lossy(&finished.stderr), "");
    assert_eq!(finished.status.code(), Some(0));
}

#[test]
fn a_broken_pipe_is_no_error() {
    let text = "broadcast_to(1.5, [10, 10, 10])";
    is_quiet_when_the_reader_leaves(&["eval", text], b"");
    let bytes = "iota(f32, [1000000], axis=0)";
    is_quiet_when_the_reader_leaves(&["eval", bytes, "-o", "-"], b"");
    is_quiet_when_the_reader_leaves(&["explain", "x + y", "x=f32[2]", "y=f32[3,2]"], b"");
    let case = "{\"rule\":\"numpy\",\"operands\":[{\"shape\":[2,3]},{\"shape\":[3]}]}\n";
    is_quiet_when_the_reader_leaves(&["oracle"], case.repeat(10_000).as_bytes());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut command = command();
    command.args(["eval", "x", "x=1"]).stdout(full);
    let run = crate::run::finish(command.stderr(Stdio::piped()));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with("error[io]: standard output"), "{}", run.stderr);
}

#[test]
#[cfg(unix)]
fn a_closed_standard_input_is_no_panic() {
    for (script, code) in [("oracle <&-", 0), ("eval 1+1 <&-", 0), ("eval 1+1 >&- <&-", 0)] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("\"$0\" {script}")]).arg(crate::run::binary());
        let run = crate::run::finish(&mut shell);
        assert!(!run.stderr.contains("panicked"), "{script}: {}", run.stderr);
        assert_eq!(run.code, Some(code), "{script}: {}", run.stderr);
    }
}
