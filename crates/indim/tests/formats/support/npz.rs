//! Arrays from `.npz` files: archives of `.npy` files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use indim_graph::Array;

use super::npy;
use super::samples::dtype_of;

/// The arrays `input0`, `input1`, ... for the name `input`, with these types.
///
/// # Panics
/// If an array is missing.
pub(crate) fn read(path: &Path, name: &str, types: &[String]) -> Vec<Array> {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut archive = zip::ZipArchive::new(file).expect("an archive");
    let mut array = |(index, array_type): (usize, &String)| {
        let member = format!("{name}{index}.npy");
        let mut bytes = Vec::new();
        let mut member = archive.by_name(&member).expect("the array is there");
        member.read_to_end(&mut bytes).expect("it can be unpacked");
        npy::parse(&bytes, dtype_of(array_type))
    };
    types.iter().enumerate().map(&mut array).collect()
}
