//! The assembler: encodes instructions by `iced-x86`, resolves jumps, and feeds the listing.

use std::borrow::Cow;

use iced_x86::{Code, Encoder, Instruction, OpKind, Register};

use super::intel_syntax::write_instruction;
use indim_codegen::listing::CodeListing;

/// A memory address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    pub(super) base: Register,
    /// Index register and scale.
    pub(super) index: Option<(Register, u32)>,
    /// Byte offset from the base; with base `RIP`, the absolute address.
    pub(super) displacement: i64,
}

impl Address {
    /// A byte offset from a base register.
    pub(super) fn new(base: Register, displacement: i64) -> Address {
        Address { base, index: None, displacement }
    }

    /// An absolute address, encoded relative to the instruction pointer.
    pub(super) fn of(address: u64) -> Address {
        Address::new(Register::RIP, address as i64)
    }
}

/// An operand of an instruction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand {
    Register(Register),
    Memory(Address),
    Immediate8(u8),
    Immediate32(i32),
    Immediate64(u64),
}

/// Write mask and broadcast of an instruction of AVX-512.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Masking {
    /// The mask register; `None` writes all lanes.
    pub(super) mask: Option<Register>,
    /// Whether unselected lanes become 0 instead of keeping their values.
    pub(super) zeroing: bool,
    /// Number of lanes to which the memory operand is broadcast; 0 for none.
    pub(super) broadcast_lanes: u32,
}

/// A forward jump whose target is not known yet.
pub(super) struct Jump {
    /// Offset of the displacement in the code.
    at: usize,
    /// Label of the target in the listing.
    label: Cow<'static, str>,
}

/// Code under construction.
pub(super) struct Assembler<'a> {
    encoder: Encoder,
    /// Address of the next instruction.
    address: u64,
    /// Bytes of code so far.
    length: usize,
    pub(super) listing: Option<CodeListing<'a>>,
    /// The text of the constant at an address, for the listing.
    describe: &'a dyn Fn(u64) -> String,
}

impl<'a> Assembler<'a> {
    /// An assembler for code at `address`.
    pub(super) fn new(
        address: u64,
        listing: Option<CodeListing<'a>>,
        describe: &'a dyn Fn(u64) -> String,
    ) -> Assembler<'a> {
        Assembler { encoder: Encoder::new(64), address, length: 0, listing, describe }
    }

    /// The bytes of the code.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.encoder.take_buffer()
    }

    /// The address of the next instruction.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Appends an instruction.
    pub(super) fn emit(&mut self, code: Code, operands: &[Operand]) {
        self.emit_masked(code, operands, Masking::default());
    }

    /// Appends an instruction with a write mask or broadcast.
    pub(super) fn emit_masked(&mut self, code: Code, operands: &[Operand], masking: Masking) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        for (position, &operand) in (0..).zip(operands) {
            set_operand(&mut instruction, position, operand);
        }
        if let Some(mask) = masking.mask {
            instruction.set_op_mask(mask);
            instruction.set_zeroing_masking(masking.zeroing);
        }
        instruction.set_is_broadcast(masking.broadcast_lanes > 0);
        self.encode(&instruction, "", masking.broadcast_lanes);
    }

    /// Appends an instruction on two registers.
    pub(super) fn registers(&mut self, code: Code, to: Register, from: Register) {
        self.emit(code, &[Operand::Register(to), Operand::Register(from)]);
    }

    /// Appends a jump to a known address.
    pub(super) fn jump(&mut self, code: Code, target: u64, label: &str) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        instruction.set_op_kind(0, OpKind::NearBranch64);
        instruction.set_near_branch64(target);
        self.encode(&instruction, label, 0);
    }

    /// Appends a forward jump with a displacement of four bytes; [`Assembler::bind`] sets its target.
    pub(super) fn jump_forward(&mut self, code: Code, label: impl Into<Cow<'static, str>>) -> Jump {
        let label = label.into();
        self.jump(code, self.address, &label);
        Jump { at: self.length - 4, label }
    }

    /// Sets the target of a forward jump to the next instruction.
    pub(super) fn bind(&mut self, jump: Jump) {
        self.label(&jump.label);
        let distance = (self.length - jump.at - 4) as u32;
        let mut buffer = self.encoder.take_buffer();
        buffer[jump.at..jump.at + 4].copy_from_slice(&distance.to_le_bytes());
        self.encoder.set_buffer(buffer);
    }

    /// Labels the next instruction in the listing.
    pub(super) fn label(&mut self, label: &str) {
        if let Some(listing) = &mut self.listing {
            listing.label(label);
        }
    }

    fn encode(&mut self, instruction: &Instruction, label: &str, times: u32) {
        if let Some(listing) = &mut self.listing {
            write_instruction(listing.text, instruction, label, times, self.describe);
        }
        let length = self.encoder.encode(instruction, self.address);
        // Prints the mnemonic, not the code: the names of all codes would take 2 % of the command's size.
        let length = length.unwrap_or_else(|error| {
            unreachable!("invariant: {error} of {:?}", instruction.mnemonic())
        });
        self.address += length as u64;
        self.length += length;
    }
}

fn set_operand(instruction: &mut Instruction, position: u32, operand: Operand) {
    match operand {
        Operand::Register(register) => {
            instruction.set_op_kind(position, OpKind::Register);
            instruction.set_op_register(position, register);
        }
        Operand::Memory(Address { base, index, displacement }) => {
            instruction.set_op_kind(position, OpKind::Memory);
            instruction.set_memory_base(base);
            instruction.set_memory_displacement64(displacement as u64);
            instruction.set_memory_displ_size(1);
            if let Some((index, scale)) = index {
                instruction.set_memory_index(index);
                instruction.set_memory_index_scale(scale);
            }
        }
        Operand::Immediate8(value) => {
            instruction.set_op_kind(position, OpKind::Immediate8);
            instruction.set_immediate8(value);
        }
        Operand::Immediate32(value) => {
            instruction.set_op_kind(position, OpKind::Immediate32to64);
            instruction.set_immediate32to64(value.into());
        }
        Operand::Immediate64(value) => {
            instruction.set_op_kind(position, OpKind::Immediate64);
            instruction.set_immediate64(value);
        }
    }
}
