//! Makes the command smaller by options of the linker, if the linker and this system have them: functions
//! with equal code become one, and addresses that are adjusted when the command starts take bits, not words.
#![allow(clippy::print_stdout, reason = "a build script answers on its standard output")]

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// The options: lld, gold and mold fold functions; glibc reads packed addresses since version 2.36.
const OPTIONS: [&str; 2] = ["-Wl,--icf=all", "-Wl,-z,pack-relative-relocs"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        for option in OPTIONS.into_iter().filter(|option| runs_with(option).unwrap_or(false)) {
            println!("cargo:rustc-link-arg-bins={option}");
        }
    }
}

/// Whether a program that is linked with this option runs here; `None` if that cannot be tried.
fn runs_with(option: &str) -> Option<bool> {
    let folder = env::var_os("OUT_DIR")?;
    let (source, program) = (Path::new(&folder).join("main.rs"), Path::new(&folder).join("main"));
    std::fs::write(&source, "fn main() {}").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg(&source).arg("-o").arg(&program).arg(format!("-Clink-arg={option}"));
    rustc.arg("--target").arg(env::var_os("TARGET")?);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut choice = OsString::from("-Clinker=");
        choice.push(linker);
        rustc.arg(choice);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    let succeeds = |command: &mut Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
    };
    Some(succeeds(&mut rustc) && succeeds(&mut Command::new(&program)))
}
