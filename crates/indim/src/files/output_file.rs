//! Where a file goes that is being written: it appears under its name complete, or not at all.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use indim_cpu::{ArrayViewMut, CompleteFile, UnnamedFile, copy_owner_and_mode, row_major_strides};
use indim_graph::terminal::shown;
use indim_ops::ArrayType;
use indim_stores::{HIDDEN_PREFIX, HIDDEN_SUFFIX, remove_stale_files};

use super::hidden_names::HiddenNames;
use super::write::npy_header;
use super::{FileError, FileErrorKind};

/// Symbolic links that are followed, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// How often a hidden file is made anew, whose name another process took for one that was left.
const MAX_TRIES: usize = 8;

/// A file that is being written: it appears under its name complete and on disk, or not at all.
///
/// Until then it has no name where the system allows that; elsewhere it has a hidden one in the same folder,
/// which [`remove_unfinished_files`](super::remove_unfinished_files) removes, and after a kill the next file
/// that is written to the folder: files are locked for as long as a process has them. A file that has been
/// there is replaced, the new one has its owner and its permissions, and behind a link it is the file that is
/// replaced. Pipes and devices take the bytes as they come.
///
/// ```
/// use indim::files::OutputFile;
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
    /// As the user gave it.
    path: PathBuf,
    place: OutputTarget,
}

#[derive(Debug)]
enum OutputTarget {
    Unnamed { file: UnnamedFile, target: PathBuf },
    Named { file: HiddenFile, target: PathBuf },
    Stream(File),
}

impl OutputFile {
    /// Opens a file for writing. Nothing is to be seen of it yet, but most that could keep it from being
    /// written is found out.
    ///
    /// # Errors
    /// `not-a-file` when `path` is a folder; `io` when its folder does not exist or may not be written to, or
    /// the file that is there may not be; `owner-not-kept` when that has an owner that the new one cannot be
    /// given.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let place = open(path).map_err(|kind| FileError::new(path, kind))?;
        Ok(OutputFile { path: path.to_owned(), place })
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file a `.npy` file of an array, and lends the memory of its elements, zeros, in which the
    /// array is to be computed; `None` where files cannot be memory, or this one is a pipe or a device.
    ///
    /// ```
    /// use indim::files::{ArrayFile, OutputFile};
    /// use indim::{ArrayType, CompileOptions, DType, GraphBuilder, compile};
    ///
    /// let b = GraphBuilder::new();
    /// let graph = b.finish(&[b.iota(DType::U8, [3], 0)?])?;
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("x.npy");
    /// let mut file = OutputFile::create(&path)?;
    /// if let Some(output) = file.map_npy(&ArrayType::new(DType::U8, [3]))? {
    ///     compile(&graph, &CompileOptions::default())?.run_into(&[], &mut [output])?;
    ///     file.finish(&mut |_| ())?;
    ///     assert_eq!(ArrayFile::open(&path)?.bytes(), [0, 1, 2]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `io`, when the disk has no room for the elements; `too-large`.
    pub fn map_npy(
        &mut self,
        array_type: &ArrayType,
    ) -> Result<Option<ArrayViewMut<'_>>, FileError> {
        let OutputTarget::Unnamed { file, .. } = &mut self.place else { return Ok(None) };
        map_npy(file, array_type).map_err(|kind| FileError::new(&self.path, kind))
    }

    /// Takes room on the disk for so many bytes, where the file system can, so that a full disk is an error
    /// before the work.
    ///
    /// # Errors
    /// `io`, when there is no room.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), FileError> {
        let OutputTarget::Unnamed { file, .. } = &mut self.place else { return Ok(()) };
        if bytes == 0 {
            // Linux takes that for a mistake.
            return Ok(());
        }
        match file.reserve(bytes) {
            Ok(_) => Ok(()),
            Err(error) => Err(FileError::new(&self.path, no_room(error, bytes).into())),
        }
    }

    /// Whether bytes go to a pipe or a device as they come, which is no file to go back in.
    pub fn is_stream(&self) -> bool {
        matches!(self.place, OutputTarget::Stream(_))
    }

    /// The folder that it is to lie in.
    pub(super) fn folder(&self) -> &Path {
        folder(self.place.target().unwrap_or(&self.path))
    }

    /// Whether both would have the same name in the same folder.
    ///
    /// ```
    /// use indim::files::OutputFile;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let create = |name: &str| OutputFile::create(&folder.path().join(name));
    /// assert!(create("x.npy")?.has_place_of(&create("./x.npy")?));
    /// assert!(!create("x.npy")?.has_place_of(&create("y.npy")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn has_place_of(&self, other: &OutputFile) -> bool {
        let place = |file: &OutputFile| {
            let target = file.place.target()?;
            Some((folder(target).canonicalize().ok()?, target.file_name()?.to_owned()))
        };
        place(self).is_some_and(|own| place(other) == Some(own))
    }

    /// Writes the file to the disk and gives it its name. `progress` hears of the bytes of mapped elements
    /// that have reached the disk.
    ///
    /// # Errors
    /// `io`, when the disk fails, or meanwhile the folder has gone; the old file, if there was one, is
    /// untouched.
    pub fn finish(self, progress: &mut dyn FnMut(usize)) -> Result<(), FileError> {
        self.complete(progress)?.put_in_place()
    }

    /// The first half of [`OutputFile::finish`], which takes long and may fail: writes the file to the disk.
    /// Of several files, all are completed before any gets its name.
    ///
    /// ```
    /// use indim::files::OutputFile;
    /// use std::io::Write;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("result.txt");
    /// let mut file = OutputFile::create(&path)?;
    /// file.write_all(b"all of it")?;
    /// let complete = file.complete(&mut |_| ())?;
    /// assert!(!path.exists());
    /// complete.put_in_place()?;
    /// assert!(path.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `io`, when the disk fails.
    pub fn complete(self, progress: &mut dyn FnMut(usize)) -> Result<CompleteOutput, FileError> {
        let path = self.path;
        let complete = || {
            Ok(match self.place {
                OutputTarget::Unnamed { file, target } => {
                    CompleteTarget::Unnamed { file: file.complete(progress)?, target }
                }
                OutputTarget::Named { file, target } => {
                    file.file.sync_all()?;
                    CompleteTarget::Named { file, target }
                }
                OutputTarget::Stream(mut file) => {
                    file.flush()?;
                    CompleteTarget::Stream
                }
            })
        };
        match complete() {
            Ok(place) => Ok(CompleteOutput { path, place }),
            Err(error) => Err(FileError::new(&path, io::Error::into(error))),
        }
    }
}

/// A file that is complete and on disk, and gets its name by [`CompleteOutput::put_in_place`] or vanishes.
#[derive(Debug)]
pub struct CompleteOutput {
    path: PathBuf,
    place: CompleteTarget,
}

#[derive(Debug)]
enum CompleteTarget {
    Unnamed { file: CompleteFile, target: PathBuf },
    Named { file: HiddenFile, target: PathBuf },
    Stream,
}

impl CompleteOutput {
    /// Gives the file its name.
    ///
    /// # Errors
    /// `io`, when meanwhile the folder has gone; the old file, if there was one, is untouched.
    pub fn put_in_place(self) -> Result<(), FileError> {
        let put = || match self.place {
            CompleteTarget::Unnamed { file, target } => {
                give_name(&file, &target)?;
                sync_folder(folder(&target))
            }
            CompleteTarget::Named { file, target } => {
                file.rename(&target)?;
                sync_folder(folder(&target))
            }
            CompleteTarget::Stream => Ok(()),
        };
        put().map_err(|error| FileError::new(&self.path, error.into()))
    }
}

impl OutputTarget {
    /// The name that the file is to have; none of a pipe or a device.
    fn target(&self) -> Option<&Path> {
        match self {
            OutputTarget::Unnamed { target, .. } | OutputTarget::Named { target, .. } => {
                Some(target)
            }
            OutputTarget::Stream(_) => None,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            OutputTarget::Unnamed { file, .. } => file.write(bytes),
            OutputTarget::Named { file, .. } => file.file.write(bytes),
            OutputTarget::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            OutputTarget::Unnamed { file, .. } => file.flush(),
            OutputTarget::Named { file, .. } => file.file.flush(),
            OutputTarget::Stream(file) => file.flush(),
        }
    }
}

/// Not of a pipe or a device.
impl Seek for OutputFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.place {
            OutputTarget::Unnamed { file, .. } => file.seek(to),
            OutputTarget::Named { file, .. } => file.file.seek(to),
            OutputTarget::Stream(_) => Err(ErrorKind::NotSeekable.into()),
        }
    }
}

/// The error of a disk that is full, with what was wanted of it.
fn no_room(error: io::Error, bytes: u64) -> io::Error {
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
    let mapped = file.map(bytes).map_err(|error| no_room(error, bytes as u64))?;
    let Some(bytes) = mapped else { return Ok(None) };
    bytes[..header.len()].copy_from_slice(&header);
    let strides = row_major_strides(array_type);
    let view = ArrayViewMut::from_bytes(array_type.clone(), strides, bytes, header.len());
    Ok(Some(view.expect("invariant: the file has a header and the elements")))
}

fn open(path: &Path) -> Result<OutputTarget, FileErrorKind> {
    let old = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.as_os_str().is_empty() => {
            // A name that ends in a slash is meant to be a folder's.
            let ends_in_name = path.file_name().is_some_and(|name| {
                path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes())
            });
            return match ends_in_name {
                true => place_in_folder(behind_links(path)?, None),
                false => Err(FileErrorKind::Folder),
            };
        }
        old => old?,
    };
    if old.is_dir() {
        return Err(FileErrorKind::Folder);
    }
    // What may not be written to is not replaced either.
    let file = File::options().write(true).open(path)?;
    match old.is_file() {
        true => place_in_folder(path.canonicalize()?, Some(&old)),
        // Renaming would put a file in the place of a pipe or a device.
        false => Ok(OutputTarget::Stream(file)),
    }
}

/// The target of a link to a file that does not exist yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            // No link, or nothing.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// A new file in the folder of `target`, to be renamed within it, which moves no bytes.
fn place_in_folder(target: PathBuf, old: Option<&Metadata>) -> Result<OutputTarget, FileErrorKind> {
    let folder = folder(&target);
    let no_folder = |error: io::Error| match error.kind() {
        ErrorKind::NotFound if !folder.exists() => {
            let folder = shown(&folder.to_string_lossy());
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
            Ok(OutputTarget::Named { file, target })
        }
        file => {
            let file = file.map_err(no_folder)?;
            old.map_or(Ok(()), |old| file.copy_owner_and_mode(old)).map_err(owner_error)?;
            Ok(OutputTarget::Unnamed { file, target })
        }
    }
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Links the file into place. No system links over a name that something has: then the file has a hidden
/// name for the moment until it is renamed, in which no signal is attended to.
fn give_name(file: &CompleteFile, target: &Path) -> io::Result<()> {
    match file.link(target) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let _names = HiddenNames::lock();
            let interim = hidden().make_in(folder(target), |path| file.link(path));
            interim.map_err(without_name)?.persist(target).map_err(|error| error.error)?;
            Ok(())
        }
        linked => linked,
    }
}

/// Names that nothing has, and that list no files for who does not ask for hidden ones.
fn hidden() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(HIDDEN_PREFIX).suffix(HIDDEN_SUFFIX);
    builder
}

/// A file with a hidden name, which is removed with this handle or by a signal.
#[derive(Debug)]
struct HiddenFile {
    file: File,
    name: PathBuf,
}

impl HiddenFile {
    fn create_in(folder: &Path) -> io::Result<Self> {
        let mut builder = hidden();
        // Temporary files are private by default; a result is as public as the user's mask says.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut names = HiddenNames::lock();
        for _ in 0..MAX_TRIES {
            let file = builder.tempfile_in(folder).map_err(without_name)?;
            let (file, name) = file.keep().map_err(|error| error.error)?;
            // Until it was locked another process may have taken it for one that was left.
            let is_locked_by_another = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if !is_locked_by_another && name.exists() {
                names.add(&name);
                return Ok(HiddenFile { file, name });
            }
        }
        Err(io::Error::other("another process removes files that this one writes"))
    }

    fn rename(self, target: &Path) -> io::Result<()> {
        let names = HiddenNames::lock();
        let renamed = fs::rename(&self.name, target);
        drop(names);
        renamed
    }
}

impl Drop for HiddenFile {
    fn drop(&mut self) {
        let mut names = HiddenNames::lock();
        // After the rename the file has another name.
        let _ = fs::remove_file(&self.name);
        names.forget(&self.name);
    }
}

/// The error without the name of a temporary file, which means nothing to the user.
fn without_name(error: io::Error) -> io::Error {
    let inner = || error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error();
    match error.raw_os_error().or_else(inner) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}

/// Puts a new name on disk, where the system and the folder let us.
fn sync_folder(folder: &Path) -> io::Result<()> {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
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
        assert!(matches!(file.place, OutputTarget::Unnamed { .. }), "{file:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// What a killed process left is removed by the next file in the folder; what a process has is not, nor
    /// what has another name.
    #[test]
    fn what_was_left_behind_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [left, had, other] =
            [".indim-left.tmp", ".indim-had.tmp", "left.tmp"].map(|name| folder.path().join(name));
        for path in [&left, &had, &other] {
            fs::write(path, "half").unwrap();
        }
        let had_by = File::open(&had).unwrap();
        had_by.try_lock().unwrap();
        let path = folder.path().join("x");
        OutputFile::create(&path).unwrap().finish(&mut |_| ()).unwrap();
        assert!(!left.exists() && had.exists() && other.exists());
        drop(had_by);
        OutputFile::create(&path).unwrap().finish(&mut |_| ()).unwrap();
        assert!(!had.exists() && other.exists() && path.exists());
    }

    /// Where the system has no files without names.
    #[test]
    fn files_with_hidden_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let create = || {
            let place = OutputTarget::Named {
                file: HiddenFile::create_in(folder.path()).unwrap(),
                target: path.clone(),
            };
            let mut file = OutputFile { path: path.clone(), place };
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
