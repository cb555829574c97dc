//! The code before a row, and registers that stay loaded during the row.

use super::{Emitter, X86Code};
use crate::x86::instruction_set::X86InstructionSet;
use indim_codegen::allocate::{AllocatedInstruction, AllocatedOperand};
use indim_codegen::machine::Memory;

impl<S: X86InstructionSet> Emitter<'_, S> {
    /// Loads pinned constants once for all rows, unless the code before a row uses their registers.
    pub(super) fn load_constants(&mut self) {
        for &(memory, physical) in self.input.pinned {
            if self.is_constant(memory, physical) {
                self.load_vector(physical, memory);
            }
        }
    }

    /// Loads all pinned registers.
    pub(super) fn load_pinned(&mut self) {
        for &(memory, physical) in self.input.pinned {
            self.load_vector(physical, memory);
        }
    }

    /// Emits the code before a row, and loads the pinned registers that it does not compute.
    pub(super) fn begin_row(&mut self) {
        let (code, allocated) = self.input.row;
        let mut computed = Vec::new();
        let mut emitted = 0;
        for (at, step) in allocated.iter().enumerate() {
            if let Some((memory, to, from)) = self.pinned_store(code, step) {
                self.emit_code(code, &allocated[emitted..at]);
                self.copy_vector(to, from);
                computed.push(memory);
                emitted = at + 1;
            }
        }
        self.emit_code(code, &allocated[emitted..]);
        for &(memory, physical) in self.input.pinned {
            if !computed.contains(&memory) && !self.is_constant(memory, physical) {
                self.load_vector(physical, memory);
            }
        }
    }

    /// Whether a pinned register is loaded once for all rows.
    fn is_constant(&self, memory: Memory, physical: u8) -> bool {
        !matches!(memory, Memory::Frame(_)) && !self.is_used_before_rows(physical)
    }

    /// Matches a store of an invariant that is pinned for the steps. Returns its memory, the pinned register
    /// and the stored register: a copy replaces the store, unless row code needs the pinned register or the
    /// memory.
    fn pinned_store(
        &self,
        code: &X86Code<S>,
        step: &AllocatedInstruction,
    ) -> Option<(Memory, u8, u8)> {
        let AllocatedInstruction::Instruction {
            index,
            sources: [AllocatedOperand::Register(from), ..],
            ..
        } = *step
        else {
            return None;
        };
        let memory = code.instructions[index].destination?;
        let &(_, to) = self.input.pinned.iter().find(|(pinned, _)| *pinned == memory)?;
        let is_read = self.input.row.1.iter().any(|step| reads(step, memory));
        (!is_read && !self.is_used_before_rows(to)).then_some((memory, to, from))
    }

    /// Whether the code before a row uses a register. A call uses every register.
    fn is_used_before_rows(&self, physical: u8) -> bool {
        let (code, allocated) = self.input.row;
        let is_used = |step: &AllocatedInstruction| match *step {
            AllocatedInstruction::Load { to, .. } => to == physical,
            AllocatedInstruction::Store { from, .. } => from == physical,
            AllocatedInstruction::Copy { to, from } => to == physical || from == physical,
            AllocatedInstruction::Instruction { result, sources, .. } => {
                result == Some(physical) || sources.contains(&AllocatedOperand::Register(physical))
            }
        };
        code.has_calls() || allocated.iter().any(is_used)
    }
}

/// Whether an instruction reads this memory.
fn reads(step: &AllocatedInstruction, memory: Memory) -> bool {
    match *step {
        AllocatedInstruction::Load { from, .. } => from == memory,
        AllocatedInstruction::Instruction { sources, .. } => {
            sources.contains(&AllocatedOperand::Memory(memory))
        }
        AllocatedInstruction::Store { .. } | AllocatedInstruction::Copy { .. } => false,
    }
}
