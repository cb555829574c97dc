//! What is computed once before a row, and what stays in registers for all of its steps.

use super::{Emitter, MachineCode};
use crate::allocate::{Place, Step};
use crate::machine::Memory;
use crate::x86::instruction_set::InstructionSet;

impl<S: InstructionSet> Emitter<'_, S> {
    /// Loads what is the same for all rows, unless code before a row needs its register.
    pub(super) fn load_constants(&mut self) {
        for &(memory, real) in self.parts.pinned {
            if self.is_constant(memory, real) {
                self.load_vector(real, memory);
            }
        }
    }

    /// Loads what does not change within a row.
    pub(super) fn load_pinned(&mut self) {
        for &(memory, real) in self.parts.pinned {
            self.load_vector(real, memory);
        }
    }

    /// The code before a row, and what it leaves in registers.
    pub(super) fn begin_row(&mut self) {
        let (code, steps) = self.parts.row;
        let mut kept = Vec::new();
        let mut done = 0;
        for (at, step) in steps.iter().enumerate() {
            if let Some((memory, to, from)) = self.kept(code, step) {
                self.steps(code, &steps[done..at]);
                self.copy_vector(to, from);
                kept.push(memory);
                done = at + 1;
            }
        }
        self.steps(code, &steps[done..]);
        for &(memory, real) in self.parts.pinned {
            if !kept.contains(&memory) && !self.is_constant(memory, real) {
                self.load_vector(real, memory);
            }
        }
    }

    /// Whether a register is loaded once for all rows.
    fn is_constant(&self, memory: Memory, real: u8) -> bool {
        !matches!(memory, Memory::Frame(_)) && !self.is_used_before_rows(real)
    }

    /// What a step of the code before a row only writes for the steps of the row to have it in a register: to
    /// which memory, in which register they have it, and in which it is.
    fn kept(&self, code: &MachineCode<S>, step: &Step) -> Option<(Memory, u8, u8)> {
        let Step::Instruction { index, sources: [Place::Register(from), ..], .. } = *step else {
            return None;
        };
        let memory = code.instructions[index].target?;
        let &(_, to) = self.parts.pinned.iter().find(|(pinned, _)| *pinned == memory)?;
        let is_read = self.parts.row.1.iter().any(|step| reads(step, memory));
        (!is_read && !self.is_used_before_rows(to)).then_some((memory, to, from))
    }

    /// Whether the code before a row uses a register; functions that it calls may use any.
    fn is_used_before_rows(&self, real: u8) -> bool {
        let (code, steps) = self.parts.row;
        let is_used = |step: &Step| match *step {
            Step::Load { to, .. } => to == real,
            Step::Store { from, .. } => from == real,
            Step::Copy { to, from } => to == real || from == real,
            Step::Instruction { result, sources, .. } => {
                result == Some(real) || sources.contains(&Place::Register(real))
            }
        };
        code.has_calls() || steps.iter().any(is_used)
    }
}

/// Whether a step reads what is in memory.
fn reads(step: &Step, memory: Memory) -> bool {
    match *step {
        Step::Load { from, .. } => from == memory,
        Step::Instruction { sources, .. } => sources.contains(&Place::Memory(memory)),
        Step::Store { .. } | Step::Copy { .. } => false,
    }
}
