//! The register tile: `M` rows by `N` vectors of results, over one slice of the summed index. Holds unsafe
//! code.
//!
//! Accumulators stay in registers for a chain. The lanes of a block are added in a second set of
//! registers; the sums of blocks are added in nodes of the wide type, in L1.

use crate::element::{ProductElement, WideSum};
use crate::order::{CONTRACTION_LANES, MAX_CHAIN, REDUCTION_BLOCK, block_length};
use crate::vector::Vector;

/// Number of tree nodes for which a tile has memory: one for each level of the tree over the blocks of a
/// slice, and one more.
pub(crate) const NODES: usize = 6;

/// The arguments of a register tile. Strides are in bytes.
pub(crate) struct TileArguments {
    /// The packed panel of `x`, or the element of `x` at the first row and index.
    pub(crate) x: *const u8,
    /// The packed panel of `y`, or the element of `y` at the first index and column.
    pub(crate) y: *const u8,
    /// Stride of `x` between rows.
    pub(crate) x_row_stride: isize,
    /// Stride of `x` between indices.
    pub(crate) x_index_stride: isize,
    /// Whether `x` is packed.
    pub(crate) is_x_packed: bool,
    /// Stride of `y` between indices, if it is not packed.
    pub(crate) y_index_stride: isize,
    /// Whether `y` is packed.
    pub(crate) is_y_packed: bool,
    /// Number of indices.
    pub(crate) length: usize,
    /// Number of rows. Most tile functions are compiled for one number and do not read this field.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    pub(crate) rows: usize,
    /// Number of columns that are stored as rounded elements: all but the padding of the last vector.
    pub(crate) columns: usize,
    /// For elements without an order of summation, the initial sum of each row; null for zeros.
    pub(crate) initial_sums: *const u8,
    pub(crate) results: TileResults,
    /// Memory of [`NODES`] tiles of wide sums.
    pub(crate) nodes: *mut u8,
}

/// The place of the results of a tile.
#[derive(Clone, Copy)]
pub(crate) struct TileResults {
    /// The first result; each row is contiguous.
    pub(crate) out: *mut u8,
    /// Stride between rows in bytes.
    pub(crate) out_row_stride: isize,
    /// Whether results are sums in the wide type; otherwise they are rounded elements.
    pub(crate) is_wide: bool,
}

/// A register tile compiled for a level.
///
/// # Safety
/// - Packed panels are valid for reads of `length` rows of their width; operands in place are valid for
///   reads at every row, index and column of the tile;
/// - `columns` is at most the lanes of all vectors of a row, and more than the lanes of all but the last
///   vector;
/// - `initial_sums` is null or valid for reads of an element for each row;
/// - `results.out` is valid for writes of these columns or, if results are wide, of the lanes of all
///   vectors, in each row; `nodes` is valid for [`NODES`] tiles, aligned to 64 bytes; no other memory of
///   the call overlaps them;
/// - `length` is at most `REDUCTION_BLOCK << (NODES - 2)`;
/// - the processor has the level.
pub(crate) type TileFn = unsafe fn(&TileArguments);

/// A function that each thread calls before or after its register tiles.
///
/// # Safety
/// The processor has the level.
pub(crate) type TileHookFn = unsafe fn();

/// Pointers to the next index of both operands, and their strides.
struct TileOperands {
    x: *const u8,
    y: *const u8,
    x_row_stride: isize,
    x_index_stride: isize,
    y_index_stride: isize,
    is_x_packed: bool,
    is_y_packed: bool,
}

/// Runs a tile of `M` rows and `N` vectors. If `X`, `x` is packed, and its strides are constants. For `y`
/// the same flag is read at run time, which costs nothing, because each step uses a single address of `y`.
///
/// # Safety
/// Like [`TileFn`].
#[inline(always)]
pub(crate) unsafe fn run<V, const M: usize, const N: usize, const X: bool>(tile: &TileArguments)
where
    V: Vector,
{
    let size = size_of::<V::Element>() as isize;
    let &TileArguments { x, y, .. } = tile;
    let (x_row_stride, x_index_stride) =
        if X { (size, M as isize * size) } else { (tile.x_row_stride, tile.x_index_stride) };
    let is_y_packed = tile.is_y_packed;
    let y_index_stride =
        if is_y_packed { (N * V::LANES) as isize * size } else { tile.y_index_stride };
    let is_x_packed = X || tile.is_x_packed;
    let mut operands = TileOperands {
        x,
        y,
        x_row_stride,
        x_index_stride,
        y_index_stride,
        is_x_packed,
        is_y_packed,
    };
    // SAFETY: the caller ensures operands, results and nodes; blocks follow each other.
    unsafe {
        if !V::Element::IS_ORDERED {
            let start = splat_initial_sums::<V, M, N>(tile.initial_sums);
            let sums =
                add_chain(start, tile.length, x, y, x_row_stride, x_index_stride, y_index_stride);
            let columns = if tile.results.is_wide { N * V::LANES } else { tile.columns };
            return store::<V, M, N>(&tile.results, columns, sums);
        }
        if tile.length <= REDUCTION_BLOCK && !tile.results.is_wide {
            let block = block::<V, M, N, X>(&mut operands, tile.length);
            return store::<V, M, N>(&tile.results, tile.columns, block);
        }
        let nodes = tile.nodes.cast::<<V::Element as ProductElement>::Wide>();
        let size = M * N * V::LANES;
        for (index, start) in (0..tile.length).step_by(REDUCTION_BLOCK).enumerate() {
            let length = block_length(start, tile.length);
            let block = block::<V, M, N, X>(&mut operands, length);
            V::push_block(nodes, index, (&raw const block).cast(), size);
        }
        let shape = [M, N * V::LANES];
        let columns = if tile.results.is_wide { N * V::LANES } else { tile.columns };
        V::finish_tree(&tile.results, tile.length, nodes, shape, columns);
    }
}

/// The value of the next block.
///
/// # Safety
/// The operands are valid for reads of `length` indices of the tile.
#[inline(always)]
unsafe fn block<V, const M: usize, const N: usize, const X: bool>(
    operands: &mut TileOperands,
    length: usize,
) -> [[V; N]; M]
where
    V: Vector,
{
    let &mut TileOperands {
        x,
        y,
        x_row_stride,
        x_index_stride,
        y_index_stride,
        is_x_packed,
        is_y_packed,
    } = operands;
    operands.x = x.wrapping_offset(length as isize * x_index_stride);
    operands.y = y.wrapping_offset(length as isize * y_index_stride);
    // SAFETY: indices of all chains are below `length`: lane `l` has `l`, `l + CONTRACTION_LANES`, ...
    unsafe {
        if length <= MAX_CHAIN {
            return chain(length, x, y, x_row_stride, x_index_stride, y_index_stride);
        }
        let mut sum = [[V::zero(); N]; M];
        let (mut x, mut y) = (x, y);
        for lane in 0..CONTRACTION_LANES {
            let steps = (length - lane).div_ceil(CONTRACTION_LANES);
            let (x_stride, x_lane) = lane_strides(is_x_packed, x_index_stride, steps);
            let (y_stride, y_lane) = lane_strides(is_y_packed, y_index_stride, steps);
            let part: [[V; N]; M] = chain(steps, x, y, x_row_stride, x_stride, y_stride);
            for (sums, values) in sum.iter_mut().zip(part) {
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum = if lane == 0 { value } else { sum.add(value) };
                }
            }
            x = x.wrapping_offset(x_lane);
            y = y.wrapping_offset(y_lane);
        }
        sum
    }
}

/// Two strides: from one index of a lane to the next, and from the first index of a lane of `steps`
/// indices to the first index of the next lane. Packed lanes follow each other.
#[inline(always)]
fn lane_strides(is_packed: bool, step: isize, steps: usize) -> (isize, isize) {
    if is_packed {
        (step, steps as isize * step)
    } else {
        (step * CONTRACTION_LANES as isize, step)
    }
}

/// The initial sums of a chain.
///
/// # Safety
/// `initial_sums` is null or valid for reads of an element for each row.
#[inline(always)]
unsafe fn splat_initial_sums<V: Vector, const M: usize, const N: usize>(
    initial_sums: *const u8,
) -> [[V; N]; M] {
    // SAFETY: the caller ensures the elements.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        if !initial_sums.is_null() {
            for (row, sums) in sums.iter_mut().enumerate() {
                *sums = [V::splat(initial_sums.wrapping_add(row * size_of::<V::Element>())); N];
            }
        }
        sums
    }
}

/// A chain of fused multiply-adds from zero.
///
/// # Safety
/// Like [`add_chain`].
#[inline(always)]
unsafe fn chain<V: Vector, const M: usize, const N: usize>(
    steps: usize,
    x: *const u8,
    y: *const u8,
    x_row_stride: isize,
    x_index_stride: isize,
    y_index_stride: isize,
) -> [[V; N]; M] {
    // SAFETY: the caller has the obligations of `add_chain`.
    unsafe {
        add_chain([[V::zero(); N]; M], steps, x, y, x_row_stride, x_index_stride, y_index_stride)
    }
}

/// A chain of fused multiply-adds from some sums.
///
/// # Safety
/// `x` is valid for reads of `M` elements and `y` of `N` vectors at each of `steps` strides.
#[inline(always)]
unsafe fn add_chain<V: Vector, const M: usize, const N: usize>(
    mut sum: [[V; N]; M],
    steps: usize,
    mut x: *const u8,
    mut y: *const u8,
    x_row_stride: isize,
    x_index_stride: isize,
    y_index_stride: isize,
) -> [[V; N]; M] {
    let width = (V::LANES * size_of::<V::Element>()) as isize;
    // SAFETY: the caller ensures the elements of each step.
    unsafe {
        for _ in 0..steps {
            let mut columns = [V::zero(); N];
            for (column, vector) in columns.iter_mut().enumerate() {
                *vector = V::load(y.wrapping_offset(column as isize * width));
            }
            for (row, sums) in sum.iter_mut().enumerate() {
                let factor = V::splat(x.wrapping_offset(row as isize * x_row_stride));
                for (sum, &vector) in sums.iter_mut().zip(&columns) {
                    *sum = sum.fma(factor, vector);
                }
            }
            x = x.wrapping_offset(x_index_stride);
            y = y.wrapping_offset(y_index_stride);
        }
        sum
    }
}

/// Stores the first `columns` columns of finished values: those of a single block, or of a whole slice if
/// sums have no order.
///
/// # Safety
/// - `results.out` is valid for writes of `columns` elements of each row;
/// - `columns` is more than `N - 1` vectors and at most `N`.
#[inline(always)]
unsafe fn store<V: Vector, const M: usize, const N: usize>(
    results: &TileResults,
    columns: usize,
    block: [[V; N]; M],
) {
    let width = (V::LANES * size_of::<V::Element>()) as isize;
    let last = columns - (N - 1) * V::LANES;
    for (row, vectors) in block.into_iter().enumerate() {
        let to = results.out.wrapping_offset(row as isize * results.out_row_stride);
        for (column, vector) in vectors.into_iter().enumerate() {
            let to = to.wrapping_offset(column as isize * width);
            // SAFETY: the caller ensures the results of each row.
            unsafe {
                if column + 1 == N && last < V::LANES {
                    vector.finish_block().store_first(to, last);
                } else {
                    vector.finish_block().store(to);
                }
            }
        }
    }
}

/// Adds block `index` of `size` elements to the tree. The block becomes the top node, and is merged with
/// the nodes below it, as long as they are sums of as many blocks.
///
/// # Safety
/// - `nodes` is valid for reads and writes of [`NODES`] tiles of `size` sums;
/// - `block` is valid for reads of `size` elements;
/// - blocks `0..index` have been pushed.
#[inline(always)]
pub(crate) unsafe fn push_block<E: ProductElement>(
    nodes: *mut E::Wide,
    index: usize,
    block: *const E,
    size: usize,
) {
    let top = index.count_ones() as usize;
    // SAFETY: after `index` blocks one node remains for each set bit of `index`, below `top`. The new node
    // is merged once for each trailing one of `index`, and these are set bits, so all merged nodes exist.
    unsafe {
        let node = nodes.add(top * size);
        for index in 0..size {
            node.add(index).write(block.add(index).read().widen());
        }
        merge::<E>(nodes, size, top, index.trailing_ones() as usize);
    }
}

/// Adds the top node to the node below it, `times` times.
///
/// # Safety
/// Nodes `top - times..=top` of `size` sums are initialised.
#[inline(always)]
unsafe fn merge<E: ProductElement>(nodes: *mut E::Wide, size: usize, top: usize, times: usize) {
    for node in (top - times + 1..=top).rev() {
        // SAFETY: the caller ensures both nodes.
        unsafe {
            let (to, from) = (nodes.add((node - 1) * size), nodes.add(node * size));
            for index in 0..size {
                let sum = to.add(index);
                sum.write(sum.read().add(from.add(index).read()));
            }
        }
    }
}

/// Adds the nodes that remain, each of `rows` rows of `width` sums, and stores the first `columns`
/// results of each row.
///
/// # Safety
/// - the blocks of `length` indices have been pushed, each of `rows * width` elements;
/// - `results.out` is valid for writes of `columns` results in each row.
#[inline(always)]
pub(crate) unsafe fn finish_tree<E: ProductElement>(
    results: &TileResults,
    length: usize,
    nodes: *mut E::Wide,
    [rows, width]: [usize; 2],
    columns: usize,
) {
    let blocks = length.div_ceil(REDUCTION_BLOCK);
    // SAFETY: as many nodes remain as `blocks` has bits set; without blocks the first one becomes zero.
    unsafe {
        if blocks == 0 {
            for index in 0..rows * width {
                nodes.add(index).write(E::Wide::ZERO);
            }
        } else {
            let top = blocks.count_ones() as usize - 1;
            merge::<E>(nodes, rows * width, top, top);
        }
        for row in 0..rows {
            let from = nodes.add(row * width);
            let to = results.out.wrapping_offset(row as isize * results.out_row_stride);
            for column in 0..columns {
                let wide = from.add(column).read();
                if results.is_wide {
                    to.cast::<E::Wide>().add(column).write_unaligned(wide.canonical());
                } else {
                    to.cast::<E>().add(column).write_unaligned(E::narrow(wide));
                }
            }
        }
    }
}
