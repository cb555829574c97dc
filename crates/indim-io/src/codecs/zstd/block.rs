//! Compressed blocks: literals, and sequences that copy literals and earlier bytes.

use super::bits::BackwardBits;
use super::fse::{FseState, FseTable};
use super::huffman::HuffmanTable;

/// Maximum bytes of a decoded block.
pub(super) const MAX_BLOCK_BYTES: usize = 128 << 10;
/// Maximum code of an offset: the number of its extra bits.
const MAX_OFFSET_CODE: u8 = 31;
/// Bytes that one step copies, if the output has room for them beyond the end of a match or of literals.
const COPY_BYTES: usize = 16;

/// Base and extra bits of each code of a literals length. RFC 8878, section 3.1.1.3.2.1.1.
const LITERALS_LENGTHS: [(u32, u8); 36] =
    lengths(0, 16, [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// Base and extra bits of each code of a match length. RFC 8878, section 3.1.1.3.2.1.1.
const MATCH_LENGTHS: [(u32, u8); 53] =
    lengths(3, 32, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// The base and the number of extra bits of each code of a length. The first `single` codes stand for one
/// value each, from `first` on; the codes after these have the numbers of extra bits in `extra`. The
/// values of a code begin where those of the previous code end.
const fn lengths<const CODES: usize, const EXTRA: usize>(
    first: u32,
    single: usize,
    extra: [u8; EXTRA],
) -> [(u32, u8); CODES] {
    let mut codes = [(0, 0); CODES];
    let (mut code, mut base) = (0, first);
    while code < CODES {
        let bits = if code < single { 0 } else { extra[code - single] };
        codes[code] = (base, bits);
        base += 1 << bits;
        code += 1;
    }
    codes
}

/// A kind of codes: the limits of its tables, and its predefined distribution in RFC 8878.
struct CodeKind {
    /// Maximum accuracy of a table: log2 of the number of its states.
    max_accuracy: u32,
    /// Number of codes.
    symbols: usize,
    /// Accuracy of the predefined distribution.
    accuracy: u32,
    /// Number of states of each code in the predefined distribution; -1 as in [`FseTable::of_counts`].
    counts: &'static [i16],
}

const LITERALS_LENGTH: CodeKind = CodeKind {
    max_accuracy: 9,
    symbols: LITERALS_LENGTHS.len(),
    accuracy: 6,
    counts: &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1,
        1, 1, -1, -1, -1, -1,
    ],
};

const OFFSET: CodeKind = CodeKind {
    max_accuracy: 8,
    symbols: MAX_OFFSET_CODE as usize + 1,
    accuracy: 5,
    counts: &[
        1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
    ],
};

const MATCH_LENGTH: CodeKind = CodeKind {
    max_accuracy: 9,
    symbols: MATCH_LENGTHS.len(),
    accuracy: 6,
    counts: &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
};

/// Tables and offsets that blocks of a frame inherit from earlier blocks.
#[derive(Debug)]
pub(super) struct BlockDecoder {
    huffman: Option<HuffmanTable>,
    /// Tables of literals lengths, offsets and match lengths.
    tables: [Option<FseTable>; 3],
    /// The last three offsets, the most recent first.
    offsets: [usize; 3],
    /// Buffer of the literals of a block.
    literals: Vec<u8>,
}

/// The output of a decoder; the bytes before `written` are decoded.
#[derive(Debug)]
pub(super) struct OutputBuffer<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) written: usize,
    /// Start of the frame in the output; matches reach no further back.
    pub(super) frame: usize,
}

impl OutputBuffer<'_> {
    /// The next `count` bytes, if the output has them.
    pub(super) fn next(&mut self, count: usize) -> Option<&mut [u8]> {
        let end = self.written.checked_add(count)?;
        let next = self.bytes.get_mut(self.written..end)?;
        self.written = end;
        Some(next)
    }

    /// Copies a match, which may overlap its destination.
    #[inline]
    fn copy_match(&mut self, offset: usize, length: usize) -> Option<()> {
        let (start, end) = (self.written.checked_sub(offset)?, self.written + length);
        if start < self.frame || end > self.bytes.len() || offset == 0 {
            return None;
        }
        if offset >= COPY_BYTES && end + COPY_BYTES <= self.bytes.len() {
            // Each step reads bytes that are written already; the last one writes beyond the end.
            let (mut from, mut to) = (start, self.written);
            while to < end {
                self.bytes.copy_within(from..from + COPY_BYTES, to);
                (from, to) = (from + COPY_BYTES, to + COPY_BYTES);
            }
        } else if offset == 1 {
            let byte = self.bytes[start];
            self.bytes[self.written..end].fill(byte);
        } else {
            // The distance doubles with each step.
            let mut to = self.written;
            while to < end {
                let count = (to - start).min(end - to);
                self.bytes.copy_within(start..start + count, to);
                to += count;
            }
        }
        self.written = end;
        Some(())
    }
}

impl BlockDecoder {
    pub(super) fn new() -> Self {
        BlockDecoder {
            huffman: None,
            tables: [None, None, None],
            offsets: [1, 4, 8],
            literals: Vec::new(),
        }
    }

    /// Decodes a compressed block.
    pub(super) fn decode(&mut self, block: &[u8], output: &mut OutputBuffer<'_>) -> Option<()> {
        let mut literals = core::mem::take(&mut self.literals);
        let length = self.decode_literals(block, &mut literals)?;
        let decoded = self.decode_sequences(&block[length..], &literals, output);
        self.literals = literals;
        decoded
    }

    /// Decodes the literals; returns the bytes that they take in the block.
    fn decode_literals(&mut self, block: &[u8], literals: &mut Vec<u8>) -> Option<usize> {
        let byte = |at: usize| block.get(at).map(|&byte| u64::from(byte));
        let first = byte(0)?;
        // Kinds: 0 stored, 1 one repeated byte, 2 compressed with a new Huffman table, 3 with the
        // previous one.
        let (kind, format) = (first & 3, first >> 2 & 3);
        if kind < 2 {
            let (size, header) = match format {
                1 => (first >> 4 | byte(1)? << 4, 2),
                3 => (first >> 4 | byte(1)? << 4 | byte(2)? << 12, 3),
                _ => (first >> 3, 1),
            };
            let size = size as usize;
            if size > MAX_BLOCK_BYTES {
                return None;
            }
            literals.clear();
            if kind == 0 {
                literals.extend_from_slice(block.get(header..header + size)?);
                return Some(header + size);
            }
            literals.resize(size, *block.get(header)?);
            return Some(header + 1);
        }
        let (header, width) = [(3, 10), (3, 10), (4, 14), (5, 18)][format as usize];
        let mut word = 0;
        for at in 0..header {
            word |= byte(at)? << (8 * at);
        }
        let size = (word >> 4 & ((1 << width) - 1)) as usize;
        let stored = (word >> (4 + width) & ((1 << width) - 1)) as usize;
        if size > MAX_BLOCK_BYTES {
            return None;
        }
        let mut streams = block.get(header..header + stored)?;
        if kind == 2 {
            let (table, length) = HuffmanTable::parse(streams)?;
            self.huffman = Some(table);
            streams = &streams[length..];
        }
        let huffman = self.huffman.as_ref()?;
        literals.clear();
        literals.resize(size, 0);
        if format == 0 {
            huffman.decode(streams, literals)?;
        } else {
            let (jumps, mut rest) = streams.split_at_checked(6)?;
            let mut parts = [&[][..]; 4];
            for (part, jump) in parts.iter_mut().zip(jumps.chunks_exact(2)) {
                let length = usize::from(u16::from_le_bytes([jump[0], jump[1]]));
                (*part, rest) = rest.split_at_checked(length)?;
            }
            parts[3] = rest;
            huffman.decode_four(parts, literals)?;
        }
        Some(header + stored)
    }

    /// Decodes the sequences and executes them.
    fn decode_sequences(
        &mut self,
        data: &[u8],
        literals: &[u8],
        output: &mut OutputBuffer<'_>,
    ) -> Option<()> {
        let byte = |at: usize| data.get(at).map(|&byte| usize::from(byte));
        let (count, header) = match byte(0)? {
            first @ 0..128 => (first, 1),
            first @ 128..255 => ((first - 128) << 8 | byte(1)?, 2),
            _ => ((byte(1)? | byte(2)? << 8) + 0x7f00, 3),
        };
        if count == 0 {
            (data.len() == header).then_some(())?;
            output.next(literals.len())?.copy_from_slice(literals);
            return Some(());
        }
        let modes = byte(header)?;
        (modes & 3 == 0).then_some(())?;
        let mut rest = &data[header + 1..];
        let kinds = [LITERALS_LENGTH, OFFSET, MATCH_LENGTH];
        for ((table, kind), mode) in
            self.tables.iter_mut().zip(kinds).zip([modes >> 6, modes >> 4 & 3, modes >> 2 & 3])
        {
            // Modes: 0 predefined table, 1 one symbol, 2 new table, 3 previous table.
            match mode {
                0 => *table = FseTable::of_counts(kind.counts, kind.accuracy),
                1 => {
                    let (&symbol, following) = rest.split_first()?;
                    (usize::from(symbol) < kind.symbols).then_some(())?;
                    (*table, rest) = (Some(FseTable::of_symbol(symbol)), following);
                }
                2 => {
                    let (parsed, length) = FseTable::parse(rest, kind.max_accuracy, kind.symbols)?;
                    (*table, rest) = (Some(parsed), &rest[length..]);
                }
                _ => {}
            }
        }
        let [Some(literals_table), Some(offsets_table), Some(matches_table)] = &self.tables else {
            return None;
        };
        let mut bits = BackwardBits::new(rest)?;
        let mut states = [literals_table, offsets_table, matches_table]
            .map(|table| table.initial_state(&mut bits));
        let mut rest_of_literals = literals;
        let block_start = output.written;
        for index in 0..count {
            let [literals_state, offset_state, match_state] = &mut states;
            let code = offsets_table.symbol(*offset_state);
            let value = (1u64 << code) + bits.read(u32::from(code));
            let (base, more) = MATCH_LENGTHS[usize::from(matches_table.symbol(*match_state))];
            let match_length = (u64::from(base) + bits.read(u32::from(more))) as usize;
            let (base, more) =
                LITERALS_LENGTHS[usize::from(literals_table.symbol(*literals_state))];
            let literals_length = (u64::from(base) + bits.read(u32::from(more))) as usize;
            if index + 1 < count {
                advance(literals_table, literals_state, &mut bits);
                advance(matches_table, match_state, &mut bits);
                advance(offsets_table, offset_state, &mut bits);
            }
            let offset = next_offset(&mut self.offsets, value as usize, literals_length)?;
            rest_of_literals = copy_literals(rest_of_literals, literals_length, output)?;
            output.copy_match(offset, match_length)?;
        }
        if bits.left() != 0 || output.written - block_start > MAX_BLOCK_BYTES {
            return None;
        }
        output.next(rest_of_literals.len())?.copy_from_slice(rest_of_literals);
        Some(())
    }
}

#[inline(always)]
fn advance(table: &FseTable, state: &mut FseState, bits: &mut BackwardBits<'_>) {
    table.advance(state, bits);
}

/// Copies `length` literals to the output; returns the remaining literals.
#[inline]
fn copy_literals<'a>(
    literals: &'a [u8],
    length: usize,
    output: &mut OutputBuffer<'_>,
) -> Option<&'a [u8]> {
    let written = output.written;
    let is_short = length <= COPY_BYTES && literals.len() >= COPY_BYTES;
    match output.bytes.get_mut(written..written + COPY_BYTES) {
        // A copy of constant length is one move.
        Some(to) if is_short => {
            to.copy_from_slice(&literals[..COPY_BYTES]);
            output.written += length;
            Some(&literals[length..])
        }
        _ => {
            let (now, later) = literals.split_at_checked(length)?;
            output.next(length)?.copy_from_slice(now);
            Some(later)
        }
    }
}

/// The offset of a match: a new one, or one of the last three. A `value` above 3 is a new offset plus 3.
/// A `value` of 1 to 3 selects the first, second or third of the last offsets. Without literals before
/// the match it selects the second, the third, or the first less 1.
#[inline]
fn next_offset(last: &mut [usize; 3], value: usize, literals_length: usize) -> Option<usize> {
    if value > 3 {
        *last = [value - 3, last[0], last[1]];
        return Some(last[0]);
    }
    let [first, second, third] = *last;
    match value - 1 + usize::from(literals_length == 0) {
        0 => {}
        1 => *last = [second, first, third],
        2 => *last = [third, first, second],
        _ => *last = [first.checked_sub(1).filter(|offset| *offset > 0)?, first, second],
    }
    Some(last[0])
}
