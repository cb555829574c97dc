//! `.npz` archives.

use std::io::Write;
use std::path::Path;

use indim::files::{FileErrorKind, read_npz_member, read_npz_member_type};

use crate::npy;

/// Reads a member `x` of the bytes as an archive, and every other one that it names.
pub fn run(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    for member in read(file.path(), "x") {
        read(file.path(), &member);
    }
}

/// Reads a member; the first few members, if it does not exist.
fn read(path: &Path, member: &str) -> Vec<String> {
    match read_npz_member(path, member) {
        Ok(array) => {
            npy::check(&array);
            assert_eq!(read_npz_member_type(path, member).unwrap(), *array.array_type());
        }
        Err(error) => {
            assert!(!error.code().is_empty() && !error.to_string().is_empty());
            if let FileErrorKind::NoMember { members, .. } = error.kind {
                return members.into_iter().take(4).collect();
            }
        }
    }
    Vec::new()
}
