//! Groups of nests that run together: a thread takes one part after another through all of them, and what
//! passes between them stays in its near cache. Holds unsafe code.
//!
//! Which nests may do so, and along which axes, `indim-loops` says. Each is compiled once more, for the
//! sizes of a part; temporaries of which only a part is needed lie in memory of the thread.

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
use crate::run::error::RunError;
use crate::run::nests::Scratch;
use crate::run::options::RunOptions;
use crate::run::program::Program;
use crate::run::threads;
use indim_arrays::ALIGNMENT;
use indim_loops::strides::AxisStrides;
use indim_loops::strides::order::dense;

/// What the nests of a part read and write together: half of a second cache.
const PART_BYTES: usize = 256 * 1024;

/// Nests that read and write no more run one after another: the last cache has it, from which they read as
/// fast as they compute. On the machine of the committed records the softmax of 1 MiB takes 0 to 5 % longer
/// by parts, and a fifth where other work uses the cores.
const MIN_BYTES: usize = 4 * 1024 * 1024;

/// At least one of so many bytes that nests move one after another is not moved together.
const MIN_SAVED: usize = 16;

/// If a single step along the axis is more than this, parts would not stay in a cache.
const MAX_STEP_BYTES: usize = 1024 * 1024;

/// The innermost axis is not cut into parts of fewer elements: they would share lines of the caches.
const MIN_INNERMOST: usize = 64;

/// An axis that is cut, the same of every nest.
#[derive(Debug, Clone, Copy)]
struct CutAxis {
    axis: usize,
    size: usize,
    /// The elements of a part; only along the last of the axes may there be more than one.
    part: usize,
}

/// Nests that run part by part, for explanations.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestParts {
    /// The nests.
    pub nests: Range<usize>,
    /// The axes that are cut, and how many of its indices a part has.
    pub axes: Vec<(usize, usize)>,
}

/// The nests of a group compiled for parts.
#[derive(Debug)]
pub(crate) struct CompiledGroup {
    pub(crate) nests: Range<usize>,
    /// Outermost first.
    cut: Vec<CutAxis>,
    whole: PartNests,
    /// For the last part along the last axis, if it has fewer elements.
    rest: Option<PartNests>,
    /// Where the temporaries of which only a part is needed begin in a thread's memory.
    inner: BTreeMap<usize, usize>,
    /// Where there is room for what nests share.
    shared: usize,
    bytes: usize,
    /// What all parts together weigh, in bytes moved.
    work: usize,
}

/// Nests compiled for parts of one size.
#[derive(Debug)]
struct PartNests {
    programs: Vec<Program>,
    /// Bound to dense arrays.
    dense: BoundNests,
}

type BoundNests = Vec<Option<Arc<dyn BoundNest>>>;

/// A nest of a group as it is without parts: how its operands lie in memory.
pub(crate) struct WholeNest<'a> {
    pub(crate) nest: &'a LoopNest,
    /// The stores first, then the accesses.
    pub(crate) operands: Bases<'a>,
    /// For each operand the strides along the axes of the nest.
    pub(crate) strides: Vec<AxisStrides>,
}

impl CompiledGroup {
    /// The nests of a group cut into parts, which the code of `programs` runs; `None` where parts do not
    /// pay.
    pub(crate) fn new(
        loops: &LoopNests,
        group: &NestGroup,
        programs: &[Program],
    ) -> Option<CompiledGroup> {
        let nests = &loops.nests[group.nests.clone()];
        let cut = cut_axes(nests, &group.axes)?;
        let (inner, bytes) = place_inner(nests, &cut, &group.inner);
        let programs = &programs[group.nests.clone()];
        let whole = PartNests::new(nests, &cut, &inner, programs);
        let last = cut.last()?;
        let rest = (!last.size.is_multiple_of(last.part)).then(|| {
            let last = CutAxis { part: last.size % last.part, ..*last };
            let cut = [&cut[..cut.len() - 1], &[last]].concat();
            PartNests::new(nests, &cut, &inner, programs)
        });
        let mut compiled = CompiledGroup {
            nests: group.nests.clone(),
            cut,
            whole,
            rest,
            inner,
            shared: bytes,
            bytes,
            work: programs.iter().map(Program::work).sum(),
        };
        compiled.bytes += compiled.programs().map(Program::shared_bytes).max().unwrap_or(0);
        Some(compiled)
    }

    /// The programs for parts of either size.
    fn programs(&self) -> impl Iterator<Item = &Program> {
        self.whole.programs.iter().chain(self.rest.iter().flat_map(|rest| &rest.programs))
    }

    /// Which nests these are, and how they are cut.
    pub(crate) fn described(&self) -> NestParts {
        let axes = self.cut.iter().map(|cut| (cut.axis, cut.part)).collect();
        NestParts { nests: self.nests.clone(), axes }
    }

    /// The temporaries of which only a part is needed.
    pub(crate) fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.inner.keys().copied()
    }

    /// The most bytes of memory that a thread needs to run parts.
    pub(crate) fn thread_bytes(&self) -> usize {
        self.bytes + self.programs().map(Program::thread_bytes).max().unwrap_or(0)
    }

    /// Counts the memory that the group holds.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<CutAxis>(self.cut.capacity());
        held.own::<(usize, usize)>(self.inner.len());
        for nests in [Some(&self.whole), self.rest.as_ref()].into_iter().flatten() {
            held.own::<Program>(nests.programs.capacity());
            nests.programs.iter().for_each(|program| program.count_bytes(held));
            held.own::<Option<Arc<dyn BoundNest>>>(nests.dense.capacity());
            nests.dense.iter().flatten().for_each(|bound| bound.count_bytes(held));
        }
    }

    /// Runs all parts over these arrays, which `are_dense` if all of them are; `is_over_input` says which
    /// outputs lie over an input, and is empty if none does.
    ///
    /// # Errors
    /// When memory cannot be had, or `progress` stops the run.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for every nest as a whole, one after another; an output may lie over an input
    /// as [`NestGroup::can_replace`] has it.
    pub(crate) unsafe fn run(
        &self,
        members: &[WholeNest<'_>],
        are_dense: bool,
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let is_bound = are_dense && is_over_input.is_empty();
        let bind = |nests: &PartNests| {
            let strides = |index, operand| self.strides(members, index, operand);
            (!is_bound).then(|| nests.bind(strides, is_over_input))
        };
        let (whole, rest) = (bind(&self.whole), self.rest.as_ref().map(bind));
        let parts = self.parts();
        let bound_whole = self.whole.chosen(whole.as_ref(), parts);
        let bound_rest = match (&self.rest, &rest) {
            // Of the parts along the last axis the last one.
            (Some(nests), Some(rest)) => {
                nests.chosen(rest.as_ref(), parts / self.parts_along_last())
            }
            _ => bound_whole.clone(),
        };
        let elements: usize =
            members.iter().map(|member| member.nest.shape.iter().product::<usize>()).sum();
        let run_parts = |parts_here: Range<usize>| {
            let mut near = MaybeUninit::uninit();
            let memory = match Scratch::new(self.bytes, &mut near) {
                Ok(memory) => memory,
                Err(error) => return ControlFlow::Break(RunError::from(error)),
            };
            for part in parts_here.clone() {
                let bound = if self.is_rest(part) { &bound_rest } else { &bound_whole };
                // SAFETY: the caller's promise, for the part of each nest; parts are disjoint, and the memory
                // is this thread's.
                unsafe { self.run_part(members, bound, part, &memory) }
            }
            let done = elements * parts_here.end / parts - elements * parts_here.start / parts;
            match (options.progress)(done) {
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
                ControlFlow::Break(()) => ControlFlow::Break(RunError::Stopped),
            }
        };
        match threads::share(parts, self.work, options.threads, run_parts) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    /// # Safety
    /// As [`CompiledGroup::run`], for one part, with memory that nobody else uses.
    unsafe fn run_part(
        &self,
        members: &[WholeNest<'_>],
        bound: &[Option<&dyn BoundNest>],
        part: usize,
        memory: &Scratch<'_>,
    ) {
        let starts = self.starts(part);
        let mut operands = Vec::new();
        for (member, bound) in members.iter().zip(bound) {
            let &Some(bound) = bound else { continue };
            operands.clear();
            operands.extend(member.nest.operands().enumerate().map(|(index, access)| {
                match inner_place(access, &self.inner) {
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
            // SAFETY: the caller's promise.
            unsafe {
                bound.run(&bases, 0..bound.tiles());
                bound.finish(&bases);
            }
        }
    }

    /// The strides of an operand of a part.
    fn strides(
        &self,
        members: &[WholeNest<'_>],
        nest: usize,
        operand: usize,
    ) -> Option<AxisStrides> {
        let member = &members[nest];
        let access = member.nest.operands().nth(operand)?;
        match inner_place(access, &self.inner) {
            Some(_) => None,
            None => Some(member.strides[operand].clone()),
        }
    }

    fn parts(&self) -> usize {
        self.cut.iter().map(|cut| cut.size.div_ceil(cut.part)).product()
    }

    fn parts_along_last(&self) -> usize {
        self.cut.last().map_or(1, |cut| cut.size.div_ceil(cut.part))
    }

    /// Where a part begins along each of the axes that are cut.
    fn starts(&self, mut part: usize) -> Vec<usize> {
        let mut starts = vec![0; self.cut.len()];
        for (start, cut) in starts.iter_mut().zip(&self.cut).rev() {
            let parts = cut.size.div_ceil(cut.part);
            *start = part % parts * cut.part;
            part /= parts;
        }
        starts
    }

    /// Whether a part is the last along the last axis, and shorter.
    fn is_rest(&self, part: usize) -> bool {
        let last = self.cut.last().filter(|_| self.rest.is_some());
        last.is_some() && (part + 1).is_multiple_of(self.parts_along_last())
    }
}

impl PartNests {
    fn new(
        nests: &[Arc<LoopNest>],
        cut: &[CutAxis],
        inner: &BTreeMap<usize, usize>,
        programs: &[Program],
    ) -> PartNests {
        let part = |(nest, whole): (&Arc<LoopNest>, &Program)| {
            whole.of_part(&Arc::new(part_of(nest, cut)))
        };
        let programs = nests.iter().zip(programs).map(part).collect();
        let mut part_nests = PartNests { programs, dense: Vec::new() };
        part_nests.dense = part_nests.bind(
            |nest, operand| {
                let access = nests[nest].operands().nth(operand)?;
                let is_whole = inner_place(access, inner).is_none();
                let rank = nests[nest].shape.rank();
                is_whole.then(|| access.strides(rank, &dense(&access.array_type)))
            },
            &[],
        );
        part_nests
    }

    /// What runs so many parts: what they are `bound` to, or dense arrays, or what is better by now.
    fn chosen<'a>(
        &'a self,
        bound: Option<&'a BoundNests>,
        parts: usize,
    ) -> Vec<Option<&'a dyn BoundNest>> {
        let better = |(program, bound): (&Program, &'a Option<Arc<dyn BoundNest>>)| {
            let bound = bound.as_deref()?;
            Some(bound.instead(program.work().saturating_mul(parts)).unwrap_or(bound))
        };
        self.programs.iter().zip(bound.unwrap_or(&self.dense)).map(better).collect()
    }

    /// Binds the programs; `strides` gives those of an operand of a nest, none for temporaries of which
    /// there is only a part.
    fn bind(
        &self,
        strides: impl Fn(usize, usize) -> Option<AxisStrides>,
        is_over_input: &[bool],
    ) -> BoundNests {
        let bind = |(index, program): (usize, &Program)| {
            let strides = |operand, access: &Access| {
                strides(index, operand).unwrap_or_else(|| program.dense_strides(access))
            };
            program.bind(strides, is_over_input)
        };
        self.programs.iter().enumerate().map(bind).collect()
    }
}

/// Where the parts of the `inner` temporaries begin in a thread's memory, and where that ends.
fn place_inner(
    nests: &[Arc<LoopNest>],
    cut: &[CutAxis],
    inner: &[usize],
) -> (BTreeMap<usize, usize>, usize) {
    let (mut places, mut bytes) = (BTreeMap::new(), 0);
    for access in nests.iter().flat_map(|nest| nest.operands()) {
        let BufferId::Temporary(index) = access.buffer else { continue };
        if inner.contains(&index) && !places.contains_key(&index) {
            places.insert(index, bytes);
            let part = part_of_access(access, cut);
            bytes += array_bytes(&part.array_type).next_multiple_of(ALIGNMENT);
        }
    }
    (places, bytes)
}

fn inner_place(access: &Access, inner: &BTreeMap<usize, usize>) -> Option<usize> {
    match access.buffer {
        BufferId::Temporary(index) => inner.get(&index).copied(),
        _ => None,
    }
}

/// Whether what nests read and write, moving so many bytes one after another, is too much for a cache, so
/// that parts may pay.
pub(crate) fn may_be_cut<'a>(moved: usize, nests: impl Iterator<Item = SizedNest<'a>>) -> bool {
    // Less is known without a look at the arrays.
    moved > MIN_BYTES && array_bytes_of(nests) > MIN_BYTES
}

/// The bytes of what nests read and write, each array once.
fn array_bytes_of<'a>(nests: impl Iterator<Item = SizedNest<'a>>) -> usize {
    each_once(nests.flat_map(|nest| {
        let bytes = |access: &Access| (access.buffer, nest.array_bytes(access));
        nest.nest.operands().map(bytes).collect::<Vec<_>>()
    }))
}

/// The bytes of all arrays, of each the most that are said.
fn each_once(arrays: impl Iterator<Item = (BufferId, usize)>) -> usize {
    let mut bytes: BTreeMap<BufferId, usize> = BTreeMap::new();
    for (buffer, of_access) in arrays {
        let most = bytes.entry(buffer).or_default();
        *most = of_access.max(*most);
    }
    bytes.values().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}

/// The bytes of what nests move one after another.
fn moved<'a>(nests: impl Iterator<Item = SizedNest<'a>>) -> usize {
    let of_nest = |nest: SizedNest<'_>| {
        let bytes = nest.nest.operands().map(|access| nest.array_bytes(access));
        bytes.fold(0, usize::saturating_add)
    };
    nests.map(of_nest).fold(0, usize::saturating_add)
}

/// How the axes are cut so that a part stays in a cache; `None` where it cannot, or is all there is, or where
/// nests have little in common.
fn cut_axes(nests: &[Arc<LoopNest>], axes: &[usize]) -> Option<Vec<CutAxis>> {
    let own = || nests.iter().map(SizedNest::own);
    let (moved, all) = (moved(own()), array_bytes_of(own()));
    if all <= MIN_BYTES || moved.saturating_sub(all) < moved / MIN_SAVED {
        return None;
    }
    let size = |axis: usize| nests[0].shape[axis];
    for last in 0..axes.len() {
        let outer: Vec<CutAxis> =
            axes[..last].iter().map(|&axis| CutAxis { axis, size: size(axis), part: 1 }).collect();
        let axis = axes[last];
        let with = |part| [&outer[..], &[CutAxis { axis, size: size(axis), part }]].concat();
        let (one, two) = (part_bytes(nests, &with(1)), part_bytes(nests, &with(2)));
        if one > MAX_STEP_BYTES {
            continue;
        }
        let each = two.saturating_sub(one).max(1);
        let part = (1 + PART_BYTES.saturating_sub(one) / each).min(size(axis));
        let is_innermost = nests.iter().any(|nest| axis + 1 == nest.shape.rank());
        let cut = with(part);
        let parts: usize = cut.iter().map(|cut| cut.size.div_ceil(cut.part)).product();
        let pays = parts > 1 && (!is_innermost || part >= MIN_INNERMOST.min(size(axis)));
        return pays.then_some(cut);
    }
    None
}

/// What the parts of all nests read and write, each array once.
fn part_bytes(nests: &[Arc<LoopNest>], cut: &[CutAxis]) -> usize {
    let accesses = nests.iter().flat_map(|nest| nest.operands());
    each_once(
        accesses
            .map(|access| (access.buffer, array_bytes(&part_of_access(access, cut).array_type))),
    )
}

/// The nest over a part.
fn part_of(nest: &LoopNest, cut: &[CutAxis]) -> LoopNest {
    let mut part = nest.clone();
    let mut sizes = nest.shape.to_vec();
    cut.iter().for_each(|cut| sizes[cut.axis] = cut.part);
    part.shape = sizes.into();
    for access in &mut part.accesses {
        *access = part_of_access(access, cut);
    }
    for store in &mut part.stores {
        store.target = part_of_access(&store.target, cut);
    }
    part
}

/// What a part walks of an array, as if there were no more.
fn part_of_access(access: &Access, cut: &[CutAxis]) -> Access {
    let mut sizes = access.array_type.shape.to_vec();
    for cut in cut {
        for (size, index) in sizes.iter_mut().zip(&*access.axes) {
            if index.walked.is_some_and(|walked| walked.axis == cut.axis) {
                *size = cut.part.min(*size);
            }
        }
    }
    let mut part = access.clone();
    part.array_type.shape = sizes.into();
    part
}
