//! The constant pool of a function: constants with equal lanes, constants with different lanes, then lookup
//! tables.

use std::sync::Arc;

use crate::machine::Memory;

/// The constant pool of a function, stored before its code. Equal constants share an entry.
#[derive(Debug)]
pub struct Pool {
    /// Constants with equal lanes: the eight bytes that repeat in a register.
    splats: Vec<u64>,
    /// Bytes stored of each constant with equal lanes: a register, or eight.
    splat_bytes: usize,
    /// Constants with different lanes: all words of a register.
    lane_constants: Vec<Vec<u64>>,
}

impl Pool {
    /// An empty pool that stores `splat_bytes` bytes of each constant with equal lanes.
    pub fn new(splat_bytes: u32) -> Pool {
        Pool { splats: Vec::new(), splat_bytes: splat_bytes as usize, lane_constants: Vec::new() }
    }

    /// The constant with the low `size` bytes of `bits` in every lane.
    pub(crate) fn splat(&mut self, bits: u64, size: usize) -> Memory {
        let word = match size {
            1 => (bits & 0xff).wrapping_mul(0x0101_0101_0101_0101),
            2 => (bits & 0xffff).wrapping_mul(0x0001_0001_0001_0001),
            4 => (bits & 0xffff_ffff).wrapping_mul(0x0000_0001_0000_0001),
            _ => bits,
        };
        let found = self.splats.iter().rposition(|&known| known == word);
        let index = found.unwrap_or_else(|| {
            self.splats.push(word);
            self.splats.len() - 1
        });
        Memory::Splat(index as u32)
    }

    /// The constant that fills a register with these words.
    pub fn lane_constant(&mut self, words: Vec<u64>) -> Memory {
        let found = self.lane_constants.iter().position(|known| *known == words);
        let index = found.unwrap_or_else(|| {
            self.lane_constants.push(words);
            self.lane_constants.len() - 1
        });
        Memory::LaneConstant(index as u32)
    }

    /// Byte offset of a constant with different lanes.
    pub fn lane_constant_offset(&self, index: usize) -> usize {
        let before: usize = self.lane_constants[..index].iter().map(|words| words.len() * 8).sum();
        self.splats.len() * self.splat_bytes + before
    }

    /// The text that describes, in a listing, the constant at the byte offset `at`.
    pub fn describe(&self, at: u64) -> String {
        let at = at as usize;
        let Some(&word) = self.splats.get(at / self.splat_bytes) else {
            let is_table = at >= self.lane_constant_offset(self.lane_constants.len());
            return if is_table { "table" } else { "lanes" }.to_owned();
        };
        match (word as u32, (word >> 32) as u32) {
            (low, high) if low == high => {
                format!("{:#x}, as f32 {:?}", low, f32::from_bits(low))
            }
            _ => format!("{:#x}, as f64 {:?}", word, f64::from_bits(word)),
        }
    }

    /// Byte offset of the table with index `table` in `tables`.
    pub fn table_offset(&self, tables: &[Arc<[u64]>], table: usize) -> usize {
        let before: usize = tables[..table].iter().map(|table| table.len() * 8).sum();
        self.lane_constant_offset(self.lane_constants.len()) + before
    }

    /// The bytes of the pool, followed by those of the tables.
    pub fn bytes(&self, tables: &[Arc<[u64]>]) -> Vec<u8> {
        let times = self.splat_bytes / 8;
        let constants = self.splats.iter().flat_map(|&word| core::iter::repeat_n(word, times));
        let lanes = self.lane_constants.iter().flatten().copied();
        let entries = tables.iter().flat_map(|table| table.iter().copied());
        constants.chain(lanes).chain(entries).flat_map(u64::to_le_bytes).collect()
    }
}
