//! Samples that other packages wrote, by `data/make_samples.py`.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use indim_shape::Shape;
use indim_stores::{ArrayRegion, Source, copy_into_region};
use tempfile::TempDir;

/// The folder of the unpacked samples.
pub(crate) struct Samples(TempDir);

impl Samples {
    /// The paths of all samples of a kind: `zarr`, `png`, `tiff`.
    pub(crate) fn unpack(kind: &str) -> Samples {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/samples.zip");
        let folder = tempfile::tempdir().unwrap();
        let mut archive = zip::ZipArchive::new(File::open(archive).unwrap()).unwrap();
        for index in 0..archive.len() {
            let mut member = archive.by_index(index).unwrap();
            let name = member.enclosed_name().unwrap();
            if name.starts_with(kind) {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::io::copy(&mut member, &mut File::create(path).unwrap()).unwrap();
            }
        }
        Samples(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The samples of a kind, each with the `.npy` file of its expected elements.
    pub(crate) fn pairs(&self, kind: &str) -> Vec<(PathBuf, PathBuf)> {
        let entries = fs::read_dir(self.path(kind)).unwrap().map(|entry| entry.unwrap().path());
        let mut others: Vec<PathBuf> = entries
            .filter(|path| path.extension().is_none_or(|extension| extension != "npy"))
            .collect();
        others.sort();
        let npy = |path: PathBuf| {
            let npy = PathBuf::from(format!("{}.npy", path.with_extension("").display()));
            npy.exists().then_some((path, npy))
        };
        others.into_iter().filter_map(npy).collect()
    }
}

/// The element type of NumPy, the shape, and the bytes of a `.npy` file.
fn read_npy(path: &Path) -> (String, Shape, Vec<u8>) {
    let file = fs::read(path).unwrap();
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = std::str::from_utf8(&file[10..10 + length]).unwrap();
    let quoted = |name: &str| header.split(name).nth(1).unwrap();
    let descr = quoted("'descr': '").split('\'').next().unwrap().to_owned();
    let sizes = quoted("'shape': (").split(')').next().unwrap();
    let sizes = sizes.split(',').filter(|size| !size.trim().is_empty());
    let shape = sizes.map(|size| size.trim().parse::<usize>().unwrap()).collect();
    (descr, shape, file[10 + length..].to_vec())
}

/// A whole array, read in one call and in pieces, which must agree.
pub(crate) fn read_by_pieces(source: &dyn Source) -> Vec<u8> {
    let array_type = source.array_type();
    let whole =
        source.read(&ArrayRegion::whole(&array_type.shape)).unwrap().to_row_major().unwrap();
    let steps = array_type.shape.iter().enumerate().map(|(axis, size)| (2 + axis).max(size / 3));
    let steps: Vec<usize> = steps.collect();
    let mut gathered = vec![0; whole.bytes().len()];
    for region in ArrayRegion::grid(&array_type.shape, &steps) {
        let piece = source.read(&region).unwrap().to_row_major().unwrap();
        copy_into_region(
            piece.bytes(),
            &mut gathered,
            &array_type.shape,
            array_type.dtype.size(),
            &region,
        );
    }
    assert_eq!(whole.bytes(), gathered);
    gathered
}

/// Compares a source with a `.npy` file.
pub(crate) fn assert_holds(source: &dyn Source, npy: &Path, name: &Path) {
    let (descr, shape, bytes) = read_npy(npy);
    let array_type = source.array_type();
    assert_eq!(array_type.shape, shape, "{}", name.display());
    assert_eq!(array_type.dtype.size(), descr[2..].parse::<usize>().unwrap(), "{}", name.display());
    if cfg!(target_endian = "little") || array_type.dtype.size() == 1 {
        assert!(read_by_pieces(source) == bytes, "{}", name.display());
    }
}
