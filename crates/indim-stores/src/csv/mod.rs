//! Columns of tables: CSV, by the library `csv`.
//!
//! `table.rs`: which columns there are; `column.rs`: what the fields of one become.

mod column;
mod table;

use std::path::{Path, PathBuf};

use indim_arrays::Buffer;
use indim_ops::ArrayType;

use crate::memory::MemorySource;
use crate::{Region, Source, StoreError, StoreErrorKind};

/// A column of a table in a text file: `i64` where every field is a whole number, `bool` where every field is
/// `true` or `false`, else `f64`.
///
/// Fields may be quoted; a mark of UTF-8 at the beginning is skipped. The delimiter is a comma, a
/// semicolon, a tab or `|`, whichever the first line has most of. A first line of numbers alone is no
/// header but data, whose columns go by their positions, from 0 on; so may any other's. Empty fields are
/// NaN, which [`Source::remarks`] tells; what is no number is an error with its line.
///
/// ```
/// use indim_stores::csv::CsvColumn;
/// use indim_stores::{Region, Source};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name,height\n\"Lee, A\",1.5\nBo,2\n")?;
/// let height = CsvColumn::open(&path, Some("height"), usize::MAX)?;
/// assert_eq!(height.read(&Region::new([0], [2]))?.elements(), Some(&[1.5, 2.0][..]));
/// let error = CsvColumn::open(&path, Some("name"), usize::MAX).unwrap_err();
/// assert!(error.to_string().contains("line 2: `Lee, A` in column `name` is no number"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CsvColumn {
    path: PathBuf,
    array: MemorySource,
    remarks: Vec<String>,
}

impl CsvColumn {
    /// Reads a column, by its name or, where none has that name, by its position; without one the only
    /// column. Its elements take at most `limit` bytes.
    ///
    /// # Errors
    /// `io`; `no-column`, with the columns there are; `not-a-number`; `bad-csv`; `memory-limit`.
    pub fn open(path: &Path, column: Option<&str>, limit: usize) -> Result<Self, StoreError> {
        let open = || {
            let table = table::Table::open(path, column)?;
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

    /// The whole column.
    fn scratch_bytes(&self) -> usize {
        let ArrayType { dtype, shape } = self.array_type();
        shape.byte_count(dtype.size()).unwrap_or(usize::MAX)
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn read(&self, region: &Region) -> Result<Buffer, StoreError> {
        let read = self.array.read(region);
        read.map_err(|error| StoreError::new(self.path.to_string_lossy(), error.kind))
    }
}
