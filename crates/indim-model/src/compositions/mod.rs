//! Compositions that several formats share: from values of a graph to values.
//!
//! - `attention.rs`: scaled dot-product attention;
//! - `complex_parts.rs`: complex numbers as parts along the last axis;
//! - `determinant.rs`: determinants of matrices;
//! - `extend.rs`: padding by the elements of the operand;
//! - `pools.rs`: positions of largest elements, norms of windows, response normalisation;
//! - `regions.rs`: regions of images, resampled to grids of one size;
//! - `resize.rs`: resizing of axes by interpolation;
//! - `sequences.rs`: sequences of different lengths in one array.

mod attention;
mod complex_parts;
mod determinant;
mod extend;
mod pools;
mod regions;
mod resize;
mod sequences;

pub use attention::{Attention, AttentionValues, attend};
pub use complex_parts::{from_parts, last_axis_element, to_parts};
pub use determinant::determinant;
pub use extend::extend;
pub use pools::{
    ElementOrder, max_pool_positions, norm_pool, normalize_response, response_windows, without_nan,
};
pub use regions::{RegionMode, RegionOptions, align_regions};
pub use resize::{AxisResize, Coordinates, Interpolation, NearestMode, ResizeOptions, resize};
pub use sequences::reverse_sequences;
