//! CSV tables: delimiter, header, and the fields of one column.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Take};
use std::path::{Path, PathBuf};

use csv::{Reader, ReaderBuilder, StringRecord};
use indim_graph::terminal::printable;
use indim_shape::{Diagnostic, ErrorCode};

use crate::StoreErrorKind;
use indim_io::regular_file::open_file;

/// Maximum bytes of the first line that are searched for the delimiter.
const MAX_SNIFFED_BYTES: u64 = 1 << 20;
/// Maximum bytes of a record: an unclosed quote would extend it to the end of the file.
const MAX_RECORD_BYTES: u64 = 64 << 20;
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A table, open for reading one column.
pub(super) struct CsvTable {
    path: PathBuf,
    reader: Reader<Take<File>>,
    /// The first record, if it is data.
    first: Option<StringRecord>,
    column: usize,
    /// Name of the column, for messages.
    pub(super) name: String,
}

impl CsvTable {
    pub(super) fn open(path: &Path, column: Option<&str>) -> Result<CsvTable, StoreErrorKind> {
        let mut file = open_file(path)?;
        let delimiter = sniff(&mut file)?;
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).has_headers(false).flexible(false);
        let mut reader = builder.from_reader(file.take(MAX_RECORD_BYTES));
        let mut header = StringRecord::new();
        if !read_record(&mut reader, &mut header)? {
            return Err(Diagnostic::new(ErrorCode::BAD_CSV, "an empty file").into());
        }
        let is_data = header.iter().all(|field| super::column::is_number(field.trim()));
        let names: Vec<String> = match is_data {
            true => (0..header.len()).map(|position| position.to_string()).collect(),
            false => header.iter().map(|name| name.trim().to_owned()).collect(),
        };
        let column = column_index(&names, column, is_data)?;
        let name = names[column].clone();
        let path = path.to_owned();
        Ok(CsvTable { path, reader, first: is_data.then_some(header), column, name })
    }

    /// The next field of the column, with the byte offset of its record; `None` at the end of the table.
    pub(super) fn next(
        &mut self,
        record: &mut StringRecord,
    ) -> Result<Option<(String, u64)>, StoreErrorKind> {
        if let Some(first) = self.first.take() {
            return Ok(Some((first[self.column].trim().to_owned(), 0)));
        }
        let start = self.reader.position().byte();
        if !read_record(&mut self.reader, record)? {
            return Ok(None);
        }
        let start = record.position().map_or(start, csv::Position::byte);
        Ok(Some((record[self.column].trim().to_owned(), start)))
    }

    /// Line of the record that begins at byte `start`, counted from 1.
    pub(super) fn line(&self, start: u64) -> Result<u64, StoreErrorKind> {
        let mut bytes = BufReader::new(File::open(&self.path)?).bytes();
        let (mut line, mut previous) = (1, 0);
        for position in 0.. {
            let byte = bytes.next().transpose()?.unwrap_or(0);
            // `start` may point to line ends before the record. These belong to the previous line.
            if position >= start && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            let is_line_feed_of_crlf = previous == b'\r' && byte == b'\n';
            line += u64::from(matches!(byte, b'\r' | b'\n') && !is_line_feed_of_crlf);
            previous = byte;
        }
        Ok(line)
    }
}

/// Reads a record of at most `MAX_RECORD_BYTES`; returns `false` at the end of the table.
fn read_record(
    reader: &mut Reader<Take<File>>,
    record: &mut StringRecord,
) -> Result<bool, StoreErrorKind> {
    // Bytes that the reader has buffered already count for an earlier record.
    reader.get_mut().set_limit(MAX_RECORD_BYTES);
    let has_record = reader.read_record(record).map_err(|error| csv_error(&error))?;
    if reader.get_ref().limit() == 0 {
        let message = format!("a record of more than {MAX_RECORD_BYTES} bytes");
        let mut error = Diagnostic::new(ErrorCode::BAD_CSV, message);
        error.help("a quote that is not closed takes in all that follows");
        return Err(error.into());
    }
    Ok(has_record)
}

/// The position of the requested column.
fn column_index(
    names: &[String],
    wanted: Option<&str>,
    is_data: bool,
) -> Result<usize, StoreErrorKind> {
    let found = match wanted {
        None if names.len() == 1 => Some(0),
        None => None,
        Some(wanted) => names
            .iter()
            .position(|name| name == wanted)
            .or_else(|| wanted.parse::<usize>().ok().filter(|&position| position < names.len())),
    };
    let same = |name: &String| wanted.is_some_and(|wanted| wanted == name);
    if names.iter().filter(|name| same(name)).count() > 1 {
        let message =
            format!("several columns are called `{}`", printable(wanted.unwrap_or_default()));
        let mut error = Diagnostic::new(ErrorCode::NO_COLUMN, message);
        error.help("name one by its position, from 0 on");
        return Err(error.into());
    }
    found.ok_or_else(|| {
        let mut error = match wanted {
            Some(wanted) => Diagnostic::new(
                ErrorCode::NO_COLUMN,
                format!("there is no column `{}`", printable(wanted)),
            ),
            None => Diagnostic::new(ErrorCode::NO_COLUMN, "a table; name one column after a colon"),
        };
        let listed: Vec<String> = names.iter().take(20).map(|name| printable(name)).collect();
        let listed = listed.join(", ");
        error.help(match is_data {
            true => format!(
                "its first line has numbers only, so columns go by their positions, 0 to {}",
                names.len() - 1
            ),
            false => {
                format!("the columns are {listed}{}", if names.len() > 20 { ", ..." } else { "" })
            }
        });
        error.into()
    })
}

/// The most frequent delimiter in the first line outside quotes; a comma if it has none.
fn sniff(file: &mut File) -> Result<u8, StoreErrorKind> {
    let mut line = Vec::new();
    BufReader::new(&mut *file).take(MAX_SNIFFED_BYTES).read_until(b'\n', &mut line)?;
    file.rewind()?;
    let mut counts = [0usize; DELIMITERS.len()];
    let mut is_quoted = false;
    for byte in line {
        is_quoted ^= byte == b'"';
        if let Some(index) = DELIMITERS.iter().position(|&known| known == byte && !is_quoted) {
            counts[index] += 1;
        }
    }
    // A tie goes to the first in `DELIMITERS`.
    let max_count = counts.iter().copied().max().unwrap_or_default();
    Ok(DELIMITERS[counts.iter().position(|&count| count == max_count).unwrap_or_default()])
}

fn csv_error(error: &csv::Error) -> StoreErrorKind {
    match error.kind() {
        csv::ErrorKind::Io(error) => std::io::Error::new(error.kind(), error.to_string()).into(),
        _ => Diagnostic::new(ErrorCode::BAD_CSV, printable(&error.to_string())).into(),
    }
}
