//! The constant pool of a function: constants with equal lanes, constants with different lanes, then lookup
//! tables.

use std::sync::Arc;

use crate::machine::Memory;

/// The constant pool of a function, stored before its code. Equal constants share an entry.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Constants with equal lanes: the eight bytes that repeat in a register.
    words: Vec<u64>,
    /// Bytes stored of each constant with equal lanes: a register, or eight.
    constant_bytes: usize,
    /// Constants with different lanes: all words of a register.
    lanes: Vec<Vec<u64>>,
}

impl Pool {
    /// An empty pool that stores `constant_bytes` bytes of each constant with equal lanes.
    pub(crate) fn new(constant_bytes: u32) -> Pool {
        Pool { words: Vec::new(), constant_bytes: constant_bytes as usize, lanes: Vec::new() }
    }

    /// The constant with the low `size` bytes of `bits` in every lane.
    pub(crate) fn constant(&mut self, bits: u64, size: usize) -> Memory {
        let repeated = match size {
            1 => (bits & 0xff).wrapping_mul(0x0101_0101_0101_0101),
            2 => (bits & 0xffff).wrapping_mul(0x0001_0001_0001_0001),
            4 => (bits & 0xffff_ffff).wrapping_mul(0x0000_0001_0000_0001),
            _ => bits,
        };
        let found = self.words.iter().rposition(|&known| known == repeated);
        let index = found.unwrap_or_else(|| {
            self.words.push(repeated);
            self.words.len() - 1
        });
        Memory::Pool(index as u32)
    }

    /// The constant that fills a register with these words.
    #[allow(dead_code, reason = "only AVX-512 has such constants")]
    pub(crate) fn lanes(&mut self, words: Vec<u64>) -> Memory {
        let found = self.lanes.iter().position(|known| *known == words);
        let index = found.unwrap_or_else(|| {
            self.lanes.push(words);
            self.lanes.len() - 1
        });
        Memory::Lanes(index as u32)
    }

    /// Byte offset of a constant with different lanes.
    pub(crate) fn lanes_at(&self, index: usize) -> usize {
        let before: usize = self.lanes[..index].iter().map(|words| words.len() * 8).sum();
        self.words.len() * self.constant_bytes + before
    }

    /// The text in a listing of the constant at a byte offset.
    pub(crate) fn describe(&self, at: u64) -> String {
        let at = at as usize;
        let Some(&word) = self.words.get(at / self.constant_bytes) else {
            let is_table = at >= self.lanes_at(self.lanes.len());
            return if is_table { "table" } else { "lanes" }.to_owned();
        };
        match (word as u32, (word >> 32) as u32) {
            (low, high) if low == high => {
                format!("{:#x}, as f32 {:?}", low, f32::from_bits(low))
            }
            _ => format!("{:#x}, as f64 {:?}", word, f64::from_bits(word)),
        }
    }

    /// Byte offset of a table.
    pub(crate) fn table_at(&self, tables: &[Arc<[u64]>], table: usize) -> usize {
        let before: usize = tables[..table].iter().map(|table| table.len() * 8).sum();
        self.lanes_at(self.lanes.len()) + before
    }

    /// The bytes of the pool, followed by those of the tables.
    pub(crate) fn bytes(&self, tables: &[Arc<[u64]>]) -> Vec<u8> {
        let times = self.constant_bytes / 8;
        let constants = self.words.iter().flat_map(|&word| core::iter::repeat_n(word, times));
        let lanes = self.lanes.iter().flatten().copied();
        let entries = tables.iter().flat_map(|table| table.iter().copied());
        constants.chain(lanes).chain(entries).flat_map(u64::to_le_bytes).collect()
    }
}
