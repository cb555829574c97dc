//! Machine instructions over virtual registers, before register allocation, and their memory operands.

use core::ops::Range;

use crate::{LaneType, Primitive, SsaValue};

/// Register class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Vector registers.
    Vector,
    /// Mask registers with a bit per lane.
    Mask,
}

/// An instruction of a target over vector or mask registers, without its registers.
pub trait MachineOpcode: Copy {
    /// Number of vector registers.
    const REGISTERS: usize;
    /// Number of allocatable mask registers. Their numbers follow those of the vector registers.
    const MASK_REGISTERS: usize = 0;
    /// Bytes of a vector register.
    const REGISTER_BYTES: u32;
    /// Maximum number of registers that one instruction needs in addition to those of its operands and
    /// result: for constants that it must load, and for a copy of a source that the result overwrites.
    const MAX_EXTRA_REGISTERS: usize;
    /// Whether the encoder can combine the 32 lanes of each accumulated sum or product at the end of a unit
    /// (`compile_fold.rs`).
    const CAN_REDUCE_LANES: bool;

    /// Position of the source that may be a memory operand.
    fn memory_source(self) -> Option<usize>;

    /// Whether `memory` is a valid operand at the position [`MachineOpcode::memory_source`].
    fn may_read(self, _memory: Memory) -> bool {
        true
    }

    /// Constraint on the register of the result.
    fn result(self) -> ResultConstraint;

    /// Register class of the result.
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

/// Constraint on the register of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultConstraint {
    /// Any register, also that of a source that is not used later.
    Any,
    /// The register of the first source, which the instruction overwrites.
    TiedToFirst,
    /// The register of the first or second source; these two commute.
    TiedToEither,
    /// A register other than those of all sources.
    EarlyClobber,
}

/// A virtual register; `allocate.rs` assigns a physical register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register(pub u32);

impl Register {
    /// The register's number, as an index of lists.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A memory operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Memory {
    /// A constant with equal lanes, by index.
    Splat(u32),
    /// A constant with different lanes, by index.
    LaneConstant(u32),
    /// A slot in the stack frame, by byte offset.
    Frame(u32),
    /// Elements of a dense or interleaved operand in the current step.
    Step {
        /// Index of the operand, outputs first.
        operand: u32,
        /// Distance between elements in bytes: the size of an element, or of a record if the operand is
        /// interleaved.
        element_stride: u32,
        /// Byte offset from the first element of the step.
        displacement: u32,
    },
    /// The one element of an operand in the current row or, if the element is complex, the component at this
    /// byte offset.
    Row {
        /// Index of the operand, outputs first.
        operand: u32,
        /// Byte offset of the component.
        displacement: u32,
    },
    /// A lookup table, by index.
    Table(u32),
    /// Accumulators of an output: not memory, but a register that lives across steps.
    Accumulator {
        /// Index of the output.
        output: u32,
        /// Index of the register in the register group of one copy.
        group_index: u32,
        /// Index of the unrolled copy of the code.
        copy: u32,
    },
}

impl Memory {
    /// The operand in unrolled copy number `copy` of code for `lanes` lanes.
    fn for_copy(self, copy: u32, lanes: u32) -> Memory {
        match self {
            Memory::Step { operand, element_stride, displacement } => {
                let displacement = displacement + copy * lanes * element_stride;
                Memory::Step { operand, element_stride, displacement }
            }
            Memory::Accumulator { output, group_index, .. } => {
                Memory::Accumulator { output, group_index, copy }
            }
            same => same,
        }
    }

    /// Whether all copies of the code have the same operand.
    fn is_shared(self) -> bool {
        !matches!(self, Memory::Step { .. } | Memory::Accumulator { .. })
    }
}

/// A source operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceOperand {
    /// No operand at this position.
    None,
    /// A virtual register.
    Register(Register),
    /// A memory operand.
    Memory(Memory),
}

/// The operation of an instruction.
#[derive(Debug, Clone, Copy)]
pub enum Action<O> {
    /// An instruction over vector or mask registers.
    Vector(O),
    /// A call of the function for a primitive. It preserves no vector register.
    Call(OutOfLineCall),
    /// A jump to the next [`Action::SkipEnd`] if no lane of the mask, its source, is set. The immediate is
    /// the size of a lane, in bytes.
    Skip,
    /// The end of the code that a skip jumps over. No register except the pinned ones (`allocate.rs`) holds
    /// a value there.
    SkipEnd,
}

/// A call of the function for a primitive, on lanes in the stack frame.
#[derive(Debug, Clone, Copy)]
pub struct OutOfLineCall {
    /// The primitive that the function computes.
    pub primitive: Primitive,
    /// Type of the last operand.
    pub operand: LaneType,
    /// Type of the result.
    pub result: LaneType,
    /// Byte offset of the result's lanes in the frame.
    pub to: u32,
    /// Byte offsets of the operands' lanes in the frame.
    pub from: [u32; 3],
}

/// A machine instruction over virtual registers.
#[derive(Debug, Clone, Copy)]
pub struct MachineInstruction<O> {
    /// The operation.
    pub action: Action<O>,
    /// Whether the instruction operates on whole registers instead of their lower halves.
    pub is_wide: bool,
    /// The immediate operand.
    pub immediate: Option<u8>,
    /// The register of the result.
    pub result: Option<Register>,
    /// The memory that a store writes.
    pub destination: Option<Memory>,
    /// Source operands.
    pub sources: [SourceOperand; 3],
    /// The value of the body that the instruction helps to compute or stores.
    pub value: SsaValue,
}

impl<O: MachineOpcode> MachineInstruction<O> {
    /// Whether the source at `position` may be the memory operand `memory`.
    pub(crate) fn may_read(&self, position: usize, memory: Memory) -> bool {
        match self.action {
            Action::Vector(opcode) => {
                opcode.memory_source() == Some(position) && opcode.may_read(memory)
            }
            Action::Call(_) | Action::Skip | Action::SkipEnd => false,
        }
    }

    /// The registers that the instruction reads.
    pub fn registers(&self) -> impl Iterator<Item = Register> + use<O> {
        self.sources.into_iter().filter_map(|source| match source {
            SourceOperand::Register(register) => Some(register),
            _ => None,
        })
    }
}

/// Straight-line code over virtual registers.
#[derive(Debug)]
pub struct VirtualCode<O> {
    /// The instructions, in order.
    pub instructions: Vec<MachineInstruction<O>>,
    /// Home of each register: memory that always holds its value; `None` if it has none.
    pub(crate) homes: Vec<Option<Memory>>,
    /// Class of each register.
    pub classes: Vec<Class>,
}

impl<O> Default for VirtualCode<O> {
    fn default() -> Self {
        VirtualCode { instructions: Vec::new(), homes: Vec::new(), classes: Vec::new() }
    }
}

impl<O: Copy> VirtualCode<O> {
    /// Unrolls the code: `copies` copies of `lanes` lanes each.
    pub(crate) fn unrolled(&self, copies: u32, lanes: u32) -> VirtualCode<O> {
        let mut all = VirtualCode::default();
        let mut shared = vec![None; self.homes.len()];
        for copy in 0..copies {
            let register = |index: usize| match self.homes[index] {
                Some(memory) if memory.is_shared() => {
                    let class = self.classes[index];
                    *shared[index].get_or_insert_with(|| all.register_with_home(memory, class))
                }
                Some(memory) => {
                    all.register_with_home(memory.for_copy(copy, lanes), self.classes[index])
                }
                None => all.register(self.classes[index]),
            };
            let registers: Vec<Register> = (0..self.homes.len()).map(register).collect();
            let copied = self.instructions.iter().map(|instruction| MachineInstruction {
                result: instruction.result.map(|result| registers[result.index()]),
                destination: instruction.destination.map(|memory| memory.for_copy(copy, lanes)),
                sources: instruction.sources.map(|source| match source {
                    SourceOperand::Register(register) => {
                        SourceOperand::Register(registers[register.index()])
                    }
                    SourceOperand::Memory(memory) => {
                        SourceOperand::Memory(memory.for_copy(copy, lanes))
                    }
                    SourceOperand::None => SourceOperand::None,
                }),
                ..*instruction
            });
            all.instructions.extend(copied);
        }
        all
    }
}

impl<O> VirtualCode<O> {
    /// Whether the code contains calls, which preserve no vector register.
    pub fn has_calls(&self) -> bool {
        self.instructions.iter().any(|instruction| matches!(instruction.action, Action::Call(_)))
    }

    /// Adds a virtual register without a home.
    pub fn register(&mut self, class: Class) -> Register {
        self.push(None, class)
    }

    /// Adds a virtual register with a home.
    pub(crate) fn register_with_home(&mut self, memory: Memory, class: Class) -> Register {
        self.push(Some(memory), class)
    }

    fn push(&mut self, home: Option<Memory>, class: Class) -> Register {
        self.homes.push(home);
        self.classes.push(class);
        Register(self.homes.len() as u32 - 1)
    }
}
