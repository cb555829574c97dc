//! Huffman codes of literals.

use super::bits::BackwardBits;
use super::fse::FseTable;

/// Maximum length of a code, in bits.
const MAX_BITS: u32 = 11;
/// Maximum accuracy of the table of weights: log2 of the number of its states.
const WEIGHT_ACCURACY: u32 = 6;
/// Weights from this header byte on are stored in four bits each.
const DIRECT_WEIGHTS: u8 = 128;
/// Symbols decoded from one word: five codes of at most 11 bits fit into the 56 bits that `peek` returns.
const SYMBOLS_OF_WORD: usize = 5;
const WORD_BITS: u32 = MAX_BITS * SYMBOLS_OF_WORD as u32;

/// A code: for each prefix of `bits` bits the symbol and the length of its code.
#[derive(Debug, Clone)]
pub(super) struct HuffmanTable {
    bits: u32,
    /// Symbol in the low byte, length in the high byte; 2^`MAX_BITS` entries, so an index needs no check.
    entries: Box<[u16; 1 << MAX_BITS]>,
}

impl HuffmanTable {
    /// Reads the description of a code; returns the code and the length of its description.
    pub(super) fn parse(data: &[u8]) -> Option<(Self, usize)> {
        let (&header, rest) = data.split_first()?;
        let (mut weights, length) = match header.checked_sub(DIRECT_WEIGHTS - 1) {
            Some(count) if header >= DIRECT_WEIGHTS => {
                let count = usize::from(count);
                let nibbles = rest.get(..count.div_ceil(2))?;
                let weights = nibbles.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                (weights.take(count).collect::<Vec<u8>>(), nibbles.len())
            }
            _ => {
                let length = usize::from(header);
                (coded_weights(rest.get(..length)?)?, length)
            }
        };
        let sum = weights.iter().map(|&weight| (1u32 << weight) >> 1).sum::<u32>();
        let bits = sum.checked_ilog2()? + 1;
        let left = (1u32 << bits) - sum;
        if bits > MAX_BITS || !left.is_power_of_two() || weights.len() > 255 {
            return None;
        }
        // The last weight is not stored: it fills the table.
        weights.push(left.ilog2() as u8 + 1);
        Some((Self::of_weights(&weights, bits)?, 1 + length))
    }

    fn of_weights(weights: &[u8], bits: u32) -> Option<Self> {
        let mut entries = Box::new([0; 1 << MAX_BITS]);
        let mut next = 0;
        for weight in 1..=bits as u8 {
            let symbols = weights.iter().enumerate().filter(|(_, it)| **it == weight);
            for (symbol, _) in symbols {
                let end = next + (1 << (weight - 1));
                let length = bits + 1 - u32::from(weight);
                entries.get_mut(next..end)?.fill((length as u16) << 8 | symbol as u16);
                next = end;
            }
        }
        (next == 1 << bits).then_some(HuffmanTable { bits, entries })
    }

    /// Decodes one stream, which has exactly as many symbols as `to` has bytes.
    pub(super) fn decode(&self, data: &[u8], to: &mut [u8]) -> Option<()> {
        let mut bits = BackwardBits::new(data)?;
        let mut words = to.chunks_exact_mut(SYMBOLS_OF_WORD);
        for symbols in words.by_ref() {
            self.decode_word(&mut bits, symbols);
        }
        for symbol in words.into_remainder() {
            let entry = self.entries[bits.peek(self.bits) as usize & ((1 << MAX_BITS) - 1)];
            *symbol = entry as u8;
            bits.skip(u32::from(entry >> 8));
        }
        (bits.left() == 0).then_some(())
    }

    /// Decodes four streams in one loop, so that their loads and look-ups overlap. Each stream has a
    /// quarter of the symbols, rounded up; the last stream has the rest.
    pub(super) fn decode_four(&self, data: [&[u8]; 4], to: &mut [u8]) -> Option<()> {
        let quarter = to.len().div_ceil(4);
        let [mut first, mut second, mut third, mut fourth] = {
            let [a, b, c, d] = data.map(BackwardBits::new);
            [a?, b?, c?, d?]
        };
        let (to_first, rest) = to.split_at_mut_checked(quarter)?;
        let (to_second, rest) = rest.split_at_mut_checked(quarter)?;
        let (to_third, to_fourth) = rest.split_at_mut_checked(quarter)?;
        let words = to_fourth.len() / SYMBOLS_OF_WORD;
        let together = words * SYMBOLS_OF_WORD;
        let each = to_first[..together]
            .chunks_exact_mut(SYMBOLS_OF_WORD)
            .zip(to_second[..together].chunks_exact_mut(SYMBOLS_OF_WORD))
            .zip(to_third[..together].chunks_exact_mut(SYMBOLS_OF_WORD))
            .zip(to_fourth[..together].chunks_exact_mut(SYMBOLS_OF_WORD));
        for (((a, b), c), d) in each {
            self.decode_word(&mut first, a);
            self.decode_word(&mut second, b);
            self.decode_word(&mut third, c);
            self.decode_word(&mut fourth, d);
        }
        let ends = [
            (first, &mut to_first[together..]),
            (second, &mut to_second[together..]),
            (third, &mut to_third[together..]),
            (fourth, &mut to_fourth[together..]),
        ];
        for (mut bits, to) in ends {
            for symbol in to {
                let entry = self.entries[bits.peek(self.bits) as usize & ((1 << MAX_BITS) - 1)];
                *symbol = entry as u8;
                bits.skip(u32::from(entry >> 8));
            }
            (bits.left() == 0).then_some(())?;
        }
        Some(())
    }

    #[inline(always)]
    fn decode_word(&self, bits: &mut BackwardBits<'_>, symbols: &mut [u8]) {
        let word = bits.peek(WORD_BITS) << (64 - WORD_BITS);
        let mut used = 0;
        for symbol in symbols {
            let prefix = (word << used) >> (64 - self.bits);
            let entry = self.entries[prefix as usize & ((1 << MAX_BITS) - 1)];
            *symbol = entry as u8;
            used += u32::from(entry >> 8);
        }
        bits.skip(used);
    }
}

/// Weights coded by two alternating finite-state decoders.
fn coded_weights(data: &[u8]) -> Option<Vec<u8>> {
    let (table, length) = FseTable::parse(data, WEIGHT_ACCURACY, MAX_BITS as usize + 1)?;
    let mut bits = BackwardBits::new(&data[length..])?;
    let mut states = [table.initial_state(&mut bits), table.initial_state(&mut bits)];
    let mut weights = Vec::with_capacity(255);
    if bits.left() < 0 {
        return None;
    }
    for turn in (0..2).cycle() {
        weights.push(table.symbol(states[turn]));
        table.advance(&mut states[turn], &mut bits);
        if bits.left() < 0 {
            // The bits are exhausted; the state of the other decoder holds the last symbol.
            weights.push(table.symbol(states[1 - turn]));
            break;
        }
        if weights.len() > 255 {
            return None;
        }
    }
    Some(weights)
}
