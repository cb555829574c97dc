//! The cost of an element and of a run, in bytes moved: a byte stands for the time in which memory could
//! move it.

use indim_loops::loop_nest::{InstructionKind, LoopNest, NestInstruction};
use indim_loops::resize::SizedNest;
use indim_ops::Fact;

/// Cost of an operation that is not cheap: `exp` of f32 takes as long as 40 bytes moved, `sin` as long as
/// 120.
const BYTES_PER_FUNCTION: usize = 64;

/// Cost of a gathered element.
const BYTES_PER_TAKE: usize = 8;

/// Cost of a cheap operation.
const BYTES_PER_CHEAP: usize = 2;

/// Cost of computing one element, without the bytes moved.
pub(crate) fn compute_cost(nest: &LoopNest) -> usize {
    let cost = |instruction: &NestInstruction| match instruction.kind {
        InstructionKind::Elementwise(op) if !op.is(Fact::Cheap) => BYTES_PER_FUNCTION,
        InstructionKind::Take { .. } => BYTES_PER_TAKE,
        _ => BYTES_PER_CHEAP,
    };
    nest.instructions.iter().map(cost).sum()
}

/// Cost of a whole run whose elements each cost this much: bytes moved and computation.
pub fn run_work(nest: &SizedNest<'_>, cost: usize) -> usize {
    nest.bytes_moved().saturating_add(nest.points().saturating_mul(cost))
}

/// Cost of an element: bytes moved and computation.
pub(super) fn element_cost(nest: &SizedNest<'_>, cost: usize) -> usize {
    run_work(nest, cost) / nest.points().max(1)
}
