//! `cargo xtask bench`: switches on the peers, and makes the environment for those in Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;

/// Runs the benchmarks; `--peers` and `--python` are for here, the rest for the program.
pub(crate) fn bench(arguments: &[&str]) -> bool {
    let (switches, rest): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|&&argument| argument == "--peers" || argument == "--python");
    let mut run = vec!["run", "--quiet", "--release", "--package", "indim-bench"];
    if switches.contains(&"--peers") {
        run.extend(["--features", "peers"]);
    }
    run.push("--");
    run.extend(&rest);
    // candle has threads of its own, as many as this says.
    let threads = rest.iter().skip_while(|&&argument| argument != "--threads").nth(1);
    let variables = [("RAYON_NUM_THREADS", threads.copied().unwrap_or("2"))];
    if !switches.contains(&"--python") {
        return cargo(&run, &variables);
    }
    let Some(interpreter) = python() else { return false };
    run.extend(["--python", &interpreter]);
    cargo(&run, &variables)
}

/// The interpreter of an environment under `target/` with what `requirements.txt` says.
fn python() -> Option<String> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let environment = root.join("target/bench-python");
    let requirements = root.join("bench/python/requirements.txt");
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    let interpreter = environment.join(folder).join("python");
    let path = interpreter.to_str()?.to_owned();
    // A copy says what is installed.
    let installed = environment.join("requirements.txt");
    let wanted = std::fs::read(&requirements).ok();
    if wanted.is_some() && wanted == std::fs::read(&installed).ok() {
        return Some(path);
    }
    let made = run("python3", &["-m".into(), "venv".into(), environment])
        && run(
            &path,
            &["-m".into(), "pip".into(), "install".into(), "-r".into(), requirements.clone()],
        );
    let copied = made && std::fs::copy(&requirements, &installed).is_ok();
    copied.then_some(path)
}

/// Runs a program; says what it runs.
fn run(program: &str, arguments: &[PathBuf]) -> bool {
    eprintln!(
        "+ {program} {}",
        arguments.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(" ")
    );
    match Command::new(program).args(arguments).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("{program} cannot be run: {error}");
            false
        }
    }
}
