//! The hidden names of the incomplete files of this process, and their removal when a signal ends the
//! process.

use std::fs::remove_file;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The locked list of names. [`remove_unfinished_files`] waits until the lock is released.
pub(crate) struct HiddenNames(MutexGuard<'static, Vec<PathBuf>>);

impl HiddenNames {
    pub(crate) fn lock() -> Self {
        HiddenNames(NAMES.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&mut self, name: &Path) {
        self.0.push(name.to_owned());
    }

    #[cfg(test)]
    pub(crate) fn contains(&self, name: &Path) -> bool {
        self.0.iter().any(|other| other == name)
    }

    pub(crate) fn remove(&mut self, name: &Path) {
        self.0.retain(|other| other != name);
    }
}

/// Removes incomplete files, for a process that a signal is about to end. The list of names then stays
/// locked: a thread that creates, finishes or drops an output may block. Do not call this function in the
/// signal handler itself, because it waits for a lock.
///
/// On Linux most file systems support unnamed files, which need no removal.
///
/// ```
/// use indim_io::{OutputFile, remove_unfinished_files};
///
/// let folder = tempfile::tempdir()?;
/// let file = OutputFile::create(&folder.path().join("x.npy"))?;
/// remove_unfinished_files(); // from here on `file.finish` would block
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
/// # core::mem::forget(file);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remove_unfinished_files() {
    let names = HiddenNames::lock();
    for name in &*names.0 {
        // Errors have no receiver: the process is ending.
        let _ = remove_file(name);
    }
    core::mem::forget(names);
}
