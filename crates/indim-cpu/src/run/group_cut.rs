//! The cut of a group of nests into tiles: the axes to cut, the elements of a tile along them, and whether
//! tiles pay.
//!
//! Tiles pay if they move fewer bytes than the nests one by one; a contraction that packs its operands again
//! for each tile takes part of that back.

use std::collections::BTreeMap;
use std::sync::Arc;

use indim_graph::Size;
use indim_loops::groups::NestGroup;
use indim_loops::loop_nest::{
    Access, AxisIndex, BufferId, LoopNest, LoopNests, StandaloneInstruction,
};
use indim_loops::resize::{SizedNest, Sizes};

use crate::run::contraction::machine_threads;

/// Working set of a tile over all nests of a group: half of L2, so that intermediate values stay in it.
const TILE_BYTES: usize = 256 * 1024;

/// Bytes of the arrays of a group up to which its nests run one by one: the arrays fit the last-level cache,
/// which delivers data as fast as the nests compute. On the machine of the committed records a softmax of
/// 1 MiB takes 0 to 5 % longer in tiles, and 20 % longer if other work uses the cores.
const MIN_GROUP_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of the arrays of a group with contractions that pack nothing, up to which its nests run one by one:
/// the arrays fit L2. Such a contraction, a depthwise convolution for example, has as few operations as an
/// element-wise nest, and reads each element several times.
const MIN_UNPACKED_GROUP_BYTES: usize = 512 * 1024;

/// A group must save at least 1/16 of the bytes that its nests would move one by one.
const MIN_SAVED_DIVISOR: usize = 16;

/// Upper bound of a single step along the cut axis, in bytes: a larger step does not fit L2, so cutting does
/// not help.
const MAX_STEP_BYTES: usize = 1024 * 1024;

/// Lower bound of a tile along the innermost axis, in elements: smaller tiles share cache lines.
const MIN_INNERMOST_ELEMENTS: usize = 64;

/// Working set of a tile of a group with a contraction, unless it has fewer than [`MIN_PRODUCT_ROWS`] rows.
/// It is larger than [`TILE_BYTES`], because each tile packs the operands that do not move along the cut
/// axis.
const PRODUCT_TILE_BYTES: usize = 1024 * 1024;

/// Lower bound of the rows of a contraction in a tile. On the machine of the committed records, attention of
/// 12 heads of 512 rows takes 7 % longer with 128 than with 512 rows a tile, because of packing.
const MIN_PRODUCT_ROWS: usize = 128;

/// Cost of packing, in bytes moved for each byte: packing reads and writes it.
const PACKING_COST: usize = 2;

/// Working set of a tile of a group with a contraction up to which intermediate values stay in the share of
/// L3 of one core.
const MAX_PRODUCT_TILE_BYTES: usize = 2 * 1024 * 1024;

/// Lower bound of the quotient of all arrays of a group over those of a tile, if tiles do not fit
/// [`MAX_PRODUCT_TILE_BYTES`]: such a group pays by the memory that it saves.
const MIN_LARGE_TILES: usize = 8;

/// Multiple of the rows of most register tiles.
const PRODUCT_ROWS_MULTIPLE: usize = 8;

/// Bytes moved that a group with a contraction must save if it has fewer tiles than the machine has threads.
const MIN_SAVED_BY_FEW_TILES: usize = 256 * 1024 * 1024;

/// A cut axis, the same for all nests of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CutAxis {
    pub(crate) axis: usize,
    pub(crate) size: usize,
    /// Elements of a tile along the axis; 1 for all cut axes except the last.
    pub(crate) tile: usize,
}

/// The tiles of a group that pays.
#[derive(Debug)]
pub(crate) struct GroupCut {
    /// The cut axes, outermost first.
    pub(crate) axes: Vec<CutAxis>,
    /// Bytes moved that the group saves.
    saved: usize,
}

/// The groups among overlapping ones that save most bytes together. `cuts` are the tiles of each group, if it
/// pays; groups are sorted by their first nest.
pub(crate) fn choose_groups(groups: &[NestGroup], cuts: &[Option<GroupCut>]) -> Vec<usize> {
    let count = groups.iter().map(|group| group.nests.end).max().unwrap_or(0);
    // For each nest, the bytes that the groups from it on save, and the group that begins with it.
    let mut best: Vec<(usize, Option<usize>)> = vec![(0, None); count + 1];
    let mut rest = groups.iter().zip(cuts).enumerate().rev().peekable();
    for start in (0..count).rev() {
        best[start] = (best[start + 1].0, None);
        while let Some((index, (group, cut))) =
            rest.next_if(|(_, (group, _))| group.nests.start == start)
        {
            let Some(cut) = cut else { continue };
            let saved = cut.saved.saturating_add(best[group.nests.end].0);
            if saved > best[start].0 {
                best[start] = (saved, Some(index));
            }
        }
    }
    let (mut chosen, mut start) = (Vec::new(), 0);
    while start < count {
        start = match best[start].1 {
            Some(index) => {
                chosen.push(index);
                groups[index].nests.end
            }
            None => start + 1,
        };
    }
    chosen
}

impl GroupCut {
    /// Cuts the nests of a group into tiles; `None` if tiles do not pay.
    pub(crate) fn new(loops: &LoopNests, group: &NestGroup) -> Option<GroupCut> {
        let nests = group.members(loops);
        let products: Vec<TiledProduct<'_>> = nests.iter().filter_map(TiledProduct::new).collect();
        let saved = saved_bytes(nests, min_group_bytes(nests, &group.axes))?;
        match products.is_empty() {
            true => cut_axes(nests, &group.axes, saved),
            false => cut_products(nests, group, &products, saved),
        }
    }
}

/// Whether the arrays of a group exceed the cache, so that tiles may pay. The nests move `moved` bytes if
/// they run one by one.
pub(crate) fn may_be_cut<'a>(
    moved: usize,
    loops: &LoopNests,
    group: &NestGroup,
    nests: impl Iterator<Item = SizedNest<'a>>,
) -> bool {
    // `moved` is known without counting the arrays, and is an upper bound of their bytes.
    let min_bytes = min_group_bytes(group.members(loops), &group.axes);
    moved > min_bytes && array_bytes_of(nests) > min_bytes
}

/// Bytes of the arrays of a group up to which its nests run one by one.
fn min_group_bytes(nests: &[Arc<LoopNest>], axes: &[usize]) -> usize {
    let packs_nothing = |&axis: &usize| {
        let mut products = nests.iter().filter_map(TiledProduct::new).peekable();
        products.peek().is_some() && products.all(|product| product.packs_nothing(axis))
    };
    match axes.iter().any(packs_nothing) {
        true => MIN_UNPACKED_GROUP_BYTES,
        false => MIN_GROUP_BYTES,
    }
}

/// Bytes of the arrays of these nests, each array once.
fn array_bytes_of<'a>(nests: impl Iterator<Item = SizedNest<'a>>) -> usize {
    sum_of_largest(nests.flat_map(|nest| {
        let bytes = |access: &Access| (access.buffer, nest.array_bytes(access));
        nest.nest.operands().map(bytes).collect::<Vec<_>>()
    }))
}

/// The sum over all buffers of their largest byte count.
fn sum_of_largest(arrays: impl Iterator<Item = (BufferId, usize)>) -> usize {
    let mut bytes: BTreeMap<BufferId, usize> = BTreeMap::new();
    for (buffer, of_access) in arrays {
        let max_bytes = bytes.entry(buffer).or_default();
        *max_bytes = of_access.max(*max_bytes);
    }
    bytes.values().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}

/// Bytes that the nests move if they run one by one.
fn bytes_moved<'a>(nests: impl Iterator<Item = SizedNest<'a>>) -> usize {
    let of_nest = |nest: SizedNest<'_>| {
        let bytes = nest.nest.operands().map(|access| nest.array_bytes(access));
        bytes.fold(0, usize::saturating_add)
    };
    nests.map(of_nest).fold(0, usize::saturating_add)
}

/// Cuts axes so that a tile fits L2; `None` if no cut fits, if one tile is the whole, or if the nests share
/// too few arrays.
fn cut_axes(nests: &[Arc<LoopNest>], axes: &[usize], saved: usize) -> Option<GroupCut> {
    let shape = nests[0].shape.concrete();
    let size = |axis: usize| shape[axis];
    for last in 0..axes.len() {
        let outer: Vec<CutAxis> =
            axes[..last].iter().map(|&axis| CutAxis { axis, size: size(axis), tile: 1 }).collect();
        let axis = axes[last];
        let with = |tile| [&outer[..], &[CutAxis { axis, size: size(axis), tile }]].concat();
        let (one_step, two_steps) = (tile_bytes(nests, &with(1)), tile_bytes(nests, &with(2)));
        if one_step > MAX_STEP_BYTES {
            continue;
        }
        let bytes_per_step = two_steps.saturating_sub(one_step).max(1);
        let tile = (1 + TILE_BYTES.saturating_sub(one_step) / bytes_per_step).min(size(axis));
        let cut = with(tile);
        let pays = tile_count(&cut) > 1 && !is_too_narrow(nests, axis, tile, size(axis));
        return pays.then_some(GroupCut { axes: cut, saved });
    }
    None
}

/// Whether tiles of `tile` elements along an axis of `size` elements would share cache lines.
fn is_too_narrow(nests: &[Arc<LoopNest>], axis: usize, tile: usize, size: usize) -> bool {
    let is_innermost = nests.iter().any(|nest| {
        axis + 1 == nest.shape.rank() || nest.operands().any(|access| is_column(access, axis))
    });
    is_innermost && tile < MIN_INNERMOST_ELEMENTS.min(size)
}

/// Bytes that the nests save if they move each array once; `None` if their arrays have at most `min_bytes`,
/// or if this is too little.
fn saved_bytes(nests: &[Arc<LoopNest>], min_bytes: usize) -> Option<usize> {
    let sized_nests = || nests.iter().map(SizedNest::with_own_sizes);
    let (moved, distinct_bytes) = (bytes_moved(sized_nests()), array_bytes_of(sized_nests()));
    let saved = moved.saturating_sub(distinct_bytes);
    (distinct_bytes > min_bytes && saved >= moved / MIN_SAVED_DIVISOR).then_some(saved)
}

/// A contraction of a group.
struct TiledProduct<'a> {
    nest: &'a Arc<LoopNest>,
    /// The number of axes of the result, the first ones of the nest.
    kept: usize,
    /// Its two operands.
    factors: [&'a Access; 2],
}

impl<'a> TiledProduct<'a> {
    /// `None` for a nest that is no contraction.
    fn new(nest: &'a Arc<LoopNest>) -> Option<TiledProduct<'a>> {
        let (StandaloneInstruction::Contract { summed }, instruction) =
            nest.standalone_instruction()?
        else {
            return None;
        };
        let factor = |operand: usize| {
            let access = instruction.operands.get(operand)?.access()?;
            nest.accesses.get(access)
        };
        let kept = nest.shape.rank() - summed;
        Some(TiledProduct { nest, kept, factors: [factor(0)?, factor(1)?] })
    }

    /// Whether each of the operands moves along an axis.
    fn moving(&self, axis: usize) -> [bool; 2] {
        self.factors.map(|factor| factor.axes.iter().any(|index| index.moves_with(axis)))
    }

    /// Whether both operands move along an axis, and one of them has no other axis of the result: then tiles
    /// along `axis` pack no operand again, and a register tile would have one row.
    fn packs_nothing(&self, axis: usize) -> bool {
        let is_alone = |operand: usize| {
            let mut others = (0..self.kept).filter(|&other| other != axis);
            others.all(|other| !self.moving(other)[operand])
        };
        self.moving(axis) == [true, true] && (is_alone(0) || is_alone(1))
    }

    /// The rows or columns, those along which the same operand moves as along `axis`, for each index of
    /// `axis`; `None` if both operands move along `axis`.
    fn rows_per_step(&self, axis: usize) -> Option<usize> {
        let moving = self.moving(axis);
        let sizes = self.nest.shape.concrete();
        let is_other = |&other: &usize| other != axis && self.moving(other) == moving;
        let rows = || (0..sizes.rank()).filter(is_other).map(|other| sizes[other]).product();
        (moving[0] != moving[1]).then(rows)
    }

    /// Bytes of the operands that the tiles pack beyond those that a run over the whole packs. An operand
    /// that is read through windows is packed once for each window.
    fn repacked_bytes(&self, cut: &[CutAxis], tiles: usize) -> usize {
        let sizes = self.nest.shape.concrete();
        let tile_size = |axis: usize| {
            let cut = cut.iter().find(|cut| cut.axis == axis);
            cut.map_or(sizes[axis], |cut| cut.tile)
        };
        let repacked = |operand: usize| {
            let packed = |size: &dyn Fn(usize) -> usize| {
                let axes = (0..sizes.rank()).filter(|&axis| self.moving(axis)[operand]);
                let bytes = self.factors[operand].array_type.dtype.size();
                axes.map(size).fold(bytes, usize::saturating_mul)
            };
            let whole = packed(&|axis| sizes[axis]);
            packed(&tile_size).saturating_mul(tiles).saturating_sub(whole)
        };
        repacked(0).saturating_add(repacked(1))
    }
}

/// Cuts the axes of a group with contractions; `None` if no cut pays. The first axis is cut whose tiles fit a
/// cache, or else the one with the smallest tiles. Axes before it are cut into single indices if both
/// operands of all contractions move along them.
fn cut_products(
    nests: &[Arc<LoopNest>],
    group: &NestGroup,
    products: &[TiledProduct<'_>],
    saved: usize,
) -> Option<GroupCut> {
    let shape = nests[0].shape.concrete();
    let is_batch =
        |axis: usize| products.iter().all(|product| product.moving(axis) == [true, true]);
    let mut smallest: Option<(usize, GroupCut)> = None;
    let is_large = array_bytes_of(nests.iter().map(SizedNest::with_own_sizes)) > MIN_GROUP_BYTES;
    for (last, &axis) in group.axes.iter().enumerate() {
        if !is_large && !products.iter().all(|product| product.packs_nothing(axis)) {
            continue;
        }
        let outer = group.axes[..last].iter().copied().filter(|&axis| is_batch(axis));
        let outer: Vec<CutAxis> =
            outer.map(|axis| CutAxis { axis, size: shape[axis], tile: 1 }).collect();
        let Some(tile) = product_tile(nests, products, &outer, axis, shape[axis]) else { continue };
        if is_too_narrow(nests, axis, tile, shape[axis]) {
            continue;
        }
        let cut = [&outer[..], &[CutAxis { axis, size: shape[axis], tile }]].concat();
        let count = tile_count(&cut);
        let repacked = products.iter().map(|product| product.repacked_bytes(&cut, count));
        let repacked = repacked.fold(0, usize::saturating_add).saturating_mul(PACKING_COST);
        if repacked > saved / 2 || (count < machine_threads() && saved < MIN_SAVED_BY_FEW_TILES) {
            continue;
        }
        let bytes = tile_bytes(nests, &cut);
        let cut = GroupCut { axes: cut, saved: saved - repacked };
        if bytes <= MAX_PRODUCT_TILE_BYTES {
            return Some(cut);
        }
        if smallest.as_ref().is_none_or(|&(smallest, _)| bytes < smallest) {
            smallest = Some((bytes, cut));
        }
    }
    let whole = array_bytes_of(nests.iter().map(SizedNest::with_own_sizes));
    smallest.filter(|&(bytes, _)| bytes <= whole / MIN_LARGE_TILES).map(|(_, cut)| cut)
}

/// Elements of a tile along `axis`, the last cut axis, for a group with contractions; `None` if one tile is
/// the whole.
fn product_tile(
    nests: &[Arc<LoopNest>],
    products: &[TiledProduct<'_>],
    outer: &[CutAxis],
    axis: usize,
    size: usize,
) -> Option<usize> {
    let with = |tile| [outer, &[CutAxis { axis, size, tile }]].concat();
    let (one_step, two_steps) = (tile_bytes(nests, &with(1)), tile_bytes(nests, &with(2)));
    let bytes_per_step = two_steps.saturating_sub(one_step).max(1);
    let min_steps = |product: &TiledProduct<'_>| {
        let rows = product.rows_per_step(axis);
        rows.map_or(1, |rows| MIN_PRODUCT_ROWS.div_ceil(rows.max(1)))
    };
    let min_tile = products.iter().map(min_steps).max()?;
    let max_bytes = match products.iter().all(|product| product.packs_nothing(axis)) {
        true => TILE_BYTES,
        false => PRODUCT_TILE_BYTES,
    };
    let fitting = 1 + max_bytes.saturating_sub(one_step) / bytes_per_step;
    let mut tile = fitting.max(min_tile).min(size);
    while tile_count(&with(tile)) < machine_threads() && tile / 2 >= min_tile {
        tile /= 2;
    }
    // Tiles of about the same size, in multiples of the rows of register tiles.
    let balanced = size.div_ceil(size.div_ceil(tile)).next_multiple_of(PRODUCT_ROWS_MULTIPLE);
    let tile = if balanced < tile { balanced } else { tile };
    (tile_count(&with(tile)) > 1).then_some(tile)
}

/// The number of tiles.
pub(crate) fn tile_count(cut: &[CutAxis]) -> usize {
    cut.iter().map(|cut| cut.size.div_ceil(cut.tile)).fold(1, usize::saturating_mul)
}

/// Whether a step along `axis` is a column of an array: the array is transposed, so the axis is its
/// innermost. Tiles of few columns read whole cache lines for each element: `argmax` and `max` of a
/// transposed array in one program took five times as long.
fn is_column(access: &Access, axis: usize) -> bool {
    let Some((last, others)) = access.axes.split_last() else { return false };
    let is_inside = |index: &AxisIndex| index.terms.iter().any(|term| term.axis > axis);
    last.moves_with(axis) && others.iter().any(is_inside)
}

/// Bytes of the arrays of a tile over all nests, each array once.
fn tile_bytes(nests: &[Arc<LoopNest>], cut: &[CutAxis]) -> usize {
    let accesses = nests.iter().flat_map(|nest| nest.operands());
    sum_of_largest(accesses.map(|access| {
        let tile = tile_of_access(access, cut);
        (access.buffer, Sizes::default().array_bytes(&tile.array_type))
    }))
}

/// The nest with the sizes of one tile.
pub(crate) fn tile_of(nest: &LoopNest, cut: &[CutAxis]) -> LoopNest {
    let mut tile = nest.clone();
    let mut sizes = nest.shape.to_vec();
    cut.iter().for_each(|cut| sizes[cut.axis] = Size::Known(cut.tile));
    tile.shape = sizes.into_iter().collect();
    for access in &mut tile.accesses {
        *access = tile_of_access(access, cut);
    }
    for store in &mut tile.stores {
        store.target = tile_of_access(&store.target, cut);
    }
    tile
}

/// The access with the sizes of one tile, as a separate array. An axis that is read through windows keeps
/// its size, as an upper bound.
pub(crate) fn tile_of_access(access: &Access, cut: &[CutAxis]) -> Access {
    let mut sizes = access.array_type.shape.to_vec();
    for cut in cut {
        for (size, index) in sizes.iter_mut().zip(&*access.axes) {
            if index.single_term().is_some_and(|walked| walked.axis == cut.axis) {
                *size = Size::Known(cut.tile.min(size.resolve(&[])));
            }
        }
    }
    let mut tile = access.clone();
    tile.array_type.shape = sizes.into_iter().collect();
    tile
}
