//! Fourier transforms: their functions, and the constants from which `indim-builder` composes them.
//!
//! - `function.rs`: the table of functions, and normalisations;
//! - `radix.rs`: the division of a length into radices, and the length of a convolution;
//! - `roots.rs`: roots of unity, and matrices of small transforms.

pub mod function;
pub mod radix;
pub mod roots;
