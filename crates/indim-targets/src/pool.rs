//! The constants of a function: each the same in all lanes of a register, shared; and tables behind them.

use std::sync::Arc;

use crate::machine::Memory;

/// Constants, which lie before the code.
#[derive(Debug)]
pub(crate) struct Pool {
    /// What is repeated in a register.
    words: Vec<u64>,
    /// The bytes of a register.
    register_bytes: usize,
}

impl Pool {
    /// No constants yet.
    pub(crate) fn new(register_bytes: u32) -> Pool {
        Pool { words: Vec::new(), register_bytes: register_bytes as usize }
    }

    /// The low `size` bytes of `bits` in every lane.
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

    /// What lies so many bytes from the first constant, for people.
    pub(crate) fn describe(&self, at: u64) -> String {
        let Some(&word) = self.words.get(at as usize / self.register_bytes) else {
            return "table".to_owned();
        };
        match (word as u32, (word >> 32) as u32) {
            (low, high) if low == high => {
                format!("{:#x}, as f32 {:?}", low, f32::from_bits(low))
            }
            _ => format!("{:#x}, as f64 {:?}", word, f64::from_bits(word)),
        }
    }

    /// Where a table begins, in bytes.
    pub(crate) fn table_at(&self, tables: &[Arc<[u64]>], table: usize) -> usize {
        let before: usize = tables[..table].iter().map(|table| table.len() * 8).sum();
        self.words.len() * self.register_bytes + before
    }

    /// All bytes, of the tables too.
    pub(crate) fn bytes(&self, tables: &[Arc<[u64]>]) -> Vec<u8> {
        let in_register = self.register_bytes / 8;
        let constants = self.words.iter().flat_map(|&word| core::iter::repeat_n(word, in_register));
        let entries = tables.iter().flat_map(|table| table.iter().copied());
        constants.chain(entries).flat_map(u64::to_le_bytes).collect()
    }
}
