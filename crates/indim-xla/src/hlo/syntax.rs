//! The syntax tree of HLO, from text or a protobuf. Operands come before their uses and callees before
//! their callers; references are indices. Spans refer to the text, or to the text synthesised from a
//! protobuf.

use std::collections::HashMap;

use bytes::Bytes;
use indim_model::{FormatError, FormatErrorKind};
use indim_ops::ArrayType;
use indim_text::Span;

/// A program.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) computations: Vec<Computation>,
    /// Index of each computation by its name.
    pub(super) by_name: HashMap<String, usize>,
    /// The computation with `ENTRY`.
    pub(super) entry: Option<usize>,
}

/// A computation.
#[derive(Debug)]
pub(super) struct Computation {
    pub(super) instructions: Vec<Instruction>,
    /// Index of the root instruction.
    pub(super) root: usize,
    /// Indices of the parameter instructions, in parameter order.
    pub(super) parameters: Vec<usize>,
    /// The whole text, and the text between its braces; empty for a protobuf.
    pub(super) text: Span,
    pub(super) body: Span,
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Instruction {
    /// Span of its name; `None` for an instruction that is written in place as an operand.
    pub(super) name: Option<Span>,
    /// Span of its opcode.
    pub(super) span: Span,
    /// The whole text, from its name to its last attribute.
    pub(super) text: Span,
    pub(super) opcode: String,
    /// The type of its result, if written.
    pub(super) shape: Option<HloShape>,
    /// Indices of operands in the same computation.
    pub(super) operands: Vec<usize>,
    /// The number of a `parameter` instruction; [`Computation::new`] sets it.
    pub(super) parameter: Option<usize>,
    /// The text in the parentheses of a constant or parameter.
    pub(super) content: Option<Span>,
    /// Spans of the name and of the value of each attribute.
    pub(super) attributes: Vec<(Span, Span)>,
    /// Index of the computation that it calls or applies.
    pub(super) called: Option<usize>,
    /// Indices of computations: the condition and the body of a `while`; the branches of a `conditional`, by
    /// its index, or the one for true before the one for false; the bodies of a `select-and-scatter`.
    pub(super) regions: Vec<usize>,
    /// The encoded literal of a constant in a protobuf.
    pub(super) literal: Option<Bytes>,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HloShape {
    /// `f32[2,3]{1,0}`.
    Array(ArrayType, HloLayout),
    /// `(T, U)`.
    Tuple(Vec<HloShape>),
    /// An array with a dynamic size.
    Dynamic(Span),
    /// Any other type.
    Other(Span),
}

/// The layout of the elements in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HloLayout {
    /// Row-major order.
    RowMajor,
    /// The axes, the innermost first.
    MinorToMajor(Vec<usize>),
    /// A tiled or other layout.
    Other,
}

impl HloShape {
    /// Whether it has an array in another order than row-major. The recursion is bounded by the parser's
    /// nesting limit.
    pub(super) fn has_own_layout(&self) -> bool {
        match self {
            HloShape::Array(_, HloLayout::MinorToMajor(axes)) => {
                !axes.iter().rev().copied().eq(0..axes.len())
            }
            HloShape::Array(_, layout) => *layout == HloLayout::Other,
            HloShape::Tuple(parts) => parts.iter().any(HloShape::has_own_layout),
            HloShape::Dynamic(_) | HloShape::Other(_) => false,
        }
    }
}

impl Computation {
    /// A computation of these instructions; parameter numbers must be consecutive from 0.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn new(
        mut instructions: Vec<Instruction>,
        root: usize,
        text: &str,
    ) -> Result<Computation, FormatError> {
        let is_parameter = |instruction: &Instruction| instruction.opcode == "parameter";
        let count = instructions.iter().filter(|instruction| is_parameter(instruction)).count();
        let mut parameters = vec![None; count];
        for (number, instruction) in instructions.iter_mut().enumerate() {
            if !is_parameter(instruction) {
                continue;
            }
            let span = instruction.content.unwrap_or(instruction.span);
            let index = span.of(text).trim().parse::<usize>().ok();
            let slot = index.and_then(|index| parameters.get_mut(index));
            if slot.is_none_or(|slot| slot.replace(number).is_some()) {
                let problem = format!("is not one of 0 to {}, each once", count - 1);
                let kind = FormatErrorKind::attribute("the number of the parameter", problem);
                return Err(kind.in_text(span.start..span.end));
            }
            instruction.parameter = index;
        }
        let parameters = parameters.into_iter().flatten().collect();
        let (text, body) = (Span::new(0, 0), Span::new(0, 0));
        Ok(Computation { instructions, root, parameters, text, body })
    }
}

impl Instruction {
    /// The name without `%`; `None` for an instruction that is written in place as an operand.
    pub(super) fn plain_name<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.name.map(|name| name.of(text).trim_start_matches('%'))
    }

    /// Span of the value of an attribute.
    pub(super) fn attribute(&self, text: &str, name: &str) -> Option<Span> {
        let found = self.attributes.iter().find(|(key, _)| key.of(text) == name);
        found.map(|(_, value)| *value)
    }
}
