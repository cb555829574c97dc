//! Tiled groups of nests: a thread runs one tile through all nests of a group, so that intermediate values
//! stay in its L2. Holds unsafe code.
//!
//! `indim-loops` finds the groups and the axes that may be cut. Each nest of a group is compiled once more
//! for the sizes of a tile. Temporaries that only the tile needs lie in memory of the thread.

use core::mem::MaybeUninit;
use core::ops::{ControlFlow, Range};
use std::collections::BTreeMap;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::groups::NestGroup;
use indim_loops::loop_nest::{Access, BufferId, LoopNest, LoopNests};
use indim_loops::resize::SizedNest;
use indim_loops::scratch::array_bytes;

use crate::executor::{Bases, BoundNest};
use crate::run::bound_program::Scratch;
use crate::run::compiled_nest::CompiledNest;
use crate::run::error::RunError;
use crate::run::options::RunOptions;
use crate::run::threads;
use indim_arrays::ALIGNMENT;
use indim_loops::strides::AxisStrides;
use indim_loops::strides::order::dense;

/// Working set of a tile over all nests of a group: half of L2, so that intermediate values stay resident.
const TILE_BYTES: usize = 256 * 1024;

/// Groups whose arrays have at most this many bytes run nest by nest: they fit the last-level cache, which
/// delivers as fast as the nests compute. On the machine of the committed records the softmax of 1 MiB
/// takes 0 to 5 % longer in tiles, and 20 % longer when other work uses the cores.
const MIN_BYTES: usize = 4 * 1024 * 1024;

/// A group must save at least 1/16 of the bytes that its nests move one by one.
const MIN_SAVED: usize = 16;

/// Upper bound of a single step along the axis, in bytes: a larger step does not fit a cache, so cutting
/// cannot help.
const MAX_STEP_BYTES: usize = 1024 * 1024;

/// Lower bound of a tile along the innermost axis, in elements: smaller tiles would share cache lines.
const MIN_INNERMOST: usize = 64;

/// An axis that is cut, the same for all nests of a group.
#[derive(Debug, Clone, Copy)]
struct CutAxis {
    axis: usize,
    size: usize,
    /// Elements of a tile along the axis; 1 for all but the last of the cut axes.
    tile: usize,
}

/// A group of nests that runs tile by tile, for explanations.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledGroup {
    /// The nests.
    pub nests: Range<usize>,
    /// Pairs of a cut axis and the elements of a tile along it.
    pub axes: Vec<(usize, usize)>,
}

/// A group of nests compiled for tiles.
#[derive(Debug)]
pub(crate) struct CompiledGroup {
    pub(crate) nests: Range<usize>,
    /// Outermost first.
    cut: Vec<CutAxis>,
    full: TileNests,
    /// The nests of the last tile along the last axis, if it is shorter.
    tail: Option<TileNests>,
    /// Offset in a thread's memory of each temporary that only the tile needs.
    inner: BTreeMap<usize, usize>,
    /// Offset of the memory that a nest's tiles share.
    shared: usize,
    bytes: usize,
    /// Weight of a whole run, in bytes moved.
    work: usize,
}

/// The nests of a group compiled for tiles of one size.
#[derive(Debug)]
struct TileNests {
    programs: Vec<CompiledNest>,
    /// The nests bound to dense arrays.
    dense: TileBindings,
}

type TileBindings = Vec<Option<Arc<dyn BoundNest>>>;

/// A nest of a group over whole arrays: the addresses and strides of its operands.
pub(crate) struct GroupMember<'a> {
    pub(crate) nest: &'a LoopNest,
    /// The stores first, then the accesses.
    pub(crate) operands: Bases<'a>,
    /// Strides of each operand along the axes of the nest.
    pub(crate) strides: Vec<AxisStrides>,
}

impl CompiledGroup {
    /// Cuts the nests of a group into tiles, run by the code of `programs`; `None` if tiles do not pay.
    pub(crate) fn new(
        loops: &LoopNests,
        group: &NestGroup,
        programs: &[CompiledNest],
    ) -> Option<CompiledGroup> {
        let nests = &loops.nests[group.nests.clone()];
        let cut = cut_axes(nests, &group.axes)?;
        let (inner, bytes) = layout_inner(nests, &cut, &group.inner);
        let programs = &programs[group.nests.clone()];
        let full = TileNests::new(nests, &cut, &inner, programs);
        let last = cut.last()?;
        let tail = (!last.size.is_multiple_of(last.tile)).then(|| {
            let last = CutAxis { tile: last.size % last.tile, ..*last };
            let cut = [&cut[..cut.len() - 1], &[last]].concat();
            TileNests::new(nests, &cut, &inner, programs)
        });
        let mut compiled = CompiledGroup {
            nests: group.nests.clone(),
            cut,
            full,
            tail,
            inner,
            shared: bytes,
            bytes,
            work: programs.iter().map(CompiledNest::work).sum(),
        };
        compiled.bytes += compiled.programs().map(CompiledNest::shared_bytes).max().unwrap_or(0);
        Some(compiled)
    }

    /// The nests for full tiles and for the last one.
    fn programs(&self) -> impl Iterator<Item = &CompiledNest> {
        self.full.programs.iter().chain(self.tail.iter().flat_map(|tail| &tail.programs))
    }

    /// The range of nests and their cut axes.
    pub(crate) fn described(&self) -> TiledGroup {
        let axes = self.cut.iter().map(|cut| (cut.axis, cut.tile)).collect();
        TiledGroup { nests: self.nests.clone(), axes }
    }

    /// Indices of the temporaries that only the tile needs.
    pub(crate) fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.inner.keys().copied()
    }

    /// Upper bound of the memory in bytes that one thread needs to run tiles.
    pub(crate) fn thread_bytes(&self) -> usize {
        self.bytes + self.programs().map(CompiledNest::thread_bytes).max().unwrap_or(0)
    }

    /// Counts the memory of the group.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<CutAxis>(self.cut.capacity());
        held.own::<(usize, usize)>(self.inner.len());
        for nests in [Some(&self.full), self.tail.as_ref()].into_iter().flatten() {
            held.own::<CompiledNest>(nests.programs.capacity());
            nests.programs.iter().for_each(|program| program.count_bytes(held));
            held.own::<Option<Arc<dyn BoundNest>>>(nests.dense.capacity());
            nests.dense.iter().flatten().for_each(|bound| bound.count_bytes(held));
        }
    }

    /// Runs all tiles. `are_dense` tells whether all arrays are dense; `is_over_input` says which outputs
    /// lie over an input, and is empty if none does.
    ///
    /// # Errors
    /// When an allocation fails or `progress` stops the run.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for all tiles of every nest, one nest after another; an output may lie over
    /// an input where [`NestGroup::can_replace`] allows it.
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
        let bound_full = self.full.chosen(full.as_ref(), tiles);
        let bound_tail = match (&self.tail, &tail) {
            // One tile in `tiles_along_last` is the last along the last axis.
            (Some(nests), Some(tail)) => {
                nests.chosen(tail.as_ref(), tiles / self.tiles_along_last())
            }
            _ => bound_full.clone(),
        };
        let elements: usize =
            members.iter().map(|member| member.nest.shape.iter().product::<usize>()).sum();
        let run_tiles = |tiles_here: Range<usize>| {
            let mut on_stack = MaybeUninit::uninit();
            let memory = match Scratch::new(self.bytes, &mut on_stack) {
                Ok(memory) => memory,
                Err(error) => return ControlFlow::Break(RunError::from(error)),
            };
            for tile in tiles_here.clone() {
                let bound = if self.is_tail(tile) { &bound_tail } else { &bound_full };
                // SAFETY:
                // - the caller vouches for all points of each nest, the tile's among them;
                // - tiles are disjoint, and `memory` belongs to this thread.
                unsafe { self.run_tile(members, bound, tile, &memory) }
            }
            let done = elements * tiles_here.end / tiles - elements * tiles_here.start / tiles;
            match (options.progress)(done) {
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
                ControlFlow::Break(()) => ControlFlow::Break(RunError::Stopped),
            }
        };
        match threads::share(tiles, self.work, options.threads, run_tiles) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    /// # Safety
    /// Like [`CompiledGroup::run`], for one tile; only this call uses `memory`.
    unsafe fn run_tile(
        &self,
        members: &[GroupMember<'_>],
        bound: &[Option<&dyn BoundNest>],
        tile: usize,
        memory: &Scratch<'_>,
    ) {
        let starts = self.starts(tile);
        let mut operands = Vec::new();
        for (member, bound) in members.iter().zip(bound) {
            let &Some(bound) = bound else { continue };
            operands.clear();
            operands.extend(member.nest.operands().enumerate().map(|(index, access)| {
                match inner_offset(access, &self.inner) {
                    Some(place) => memory.at(place),
                    None => {
                        let along = self.cut.iter().zip(&starts);
                        let strides = &member.strides[index];
                        let stride = |axis: usize| strides.get(axis).copied().unwrap_or(0);
                        let offset = along.map(|(cut, &start)| stride(cut.axis) * start as isize);
                        member.operands.operands[index].wrapping_offset(offset.sum())
                    }
                }
            }));
            let bases = Bases { operands: &operands, shared: memory.at(self.shared) };
            // SAFETY: the caller vouches for the operands at the tile's start, and `memory` has room for
            // `shared`.
            unsafe {
                bound.run(&bases, 0..bound.tiles());
                bound.finish(&bases);
            }
        }
    }

    /// Strides of an operand of a tile; `None` for temporaries that only the tile needs.
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
        self.cut.iter().map(|cut| cut.size.div_ceil(cut.tile)).product()
    }

    fn tiles_along_last(&self) -> usize {
        self.cut.last().map_or(1, |cut| cut.size.div_ceil(cut.tile))
    }

    /// Start of a tile along each of the cut axes.
    fn starts(&self, mut tile: usize) -> Vec<usize> {
        let mut starts = vec![0; self.cut.len()];
        for (start, cut) in starts.iter_mut().zip(&self.cut).rev() {
            let tiles = cut.size.div_ceil(cut.tile);
            *start = tile % tiles * cut.tile;
            tile /= tiles;
        }
        starts
    }

    /// Whether a tile is the last along the last axis, and shorter.
    fn is_tail(&self, tile: usize) -> bool {
        let last = self.cut.last().filter(|_| self.tail.is_some());
        last.is_some() && (tile + 1).is_multiple_of(self.tiles_along_last())
    }
}

impl TileNests {
    fn new(
        nests: &[Arc<LoopNest>],
        cut: &[CutAxis],
        inner: &BTreeMap<usize, usize>,
        programs: &[CompiledNest],
    ) -> TileNests {
        let tile = |(nest, full): (&Arc<LoopNest>, &CompiledNest)| {
            full.resized(&Arc::new(tile_of(nest, cut)))
        };
        let programs = nests.iter().zip(programs).map(tile).collect();
        let mut tile_nests = TileNests { programs, dense: Vec::new() };
        tile_nests.dense = tile_nests.bind(
            |nest, operand| {
                let access = nests[nest].operands().nth(operand)?;
                let is_whole = inner_offset(access, inner).is_none();
                let rank = nests[nest].shape.rank();
                is_whole.then(|| access.strides(rank, &dense(&access.array_type)))
            },
            &[],
        );
        tile_nests
    }

    /// The code for this number of tiles: `bound` or the binding to dense arrays, or what replaces it.
    fn chosen<'a>(
        &'a self,
        bound: Option<&'a TileBindings>,
        tiles: usize,
    ) -> Vec<Option<&'a dyn BoundNest>> {
        let better = |(program, bound): (&CompiledNest, &'a Option<Arc<dyn BoundNest>>)| {
            let bound = bound.as_deref()?;
            Some(bound.instead(program.work().saturating_mul(tiles)).unwrap_or(bound))
        };
        self.programs.iter().zip(bound.unwrap_or(&self.dense)).map(better).collect()
    }

    /// Binds the nests. `strides` takes a nest and an operand; it returns `None` for temporaries that only
    /// the tile needs.
    fn bind(
        &self,
        strides: impl Fn(usize, usize) -> Option<AxisStrides>,
        is_over_input: &[bool],
    ) -> TileBindings {
        let bind = |(index, program): (usize, &CompiledNest)| {
            let strides = |operand, access: &Access| {
                strides(index, operand).unwrap_or_else(|| program.dense_strides(access))
            };
            program.bind(strides, is_over_input)
        };
        self.programs.iter().enumerate().map(bind).collect()
    }
}

/// Offset in a thread's memory of each `inner` temporary, and the end of that memory.
fn layout_inner(
    nests: &[Arc<LoopNest>],
    cut: &[CutAxis],
    inner: &[usize],
) -> (BTreeMap<usize, usize>, usize) {
    let (mut offsets, mut bytes) = (BTreeMap::new(), 0);
    for access in nests.iter().flat_map(|nest| nest.operands()) {
        let BufferId::Temporary(index) = access.buffer else { continue };
        if inner.contains(&index) && !offsets.contains_key(&index) {
            offsets.insert(index, bytes);
            let tile = tile_of_access(access, cut);
            bytes += array_bytes(&tile.array_type).next_multiple_of(ALIGNMENT);
        }
    }
    (offsets, bytes)
}

fn inner_offset(access: &Access, inner: &BTreeMap<usize, usize>) -> Option<usize> {
    match access.buffer {
        BufferId::Temporary(index) => inner.get(&index).copied(),
        _ => None,
    }
}

/// Whether the arrays of these nests exceed the cache, so that tiles may pay; `moved` is the bytes that the
/// nests move one by one.
pub(crate) fn may_be_cut<'a>(moved: usize, nests: impl Iterator<Item = SizedNest<'a>>) -> bool {
    // The sum is known without a look at the arrays, and bounds their bytes.
    moved > MIN_BYTES && array_bytes_of(nests) > MIN_BYTES
}

/// Bytes of the arrays of these nests, each array once.
fn array_bytes_of<'a>(nests: impl Iterator<Item = SizedNest<'a>>) -> usize {
    each_once(nests.flat_map(|nest| {
        let bytes = |access: &Access| (access.buffer, nest.array_bytes(access));
        nest.nest.operands().map(bytes).collect::<Vec<_>>()
    }))
}

/// The sum over all buffers of their largest byte count.
fn each_once(arrays: impl Iterator<Item = (BufferId, usize)>) -> usize {
    let mut bytes: BTreeMap<BufferId, usize> = BTreeMap::new();
    for (buffer, of_access) in arrays {
        let most = bytes.entry(buffer).or_default();
        *most = of_access.max(*most);
    }
    bytes.values().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}

/// Bytes that the nests move one by one.
fn moved<'a>(nests: impl Iterator<Item = SizedNest<'a>>) -> usize {
    let of_nest = |nest: SizedNest<'_>| {
        let bytes = nest.nest.operands().map(|access| nest.array_bytes(access));
        bytes.fold(0, usize::saturating_add)
    };
    nests.map(of_nest).fold(0, usize::saturating_add)
}

/// Cuts the axes so that a tile fits L2; `None` if no cut does, if one tile is all, or if the nests share
/// too few arrays.
fn cut_axes(nests: &[Arc<LoopNest>], axes: &[usize]) -> Option<Vec<CutAxis>> {
    let own = || nests.iter().map(SizedNest::own);
    let (moved, all) = (moved(own()), array_bytes_of(own()));
    if all <= MIN_BYTES || moved.saturating_sub(all) < moved / MIN_SAVED {
        return None;
    }
    let size = |axis: usize| nests[0].shape[axis];
    for last in 0..axes.len() {
        let outer: Vec<CutAxis> =
            axes[..last].iter().map(|&axis| CutAxis { axis, size: size(axis), tile: 1 }).collect();
        let axis = axes[last];
        let with = |tile| [&outer[..], &[CutAxis { axis, size: size(axis), tile }]].concat();
        let (one, two) = (tile_bytes(nests, &with(1)), tile_bytes(nests, &with(2)));
        if one > MAX_STEP_BYTES {
            continue;
        }
        let each = two.saturating_sub(one).max(1);
        let tile = (1 + TILE_BYTES.saturating_sub(one) / each).min(size(axis));
        let is_innermost = nests.iter().any(|nest| axis + 1 == nest.shape.rank());
        let cut = with(tile);
        let tiles: usize = cut.iter().map(|cut| cut.size.div_ceil(cut.tile)).product();
        let pays = tiles > 1 && (!is_innermost || tile >= MIN_INNERMOST.min(size(axis)));
        return pays.then_some(cut);
    }
    None
}

/// Bytes of the arrays of a tile over all nests, each array once.
fn tile_bytes(nests: &[Arc<LoopNest>], cut: &[CutAxis]) -> usize {
    let accesses = nests.iter().flat_map(|nest| nest.operands());
    each_once(
        accesses
            .map(|access| (access.buffer, array_bytes(&tile_of_access(access, cut).array_type))),
    )
}

/// The nest over one tile.
fn tile_of(nest: &LoopNest, cut: &[CutAxis]) -> LoopNest {
    let mut tile = nest.clone();
    let mut sizes = nest.shape.to_vec();
    cut.iter().for_each(|cut| sizes[cut.axis] = cut.tile);
    tile.shape = sizes.into();
    for access in &mut tile.accesses {
        *access = tile_of_access(access, cut);
    }
    for store in &mut tile.stores {
        store.target = tile_of_access(&store.target, cut);
    }
    tile
}

/// The access to one tile, as an array of its own.
fn tile_of_access(access: &Access, cut: &[CutAxis]) -> Access {
    let mut sizes = access.array_type.shape.to_vec();
    for cut in cut {
        for (size, index) in sizes.iter_mut().zip(&*access.axes) {
            if index.term.is_some_and(|walked| walked.axis == cut.axis) {
                *size = cut.tile.min(*size);
            }
        }
    }
    let mut tile = access.clone();
    tile.array_type.shape = sizes.into();
    tile
}
