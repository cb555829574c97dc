//! Convolutions and pooling: paddings, windows, and products or reductions of these.
//!
//! - `axis.rs`: padding of axes, and errors;
//! - `convolve.rs`: convolutions, also grouped, strided, dilated and transposed ones;
//! - `pool.rs`: reductions of windows, average and maximum pooling.

mod axis;
mod convolve;
mod pool;

pub use convolve::{Convolution, ConvolutionAxes};
pub use pool::PoolDivisor;
