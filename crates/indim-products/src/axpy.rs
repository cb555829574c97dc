//! Sums of contiguous rows of `y`, each scaled by an element of `x` (the axpy of BLAS): a vector holds
//! neighbouring columns. Holds unsafe code.
//!
//! The accumulators of all lanes of a block stay in L1, and each row is read once, in memory order.

use crate::element::ProductElement;
use crate::order::{CONTRACTION_LANES, MAX_CHAIN, REDUCTION_BLOCK};
use crate::tile::TileResults;
use crate::vector::Vector;

/// Maximum number of columns of one call.
pub(crate) const MAX_AXPY_COLUMNS: usize = 256;

/// Number of rows that are added while an accumulator is in a register.
const UNROLLED_ROWS: usize = 4;

/// The arguments of the sum of one block. Strides are in bytes.
pub(crate) struct AxpyArguments {
    /// The elements of `x`, contiguous along the summed index.
    pub(crate) x: *const u8,
    /// The first row of `y`; each row is contiguous.
    pub(crate) y: *const u8,
    /// Stride of `y` between rows.
    pub(crate) y_row_stride: isize,
    /// Number of columns: at least the lanes of a vector, and at most [`MAX_AXPY_COLUMNS`].
    pub(crate) columns: usize,
    /// Number of summed indices: at most the length of a block.
    pub(crate) length: usize,
    /// Number of blocks before this one.
    pub(crate) block: usize,
    /// Memory of `CONTRACTION_LANES + 1` rows of whole vectors: one for each lane, and one for their sum.
    pub(crate) accumulators: *mut u8,
    /// Memory of `NODES` rows of wide sums.
    pub(crate) nodes: *mut u8,
    /// The memory of the wide sums, if this is the last block; `None` for the blocks before it.
    pub(crate) sums: Option<*mut u8>,
}

/// A function that sums one block and adds it to the tree of the blocks before it, compiled for a level.
/// The last vector ends with the last column, so it may repeat columns of the vector before it.
///
/// # Safety
/// - `x` is valid for reads of `length` elements, each row of `y` of `columns` elements;
/// - `accumulators`, `nodes` and `sums` are valid for reads and writes, aligned to 64 bytes, and overlap no
///   other memory of the call; the blocks before this one have been added to `nodes`;
/// - `columns` is at least the lanes of a vector and at most [`MAX_AXPY_COLUMNS`];
/// - the processor has the level.
pub(crate) type AxpyFn = unsafe fn(&AxpyArguments);

/// Adds a block to the tree.
///
/// # Safety
/// Like [`AxpyFn`].
#[inline(always)]
pub(crate) unsafe fn run<V: Vector>(axpy: &AxpyArguments) {
    let lanes = if axpy.length <= MAX_CHAIN { 1 } else { CONTRACTION_LANES };
    let vectors = axpy.columns.div_ceil(V::LANES);
    let row = vectors * V::LANES * size_of::<V::Element>();
    let lane_at = |lane: usize| axpy.accumulators.wrapping_add(lane * row);
    // SAFETY: the accumulators have a row for each lane, and one for their sum; the caller ensures the rest.
    unsafe {
        for first in (0..axpy.length).step_by(lanes * UNROLLED_ROWS) {
            for lane in 0..lanes.min(axpy.length - first) {
                let index = first + lane;
                let steps = (axpy.length - index).div_ceil(lanes).min(UNROLLED_ROWS);
                if steps == UNROLLED_ROWS {
                    add_rows::<V, UNROLLED_ROWS>(axpy, index, lanes, lane_at(lane));
                } else {
                    for step in 0..steps {
                        add_rows::<V, 1>(axpy, index + step * lanes, lanes, lane_at(lane));
                    }
                }
            }
        }
        let values = lane_at(CONTRACTION_LANES);
        for vector in 0..vectors {
            let at = vector * V::LANES * size_of::<V::Element>();
            let mut sum = V::load(lane_at(0).wrapping_add(at));
            for lane in 1..lanes {
                sum = sum.add(V::load(lane_at(lane).wrapping_add(at)));
            }
            sum.store(values.wrapping_add(at.min(last_vector::<V>(axpy.columns))));
        }
        let nodes = axpy.nodes.cast::<<V::Element as ProductElement>::Wide>();
        let values = values.cast_const().cast::<V::Element>();
        V::push_block(nodes, axpy.block, values, axpy.columns);
        if let Some(out) = axpy.sums {
            let results = TileResults { out, out_row_stride: 0, is_wide: true };
            let length = axpy.block * REDUCTION_BLOCK + axpy.length;
            V::finish_tree(&results, length, nodes, [1, axpy.columns], axpy.columns);
        }
    }
}

/// The offset in bytes of the last vector of a row: it ends with the last column.
#[inline(always)]
fn last_vector<V: Vector>(columns: usize) -> usize {
    (columns - V::LANES) * size_of::<V::Element>()
}

/// Adds `N` rows of one lane, from `index` on and `lanes` apart, to the accumulators of the lane. The
/// first row of a lane, at an index below `lanes`, is added to zero.
///
/// # Safety
/// - Like [`AxpyFn`];
/// - all rows are of the block; `accumulators` is valid for reads and writes of a row.
#[inline(always)]
unsafe fn add_rows<V: Vector, const N: usize>(
    axpy: &AxpyArguments,
    index: usize,
    lanes: usize,
    accumulators: *mut u8,
) {
    let size = size_of::<V::Element>();
    let is_first = index < lanes;
    let last = last_vector::<V>(axpy.columns);
    // SAFETY: the caller ensures rows, factors and accumulators; the last vector ends with the last column.
    unsafe {
        let mut rows = [axpy.y; N];
        let mut factors = [V::zero(); N];
        for (step, (row, factor)) in rows.iter_mut().zip(&mut factors).enumerate() {
            let index = index + step * lanes;
            *row = axpy.y.wrapping_offset((index as isize).wrapping_mul(axpy.y_row_stride));
            *factor = V::splat(axpy.x.wrapping_add(index * size));
        }
        for vector in 0..axpy.columns.div_ceil(V::LANES) {
            let at = vector * V::LANES * size;
            let to = accumulators.wrapping_add(at);
            let mut sum = if is_first { V::zero() } else { V::load(to) };
            for (row, &factor) in rows.iter().zip(&factors) {
                sum = sum.fma(factor, V::load(row.wrapping_add(at.min(last))));
            }
            sum.store(to);
        }
    }
}
