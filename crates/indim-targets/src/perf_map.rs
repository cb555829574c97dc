//! Names of functions for the profiler `perf` of Linux, which finds them in the file `/tmp/perf-PID.map`:
//! asked for by the environment variable `INDIM_PERF_MAP=1`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Adds `bytes` of code to the map. Write errors are ignored: nothing depends on the map.
pub(crate) fn add(address: usize, bytes: usize, values: usize) {
    static IS_WANTED: OnceLock<bool> = OnceLock::new();
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let is_set = || std::env::var_os("INDIM_PERF_MAP").is_some_and(|value| value == "1");
    if cfg!(target_os = "linux") && *IS_WANTED.get_or_init(is_set) {
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        let line = format!("{address:x} {bytes:x} indim nest {number} of {values} values\n");
        let _ = append(&line);
    }
}

/// Opened for each line, by the number of the process: a forked child has a map of its own.
fn append(line: &str) -> io::Result<()> {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}
