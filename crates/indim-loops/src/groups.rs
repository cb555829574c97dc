//! Groups of nests that run tile by tile. The softmax of a matrix runs all its nests on a few rows, then on
//! the next rows, so that temporaries stay in L2 and the matrix is read from memory once.
//!
//! Consecutive nests form a group along an axis that none of them reduces, if each value that one nest
//! writes and another reads has the same index along this axis in both. Then no tile depends on another,
//! and results have the same bits.
//!
//! A contraction may be a member too: a tile of attention computes some rows of the scores, their softmax and
//! the rows of the result. A tile of a contraction reads the whole of an operand that does not move along the
//! cut axis, so a longer group may cost more than it saves. Groups with contractions therefore overlap each
//! other and the groups without them. `run/groups.rs` of `indim-cpu` chooses among them, and the tile sizes.

use core::fmt;
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indim_graph::Size;

use crate::loop_nest::{Access, AxisIndex, BufferId, LoopNest, LoopNests, StandaloneInstruction};
use crate::memory_use::MemoryUse;

/// Consecutive nests that may run together, tile by tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestGroup {
    /// The indices of the nests.
    pub nests: Range<usize>,
    /// The axes along which all of them may be cut into tiles.
    pub axes: Vec<usize>,
    /// The temporaries that no nest outside the group uses; they need memory for one tile only.
    pub inner: Vec<usize>,
}

impl NestGroup {
    /// The nests of the group.
    pub fn members<'a>(&self, loops: &'a LoopNests) -> &'a [Arc<LoopNest>] {
        &loops.nests[self.nests.clone()]
    }

    /// Whether an output may still use the memory of a parameter if a tile is written before the next one is
    /// read: along the cut axes, all accesses to both have the same index.
    pub fn can_replace(&self, loops: &LoopNests, parameter: usize, output: usize) -> bool {
        let members = self.members(loops);
        let stores = members.iter().flat_map(|nest| &nest.stores).map(|store| &store.target);
        let written = stores.filter(|target| target.buffer == BufferId::Output(output));
        let accesses = members.iter().flat_map(|nest| &nest.accesses);
        let read = accesses.filter(|access| access.buffer == BufferId::Parameter(parameter));
        let mut walked = written
            .chain(read)
            .map(|access| self.axes.iter().map(|&axis| moving_axis(access, axis)).collect());
        let first: Option<Vec<Option<(usize, &AxisIndex)>>> = walked.next();
        first.is_none_or(|first| !first.contains(&None) && walked.all(|other| other == first))
    }
}

/// The only axis of the array that moves with `axis` of the nest, and its index; `None` if none or several
/// do.
fn moving_axis(access: &Access, axis: usize) -> Option<(usize, &AxisIndex)> {
    let axes = access.axes.iter().enumerate();
    let mut moved = axes.filter(|(_, index)| index.moves_with(axis));
    moved.next().filter(|_| moved.next().is_none())
}

impl NestGroup {
    /// Counts the memory that the group holds.
    pub fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<usize>(self.axes.capacity() + self.inner.capacity());
    }
}

impl fmt::Display for NestGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.nests;
        let axes: Vec<String> = self.axes.iter().map(|axis| format!("i{axis}")).collect();
        write!(formatter, "nests {start} to {} in tiles along {}", end - 1, axes.join(", "))
    }
}

/// Maximum nests of a group with a contraction. It bounds the search, which begins at every contraction.
const MAX_CONTRACTION_GROUP: usize = 32;

/// The groups of nests that share buffers and have a reduction or contraction among them, in the order of
/// their first nests. Groups with contractions may overlap others.
pub fn groups(loops: &LoopNests) -> Vec<NestGroup> {
    if loops.nests.len() < 2 {
        return Vec::new();
    }
    let uses = uses_of_temporaries(loops);
    let mut groups = groups_without_contractions(loops, &uses);
    if loops.nests.iter().any(|nest| is_contraction(nest)) {
        let found = contraction_groups(loops, &uses, &groups);
        groups.extend(found);
        groups.sort_by_key(|group| (group.nests.start, group.nests.end));
    }
    groups
}

/// Whether a nest is a contraction.
fn is_contraction(nest: &LoopNest) -> bool {
    summed_axes(nest).is_some()
}

/// The number of axes that a contraction sums, the last of its nest; `None` for other nests.
fn summed_axes(nest: &LoopNest) -> Option<usize> {
    match nest.standalone_instruction() {
        Some((StandaloneInstruction::Contract { summed }, _)) => Some(summed),
        _ => None,
    }
}

/// The groups with contractions. A group begins with a contraction, with the nest before it, with the first
/// nest that writes an operand of a contraction, or with one of the groups `before` that a contraction
/// follows. For each first nest, one group for each set of axes along which it may be cut: the longest one.
fn contraction_groups(
    loops: &LoopNests,
    uses: &[(usize, usize)],
    before: &[NestGroup],
) -> Vec<NestGroup> {
    let contractions = loops.nests.iter().enumerate().filter(|(_, nest)| is_contraction(nest));
    let first_writer = |access: &Access| match access.buffer {
        BufferId::Temporary(temporary) => Some(uses[temporary].0),
        _ => None,
    };
    let mut starts: BTreeSet<usize> = BTreeSet::new();
    for (index, nest) in contractions {
        starts.extend([index.saturating_sub(1), index]);
        let writers = nest.accesses.iter().filter_map(first_writer);
        starts.extend(
            writers.filter(|&first| first < index && index - first < MAX_CONTRACTION_GROUP),
        );
    }
    let is_followed = |group: &&NestGroup| {
        loops.nests.get(group.nests.end).is_some_and(|nest| is_contraction(nest))
    };
    starts.extend(before.iter().filter(is_followed).map(|group| group.nests.start));
    let mut groups = Vec::new();
    for start in starts {
        let end = (start + MAX_CONTRACTION_GROUP).min(loops.nests.len());
        walk_group(loops, start..end, true, |end, axes| {
            let members = &loops.nests[start..end];
            if members.len() > 1 && members.iter().any(|nest| is_contraction(nest)) {
                let inner = inner_temporaries(members, uses, &(start..end));
                groups.push(NestGroup { nests: start..end, axes: axes.to_vec(), inner });
            }
        });
    }
    groups
}

/// The groups of nests without contractions, which do not overlap.
fn groups_without_contractions(loops: &LoopNests, uses: &[(usize, usize)]) -> Vec<NestGroup> {
    let mut groups = Vec::new();
    let mut start = 0;
    while start < loops.nests.len() {
        let (mut end, mut axes) = (start + 1, Vec::new());
        walk_group(loops, start..loops.nests.len(), false, |longest, left| {
            (end, axes) = (longest, left.to_vec());
        });
        let members = &loops.nests[start..end];
        let reduces = members.iter().any(|nest| nest.reduced.is_some());
        if members.len() > 1 && reduces {
            let inner = inner_temporaries(members, uses, &(start..end));
            groups.push(NestGroup { nests: start..end, axes, inner });
            start = end;
        } else {
            // The group has one member, or none that reduces. Its last member may begin the next group.
            start = (end - 1).max(start + 1);
        }
    }
    groups
}

/// Adds nests of `range` to a group that begins with the first one, while it may be cut. Calls `visit` with
/// the end of the group and its axes before each nest that leaves fewer axes, and at the end.
fn walk_group(
    loops: &LoopNests,
    range: Range<usize>,
    with_contractions: bool,
    mut visit: impl FnMut(usize, &[usize]),
) {
    let mut members = GroupState { with_contractions, ..GroupState::default() };
    let mut axes = members.add(&loops.nests[range.start], None);
    if axes.is_empty() {
        return;
    }
    for index in range.start + 1..range.end {
        let nest = &loops.nests[index];
        // A bounds check needs all indices before any tile of the nest runs.
        let is_checked = loops.checks.binary_search_by_key(&index, |check| check.nest).is_ok();
        let shares = !is_checked && nest.operands().any(|access| members.uses(access.buffer));
        let left = if shares { members.add(nest, Some(&axes)) } else { Vec::new() };
        if left.len() < axes.len() {
            visit(index, &axes);
        }
        if left.is_empty() {
            return;
        }
        axes = left;
    }
    visit(range.end, &axes);
}

/// The iteration shape and the buffers of a group under construction.
#[derive(Default)]
struct GroupState<'a> {
    with_contractions: bool,
    /// The iteration shape of the first nest. A nest whose axis has another size cannot be cut along it.
    sizes: Vec<Size>,
    /// The buffers that the nests write, each with the nests that write it.
    written: BTreeMap<BufferId, Vec<(&'a LoopNest, &'a Access)>>,
    used: BTreeSet<BufferId>,
}

impl<'a> GroupState<'a> {
    fn uses(&self, buffer: BufferId) -> bool {
        self.used.contains(&buffer)
    }

    /// Adds a nest; returns the axes among `axes` (`None`: all axes) along which the group may still be
    /// cut.
    fn add(&mut self, nest: &'a LoopNest, axes: Option<&[usize]>) -> Vec<usize> {
        if axes.is_none() {
            self.sizes = nest.shape.to_vec();
        }
        let summed = summed_axes(nest).filter(|_| self.with_contractions);
        // A tile of a scatter needs all indices.
        if nest.is_standalone() && summed.is_none() {
            return Vec::new();
        }
        let kept = nest.shape.rank() - summed.unwrap_or(0);
        let all_axes: Vec<usize> = (0..self.sizes.len()).collect();
        let can_be_cut = |&axis: &usize| {
            let size = nest.shape.get(axis).copied().unwrap_or(Size::Known(1));
            let is_cut = !matches!(size, Size::Known(0 | 1));
            let is_kept = nest.reduced != Some(axis) && (summed.is_none() || axis < kept);
            let is_matched = |access: &Access| {
                let read = traversed_axis(nest, access, axis);
                let mut written = self.written.get(&access.buffer).into_iter().flatten();
                written.all(|(nest, target)| {
                    read.is_some() && read == traversed_axis(nest, target, axis)
                })
            };
            is_cut && size == self.sizes[axis] && is_kept && nest.accesses.iter().all(is_matched)
        };
        let left = axes.unwrap_or(&all_axes).iter().copied().filter(can_be_cut).collect();
        for store in &nest.stores {
            self.written.entry(store.target.buffer).or_default().push((nest, &store.target));
        }
        self.used.extend(nest.operands().map(|operand| operand.buffer));
        left
    }
}

/// The axis of the array that `axis` of the nest traverses completely, and the sizes of the array.
fn traversed_axis<'a>(
    nest: &LoopNest,
    access: &'a Access,
    axis: usize,
) -> Option<(usize, &'a [Size])> {
    let (walked, index) = moving_axis(access, axis)?;
    let size = access.array_type.shape[walked];
    let is_whole = size == nest.shape[axis] && *index == AxisIndex::identity(axis, size);
    is_whole.then_some((walked, access.array_type.shape.sizes()))
}

/// The first and the last nest that uses each temporary; all nests, if a bounds check reads it.
fn uses_of_temporaries(loops: &LoopNests) -> Vec<(usize, usize)> {
    let mut uses = vec![(usize::MAX, 0); loops.temporaries.len()];
    let mut uses_by = |access: &Access, first: usize, last: usize| {
        if let BufferId::Temporary(index) = access.buffer {
            uses[index] = (uses[index].0.min(first), uses[index].1.max(last));
        }
    };
    for (index, nest) in loops.nests.iter().enumerate() {
        nest.operands().for_each(|access| uses_by(access, index, index));
    }
    loops.checks.iter().for_each(|check| uses_by(&check.access, 0, usize::MAX));
    uses
}

/// The temporaries that only these members use.
fn inner_temporaries(
    members: &[Arc<LoopNest>],
    uses: &[(usize, usize)],
    range: &Range<usize>,
) -> Vec<usize> {
    let operands = members.iter().flat_map(|nest| nest.operands());
    let temporaries = operands.filter_map(|operand| match operand.buffer {
        BufferId::Temporary(index) => Some(index),
        _ => None,
    });
    let is_inner = |&index: &usize| uses[index].0 >= range.start && uses[index].1 < range.end;
    let inner: BTreeSet<usize> = temporaries.filter(is_inner).collect();
    inner.into_iter().collect()
}
