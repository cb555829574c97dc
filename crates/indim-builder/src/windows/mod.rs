//! Convolutions and pooling: paddings, windows, and products or reductions of these.
//!
//! - `axis.rs`: the windows of one axis and its padding, with the parameters of XLA's `window`;
//! - `convolve.rs`: convolutions, also grouped, strided, dilated and transposed ones;
//! - `pool.rs`: reductions of windows, average and maximum pooling.

mod axis;
mod convolve;
mod pool;

pub use axis::PaddedWindow;
pub use convolve::{Convolution, ConvolutionAxes};
pub use pool::PoolDivisor;
