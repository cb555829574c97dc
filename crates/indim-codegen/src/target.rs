//! The interface of a target, and its result: position-independent code.

use crate::Body;
use crate::layout::OperandLayout;

/// A compiler for an architecture with fixed instruction sets.
pub trait Target {
    /// Whether the target has non-temporal stores. They need a second version of the code.
    fn has_non_temporal_stores(&self) -> bool;

    /// Compiles a body; appends a listing if `listing` is given. Returns `None` for a body that the target
    /// does not support; kernels run such a body.
    fn compile(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> Option<CompiledCode>;
}

/// Position-independent machine code.
#[derive(Debug)]
pub struct CompiledCode {
    /// Constants, tables and instructions.
    pub bytes: Vec<u8>,
    /// Byte offset of the entry point.
    pub entry: usize,
    /// Number of elements that a step computes.
    pub lanes: usize,
    /// Whether tails are masked, so that rows may have any number of elements.
    pub has_exact_tails: bool,
    /// The operand to align from the second step of a row on. The code takes the index of that step's
    /// first element as an argument. `None` for code without aligned steps.
    pub aligned: Option<AlignedOperand>,
    /// Whether code that folds can combine the 32 accumulators of a unit into one.
    pub can_reduce_lanes: bool,
}

/// An operand that all steps of a row except the first access at aligned addresses.
#[derive(Debug, Clone, Copy)]
pub struct AlignedOperand {
    /// Index of the operand, outputs first.
    pub operand: usize,
    /// Alignment in bytes.
    pub bytes: usize,
}
