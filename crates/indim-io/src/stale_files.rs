//! Removal of incomplete results that a killed process left; the form of their hidden names.

use std::fs::{self, DirEntry, File};
use std::path::Path;

/// The prefix of the hidden names of incomplete results.
pub const HIDDEN_PREFIX: &str = ".indim-";

/// The suffix of the hidden names of incomplete results.
pub const HIDDEN_SUFFIX: &str = ".tmp";

/// Maximum number of folder entries examined.
const MAX_NAMES: usize = 1 << 16;

/// Removes incomplete results that a killed process left in a folder: entries with a hidden name that no
/// process has locked. A writer keeps its incomplete result locked.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join(".indim-left.tmp"), "half")?;
/// indim_io::remove_stale_files(folder.path());
/// # if cfg!(unix) {
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_stale_files(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    entries.take(MAX_NAMES).flatten().filter(is_hidden).for_each(|entry| {
        let (path, kind) = (entry.path(), entry.file_type());
        let Ok(kind) = kind else { return };
        // Some systems cannot lock folders; stale folders stay there.
        let opened = match kind.is_dir() {
            true => File::open(&path),
            false if kind.is_file() => File::options().write(true).open(&path),
            false => return,
        };
        // The lock is held during the removal. A process that has just created this entry then fails to
        // lock it, and creates another.
        if let Ok(file) = opened
            && file.try_lock().is_ok()
        {
            // An entry that this process may not remove stays.
            let _ = if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    });
}

fn is_hidden(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_str();
    name.is_some_and(|name| name.starts_with(HIDDEN_PREFIX) && name.ends_with(HIDDEN_SUFFIX))
}
