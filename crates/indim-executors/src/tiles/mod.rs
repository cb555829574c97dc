//! Tiles of a loop nest: the code of one tile, the addresses of its virtual registers, and the loops over
//! all tiles. Both executors use this module, for kernel calls and for functions of machine code.
//!
//! In reading order:
//! - `code.rs`: the code of a tile;
//! - `wiring.rs`: address sources of its virtual registers under a walk;
//! - `tile.rs`: the loop over tiles;
//! - `flat.rs`: nests of one axis or of contiguous rows;
//! - `single_call.rs`: nests of one tile and one function call;
//! - `memory.rs`: copies between strided memory and blocks;
//! - `gather.rs`: gathers by index;
//! - `store_fold.rs`: the kernels of a fold;
//! - `tree.rs`: the reduction tree over columns;
//! - `reduce.rs`: nests with a reduced axis; `reduce/` has in-place reductions, accumulators and segments;
//! - `fold_function.rs`: functions that fold the values they compute; `fold_tile.rs`: their calls in a tile;
//! - `arg_reduce/`: argmax and argmin;
//! - `functions.rs`: machine code for each operand layout;
//! - `tier_up.rs`: the tier-up budget; `work.rs`: the cost of elements and runs.

mod arg_reduce;
pub(crate) mod code;
mod flat;
mod fold_function;
mod fold_tile;
pub(crate) mod functions;
pub(crate) mod gather;
pub mod memory;
mod reduce;
mod single_call;
pub(crate) mod store_fold;
pub(crate) mod tier_up;
pub(crate) mod tile;
mod tree;
mod wiring;
pub(crate) mod work;

use std::sync::Arc;

use indim_loops::resize::{NestStrides, SizedNest};

use crate::executor::BoundNest;
use arg_reduce::BoundArgReduction;
use code::TileCode;
use flat::FlatNest;
pub(crate) use flat::MAX_FLAT_OPERANDS;
use tile::BoundTiles;

/// Whether the machine code of a nest without a reduced axis runs row by row over arrays with these strides.
/// If `may_gather`, a kernel may gather strided elements of a single row, and one row that all rows share.
pub(crate) fn is_by_rows(
    code: &TileCode,
    nest: &SizedNest<'_>,
    strides: NestStrides<'_>,
    may_gather: bool,
) -> bool {
    nest.coalesced(strides).is_some_and(|axes| tile::is_by_rows(code, &axes, may_gather))
}

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
        Some(_) if nest.nest.is_arg_reduction() => {
            Some(Arc::new(BoundArgReduction::new(code, nest, strides)?))
        }
        Some(_) => reduce::bind(code, nest, strides),
        None => {
            let axes = nest.coalesced(strides)?;
            match FlatNest::new(code, nest, &axes, is_over_input).ok()? {
                Some(flat) => Some(flat),
                None => Some(Arc::new(BoundTiles::new(code, nest, &axes, strides, is_over_input)?)),
            }
        }
    }
}
