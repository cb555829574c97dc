//! The tiles of a nest: what runs over one of them, where its slots lie in memory, and the loops over all.
//! Whatever compiles nests shares this: kernels, one after another, or one function of machine code.
//!
//! Read `code.rs` (what runs over a tile), `wiring.rs` (where its slots lie under a walk), `tile.rs` (the
//! loop over tiles; `flat.rs` where all axes are one or are rows, `whole.rs` where there is but one tile),
//! `reduce.rs` (the one over a reduced axis; `reduce/` where values are read where they lie), `tree.rs` (in
//! which order that combines), `folding.rs` and `folded.rs` (by functions that do so themselves), `search/`
//! (the one that finds where an element is). Machine code for each layout is in `functions.rs`, and when it
//! is made in `account.rs`; what elements cost, `work.rs`.

pub(crate) mod account;
pub(crate) mod code;
mod flat;
mod folded;
mod folding;
pub(crate) mod functions;
pub mod memory;
mod reduce;
mod search;
pub(crate) mod store_fold;
pub(crate) mod take;
pub(crate) mod tile;
mod tree;
mod whole;
mod wiring;
pub(crate) mod work;

use std::sync::Arc;

use indim_loops::resize::{NestStrides, SizedNest};

use crate::executor::BoundNest;
use code::TileCode;
use flat::Flat;
use search::BoundSearch;
use tile::BoundTiles;

/// How code runs over arrays of the sizes of `nest` and of these strides, as
/// [`NestCode::bind`](crate::executor::NestCode::bind) has it; `None` also where it lacks a function for
/// them.
pub(crate) fn bind(
    code: &Arc<TileCode>,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
    is_over_input: &[bool],
) -> Option<Arc<dyn BoundNest>> {
    match nest.nest.reduced {
        Some(_) if nest.nest.searches() => Some(Arc::new(BoundSearch::new(code, nest, strides)?)),
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
