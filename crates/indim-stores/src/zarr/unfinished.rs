//! Folders that have not got their name yet, for who must remove them when the process ends early.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with a hidden name beside what it is to become, which is removed with this handle or by
/// [`remove_unfinished_folders`].
#[derive(Debug)]
pub(super) struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes one in `folder`.
    pub(super) fn create_in(folder: &Path) -> std::io::Result<Self> {
        let mut names = lock();
        let mut builder = tempfile::Builder::new();
        builder.prefix(".indim-").suffix(".tmp");
        // As public as the user's mask says.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let made = builder.tempdir_in(folder)?.keep();
        names.push(made.clone());
        Ok(Unfinished(made))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Gives the folder, or one in it, its name; no signal is attended to meanwhile.
    pub(super) fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        let _names = lock();
        fs::rename(from, to)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut names = lock();
        // There is none any more if it was renamed.
        let _ = fs::remove_dir_all(&self.0);
        names.retain(|name| *name != self.0);
    }
}

/// Removes the folders of results that are not complete, and lets none begin or end any more: for a process
/// that a signal is about to end. Not to be called in the signal's handler itself.
///
/// ```no_run
/// indim_stores::zarr::remove_unfinished_folders(); // from here on results would wait for the end
/// ```
pub fn remove_unfinished_folders() {
    let names = lock();
    for name in &*names {
        // Nobody is left to hear of an error.
        let _ = fs::remove_dir_all(name);
    }
    core::mem::forget(names);
}
