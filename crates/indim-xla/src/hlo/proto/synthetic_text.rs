//! HLO text synthesised from a protobuf, for the attribute reader of the text form. An error at a position
//! of this text names the instruction instead.

use indim_model::{FormatError, FormatErrorKind, Location};
use indim_text::Span;

/// Concatenated pieces of text.
#[derive(Debug, Default)]
pub(in super::super) struct SyntheticText {
    pub(in super::super) text: String,
    instructions: Vec<InstructionPosition>,
}

/// The position of an instruction.
#[derive(Debug)]
struct InstructionPosition {
    computation: Span,
    name: Span,
    opcode: Span,
}

impl SyntheticText {
    /// Appends a piece and returns its span.
    pub(super) fn add(&mut self, piece: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(piece);
        Span::new(start, self.text.len())
    }

    /// Appends the name and the opcode of an instruction and returns their spans; pieces of its
    /// attributes follow.
    pub(super) fn instruction(&mut self, computation: Span, name: &str, opcode: &str) -> [Span; 2] {
        let [name, opcode] = [name, opcode].map(|piece| self.add(piece));
        self.instructions.push(InstructionPosition { computation, name, opcode });
        [name, opcode]
    }

    /// ``instruction `add.3` (add) of `main` `` for a position in the text.
    pub(in super::super) fn described(&self, position: usize) -> Location {
        let before = self.instructions.partition_point(|row| row.name.start <= position);
        let Some(row) = before.checked_sub(1).and_then(|last| self.instructions.get(last)) else {
            return Location::default();
        };
        let [computation, name, opcode] = [row.computation, row.name, row.opcode]
            .map(|span| indim_graph::terminal::printable(span.of(&self.text)));
        Location::described(format!("instruction `{name}` ({opcode}) of `{computation}`"))
    }

    fn location(&self, location: &mut Location) {
        if let Some(span) = &location.span {
            *location = self.described(span.start);
        }
    }

    /// Replaces positions in this text by descriptions of their instructions.
    pub(in super::super) fn error(&self, mut error: FormatError) -> FormatError {
        self.location(&mut error.location);
        if let FormatErrorKind::UnsupportedOperations(operations) = &mut error.kind {
            operations.iter_mut().for_each(|operation| self.location(&mut operation.location));
        }
        error
    }
}
