//! The machines that a release has binaries for, and how to build for each.

use std::process::Command;

use crate::cross::{self, Builder};
use crate::root;

/// A machine with binaries in a release.
pub(crate) struct Machine {
    /// Its name in the names of files, that of Linux and of Python's platform tags.
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    /// The program that runs its programs on this machine.
    pub(crate) emulator: Option<&'static str>,
}

pub(crate) const MACHINES: &[Machine] = &[
    Machine { name: "x86_64", target: "x86_64-unknown-linux-gnu", emulator: None },
    Machine {
        name: "aarch64",
        target: "aarch64-unknown-linux-gnu",
        emulator: Some("qemu-aarch64"),
    },
];

impl Machine {
    /// How to build for it on this machine; an error says what is missing.
    pub(crate) fn builder(&self) -> Result<Builder, String> {
        if self.emulator.is_some() {
            return cross::builder(self.name).map_err(|missing| {
                format!("for {} there is missing: {}", self.name, missing.join("; "))
            });
        }
        if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
            return Err("releases are built on x86-64 Linux with glibc".to_owned());
        }
        let folder = root().join("target/cross").join(self.name);
        Ok(Builder {
            cargo: std::env::var_os("CARGO").map_or("cargo".into(), Into::into),
            variables: vec![("CARGO_TARGET_DIR".to_owned(), folder.to_string_lossy().into_owned())],
            builds_std: false,
            folder,
        })
    }

    /// The command that runs a program of this machine: the program itself, or the emulator with it.
    pub(crate) fn command(&self, program: &str) -> Command {
        match self.emulator {
            None => Command::new(program),
            Some(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(program);
                command
            }
        }
    }
}
