//! The tiles of a nest: what runs over one of them, where its slots lie in memory, and the loops over all.
//! Whatever compiles nests shares this: kernels, one after another, or one function of machine code.
//!
//! Read `code.rs` (what runs over a tile), `wiring.rs` (where its slots lie under a walk), `tile.rs` (the
//! loop over tiles; `whole.rs` where there is but one), `reduce.rs` (the one over a reduced axis), `tree.rs`
//! (in which order that combines), `folding.rs` (by functions that do so themselves), `search.rs` (the one
//! that finds where an element is). Machine code for each layout is in `functions.rs`, and when it is made in
//! `account.rs`; what elements cost, `work.rs`.

pub(crate) mod account;
pub(crate) mod code;
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

use crate::executor::BoundNest;
use code::TileCode;
use reduce::BoundReduction;
use search::BoundSearch;
use tile::BoundTiles;

/// How code runs over arrays of these strides, as [`NestCode::bind`](crate::executor::NestCode::bind) has it;
/// `None` also where it lacks a function for them.
pub(crate) fn bind(
    code: &Arc<TileCode>,
    strides: &[Vec<isize>],
    is_over_input: &[bool],
) -> Option<Box<dyn BoundNest>> {
    let code = Arc::clone(code);
    match code.nest.reduced {
        Some(_) if code.nest.searches() => Some(Box::new(BoundSearch::new(code, strides)?)),
        Some(_) => Some(Box::new(BoundReduction::new(code, strides)?)),
        None => Some(Box::new(BoundTiles::new(code, strides, is_over_input)?)),
    }
}
