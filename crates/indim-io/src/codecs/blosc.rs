//! The Blosc 1 format: a decompressor, and a compressor by LZ4 for results. Data consists of blocks. The
//! encoder shuffles the bytes or bits of a block by significance, optionally splits it into one stream per
//! byte of an element, and compresses each stream with one of several libraries.
//!
//! Sizes that the data claims are checked against the expected size before any allocation.

use std::io::Read;

use lz4_flex::block::{compress_into, get_maximum_output_size};

use super::blosc_lz;
use super::shuffle::{shuffle_bytes, unshuffle_bits, unshuffle_bytes};
use super::zstd;

const HEADER_BYTES: usize = 16;
/// Latest supported format version. Blosc2 has other headers and another bit shuffle.
const NEWEST_FORMAT: u8 = 2;
/// Limits for splitting a block into one stream per byte of an element: maximum number of streams, and
/// minimum bytes of a stream.
const MAX_STREAMS: usize = 16;
const MIN_STREAM_BYTES: usize = 128;

/// Flags in the third byte of the header.
const BYTES_ARE_SHUFFLED: u8 = 1;
const IS_COPY: u8 = 2;
const BITS_ARE_SHUFFLED: u8 = 4;
const IS_NOT_SPLIT: u8 = 0x10;

/// The header of a buffer.
struct BloscHeader {
    flags: u8,
    /// Bytes of an element.
    element_size: usize,
    /// Bytes of the decompressed buffer.
    bytes: usize,
    /// Decompressed bytes of a block; the last block may be shorter.
    block: usize,
}

impl BloscHeader {
    fn parse(data: &[u8], limit: usize) -> Result<BloscHeader, String> {
        let header = data.get(..HEADER_BYTES).ok_or("less than a header")?;
        if header[0] > NEWEST_FORMAT {
            return Err(format!("format {} of Blosc, which is not read here", header[0]));
        }
        let size = |at: usize| number(header, at).unwrap_or_default();
        let (flags, element_size) = (header[2], usize::from(header[3]).max(1));
        let (bytes, block, compressed) = (size(4), size(8), size(12));
        if compressed != data.len() {
            return Err(format!("{compressed} bytes are announced, there are {}", data.len()));
        }
        if bytes > limit {
            return Err(format!("{bytes} bytes are announced, of at most {limit}"));
        }
        if bytes > 0 && (block == 0 || block > bytes) {
            return Err(format!("blocks of {block} bytes"));
        }
        Ok(BloscHeader { flags, element_size, bytes, block })
    }

    fn has_flag(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Number of streams of a block of `block` bytes.
    fn stream_count(&self, block: usize) -> usize {
        let is_split = !self.has_flag(IS_NOT_SPLIT)
            && self.element_size <= MAX_STREAMS
            && block == self.block
            && block / self.element_size >= MIN_STREAM_BYTES;
        if is_split { self.element_size } else { 1 }
    }
}

/// The little-endian 32-bit number at offset `at`.
fn number(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

/// Decompresses to at most `limit` bytes.
///
/// # Errors
/// A message for damaged data, and for data that decode to more bytes.
pub fn decompress(data: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let header = BloscHeader::parse(data, limit)?;
    if header.has_flag(IS_COPY) {
        let copy = &data[HEADER_BYTES..];
        return match copy.len() == header.bytes {
            true => Ok(copy.to_vec()),
            false => Err(format!("a copy of {} bytes instead of {}", copy.len(), header.bytes)),
        };
    }
    let mut decompressed = Vec::new();
    decompressed.try_reserve_exact(header.bytes).map_err(|error| error.to_string())?;
    decompressed.resize(header.bytes, 0);
    let mut scratch = vec![0; header.block];
    for (index, block) in decompressed.chunks_mut(header.block.max(1)).enumerate() {
        let start = number(data, HEADER_BYTES + 4 * index).ok_or("no start of a block")?;
        let streams = data.get(start..).ok_or("a block outside of the data")?;
        let scratch = &mut scratch[..block.len()];
        decompress_block(&header, streams, scratch)?;
        if header.has_flag(BYTES_ARE_SHUFFLED) && header.element_size > 1 {
            unshuffle_bytes(scratch, header.element_size, block);
        } else if header.has_flag(BITS_ARE_SHUFFLED)
            && (block.len() / header.element_size).is_multiple_of(8)
        {
            unshuffle_bits(scratch, header.element_size, block);
        } else {
            block.copy_from_slice(scratch);
        }
    }
    Ok(decompressed)
}

/// Decompresses the streams of one block. The size of each stream, in 4 bytes, precedes it.
fn decompress_block(
    header: &BloscHeader,
    mut streams: &[u8],
    block: &mut [u8],
) -> Result<(), String> {
    let stream_count = header.stream_count(block.len());
    if !block.len().is_multiple_of(stream_count) {
        return Err("a block that is not split evenly".to_owned());
    }
    for stream in block.chunks_mut((block.len() / stream_count).max(1)) {
        let size = number(streams, 0).ok_or("no size of a part")?;
        let compressed =
            streams.get(4..).and_then(|rest| rest.get(..size)).ok_or("a part cut off")?;
        streams = &streams[4 + size..];
        match size == stream.len() {
            true => stream.copy_from_slice(compressed),
            false => decompress_stream(header.flags >> 5, compressed, stream)?,
        }
    }
    Ok(())
}

/// Decompresses one stream with the library of this number.
fn decompress_stream(library: u8, compressed: &[u8], stream: &mut [u8]) -> Result<(), String> {
    let whole = |mut reader: Box<dyn Read + '_>, stream: &mut [u8]| {
        reader.read_exact(stream).map_err(|error| error.to_string())
    };
    let expected = stream.len();
    let written = match library {
        0 => blosc_lz::decompress(compressed, stream).ok_or("damaged data of BloscLZ")?,
        1 => lz4_flex::block::decompress_into(compressed, stream)
            .map_err(|error| error.to_string())?,
        3 => whole(Box::new(flate2::read::ZlibDecoder::new(compressed)), stream)
            .map(|()| expected)?,
        4 => zstd::decompress_into(compressed, stream)?,
        2 => return Err("it is compressed by Snappy, which is not read here".to_owned()),
        other => return Err(format!("library {other} is not known")),
    };
    match written == expected {
        true => Ok(()),
        false => Err(format!("a part of {written} bytes instead of {expected}")),
    }
}

/// Maximum bytes of a buffer: lengths are signed 32-bit numbers.
const MAX_BYTES: usize = i32::MAX as usize - HEADER_BYTES;
/// Bytes of a block of results: a block and its shuffled copy fit into L2.
pub const BLOCK_BYTES: usize = 128 << 10;
/// The numbers by which a header names the library LZ4 and its format.
const LZ4: u8 = 1;
const LZ4_FORMAT: u8 = 1;

/// Whether a buffer of this length can be compressed.
pub fn is_encodable(bytes: usize) -> bool {
    bytes <= MAX_BYTES
}

/// Compresses a buffer that [`is_encodable`].
pub fn compress(bytes: &[u8], element_size: usize) -> Vec<u8> {
    let is_shuffled = element_size > 1;
    let flags = LZ4 << 5 | IS_NOT_SPLIT | if is_shuffled { BYTES_ARE_SHUFFLED } else { 0 };
    let block = BLOCK_BYTES.min(bytes.len());
    let count = bytes.len().div_ceil(block.max(1));
    let header = |flags: u8, length: usize| {
        let sizes = [bytes.len(), block, length].map(|size| (size as u32).to_le_bytes());
        [[NEWEST_FORMAT, LZ4_FORMAT, flags, element_size as u8], sizes[0], sizes[1], sizes[2]]
            .concat()
    };
    // The encoding never becomes longer than a copy, so that its memory has a bound.
    let max_length = HEADER_BYTES + bytes.len();
    let mut encoded = Vec::with_capacity(max_length + 4 * count);
    encoded.resize(HEADER_BYTES + 4 * count, 0);
    let (mut shuffled, mut compressed) = (vec![0; block], vec![0; get_maximum_output_size(block)]);
    for (index, block) in bytes.chunks(block.max(1)).enumerate() {
        let start = (encoded.len() as u32).to_le_bytes();
        encoded[HEADER_BYTES + 4 * index..][..4].copy_from_slice(&start);
        let shuffled = &mut shuffled[..block.len()];
        match is_shuffled {
            true => shuffle_bytes(block, element_size, shuffled),
            false => shuffled.copy_from_slice(block),
        }
        // A part that does not become smaller is stored as it is.
        let length = compress_into(shuffled, &mut compressed).unwrap_or(block.len());
        let stream = if length < block.len() { &compressed[..length] } else { &*shuffled };
        if encoded.len() + 4 + stream.len() > max_length {
            encoded.clear();
            encoded.extend(header(flags & !BYTES_ARE_SHUFFLED | IS_COPY, max_length));
            encoded.extend_from_slice(bytes);
            return encoded;
        }
        encoded.extend((stream.len() as u32).to_le_bytes());
        encoded.extend_from_slice(stream);
    }
    let header = header(flags, encoded.len());
    encoded[..HEADER_BYTES].copy_from_slice(&header);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_buffers_are_decompressed() {
        for (length, element_size) in
            [(0, 4), (1, 1), (3, 8), (1 << 17, 2), ((1 << 18) + 6, 4), (400_000, 16)]
        {
            let mut seed = 1u32;
            let mut noise = || {
                seed = seed.wrapping_mul(0x915f_77f5).wrapping_add(1);
                (seed >> 24) as u8
            };
            let rough: Vec<u8> = (0..length).map(|_| noise()).collect();
            let smooth: Vec<u8> = (0..length).map(|index| (index / 100 % 256) as u8).collect();
            for bytes in [rough, smooth] {
                let compressed = compress(&bytes, element_size);
                assert!(compressed.len() <= bytes.len() + HEADER_BYTES);
                assert_eq!(decompress(&compressed, bytes.len()).unwrap(), bytes);
            }
        }
    }
}
