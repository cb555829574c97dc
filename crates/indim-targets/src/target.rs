//! What a target is: it makes code of a body.

use crate::layout::OperandLayout;
use indim_codegen::Body;

/// A processor, with the instructions that code may use.
pub(crate) trait Target {
    /// Whether this machine is one.
    fn is_available(&self) -> bool;

    /// Whether there are instructions that write past the caches: code that streams is other code.
    fn streams(&self) -> bool;

    /// Makes the code of a body that folds; `None` where there is none that does.
    fn fold(
        &self,
        _body: &Body,
        _layout: &OperandLayout,
        _listing: Option<&mut String>,
    ) -> Option<Code> {
        None
    }

    /// Makes the code of any other body; its listing goes to `listing`, if there is one.
    fn compile(&self, body: &Body, layout: &OperandLayout, listing: Option<&mut String>) -> Code;
}

/// Code that can be moved, and called at its entry.
#[derive(Debug)]
pub(crate) struct Code {
    /// Constants, tables and instructions.
    pub(crate) bytes: Vec<u8>,
    /// Where the first instruction is.
    pub(crate) entry: usize,
    /// The elements of a step.
    pub(crate) lanes: usize,
    /// Whether rows may have any number of elements: less than a step of them is read and written alone.
    pub(crate) has_exact_tails: bool,
    /// What the second step of a row may begin with at an aligned address, which is told to the code.
    pub(crate) aligned: Option<Aligned>,
    /// Whether code that folds can make one accumulator of the 32 of a unit.
    pub(crate) joins_lanes: bool,
}

/// An operand that steps find aligned, but for the first one of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aligned {
    pub(crate) operand: usize,
    /// To so many bytes.
    pub(crate) bytes: usize,
}
