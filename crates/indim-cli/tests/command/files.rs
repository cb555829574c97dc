//! Output files: names, formats, checks before the computation, signals; and input files that change during a
//! read.

use std::fs;

use crate::run::{
    Folder, ORDER, binary, command, fails, fails_with, finish, indim, is_emulated, npy, succeeds,
};

fn eval_to(expression: &str, output: &std::path::Path) -> Vec<String> {
    vec!["eval".into(), expression.into(), "-o".into(), output.display().to_string()]
}

#[test]
fn the_format_is_that_of_the_name() {
    let folder = Folder::new();
    for name in ["y.npz", "y.NPZ"] {
        let path = folder.file(name);
        succeeds(&eval_to("iota(f32, [3], axis=0)", &path));
        assert_eq!(&fs::read(&path).expect("a file")[..2], b"PK");
        if name == "y.npz" {
            let source = format!("y={}:arr_0", path.display());
            assert_eq!(succeeds(&["eval", "y", &source]), "[0. 1. 2.]\n");
        }
    }
    let elements = [0.0f32, 1.0].map(f32::to_ne_bytes).concat();
    let expected = npy(&format!("{ORDER}f4"), false, "(2,)", &elements);
    for name in ["y", "y.npy", "y.NPY"] {
        let path = folder.file(name);
        succeeds(&eval_to("iota(f32, [2], axis=0)", &path));
        assert_eq!(fs::read(&path).expect("a file"), expected);
    }
    let names = folder.names();
    for name in ["y.csv", "y.jpg", "y.h5", "y.mat", "y.txt", "y.parquet", "y.npy.gz"] {
        let message = fails(&eval_to("iota(f32, [2], axis=0)", &folder.file(name)));
        assert!(message.starts_with("error[unknown-format]: "), "{message}");
        assert!(
            message
                .contains("a result is written as .npy, .npz, .safetensors, .zarr, .png or .tif"),
            "{message}"
        );
    }
    assert_eq!(folder.names(), names);
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn the_output_is_checked_before_anything_is_computed() {
    let folder = Folder::new();
    // Larger than any memory: if it were computed first, the error would be another.
    let endless =
        "iota(f32, [1000000, 1000000, 1000], axis=0) + iota(f32, [1000000, 1000000, 1000], axis=1)";
    let nowhere = eval_to(endless, &folder.file("no/such/y.npz"));
    assert!(fails(&nowhere).contains("there is no folder"));
    let message = fails(&eval_to(endless, folder.path()));
    assert!(message.contains("a folder; to write there name a file in it"), "{message}");
    fails_with("not-a-file", &eval_to(endless, &folder.file("new/")));
    fails_with("unknown-format", &eval_to(endless, &folder.file("y.csv")));
    // Space on the disk is also checked before the computation.
    fails_with("io", &eval_to("iota(u8, [4000000000000000], axis=0)", &folder.file("y.npy")));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_drawing_goes_to_standard_output_on_request() {
    let drawn = succeeds(&["explain", "x + y", "x=f32[2,3]", "y=f32[3]", "--svg", "-"]);
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"), "{drawn}");
    let run = indim(&["explain", "x + y", "x=f32[2]", "y=f32[3]", "--svg", "-"]);
    assert!(run.stdout.starts_with("<svg ") && run.stderr.starts_with("error["), "{run:?}");
    let both = ["explain", "x", "x=f32[2]", "--svg", "-", "--json"];
    assert_eq!(indim(&both).code, Some(2));
    assert!(!std::path::Path::new("-").exists());
}

/// An archive with a member `x`, whose elements are ones.
fn archive(count: usize) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::CompressionMethod::Stored;
    let options = zip::write::SimpleFileOptions::default().compression_method(stored);
    archive.start_file("x.npy", options).expect("a member");
    let member = npy("|u1", false, &format!("({count},)"), &vec![1; count]);
    std::io::Write::write_all(&mut archive, &member).expect("written");
    archive.finish().expect("an archive").into_inner()
}

#[test]
fn explain_reads_no_more_of_a_member_than_its_type() {
    let folder = Folder::new();
    let mut bytes = archive(200_000);
    // A read of the elements finds the wrong checksum.
    bytes[150_000] = 0;
    let member = folder.bind("x", "a.npz", &bytes) + ":x";
    assert!(succeeds(&["explain", "x + 1", &member]).contains("u8[200000]"));
    fails_with("bad-archive", &["eval", "x + 1", &member]);
}

#[test]
fn what_inputs_hold_counts_towards_the_limit() {
    let folder = Folder::new();
    let member = folder.bind("x", "a.npz", &archive(300_000)) + ":x";
    let sum = |limit: &'static str| {
        ["eval", "x + x", &member, "--memory-limit", limit].map(str::to_owned)
    };
    succeeds(&sum("1MiB"));
    let message = fails(&sum("299999"));
    assert!(message.starts_with("error[memory-limit]: ") && message.contains("a.npz"), "{message}");
    // Member and result each fit the limit, but not together.
    let message = fails(&sum("400000"));
    assert!(message.starts_with("error[memory-limit]: the run needs 6"), "{message}");
    // A large file is mapped, so it does not count.
    let elements = vec![1; 2 << 20];
    let file = folder.bind("x", "x.npy", &npy("|u1", false, "(2097152,)", &elements));
    succeeds(&["eval", "x", &file, "--memory-limit", "2200000"]);
    let small = folder.bind("x", "y.npy", &npy("|u1", false, "(300000,)", &elements[..300_000]));
    fails_with("memory-limit", &["eval", "x", &small, "--memory-limit", "299999"]);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::path::Path;
    use std::process::{Child, Command, Output, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::run::with_default_signals;

    /// A test fails after this time.
    const PATIENCE: Duration = Duration::from_secs(120);

    #[track_caller]
    fn wait_until(is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < PATIENCE, "it does not happen");
            sleep(Duration::from_millis(2));
        }
    }

    /// Starts `indim eval 'x + 1'` on a file of 32 MiB, and changes the file once the command has opened it.
    fn eval_while(change: impl FnOnce(&Path)) -> Output {
        let folder = Folder::new();
        let header = npy("|u1", false, "(33554432,)", &[]);
        let binding = folder.bind("x", "x.npy", &header);
        let (input, pipe) = (folder.file("x.npy"), folder.file("pipe"));
        let file = fs::File::options().write(true).open(&input).expect("a file");
        file.set_len(33_554_432 + header.len() as u64).expect("zeros");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
        let mut child = command();
        child.args(["eval", "x + 1", &binding, "--threads", "4", "-o"]).arg(&pipe);
        let child = child.stderr(Stdio::piped()).spawn().expect("runs");
        // The command blocks before the computation, until a reader opens the pipe.
        let maps = format!("/proc/{}/maps", child.id());
        wait_until(|| fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("x.npy")));
        change(&input);
        let reader = std::thread::spawn(move || fs::read(&pipe));
        let output = child.wait_with_output().expect("ends");
        drop(reader);
        output
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        if is_emulated() {
            return;
        }
        let output = eval_while(|path| {
            fs::File::options().write(true).open(path).expect("a file").set_len(4096).expect("cut");
        });
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{:?} {message}", output.status);
        assert!(
            message.starts_with("error[file-changed]: an input file became shorter"),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1);
    }

    #[test]
    fn a_file_that_changes_is_an_error() {
        let output = eval_while(|path| {
            let file = fs::File::options().append(true).open(path);
            std::io::Write::write_all(&mut file.expect("a file"), b"more").expect("written");
        });
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{:?} {message}", output.status);
        assert!(message.starts_with("error[file-changed]: the file of `x` changed"), "{message}");
    }

    #[test]
    fn a_file_that_stays_is_none() {
        let output = eval_while(|_| ());
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    }

    fn send(signal: &str, child: &Child) {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).output();
        drop(sent.expect("runs"));
    }

    #[test]
    fn signals_leave_the_old_file_or_the_new_one_and_nothing_else() {
        let folder = Folder::new();
        let path = folder.file("y.npy");
        let whole = 128 + 4 * 4_000_000;
        let expression = "sqrt(iota(f32, [4000000], axis=0)) + iota(f32, [4000000], axis=0)";
        let mut ended_by_signal = 0;
        for round in 0..24u64 {
            match round % 2 {
                0 => drop(fs::remove_file(&path)),
                _ => fs::write(&path, "old").expect("written"),
            }
            let mut child = command();
            let child = child.args(eval_to(expression, &path)).stderr(Stdio::null());
            let child = child.spawn().expect("runs");
            sleep(Duration::from_millis(round * round / 4));
            send(["-TERM", "-INT", "-KILL", "-HUP"][round as usize / 2 % 4], &child);
            let status = child.wait_with_output().expect("ends").status;
            ended_by_signal += usize::from(status.signal().is_some());
            assert!(status.success() || status.signal().is_some(), "{status}");
            assert!(folder.names().iter().all(|name| name == "y.npy"), "{:?}", folder.names());
            match fs::metadata(&path).map(|file| file.len()) {
                Ok(length) => assert!(length == whole || round % 2 == 1 && length == 3, "{length}"),
                Err(_) => assert_eq!(round % 2, 0),
            }
        }
        assert!(ended_by_signal > 0, "some came in time");
    }

    #[test]
    fn a_signal_that_the_parent_ignores_is_ignored() {
        let folder = Folder::new();
        let path = folder.file("y.npy");
        let expression = "iota(u8, [3000000], axis=0)";
        let script = "trap '' TERM; exec \"$0\" eval \"$1\" -o \"$2\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(binary()).arg(expression).arg(&path);
        let child = shell.spawn().expect("runs");
        let executable = format!("/proc/{}/exe", child.id());
        let shell = fs::canonicalize("/bin/sh").expect("a shell");
        let is_other = |path: std::path::PathBuf| path != shell;
        wait_until(|| {
            !Path::new(&executable).exists() || fs::read_link(&executable).is_ok_and(is_other)
        });
        send("-TERM", &child);
        assert!(child.wait_with_output().expect("ends").status.success());
        assert_eq!(fs::metadata(&path).expect("a file").len(), 3_000_128);
    }

    #[test]
    fn a_full_disk_is_an_error_of_the_file() {
        // The shell limits the size of a file in blocks of 512 bytes.
        let script = "ulimit -f 100; trap '' XFSZ; cd \"$1\"; exec \"$0\" eval \"$3\" -o \"$2\"";
        let expression = "iota(f32, [1000000], axis=0)";
        let folder = Folder::new();
        for name in ["y.npy", "y.npz"] {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).arg(binary()).arg(folder.path()).args([name, expression]);
            let run = finish(&mut shell);
            assert_eq!(run.code, Some(1), "{run:?}");
            assert!(run.stderr.starts_with("error[io]: ") && run.stderr.contains(name), "{run:?}");
        }
        assert_eq!(folder.names(), [""; 0]);
    }

    #[test]
    fn a_result_is_held_once() {
        let folder = Folder::new();
        // A result of 256 MiB; its computation needs no other array.
        let expression = "iota(u8, [1024, 262144], axis=0)";
        // Mapped pages of a file do not count as memory of the process.
        let mut to_file = eval_to(expression, &folder.file("y.npy"));
        to_file.extend(["--memory-limit".to_owned(), "1MiB".to_owned()]);
        succeeds(&to_file);
        let held = ["eval", expression, "-o", "-", "--memory-limit", "200MiB"];
        fails_with("memory-limit", &held);
        if is_emulated() {
            return;
        }
        // The limit of the address space, which includes code and stacks, leaves no room for a second copy.
        let script = "ulimit -v 480000; exec \"$0\" eval \"$1\" --threads 1 -o - > \"$2\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(binary()).arg(expression).arg(folder.file("z"));
        let run = finish(&mut shell);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        assert_eq!(fs::metadata(folder.file("z")).expect("a file").len(), 128 + (1 << 28));
    }

    #[test]
    fn the_file_of_another_is_not_taken_over() {
        if is_emulated() {
            return;
        }
        let folder = Folder::new();
        let path = folder.file("y.npy");
        fs::write(&path, "old").expect("written");
        for (path, mode) in [(folder.path(), 0o777), (&path, 0o666)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
        }
        let binary = folder.file("indim");
        fs::copy(env!("CARGO_BIN_EXE_indim"), &binary).expect("copied");
        let mut other = Command::new(&binary);
        let Ok(output) = other.args(eval_to("1 + 1", &path)).uid(65_534).gid(65_534).output()
        else {
            // Only the superuser can change to another user.
            return;
        };
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.starts_with("error[owner-not-kept]: "), "{message}");
        assert_eq!(fs::read(&path).expect("a file"), b"old");
        assert_eq!(folder.names(), ["indim", "y.npy"]);
    }

    /// Without `/proc` an unnamed file cannot get a name later, so it has a hidden name from the start.
    #[test]
    fn signals_remove_files_with_hidden_names() {
        if is_emulated() {
            return;
        }
        let folder = Folder::new();
        let path = folder.file("y.npy");
        let hide = "mount -t tmpfs none /proc";
        let mut can_hide = Command::new("unshare");
        if !can_hide.args(["-rm", "sh", "-c", hide]).output().is_ok_and(|o| o.status.success()) {
            // Some systems do not let users make namespaces.
            return;
        }
        let script = format!("{hide}; exec \"$0\" eval \"$1\" -o \"$2\"");
        let expression =
            "exp(sin(iota(f64, [100, 1000000], axis=1) + iota(f64, [100, 1000000], axis=0)))";
        for signal in ["-TERM", "-HUP"] {
            let mut shell = Command::new("unshare");
            shell.args(["-rm", "sh", "-c", &script, env!("CARGO_BIN_EXE_indim"), expression]);
            let child = with_default_signals(shell.arg(&path)).spawn().expect("runs");
            wait_until(|| folder.names().iter().any(|name| name.starts_with(".indim-")));
            send(signal, &child);
            let status = child.wait_with_output().expect("ends").status;
            assert!(status.signal().is_some(), "{status}");
            assert_eq!(folder.names(), [""; 0]);
        }
        let small = eval_to("1 + 1", &path);
        let mut shell = Command::new("unshare");
        shell.args(["-rm", "sh", "-c", &script, env!("CARGO_BIN_EXE_indim"), &small[1]]);
        assert_eq!(finish(shell.arg(&path)).code, Some(0));
        assert_eq!(folder.names(), ["y.npy"]);
    }
}
