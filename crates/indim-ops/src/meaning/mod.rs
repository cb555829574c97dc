//! Definitions of operations on one element, written once over the algebra of `indim-lanes`.
//!
//! A row of the table of operations names its classes; the module of each class has a function of the same
//! name. The reference evaluator runs these functions one element at a time, and Rust's compiler vectorises
//! them in the kernels of `indim-kernels`. Therefore each of these functions is `#[inline(always)]`,
//! contains no `if` on a lane, and cannot panic.
//!
//! The orders of reductions, contractions, scans and scatters are definitions too. `tests/reductions.rs`
//! restates the order of a sum. In `indim-cpu`, `tests/reductions.rs`, `contractions.rs`, `scans.rs` and
//! `differential.rs` compare compiled programs with the orders; in `indim-stream`, `tests/chunkings/main.rs`
//! compares division into pieces.
//!
//! - `boolean.rs`: the operations on truth values; `false < true`;
//! - `complex/`: the operations on complex numbers, over pairs of lanes;
//! - `contraction.rs`: sums of products: their order, for one element of the result;
//! - `convert.rs`: conversions between element types;
//! - `float.rs`: arithmetic and comparisons of floats: IEEE 754, nothing contracted;
//! - `float_bits.rs`: operations on the bit patterns of floats, for every width;
//! - `half.rs`: the 16-bit floats: widening to 32 bits, and rounding to 16;
//! - `identity.rs`: identities of reductions, for each class of element types;
//! - `integer.rs`: the operations on integers, signed and unsigned;
//! - `reduction.rs`: the order of a reduction along its axis: a fixed tree over positions;
//! - `scan.rs`: scans: at each position the fold of all elements up to it, and its order;
//! - `scatter.rs`: scatters: the operation that combines an element with its updates, in order;
//! - `sort.rs`: the total order of elements, stable sorts, and searches in sorted tables;
//! - `storage.rs`: storage types: widening, rounding and selection.

pub mod boolean;
pub mod complex;
pub mod contraction;
pub mod convert;
pub mod float;
pub mod float_bits;
pub mod half;
pub mod identity;
pub mod integer;
pub mod reduction;
pub mod scan;
pub mod scatter;
pub mod sort;
pub mod storage;
