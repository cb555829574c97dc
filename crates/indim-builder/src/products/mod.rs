//! Products of arrays: matrix products and other sums of products, as contractions of broadcast arrays.
//!
//! - `build.rs`: the builder's methods, each with the rule of NumPy or XLA;
//! - `einsum.rs`: `einsum`, for any number of operands;
//! - `types.rs`: the element types of a product, and the contraction of operands of each type.
//!
//! `indim-shape` determines the axes. Every method broadcasts its operands to the shape of the product and
//! adds one `contract` node, or four of them for complex numbers. A product without summed axes is an
//! element-wise multiplication.

mod build;
mod einsum;
mod types;
