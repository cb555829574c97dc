//! A member of a `.npz` archive as a source.

use std::path::Path;

use crate::{ArrayRegion, Source, StoreError};
use indim_arrays::Array;
use indim_ops::ArrayType;
use zip::CompressionMethod;

use super::deflated::DeflatedFile;
use super::read::{ArchiveMember, locate};
use crate::dense_file::DenseFile;
use crate::{FileError, FileErrorKind};

/// A member of a `.npz` archive. Stored members (`numpy.savez`) have random access; deflated members
/// (`numpy.savez_compressed`) are sequential.
///
/// A deflated member has no random access: a region that begins before every kept decoder position is
/// inflated from the beginning again. The checksum of a deflated member is compared when a read reaches
/// the end of its elements. The checksum of a stored member is not compared, because that would read the
/// whole member first.
///
/// ```
/// use indim_stores::{NpzSource, write_npz_to};
/// use indim_stores::{ArrayRegion, Source};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// let bytes = ArrayType::new(DType::U8, [3]);
/// assert!(write_npz_to(std::fs::File::create(&path)?, [("x", &bytes, &[1, 2, 3][..])]).is_ok());
/// let x = NpzSource::open(&path, "x")?;
/// assert_eq!(x.read(&ArrayRegion::new([1], [2]))?.bytes(), [2, 3]);
/// assert!(!x.is_sequential());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NpzSource(MemberSource);

#[derive(Debug)]
enum MemberSource {
    Stored(DenseFile),
    Deflated(DeflatedFile),
}

impl NpzSource {
    /// Opens a member (with or without `.npy`) of an archive and reads its header.
    ///
    /// # Errors
    /// Like [`read_npz_member_type`](crate::read_npz_member_type).
    pub fn open(path: &Path, member: &str) -> Result<Self, FileError> {
        let open = || {
            let ArchiveMember { file, header, compression, location } = locate(path, member)?;
            Ok(NpzSource(match compression {
                CompressionMethod::Stored => {
                    MemberSource::Stored(DenseFile::new(path, file, header, location.start)?)
                }
                CompressionMethod::Deflated => {
                    MemberSource::Deflated(DeflatedFile::new(path, file, header, location)?)
                }
                other => {
                    let message = format!("`{member}` is compressed by {other}, which is not read");
                    return Err(FileErrorKind::BadArchive(message));
                }
            }))
        };
        open().map_err(|kind| FileError::new(path, kind))
    }

    fn source(&self) -> &dyn Source {
        match &self.0 {
            MemberSource::Stored(file) => file,
            MemberSource::Deflated(file) => file,
        }
    }
}

impl Source for NpzSource {
    fn array_type(&self) -> &ArrayType {
        self.source().array_type()
    }

    fn is_column_major(&self) -> bool {
        self.source().is_column_major()
    }

    fn is_sequential(&self) -> bool {
        self.source().is_sequential()
    }

    fn scratch_bytes(&self) -> usize {
        self.source().scratch_bytes()
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        self.source().read(region)
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        self.source().check_unchanged()
    }
}
