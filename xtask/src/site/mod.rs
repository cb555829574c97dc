//! `cargo xtask site`: builds, serves and tests the site in `target/site`, with three WebAssembly modules.
//!
//! `pages.rs` makes pages of the fragments in `site/` and the documents in `docs/`; `markdown.rs` renders
//! documents; `examples.rs` finds the page that runs an example; `address.rs` builds addresses.

mod address;
mod examples;
mod markdown;
mod pages;

use std::path::Path;
use std::process::Command;

use crate::{cargo, cross, python};

const USAGE: &str = "\
cargo xtask site [--serve [PORT] | --test [PYTEST'S ARGUMENTS]]
  Builds the site into target/site, which any web server can show, under any path.
  `--serve` shows it to this machine. `--test` runs it in Chromium; it takes the command built too.";

/// The folder of the built site.
const OUTPUT: &str = "target/site";

/// Builds the site, and shows or tests it.
pub(crate) fn site(root: &Path, arguments: &[&str]) -> bool {
    match arguments {
        [] => build(root),
        ["--serve"] => build(root) && serve(root, "8000"),
        ["--serve", port] => build(root) && serve(root, port),
        ["--test", tests @ ..] => build(root) && test(root, tests),
        _ => {
            eprintln!("{USAGE}");
            false
        }
    }
}

fn build(root: &Path) -> bool {
    let output = root.join(OUTPUT);
    // Removes the files of an earlier build.
    let _ = std::fs::remove_dir_all(&output);
    let is_written = pages::write(root, &output).map_err(|error| eprintln!("{error}")).is_ok();
    let is_built = is_written
        && module(root, "rules", "rules.wasm")
        && module(root, "rules,expressions", "expressions.wasm")
        && module(root, "models", "models.wasm");
    if is_built {
        eprintln!("the site is in {OUTPUT}; `cargo xtask site --serve` shows it");
    }
    is_built
}

/// Builds the module with these features, and copies it into the site.
fn module(root: &Path, features: &str, name: &str) -> bool {
    let build = ["--package=indim-web", "--lib", "--profile=web", "--no-default-features"];
    let build = [&build[..], &["--features", features]].concat();
    let Some(folder) = cross::build_for_wasm32(&build) else { return false };
    let built = folder.join("web/indim_web.wasm");
    let copied = std::fs::copy(&built, root.join(OUTPUT).join(name));
    copied.map_err(|error| eprintln!("{}: {error}", built.display())).is_ok()
}

/// Serves the site to this machine only, until it is interrupted.
fn serve(root: &Path, port: &str) -> bool {
    if !python::is_available() {
        eprintln!("it takes python3, or any other web server for {OUTPUT}");
        return false;
    }
    eprintln!("http://127.0.0.1:{port}/");
    let server = ["-m", "http.server", port, "--bind", "127.0.0.1", "--directory", OUTPUT];
    let python = python::system_python();
    Command::new(python).args(server).current_dir(root).status().is_ok_and(|s| s.success())
}

/// The missing requirements of the tests in a browser, in words.
pub(crate) fn missing() -> Vec<String> {
    let lacks = |program: &&str| Command::new(program).arg("--version").output().is_err();
    let programs = ["chromedriver", "chromium", "npm"].into_iter().filter(lacks);
    let packages =
        programs.map(|program| format!("{program} (Debian: chromium chromium-driver npm)"));
    python::missing()
        .into_iter()
        .chain(cross::missing_to_build_for_wasm32())
        .chain(packages)
        .collect()
}

/// Runs the tests of `site/tests` in a browser, against the command's own oracle.
fn test(root: &Path, tests: &[&str]) -> bool {
    let missing = missing();
    if !missing.is_empty() {
        eprintln!("the tests of the site take {}", missing.join("; "));
        return false;
    }
    if !cargo(&["build", "--package=indim-cli"], &[]) {
        return false;
    }
    let folder = root.join("target/python/site");
    python::environment(root, &folder).is_some_and(|python| {
        let requirements = root.join("site/tests/requirements.txt");
        let install = ["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()];
        python::pip(root, &python, &install)
            && python::pytest(root, &python, &[&["site/tests"], tests].concat())
    })
}
