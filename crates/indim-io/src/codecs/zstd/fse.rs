//! Tables of finite state entropy: their description, construction and states.

use super::bits::{BackwardBits, ForwardBits};

/// Maximum accuracy of any table. The accuracy is log2 of the number of states: at most 2^9 states.
const MAX_ACCURACY: u32 = 9;

/// An entry for a state: its symbol, and the next state, which is `base` plus the number in the next `bits`
/// bits.
#[derive(Debug, Clone, Copy, Default)]
struct FseEntry {
    symbol: u8,
    bits: u8,
    base: u16,
}

/// A decoding table.
#[derive(Debug, Clone)]
pub(super) struct FseTable {
    accuracy: u32,
    entries: Vec<FseEntry>,
}

/// The state of a decoder: the index of an entry in its table.
#[derive(Debug, Clone, Copy)]
pub(super) struct FseState(u16);

impl FseTable {
    /// The table of one symbol, which takes no bits.
    pub(super) fn of_symbol(symbol: u8) -> Self {
        FseTable { accuracy: 0, entries: vec![FseEntry { symbol, bits: 0, base: 0 }] }
    }

    /// Reads the description of a table; returns the table and the length of its description.
    pub(super) fn parse(data: &[u8], max_accuracy: u32, symbols: usize) -> Option<(Self, usize)> {
        let mut bits = ForwardBits::new(data);
        let accuracy = bits.read(4)? + 5;
        if accuracy > max_accuracy.min(MAX_ACCURACY) {
            return None;
        }
        let mut counts: Vec<i16> = Vec::with_capacity(symbols);
        let mut left = 1i32 << accuracy;
        while left > 0 {
            let width = (left + 1).ilog2() + 1;
            let value = bits.read(width)? as i32;
            let low_mask = (1 << (width - 1)) - 1;
            // Values below the threshold take one bit less.
            let threshold = (1 << width) - 1 - (left + 1);
            let value = if value & low_mask < threshold {
                bits.rewind(1);
                value & low_mask
            } else if value > low_mask {
                value - threshold
            } else {
                value
            };
            let count = value - 1;
            left -= count.abs();
            counts.push(count as i16);
            if count == 0 {
                loop {
                    let repeats = bits.read(2)?;
                    counts.extend((0..repeats).map(|_| 0));
                    if repeats < 3 {
                        break;
                    }
                    if counts.len() > symbols {
                        return None;
                    }
                }
            }
            if counts.len() > symbols {
                return None;
            }
        }
        (left == 0).then_some(())?;
        Some((Self::of_counts(&counts, accuracy)?, bits.bytes_read()))
    }

    /// The table of a distribution: the number of states of each symbol. A count of -1 marks a rare
    /// symbol, which gets one state at the end of the table.
    pub(super) fn of_counts(counts: &[i16], accuracy: u32) -> Option<Self> {
        let size = 1usize << accuracy;
        let mut entries = vec![FseEntry::default(); size];
        let mut next = [0u16; 256];
        let mut end = size;
        for (symbol, &count) in counts.iter().enumerate() {
            if count == -1 {
                end = end.checked_sub(1)?;
                entries[end].symbol = symbol as u8;
                next[symbol] = 1;
            }
        }
        let step = (size >> 1) + (size >> 3) + 3;
        let mut position = 0;
        for (symbol, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            next[symbol] = count as u16;
            for _ in 0..count {
                entries[position].symbol = symbol as u8;
                loop {
                    position = (position + step) & (size - 1);
                    if position < end || end == 0 {
                        break;
                    }
                }
            }
        }
        if position != 0 {
            return None;
        }
        for entry in &mut entries {
            let number = &mut next[usize::from(entry.symbol)];
            let bits = accuracy - number.checked_ilog2()?;
            entry.bits = bits as u8;
            entry.base = ((u32::from(*number) << bits) - size as u32) as u16;
            *number += 1;
        }
        Some(FseTable { accuracy, entries })
    }

    pub(super) fn initial_state(&self, bits: &mut BackwardBits<'_>) -> FseState {
        FseState(bits.read(self.accuracy) as u16)
    }

    #[inline]
    pub(super) fn symbol(&self, state: FseState) -> u8 {
        self.entries[usize::from(state.0)].symbol
    }

    #[inline]
    pub(super) fn advance(&self, state: &mut FseState, bits: &mut BackwardBits<'_>) {
        let entry = self.entries[usize::from(state.0)];
        state.0 = entry.base + bits.read(u32::from(entry.bits)) as u16;
    }
}
