//! The hidden names of results that are not complete, and what a killed process left under such names.

use std::fs::{self, DirEntry, File};
use std::path::Path;

/// The prefix of the hidden names of incomplete results.
pub const HIDDEN_PREFIX: &str = ".indim-";

/// The suffix of those names.
pub const HIDDEN_SUFFIX: &str = ".tmp";

/// The maximum number of names of a folder that are examined.
const MAX_NAMES: usize = 1 << 16;

/// Removes the hidden files and folders in a folder that a killed process left: those that nobody has locked.
/// Who writes one keeps it locked meanwhile.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join(".indim-left.tmp"), "half")?;
/// indim_stores::remove_left_behind(folder.path());
/// # if cfg!(unix) {
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_left_behind(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    entries.take(MAX_NAMES).flatten().filter(is_hidden).for_each(|entry| {
        let (path, kind) = (entry.path(), entry.file_type());
        let Ok(kind) = kind else { return };
        // Folders cannot be locked by every system; then they are not removed either.
        let opened = match kind.is_dir() {
            true => File::open(&path),
            false if kind.is_file() => File::options().write(true).open(&path),
            false => return,
        };
        // Held until it is gone: who makes it right now sees that.
        if let Ok(file) = opened
            && file.try_lock().is_ok()
        {
            // Who cannot remove it leaves it to others.
            let _ = if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    });
}

fn is_hidden(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_str();
    name.is_some_and(|name| name.starts_with(HIDDEN_PREFIX) && name.ends_with(HIDDEN_SUFFIX))
}
