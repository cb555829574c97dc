//! The constants of a function: 32 bytes each, shared; and tables behind them.

use std::sync::Arc;

use super::machine::{Memory, REGISTER_BYTES};

/// Constants, which lie before the code.
#[derive(Debug, Default)]
pub(super) struct Pool {
    vectors: Vec<[u64; 4]>,
}

impl Pool {
    /// The low `size` bytes of `bits` in every lane.
    pub(super) fn constant(&mut self, bits: u64, size: usize) -> Memory {
        let repeated = match size {
            1 => (bits & 0xff).wrapping_mul(0x0101_0101_0101_0101),
            2 => (bits & 0xffff).wrapping_mul(0x0001_0001_0001_0001),
            4 => (bits & 0xffff_ffff).wrapping_mul(0x0000_0001_0000_0001),
            _ => bits,
        };
        self.vector([repeated; 4])
    }

    fn vector(&mut self, vector: [u64; 4]) -> Memory {
        let found = self.vectors.iter().rposition(|&known| known == vector);
        let index = found.unwrap_or_else(|| {
            self.vectors.push(vector);
            self.vectors.len() - 1
        });
        Memory::Pool(index as u32)
    }

    /// What lies so many bytes from the first constant, for people.
    pub(super) fn describe(&self, at: u64) -> String {
        let Some(vector) = self.vectors.get((at / u64::from(REGISTER_BYTES)) as usize) else {
            return "table".to_owned();
        };
        let word = vector[0];
        match (word as u32, (word >> 32) as u32) {
            (low, high) if low == high => {
                format!("{:#x}, as f32 {:?}", low, f32::from_bits(low))
            }
            _ => format!("{:#x}, as f64 {:?}", word, f64::from_bits(word)),
        }
    }

    /// Where the tables begin, in bytes.
    fn tables_at(&self) -> usize {
        self.vectors.len() * REGISTER_BYTES as usize
    }

    /// Where a table begins, in bytes.
    pub(super) fn table_at(&self, tables: &[Arc<[u64]>], table: usize) -> usize {
        let before: usize = tables[..table].iter().map(|table| table.len() * 8).sum();
        self.tables_at() + before
    }

    /// All bytes, of the tables too.
    pub(super) fn bytes(&self, tables: &[Arc<[u64]>]) -> Vec<u8> {
        let words =
            self.vectors.iter().flatten().chain(tables.iter().flat_map(|table| table.iter()));
        words.flat_map(|word| word.to_le_bytes()).collect()
    }
}
