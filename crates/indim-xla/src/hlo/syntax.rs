//! What a text of HLO, or a message, says, before it means anything. Operands are above their use, and so are
//! the computations that instructions call: both are numbers here. Spans are places in the text, or in what
//! the message says, spelled.

use std::collections::HashMap;

use bytes::Bytes;
use indim_model::{FormatError, FormatErrorKind};
use indim_ops::ArrayType;
use indim_text::Span;

/// A program.
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
    /// The elements of a constant, where a message says them.
    pub(super) literal: Option<Bytes>,
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

impl Computation {
    /// Of these instructions, whose parameters are numbered from 0 on without a gap.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn new(
        instructions: Vec<Instruction>,
        root: usize,
        text: &str,
    ) -> Result<Computation, FormatError> {
        let is_parameter = |instruction: &Instruction| instruction.opcode == "parameter";
        let count = instructions.iter().filter(|instruction| is_parameter(instruction)).count();
        let mut parameters = vec![None; count];
        for (number, instruction) in instructions.iter().enumerate() {
            if !is_parameter(instruction) {
                continue;
            }
            let place = instruction.content.unwrap_or(instruction.span);
            let index = place.of(text).trim().parse::<usize>().ok();
            let slot = index.and_then(|index| parameters.get_mut(index));
            if slot.is_none_or(|slot| slot.replace(number).is_some()) {
                let problem = format!("is not one of 0 to {}, each once", count - 1);
                let kind = FormatErrorKind::attribute("the number of the parameter", problem);
                return Err(kind.in_text(place.start..place.end));
            }
        }
        let parameters = parameters.into_iter().flatten().collect();
        Ok(Computation { instructions, root, parameters })
    }
}

impl Instruction {
    /// The value of an attribute.
    pub(super) fn attribute(&self, text: &str, name: &str) -> Option<Span> {
        let found = self.attributes.iter().find(|(key, _)| key.of(text) == name);
        found.map(|(_, value)| *value)
    }
}
