//! Arrays in `.npy` files, and in archives that do not compress them, as sources that are read by regions.
//!
//! Regions are read, not mapped: a file that becomes shorter is an error then, not the end of the process.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
#[cfg(not(unix))]
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use indim_cpu::Buffer;
use indim_ops::ArrayType;
use indim_stores::{Region, Source, StoreError, StoreErrorKind, check_region};

use super::header::Header;
use super::read::{not_npy_but_archive, read_header};
use super::{FileError, npz};

/// The array in a `.npy` file, row-major or column-major, in either byte order, read by regions.
///
/// ```
/// use indim::files::{NpySource, write_npy};
/// use indim::stream::{Region, Source};
/// use indim::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.npy");
/// write_npy(&path, &ArrayType::new(DType::U8, [2, 3]), &[1, 2, 3, 4, 5, 6])?;
/// let x = NpySource::open(&path)?;
/// assert_eq!(x.array_type().to_string(), "u8[2, 3]");
/// assert_eq!(x.read(&Region::new([0, 1], [2, 1]))?.bytes(), [2, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NpySource {
    /// As the user gave it.
    path: PathBuf,
    file: OpenFile,
    /// The length and the time of change when it was opened.
    version: (u64, Option<SystemTime>),
    header: Header,
    /// Where the header begins.
    offset: u64,
}

impl NpySource {
    /// Opens a file, of which the header is read.
    ///
    /// # Errors
    /// As [`ArrayFile::open`](super::ArrayFile::open), but for what takes memory.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let open = || {
            let (mut file, length) = super::read::open(path)?;
            let version = version(&file.metadata()?);
            let (_, header) = read_header(&mut file, length)?;
            let file = OpenFile::new(file);
            Ok(NpySource { path: path.to_owned(), file, version, header, offset: 0 })
        };
        open().map_err(|kind| not_npy_but_archive(path, kind))
    }

    /// Opens a member (with or without `.npy`) of an archive, where it is not compressed; `None` where it is.
    /// Its checksum is not compared, which would take reading all of it first.
    ///
    /// ```
    /// use indim::files::{NpySource, write_npz_to};
    /// use indim::stream::{Region, Source};
    /// use indim::{ArrayType, DType};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("arrays.npz");
    /// let bytes = ArrayType::new(DType::U8, [3]);
    /// assert!(write_npz_to(std::fs::File::create(&path)?, [("x", &bytes, &[1, 2, 3][..])]).is_ok());
    /// let x = NpySource::open_member(&path, "x")?.expect("stored as it is");
    /// assert_eq!(x.read(&Region::new([1], [2]))?.bytes(), [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_npz_member_type`](super::read_npz_member_type).
    pub fn open_member(path: &Path, member: &str) -> Result<Option<Self>, FileError> {
        let open = || {
            let Some((file, header, offset)) = npz::stored_member(path, member)? else {
                return Ok(None);
            };
            let version = version(&file.metadata()?);
            let file = OpenFile::new(file);
            Ok(Some(NpySource { path: path.to_owned(), file, version, header, offset }))
        };
        open().map_err(|kind| FileError::new(path, kind))
    }

    fn place(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Reads the bytes of a region, which lie in the buffer in the order of the file.
    fn read_runs(&self, region: &Region, mut bytes: &mut [u8]) -> Result<(), StoreErrorKind> {
        let ArrayType { dtype, shape } = &self.header.array_type;
        let elements = self.offset + self.header.elements.start as u64;
        for run in Runs::new(shape, region, self.header.is_fortran) {
            let (first, rest) = bytes.split_at_mut(run.elements * dtype.size());
            let offset = elements + (run.start * dtype.size()) as u64;
            self.file.read_at(first, offset).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => StoreErrorKind::FileChanged,
                _ => StoreErrorKind::Io(error),
            })?;
            self.header.to_native(first);
            bytes = rest;
        }
        Ok(())
    }
}

impl Source for NpySource {
    fn array_type(&self) -> &ArrayType {
        &self.header.array_type
    }

    fn is_column_major(&self) -> bool {
        self.header.is_fortran
    }

    fn read(&self, region: &Region) -> Result<Buffer, StoreError> {
        let read = || {
            check_region(region, self.array_type())?;
            let array_type = ArrayType::new(self.array_type().dtype, region.extents().clone());
            let fill = |bytes: &mut [u8]| self.read_runs(region, bytes);
            match self.header.is_fortran {
                true => Buffer::filled_column_major(array_type, fill),
                false => Buffer::filled(array_type, fill),
            }
        };
        read().map_err(|kind| StoreError::new(self.place(), kind))
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        let now = self.file.metadata().map(|metadata| version(&metadata));
        match now.is_ok_and(|now| now == self.version) {
            true => Ok(()),
            false => Err(StoreError::new(self.place(), StoreErrorKind::FileChanged)),
        }
    }
}

/// What tells one state of a file from another; some systems note no time.
fn version(metadata: &Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

/// Elements that lie together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The index of the first one in the file.
    pub(super) start: usize,
    pub(super) elements: usize,
}

/// The runs of a region, in the order of the file.
pub(super) struct Runs {
    /// The sizes and strides, in elements, of the axes outside of a run, the slowest first.
    outer: Vec<(usize, usize)>,
    index: Vec<usize>,
    next: Option<Run>,
}

impl Runs {
    pub(super) fn new(shape: &[usize], region: &Region, is_column_major: bool) -> Self {
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        if is_column_major {
            axes.reverse();
        }
        let (starts, extents) = (region.starts(), region.extents());
        let (mut stride, mut start, mut elements) = (1, 0, 1);
        let (mut outer, mut is_run) = (Vec::new(), true);
        for &axis in axes.iter().rev() {
            start += starts[axis] * stride;
            match is_run {
                true => elements *= extents[axis],
                false => outer.push((extents[axis], stride)),
            }
            // A run goes on over the next axis as long as it has all of this one.
            is_run &= extents[axis] == shape[axis];
            stride *= shape[axis];
        }
        outer.reverse();
        let is_empty = extents.contains(&0);
        let next = (!is_empty).then_some(Run { start, elements });
        Runs { index: vec![0; outer.len()], outer, next }
    }
}

impl Iterator for Runs {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let run = self.next?;
        let mut following = run;
        self.next = None;
        for (index, &(size, stride)) in self.index.iter_mut().zip(&self.outer).rev() {
            *index += 1;
            following.start += stride;
            if *index < size {
                self.next = Some(following);
                break;
            }
            following.start -= stride * size;
            *index = 0;
        }
        Some(run)
    }
}

/// A file that several threads read at places of their own.
#[derive(Debug)]
struct OpenFile {
    #[cfg(unix)]
    file: File,
    #[cfg(not(unix))]
    file: Mutex<File>,
}

#[cfg(unix)]
impl OpenFile {
    fn new(file: File) -> Self {
        OpenFile { file }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }
}

#[cfg(not(unix))]
impl OpenFile {
    fn new(file: File) -> Self {
        OpenFile { file: Mutex::new(file) }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).metadata()
    }
}

#[cfg(test)]
mod tests {
    use indim_ops::DType;
    use indim_shape::Shape;

    use super::*;
    use crate::files::write_npy;

    /// Every region of small arrays, against index arithmetic.
    #[test]
    fn runs_are_the_elements_of_a_region() {
        for shape in [&[][..], &[3], &[2, 3], &[3, 1, 2], &[2, 3, 2], &[2, 0]] {
            for is_column_major in [false, true] {
                for region in regions(shape) {
                    let runs = Runs::new(shape, &region, is_column_major);
                    let found = runs.flat_map(|run| run.start..run.start + run.elements);
                    let found: Vec<usize> = found.collect();
                    let expected = places(shape, &region, is_column_major);
                    assert_eq!(found, expected, "{shape:?} {region} {is_column_major}");
                }
            }
        }
    }

    fn regions(shape: &[usize]) -> Vec<Region> {
        let mut regions = vec![(Vec::new(), Vec::new())];
        for &size in shape {
            let longer = regions.iter().flat_map(|(starts, extents): &(Vec<usize>, Vec<usize>)| {
                let along =
                    (0..=size).flat_map(move |start| (0..=size - start).map(move |of| (start, of)));
                along.map(move |(start, extent)| {
                    ([&starts[..], &[start]].concat(), [&extents[..], &[extent]].concat())
                })
            });
            regions = longer.collect();
        }
        regions.into_iter().map(|(starts, extents)| Region::new(starts, extents)).collect()
    }

    /// Where each element of a region is in the file, in the order of the file.
    fn places(shape: &[usize], region: &Region, is_column_major: bool) -> Vec<usize> {
        let count: usize = shape.iter().product();
        let index = |place: usize| {
            let (mut rest, mut index) = (place, vec![0; shape.len()]);
            let mut axes: Vec<usize> = (0..shape.len()).collect();
            if !is_column_major {
                axes.reverse();
            }
            for axis in axes {
                index[axis] = rest % shape[axis];
                rest /= shape[axis];
            }
            index
        };
        let is_in =
            |index: &[usize]| region.ranges().zip(index).all(|(range, at)| range.contains(at));
        (0..count).filter(|&place| is_in(&index(place))).collect()
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        write_npy(&path, &ArrayType::new(DType::U8, [4]), &[1, 2, 3, 4]).unwrap();
        let source = NpySource::open(&path).unwrap();
        let whole = Region::whole(&Shape::from([4]));
        assert_eq!(source.read(&whole).unwrap().bytes(), [1, 2, 3, 4]);
        assert!(source.check_unchanged().is_ok());
        File::options().write(true).open(&path).unwrap().set_len(130).unwrap();
        assert_eq!(source.read(&whole).unwrap_err().code(), "file-changed");
        assert_eq!(source.read(&Region::new([0], [2])).unwrap().bytes(), [1, 2]);
        assert_eq!(source.check_unchanged().unwrap_err().code(), "file-changed");
        assert_eq!(source.read(&Region::new([3], [2])).unwrap_err().code(), "outside-of-array");
    }
}
