//! Machine instructions over as many vector registers as they like, and where their operands are in memory.

use super::opcode::Opcode;
use indim_codegen::{LaneType, Primitive, Value};

/// A vector register, of which there are as many as are needed: `allocate.rs` finds a real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Register(pub(super) u32);

impl Register {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The bytes of a register.
pub(super) const REGISTER_BYTES: u32 = 32;

/// A place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// A constant: which 32 bytes.
    Pool(u32),
    /// In the frame of the function: how many bytes from its first one.
    Frame(u32),
    /// Elements of an operand from those of this step on.
    Step {
        /// Which operand of the function.
        operand: u32,
        /// The bytes of an element.
        element_bytes: u32,
        /// How many bytes behind the first element of the step.
        displacement: u32,
    },
    /// The one element of an operand in this row, and so many bytes behind its first.
    Row { operand: u32, displacement: u32 },
    /// A table, of which the entries named by a register are taken.
    Table(u32),
}

/// What an instruction reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    None,
    Register(Register),
    Memory(Memory),
}

/// What an instruction does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// An instruction over vector registers.
    Vector(Opcode),
    /// All bits set.
    Ones,
    /// A primitive out of line, on lanes in the frame. Nothing stays in registers.
    Call(Call),
}

/// A call of a function for one primitive; lanes lie in the frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) primitive: Primitive,
    pub(super) operand: LaneType,
    pub(super) result: LaneType,
    /// Where the result's lanes go: bytes from the first one of the frame.
    pub(super) to: u32,
    /// Where the operands' lanes are.
    pub(super) from: [u32; 3],
}

/// A machine instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct MachineInstruction {
    pub(super) action: Action,
    /// Whether it is over 256 bits, else over 128.
    pub(super) is_wide: bool,
    pub(super) immediate: Option<u8>,
    /// What it makes.
    pub(super) result: Option<Register>,
    /// Where it writes to instead.
    pub(super) target: Option<Memory>,
    pub(super) sources: [Source; 3],
    /// For which value.
    pub(super) value: Value,
}

impl MachineInstruction {
    /// Which source may be in memory.
    pub(super) fn memory_source(&self) -> Option<usize> {
        match self.action {
            Action::Vector(opcode) => opcode.memory.map(usize::from),
            _ => None,
        }
    }
}

/// Straight-line machine code.
#[derive(Debug, Default)]
pub(super) struct MachineCode {
    pub(super) instructions: Vec<MachineInstruction>,
    /// For each register where its value can be read from at any time, if it can.
    pub(super) homes: Vec<Option<Memory>>,
}

impl MachineCode {
    /// Whether it calls functions, which keep no vector register.
    pub(super) fn has_calls(&self) -> bool {
        self.instructions.iter().any(|instruction| matches!(instruction.action, Action::Call(_)))
    }

    /// A register that an instruction is to fill.
    pub(super) fn register(&mut self) -> Register {
        self.homes.push(None);
        Register(self.homes.len() as u32 - 1)
    }

    /// A register with what lies in memory.
    pub(super) fn register_of(&mut self, memory: Memory) -> Register {
        self.homes.push(Some(memory));
        Register(self.homes.len() as u32 - 1)
    }
}
