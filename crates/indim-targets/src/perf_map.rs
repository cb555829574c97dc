//! Symbols for the Linux profiler `perf`, which reads them from `/tmp/perf-PID.map`. Enabled by the
//! environment variable `INDIM_PERF_MAP=1`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Adds a function of `bytes` bytes of code, for a body of `values` instructions. Write errors are ignored,
/// because only profiling depends on the map.
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

/// Appends a line to the map of this process. The file is opened each time: after a fork, the child has a
/// map of its own.
fn append(line: &str) -> io::Result<()> {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}
