//! `cargo xtask bench`: runs the benchmarks, on request against peers, and makes the environment for
//! peers in Python.

use std::path::PathBuf;

use crate::{cargo, python};

/// Runs the benchmarks. This function handles `--peers` and `--python`, the program the other arguments.
pub(crate) fn bench(arguments: &[&str]) -> bool {
    let (switches, rest): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|&&argument| argument == "--peers" || argument == "--python");
    let mut run = vec!["run", "--quiet", "--release", "--package", "indim-bench"];
    if switches.contains(&"--peers") {
        run.extend(["--features", "peers"]);
    }
    run.push("--");
    run.extend(&rest);
    // `RAYON_NUM_THREADS` sets the number of threads of candle, one of the peers.
    let threads = rest.iter().skip_while(|&&argument| argument != "--threads").nth(1);
    let variables = [
        ("RAYON_NUM_THREADS", threads.copied().unwrap_or("2")),
        // Large arrays of all engines in Rust lie in huge pages, like those of NumPy and of indim.
        ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"),
    ];
    if !switches.contains(&"--python") {
        return cargo(&run, &variables);
    }
    let Some(interpreter) = interpreter() else { return false };
    let interpreter = interpreter.to_string_lossy();
    run.extend(["--python", &interpreter]);
    cargo(&run, &variables)
}

/// The interpreter of an environment under `target/` with the packages of `requirements.txt`.
fn interpreter() -> Option<PathBuf> {
    let root = crate::root();
    let folder = root.join("target/bench-python");
    let requirements = root.join("bench/python/requirements.txt");
    let interpreter = python::environment(&root, &folder)?;
    // A copy of the requirements records the installed packages.
    let installed = folder.join("requirements.txt");
    let content = std::fs::read(&requirements).ok()?;
    if std::fs::read(&installed).is_ok_and(|installed| installed == content) {
        return Some(interpreter);
    }
    let install = ["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()];
    let succeeded = python::pip(&root, &interpreter, &install)
        && std::fs::copy(&requirements, &installed).is_ok();
    succeeded.then_some(interpreter)
}
