//! Tiles of a loop nest: the code of one tile, the addresses of its virtual registers, and the loops over
//! all tiles. Both executors share this: kernel calls and functions of machine code run over tiles alike.
//!
//! In reading order: `code.rs` (the code of a tile), `wiring.rs` (addresses of its virtual registers under
//! a walk), `tile.rs` (the loop over tiles; `flat.rs` for nests of one axis or of rows, `whole.rs` for a
//! single tile), `reduce.rs` (the loop over a reduced axis; `reduce/` for reductions in place), `tree.rs`
//! (the order of a fold), `folding.rs` and `folded.rs` (functions that fold what they compute),
//! `store_fold.rs` (the kernels of a fold), `arg_reduce/` (arg-reductions), `gather.rs` (gathers),
//! `memory.rs` (copies to and from strided memory). `functions.rs` has the machine code for each operand
//! layout, `tier_up.rs` its tier-up budget, `work.rs` the cost of an element.

mod arg_reduce;
pub(crate) mod code;
mod flat;
mod folded;
mod folding;
pub(crate) mod functions;
pub(crate) mod gather;
pub mod memory;
mod reduce;
pub(crate) mod store_fold;
pub(crate) mod tier_up;
pub(crate) mod tile;
mod tree;
mod whole;
mod wiring;
pub(crate) mod work;

use std::sync::Arc;

use indim_loops::resize::{NestStrides, SizedNest};

use crate::executor::BoundNest;
use arg_reduce::BoundArgReduction;
use code::TileCode;
use flat::Flat;
use tile::BoundTiles;

/// Binds the code to the sizes of `nest` and to `strides`; see
/// [`NestCode::bind`](crate::executor::NestCode::bind). Returns `None` also if the machine code lacks a
/// function for these strides.
pub(crate) fn bind(
    code: &Arc<TileCode>,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
    is_over_input: &[bool],
) -> Option<Arc<dyn BoundNest>> {
    match nest.nest.reduced {
        Some(_) if nest.nest.searches() => {
            Some(Arc::new(BoundArgReduction::new(code, nest, strides)?))
        }
        Some(_) => reduce::bind(code, nest, strides),
        None => {
            let axes = nest.coalesced(strides)?;
            match Flat::new(code, nest, &axes, is_over_input).ok()? {
                Some(flat) => Some(flat),
                None => Some(Arc::new(BoundTiles::new(code, nest, &axes, strides, is_over_input)?)),
            }
        }
    }
}
