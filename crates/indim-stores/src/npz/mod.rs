//! NumPy's archives `.npz`, stored or deflated. The library `zip` reads them.
//!
//! - `read.rs`: finds members, and reads them into memory;
//! - `source.rs`: a member as a source; `deflated.rs`: a deflated member, sequentially;
//! - `write.rs`: writes archives; `sink.rs`: members as sinks.

mod deflated;
mod read;
mod sink;
mod source;
mod write;

use std::path::Path;

pub use read::{read_npz_member, read_npz_member_type, read_npz_member_within};
pub use sink::{largest_npz_member, npz_sinks};
pub use source::NpzSource;
pub use write::write_npz_to;

use indim_ops::ArrayType;

use crate::format_code::{self, FileWriter, FormatCode, FormatWriter, MapFile};
use crate::{ArrayFile, FileError, FileErrorKind, Source, StoreError};

/// The format `.npz`.
#[derive(Debug)]
pub(crate) struct Npz;

static WRITER: FileWriter = FileWriter {
    sinks: npz_sinks,
    write: |output, results| write_npz_to(output, results.iter().copied()),
    can_map: false,
};

fn member_not_named(path: &Path) -> FileError {
    FileError::new(path, format_code::member_not_named("npz", read::members(path)))
}

impl FormatCode for Npz {
    fn open(
        &self,
        path: &Path,
        member: Option<&str>,
        _: usize,
    ) -> Result<Box<dyn Source>, StoreError> {
        let member = member.ok_or_else(|| member_not_named(path))?;
        Ok(Box::new(NpzSource::open(path, member)?))
    }

    fn load(
        &self,
        path: &Path,
        member: Option<&str>,
        limit: usize,
        _: MapFile<'_>,
    ) -> Option<Result<ArrayFile, FileError>> {
        let member = member.ok_or_else(|| member_not_named(path));
        Some(member.and_then(|member| read_npz_member_within(path, member, limit)))
    }

    fn members(&self, path: &Path) -> Option<Result<Vec<String>, FileErrorKind>> {
        Some(read::members(path))
    }

    fn can_load(&self) -> bool {
        true
    }

    fn writer(&self) -> FormatWriter {
        FormatWriter::File(&WRITER)
    }

    fn are_sequential(&self, results: &[&ArrayType]) -> Vec<bool> {
        let largest = largest_npz_member(results);
        (0..results.len()).map(|index| Some(index) == largest).collect()
    }
}
