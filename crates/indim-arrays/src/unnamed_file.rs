//! Output files without a name until they are complete, mapped for writing. Holds unsafe code.

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use crate::system_memory::MmapMut;

/// Bytes that one flush writes to the disk, between reports of progress.
const FLUSH_BYTES: usize = 32 << 20;

/// A new file without a name, which the system deletes unless it gets one.
///
/// Linux supports this on most file systems (`O_TMPFILE`). No other process can open such a file, so none can
/// change its mapped pages.
#[derive(Debug)]
pub struct UnnamedFile {
    file: File,
    map: Option<MmapMut>,
}

impl UnnamedFile {
    /// A file in `folder`, with the permissions that the user's umask leaves. The file stays locked
    /// while it is open, so that a process that finds it under a temporary name detects the writer.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the system has no such files; if the folder is not writable.
    pub fn create_in(folder: &Path) -> io::Result<Self> {
        let file = system::create_in(folder)?;
        // On a file system without locks the attempt fails. There, no process removes files for lacking a
        // lock either.
        let _ = file.try_lock();
        Ok(UnnamedFile { file, map: None })
    }

    /// Reserves disk space for a file of `bytes` bytes. Returns whether the file system supports this.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn reserve(&mut self, bytes: u64) -> io::Result<bool> {
        system::reserve(&self.file, bytes)
    }

    /// Gives the file the owner and the permissions of another, as [`copy_owner_and_mode`] does.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn copy_owner_and_mode(&self, of: &Metadata) -> io::Result<()> {
        copy_owner_and_mode(of, &self.file)
    }

    /// Maps the file as memory of `bytes` zeros, with disk space reserved; `None` if the file system cannot
    /// reserve space, or map the file.
    ///
    /// # Errors
    /// If the disk is full, or the system has no memory for the map.
    pub fn map(&mut self, bytes: usize) -> io::Result<Option<&mut [u8]>> {
        if !system::reserve(&self.file, bytes as u64)? {
            return Ok(None);
        }
        // SAFETY:
        // - the file has no name and its handle is private, so no other code writes to it or shortens it;
        // - `reserve` made it `bytes` long with disk space, so writes to its pages cannot fail.
        match unsafe { MmapMut::map_mut(&self.file) } {
            Ok(map) => Ok(Some(&mut *self.map.insert(map))),
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Writes everything to the disk. After each flush, `progress` receives the number of mapped bytes
    /// that the flush wrote.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn complete(mut self, progress: &mut dyn FnMut(usize)) -> io::Result<CompleteFile> {
        // Other processes may change the file once it has a name, so the map ends here.
        if let Some(map) = self.map.take() {
            for start in (0..map.len()).step_by(FLUSH_BYTES) {
                let bytes = FLUSH_BYTES.min(map.len() - start);
                map.flush_range(start, bytes)?;
                progress(bytes);
            }
        }
        self.file.sync_all()?;
        Ok(CompleteFile(self.file))
    }
}

/// A file that is complete and on disk, and may get a name.
#[derive(Debug)]
pub struct CompleteFile(File);

impl CompleteFile {
    /// Gives the file a name, in the file system in which it was created.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name exists, because a link never replaces a file; if the
    /// system refuses.
    pub fn link(&self, path: &Path) -> io::Result<()> {
        system::link(&self.0, path)
    }
}

impl Write for UnnamedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for UnnamedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Gives the file `to` the owner, the group and the permissions in `of`, if they differ.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] if the user may not change the owner.
pub fn copy_owner_and_mode(of: &Metadata, to: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = to.metadata()?;
        let uid = Some(of.uid()).filter(|uid| *uid != own.uid());
        let gid = Some(of.gid()).filter(|gid| *gid != own.gid());
        if uid.is_some() || gid.is_some() {
            std::os::unix::fs::fchown(to, uid, gid)?;
        }
    }
    // A change of owner clears permission bits, so permissions are set after it.
    to.set_permissions(of.permissions())
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, FallocateFlags, OFlags, fallocate, linkat};
    use rustix::io::{Errno, retry_on_intr};

    pub(super) fn create_in(folder: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE.bits() as i32;
        let mut options = File::options();
        let opened = options.read(true).write(true).custom_flags(flags).mode(0o666).open(folder);
        let unsupported = [Errno::OPNOTSUPP, Errno::ISDIR, Errno::INVAL];
        match opened {
            Err(error)
                if unsupported
                    .map(|it| Some(it.raw_os_error()))
                    .contains(&error.raw_os_error()) =>
            {
                Err(io::ErrorKind::Unsupported.into())
            }
            // `link` names the file through this path, which therefore must exist.
            Ok(file) if !own_path(&file).exists() => Err(io::ErrorKind::Unsupported.into()),
            opened => opened,
        }
    }

    /// Makes the file `bytes` long and reserves disk space. Returns whether the file system supports this.
    pub(super) fn reserve(file: &File, bytes: u64) -> io::Result<bool> {
        let reserve = || fallocate(file, FallocateFlags::empty(), 0, bytes);
        match retry_on_intr(reserve) {
            Ok(()) => Ok(true),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
        Ok(linkat(CWD, own_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn own_path(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn create_in(_: &Path) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn reserve(_: &File, _: u64) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
