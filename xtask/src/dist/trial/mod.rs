//! Trials of the files of a release, each in an empty folder outside the checkout.
//!
//! `python.rs` installs the wheels and builds the source distribution; `emulated_python.rs` has an
//! interpreter of another machine; `command.rs` runs the static programs; `crates.rs` checks the crates
//! together; `documents.rs` reads the site, the licences and the bills.

mod command;
mod crates;
mod documents;
mod emulated_python;
mod python;

pub(crate) use command::command;
pub(crate) use crates::crates;
pub(crate) use documents::{bills, licences, site};
pub(crate) use python::{source, wheels};

use std::path::{Path, PathBuf};
use std::process::Command;

use super::release;
use crate::program;

/// A folder outside the checkout, removed with this value.
struct EmptyFolder(PathBuf);

impl EmptyFolder {
    fn new(name: &str) -> Result<EmptyFolder, String> {
        let path = std::env::temp_dir().join(format!("indim-{name}-{}", std::process::id()));
        release::empty(&path)?;
        Ok(EmptyFolder(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Unpacks a compressed archive here.
    fn unpack(&self, archive: &Path) -> Result<(), String> {
        let mut tar = Command::new("tar");
        program::run(tar.arg("-xzf").arg(archive).arg("-C").arg(&self.0))
    }
}

impl Drop for EmptyFolder {
    fn drop(&mut self) {
        // A folder that stays in the folder of temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a file exists and is not empty; an error names it.
fn require(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Ok(file) if file.len() > 0 => Ok(()),
        Ok(_) => Err(format!("{} is empty", path.display())),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}
