//! Folders that have not got their name yet, for who must remove them when the process ends early.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use crate::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_left_behind};

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held for reading while a file is written into such a folder, and for ever by who removes them all.
static WRITING: RwLock<()> = RwLock::new(());

/// To be held while a file is put into a folder. A process that is about to end gives it to nobody.
pub(super) fn writing() -> RwLockReadGuard<'static, ()> {
    WRITING.read().unwrap_or_else(PoisonError::into_inner)
}

/// How often a folder is made anew that another process took for one that was left.
const MAX_TRIES: usize = 8;

/// A folder with a hidden name beside what it is to become, which is removed with this handle or by
/// [`remove_unfinished_folders`], and after a kill by the next result in the same folder.
#[derive(Debug)]
pub(super) struct Unfinished {
    path: PathBuf,
    /// Locked for as long as it is written, where folders can be.
    _lock: Option<File>,
}

impl Unfinished {
    /// Makes one in `folder`, and removes what a killed process left there.
    pub(super) fn create_in(folder: &Path) -> io::Result<Self> {
        remove_left_behind(folder);
        let mut names = lock();
        for _ in 0..MAX_TRIES {
            let path = make(folder, HIDDEN_SUFFIX)?;
            let file = File::open(&path).ok();
            // Until it was locked another process may have taken it for one that was left.
            let locked = file.as_ref().map(File::try_lock);
            let is_locked_by_another = matches!(locked, Some(Err(TryLockError::WouldBlock)));
            if !is_locked_by_another && path.exists() {
                names.push(path.clone());
                return Ok(Unfinished { path, _lock: file });
            }
        }
        Err(io::Error::other("another process removes folders that this one writes"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder, or one in it, its name, in the place of what has it; that is removed with this
    /// handle. No signal is attended to meanwhile.
    pub(super) fn put(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _names = lock();
        match to.exists() {
            false => fs::rename(from, to),
            true => exchange(from, to).or_else(|error| match error.kind() {
                io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput => one_by_one(from, to),
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

/// Lets two folders have each other's names, at once.
#[cfg(target_os = "linux")]
fn exchange(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Where the system cannot exchange names: there is nothing in the place for a moment. Who is killed in it
/// leaves both under hidden names, and the old one under one that nobody removes.
fn one_by_one(from: &Path, to: &Path) -> io::Result<()> {
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

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut names = lock();
        // After the rename the folder has another name.
        let _ = fs::remove_dir_all(&self.path);
        names.retain(|name| *name != self.path);
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
    // Else chunks are put into a folder while it is emptied, and it stays.
    core::mem::forget(WRITING.write().unwrap_or_else(PoisonError::into_inner));
    for name in &*names {
        // Nobody is left to hear of an error.
        let _ = fs::remove_dir_all(name);
    }
    core::mem::forget(names);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By whichever way the system has.
    #[test]
    fn what_is_in_the_place_is_replaced() {
        for put in [exchange, one_by_one] {
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

    /// What a killed process left is removed by the next result, what another writes is not.
    #[test]
    #[cfg(unix)]
    fn what_was_left_behind_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [left, other] = [".indim-left.tmp", "left.tmp"].map(|name| folder.path().join(name));
        for path in [&left, &other] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("chunk"), "half").unwrap();
        }
        let first = Unfinished::create_in(folder.path()).unwrap();
        assert!(!left.exists() && other.exists());
        let second = Unfinished::create_in(folder.path()).unwrap();
        assert!(first.path().exists() && second.path().exists());
        drop((first, second));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
