//! Products of two strided operands, summed along shared axes: matrix products and every other contraction.
//!
//! `out[b, m, n] = Σₖ x[b, m, k] * y[b, n, k]`, with any number of axes of each class. The order of
//! summation is fixed, so the bits depend neither on the instruction set nor on tiles, threads and strides.
//!
//! Files, in reading order:
//! - `product.rs`: the description of a product;
//! - `plan.rs`: its plan for a level and a number of threads: phases of independent units;
//! - `order.rs`: the order of summation;
//! - `axes.rs`: the axes of one class, and offsets;
//! - `blocking.rs`: sizes of regions, pieces and packed blocks;
//! - `run.rs`: runs of units;
//! - `tiles.rs`: runs of units by register tiles;
//! - `tile.rs`: the register tile;
//! - `dots.rs`: runs of units by dot products, if few rows meet contiguous columns;
//! - `dot.rs`: dot products along the summed index;
//! - `axpys.rs`: runs of units by scaled rows, if few rows meet contiguous rows;
//! - `axpy.rs`: sums of scaled rows;
//! - `stencils.rs`: runs of units by short chains, if few rows meet runs of contiguous columns;
//! - `stencil.rs`: sums of short chains;
//! - `pack.rs`: packing of panels;
//! - `quads.rs`: packing of groups of four bytes, and sums of bytes;
//! - `starts.rs`: first sums of rows, as functions of a level; `first_sums.rs`: those of a region;
//! - `store.rs`: rounding and stores of sums;
//! - `real.rs`: element types, and the exact fused multiply-add of machines without one;
//! - `vector/`: vectors of each instruction set;
//! - `shells/`: the functions compiled for each level;
//! - `kernels.rs`: the table of these functions.
//!
//! Unsafe code stands only in `axpy.rs`, `axpys.rs`, `dot.rs`, `dots.rs`, `first_sums.rs`, `pack.rs`,
//! `plan.rs`, `quads.rs`, `run.rs`, `shells/`, `starts.rs`, `stencil.rs`, `stencils.rs`, `store.rs`,
//! `tile.rs`, `tiles.rs` and `vector/`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "only AVX2 and AVX-512 add pairs of neighbouring products")
)]

mod axes;
mod axpy;
mod axpys;
mod blocking;
mod dot;
mod dots;
mod first_sums;
mod kernels;
mod order;
mod pack;
mod plan;
mod product;
#[cfg(target_arch = "x86_64")]
mod quads;
mod real;
mod run;
mod shells;
mod starts;
mod stencil;
mod stencils;
mod store;
mod tile;
mod tiles;
mod vector;

pub use plan::{ProductPlan, ProductPointers};
pub use product::{AxisClass, Product, ProductAxis, ProductError};
