//! Limits of sorts: a sort computes only the positions that later nests read.

use indim_graph::Size;

use crate::loop_nest::{
    Access, BufferId, IndexCheck, InstructionKind, LoopNest, NestInstruction, SortedRange,
    SortedRanges, StandaloneInstruction, Store,
};

/// Limits each sort to the positions that other nests read.
pub(crate) fn limit_sorts(nests: &mut [LoopNest], checks: &[IndexCheck]) {
    for sorting in 0..nests.len() {
        let Some(ranges) = read_ranges(nests, checks, &nests[sorting]) else { continue };
        let mut instructions = nests[sorting].instructions.to_vec();
        if let [NestInstruction { kind: InstructionKind::Standalone(sort), .. }] =
            &mut instructions[..]
            && let StandaloneInstruction::Sort { read, .. } = sort
        {
            *read = ranges;
        }
        nests[sorting].instructions = instructions.into();
    }
}

/// The positions of a sort that nests read; `None` for another nest, and if all positions may be read.
fn read_ranges(
    nests: &[LoopNest],
    checks: &[IndexCheck],
    sorting: &LoopNest,
) -> Option<SortedRanges> {
    let Some((StandaloneInstruction::Sort { axis, .. }, _)) = sorting.standalone_instruction()
    else {
        return None;
    };
    let mut ranges = SortedRanges::WHOLE;
    for Store { target, .. } in &sorting.stores {
        let is_of_target = |access: &&Access| access.buffer == target.buffer;
        let is_temporary = matches!(target.buffer, BufferId::Temporary(_));
        // A part of a concatenation has an array type of its own.
        let is_whole = target.array_type.shape == sorting.shape;
        let is_checked = checks.iter().map(|check| &check.access).any(|it| is_of_target(&it));
        if !is_temporary || !is_whole || is_checked {
            return None;
        }
        for nest in nests {
            for access in nest.accesses.iter().filter(is_of_target) {
                ranges.add(range_of_access(nest, access, target, axis)?)?;
            }
        }
    }
    let is_whole = |range: SortedRange| match (range, sorting.shape[axis]) {
        (SortedRange::FromStart { start, end }, Size::Known(size)) => start == 0 && end == size,
        _ => false,
    };
    (!ranges.ranges().any(is_whole)).then_some(ranges)
}

/// The positions along `axis` of a sorted array that `nest` reads by `access`; `None` if any may be read.
fn range_of_access(
    nest: &LoopNest,
    access: &Access,
    sorted: &Access,
    axis: usize,
) -> Option<SortedRange> {
    let (shape, index) = (&access.array_type.shape, access.axes.get(axis)?);
    // A loop or branch reads whole arrays, and a reshape may have moved the axis.
    let is_control =
        matches!(nest.standalone_instruction(), Some((StandaloneInstruction::Control { .. }, _)));
    if is_control || *shape != sorted.array_type.shape {
        return None;
    }
    let (mut first, mut last) = (index.start, index.start);
    for term in &index.terms {
        // The table of a gather has an axis that is none of the nest.
        let steps = nest.shape.get(term.axis)?.known()?.checked_sub(1)?;
        let distance = term.step.checked_mul(isize::try_from(steps).ok()?)?;
        first = first.checked_add(distance.min(0))?;
        last = last.checked_add(distance.max(0))?;
    }
    match (index.size_terms(), shape[axis]) {
        ([], _) => Some(SortedRange::FromStart {
            start: usize::try_from(first).ok()?,
            end: usize::try_from(last + 1).ok()?,
        }),
        ([term], Size::Symbol(symbol)) if term.symbol == symbol && term.count == 1 => {
            Some(SortedRange::FromEnd {
                start: usize::try_from(-first).ok()?,
                end: usize::try_from(-(last + 1)).ok()?,
            })
        }
        _ => None,
    }
}
