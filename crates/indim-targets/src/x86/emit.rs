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

pub(super) use fold::MAX_FOLD_INPUTS;
use iced_x86::{Code, Register as PhysicalRegister};

use super::assembler::{Address, Assembler, Jump, Masking, Operand};
use super::instruction_set::X86InstructionSet;
use super::intel_syntax::name;
use super::opcode::Opcode;
use super::roles::{NEXT_INDEX, ROLES, ROLES_WITH_CALLS, Roles};
use crate::out_of_line::lane_function;
use indim_codegen::Primitive;
use indim_codegen::allocate::{AllocatedInstruction, AllocatedOperand};
use indim_codegen::compile;
use indim_codegen::listing::CodeListing;
use indim_codegen::machine::{self, Action, Memory, OutOfLineCall, ResultConstraint};

type X86Input<'a, S> = compile::EncoderInput<'a, Opcode<S>>;
type X86Code<S> = machine::VirtualCode<Opcode<S>>;
type X86Instruction<S> = machine::MachineInstruction<Opcode<S>>;

/// Address that the encoder assumes for the constant pool, which precedes the code. Any address does: the
/// code is position-independent, because it addresses the pool relative to the instruction pointer.
const BASE: u64 = 0x1_0000;

/// Number of words of 8 bytes in the frame, above the spilled vectors: the saved stack pointer, strides,
/// rows, three call operands, and two arguments.
const FRAME_WORDS: i32 = 8;

/// Alignment of the entry point, in bytes.
const CODE_ALIGNMENT: usize = 32;

/// Callee-saved registers, pushed in the prologue.
const CALLEE_SAVED: [PhysicalRegister; 6] = [
    PhysicalRegister::RBX,
    PhysicalRegister::RBP,
    PhysicalRegister::R12,
    PhysicalRegister::R13,
    PhysicalRegister::R14,
    PhysicalRegister::R15,
];

/// Encodes a function. Returns the bytes of constants, tables and code, and the offset of the entry point.
/// Appends a listing to `listing` if given.
pub(super) fn emit<S: X86InstructionSet>(
    input: &X86Input<'_, S>,
    listing: Option<&mut String>,
) -> (Vec<u8>, usize) {
    let mut bytes = input.pool.bytes(&input.body.tables);
    bytes.resize(bytes.len().next_multiple_of(CODE_ALIGNMENT), 0);
    let entry = bytes.len();
    let has_calls = [input.row.0, input.step.0].iter().any(|code| code.has_calls());
    let listing = listing.map(|text| CodeListing::new(text, input.body));
    let describe = |address: u64| input.pool.describe(address.wrapping_sub(BASE));
    let mut emitter = Emitter {
        input,
        assembler: Assembler::new(BASE + entry as u64, listing, &describe),
        roles: if has_calls { &ROLES_WITH_CALLS } else { &ROLES },
        tail_masks: tail::masks(input),
        is_in_tail: false,
        skip_jump: None,
        skip_count: 0,
    };
    emitter.list_header();
    match input.body.folds() {
        true => emitter.emit_fold_function(),
        false => emitter.emit_function(),
    }
    bytes.append(&mut emitter.assembler.finish());
    (bytes, entry)
}

struct Emitter<'a, S> {
    input: &'a X86Input<'a, S>,
    assembler: Assembler<'a>,
    roles: &'static Roles,
    /// Masks of the tail's loads and stores; each has a word in the frame.
    tail_masks: Vec<tail::TailMask>,
    /// Whether the current code is the tail.
    is_in_tail: bool,
    /// The jump over the current guarded arm, and the number of such jumps so far, which names their labels.
    skip_jump: Option<Jump>,
    skip_count: usize,
}

impl<S: X86InstructionSet> Emitter<'_, S> {
    fn emit_function(&mut self) {
        for register in CALLEE_SAVED {
            self.assembler.emit(Code::Push_r64, &[Operand::Register(register)]);
        }
        self.emit_prologue();
        let pointers = self.roles.pointers;
        for (operand, &pointer) in pointers.iter().enumerate().take(self.input.operands) {
            self.load(pointer, self.operand_address(operand));
        }
        let has_row_code = !self.input.row.0.instructions.is_empty();
        self.load_constants();
        let row = self.assembler.address();
        self.assembler.label("row");
        self.emit_row(has_row_code);
        let [_, strides, rows] = self.saved_words();
        self.assembler.emit(Code::Dec_rm64, &[Operand::Memory(rows)]);
        let end = self.assembler.jump_forward(Code::Je_rel32_64, "end");
        self.load(self.roles.scratch, strides);
        for (operand, &pointer) in pointers.iter().enumerate().take(self.input.operands) {
            let stride = Operand::Memory(Address::new(self.roles.scratch, 8 * operand as i64));
            self.assembler.emit(Code::Add_r64_rm64, &[Operand::Register(pointer), stride]);
        }
        self.move_operands(pointers.len());
        self.assembler.jump(Code::Jmp_rel32_64, row, "row");
        self.assembler.bind(end);
        self.emit_epilogue();
    }

    /// Epilogue: restores the stack pointer and callee-saved registers, and returns.
    fn emit_epilogue(&mut self) {
        let [stack, ..] = self.saved_words();
        self.assembler.emit(Code::VEX_Vzeroupper, &[]);
        self.load(PhysicalRegister::RSP, stack);
        for register in CALLEE_SAVED.into_iter().rev() {
            self.assembler.emit(Code::Pop_r64, &[Operand::Register(register)]);
        }
        self.assembler.emit(Code::Retnq, &[]);
    }

    /// Prologue: allocates the aligned frame and saves arguments there.
    fn emit_prologue(&mut self) {
        self.assembler.registers(Code::Mov_r64_rm64, PhysicalRegister::RAX, PhysicalRegister::RSP);
        let words = FRAME_WORDS + self.tail_masks.len() as i32;
        let frame = self.input.frame.bytes() as i32 + words * 8;
        self.immediate(Code::Sub_rm64_imm32, PhysicalRegister::RSP, frame);
        self.immediate(Code::And_rm64_imm32, PhysicalRegister::RSP, -(S::REGISTER_BYTES as i32));
        let [stack, strides, rows] = self.saved_words();
        self.store(stack, PhysicalRegister::RAX);
        self.store(strides, PhysicalRegister::RSI);
        self.store(rows, PhysicalRegister::RDX);
        if self.input.is_aligned {
            self.store(self.second_step_word(), PhysicalRegister::R8);
        }
        self.prepare_tail();
        let lanes = self.input.lanes as i64;
        self.address_of(self.roles.limit, Address::new(PhysicalRegister::RCX, -lanes));
        if self.roles.operands != PhysicalRegister::RDI {
            self.assembler.registers(
                Code::Mov_r64_rm64,
                self.roles.operands,
                PhysicalRegister::RDI,
            );
        }
    }

    /// One row: its row code if it has any, then the loop over steps, then the tail.
    fn emit_row(&mut self, has_row_code: bool) {
        if has_row_code {
            self.begin_row();
        }
        let Roles { index, limit, scratch, .. } = *self.roles;
        self.assembler.registers(Code::Xor_r64_rm64, index, index);
        if self.input.is_aligned {
            self.load(NEXT_INDEX, self.second_step_word());
        }
        // With masked tails, a row may be shorter than a step.
        let short = self.input.tail.map(|_| {
            self.assembler.registers(Code::Cmp_r64_rm64, index, limit);
            self.assembler.jump_forward(Code::Jg_rel32_64, "tail")
        });
        self.assembler.label("step");
        let step = self.assembler.address();
        let (code, allocated) = self.input.step;
        self.emit_code(code, allocated);
        let lanes = self.input.lanes as i32;
        match self.input.is_aligned {
            true => {
                self.assembler.registers(Code::Mov_r64_rm64, index, NEXT_INDEX);
                self.immediate(Code::Add_rm64_imm32, NEXT_INDEX, lanes);
            }
            false => self.immediate(Code::Add_rm64_imm32, index, lanes),
        }
        self.assembler.registers(Code::Cmp_r64_rm64, index, limit);
        self.assembler.jump(Code::Jle_rel32_64, step, "step");
        if let Some(short) = short {
            self.assembler.bind(short);
        }
        self.address_of(scratch, Address::new(limit, lanes.into()));
        self.assembler.registers(Code::Cmp_r64_rm64, index, scratch);
        let done = self.assembler.jump_forward(Code::Je_rel32_64, "done");
        match self.input.tail {
            Some(allocated) => self.emit_tail(code, allocated),
            // Without masks, the last step of the row overlaps the step before it.
            None => {
                self.assembler.registers(Code::Mov_r64_rm64, index, limit);
                if self.input.is_aligned {
                    self.assembler.registers(Code::Mov_r64_rm64, NEXT_INDEX, scratch);
                }
                self.assembler.jump(Code::Jmp_rel32_64, step, "step");
            }
        }
        self.assembler.bind(done);
    }

    /// Advances the operands without pointer registers, those from `first` on, to the next row. The scratch
    /// register holds the address of the strides.
    fn move_operands(&mut self, first: usize) {
        for operand in first..self.input.operands {
            self.load(PhysicalRegister::RAX, Address::new(self.roles.scratch, 8 * operand as i64));
            let place = Operand::Memory(self.operand_address(operand));
            self.assembler
                .emit(Code::Add_rm64_r64, &[place, Operand::Register(PhysicalRegister::RAX)]);
        }
    }

    /// Emits allocated code.
    fn emit_code(&mut self, code: &X86Code<S>, allocated: &[AllocatedInstruction]) {
        for (at, step) in allocated.iter().enumerate() {
            self.list_value(code, &allocated[at..]);
            match *step {
                AllocatedInstruction::Load { to, from } => self.load_vector(to, from),
                AllocatedInstruction::Store { to, from } => self.store_vector(to, from),
                AllocatedInstruction::Copy { to, from } => self.copy_vector(to, from),
                AllocatedInstruction::Instruction { index, result, sources } => {
                    self.emit_instruction(&code.instructions[index], result, sources);
                }
            }
        }
    }

    fn emit_instruction(
        &mut self,
        machine: &X86Instruction<S>,
        result: Option<u8>,
        sources: [AllocatedOperand; 3],
    ) {
        match (machine.action, result) {
            (Action::Call(call), _) => self.emit_call(&call),
            (Action::Skip, _) => self.emit_skip(machine, sources[0]),
            (Action::SkipEnd, _) => {
                if let Some(skip) = self.skip_jump.take() {
                    self.assembler.bind(skip);
                }
            }
            (Action::Vector(opcode), Some(result))
                if opcode.result == ResultConstraint::EarlyClobber =>
            {
                self.emit_gather(opcode, machine, result, sources);
            }
            (Action::Vector(opcode), result) => self.emit_vector(opcode, machine, result, sources),
        }
    }

    /// Emits an instruction over vector or mask registers. In a tail, accesses to elements are masked.
    fn emit_vector(
        &mut self,
        opcode: Opcode<S>,
        machine: &X86Instruction<S>,
        result: Option<u8>,
        sources: [AllocatedOperand; 3],
    ) {
        let mut operands = [Operand::Immediate8(machine.immediate.unwrap_or_default()); 5];
        let mut count = 0;
        let mut masking = Masking { zeroing: opcode.zeroing, ..Masking::default() };
        let bytes = width::<S>(machine.is_wide);
        let register =
            |position, physical| physical_register::<S>(physical, opcode.bytes(position, bytes));
        if let Some(memory) = machine.destination {
            operands[0] = Operand::Memory(self.address(memory));
            count = 1;
        } else if let Some(physical) = result {
            operands[0] = Operand::Register(register(0, physical));
            count = 1;
        }
        // A tied source has the register of the result, which is an operand already.
        let is_replaced =
            matches!(opcode.result, ResultConstraint::TiedToEither | ResultConstraint::TiedToFirst);
        for (position, source) in sources.into_iter().enumerate().skip(usize::from(is_replaced)) {
            operands[count] = match source {
                AllocatedOperand::None => continue,
                AllocatedOperand::Register(physical) if opcode.mask == Some(position as u8) => {
                    masking.mask = Some(register(count, physical));
                    continue;
                }
                AllocatedOperand::Register(physical) => {
                    Operand::Register(register(count, physical))
                }
                AllocatedOperand::Memory(memory) => {
                    if S::IS_EVEX && matches!(memory, Memory::Splat(_)) {
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

    /// Jumps to the end of a guarded arm if no lane of a mask is set.
    fn emit_skip(&mut self, machine: &X86Instruction<S>, mask: AllocatedOperand) {
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
        let mask = physical_register::<S>(mask, bytes);
        self.assembler.registers(code, mask, mask);
        self.skip_count += 1;
        let label = format!("skipped_{}", self.skip_count);
        self.skip_jump = Some(self.assembler.jump_forward(Code::Je_rel32_64, label));
    }

    /// Gathers entries of a table: the first source holds the indices, the second is a mask.
    fn emit_gather(
        &mut self,
        opcode: Opcode<S>,
        machine: &X86Instruction<S>,
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
            [result, index, mask].map(|physical| physical_register::<S>(physical, bytes));
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
        let at = self.input.pool.table_offset(&self.input.body.tables, table as usize);
        Address::of(BASE + at as u64)
    }

    /// Calls the function for a primitive on lanes in the frame.
    fn emit_call(&mut self, call: &OutOfLineCall) {
        let Some(function) = lane_function(call.primitive, call.operand, call.result) else {
            unreachable!("invariant: a primitive without an instruction has a function");
        };
        self.assembler.emit(Code::VEX_Vzeroupper, &[]);
        for (place, from) in self.call_operands().into_iter().zip(call.from) {
            self.address_of(
                PhysicalRegister::RAX,
                Address::new(PhysicalRegister::RSP, from.into()),
            );
            self.store(place, PhysicalRegister::RAX);
        }
        self.address_of(PhysicalRegister::RDI, Address::new(PhysicalRegister::RSP, call.to.into()));
        self.address_of(PhysicalRegister::RSI, self.call_operands()[0]);
        let mut table_length = 0;
        if let Primitive::Lookup { table } = call.primitive {
            table_length = self.input.body.tables[table as usize].len();
            self.address_of(PhysicalRegister::RDX, self.table(table));
        }
        self.constant(PhysicalRegister::RCX, table_length as u64);
        self.constant(PhysicalRegister::R8, self.input.lanes as u64);
        self.constant(PhysicalRegister::RAX, function as usize as u64);
        self.assembler.emit(Code::Call_rm64, &[Operand::Register(PhysicalRegister::RAX)]);
    }

    /// The address of a memory operand. May emit code that computes it in a scratch register.
    fn address(&mut self, memory: Memory) -> Address {
        match memory {
            Memory::Splat(index) => Address::of(BASE + u64::from(index * S::CONSTANT_BYTES)),
            Memory::LaneConstant(index) => {
                Address::of(BASE + self.input.pool.lane_constant_offset(index as usize) as u64)
            }
            Memory::Frame(bytes) => Address::new(PhysicalRegister::RSP, bytes.into()),
            Memory::Row { operand, displacement } => {
                Address::new(self.pointer(operand), displacement.into())
            }
            Memory::Step { operand, element_stride, displacement } => {
                let base = self.pointer(operand);
                let index = match element_stride {
                    1 | 2 | 4 | 8 => (self.roles.index, element_stride),
                    16 => (self.double_index(), 8),
                    bytes if bytes.is_multiple_of(8) => (self.scale_index(bytes / 8), 8),
                    bytes => (self.scale_index(bytes / 4), 4),
                };
                Address { base, index: Some(index), displacement: displacement.into() }
            }
            Memory::Table(table) => self.table(table),
            Memory::Accumulator { .. } => unreachable!("invariant: accumulators stay in registers"),
        }
    }

    /// Computes twice the index; returns its register.
    fn double_index(&mut self) -> PhysicalRegister {
        let Roles { index, scaled_index, .. } = *self.roles;
        self.address_of(
            scaled_index,
            Address { base: index, index: Some((index, 1)), displacement: 0 },
        );
        scaled_index
    }

    /// Computes a multiple of the index; returns its register.
    fn scale_index(&mut self, factor: u32) -> PhysicalRegister {
        let Roles { index, scaled_index, .. } = *self.roles;
        match factor {
            3 | 5 => {
                let index =
                    Address { base: index, index: Some((index, factor - 1)), displacement: 0 };
                self.address_of(scaled_index, index);
            }
            _ => self.multiply(scaled_index, index, factor as i32),
        }
        scaled_index
    }

    /// Multiplies a general register by a constant.
    fn multiply(&mut self, to: PhysicalRegister, from: PhysicalRegister, factor: i32) {
        let operands =
            [Operand::Register(to), Operand::Register(from), Operand::Immediate32(factor)];
        self.assembler.emit(Code::Imul_r64_rm64_imm32, &operands);
    }

    /// The register with the address of an operand in the current row; loads the address if the operand has
    /// no pointer register.
    fn pointer(&mut self, operand: u32) -> PhysicalRegister {
        // In bodies that fold, only inputs have pointer registers.
        let outputs = if self.input.body.folds() { self.input.body.outputs.len() } else { 0 };
        let operand = operand - outputs as u32;
        match self.roles.pointers.get(operand as usize) {
            Some(&pointer) => pointer,
            None => {
                self.load(self.roles.scratch, self.operand_address(operand as usize));
                self.roles.scratch
            }
        }
    }

    fn operand_address(&self, operand: usize) -> Address {
        Address::new(self.roles.operands, 8 * operand as i64)
    }

    /// Address of a word of the frame, above the vectors.
    fn frame_word(&self, word: i64) -> Address {
        Address::new(PhysicalRegister::RSP, i64::from(self.input.frame.bytes()) + 8 * word)
    }

    /// Frame words of the stack pointer, the address of the strides, and the number of rows or units left.
    fn saved_words(&self) -> [Address; 3] {
        [0, 1, 2].map(|word| self.frame_word(word))
    }

    /// Frame word of the index of the second step's first element.
    fn second_step_word(&self) -> Address {
        self.frame_word(6)
    }

    /// Frame words of the operand addresses of a call.
    fn call_operands(&self) -> [Address; 3] {
        [3, 4, 5].map(|word| self.frame_word(word))
    }

    fn immediate(&mut self, code: Code, register: PhysicalRegister, value: i32) {
        self.assembler.emit(code, &[Operand::Register(register), Operand::Immediate32(value)]);
    }

    fn constant(&mut self, register: PhysicalRegister, value: u64) {
        let operands = [Operand::Register(register), Operand::Immediate64(value)];
        self.assembler.emit(Code::Mov_r64_imm64, &operands);
    }

    fn load(&mut self, register: PhysicalRegister, address: Address) {
        let operands = [Operand::Register(register), Operand::Memory(address)];
        self.assembler.emit(Code::Mov_r64_rm64, &operands);
    }

    fn store(&mut self, address: Address, register: PhysicalRegister) {
        let operands = [Operand::Memory(address), Operand::Register(register)];
        self.assembler.emit(Code::Mov_rm64_r64, &operands);
    }

    /// Computes an address in a register.
    fn address_of(&mut self, register: PhysicalRegister, address: Address) {
        let operands = [Operand::Register(register), Operand::Memory(address)];
        self.assembler.emit(Code::Lea_r64_m, &operands);
    }

    /// Lists the value that the next of these allocated instructions computes.
    fn list_value(&mut self, code: &X86Code<S>, allocated: &[AllocatedInstruction]) {
        let Some(listing) = &mut self.assembler.listing else { return };
        listing.value_of(code, allocated);
    }

    /// Lists the roles of registers, and the values without instructions.
    fn list_header(&mut self) {
        let Some(listing) = &mut self.assembler.listing else { return };
        let Roles { index, limit, operands, pointers, .. } = *self.roles;
        let pointers: Vec<String> = pointers.iter().copied().map(name).collect();
        listing.header(self.input, &pointers, [operands, index, limit].map(name));
        let accumulators = self.input.accumulators.iter();
        listing.accumulators(
            accumulators.map(|it| {
                (it.output, name(physical_register::<S>(it.physical, S::REGISTER_BYTES)))
            }),
        );
    }
}

/// Width of an instruction, in bytes.
fn width<S: X86InstructionSet>(is_wide: bool) -> u32 {
    if is_wide { S::REGISTER_BYTES } else { S::REGISTER_BYTES / 2 }
}

/// The physical register with a number of the allocator, of `bytes` bytes if it is a vector register.
fn physical_register<S: X86InstructionSet>(physical: u8, bytes: u32) -> PhysicalRegister {
    match usize::from(physical).checked_sub(S::REGISTERS) {
        // K0 as a write mask means no mask, so the allocator's mask registers begin with K1.
        Some(mask) => PhysicalRegister::K1 + mask as u32,
        None => vector_register(physical, bytes),
    }
}

/// The vector register with a number, of `bytes` bytes.
fn vector_register(physical: u8, bytes: u32) -> PhysicalRegister {
    let first = match bytes {
        64 => PhysicalRegister::ZMM0,
        32 => PhysicalRegister::YMM0,
        _ => PhysicalRegister::XMM0,
    };
    first + u32::from(physical)
}
