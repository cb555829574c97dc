//! Names of functions for the profiler `perf` of Linux, which finds them in the file `/tmp/perf-PID.map`:
//! asked for by the environment variable `INDIM_PERF_MAP=1`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The file, once something was asked for and could be opened; how many functions it has.
static MAP: OnceLock<Option<Mutex<(File, usize)>>> = OnceLock::new();

/// Adds code of so many bytes to the map. What cannot be written is left out: nothing depends on it.
pub(crate) fn add(address: usize, bytes: usize, values: usize) {
    let Some(map) = MAP.get_or_init(open) else { return };
    let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
    let (file, count) = &mut *map;
    *count += 1;
    let _ = writeln!(file, "{address:x} {bytes:x} indim nest {count} of {values} values");
}

fn open() -> Option<Mutex<(File, usize)>> {
    let is_wanted = std::env::var_os("INDIM_PERF_MAP").is_some_and(|value| value == "1");
    if !is_wanted || !cfg!(target_os = "linux") {
        return None;
    }
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let file = OpenOptions::new().create(true).append(true).open(path).ok()?;
    Some(Mutex::new((file, 0)))
}
