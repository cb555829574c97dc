//! Helpers: run the binary, and make the files that it reads.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;

use tempfile::TempDir;

/// The built binary. For an emulated machine, `INDIM_TEST_RUNNER` names the emulator, and this is a script
/// that starts it.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<(PathBuf, Option<TempDir>)> = OnceLock::new();
    let built = Path::new(env!("CARGO_BIN_EXE_indim"));
    let (binary, _) = BINARY.get_or_init(|| match std::env::var("INDIM_TEST_RUNNER") {
        Ok(runner) => {
            let folder = tempfile::tempdir().expect("a temporary folder");
            (script(folder.path(), &runner, built), Some(folder))
        }
        Err(_) => (built.to_owned(), None),
    });
    binary
}

/// Whether an emulator runs the command. It has its own signals, memory and `/proc`.
pub(crate) fn is_emulated() -> bool {
    std::env::var_os("INDIM_TEST_RUNNER").is_some()
}

/// A script `indim` in `folder` that runs the binary by `runner`.
fn script(folder: &Path, runner: &str, binary: &Path) -> PathBuf {
    let path = folder.join("indim");
    let text = format!("#!/bin/sh\nexec {runner} '{}' \"$@\"\n", binary.display());
    std::fs::write(&path, text).expect("the script is written");
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("the script may be run");
    path
}

/// The command before its arguments, with an empty standard input.
pub(crate) fn command() -> Command {
    let mut command = Command::new(binary());
    command.stdin(Stdio::null());
    command
}

/// Lets the command die from the signals that a shell or `nohup` may ignore: a process that inherits an
/// ignored signal keeps it ignored.
#[cfg(unix)]
pub(crate) fn with_default_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: `signal` is async-signal-safe, and the default disposition calls no handler.
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY:
    // - between fork and exec the closure calls only async-signal-safe functions;
    // - it neither allocates nor takes a lock, and `last_os_error` reads the thread's error number.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, reset) }
}

/// The exit code and the output of a finished command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `indim` with these arguments until it exits.
pub(crate) fn indim<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Run {
    finish(command().args(arguments))
}

/// Runs a prepared command until it exits.
pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.output().expect("the binary runs");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Runs `indim` and writes `input` to it; the command may exit before it has read everything.
pub(crate) fn indim_fed(arguments: &[&str], input: &[u8]) -> (Child, JoinHandle<io::Result<()>>) {
    let mut child = command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    (child, writer)
}

/// Runs `indim` with `input` on its standard input.
pub(crate) fn indim_with_input(arguments: &[&str], input: &[u8]) -> Run {
    let (child, writer) = indim_fed(arguments, input);
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("no panic").expect("all input is read");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The output of a successful run with an empty standard error.
#[track_caller]
pub(crate) fn succeeds<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> String {
    let run = indim(arguments);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.stdout
}

/// The drawn error of a run that fails because of its input.
#[track_caller]
pub(crate) fn fails<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> String {
    let run = indim(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error["), "{}", run.stderr);
    run.stderr
}

/// Asserts that a run fails with this code.
#[track_caller]
pub(crate) fn fails_with<S: AsRef<std::ffi::OsStr>>(code: &str, arguments: &[S]) {
    let message = fails(arguments);
    assert!(message.starts_with(&format!("error[{code}]: ")), "expected {code}: {message}");
}

/// A folder that is removed at the end of the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file; returns `binding=path`.
    pub(crate) fn bind(&self, binding: &str, file: &str, bytes: &[u8]) -> String {
        std::fs::write(self.file(file), bytes).expect("the file is written");
        format!("{binding}={}", self.file(file).display())
    }

    /// The names of all files in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder is read");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// A `.npy` file, encoded here, so that the tests do not depend on the tested writer.
pub(crate) fn npy(descr: &str, fortran_order: bool, shape: &str, elements: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).expect("a short header");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(text.bytes());
    file.extend(elements);
    file
}

/// The byte-order character of element types in native files.
pub(crate) const ORDER: char = if cfg!(target_endian = "little") { '<' } else { '>' };

/// The bytes of little-endian f32 elements.
pub(crate) fn f32_bytes(elements: &[f32]) -> Vec<u8> {
    elements.iter().flat_map(|x| x.to_le_bytes()).collect()
}
