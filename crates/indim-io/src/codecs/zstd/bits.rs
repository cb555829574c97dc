//! Bit streams: forward for table descriptions, backward for everything else.

/// Bits from the beginning of some bytes, the lowest bit of a byte first.
#[derive(Debug)]
pub(super) struct ForwardBits<'a> {
    data: &'a [u8],
    /// Number of bits read.
    position: usize,
}

impl<'a> ForwardBits<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        ForwardBits { data, position: 0 }
    }

    /// Reads `count` bits, at most 16.
    pub(super) fn read(&mut self, count: u32) -> Option<u32> {
        let end = self.position + count as usize;
        if end > self.data.len() * 8 {
            return None;
        }
        let first = self.position / 8;
        let byte = |at: usize| u32::from(self.data.get(first + at).copied().unwrap_or(0));
        let word = byte(0) | byte(1) << 8 | byte(2) << 16;
        let bits = word >> (self.position % 8) & ((1 << count) - 1);
        self.position = end;
        Some(bits)
    }

    pub(super) fn rewind(&mut self, count: usize) {
        self.position -= count;
    }

    /// Bytes read, the last one in part.
    pub(super) fn bytes_read(&self) -> usize {
        self.position.div_ceil(8)
    }
}

/// Bits from the end of some bytes. The highest set bit of the last byte marks the end, and is not data.
#[derive(Debug, Clone, Copy)]
pub(super) struct BackwardBits<'a> {
    data: &'a [u8],
    /// Bits left; negative after reading beyond the beginning, where all bits are zero.
    left: isize,
}

impl<'a> BackwardBits<'a> {
    pub(super) fn new(data: &'a [u8]) -> Option<Self> {
        let last = *data.last().filter(|last| **last != 0)?;
        let left = data.len() * 8 - last.leading_zeros() as usize - 1;
        Some(BackwardBits { data, left: isize::try_from(left).ok()? })
    }

    pub(super) fn left(&self) -> isize {
        self.left
    }

    /// The next `count` bits, which are not consumed; at most 56, so that a word of 8 bytes contains them
    /// at any bit offset.
    #[inline]
    pub(super) fn peek(&self, count: u32) -> u64 {
        debug_assert!(count <= 56);
        let start = self.left - count as isize;
        if start < 0 {
            return self.peek_beyond(count);
        }
        let start = start as usize;
        let first = start / 8;
        let word = match self.data.get(first..first + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().expect("invariant: 8 bytes")),
            None => last_word(&self.data[first.min(self.data.len())..]),
        };
        word >> (start % 8) & ((1 << count) - 1)
    }

    #[inline]
    pub(super) fn skip(&mut self, count: u32) {
        self.left -= count as isize;
    }

    #[inline]
    pub(super) fn read(&mut self, count: u32) -> u64 {
        let bits = self.peek(count);
        self.skip(count);
        bits
    }

    /// Like `peek` if fewer than `count` bits are left: the missing low bits are zero.
    #[cold]
    fn peek_beyond(&self, count: u32) -> u64 {
        let real = self.left.max(0) as u32;
        let bits = match real {
            0 => 0,
            real => last_word(&self.data[..self.data.len().min(8)]) & ((1 << real) - 1),
        };
        bits << (count - real)
    }
}

/// Up to eight bytes as a little-endian word.
fn last_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
