//! What StableHLO and HLO share, which are two spellings of XLA's operations: the table of those
//! (`opcode.rs`), what they become (`operation.rs`), reductions (`reducer.rs`, `reduction.rs`), and values
//! that may be tuples (`slot.rs`).

pub(crate) mod opcode;
pub(crate) mod operation;
pub(crate) mod reducer;
pub(crate) mod reduction;
pub(crate) mod slot;
