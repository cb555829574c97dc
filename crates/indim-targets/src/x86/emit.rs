//! The encoder: emits the prologue, the loops over rows and steps around allocated code, and the epilogue.
//!
//! Arguments of the function, by the System V calling convention on every system: the array of operand
//! addresses, which the code advances from row to row; the array of row strides in bytes; the number of rows;
//! the elements of a row; and the index of the first element of a row's second step.
//!
//! - `fold.rs`: the loops of bodies that fold, over units, strips of columns, and rows;
//! - `moves.rs`: loads, stores and copies of vector registers;
//! - `node.rs`: combination of the lanes of one result into one accumulator, a node of the summation tree;
//! - `row.rs`: the code before a row, and registers that stay loaded during the row;
//! - `tail.rs`: masked tails.

mod fold;
mod moves;
mod node;
mod row;
mod tail;

pub(super) use fold::MAX_OPERANDS;
use iced_x86::{Code, Register as Real};

use super::assembler::{Address, Assembler, Jump, Masking, Operand};
use super::instruction_set::X86InstructionSet;
use super::intel_syntax::name;
use super::opcode::Opcode;
use super::roles::{NEXT, ROLES, ROLES_WITH_CALLS, Roles};
use crate::allocate::{AllocatedInstruction, AllocatedOperand};
use crate::compile;
use crate::listing::Listing;
use crate::machine::{self, Action, Memory, OutOfLineCall, ResultConstraint};
use crate::out_of_line::lane_function;
use indim_codegen::Primitive;

type EncoderInput<'a, S> = compile::EncoderInput<'a, Opcode<S>>;
type VirtualCode<S> = machine::VirtualCode<Opcode<S>>;
type MachineInstruction<S> = machine::MachineInstruction<Opcode<S>>;

/// Address that the encoder assumes for the constant pool, which precedes the code. Any address does: the
/// code is position-independent, because it addresses the pool relative to the instruction pointer.
const BASE: u64 = 0x1_0000;

/// Number of words of 8 bytes in the frame, above the spilled vectors: the saved stack pointer, strides,
/// rows, three call operands, and two arguments.
const FRAME_WORDS: i32 = 8;

/// Alignment of the entry point, in bytes.
const CODE_ALIGNMENT: usize = 32;

/// Callee-saved registers, pushed in the prologue.
const SAVED: [Real; 6] = [Real::RBX, Real::RBP, Real::R12, Real::R13, Real::R14, Real::R15];

/// Encodes a function. Returns the bytes of constants, tables and code, and the offset of the entry point.
/// Appends a listing to `listing` if given.
pub(super) fn emit<S: X86InstructionSet>(
    parts: &EncoderInput<'_, S>,
    listing: Option<&mut String>,
) -> (Vec<u8>, usize) {
    let mut bytes = parts.pool.bytes(&parts.body.tables);
    bytes.resize(bytes.len().next_multiple_of(CODE_ALIGNMENT), 0);
    let entry = bytes.len();
    let has_calls = [parts.row.0, parts.step.0].iter().any(|code| code.has_calls());
    let listing = listing.map(|text| Listing::new(text, parts.body));
    let describe = |address: u64| parts.pool.describe(address.wrapping_sub(BASE));
    let mut emitter = Emitter {
        parts,
        assembler: Assembler::new(BASE + entry as u64, listing, &describe),
        roles: if has_calls { &ROLES_WITH_CALLS } else { &ROLES },
        tail_masks: tail::masks(parts),
        is_in_tail: false,
        skip: None,
        skips: 0,
    };
    emitter.list_header();
    match parts.body.folds() {
        true => emitter.fold_function(),
        false => emitter.function(),
    }
    bytes.append(&mut emitter.assembler.finish());
    (bytes, entry)
}

struct Emitter<'a, S> {
    parts: &'a EncoderInput<'a, S>,
    assembler: Assembler<'a>,
    roles: &'static Roles,
    /// Masks of the tail's loads and stores; each has a word in the frame.
    tail_masks: Vec<tail::TailMask>,
    /// Whether the current code is the tail.
    is_in_tail: bool,
    /// The jump over the current region, and the number of such jumps so far, which names their labels.
    skip: Option<Jump>,
    skips: usize,
}

impl<S: X86InstructionSet> Emitter<'_, S> {
    fn function(&mut self) {
        for register in SAVED {
            self.assembler.emit(Code::Push_r64, &[Operand::Register(register)]);
        }
        self.enter();
        let pointers = self.roles.pointers;
        for (operand, &pointer) in pointers.iter().enumerate().take(self.parts.operands) {
            self.load(pointer, self.operand_place(operand));
        }
        let has_row_code = !self.parts.row.0.instructions.is_empty();
        self.load_constants();
        let row = self.assembler.address();
        self.assembler.label("row");
        self.row(has_row_code);
        let [_, strides, rows] = self.saved_places();
        self.assembler.emit(Code::Dec_rm64, &[Operand::Memory(rows)]);
        let end = self.assembler.jump_ahead(Code::Je_rel32_64, "end");
        self.load(self.roles.scratch, strides);
        for (operand, &pointer) in pointers.iter().enumerate().take(self.parts.operands) {
            let stride = Operand::Memory(Address::new(self.roles.scratch, 8 * operand as i64));
            self.assembler.emit(Code::Add_r64_rm64, &[Operand::Register(pointer), stride]);
        }
        self.move_operands(pointers.len());
        self.assembler.jump(Code::Jmp_rel32_64, row, "row");
        self.assembler.arrive(end);
        self.leave();
    }

    /// Epilogue: restores the stack pointer and callee-saved registers, and returns.
    fn leave(&mut self) {
        let [stack, ..] = self.saved_places();
        self.assembler.emit(Code::VEX_Vzeroupper, &[]);
        self.load(Real::RSP, stack);
        for register in SAVED.into_iter().rev() {
            self.assembler.emit(Code::Pop_r64, &[Operand::Register(register)]);
        }
        self.assembler.emit(Code::Retnq, &[]);
    }

    /// Prologue: allocates the aligned frame and saves arguments there.
    fn enter(&mut self) {
        self.assembler.registers(Code::Mov_r64_rm64, Real::RAX, Real::RSP);
        let words = FRAME_WORDS + self.tail_masks.len() as i32;
        let frame = self.parts.frame.bytes() as i32 + words * 8;
        self.immediate(Code::Sub_rm64_imm32, Real::RSP, frame);
        self.immediate(Code::And_rm64_imm32, Real::RSP, -(S::REGISTER_BYTES as i32));
        let [stack, strides, rows] = self.saved_places();
        self.store(stack, Real::RAX);
        self.store(strides, Real::RSI);
        self.store(rows, Real::RDX);
        if self.parts.is_aligned {
            self.store(self.second_place(), Real::R8);
        }
        self.prepare_tail();
        let lanes = self.parts.lanes as i64;
        self.address_of(self.roles.limit, Address::new(Real::RCX, -lanes));
        if self.roles.operands != Real::RDI {
            self.assembler.registers(Code::Mov_r64_rm64, self.roles.operands, Real::RDI);
        }
    }

    /// One row: its row code if it has any, then the loop over steps, then the tail.
    fn row(&mut self, has_row_code: bool) {
        if has_row_code {
            self.begin_row();
        }
        let Roles { index, limit, scratch, .. } = *self.roles;
        self.assembler.registers(Code::Xor_r64_rm64, index, index);
        if self.parts.is_aligned {
            self.load(NEXT, self.second_place());
        }
        // With masked tails, a row may be shorter than a step.
        let short = self.parts.tail.map(|_| {
            self.assembler.registers(Code::Cmp_r64_rm64, index, limit);
            self.assembler.jump_ahead(Code::Jg_rel32_64, "tail")
        });
        self.assembler.label("step");
        let step = self.assembler.address();
        let (code, steps) = self.parts.step;
        self.steps(code, steps);
        let lanes = self.parts.lanes as i32;
        match self.parts.is_aligned {
            true => {
                self.assembler.registers(Code::Mov_r64_rm64, index, NEXT);
                self.immediate(Code::Add_rm64_imm32, NEXT, lanes);
            }
            false => self.immediate(Code::Add_rm64_imm32, index, lanes),
        }
        self.assembler.registers(Code::Cmp_r64_rm64, index, limit);
        self.assembler.jump(Code::Jle_rel32_64, step, "step");
        if let Some(short) = short {
            self.assembler.arrive(short);
        }
        self.address_of(scratch, Address::new(limit, lanes.into()));
        self.assembler.registers(Code::Cmp_r64_rm64, index, scratch);
        let done = self.assembler.jump_ahead(Code::Je_rel32_64, "done");
        match self.parts.tail {
            Some(steps) => self.tail(code, steps),
            // Without masks, the last step of the row overlaps the step before it.
            None => {
                self.assembler.registers(Code::Mov_r64_rm64, index, limit);
                if self.parts.is_aligned {
                    self.assembler.registers(Code::Mov_r64_rm64, NEXT, scratch);
                }
                self.assembler.jump(Code::Jmp_rel32_64, step, "step");
            }
        }
        self.assembler.arrive(done);
    }

    /// Advances the operands without pointer registers, those from `first` on, to the next row. The scratch
    /// register holds the address of the strides.
    fn move_operands(&mut self, first: usize) {
        for operand in first..self.parts.operands {
            self.load(Real::RAX, Address::new(self.roles.scratch, 8 * operand as i64));
            let place = Operand::Memory(self.operand_place(operand));
            self.assembler.emit(Code::Add_rm64_r64, &[place, Operand::Register(Real::RAX)]);
        }
    }

    /// Emits allocated code.
    fn steps(&mut self, code: &VirtualCode<S>, steps: &[AllocatedInstruction]) {
        for (at, step) in steps.iter().enumerate() {
            self.list_value(code, &steps[at..]);
            match *step {
                AllocatedInstruction::Load { to, from } => self.load_vector(to, from),
                AllocatedInstruction::Store { to, from } => self.store_vector(to, from),
                AllocatedInstruction::Copy { to, from } => self.copy_vector(to, from),
                AllocatedInstruction::Instruction { index, result, sources } => {
                    self.instruction(&code.instructions[index], result, sources);
                }
            }
        }
    }

    fn instruction(
        &mut self,
        machine: &MachineInstruction<S>,
        result: Option<u8>,
        sources: [AllocatedOperand; 3],
    ) {
        match (machine.action, result) {
            (Action::Call(call), _) => self.call(&call),
            (Action::Skip, _) => self.skip(machine, sources[0]),
            (Action::Join, _) => {
                if let Some(skip) = self.skip.take() {
                    self.assembler.arrive(skip);
                }
            }
            (Action::Vector(opcode), Some(result))
                if opcode.result == ResultConstraint::EarlyClobber =>
            {
                self.gather(opcode, machine, result, sources);
            }
            (Action::Vector(opcode), result) => self.vector(opcode, machine, result, sources),
        }
    }

    /// Emits an instruction over vector or mask registers. In a tail, accesses to elements are masked.
    fn vector(
        &mut self,
        opcode: Opcode<S>,
        machine: &MachineInstruction<S>,
        result: Option<u8>,
        sources: [AllocatedOperand; 3],
    ) {
        let mut operands = [Operand::Immediate8(machine.immediate.unwrap_or_default()); 5];
        let mut count = 0;
        let mut masking = Masking { zeroing: opcode.zeroing, ..Masking::default() };
        let bytes = width::<S>(machine.is_wide);
        let register = |position, real| real_register::<S>(real, opcode.bytes(position, bytes));
        if let Some(memory) = machine.target {
            operands[0] = Operand::Memory(self.address(memory));
            count = 1;
        } else if let Some(real) = result {
            operands[0] = Operand::Register(register(0, real));
            count = 1;
        }
        // A tied source has the register of the result, which is an operand already.
        let is_replaced =
            matches!(opcode.result, ResultConstraint::TiedToEither | ResultConstraint::TiedToFirst);
        for (position, source) in sources.into_iter().enumerate().skip(usize::from(is_replaced)) {
            operands[count] = match source {
                AllocatedOperand::None => continue,
                AllocatedOperand::Register(real) if opcode.mask == Some(position as u8) => {
                    masking.mask = Some(register(count, real));
                    continue;
                }
                AllocatedOperand::Register(real) => Operand::Register(register(count, real)),
                AllocatedOperand::Memory(memory) => {
                    if S::IS_EVEX && matches!(memory, Memory::Pool(_)) {
                        masking.broadcast_lanes = bytes / u32::from(opcode.broadcast_bytes);
                    }
                    Operand::Memory(self.address(memory))
                }
            };
            count += 1;
        }
        // The array was filled with the immediate, which is the last operand.
        count += usize::from(machine.immediate.is_some());
        let code = opcode.code[usize::from(machine.is_wide)];
        let code = match self.is_in_tail {
            true => self.tail_code(code, opcode.bytes(0, bytes), machine, &mut masking),
            false => code,
        };
        self.assembler.emit_masked(code, &operands[..count], masking);
    }

    /// Jumps to the end of a region if no lane of a mask is set.
    fn skip(&mut self, machine: &MachineInstruction<S>, mask: AllocatedOperand) {
        let AllocatedOperand::Register(mask) = mask else {
            unreachable!("invariant: the mask of a skip is in a register");
        };
        let bytes = width::<S>(machine.is_wide);
        let lane_bytes = u32::from(machine.immediate.unwrap_or(1));
        let code = match (usize::from(mask) < S::REGISTERS, bytes / lane_bytes) {
            (true, _) if bytes == 16 => Code::VEX_Vptest_xmm_xmmm128,
            (true, _) => Code::VEX_Vptest_ymm_ymmm256,
            (false, ..=8) => Code::VEX_Kortestb_kr_kr,
            (false, ..=16) => Code::VEX_Kortestw_kr_kr,
            (false, ..=32) => Code::VEX_Kortestd_kr_kr,
            (false, _) => Code::VEX_Kortestq_kr_kr,
        };
        let mask = real_register::<S>(mask, bytes);
        self.assembler.registers(code, mask, mask);
        self.skips += 1;
        let label = format!("skipped_{}", self.skips);
        self.skip = Some(self.assembler.jump_ahead(Code::Je_rel32_64, label));
    }

    /// Gathers entries of a table: the first source holds the indices, the second is a mask.
    fn gather(
        &mut self,
        opcode: Opcode<S>,
        machine: &MachineInstruction<S>,
        result: u8,
        sources: [AllocatedOperand; 3],
    ) {
        let [
            AllocatedOperand::Register(index),
            AllocatedOperand::Register(mask),
            AllocatedOperand::Memory(Memory::Table(table)),
        ] = sources
        else {
            unreachable!("invariant: sources of a gather are indices, mask and table");
        };
        let scratch = self.roles.scratch;
        self.address_of(scratch, self.table(table));
        let bytes = width::<S>(machine.is_wide);
        let [result, index, mask] =
            [result, index, mask].map(|real| real_register::<S>(real, bytes));
        let entries = Address { base: scratch, index: Some((index, 8)), displacement: 0 };
        let operands =
            [Operand::Register(result), Operand::Memory(entries), Operand::Register(mask)];
        let code = opcode.code[usize::from(machine.is_wide)];
        match opcode.mask {
            Some(_) => {
                let masking = Masking { mask: Some(mask), ..Masking::default() };
                self.assembler.emit_masked(code, &operands[..2], masking);
            }
            None => self.assembler.emit(code, &operands),
        }
    }

    fn table(&self, table: u32) -> Address {
        let at = self.parts.pool.table_at(&self.parts.body.tables, table as usize);
        Address::of(BASE + at as u64)
    }

    /// Calls the function for a primitive on lanes in the frame.
    fn call(&mut self, call: &OutOfLineCall) {
        let Some(function) = lane_function(call.primitive, call.operand, call.result) else {
            unreachable!("invariant: a primitive without an instruction has a function");
        };
        self.assembler.emit(Code::VEX_Vzeroupper, &[]);
        for (place, from) in self.call_operands().into_iter().zip(call.from) {
            self.address_of(Real::RAX, Address::new(Real::RSP, from.into()));
            self.store(place, Real::RAX);
        }
        self.address_of(Real::RDI, Address::new(Real::RSP, call.to.into()));
        self.address_of(Real::RSI, self.call_operands()[0]);
        let mut table_length = 0;
        if let Primitive::Lookup { table } = call.primitive {
            table_length = self.parts.body.tables[table as usize].len();
            self.address_of(Real::RDX, self.table(table));
        }
        self.constant(Real::RCX, table_length as u64);
        self.constant(Real::R8, self.parts.lanes as u64);
        self.constant(Real::RAX, function as usize as u64);
        self.assembler.emit(Code::Call_rm64, &[Operand::Register(Real::RAX)]);
    }

    /// The address of a memory operand. May emit code that computes it in a scratch register.
    fn address(&mut self, memory: Memory) -> Address {
        match memory {
            Memory::Pool(index) => Address::of(BASE + u64::from(index * S::CONSTANT_BYTES)),
            Memory::Lanes(index) => {
                Address::of(BASE + self.parts.pool.lanes_at(index as usize) as u64)
            }
            Memory::Frame(bytes) => Address::new(Real::RSP, bytes.into()),
            Memory::Row { operand, displacement } => {
                Address::new(self.pointer(operand), displacement.into())
            }
            Memory::Step { operand, element_bytes, displacement } => {
                let base = self.pointer(operand);
                let index = match element_bytes {
                    1 | 2 | 4 | 8 => (self.roles.index, element_bytes),
                    16 => (self.doubled_index(), 8),
                    bytes if bytes.is_multiple_of(8) => (self.multiplied_index(bytes / 8), 8),
                    bytes => (self.multiplied_index(bytes / 4), 4),
                };
                Address { base, index: Some(index), displacement: displacement.into() }
            }
            Memory::Table(table) => self.table(table),
            Memory::Accumulator { .. } => unreachable!("invariant: accumulators stay in registers"),
        }
    }

    /// Computes twice the index; returns its register.
    fn doubled_index(&mut self) -> Real {
        let Roles { index, twice, .. } = *self.roles;
        self.address_of(twice, Address { base: index, index: Some((index, 1)), displacement: 0 });
        twice
    }

    /// Computes a multiple of the index; returns its register.
    fn multiplied_index(&mut self, times: u32) -> Real {
        let Roles { index, twice, .. } = *self.roles;
        match times {
            3 | 5 => {
                let index =
                    Address { base: index, index: Some((index, times - 1)), displacement: 0 };
                self.address_of(twice, index);
            }
            _ => self.multiply(twice, index, times as i32),
        }
        twice
    }

    /// Multiplies a general register by a constant.
    fn multiply(&mut self, to: Real, from: Real, times: i32) {
        let operands =
            [Operand::Register(to), Operand::Register(from), Operand::Immediate32(times)];
        self.assembler.emit(Code::Imul_r64_rm64_imm32, &operands);
    }

    /// The register with the address of an operand in the current row; loads the address if the operand has
    /// no pointer register.
    fn pointer(&mut self, operand: u32) -> Real {
        // In bodies that fold, only inputs have pointer registers.
        let outputs = if self.parts.body.folds() { self.parts.body.outputs.len() } else { 0 };
        let operand = operand - outputs as u32;
        match self.roles.pointers.get(operand as usize) {
            Some(&pointer) => pointer,
            None => {
                self.load(self.roles.scratch, self.operand_place(operand as usize));
                self.roles.scratch
            }
        }
    }

    fn operand_place(&self, operand: usize) -> Address {
        Address::new(self.roles.operands, 8 * operand as i64)
    }

    /// Address of a word of the frame, above the vectors.
    fn frame_word(&self, word: i64) -> Address {
        Address::new(Real::RSP, i64::from(self.parts.frame.bytes()) + 8 * word)
    }

    /// Frame words of the stack pointer, the address of the strides, and the number of rows or units left.
    fn saved_places(&self) -> [Address; 3] {
        [0, 1, 2].map(|word| self.frame_word(word))
    }

    /// Frame word of the index of the second step's first element.
    fn second_place(&self) -> Address {
        self.frame_word(6)
    }

    /// Frame words of the operand addresses of a call.
    fn call_operands(&self) -> [Address; 3] {
        [3, 4, 5].map(|word| self.frame_word(word))
    }

    fn immediate(&mut self, code: Code, register: Real, value: i32) {
        self.assembler.emit(code, &[Operand::Register(register), Operand::Immediate32(value)]);
    }

    fn constant(&mut self, register: Real, value: u64) {
        let operands = [Operand::Register(register), Operand::Immediate64(value)];
        self.assembler.emit(Code::Mov_r64_imm64, &operands);
    }

    fn load(&mut self, register: Real, place: Address) {
        let operands = [Operand::Register(register), Operand::Memory(place)];
        self.assembler.emit(Code::Mov_r64_rm64, &operands);
    }

    fn store(&mut self, place: Address, register: Real) {
        let operands = [Operand::Memory(place), Operand::Register(register)];
        self.assembler.emit(Code::Mov_rm64_r64, &operands);
    }

    /// Computes an address in a register.
    fn address_of(&mut self, register: Real, place: Address) {
        let operands = [Operand::Register(register), Operand::Memory(place)];
        self.assembler.emit(Code::Lea_r64_m, &operands);
    }

    /// Lists the value that the next of these allocated instructions computes.
    fn list_value(&mut self, code: &VirtualCode<S>, steps: &[AllocatedInstruction]) {
        let Some(listing) = &mut self.assembler.listing else { return };
        listing.value_of(code, steps);
    }

    /// Lists the roles of registers, and the values without instructions.
    fn list_header(&mut self) {
        let Some(listing) = &mut self.assembler.listing else { return };
        let Roles { index, limit, operands, pointers, .. } = *self.roles;
        let pointers: Vec<String> = pointers.iter().copied().map(name).collect();
        listing.header(self.parts, &pointers, [operands, index, limit].map(name));
        let held = self.parts.accumulators.iter();
        listing.accumulators(
            held.map(|it| (it.output, name(real_register::<S>(it.real, S::REGISTER_BYTES)))),
        );
    }
}

/// Width of an instruction, in bytes.
fn width<S: X86InstructionSet>(is_wide: bool) -> u32 {
    if is_wide { S::REGISTER_BYTES } else { S::REGISTER_BYTES / 2 }
}

/// The machine register with a number of the allocator, of `bytes` bytes if it is a vector register.
fn real_register<S: X86InstructionSet>(real: u8, bytes: u32) -> Real {
    match usize::from(real).checked_sub(S::REGISTERS) {
        // K0 as a write mask means no mask, so it is not allocated.
        Some(mask) => Real::K1 + mask as u32,
        None => vector_register(real, bytes),
    }
}

/// The vector register with a number, of `bytes` bytes.
fn vector_register(real: u8, bytes: u32) -> Real {
    let first = match bytes {
        64 => Real::ZMM0,
        32 => Real::YMM0,
        _ => Real::XMM0,
    };
    first + u32::from(real)
}
