//! What an element of a nest costs, and a run of it, in bytes that could be moved instead of computing it.

use indim_loops::loop_nest::{Compute, Instruction, LoopNest};
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

/// What a whole run weighs, of whose elements each is computed at such a cost.
pub(crate) fn of_run(nest: &SizedNest<'_>, cost: usize) -> usize {
    nest.bytes_moved().saturating_add(nest.points().saturating_mul(cost))
}

/// What is read, computed and written for an element, which is computed at such a cost.
pub(super) fn of_element(nest: &SizedNest<'_>, cost: usize) -> usize {
    of_run(nest, cost) / nest.points().max(1)
}
