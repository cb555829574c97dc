//! Products of arrays: matrix products and every other sum of products, as contractions of broadcasts.
//!
//! - `build.rs`: the builder's methods, each with the rule of NumPy or XLA;
//! - `einsum.rs`: `einsum`, for any number of operands;
//! - `types.rs`: the element types: those of products, of sums, of the result.
//!
//! `indim-shape` determines the axes. Every method broadcasts its operands to the shape of the product and
//! adds one `contract` node, or four of them for complex numbers. A product without summed axes is an
//! element-wise multiplication.

mod build;
mod einsum;
mod types;
