//! A file being written, which appears under its name complete or not at all.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_stale_files};
use indim_arrays::row_major_byte_strides;
use indim_arrays::{ArrayViewMut, CompleteFile, UnnamedFile, copy_owner_and_mode};
use indim_graph::terminal::printable;
use indim_ops::ArrayType;

use crate::hidden_names::HiddenNames;
use crate::npy::npy_header;
use crate::{CompleteResult, FileError, FileErrorKind, StoreError};

/// Maximum number of symbolic links followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Maximum number of attempts to create a hidden file. Another process may remove each new file as
/// stale.
const MAX_TRIES: usize = 8;

/// A file being written. It appears under its name complete and on disk, or not at all.
///
/// Before that, the file has no name, if the system supports unnamed files. Otherwise it has a hidden
/// name in the same folder, and is locked. [`remove_unfinished_files`](crate::remove_unfinished_files)
/// removes such files before a signal ends the process. If the process is killed, the next output in the
/// folder removes them.
///
/// An existing file is replaced; the new file gets its owner and permissions. If the path is a link, its
/// target is replaced. Bytes for a pipe or a device are written directly.
///
/// ```
/// use indim_io::OutputFile;
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("result.txt");
/// let mut file = OutputFile::create(&path)?;
/// file.write_all(b"the first half, ")?;
/// assert!(!path.exists());
/// file.write_all(b"the second half")?;
/// file.finish(&mut |_| ())?;
/// assert_eq!(std::fs::read(&path)?.len(), 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OutputFile {
    /// The path from the caller.
    path: PathBuf,
    target: OutputTarget,
}

#[derive(Debug)]
enum OutputTarget {
    Unnamed { file: UnnamedFile, final_path: PathBuf },
    Named { file: HiddenFile, final_path: PathBuf },
    Stream(File),
}

impl OutputFile {
    /// Opens a file for writing. It is not visible yet, but most errors that would prevent its completion are
    /// detected here.
    ///
    /// # Errors
    /// `not-a-file` if `path` is a folder; `io` if its folder does not exist, or folder or existing file are
    /// not writable; `owner-not-kept` if the new file cannot get the owner of the existing file.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let target = open_target(path).map_err(|kind| FileError::new(path, kind))?;
        Ok(OutputFile { path: path.to_owned(), target })
    }

    /// The path from the caller.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file a `.npy` file, maps it, and returns a view of its elements, which are zeros.
    /// Compute the array in this view. Returns `None` if the system cannot map the file, if the file has
    /// a hidden name, by which other processes could open it, or if it is a pipe or a device.
    ///
    /// ```
    /// use indim_io::OutputFile;
    /// use indim_ops::{ArrayType, DType};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("x.npy");
    /// let mut file = OutputFile::create(&path)?;
    /// if let Some(output) = file.map_npy(&ArrayType::new(DType::U8, [3]))? {
    ///     assert_eq!(output.array_type().to_string(), "u8[3]");
    ///     file.finish(&mut |_| ())?;
    ///     assert!(std::fs::read(&path)?.ends_with(&[0, 0, 0]));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `io` if the disk is full or the system has no memory for the map; `too-large`.
    pub fn map_npy(
        &mut self,
        array_type: &ArrayType,
    ) -> Result<Option<ArrayViewMut<'_>>, FileError> {
        let OutputTarget::Unnamed { file, .. } = &mut self.target else { return Ok(None) };
        map_npy(file, array_type).map_err(|kind| FileError::new(&self.path, kind))
    }

    /// Reserves disk space for `bytes` bytes, so that a full disk is an error before the computation.
    /// Does nothing if the file system does not support it, and for a file with a hidden name, a pipe or
    /// a device.
    ///
    /// # Errors
    /// `io` if the disk is full.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), FileError> {
        let OutputTarget::Unnamed { file, .. } = &mut self.target else { return Ok(()) };
        if bytes == 0 {
            // Linux rejects a reservation of 0 bytes.
            return Ok(());
        }
        match file.reserve(bytes) {
            Ok(_) => Ok(()),
            Err(error) => Err(FileError::new(&self.path, disk_full_error(error, bytes).into())),
        }
    }

    /// Whether the path is a pipe or a device, which cannot seek.
    pub fn is_stream(&self) -> bool {
        matches!(self.target, OutputTarget::Stream(_))
    }

    /// The folder of the final name.
    pub fn folder(&self) -> &Path {
        folder(self.target.final_path().unwrap_or(&self.path))
    }

    /// Whether both files have the same final name in the same folder.
    ///
    /// ```
    /// use indim_io::OutputFile;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let create = |name: &str| OutputFile::create(&folder.path().join(name));
    /// assert!(create("x.npy")?.has_same_target(&create("./x.npy")?));
    /// assert!(!create("x.npy")?.has_same_target(&create("y.npy")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn has_same_target(&self, other: &OutputFile) -> bool {
        let name_in_folder = |file: &OutputFile| {
            let final_path = file.target.final_path()?;
            Some((folder(final_path).canonicalize().ok()?, final_path.file_name()?.to_owned()))
        };
        name_in_folder(self).is_some_and(|own| name_in_folder(other) == Some(own))
    }

    /// Flushes the file to the disk and gives it its final name. `progress` is called with the number of
    /// mapped bytes of each flush.
    ///
    /// # Errors
    /// `io` if the disk fails or the folder was removed. An existing file is then untouched, unless only
    /// the last step failed: the flush of the folder after the rename.
    pub fn finish(self, progress: &mut dyn FnMut(usize)) -> Result<(), FileError> {
        self.complete(progress)?.commit()
    }

    /// The first half of [`OutputFile::finish`], which can take long and fail: flushes the file to the disk.
    /// To publish several files together, complete all of them before the first one gets its name.
    ///
    /// ```
    /// use indim_io::OutputFile;
    /// use std::io::Write;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("result.txt");
    /// let mut file = OutputFile::create(&path)?;
    /// file.write_all(b"all of it")?;
    /// let complete = file.complete(&mut |_| ())?;
    /// assert!(!path.exists());
    /// complete.commit()?;
    /// assert!(path.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `io`, when the disk fails.
    pub fn complete(self, progress: &mut dyn FnMut(usize)) -> Result<CompleteOutput, FileError> {
        let path = self.path;
        let complete = || {
            Ok(match self.target {
                OutputTarget::Unnamed { file, final_path } => {
                    CompleteTarget::Unnamed { file: file.complete(progress)?, final_path }
                }
                OutputTarget::Named { file, final_path } => {
                    file.file.sync_all()?;
                    CompleteTarget::Named { file, final_path }
                }
                OutputTarget::Stream(mut file) => {
                    file.flush()?;
                    CompleteTarget::Stream
                }
            })
        };
        match complete() {
            Ok(target) => Ok(CompleteOutput { path, target }),
            Err(error) => Err(FileError::new(&path, io::Error::into(error))),
        }
    }
}

/// A complete file on disk, not yet visible. [`CompleteOutput::commit`] gives it its name; dropping it
/// removes it.
#[derive(Debug)]
pub struct CompleteOutput {
    path: PathBuf,
    target: CompleteTarget,
}

#[derive(Debug)]
enum CompleteTarget {
    Unnamed { file: CompleteFile, final_path: PathBuf },
    Named { file: HiddenFile, final_path: PathBuf },
    Stream,
}

impl CompleteOutput {
    /// Gives the file its name.
    ///
    /// # Errors
    /// `io`, for example if the folder was removed. An existing file is then untouched, unless only the
    /// last step failed: the flush of the folder after the rename.
    pub fn commit(self) -> Result<(), FileError> {
        let commit = || match self.target {
            CompleteTarget::Unnamed { file, final_path } => {
                link_or_rename(&file, &final_path)?;
                sync_folder(folder(&final_path))
            }
            CompleteTarget::Named { file, final_path } => {
                file.rename(&final_path)?;
                sync_folder(folder(&final_path))
            }
            CompleteTarget::Stream => Ok(()),
        };
        commit().map_err(|error| FileError::new(&self.path, error.into()))
    }
}

impl OutputTarget {
    /// The final name; `None` for a pipe or a device.
    fn final_path(&self) -> Option<&Path> {
        match self {
            OutputTarget::Unnamed { final_path, .. } | OutputTarget::Named { final_path, .. } => {
                Some(final_path)
            }
            OutputTarget::Stream(_) => None,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            OutputTarget::Unnamed { file, .. } => file.write(bytes),
            OutputTarget::Named { file, .. } => file.file.write(bytes),
            OutputTarget::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            OutputTarget::Unnamed { file, .. } => file.flush(),
            OutputTarget::Named { file, .. } => file.file.flush(),
            OutputTarget::Stream(file) => file.flush(),
        }
    }
}

/// Fails for a pipe or a device.
impl Seek for OutputFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.target {
            OutputTarget::Unnamed { file, .. } => file.seek(to),
            OutputTarget::Named { file, .. } => file.file.seek(to),
            OutputTarget::Stream(_) => Err(ErrorKind::NotSeekable.into()),
        }
    }
}

/// Adds the requested bytes and advice to the error of a full disk.
fn disk_full_error(error: io::Error, bytes: u64) -> io::Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
            let message = format!(
                "there is no room for {bytes} bytes ({error}): make room, or write to another disk"
            );
            io::Error::new(error.kind(), message)
        }
        _ => error,
    }
}

fn map_npy<'a>(
    file: &'a mut UnnamedFile,
    array_type: &ArrayType,
) -> Result<Option<ArrayViewMut<'a>>, FileErrorKind> {
    let ArrayType { dtype, shape } = array_type;
    let elements = shape.byte_count(dtype.size()).map_err(FileErrorKind::TooLarge)?;
    let header = npy_header(array_type);
    let bytes = header.len().saturating_add(elements);
    let mapped = file.map(bytes).map_err(|error| disk_full_error(error, bytes as u64))?;
    let Some(bytes) = mapped else { return Ok(None) };
    bytes[..header.len()].copy_from_slice(&header);
    let strides = row_major_byte_strides(array_type);
    let view = ArrayViewMut::from_bytes(array_type.clone(), strides, bytes, header.len());
    Ok(Some(view.expect("invariant: the file has a header and the elements")))
}

/// The target of a result at `path`: an existing pipe or device itself, otherwise a new file in the
/// folder of the path.
fn open_target(path: &Path) -> Result<OutputTarget, FileErrorKind> {
    let old = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.as_os_str().is_empty() => {
            // A path that ends in a slash names a folder.
            let ends_in_name = path.file_name().is_some_and(|name| {
                path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes())
            });
            return match ends_in_name {
                true => create_target(resolve_links(path)?, None),
                false => Err(FileErrorKind::Folder),
            };
        }
        old => old?,
    };
    if old.is_dir() {
        return Err(FileErrorKind::Folder);
    }
    // A file that is not writable is not replaced either.
    let file = File::options().write(true).open(path)?;
    match old.is_file() {
        true => create_target(path.canonicalize()?, Some(&old)),
        // A rename would replace the pipe or device by a file.
        false => Ok(OutputTarget::Stream(file)),
    }
}

/// The end of a chain of symbolic links to a file that does not exist yet; `path` itself if it is no
/// link.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            // Not a link, or it does not exist.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// A new file in the folder of `final_path`, so that the final rename copies no bytes.
fn create_target(
    final_path: PathBuf,
    old: Option<&Metadata>,
) -> Result<OutputTarget, FileErrorKind> {
    let folder = folder(&final_path);
    let no_folder = |error: io::Error| match error.kind() {
        ErrorKind::NotFound if !folder.exists() => {
            let folder = printable(&folder.to_string_lossy());
            io::Error::new(error.kind(), format!("there is no folder {folder}"))
        }
        _ => error,
    };
    let owner_error = |error: io::Error| match error.kind() {
        ErrorKind::PermissionDenied => FileErrorKind::OwnerNotKept,
        _ => error.into(),
    };
    remove_stale_files(folder);
    match UnnamedFile::create_in(folder) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            let file = HiddenFile::create_in(folder).map_err(no_folder)?;
            old.map_or(Ok(()), |old| copy_owner_and_mode(old, &file.file)).map_err(owner_error)?;
            Ok(OutputTarget::Named { file, final_path })
        }
        file => {
            let file = file.map_err(no_folder)?;
            old.map_or(Ok(()), |old| file.copy_owner_and_mode(old)).map_err(owner_error)?;
            Ok(OutputTarget::Unnamed { file, final_path })
        }
    }
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Links the file to its final name. A link cannot replace an existing name. In that case the file gets a
/// hidden name and is renamed; a lock makes [`remove_unfinished_files`](crate::remove_unfinished_files)
/// wait until both steps are done.
fn link_or_rename(file: &CompleteFile, final_path: &Path) -> io::Result<()> {
    match file.link(final_path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let _names = HiddenNames::lock();
            let hidden_file =
                hidden_name_builder().make_in(folder(final_path), |path| file.link(path));
            hidden_file.map_err(without_name)?.persist(final_path).map_err(|error| error.error)?;
            Ok(())
        }
        linked => linked,
    }
}

/// Builds hidden files with unused names. Listings of folders omit hidden names by default.
fn hidden_name_builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(HIDDEN_PREFIX).suffix(HIDDEN_SUFFIX);
    builder
}

/// A file with a hidden name. Dropping the handle removes it, and so does `remove_unfinished_files`.
#[derive(Debug)]
struct HiddenFile {
    file: File,
    name: PathBuf,
}

impl HiddenFile {
    fn create_in(folder: &Path) -> io::Result<Self> {
        let mut builder = hidden_name_builder();
        // Temporary files are private by default; a result has the permissions of the user's umask.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut names = HiddenNames::lock();
        for _ in 0..MAX_TRIES {
            let file = builder.tempfile_in(folder).map_err(without_name)?;
            let (file, name) = file.keep().map_err(|error| error.error)?;
            // Between creation and lock another process may have removed it as stale.
            let is_locked_by_another = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if !is_locked_by_another && name.exists() {
                names.add(&name);
                return Ok(HiddenFile { file, name });
            }
        }
        Err(io::Error::other("another process removes files that this one writes"))
    }

    fn rename(self, final_path: &Path) -> io::Result<()> {
        let names = HiddenNames::lock();
        let renamed = fs::rename(&self.name, final_path);
        drop(names);
        renamed
    }
}

impl Drop for HiddenFile {
    fn drop(&mut self) {
        let mut names = HiddenNames::lock();
        // After a rename the hidden name does not exist, and the removal fails.
        let _ = fs::remove_file(&self.name);
        names.remove(&self.name);
    }
}

/// Removes the name of a temporary file from an error: the user does not know it.
fn without_name(error: io::Error) -> io::Error {
    let inner = || error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error();
    match error.raw_os_error().or_else(inner) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}

/// Flushes the directory entries of a folder, if the system supports it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

impl CompleteResult for CompleteOutput {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        Ok(CompleteOutput::commit(*self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.npy");
        for old in [None, Some("old")] {
            if let Some(old) = old {
                fs::write(&path, old).unwrap();
            }
            let mut file = OutputFile::create(&path).unwrap();
            file.write_all(b"half of the new").unwrap();
            drop(file);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), old);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(old.is_some()));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_unfinished_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = OutputFile::create(&folder.path().join("x")).unwrap();
        file.write_all(b"text").unwrap();
        assert!(matches!(file.target, OutputTarget::Unnamed { .. }), "{file:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// The next file in the folder removes stale files, but not locked files or files of other names.
    #[test]
    fn what_was_left_behind_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [left, had, other] =
            [".indim-left.tmp", ".indim-had.tmp", "left.tmp"].map(|name| folder.path().join(name));
        for path in [&left, &had, &other] {
            fs::write(path, "half").unwrap();
        }
        let lock = File::open(&had).unwrap();
        lock.try_lock().unwrap();
        let path = folder.path().join("x");
        OutputFile::create(&path).unwrap().finish(&mut |_| ()).unwrap();
        assert!(!left.exists() && had.exists() && other.exists());
        drop(lock);
        OutputFile::create(&path).unwrap().finish(&mut |_| ()).unwrap();
        assert!(!had.exists() && other.exists() && path.exists());
    }

    /// The files of systems without unnamed files.
    #[test]
    fn files_with_hidden_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let create = || {
            let target = OutputTarget::Named {
                file: HiddenFile::create_in(folder.path()).unwrap(),
                final_path: path.clone(),
            };
            let mut file = OutputFile { path: path.clone(), target };
            file.write_all(b"text").unwrap();
            file
        };
        let file = create();
        let hidden: Vec<_> = names().collect();
        assert!(hidden.len() == 1 && hidden[0].to_str().unwrap().starts_with(".indim-"));
        let is_listed = || HiddenNames::lock().contains(&folder.path().join(&hidden[0]));
        assert!(is_listed());
        file.finish(&mut |_| ()).unwrap();
        assert_eq!(names().collect::<Vec<_>>(), ["x"]);
        assert!(!is_listed());
        assert_eq!(fs::read(&path).unwrap(), b"text");
        drop(create());
        assert_eq!(names().collect::<Vec<_>>(), ["x"]);
    }
}
