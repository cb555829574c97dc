//! Arrays through pipes: `x=-` and `-o -`.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use crate::run::{Folder, ORDER, Run, binary, command, f32_bytes, finish, indim, indim_fed, npy};

/// Runs `indim` with these bytes on its standard input; it may leave some unread.
fn fed(arguments: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let (child, writer) = indim_fed(arguments, input);
    let output = child.wait_with_output().expect("ends");
    let _ = writer.join().expect("no panic");
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).expect("UTF-8"))
}

#[track_caller]
fn fails(code: &str, arguments: &[&str], input: &[u8]) -> String {
    let (exit, stdout, stderr) = fed(arguments, input);
    assert_eq!((exit, stdout.len()), (Some(1), 0), "{stderr}");
    assert!(stderr.starts_with(&format!("error[{code}]: ")), "expected {code}: {stderr}");
    stderr
}

#[test]
fn an_array_comes_from_standard_input_and_goes_to_standard_output() {
    let descr = format!("{ORDER}f4");
    for (fortran, shape, elements) in [
        (false, "(2, 3)", vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (true, "(2, 3)", vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
    ] {
        let input = npy(
            &descr,
            fortran,
            shape,
            &elements.iter().flat_map(|x: &f32| x.to_ne_bytes()).collect::<Vec<_>>(),
        );
        let (code, stdout, stderr) = fed(&["eval", "x * 2", "x=-"], &input);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        assert_eq!(String::from_utf8_lossy(&stdout), "[[ 2.  4.  6.]\n [ 8. 10. 12.]]\n");
        let (code, stdout, stderr) = fed(&["eval", "x * 2", "x=-", "-o", "-"], &input);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        let doubled: Vec<u8> = (1..=6).flat_map(|x| (2.0 * x as f32).to_ne_bytes()).collect();
        assert_eq!(stdout, npy(&descr, false, "(2, 3)", &doubled));
    }
    // The other byte order, no axes, no elements, bytes after the array.
    let big = npy(">i4", false, "(2,)", &[7i32, -1].map(i32::to_be_bytes).concat());
    assert_eq!(fed(&["eval", "x", "x=-"], &big).1, b"[ 7 -1]\n");
    let scalar = npy("<f4", false, "()", &f32_bytes(&[1.5]));
    assert_eq!(fed(&["eval", "x", "x=-"], &scalar).1, b"1.5\n");
    let empty = npy("<f4", false, "(0, 3)", &[]);
    assert_eq!(fed(&["eval", "x", "x=-"], &empty).1, b"[]\n");
    let two = [scalar.clone(), big].concat();
    assert_eq!(fed(&["eval", "x", "x=-"], &two).1, b"1.5\n");
}

#[test]
fn commands_in_a_row() {
    let script = "\"$0\" eval 'iota(f64, [1000, 300], axis=0)' -o - \
                  | \"$0\" eval 'm = mean(x); x - m' x=- -o m=- | \"$0\" eval 'm + 1' m=-";
    let mut shell = std::process::Command::new("sh");
    let run = finish(shell.args(["-c", script]).arg(binary()));
    assert_eq!((run.code, run.stderr.as_str(), run.stdout.as_str()), (Some(0), "", "500.5\n"));
}

/// The array arrives in pieces, slowly, and exceeds the first allocation.
#[test]
fn a_large_array_in_pieces() {
    let mut child = command()
        .args(["eval", "sum(x)", "x=-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = npy("|u1", false, "(5000000,)", &vec![1; 5_000_000]);
    for piece in input.chunks(777_777) {
        stdin.write_all(piece).expect("it is read");
    }
    drop(stdin);
    let mut printed = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut printed).expect("text");
    assert!(child.wait().expect("ends").success());
    assert_eq!(printed, "5000000\n");
}

#[test]
fn what_is_wrong_with_the_array() {
    let name = fails("not-npy", &["eval", "x", "x=-"], b"no array at all");
    assert!(name.contains("in `x`: standard input: "), "{name}");
    fails("not-npy", &["eval", "x", "x=-"], b"");
    let whole = npy("<f4", false, "(2, 3)", &f32_bytes(&[0.0; 6]));
    fails("wrong-length", &["eval", "x", "x=-"], &whole[..whole.len() - 1]);
    fails("memory-limit", &["eval", "x", "x=-", "--memory-limit", "23"], &whole);
    // The header gives the types, so these errors come before any element is read.
    let header = npy("<f4", false, "(1000000, 1000000)", &[]);
    fails("size-mismatch", &["eval", "x + y", "x=-", "y=[1,2]"], &header);
    fails("memory-limit", &["eval", "max(x - min(x))", "x=-", "--memory-limit", "1GiB"], &header);
    // This program is streamed, so it runs until the input ends.
    fails("wrong-length", &["eval", "sum(x)", "x=-", "--memory-limit", "1GiB"], &header);
}

/// A header that claims an exabyte allocates memory only for the bytes that arrive.
#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn a_header_takes_no_memory() {
    let claim = npy("|u1", false, "(1000000000000000000,)", &[1; 100]);
    let message = fails("wrong-length", &["eval", "sum(x)", "x=-"], &claim);
    assert!(message.contains("100"), "{message}");
    fails(
        "too-large",
        &["eval", "sum(x)", "x=-"],
        &npy("<f8", false, "(9223372036854775807,)", &[]),
    );
}

#[test]
fn a_pipe_is_one_array() {
    let scalar = npy("<f4", false, "()", &f32_bytes(&[1.5]));
    let (code, _, message) = fed(&["eval", "x + y", "x=-", "y=-"], &scalar);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("only one name can be `-`"), "{message}");
}

/// Other mistakes are reported before the pipe is read; here it stays open and empty.
#[test]
fn nothing_is_read_before_the_arguments_are_right() {
    let folder = Folder::new();
    let nowhere = folder.file("no/such.npy").display().to_string();
    for arguments in [
        &["eval", "x +", "x=-"][..],
        &["eval", "x", "x=-", "y=1"],
        &["eval", "x", "x=-", "-o", "x.csv"],
        &["eval", "x", "x=-", "-o", "y=y.npy"],
    ] {
        let mut child = command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        // The pipe stays open until the command has ended.
        let _input = child.stdin.take();
        assert_eq!(child.wait().expect("ends").code(), Some(1), "{arguments:?}");
    }
    // The header gives the type, and the output path is checked before any element is read.
    let header = npy("<f4", false, "(1000000, 1000000)", &[]);
    fails("io", &["eval", "x + 1", "x=-", "-o", &nowhere], &header);
}

#[test]
fn files_and_standard_output_together() {
    let folder = Folder::new();
    let low = format!("low={}", folder.file("low.npy").display());
    let text = "low = min(x); high = max(x)";
    let mut run = command();
    run.args(["eval", text, "x=[3,5]", "-o", &low, "-o", "high=-"]);
    let output = run.output().expect("the binary runs");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    let (_, printed, _) = fed(&["eval", "high", "high=-"], &output.stdout);
    assert_eq!(printed, b"5\n");
    let Run { stdout, .. } = indim(&["eval", "low", &low]);
    assert_eq!(stdout, "3\n");
}

#[test]
#[cfg(target_os = "linux")]
fn bytes_are_kept_from_a_terminal() {
    // Both ends of a pseudoterminal count as terminals.
    let terminal = std::fs::File::options().read(true).write(true).open("/dev/ptmx");
    let mut command = command();
    command.args(["eval", "x", "x=missing.npy", "-o", "-"]).stdout(terminal.expect("opened"));
    let output = command.stderr(Stdio::piped()).output().expect("ends");
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.starts_with("error[terminal]: ") && message.contains("-o x.npy"), "{message}");
}

/// 2 MiB through a pipe, under a limit below the size of inputs and results.
#[test]
fn an_array_larger_than_the_limit_goes_in_pieces() {
    let folder = Folder::new();
    let elements: Vec<u8> = (0..262_144u32)
        .flat_map(|x| f64::from(x.wrapping_mul(2_654_435_761)).to_ne_bytes())
        .collect();
    // The element order of a column-major file permits no cut along the long axis.
    for (is_fortran, limit) in [(false, "600KiB"), (true, "3900KiB")] {
        let limit = ["--memory-limit", limit];
        let input = npy(&format!("{ORDER}f8"), is_fortran, "(65536, 4)", &elements);
        let file = folder.bind("x", "x.npy", &input);
        for expression in ["2 * x + 1", "sum(x, axis=1)", "max(x, axis=0)", "x[7:65000]"] {
            let to = folder.file("y.npy");
            let to = to.to_str().expect("UTF-8");
            let (code, stdout, stderr) =
                fed(&["eval", expression, "x=-", "-o", to, limit[0], limit[1]], &input);
            assert_eq!((code, stdout.len(), stderr.as_str()), (Some(0), 0, ""), "{expression}");
            let from_pipe = std::fs::read(to).expect("a result");
            assert_eq!(indim(&["eval", expression, &file, "-o", to]).code, Some(0));
            assert!(from_pipe == std::fs::read(to).expect("a result"), "{expression} {is_fortran}");
        }
        // A program that reads elements twice holds the whole array.
        if is_fortran {
            continue;
        }
        for expression in ["x - mean(x, axis=0)", "x[1:] - x[:-1]", "x + transpose(x[:4])[:, 0]"] {
            let arguments = ["eval", expression, "x=-", "-o", "-", limit[0], limit[1]];
            let stderr = fails("memory-limit", &arguments, &input);
            assert!(stderr.contains("= help: standard input is held as a whole if"), "{stderr}");
        }
    }
}

#[test]
fn a_large_pipe_that_ends_early_leaves_no_result() {
    let folder = Folder::new();
    let input = npy(&format!("{ORDER}f8"), false, "(65536, 4)", &vec![0; 1 << 20]);
    let to = folder.file("y.npy");
    let arguments =
        ["eval", "x * 2", "x=-", "--memory-limit", "600KiB", "-o", to.to_str().expect("UTF-8")];
    let stderr = fails("wrong-length", &arguments, &input);
    assert!(stderr.contains("standard input"), "{stderr}");
    assert_eq!(folder.names(), Vec::<String>::new());
}
