//! Machine instructions over as many vector registers as they like, and where their operands are in memory.

use core::ops::Range;

use indim_codegen::{LaneType, Primitive, Value};

/// What registers hold: each class has registers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// Lanes.
    Vector,
    /// A bit for each lane.
    #[allow(dead_code, reason = "AVX-512 has such registers")]
    Mask,
}

/// An instruction of a target over its vector registers.
pub(crate) trait Opcode: Copy {
    /// The vector registers of the target.
    const REGISTERS: usize;
    /// The registers of masks; their numbers come after those of the vector registers.
    const MASK_REGISTERS: usize = 0;
    /// The bytes of one of them.
    const REGISTER_BYTES: u32;
    /// How many registers an instruction may take for what is in none yet.
    const MAX_LOADED: usize;
    /// Whether code joins the lanes of a unit that folds.
    const JOINS_LANES: bool;

    /// Which of its sources may be in memory.
    fn memory_source(self) -> Option<usize>;

    /// Whether that source may be what lies there.
    fn may_read(self, _memory: Memory) -> bool {
        true
    }

    /// In which register its result may be.
    fn result(self) -> ResultRegister;

    /// What its result is.
    fn result_class(self) -> Class {
        Class::Vector
    }

    /// The numbers of the registers of a class.
    fn numbers(class: Class) -> Range<usize> {
        match class {
            Class::Vector => 0..Self::REGISTERS,
            Class::Mask => Self::REGISTERS..Self::REGISTERS + Self::MASK_REGISTERS,
        }
    }
}

/// In which register a result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultRegister {
    /// In any, also in that of a source that is used for the last time.
    Any,
    /// In that of the first source, which it replaces.
    #[allow(dead_code, reason = "instructions of NEON do so")]
    First,
    /// In that of the first source or of the second, which may be interchanged.
    #[allow(dead_code, reason = "instructions of x86-64 do so")]
    FirstOrSecond,
    /// In none of the sources'.
    Apart,
}

/// A vector register, of which there are as many as are needed: `allocate.rs` finds a real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Register(pub(crate) u32);

impl Register {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Memory {
    /// A constant that is the same in all lanes: which one.
    Pool(u32),
    /// A constant with lanes of its own: which one.
    #[allow(dead_code, reason = "instructions of AVX-512 have such operands")]
    Lanes(u32),
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
    /// A register that holds accumulators from step to step: some of the lanes of an output.
    Accumulator {
        /// Which output.
        output: u32,
        /// Which of the registers that its lanes take.
        part: u32,
        /// Which of the copies of the code that a step consists of.
        copy: u32,
    },
}

impl Memory {
    /// The same for the lanes of a later copy of the code, of so many lanes each.
    fn of_copy(self, copy: u32, lanes: u32) -> Memory {
        match self {
            Memory::Step { operand, element_bytes, displacement } => {
                let displacement = displacement + copy * lanes * element_bytes;
                Memory::Step { operand, element_bytes, displacement }
            }
            Memory::Accumulator { output, part, .. } => Memory::Accumulator { output, part, copy },
            same => same,
        }
    }

    /// Whether it is the same for all copies of the code.
    fn is_shared(self) -> bool {
        !matches!(self, Memory::Step { .. } | Memory::Accumulator { .. })
    }
}

/// What an instruction reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    None,
    Register(Register),
    Memory(Memory),
}

/// What an instruction does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action<O> {
    /// An instruction over vector registers.
    Vector(O),
    /// A primitive out of line, on lanes in the frame. Nothing stays in registers.
    Call(Call),
}

/// A call of a function for one primitive; lanes lie in the frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) primitive: Primitive,
    pub(crate) operand: LaneType,
    pub(crate) result: LaneType,
    /// Where the result's lanes go: bytes from the first one of the frame.
    pub(crate) to: u32,
    /// Where the operands' lanes are.
    pub(crate) from: [u32; 3],
}

/// A machine instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MachineInstruction<O> {
    pub(crate) action: Action<O>,
    /// Whether it is over whole registers, else over their lower halves.
    pub(crate) is_wide: bool,
    pub(crate) immediate: Option<u8>,
    /// What it makes.
    pub(crate) result: Option<Register>,
    /// Where it writes to instead.
    pub(crate) target: Option<Memory>,
    pub(crate) sources: [Source; 3],
    /// For which value.
    pub(crate) value: Value,
}

impl<O: Opcode> MachineInstruction<O> {
    /// Whether the source at a position may be what lies in memory there.
    pub(crate) fn may_read(&self, position: usize, memory: Memory) -> bool {
        match self.action {
            Action::Vector(opcode) => {
                opcode.memory_source() == Some(position) && opcode.may_read(memory)
            }
            Action::Call(_) => false,
        }
    }

    /// The registers that it reads.
    pub(crate) fn registers(&self) -> impl Iterator<Item = Register> + use<O> {
        self.sources.into_iter().filter_map(|source| match source {
            Source::Register(register) => Some(register),
            _ => None,
        })
    }
}

/// Straight-line machine code.
#[derive(Debug)]
pub(crate) struct MachineCode<O> {
    pub(crate) instructions: Vec<MachineInstruction<O>>,
    /// For each register where its value can be read from at any time, if it can.
    pub(crate) homes: Vec<Option<Memory>>,
    /// What each register holds.
    pub(crate) classes: Vec<Class>,
}

impl<O> Default for MachineCode<O> {
    fn default() -> Self {
        MachineCode { instructions: Vec::new(), homes: Vec::new(), classes: Vec::new() }
    }
}

impl<O: Copy> MachineCode<O> {
    /// The code so many times, for as many times the lanes, of which it computes so many.
    pub(crate) fn repeated(&self, copies: u32, lanes: u32) -> MachineCode<O> {
        let mut all = MachineCode::default();
        let mut shared = vec![None; self.homes.len()];
        for copy in 0..copies {
            let register = |index: usize| match self.homes[index] {
                Some(memory) if memory.is_shared() => {
                    let class = self.classes[index];
                    *shared[index].get_or_insert_with(|| all.register_of(memory, class))
                }
                Some(memory) => all.register_of(memory.of_copy(copy, lanes), self.classes[index]),
                None => all.register(self.classes[index]),
            };
            let registers: Vec<Register> = (0..self.homes.len()).map(register).collect();
            let copied = self.instructions.iter().map(|instruction| MachineInstruction {
                result: instruction.result.map(|result| registers[result.index()]),
                target: instruction.target.map(|memory| memory.of_copy(copy, lanes)),
                sources: instruction.sources.map(|source| match source {
                    Source::Register(register) => Source::Register(registers[register.index()]),
                    Source::Memory(memory) => Source::Memory(memory.of_copy(copy, lanes)),
                    Source::None => Source::None,
                }),
                ..*instruction
            });
            all.instructions.extend(copied);
        }
        all
    }
}

impl<O> MachineCode<O> {
    /// Whether it calls functions, which keep no vector register.
    pub(crate) fn has_calls(&self) -> bool {
        self.instructions.iter().any(|instruction| matches!(instruction.action, Action::Call(_)))
    }

    /// A register that an instruction is to fill.
    pub(crate) fn register(&mut self, class: Class) -> Register {
        self.push(None, class)
    }

    /// A register with what lies in memory.
    pub(crate) fn register_of(&mut self, memory: Memory, class: Class) -> Register {
        self.push(Some(memory), class)
    }

    fn push(&mut self, home: Option<Memory>, class: Class) -> Register {
        self.homes.push(home);
        self.classes.push(class);
        Register(self.homes.len() as u32 - 1)
    }
}
