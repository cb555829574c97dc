//! Folders of incomplete results under hidden names, and their removal when a signal ends the process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use crate::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_stale_files};

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that writes a file into an unfinished folder holds the read lock.
/// [`remove_unfinished_folders`] takes the write lock, and never releases it.
static WRITING: RwLock<()> = RwLock::new(());

/// Takes the lock to hold while writing a file. Blocks forever after [`remove_unfinished_folders`].
pub fn writing() -> RwLockReadGuard<'static, ()> {
    WRITING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of attempts to create a folder. Another process may remove each new folder as stale.
const MAX_TRIES: usize = 8;

/// A folder with a hidden name in the folder of its result. Dropping the handle removes the folder, and
/// so does [`remove_unfinished_folders`]. After a kill the next result in the same folder removes it, if
/// the system can lock folders.
#[derive(Debug)]
pub struct UnfinishedFolder {
    path: PathBuf,
    /// Locked while it is written, if the system can lock folders.
    _lock: Option<File>,
}

impl UnfinishedFolder {
    /// Creates an unfinished folder in `folder`, and removes stale ones there.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create_in(folder: &Path) -> io::Result<Self> {
        remove_stale_files(folder);
        let mut names = lock();
        for _ in 0..MAX_TRIES {
            let path = make(folder, HIDDEN_SUFFIX)?;
            let file = File::open(&path).ok();
            // Between creation and lock another process may have removed it as stale.
            let locked = file.as_ref().map(File::try_lock);
            let is_locked_by_another = matches!(locked, Some(Err(TryLockError::WouldBlock)));
            if !is_locked_by_another && path.exists() {
                names.push(path.clone());
                return Ok(UnfinishedFolder { path, _lock: file });
            }
        }
        Err(io::Error::other("another process removes folders that this one writes"))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the folder, or a folder in it, to its final name `to`. An existing folder `to` is
    /// replaced: it is exchanged with the new folder and removed when this handle is dropped, or, on
    /// systems without an atomic exchange, removed at once. A lock makes [`remove_unfinished_folders`]
    /// wait until the rename is done.
    ///
    /// # Errors
    /// Those of the system.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _names = lock();
        match to.exists() {
            false => fs::rename(from, to),
            true => exchange(from, to).or_else(|error| match error.kind() {
                io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput => {
                    replace_in_two_steps(from, to)
                }
                _ => Err(error),
            }),
        }
    }
}

/// A new folder with a hidden name.
fn make(folder: &Path, suffix: &str) -> io::Result<PathBuf> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(HIDDEN_PREFIX).suffix(suffix);
    // Permissions follow the user's umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    Ok(builder.tempdir_in(folder)?.keep())
}

/// Exchanges the names of two folders atomically.
#[cfg(target_os = "linux")]
fn exchange(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Replaces a folder on systems without an atomic exchange. For a moment the path does not exist. A kill at
/// that moment leaves both folders under hidden names; the old one has the suffix `.old`, which is never
/// removed as stale.
fn replace_in_two_steps(from: &Path, to: &Path) -> io::Result<()> {
    let parent = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let old = make(parent.unwrap_or(Path::new(".")), ".old")?;
    fs::rename(to, old.join("old"))?;
    if let Err(error) = fs::rename(from, to) {
        fs::rename(old.join("old"), to)?;
        fs::remove_dir(old)?;
        return Err(error);
    }
    fs::remove_dir_all(old)
}

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        let mut names = lock();
        // After a rename this path is absent, or contains the replaced folder.
        let _ = fs::remove_dir_all(&self.path);
        names.retain(|name| *name != self.path);
    }
}

/// Removes the folders of incomplete results, for a process that a signal is about to end. A thread that
/// then creates, writes, finishes or drops a sink blocks. Do not call this function in the signal handler
/// itself, because it waits for locks.
///
/// ```no_run
/// indim_io::unfinished_folder::remove_unfinished_folders(); // from here on results would block
/// ```
pub fn remove_unfinished_folders() {
    let names = lock();
    // Otherwise a thread could write a chunk into a folder during its removal, and the folder would stay.
    core::mem::forget(WRITING.write().unwrap_or_else(PoisonError::into_inner));
    for name in &*names {
        // Errors have no receiver: the process is ending.
        let _ = fs::remove_dir_all(name);
    }
    core::mem::forget(names);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both implementations that the system supports.
    #[test]
    fn what_is_in_the_place_is_replaced() {
        for put in [exchange, replace_in_two_steps] {
            let folder = tempfile::tempdir().unwrap();
            let (from, to) = (folder.path().join("from"), folder.path().join("to"));
            for (path, text) in [(&from, "new"), (&to, "old")] {
                fs::create_dir(path).unwrap();
                fs::write(path.join("text"), text).unwrap();
            }
            match put(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => continue,
                put => put.unwrap(),
            }
            assert_eq!(fs::read_to_string(to.join("text")).unwrap(), "new");
            let _ = fs::remove_dir_all(from);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    /// The next result removes stale folders, but not those that are locked.
    #[test]
    #[cfg(unix)]
    fn what_was_left_behind_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [left, other] = [".indim-left.tmp", "left.tmp"].map(|name| folder.path().join(name));
        for path in [&left, &other] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("chunk"), "half").unwrap();
        }
        let first = UnfinishedFolder::create_in(folder.path()).unwrap();
        assert!(!left.exists() && other.exists());
        let second = UnfinishedFolder::create_in(folder.path()).unwrap();
        assert!(first.path().exists() && second.path().exists());
        drop((first, second));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
