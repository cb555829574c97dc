//! A decoder of zstd frames (RFC 8878) that decodes into its output, without a window of its own.
//!
//! Memory: the output, bounded by the caller's limit and by the largest expansion of the compressed
//! bytes, and at most [`DECODER_BYTES`] of tables and literals. Frames with dictionaries are refused.
//! Checksums are compared.
//!
//! - `bits.rs`: bit streams; `fse.rs`: tables of finite states; `huffman.rs`: codes of literals;
//! - `block.rs`: compressed blocks; `xxh64.rs`: the checksum.

mod bits;
mod block;
mod fse;
mod huffman;
mod xxh64;

use block::{BlockDecoder, MAX_BLOCK_BYTES, OutputBuffer};

/// Maximum ratio, decoded bytes per encoded byte: a block that repeats a byte encodes 128 KiB in 4 bytes.
pub const ZSTD_RATIO: usize = 1 << 15;
/// Bytes of memory that decoding takes in addition to input and output.
pub const DECODER_BYTES: u64 = 320 << 10;

/// The first bytes of a frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The first bytes of a frame to skip, as a little-endian number whose lowest four bits vary.
const SKIPPED_MAGIC: u32 = 0x184d_2a50;

/// The descriptor and the sizes at the beginning of a frame.
struct FrameHeader {
    /// Bytes of the header, without the magic number.
    length: usize,
    /// Decompressed bytes of the frame, if the header states them.
    content: Option<u64>,
    has_checksum: bool,
}

impl FrameHeader {
    /// Parses the bytes after the magic number.
    fn parse(data: &[u8]) -> Result<Self, &'static str> {
        let cut_off = "a frame is cut off";
        let (&descriptor, rest) = data.split_first().ok_or(cut_off)?;
        if descriptor & 8 != 0 {
            return Err("a frame of an unknown version");
        }
        let is_single_segment = descriptor & 0x20 != 0;
        let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
        // `dictionary` and `content` are the offsets of the dictionary's number and of the content size
        // in `rest`.
        let dictionary = usize::from(!is_single_segment);
        let content = dictionary + dictionary_bytes;
        let content_bytes = match descriptor >> 6 {
            0 => usize::from(is_single_segment),
            exponent => 1 << exponent,
        };
        let header = rest.get(..content + content_bytes).ok_or(cut_off)?;
        if header[dictionary..content].iter().any(|&byte| byte != 0) {
            return Err("a frame with a dictionary");
        }
        let mut number = [0; 8];
        number[..content_bytes].copy_from_slice(&header[content..]);
        let more = if content_bytes == 2 { 256 } else { 0 };
        let size = (content_bytes > 0).then(|| u64::from_le_bytes(number).saturating_add(more));
        Ok(FrameHeader {
            length: 1 + header.len(),
            content: size,
            has_checksum: descriptor & 4 != 0,
        })
    }
}

/// Decompresses frames to at most `limit` bytes.
///
/// # Errors
/// A message for damaged frames, and for frames that decode to more bytes.
pub fn decompress(data: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let capacity = data.len().saturating_mul(ZSTD_RATIO).min(limit);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(capacity).map_err(|error| error.to_string())?;
    bytes.resize(capacity, 0);
    let written = decompress_into(data, &mut bytes)?;
    bytes.truncate(written);
    Ok(bytes)
}

/// Decompresses frames to the beginning of `bytes`; returns the number of bytes written.
pub(crate) fn decompress_into(mut data: &[u8], bytes: &mut [u8]) -> Result<usize, String> {
    let mut output = OutputBuffer { bytes, written: 0, frame: 0 };
    while !data.is_empty() {
        let (magic, rest) = data.split_first_chunk().ok_or("less than a magic number")?;
        data = match u32::from_le_bytes(*magic) & !15 {
            SKIPPED_MAGIC => {
                let (length, rest) = rest.split_first_chunk().ok_or("a frame is cut off")?;
                let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
                rest.get(length..).ok_or("a frame is cut off")?
            }
            _ if *magic == MAGIC => decompress_frame(rest, &mut output)?,
            _ => return Err("no frame of zstd".to_owned()),
        };
    }
    Ok(output.written)
}

/// Decompresses a frame; `data` begins after its magic number. Returns the bytes after the frame.
fn decompress_frame<'a>(data: &'a [u8], output: &mut OutputBuffer<'_>) -> Result<&'a [u8], String> {
    let header = FrameHeader::parse(data)?;
    let max_bytes = output.bytes.len();
    let too_long = || format!("more than the {max_bytes} bytes that it can hold");
    let left = (output.bytes.len() - output.written) as u64;
    if header.content.is_some_and(|content| content > left) {
        return Err(too_long());
    }
    output.frame = output.written;
    let (mut rest, mut decoder) = (&data[header.length..], BlockDecoder::new());
    loop {
        let (block, following) = rest.split_first_chunk::<3>().ok_or("a frame is cut off")?;
        let block = u32::from_le_bytes([block[0], block[1], block[2], 0]);
        let (is_last, kind, size) = (block & 1 == 1, block >> 1 & 3, (block >> 3) as usize);
        if size > MAX_BLOCK_BYTES {
            return Err("a block that is too long".to_owned());
        }
        // Kinds: 0 stored, 1 one repeated byte, 2 compressed.
        let stored = if kind == 1 { 1 } else { size };
        let (block, following) = following.split_at_checked(stored).ok_or("a frame is cut off")?;
        rest = following;
        match kind {
            0 => output.next(size).ok_or_else(too_long)?.copy_from_slice(block),
            1 => output.next(size).ok_or_else(too_long)?.fill(block[0]),
            2 => decoder
                .decode(block, output)
                .ok_or("a block is damaged, or longer than it may be")?,
            _ => return Err("a block of an unknown kind".to_owned()),
        }
        if is_last {
            break;
        }
    }
    let frame = &output.bytes[output.frame..output.written];
    if header.content.is_some_and(|content| content != frame.len() as u64) {
        return Err("a frame does not have the length that it announces".to_owned());
    }
    if header.has_checksum {
        let (stored, following) = rest.split_first_chunk().ok_or("a frame is cut off")?;
        if u32::from_le_bytes(*stored) != xxh64::xxh64(frame) as u32 {
            return Err("the checksum differs".to_owned());
        }
        rest = following;
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that the C library made of four contents at levels -3, 1, 3, 6, 12 and 19, with checksums;
    /// those of level 6 do not announce their length.
    const FRAMES: &[u8] = include_bytes!("../../../tests/data/frames.zst");
    const LEVELS: usize = 6;
    const CONTENT_BYTES: usize = 9000;

    fn content(kind: u32) -> Vec<u8> {
        let mut seed = kind + 1;
        let byte = |index: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match kind {
                0 => (index / 7 % 251) as u8,
                1 => ((seed >> 30) + (index / 64 % 7) * 3) as u8,
                2 => b"broadcast axes shape "[((seed >> 16) % 21) as usize],
                _ if index % 500 < 400 => (index % 500 / 9) as u8,
                _ => (seed >> 24) as u8,
            }
        };
        (0..CONTENT_BYTES as u32).map(byte).collect()
    }

    #[test]
    fn frames_of_the_c_library_are_decoded() {
        let expected = (0..4).flat_map(|kind| content(kind).repeat(LEVELS)).collect::<Vec<u8>>();
        assert!(decompress(FRAMES, expected.len()).unwrap() == expected);
        assert!(decompress(FRAMES, expected.len() - 1).is_err());
        assert!(decompress(&FRAMES[..FRAMES.len() - 1], expected.len()).is_err());
    }

    #[test]
    fn damaged_frames_are_errors() {
        let max_bytes = 4 * LEVELS * CONTENT_BYTES;
        for at in (0..FRAMES.len()).step_by(29) {
            let mut damaged = FRAMES.to_vec();
            damaged[at] ^= 1 << (at % 8);
            // Not every bit of a header matters.
            let _ = decompress(&damaged, max_bytes);
            let _ = decompress(&FRAMES[at..], max_bytes);
        }
    }

    #[test]
    fn frames_of_any_window_take_the_memory_of_their_content() {
        // A window of 2^31 bytes and one block of three bytes.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 25, 0, 0, b'a', b'b', b'c'];
        assert_eq!(decompress(&frame, 3).unwrap(), b"abc");
        assert!(decompress(&frame, 2).is_err());
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &frame, &frame].concat();
        assert_eq!(decompress(&skipped, 6).unwrap(), b"abcabc");
    }
}
