//! Tiled groups of nests: a thread runs one tile through all nests of a group, so that intermediate values
//! stay in its L2. Holds unsafe code.
//!
//! `indim-loops` finds the groups and the axes that may be cut, and `group_cut.rs` chooses the tiles. The
//! code of each nest is bound to the sizes of a tile. *Inner* temporaries, which only the tile needs, lie in
//! memory of the thread.

use core::ops::{ControlFlow, Range};
use std::collections::BTreeMap;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::groups::NestGroup;
use indim_loops::loop_nest::{Access, BufferId, LoopNest, LoopNests};
use indim_loops::resize::{SizedNest, Sizes};
use indim_loops::scratch::{LiveArray, pack_arrays};

use crate::run::compiled_nest::CompiledNest;
use crate::run::dense_strides::row_major_strides;
use crate::run::error::RunError;
use crate::run::group_cut::{CutAxis, GroupCut, tile_count, tile_of, tile_of_access};
use crate::run::options::RunOptions;
use crate::run::scratch::{Scratch, ScratchMemory};
use crate::run::threads;
use indim_arrays::ALIGNMENT;
use indim_executors::{Bases, BoundNest};
use indim_loops::strides::AxisStrides;

/// A group of nests that runs tile by tile, for explanations.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledGroup {
    /// The range of nests.
    pub nests: Range<usize>,
    /// For each cut axis, its number and the elements of a tile along it.
    pub axes: Vec<(usize, usize)>,
}

/// A group of nests with its tiles.
#[derive(Debug)]
pub(crate) struct CompiledGroup {
    pub(crate) nests: Range<usize>,
    /// The cut axes, outermost first.
    cut_axes: Vec<CutAxis>,
    /// The nests of a full tile.
    full: TileNests,
    /// The nests of the last tile along the last cut axis, if it is shorter.
    tail: Option<TileNests>,
    /// For each inner temporary, its offset in the memory of a thread, in bytes.
    inner: BTreeMap<usize, usize>,
    /// Offset of the shared memory of a nest in the memory of a thread, in bytes.
    shared: usize,
    /// Memory of a thread, in bytes.
    bytes: usize,
    /// Cost of a whole run, in bytes moved.
    work: usize,
}

/// The nests of a group with the sizes of a tile.
#[derive(Debug)]
struct TileNests {
    nests: Vec<CompiledNest>,
    /// For each nest and operand the offset of its first element in the memory of a thread, in bytes;
    /// `None` if it is not an inner temporary.
    inner_offsets: Vec<Vec<Option<usize>>>,
    /// The nests bound to dense arrays.
    dense: TileBindings,
}

type TileBindings = Vec<Option<Arc<dyn BoundNest>>>;

/// A nest of a group in a run: the addresses and strides of its operands as whole arrays.
pub(crate) struct GroupMember<'a> {
    pub(crate) nest: &'a Arc<LoopNest>,
    /// The stores first, then the accesses.
    pub(crate) operands: Bases<'a>,
    /// Strides of each operand along the axes of the nest, in bytes.
    pub(crate) strides: Vec<AxisStrides>,
}

impl CompiledGroup {
    /// Compiles the nests of a group for its tiles, by the code of `compiled`.
    pub(crate) fn new(
        loops: &LoopNests,
        group: &NestGroup,
        cut: GroupCut,
        compiled: &[CompiledNest],
    ) -> Option<CompiledGroup> {
        let nests = &loops.nests[group.nests.clone()];
        let cut = cut.axes;
        let (inner, bytes) = layout_inner(nests, &cut, &group.inner);
        let compiled = &compiled[group.nests.clone()];
        let full = TileNests::new(nests, &cut, &inner, compiled);
        let last = cut.last()?;
        let tail = (!last.size.is_multiple_of(last.tile)).then(|| {
            let last = CutAxis { tile: last.size % last.tile, ..*last };
            let cut = [&cut[..cut.len() - 1], &[last]].concat();
            TileNests::new(nests, &cut, &inner, compiled)
        });
        let mut group = CompiledGroup {
            nests: group.nests.clone(),
            cut_axes: cut,
            full,
            tail,
            inner,
            shared: bytes,
            bytes,
            work: compiled.iter().map(CompiledNest::work).sum(),
        };
        group.bytes += group.compiled_nests().map(CompiledNest::shared_bytes).max().unwrap_or(0);
        Some(group)
    }

    /// The nests of full tiles and of the tail.
    fn compiled_nests(&self) -> impl Iterator<Item = &CompiledNest> {
        self.full.nests.iter().chain(self.tail.iter().flat_map(|tail| &tail.nests))
    }

    /// The description for explanations.
    pub(crate) fn describe(&self) -> TiledGroup {
        let axes = self.cut_axes.iter().map(|cut| (cut.axis, cut.tile)).collect();
        TiledGroup { nests: self.nests.clone(), axes }
    }

    /// Indices of the inner temporaries.
    pub(crate) fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.inner.keys().copied()
    }

    /// Upper bound of the memory in bytes that one thread needs.
    pub(crate) fn thread_bytes(&self) -> usize {
        self.bytes + self.compiled_nests().map(CompiledNest::thread_bytes).max().unwrap_or(0)
    }

    /// Counts the memory of the group.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<CutAxis>(self.cut_axes.capacity());
        memory_use.add_allocation::<(usize, usize)>(self.inner.len());
        for tiles in [Some(&self.full), self.tail.as_ref()].into_iter().flatten() {
            memory_use.add_allocation::<CompiledNest>(tiles.nests.capacity());
            memory_use.add_allocation::<Vec<Option<usize>>>(tiles.inner_offsets.capacity());
            for offsets in &tiles.inner_offsets {
                memory_use.add_allocation::<Option<usize>>(offsets.capacity());
            }
            tiles.nests.iter().for_each(|nest| nest.count_bytes(memory_use));
            memory_use.add_allocation::<Option<Arc<dyn BoundNest>>>(tiles.dense.capacity());
            tiles.dense.iter().flatten().for_each(|bound| bound.count_bytes(memory_use));
        }
    }

    /// Runs all tiles. `are_dense` tells whether all arrays are dense, `is_over_input` for each output
    /// whether it lies exactly over an input (empty if none does).
    ///
    /// # Errors
    /// If an allocation fails or `progress` stops the run.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`] for the whole of each nest in `members`, one after another;
    ///   inner temporaries need no memory;
    /// - an output lies over an input only if [`NestGroup::can_replace`] allows it.
    pub(crate) unsafe fn run(
        &self,
        members: &[GroupMember<'_>],
        are_dense: bool,
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let is_bound = are_dense && is_over_input.is_empty();
        let bind = |nests: &TileNests| {
            let strides = |index, operand| self.strides(members, index, operand);
            (!is_bound).then(|| nests.bind(strides, is_over_input))
        };
        let (full, tail) = (bind(&self.full), self.tail.as_ref().map(bind));
        let tiles = self.tiles();
        let bound_full = self.full.tier_up(full.as_ref(), tiles);
        let bound_tail = match (&self.tail, &tail) {
            // One of `tiles_along_last` tiles is the tail.
            (Some(nests), Some(tail)) => {
                nests.tier_up(tail.as_ref(), tiles / self.tiles_along_last())
            }
            _ => bound_full.clone(),
        };
        let elements = members.iter().map(|member| SizedNest::with_own_sizes(member.nest).points());
        let elements = elements.fold(0, usize::saturating_add);
        let run_tiles = |tiles_here: Range<usize>| {
            let mut memory = ScratchMemory::new();
            let memory = match Scratch::new(self.bytes, &mut memory) {
                Ok(memory) => memory,
                Err(error) => return ControlFlow::Break(RunError::from(error)),
            };
            for tile in tiles_here.clone() {
                let bound = if self.is_tail(tile) { &bound_tail } else { &bound_full };
                let nests = self.nests_of(tile);
                // SAFETY:
                // - the points of `tile` are points of the caller's nests;
                // - `run_in_parallel` runs each tile on one thread, tiles write disjoint elements, and
                //   `can_replace` ensures that no tile reads elements of an input that another tile
                //   overwrites;
                // - `memory` belongs to this thread, and `bound` are the nests for the size of this tile.
                unsafe { self.run_tile(members, nests, bound, tile, memory) }
            }
            match (options.progress)(elements_of(&tiles_here, tiles, elements)) {
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
                ControlFlow::Break(()) => ControlFlow::Break(RunError::Stopped),
            }
        };
        match threads::run_in_parallel(tiles, self.work, options.threads, run_tiles) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    /// Runs one tile through all nests.
    ///
    /// # Safety
    /// - the obligations of [`CompiledGroup::run`], for this tile;
    /// - `nests` are those for the size of this tile, and `bound` is their code;
    /// - only this call accesses `memory`.
    unsafe fn run_tile(
        &self,
        members: &[GroupMember<'_>],
        nests: &TileNests,
        bound: &[Option<&dyn BoundNest>],
        tile: usize,
        memory: Scratch<'_>,
    ) {
        let starts = self.starts(tile);
        let mut operands = Vec::new();
        for ((member, bound), inner_offsets) in members.iter().zip(bound).zip(&nests.inner_offsets)
        {
            let &Some(bound) = bound else { continue };
            operands.clear();
            operands.extend(inner_offsets.iter().enumerate().map(|(index, inner_offset)| {
                match *inner_offset {
                    Some(place) => memory.at(place),
                    None => {
                        let along = self.cut_axes.iter().zip(&starts);
                        let strides = &member.strides[index];
                        let stride = |axis: usize| strides.get(axis).copied().unwrap_or(0);
                        let offset = along.map(|(cut, &start)| stride(cut.axis) * start as isize);
                        member.operands.operands[index].wrapping_offset(offset.sum())
                    }
                }
            }));
            let bases = Bases { operands: &operands, shared: memory.at(self.shared) };
            // SAFETY:
            // - operands are addresses at the start of the tile, in whole arrays that the caller ensures to
            //   be valid or in `memory`, which has room for inner temporaries and shared memory;
            // - earlier nests of the group have written the inner temporaries that this nest reads;
            // - no nest of a group needs `BoundNest::prepare`, and all its tiles run before `finish`.
            unsafe {
                bound.run(&bases, 0..bound.tiles());
                bound.finish(&bases);
            }
        }
    }

    /// Strides of an operand of a tile in bytes; `None` for inner temporaries.
    fn strides(
        &self,
        members: &[GroupMember<'_>],
        nest: usize,
        operand: usize,
    ) -> Option<AxisStrides> {
        let member = &members[nest];
        let access = member.nest.operands().nth(operand)?;
        match inner_offset(access, &self.inner) {
            Some(_) => None,
            None => Some(member.strides[operand].clone()),
        }
    }

    fn tiles(&self) -> usize {
        tile_count(&self.cut_axes)
    }

    fn tiles_along_last(&self) -> usize {
        self.cut_axes.last().map_or(1, |cut| cut.size.div_ceil(cut.tile))
    }

    /// Start of a tile along each cut axis.
    fn starts(&self, mut tile: usize) -> Vec<usize> {
        let mut starts = vec![0; self.cut_axes.len()];
        for (start, cut) in starts.iter_mut().zip(&self.cut_axes).rev() {
            let tiles = cut.size.div_ceil(cut.tile);
            *start = tile % tiles * cut.tile;
            tile /= tiles;
        }
        starts
    }

    /// The nests for the size of a tile.
    fn nests_of(&self, tile: usize) -> &TileNests {
        self.tail.as_ref().filter(|_| self.is_tail(tile)).unwrap_or(&self.full)
    }

    /// Whether a tile is the last along the last cut axis and shorter than the others.
    fn is_tail(&self, tile: usize) -> bool {
        let last = self.cut_axes.last().filter(|_| self.tail.is_some());
        last.is_some() && (tile + 1).is_multiple_of(self.tiles_along_last())
    }
}

impl TileNests {
    fn new(
        nests: &[Arc<LoopNest>],
        cut: &[CutAxis],
        inner: &BTreeMap<usize, usize>,
        compiled: &[CompiledNest],
    ) -> TileNests {
        let tile = |(nest, full): (&Arc<LoopNest>, &CompiledNest)| {
            full.resized(&Arc::new(tile_of(nest, cut)))
        };
        let resized = nests.iter().zip(compiled).map(tile).collect();
        let offset_in_memory = |access: &Access| {
            let tile = tile_of_access(access, cut);
            let along = row_major_strides(&tile.array_type.concrete());
            let offset = tile.offset(&along, Sizes::default());
            Some(inner_offset(access, inner)?.wrapping_add_signed(offset))
        };
        let inner_offsets =
            nests.iter().map(|nest| nest.operands().map(offset_in_memory).collect()).collect();
        let mut tiles = TileNests { nests: resized, inner_offsets, dense: Vec::new() };
        tiles.dense = tiles.bind(
            |nest, operand| {
                let access = nests[nest].operands().nth(operand)?;
                let is_whole = inner_offset(access, inner).is_none();
                let rank = nests[nest].shape.rank();
                let dense = || row_major_strides(&access.array_type.concrete());
                is_whole.then(|| access.strides(rank, &dense()))
            },
            &[],
        );
        tiles
    }

    /// The code of each nest for a run of this number of tiles: the nests of `bound`, or those bound to
    /// dense arrays if `bound` is `None`. A nest that tiers up is replaced by its faster code.
    fn tier_up<'a>(
        &'a self,
        bound: Option<&'a TileBindings>,
        tiles: usize,
    ) -> Vec<Option<&'a dyn BoundNest>> {
        let better = |(nest, bound): (&CompiledNest, &'a Option<Arc<dyn BoundNest>>)| {
            let bound = bound.as_deref()?;
            Some(bound.tier_up(nest.work().saturating_mul(tiles)).unwrap_or(bound))
        };
        self.nests.iter().zip(bound.unwrap_or(&self.dense)).map(better).collect()
    }

    /// Binds the nests. `strides` takes a nest and an operand, and returns `None` for inner temporaries.
    fn bind(
        &self,
        strides: impl Fn(usize, usize) -> Option<AxisStrides>,
        is_over_input: &[bool],
    ) -> TileBindings {
        let bind = |(index, nest): (usize, &CompiledNest)| {
            let strides = |operand, access: &Access| {
                strides(index, operand).unwrap_or_else(|| nest.dense_strides(access))
            };
            nest.bind(strides, is_over_input)
        };
        self.nests.iter().enumerate().map(bind).collect()
    }
}

/// For each of the `inner` temporaries its offset in the memory of a thread, and the bytes of all. A tile
/// runs its nests one after another, so temporaries that are not live at the same time share memory.
fn layout_inner(
    nests: &[Arc<LoopNest>],
    cut: &[CutAxis],
    inner: &[usize],
) -> (BTreeMap<usize, usize>, usize) {
    let mut live: BTreeMap<usize, LiveArray> = BTreeMap::new();
    for (number, nest) in nests.iter().enumerate() {
        for access in nest.operands() {
            let BufferId::Temporary(index) = access.buffer else { continue };
            if !inner.contains(&index) {
                continue;
            }
            let bytes = || Sizes::default().array_bytes(&tile_of_access(access, cut).array_type);
            let new = || LiveArray { bytes: bytes(), first_nest: number, last_nest: number };
            live.entry(index).or_insert_with(new).last_nest = number;
        }
    }
    let arrays: Vec<LiveArray> = live.values().copied().collect();
    let (offsets, bytes) = pack_arrays(&arrays, ALIGNMENT);
    let bytes = bytes.next_multiple_of(ALIGNMENT);
    (live.into_keys().zip(offsets).collect(), bytes)
}

/// Offset of an access in the memory of a thread; `None` if it is not an inner temporary.
fn inner_offset(access: &Access, inner: &BTreeMap<usize, usize>) -> Option<usize> {
    match access.buffer {
        BufferId::Temporary(index) => inner.get(&index).copied(),
        _ => None,
    }
}

/// The elements of some of the tiles of a group, which has this number of elements. The elements of different
/// tiles add up to all.
fn elements_of(some: &Range<usize>, tiles: usize, elements: usize) -> usize {
    // A contraction counts its multiply-adds, so the product exceeds the 32 bits of a `usize` soon.
    let before = |tile: usize| elements as u128 * tile as u128 / tiles as u128;
    (before(some.end) - before(some.start)) as usize
}

#[cfg(test)]
mod tests {
    use super::elements_of;

    #[test]
    fn elements_of_many_tiles_add_up() {
        let (elements, tiles) = (usize::MAX / 3, 1000);
        let of_tiles = (0..tiles).map(|tile| elements_of(&(tile..tile + 1), tiles, elements));
        assert_eq!(of_tiles.sum::<usize>(), elements);
        assert_eq!(elements_of(&(0..tiles), tiles, elements), elements);
    }
}
