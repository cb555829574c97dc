//! Products of two strided operands, summed along shared axes: matrix products and every other contraction.
//!
//! `out[b, m, n] = Σₖ x[b, m, k] * y[b, n, k]`, with any number of axes of each class. Row `k` of `y` is
//! `y[b, :, k]`, column `n` is `y[b, n, :]`. The order of summation is fixed, so the bits depend neither on
//! the instruction set nor on tiles, threads and strides.
//!
//! The words of this crate; some have another meaning in other crates:
//! - *register tile*: rows by vectors of results, whose accumulators stay in registers (`tile.rs`);
//! - *macro tile*: some rows and columns of the result, at one batch element; it consists of register
//!   tiles;
//! - *task*: the work that a thread runs at a time: a macro tile at one or more batch elements, or a slice
//!   of a macro tile's sum;
//! - *slice*: a range of the summed index, also called K-slice; it consists of blocks;
//! - *block*: 512 summed indices; the last block of a sum may have fewer;
//! - *chain*: a sequence of multiply-adds into one accumulator (`order.rs`);
//! - *lane*: an element of a vector; in a block that is longer than a chain also one of its eight chains;
//! - *wide sum*: a sum of blocks, in `f64` for floats;
//! - *node*: in the tree that adds blocks by pairs, the wide sums of a power of two of neighbouring
//!   blocks, one for each result of a tile;
//! - *group*: two or four neighbouring summed indices, whose products one instruction adds;
//! - *panel*: a packed copy of some rows of `x` or columns of `y`, as many as a register tile has.
//!
//! Files, in reading order. In pairs such as `dot.rs` and `dots.rs`, the first has one call of a kernel, the
//! second covers a macro tile by these calls:
//! - `product.rs`: the description of a product;
//! - `plan.rs`: the plan of a product for a level and a number of threads: phases of independent tasks;
//! - `order.rs`: the order of summation;
//! - `axes.rs`: the axes of one class, merged by strides, and offsets of their elements;
//! - `blocking.rs`: sizes of macro tiles, slices and panels;
//! - `run.rs`: runs one task, which computes a macro tile of the result or a slice of its sum;
//! - `tiles.rs`: sums of macro tiles by register tiles;
//! - `tile.rs`: the register tile;
//! - `dots.rs`: sums of macro tiles by dot products, if `x` has few rows and the columns of `y` are
//!   contiguous;
//! - `dot.rs`: dot products along the summed index;
//! - `axpys.rs`: sums of macro tiles by scaled rows, if `x` has few rows and the rows of `y` are contiguous;
//! - `axpy.rs`: sums of scaled rows;
//! - `stencils.rs`: sums of macro tiles by short chains over columns read in place, as in depthwise
//!   convolutions, if `x` has few rows and the summed index is short; `stencil.rs`: the sums of one call;
//! - `short_dots.rs`: sums of macro tiles by dot products of at most one block, for many results along the
//!   batch or the columns at a time; `short_dot.rs`: those of one call; `short_chain.rs`: those of one chain
//!   of contiguous factors;
//! - `pack.rs`: packing of panels; `packed.rs`: all panels of an operand, which many runs read;
//! - `quads.rs`: packing of groups of four bytes, and sums of bytes;
//! - `initial_sum.rs`: initial sums of rows: the correction of sums of products of bytes if both operands
//!   or none are signed, because the instruction multiplies signed by unsigned bytes; `initial_sums.rs`:
//!   those of a macro tile;
//! - `store.rs`: rounding and stores of sums;
//! - `element.rs`: element types, and the exact fused multiply-add of machines without one;
//! - `vector/`: vectors of each instruction set;
//! - `shells/`: the functions compiled for each level, with their callees inlined;
//! - `kernels.rs`: the table of these functions.
//!
//! Unsafe code stands only in `axpy.rs`, `axpys.rs`, `dot.rs`, `dots.rs`, `initial_sums.rs`, `pack.rs`,
//! `packed.rs`, `plan.rs`, `quads.rs`, `run.rs`, `shells/`, `initial_sum.rs`, `short_chain.rs`,
//! `short_dot.rs`, `short_dots.rs`, `stencil.rs`, `stencils.rs`, `store.rs`, `tile.rs`, `tiles.rs` and
//! `vector/`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "only levels of x86-64 use groups")
)]

mod axes;
mod axpy;
mod axpys;
mod blocking;
mod dot;
mod dots;
mod element;
mod initial_sum;
mod initial_sums;
mod kernels;
mod order;
mod pack;
mod packed;
mod plan;
mod product;
#[cfg(target_arch = "x86_64")]
mod quads;
mod run;
mod shells;
mod short_chain;
mod short_dot;
mod short_dots;
mod stencil;
mod stencils;
mod store;
mod tile;
mod tiles;
mod vector;

pub use packed::PackedLayout;
pub use plan::{ProductPlan, ProductPointers};
pub use product::{AxisClass, Product, ProductAxis, ProductError};
