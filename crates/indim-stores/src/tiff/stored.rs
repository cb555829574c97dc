//! The bytes in which strips and tiles are stored: how many elements they can hold, and what decoding takes.

use std::io::{Read, Seek};

use tiff::decoder::Decoder;
use tiff::tags::Tag;

use super::{bad, bad_text};
use crate::StoreErrorKind;

/// Bytes of the tables and buffers of any decoder.
const DECODER_BYTES: usize = 256 << 10;

/// The numbers of compressions in the tag.
const NONE: u16 = 1;
const LZW: u16 = 5;
const JPEG: u16 = 7;
const DEFLATE: [u16; 2] = [8, 32946];
const PACK_BITS: u16 = 32773;
const ZSTD: u16 = 50000;

/// The compression and the byte counts of a page's strips or tiles.
#[derive(Debug)]
pub(super) struct PageStorage {
    compression: u16,
    file_length: u64,
    /// The bytes of each strip or tile.
    counts: Vec<u64>,
}

impl PageStorage {
    /// That of the page of a decoder.
    pub(super) fn of(
        decoder: &mut Decoder<impl Read + Seek>,
        is_tiled: bool,
        file_length: u64,
    ) -> Result<Self, StoreErrorKind> {
        let tag = if is_tiled { Tag::TileByteCounts } else { Tag::StripByteCounts };
        let counts = decoder.find_tag_unsigned_vec::<u64>(tag).map_err(|error| bad(&error))?;
        let compression = decoder.find_tag_unsigned::<u16>(Tag::Compression);
        let compression = compression.map_err(|error| bad(&error))?.unwrap_or(NONE);
        Ok(PageStorage { compression, file_length, counts: counts.unwrap_or_default() })
    }

    /// Refuses a strip or tile of so many bytes that is stored in fewer than can hold them.
    pub(super) fn check(&self, index: usize, bytes: usize) -> Result<(), StoreErrorKind> {
        let stored = self.counts.get(index).copied().unwrap_or(0).min(self.file_length);
        if stored.saturating_mul(self.ratio()) < bytes as u64 {
            return Err(bad_text(&format!(
                "a strip or tile of {bytes} bytes cannot be stored in {stored}"
            )));
        }
        Ok(())
    }

    /// The most bytes that one stored byte can stand for.
    fn ratio(&self) -> u64 {
        match self.compression {
            NONE => 1,
            // A byte is repeated 128 times by two.
            PACK_BITS => 64,
            // A code of 9 bits stands for a run that is as long as the table.
            LZW => 4096,
            of if DEFLATE.contains(&of) => 1032,
            // A block of 64 samples takes a bit at least.
            JPEG => 1024,
            // A block that repeats a byte has 4 bytes for 128 KiB.
            ZSTD => 1 << 15,
            _ => 1 << 16,
        }
    }

    /// The bytes of memory that are held while a strip or tile of so many bytes is decoded.
    pub(super) fn scratch_bytes(&self, bytes: usize) -> usize {
        let copies = match self.compression {
            // The library reads the whole picture, its coefficients and samples before it hands on any.
            JPEG => 6,
            // A window, which is no larger than what is decompressed.
            ZSTD => 2,
            _ => 1,
        };
        bytes.saturating_mul(copies).saturating_add(bytes.min(DECODER_BYTES))
    }
}
