//! Columns of CSV tables, by the library `csv`.
//!
//! - `table.rs`: delimiter, header, and the fields of one column;
//! - `column.rs`: the element type and the values of a column.

mod column;
mod table;

use std::path::{Path, PathBuf};

use indim_arrays::Array;
use indim_ops::ArrayType;

use crate::format_code::FormatCode;
use crate::{ArrayRegion, Source, StoreError, StoreErrorKind};
use indim_io::MemorySource;

/// A column of a CSV table: `i64` if every field is an integer, `bool` if every field is `true` or `false`,
/// otherwise `f64`.
///
/// Fields may be quoted; a UTF-8 byte order mark is skipped. The delimiter is the most frequent of
/// comma, semicolon, tab and `|` in the first line. A first line of numbers is data, and its columns
/// have positions, from 0, instead of names; positions also select columns of tables with a header.
/// Empty fields become NaN, with a note in [`Source::remarks`], but are errors in a column of `true` and
/// `false`. Any other field that is not a number is an error with its line, and so is an integer
/// beyond `i64` or a decimal beyond `f64`.
///
/// ```
/// use indim_stores::csv::CsvColumn;
/// use indim_stores::{ArrayRegion, Source};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name,height\n\"Lee, A\",1.5\nBo,2\n")?;
/// let height = CsvColumn::open(&path, Some("height"), usize::MAX)?;
/// assert_eq!(height.read(&ArrayRegion::new([0], [2]))?.elements(), Ok(&[1.5, 2.0][..]));
/// let error = CsvColumn::open(&path, Some("name"), usize::MAX).unwrap_err();
/// assert!(error.to_string().contains("line 2: `Lee, A` in column `name` is not a number"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CsvColumn {
    path: PathBuf,
    array: MemorySource,
    remarks: Vec<String>,
}

impl CsvColumn {
    /// Reads a column by name, or by position if no column has that name. `None` selects the only column. Its
    /// elements take at most `limit` bytes.
    ///
    /// # Errors
    /// `io`; `no-column`, with the existing columns; `not-a-number`; `bad-csv`; `memory-limit`.
    pub fn open(path: &Path, column: Option<&str>, limit: usize) -> Result<Self, StoreError> {
        let open = || {
            let table = table::CsvTable::open(path, column)?;
            let column = column::read(table, limit)?;
            let remarks = column.remarks();
            let array = MemorySource::new(column.into_array()?)?;
            Ok(CsvColumn { path: path.to_owned(), array, remarks })
        };
        open().map_err(|kind: StoreErrorKind| StoreError::new(path.to_string_lossy(), kind))
    }
}

impl Source for CsvColumn {
    fn array_type(&self) -> &ArrayType {
        self.array.array_type()
    }

    /// The whole column is in memory.
    fn scratch_bytes(&self) -> usize {
        let ArrayType { dtype, shape } = self.array_type();
        shape.byte_count(dtype.size()).unwrap_or(usize::MAX)
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let read = self.array.read(region);
        read.map_err(|error| StoreError::new(self.path.to_string_lossy(), error.kind))
    }
}

/// The format CSV.
#[derive(Debug)]
pub(crate) struct Csv;

impl FormatCode for Csv {
    fn open(
        &self,
        path: &Path,
        column: Option<&str>,
        limit: usize,
    ) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(CsvColumn::open(path, column, limit)?))
    }
}
