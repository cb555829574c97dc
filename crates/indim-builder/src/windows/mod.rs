//! Convolutions and pooling: paddings, windows, and products or reductions of these.
//!
//! - `axis.rs`: the windows of one axis with padding, as XLA states them;
//! - `convolve.rs`: convolutions: groups, strides, dilations, transposed ones;
//! - `pool.rs`: reductions of windows, average and maximum pooling.

mod axis;
mod convolve;
mod pool;

pub use axis::PaddedWindow;
pub use convolve::{Convolution, ConvolutionAxes};
pub use pool::PoolDivisor;
