//! The block executor: a nest becomes straight-line code, whose kernels and chains run over dense blocks
//! in the nearest cache, tile by tile.

pub(crate) mod chain;
pub(crate) mod execute;
pub(crate) mod kernel;
pub mod memory;
pub(crate) mod program;
pub(crate) mod wiring;
