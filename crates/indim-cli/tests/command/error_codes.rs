//! The examples in the table of error codes raise their errors.

use std::process::Command;

use indim_shape::{ErrorCode, ErrorExample};

use crate::run::{Folder, Run, binary, finish};

/// Codes that no command raises: their examples are in words.
const CODES_WITHOUT_COMMAND: usize = 58;

/// Runs lines of a shell in an empty folder.
fn run_lines(lines: &[&str]) -> Run {
    let folder = Folder::new();
    let binaries = binary().parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &lines.join("\n")]).stdin(std::process::Stdio::null());
    finish(shell.env("PATH", path).current_dir(folder.path()))
}

/// Whether a run ends with the drawn error, or with the oracle's verdict of this code.
fn raises(run: &Run, code: ErrorCode) -> bool {
    run.stderr.contains(&format!("error[{code}]: "))
        || run.stdout.contains(&format!(r#""code":"{code}""#))
}

#[test]
fn examples_raise_their_codes() {
    let mut without_command = 0;
    let mut failures = Vec::new();
    for code in ErrorCode::all() {
        let ErrorExample::Command(lines) = code.entry().example else {
            without_command += 1;
            continue;
        };
        let run = run_lines(lines);
        if !raises(&run, code) {
            failures.push(format!("{code}: {}\n{}{}", lines.join("\n"), run.stdout, run.stderr));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert_eq!(
        without_command, CODES_WITHOUT_COMMAND,
        "write a command for a new code if one raises it"
    );
}
