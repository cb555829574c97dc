//! A file with some bytes replaced. Used to enlarge the width and height of tiled pages to multiples of the
//! tile size.
//!
//! The library `tiff` does not read tiles that cross the edge of a page if they are compressed by LZW or
//! belong to separate bands. In the enlarged page no tile crosses the edge.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// A file whose reads return the bytes of `patches` in place of its own.
#[derive(Debug)]
pub(super) struct PatchedFile {
    file: BufReader<File>,
    position: u64,
    patches: Vec<Patch>,
}

/// File offset and replacement bytes.
type Patch = (u64, Vec<u8>);

/// The tags of width and height, and the type of 32-bit values.
const SIZE_TAGS: [u16; 2] = [256, 257];
const LONG: u16 = 4;

impl PatchedFile {
    /// The file without patches.
    pub(super) fn without_patches(file: File) -> Self {
        PatchedFile { file: BufReader::new(file), position: 0, patches: Vec::new() }
    }

    /// The file with another width and height, in this order in `sizes`, for a page.
    pub(super) fn with_sizes(file: File, page: usize, sizes: [u32; 2]) -> io::Result<Self> {
        let mut padded = PatchedFile::without_patches(file);
        padded.patches = padded.patches_of_sizes(page, sizes)?;
        padded.seek(SeekFrom::Start(0))?;
        Ok(padded)
    }

    /// The patches that replace the tags of width and height of a page by these sizes, width first.
    fn patches_of_sizes(&mut self, page: usize, sizes: [u32; 2]) -> io::Result<Vec<Patch>> {
        let header = self.bytes_at(0, 4)?;
        let is_little = header[0] == b'I';
        let is_big = header[2..4].contains(&43);
        let number = |bytes: &[u8]| {
            let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
            if is_little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) }
        };
        let bytes_of =
            |number: u32| if is_little { number.to_le_bytes() } else { number.to_be_bytes() };
        // Bytes of an offset, of a list length, and of a list entry.
        let (offset_bytes, count_bytes, entry_bytes) = if is_big { (8, 8, 20) } else { (4, 2, 12) };
        let mut pointer = if is_big { 8 } else { 4 };
        let mut list_at = |pointer: u64| {
            let list = number(&self.bytes_at(pointer, offset_bytes)?[..offset_bytes]);
            let count = number(&self.bytes_at(list, count_bytes as usize)?[..count_bytes as usize]);
            io::Result::Ok((list, count))
        };
        for _ in 0..page {
            let (list, count) = list_at(pointer)?;
            pointer = entry_offset(list, count_bytes, count, entry_bytes)?;
        }
        let (list, count) = list_at(pointer)?;
        let mut patches = Vec::new();
        for index in 0..count.min(u64::from(u16::MAX)) {
            let entry = entry_offset(list, count_bytes, index, entry_bytes)?;
            let tag = number(&self.bytes_at(entry, 2)?[..2]) as u16;
            let Some(which) = SIZE_TAGS.iter().position(|&size| size == tag) else { continue };
            let value_type = if is_little { LONG.to_le_bytes() } else { LONG.to_be_bytes() };
            let (one, size) = (bytes_of(1), bytes_of(sizes[which]));
            // In BigTIFF the count is one 8-byte number, and a 4-byte value comes first in its 8-byte field.
            let zeros = vec![0; offset_bytes - 4];
            let count = if is_little { [&one[..], &zeros] } else { [&zeros[..], &one] };
            let patch = [&value_type[..], &count.concat(), &size, &zeros].concat();
            patches.push((entry + 2, patch));
        }
        Ok(patches)
    }

    /// Reads `count` bytes at an offset, at most 8.
    fn bytes_at(&mut self, at: u64, count: usize) -> io::Result<[u8; 8]> {
        let mut bytes = [0; 8];
        self.seek(SeekFrom::Start(at))?;
        self.read_exact(&mut bytes[..count])?;
        Ok(bytes)
    }
}

/// Offset of entry `index` of a list; for `index` = length, of the pointer to the next list.
fn entry_offset(list: u64, count_bytes: u64, index: u64, entry_bytes: u64) -> io::Result<u64> {
    let entries = index.checked_mul(entry_bytes);
    let at = entries.and_then(|bytes| list.checked_add(count_bytes)?.checked_add(bytes));
    at.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

impl Read for PatchedFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(to)?;
        let (start, end) = (self.position, self.position + count as u64);
        for (at, patch) in &self.patches {
            for (offset, &byte) in (*at..).zip(patch) {
                if (start..end).contains(&offset) {
                    to[(offset - start) as usize] = byte;
                }
            }
        }
        self.position = end;
        Ok(count)
    }
}

impl Seek for PatchedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file whose second list precedes its first, in both byte orders and offset widths.
    #[test]
    fn sizes_of_a_page_are_replaced_wherever_its_tags_stand() {
        for (is_little, is_big) in [(true, false), (false, false), (true, true), (false, true)] {
            let number = |value: u64, count: usize| {
                let bytes = value.to_le_bytes()[..count].to_vec();
                if is_little { bytes } else { bytes.into_iter().rev().collect() }
            };
            let offset_bytes = if is_big { 8 } else { 4 };
            let list = |size: u64, next: u64| {
                let mut list = number(2, if is_big { 8 } else { 2 });
                for tag in [256, 257] {
                    let short = [number(size, 2), vec![0; offset_bytes - 2]].concat();
                    list.extend(
                        [number(tag, 2), number(3, 2), number(1, offset_bytes), short].concat(),
                    );
                }
                [list, number(next, offset_bytes)].concat()
            };
            let second = if is_big { 16 } else { 8 };
            let first = second + list(0, 0).len() as u64;
            let mark = if is_little { b"II" } else { b"MM" };
            let version = if is_big {
                [number(43, 2), number(8, 2), number(0, 2)].concat()
            } else {
                number(42, 2)
            };
            let file =
                [mark.to_vec(), version, number(first, offset_bytes), list(7, 0), list(5, second)]
                    .concat();
            let path = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(path.path(), &file).unwrap();
            let mut padded =
                PatchedFile::with_sizes(File::open(path.path()).unwrap(), 1, [70_000, 9]).unwrap();
            let mut read = Vec::new();
            padded.read_to_end(&mut read).unwrap();
            let long = |tag: u64, size: u64| {
                [
                    number(tag, 2),
                    number(4, 2),
                    number(1, offset_bytes),
                    number(size, 4),
                    vec![0; offset_bytes - 4],
                ]
                .concat()
            };
            let mut expected = file.clone();
            let start = second as usize + if is_big { 8 } else { 2 };
            let tags = [long(256, 70_000), long(257, 9)].concat();
            expected[start..start + tags.len()].copy_from_slice(&tags);
            assert_eq!(read, expected, "{is_little} {is_big}");
        }
    }
}
