//! `.npz` archives.

use std::io::Write;
use std::path::Path;

use indim::files::{FileErrorKind, read_npz_member, read_npz_member_type};

use crate::npy;

/// Reads the member `x` of an archive with these bytes; if the archive has no `x`, its first four
/// members.
pub fn run(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    for member in read(file.path(), "x") {
        read(file.path(), &member);
    }
}

/// Reads and checks a member. If it does not exist, returns the names of the first four members; else
/// nothing.
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
