//! Names that files have before they are complete, for who must remove them when the process ends early.

use std::fs::remove_file;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The names; whoever holds them keeps [`remove_unfinished_files`] waiting.
pub(super) struct HiddenNames(MutexGuard<'static, Vec<PathBuf>>);

impl HiddenNames {
    pub(super) fn lock() -> Self {
        HiddenNames(NAMES.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn add(&mut self, name: &Path) {
        self.0.push(name.to_owned());
    }

    #[cfg(test)]
    pub(super) fn contains(&self, name: &Path) -> bool {
        self.0.iter().any(|other| other == name)
    }

    pub(super) fn forget(&mut self, name: &Path) {
        self.0.retain(|other| other != name);
    }
}

/// Removes the files of outputs that are not complete, and lets no output begin or end any more: for a
/// process that a signal is about to end. Not to be called in the signal's handler itself.
///
/// Where the system has files without names, as Linux has on most file systems, there are hardly ever any.
///
/// ```
/// use indim::files::{OutputFile, remove_unfinished_files};
///
/// let folder = tempfile::tempdir()?;
/// let file = OutputFile::create(&folder.path().join("x.npy"))?;
/// remove_unfinished_files(); // from here on `file.finish` would wait for the end of the process
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
/// # core::mem::forget(file);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remove_unfinished_files() {
    let names = HiddenNames::lock();
    for name in &*names.0 {
        // Nobody is left to hear of an error.
        let _ = remove_file(name);
    }
    core::mem::forget(names);
}
