//! Codecs of bytes: compression with bounded output, checksums and shuffles.

use std::io::{self, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use serde_json::Value;

use indim_io::codecs::blosc;
use indim_io::codecs::crc32c::crc32c;
use indim_io::codecs::shuffle::unshuffle_bytes;
use indim_io::codecs::zstd;

/// Maximum ratio of deflate: decompressed bytes per compressed byte.
const DEFLATE_RATIO: usize = 1032;
/// Bound for the bytes of the header of an encoding. The body grows by less than a quarter, even if the
/// data are incompressible.
const HEADER_BYTES: u64 = 1 << 10;
/// Bound for the bytes of the header of gzip, which may have an extra field of 64 KiB, a name and a
/// comment.
const GZIP_HEADER_BYTES: u64 = 1 << 17;
/// Bytes of a checksum, which follows the bytes that it covers.
const CHECKSUM_BYTES: usize = 4;

/// A codec from bytes to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteCodec {
    Blosc {
        /// Whether its blocks may be compressed by zstd, whose decoder takes more memory.
        may_have_zstd: bool,
    },
    Crc32c,
    Gzip,
    /// A byte shuffle for elements of this many bytes.
    Shuffle(usize),
    Zlib,
    Zstd,
}

/// Names in metadata of both versions. In version 3, names of numcodecs have the prefix `numcodecs.`.
const NAMES: [(&str, ByteCodec); 4] = [
    ("crc32c", ByteCodec::Crc32c),
    ("gzip", ByteCodec::Gzip),
    ("zlib", ByteCodec::Zlib),
    ("zstd", ByteCodec::Zstd),
];

impl ByteCodec {
    /// The codec of a name and configuration.
    pub(super) fn of(name: &str, configuration: &Value) -> Option<ByteCodec> {
        let name = name.strip_prefix("numcodecs.").unwrap_or(name);
        if name == "shuffle" {
            let element = configuration.get("elementsize").map_or(Some(4), Value::as_u64)?;
            return usize::try_from(element).ok().filter(|size| *size > 0).map(ByteCodec::Shuffle);
        }
        if name == "blosc" {
            let library = configuration["cname"].as_str();
            return Some(ByteCodec::Blosc { may_have_zstd: library.is_none_or(|it| it == "zstd") });
        }
        NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, codec)| codec)
    }

    /// Upper bound of the encoding of `decoded` bytes by any encoder; longer encodings are refused.
    pub(super) fn encoded_bytes(self, decoded: u64) -> u64 {
        let header = match self {
            ByteCodec::Crc32c => return decoded.saturating_add(CHECKSUM_BYTES as u64),
            ByteCodec::Shuffle(_) => return decoded,
            ByteCodec::Gzip => GZIP_HEADER_BYTES,
            ByteCodec::Blosc { .. } | ByteCodec::Zlib | ByteCodec::Zstd => HEADER_BYTES,
        };
        decoded.saturating_add(decoded / 4).saturating_add(header)
    }

    /// Bytes of memory that decoding takes in addition to its input and its output of `decoded` bytes.
    pub(super) fn scratch_bytes(self, decoded: u64) -> u64 {
        match self {
            // A buffer for unshuffling one block; a single block may be the whole chunk.
            ByteCodec::Blosc { may_have_zstd } => {
                decoded.saturating_add(if may_have_zstd { zstd::DECODER_BYTES } else { 0 })
            }
            ByteCodec::Zstd => zstd::DECODER_BYTES,
            ByteCodec::Crc32c | ByteCodec::Gzip | ByteCodec::Shuffle(_) | ByteCodec::Zlib => 0,
        }
    }

    /// Decodes to at most `limit` bytes.
    pub(super) fn decode(self, mut data: Vec<u8>, limit: usize) -> Result<Vec<u8>, String> {
        match self {
            ByteCodec::Blosc { .. } => {
                blosc::decompress(&data, limit).map_err(|error| format!("blosc: {error}"))
            }
            ByteCodec::Gzip => read_within(MultiGzDecoder::new(&data[..]), data.len(), limit)
                .map_err(|error| format!("gzip: {error}")),
            ByteCodec::Zlib => read_within(ZlibDecoder::new(&data[..]), data.len(), limit)
                .map_err(|error| format!("zlib: {error}")),
            ByteCodec::Zstd => zstd::decompress(&data, limit).map_err(|it| format!("zstd: {it}")),
            ByteCodec::Shuffle(element) => {
                let mut bytes = vec![0; data.len()];
                unshuffle_bytes(&data, element, &mut bytes);
                Ok(bytes)
            }
            ByteCodec::Crc32c => {
                let Some((bytes, sum)) = data.split_last_chunk::<CHECKSUM_BYTES>() else {
                    return Err("crc32c: fewer bytes than a checksum".to_owned());
                };
                if crc32c(bytes) != u32::from_le_bytes(*sum) {
                    return Err("crc32c: the checksum differs".to_owned());
                }
                data.truncate(data.len() - CHECKSUM_BYTES);
                Ok(data)
            }
        }
    }
}

/// Reads the output of `reader`, which inflates `compressed` bytes. Fails beyond `limit` bytes.
fn read_within(reader: impl Read, compressed: usize, limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let max_bytes = compressed.saturating_mul(DEFLATE_RATIO).min(limit);
    bytes.try_reserve_exact(max_bytes).map_err(|error| error.to_string())?;
    let max_bytes = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let read: io::Result<usize> = reader.take(max_bytes).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    match bytes.len() <= limit {
        true => Ok(bytes),
        false => Err(format!("more than the {limit} bytes that it can hold")),
    }
}
