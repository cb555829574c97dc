//! Checks the tag lists (image file directories) of a file before the library `tiff` reads them: the library
//! allocates as many values as a tag claims.

use std::io::{self, Read, Seek, SeekFrom};

use super::bad_tiff;
use crate::StoreErrorKind;

/// Byte order of a file, and the widths of its offsets and list lengths.
#[derive(Debug, Clone, Copy)]
struct DirectoryLayout {
    is_little: bool,
    /// Bytes of an offset, and of the value count of a tag.
    offset_bytes: usize,
    /// Bytes of the length of a list.
    count_bytes: usize,
}

impl DirectoryLayout {
    /// Parses the header; `None` if it is not TIFF.
    fn of(header: &[u8]) -> Option<Self> {
        let is_little = header.starts_with(b"II");
        let version = DirectoryLayout { is_little, offset_bytes: 0, count_bytes: 0 }
            .number(header.get(2..4)?);
        match version {
            42 => Some(DirectoryLayout { is_little, offset_bytes: 4, count_bytes: 2 }),
            43 => Some(DirectoryLayout { is_little, offset_bytes: 8, count_bytes: 8 }),
            _ => None,
        }
    }

    fn number(self, bytes: &[u8]) -> u64 {
        let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        if self.is_little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) }
    }

    /// Bytes of an entry: tag, type, value count, and the values or their offset.
    fn entry_bytes(self) -> usize {
        4 + 2 * self.offset_bytes
    }
}

/// Fails if a tag claims more values, or the lists more tags, than a file of `length` bytes can hold. The
/// library reports all other errors.
pub(super) fn check_directories(
    file: &mut (impl Read + Seek),
    length: u64,
) -> Result<(), StoreErrorKind> {
    let Some(layout) = DirectoryLayout::of(&bytes_at(file, 0, 4)?) else { return Ok(()) };
    // Lists do not overlap, so all together they fit into the file. This bound also ends cycles.
    let mut entries_left = length / layout.entry_bytes() as u64;
    let mut pointer = if layout.offset_bytes == 8 { 8 } else { 4 };
    loop {
        let list = layout.number(&bytes_at(file, pointer, layout.offset_bytes)?);
        if list == 0 || list >= length {
            return Ok(());
        }
        let count = layout.number(&bytes_at(file, list, layout.count_bytes)?);
        entries_left = entries_left
            .checked_sub(count.max(1))
            .ok_or_else(|| bad_tiff("lists of more tags than the file has room for"))?;
        let first = list + layout.count_bytes as u64;
        // `bytes_at` does not read past the end of the file.
        let entries = bytes_at(file, first, count as usize * layout.entry_bytes())?;
        for entry in entries.chunks_exact(layout.entry_bytes()) {
            check_entry(layout, entry, length)?;
        }
        pointer = first + entries.len() as u64;
    }
}

fn check_entry(layout: DirectoryLayout, entry: &[u8], length: u64) -> Result<(), StoreErrorKind> {
    let (tag, value_type) = (layout.number(&entry[..2]), layout.number(&entry[2..4]));
    let count = layout.number(&entry[4..4 + layout.offset_bytes]);
    match count.checked_mul(value_bytes(value_type)) {
        Some(bytes) if bytes <= length => Ok(()),
        _ => Err(bad_tiff(&format!(
            "tag {tag} claims {count} values, which {length} bytes cannot hold"
        ))),
    }
}

/// Bytes of one value of a tag type.
fn value_bytes(value_type: u64) -> u64 {
    match value_type {
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16..=18 => 8,
        _ => 1,
    }
}

/// Reads `count` bytes at an offset; fewer at the end of the file.
fn bytes_at(file: &mut (impl Read + Seek), offset: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(count as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_more_values_than_bytes_are_refused() {
        for (is_big, count, is_refused) in
            [(false, 2, false), (false, 1 << 20, true), (true, 2, false), (true, 1 << 60, true)]
        {
            let offset_bytes = if is_big { 8 } else { 4 };
            let number = |value: u64, bytes: usize| value.to_le_bytes()[..bytes].to_vec();
            let header = match is_big {
                true => [&b"II+\0"[..], &[8, 0, 0, 0], &number(16, 8)].concat(),
                false => [&b"II*\0"[..], &number(8, 4)].concat(),
            };
            let list = number(1, if is_big { 8 } else { 2 });
            let entry = [
                number(273, 2),
                number(4, 2),
                number(count, offset_bytes),
                number(0, offset_bytes),
            ];
            let file = [header, list, entry.concat(), number(0, offset_bytes)].concat();
            let checked = check_directories(&mut io::Cursor::new(&file), file.len() as u64);
            assert_eq!(checked.is_err(), is_refused, "{is_big} {count}");
        }
    }

    /// A list whose successor is itself.
    #[test]
    fn lists_without_an_end_are_refused() {
        let mut file = b"II*\0\x08\0\0\0\x01\0".to_vec();
        file.extend([0; 12]);
        file.extend([8, 0, 0, 0]);
        assert!(check_directories(&mut io::Cursor::new(&file), file.len() as u64).is_err());
    }
}
