//! Programs over arrays in chunks of any sizes: the bits of one run over the whole.

mod harness;
mod products;
mod sums;
