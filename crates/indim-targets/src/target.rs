//! The interface of a target.

use crate::layout::OperandLayout;
use indim_codegen::Body;

/// A processor and the instructions that code may use.
pub(crate) trait Target {
    /// Whether this machine is such a processor.
    fn is_available(&self) -> bool;

    /// Whether the target has non-temporal stores: code with them is separate code.
    fn streams(&self) -> bool;

    /// Compiles a body that folds; `None` if the target cannot.
    fn fold(
        &self,
        _body: &Body,
        _layout: &OperandLayout,
        _listing: Option<&mut String>,
    ) -> Option<CompiledCode> {
        None
    }

    /// Compiles a body that does not fold, with a listing in `listing` if given.
    fn compile(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> CompiledCode;
}

/// Position-independent code, called at its entry.
#[derive(Debug)]
pub(crate) struct CompiledCode {
    /// Constants, tables and instructions.
    pub(crate) bytes: Vec<u8>,
    /// Offset of the first instruction.
    pub(crate) entry: usize,
    /// Elements of a step.
    pub(crate) lanes: usize,
    /// Whether rows may have any number of elements: tails are masked.
    pub(crate) has_exact_tails: bool,
    /// The operand whose address the second step of a row may align; the code takes the element as an
    /// argument.
    pub(crate) aligned: Option<Aligned>,
    /// Whether code that folds can combine the 32 accumulators of a unit into one.
    pub(crate) joins_lanes: bool,
}

/// An operand that is aligned in all steps of a row but the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aligned {
    pub(crate) operand: usize,
    /// Alignment in bytes.
    pub(crate) bytes: usize,
}
