//! Definitions of operations on one element, written once over the algebra of `lane.rs`.
//!
//! A row of the op table names the classes it takes; the function of the same name stands in the
//! module of each class. The reference evaluator runs these functions one element at a time; the
//! kernels of `indim-cpu` are the same functions, vectorised by the compiler. So the rules here:
//! `#[inline(always)]` on everything, no `if` on a lane, no panicking operation.
//!
//! - `boolean.rs`: the operations on truth values; `false < true`;
//! - `canonical.rs`: the canonical NaN, which every result has in the place of any NaN;
//! - `complex/`: the operations on complex numbers, over pairs of lanes;
//! - `convert.rs`: conversions between element types;
//! - `elementary/`: the elementary functions over the `Lane` algebra: one file per family;
//! - `float.rs`: the operations on floats that arithmetic and comparison give: IEEE 754, nothing
//!   contracted;
//! - `float_bits.rs`: the operations on floats that are about their bit patterns, at every width alike;
//! - `half.rs`: the 16-bit floats: widening to 32 bits, and rounding to 16;
//! - `identity.rs`: identities of reductions, for each class of element types: combining with one changes
//!   no element;
//! - `integer.rs`: the operations on integers, signed and unsigned;
//! - `reduction.rs`: order of a reduction along its axis: a fixed tree over the positions of the elements;
//! - `running_sum.rs`: sums of elements one after another, as scatters make them: floats are summed in
//!   `f64`, complex numbers in `c128`, and rounded once, at the end; integers wrap.

pub mod boolean;
pub mod canonical;
pub mod complex;
pub mod convert;
mod elementary;
pub mod float;
pub mod float_bits;
pub mod half;
pub mod identity;
pub mod integer;
pub mod reduction;
pub mod running_sum;
