//! What an element of a nest costs, and a run of it, in bytes that could be moved instead of computing it.

use indim_loops::loop_nest::{Access, Compute, Instruction, LoopNest};
use indim_loops::resize::SizedNest;
use indim_ops::Fact;

/// A function weighs as much as this many bytes moved: `exp` of f32 takes as long as 40 bytes, `sin` as 120.
const BYTES_PER_FUNCTION: usize = 64;

/// An element that is taken weighs as much as this many bytes moved.
const BYTES_PER_TAKE: usize = 8;

/// A cheap operation weighs as much as this many bytes moved.
const BYTES_PER_CHEAP: usize = 2;

/// What is computed for an element.
pub(crate) fn computed(nest: &LoopNest) -> usize {
    let cost = |instruction: &Instruction| match instruction.compute {
        Compute::Elementwise(op) if !op.is(Fact::Cheap) => BYTES_PER_FUNCTION,
        Compute::Take { .. } => BYTES_PER_TAKE,
        _ => BYTES_PER_CHEAP,
    };
    nest.instructions.iter().map(cost).sum()
}

/// What a whole run weighs, of whose elements each is computed at such a cost. What is repeated along some
/// axis, as a number is along all, is read from memory once; of what elements are taken from, no more than
/// one for each.
pub(crate) fn of_run(nest: &SizedNest<'_>, cost: usize) -> usize {
    let points = nest.points();
    let moved = |operand: &Access| {
        let at_most = points.saturating_mul(operand.array_type.dtype.size());
        nest.bytes_of(operand).min(at_most)
    };
    let moved = nest.nest.operands().map(moved).fold(0, usize::saturating_add);
    moved.saturating_add(points.saturating_mul(cost))
}

/// What is read, computed and written for an element.
pub(super) fn of_element(nest: &SizedNest<'_>) -> usize {
    of_run(nest, computed(nest.nest)) / nest.points().max(1)
}
