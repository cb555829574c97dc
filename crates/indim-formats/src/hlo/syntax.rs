//! What a text of HLO says, before it means anything. Operands are above their use, and so are the
//! computations that instructions call: both are numbers here.

use std::collections::HashMap;

use indim_ops::ArrayType;
use indim_text::Span;

/// A text.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) computations: Vec<Computation>,
    /// The numbers of computations by their names.
    pub(super) by_name: HashMap<String, usize>,
    /// The one with `ENTRY`.
    pub(super) entry: Option<usize>,
}

/// A computation.
#[derive(Debug)]
pub(super) struct Computation {
    pub(super) instructions: Vec<Instruction>,
    /// The number of the instruction that gives its result.
    pub(super) root: usize,
    /// The instructions that are its parameters, by their numbers.
    pub(super) parameters: Vec<usize>,
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Instruction {
    /// Where its name stands; a nested one has none.
    pub(super) name: Option<Span>,
    /// Where its opcode stands.
    pub(super) span: Span,
    pub(super) opcode: String,
    /// The type of its result, if it is written.
    pub(super) shape: Option<Shape>,
    /// The numbers of instructions of the same computation.
    pub(super) operands: Vec<usize>,
    /// What stands between the brackets instead of operands: of constants and parameters.
    pub(super) content: Option<Span>,
    pub(super) attributes: Vec<(Span, Span)>,
    /// The computation that it calls or applies.
    pub(super) called: Option<usize>,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// `f32[2,3]{1,0}`.
    Array(ArrayType, Layout),
    /// `(T, U)`.
    Tuple(Vec<Shape>),
    /// An array whose sizes are not all known, where it stands.
    Dynamic(Span),
    /// Any other, where it stands.
    Other(Span),
}

/// How the elements lie in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    /// The last axis is the innermost.
    RowMajor,
    /// These axes, the innermost first.
    MinorToMajor(Vec<usize>),
    /// In tiles, or in another way.
    Other,
}

impl Instruction {
    /// The value of an attribute.
    pub(super) fn attribute(&self, text: &str, name: &str) -> Option<Span> {
        let found = self.attributes.iter().find(|(key, _)| key.of(text) == name);
        found.map(|(_, value)| *value)
    }
}
