//! Fourier transforms, composed of contractions with small matrices and of multiplications by roots of unity.
//!
//! - `build.rs`: the builder's method: axes, sizes, normalisation and element types;
//! - `stages.rs`: a transform along one axis, of complex or real numbers.

mod build;
mod stages;

pub use build::FourierOptions;
