//! What a message says, spelled as the text of HLO spells it: so its attributes are read as those of a text
//! are. Places in it are no places in the file: an error there names the instruction.

use indim_model::{FormatError, FormatErrorKind, Location};
use indim_text::Span;

/// Pieces of text, one after another.
#[derive(Debug, Default)]
pub(in super::super) struct Spelled {
    pub(in super::super) text: String,
    instructions: Vec<Row>,
}

/// Where an instruction is spelled.
#[derive(Debug)]
struct Row {
    computation: Span,
    name: Span,
    opcode: Span,
}

impl Spelled {
    /// A piece more.
    pub(super) fn add(&mut self, piece: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(piece);
        Span::new(start, self.text.len())
    }

    /// An instruction, whose pieces come next: its name, and its opcode.
    pub(super) fn instruction(&mut self, computation: Span, name: &str, opcode: &str) -> [Span; 2] {
        let [name, opcode] = [name, opcode].map(|piece| self.add(piece));
        self.instructions.push(Row { computation, name, opcode });
        [name, opcode]
    }

    /// ``instruction `add.3` (add) of `main` ``, for a place in the text.
    pub(in super::super) fn described(&self, position: usize) -> Location {
        let before = self.instructions.partition_point(|row| row.name.start <= position);
        let Some(row) = before.checked_sub(1).and_then(|last| self.instructions.get(last)) else {
            return Location::default();
        };
        let [computation, name, opcode] = [row.computation, row.name, row.opcode]
            .map(|span| indim_graph::terminal::shown(span.of(&self.text)));
        Location::described(format!("instruction `{name}` ({opcode}) of `{computation}`"))
    }

    fn place(&self, place: &mut Location) {
        if let Some(span) = &place.span {
            *place = self.described(span.start);
        }
    }

    /// An error with the instructions where it has places in the text.
    pub(in super::super) fn error(&self, mut error: FormatError) -> FormatError {
        self.place(&mut error.place);
        if let FormatErrorKind::UnsupportedOperations(operations) = &mut error.kind {
            operations.iter_mut().for_each(|operation| self.place(&mut operation.place));
        }
        error
    }
}
