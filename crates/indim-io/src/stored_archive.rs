//! Writes ZIP archives of uncompressed members, one after another, into an output without seeks.

use std::collections::HashSet;
use std::io::{self, Error, ErrorKind, Write};

use flate2::Crc;

/// Version of the format that has 64-bit sizes, which readers need.
const VERSION: u16 = 45;

/// High byte of the version in the central directory: the system whose permissions the member has.
const SYSTEM: u16 = if cfg!(windows) { 0 } else { 3 };

/// Flags of a member: its checksum and sizes follow its bytes; its name is UTF-8.
const SIZES_FOLLOW: u16 = 1 << 3;
const UTF8_NAME: u16 = 1 << 11;

/// 1 January 1980, the first day of the format: equal arrays give equal files.
const DATE: u16 = 0x21;

/// A regular file that its owner writes and all read.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// Size or offset that stands in the 64-bit fields instead.
const IN_64_BITS: u32 = u32::MAX;

/// Bytes of a local header without name and 64-bit fields.
const LOCAL_HEADER_BYTES: usize = 30;

/// A ZIP archive of uncompressed members being written.
///
/// ```
/// use indim_io::stored_archive::ArchiveWriter;
/// use std::io::Write;
///
/// let mut archive = ArchiveWriter::new(Vec::new(), 0);
/// archive.begin("greeting.txt")?;
/// archive.write_all(b"good morning")?;
/// assert!(archive.begin("greeting.txt").is_err());
/// assert_eq!(archive.finish()?[..4], *b"PK\x03\x04");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ArchiveWriter<W> {
    output: W,
    /// Position of the output.
    offset: u64,
    /// The last one is being written.
    members: Vec<ArchivedMember>,
    names: HashSet<String>,
}

#[derive(Debug)]
struct ArchivedMember {
    name: String,
    /// Offset of the local header.
    offset: u64,
    size: u64,
    checksum: Crc,
}

impl<W: Write> ArchiveWriter<W> {
    /// An archive without members. The output has `offset` bytes already, and offsets of the archive count
    /// from its beginning.
    pub fn new(output: W, offset: u64) -> Self {
        ArchiveWriter { output, offset, members: Vec::new(), names: HashSet::new() }
    }

    /// Begins a member, whose bytes are then written to the archive.
    ///
    /// # Errors
    /// `InvalidData` if a member has this name already, or if the name does not fit; errors of the output.
    pub fn begin(&mut self, name: &str) -> io::Result<()> {
        if LOCAL_HEADER_BYTES + name.len() >= usize::from(u16::MAX) {
            return Err(invalid(format!("a name of {} bytes does not fit an archive", name.len())));
        }
        if !self.names.insert(name.to_owned()) {
            return Err(invalid(format!("two members of the archive have the name `{name}`")));
        }
        self.finish_member()?;
        let member = ArchivedMember::new(name, self.offset);
        let header = member.local_header();
        self.members.push(member);
        self.append(&header)
    }

    /// Writes the central directory and returns the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.finish_member()?;
        let start = self.offset;
        let directory: Vec<u8> =
            self.members.iter().flat_map(ArchivedMember::directory_entry).collect();
        self.append(&directory)?;
        let end = directory_end(self.members.len(), start, directory.len() as u64);
        self.append(&end)?;
        Ok(self.output)
    }

    /// Writes what follows the bytes of the last member.
    fn finish_member(&mut self) -> io::Result<()> {
        let descriptor = self.members.last().map(ArchivedMember::descriptor);
        descriptor.map_or(Ok(()), |bytes| self.append(&bytes))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

impl<W: Write> Write for ArchiveWriter<W> {
    /// Writes bytes of the last member.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(member) = self.members.last_mut() else {
            return Err(invalid("the archive has no member yet".to_owned()));
        };
        let written = self.output.write(bytes)?;
        member.checksum.update(&bytes[..written]);
        member.size += written as u64;
        self.offset += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl ArchivedMember {
    fn new(name: &str, offset: u64) -> Self {
        ArchivedMember { name: name.to_owned(), offset, size: 0, checksum: Crc::new() }
    }

    fn flags(&self) -> u16 {
        if self.name.is_ascii() { SIZES_FOLLOW } else { SIZES_FOLLOW | UTF8_NAME }
    }

    fn local_header(&self) -> Vec<u8> {
        let mut record = Record(b"PK\x03\x04".to_vec());
        record.shorts(&[VERSION, self.flags(), 0, 0, DATE]);
        record.words(&[0, 0, 0]);
        record.name_and_longs(&self.name, &[0, 0], &[]);
        record.0
    }

    fn descriptor(&self) -> Vec<u8> {
        let mut record = Record(b"PK\x07\x08".to_vec());
        record.words(&[self.checksum.sum()]);
        record.longs(&[self.size, self.size]);
        record.0
    }

    fn directory_entry(&self) -> Vec<u8> {
        let mut record = Record(b"PK\x01\x02".to_vec());
        record.shorts(&[SYSTEM << 8 | VERSION, VERSION, self.flags(), 0, 0, DATE]);
        record.words(&[self.checksum.sum(), IN_64_BITS, IN_64_BITS]);
        let offset = saturated(self.offset);
        let longs = [self.size, self.size, self.offset];
        let longs = if offset == IN_64_BITS { &longs[..] } else { &longs[..2] };
        // Length of the comment, number of the disk, internal attributes; external attributes; offset.
        let mut location = Record(vec![0; 6]);
        location.words(&[ATTRIBUTES, offset]);
        record.name_and_longs(&self.name, longs, &location.0);
        record.0
    }
}

/// The records at the end of the archive, which locate the central directory.
fn directory_end(members: usize, start: u64, size: u64) -> Vec<u8> {
    let is_long = members > usize::from(u16::MAX) || start.max(size) > u64::from(IN_64_BITS);
    let mut record = Record(Vec::new());
    if is_long {
        record.0.extend(b"PK\x06\x06");
        // Bytes of the record behind this number.
        record.longs(&[44]);
        record.shorts(&[VERSION, VERSION]);
        record.words(&[0, 0]);
        record.longs(&[members as u64, members as u64, size, start]);
        record.0.extend(b"PK\x06\x07");
        record.words(&[0]);
        record.longs(&[start + size]);
        record.words(&[1]);
    }
    let count = u16::try_from(members).unwrap_or(u16::MAX);
    record.0.extend(b"PK\x05\x06");
    record.shorts(&[0, 0, count, count]);
    record.words(&[if is_long { IN_64_BITS } else { saturated(size) }, saturated(start)]);
    record.shorts(&[0]);
    record.0
}

fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(IN_64_BITS)
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidData, message)
}

/// Bytes of a record; its numbers are little-endian.
struct Record(Vec<u8>);

impl Record {
    fn shorts(&mut self, numbers: &[u16]) {
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    fn words(&mut self, numbers: &[u32]) {
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    fn longs(&mut self, numbers: &[u64]) {
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    /// Lengths of the name and of the extra field, then `between`, the name, and the extra field of 64-bit
    /// numbers.
    fn name_and_longs(&mut self, name: &str, longs: &[u64], between: &[u8]) {
        let bytes = (longs.len() * 8) as u16;
        self.shorts(&[name.len() as u16, 4 + bytes]);
        self.0.extend(between);
        self.0.extend(name.bytes());
        self.shorts(&[1, bytes]);
        self.longs(longs);
    }
}
