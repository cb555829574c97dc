//! Stored bytes of strips and tiles: upper bounds of their decoded bytes and of the memory of decoding.

use std::io::{Read, Seek};

use tiff::decoder::Decoder;
use tiff::tags::Tag;

use indim_shape::{Diagnostic, ErrorCode};

use super::{bad_tiff, tiff_error};
use crate::StoreErrorKind;
use indim_io::codecs::zstd::ZSTD_RATIO;

/// Bytes of tables and buffers of a decompressor.
const DECODER_BYTES: usize = 320 << 10;

/// Values of the tag `Compression`.
const NO_COMPRESSION: u16 = 1;
/// Fax compressions, of pixels of 1 bit.
const FAX: [(u16, &str); 3] =
    [(2, "CCITT modified Huffman"), (3, "CCITT group 3"), (4, "CCITT group 4")];
const LZW: u16 = 5;
const JPEG: u16 = 7;
const DEFLATE: [u16; 2] = [8, 32946];
const PACK_BITS: u16 = 32773;
const ZSTD: u16 = 50000;

/// Compression and byte counts of the strips or tiles of a page.
#[derive(Debug)]
pub(super) struct PageStorage {
    compression: u16,
    file_length: u64,
    /// Stored bytes of each strip or tile.
    counts: Vec<u64>,
}

/// Fails if the decoder's page has a fax compression.
pub(super) fn refuse_fax(decoder: &mut Decoder<impl Read + Seek>) -> Result<(), StoreErrorKind> {
    let compression = compression(decoder)?;
    let Some((_, name)) = FAX.iter().find(|(value, _)| *value == compression) else {
        return Ok(());
    };
    let message = format!("fax compression ({name}), whose pixels of 1 bit are not read");
    let mut error = Diagnostic::new(ErrorCode::BAD_TIFF, message);
    error.help("convert the file to gray pixels of 8 bits first");
    Err(error.into())
}

fn compression(decoder: &mut Decoder<impl Read + Seek>) -> Result<u16, StoreErrorKind> {
    let compression = decoder.find_tag_unsigned::<u16>(Tag::Compression);
    Ok(compression.map_err(|error| tiff_error(&error))?.unwrap_or(NO_COMPRESSION))
}

impl PageStorage {
    /// Reads the tags of the decoder's page.
    pub(super) fn of(
        decoder: &mut Decoder<impl Read + Seek>,
        is_tiled: bool,
        file_length: u64,
    ) -> Result<Self, StoreErrorKind> {
        let tag = if is_tiled { Tag::TileByteCounts } else { Tag::StripByteCounts };
        let counts =
            decoder.find_tag_unsigned_vec::<u64>(tag).map_err(|error| tiff_error(&error))?;
        let compression = compression(decoder)?;
        Ok(PageStorage { compression, file_length, counts: counts.unwrap_or_default() })
    }

    /// Fails if a strip or tile of `bytes` decoded bytes is stored in too few bytes for its compression.
    pub(super) fn check_ratio(&self, index: usize, bytes: usize) -> Result<(), StoreErrorKind> {
        let stored = self.stored_bytes(index);
        if stored.saturating_mul(self.ratio()) < bytes as u64 {
            return Err(bad_tiff(&format!(
                "a strip or tile of {bytes} bytes cannot be stored in {stored}"
            )));
        }
        Ok(())
    }

    pub(super) fn is_zstd(&self) -> bool {
        self.compression == ZSTD
    }

    /// Stored bytes of a strip or tile.
    pub(super) fn stored_bytes(&self, index: usize) -> u64 {
        self.counts.get(index).copied().unwrap_or(0).min(self.file_length)
    }

    /// Maximum ratio of the compression: decoded bytes per stored byte.
    fn ratio(&self) -> u64 {
        match self.compression {
            NO_COMPRESSION => 1,
            // Two bytes encode 128 repetitions.
            PACK_BITS => 64,
            // A code of at least 9 bits expands to a string of at most the table size.
            LZW => 4096,
            deflate if DEFLATE.contains(&deflate) => 1032,
            // A block of 64 samples takes at least one bit.
            JPEG => 1024,
            ZSTD => ZSTD_RATIO as u64,
            _ => 1 << 16,
        }
    }

    /// Bytes of memory held while a strip or tile of `bytes` decoded bytes is decoded.
    pub(super) fn scratch_bytes(&self, bytes: usize) -> usize {
        let copies = match self.compression {
            // The library decodes a strip or tile as one JPEG image. It holds the coefficients and the
            // samples of the whole image before it returns any sample.
            JPEG => 6,
            // The encoded bytes are in memory too.
            ZSTD => 2,
            _ => 1,
        };
        bytes.saturating_mul(copies).saturating_add(bytes.min(DECODER_BYTES))
    }
}
