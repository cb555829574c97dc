//! The encoder: emits the prologue, the loops over rows and steps around allocated code, and the epilogue.
//!
//! Arguments of the function, by the calling convention AAPCS64: the array of operand addresses, which the
//! code advances from row to row; the array of row strides in bytes; the number of rows; and the elements of
//! a row. The loops of bodies that fold are in `fold.rs`.

mod fold;

use indim_codegen::Primitive;

pub(super) use fold::MAX_FOLD_INPUTS;

use super::assembler::{Assembler, Condition, GeneralRegister, Jump, STACK, name};
use super::opcode::{self, Opcode, REGISTER_BYTES};
use crate::out_of_line::lane_function;
use indim_codegen::allocate::{AllocatedInstruction, AllocatedOperand};
use indim_codegen::compile;
use indim_codegen::layout::OperandForm;
use indim_codegen::listing::CodeListing;
use indim_codegen::machine::{self, Action, Memory, OutOfLineCall, ResultConstraint};

type NeonInput<'a> = compile::EncoderInput<'a, Opcode>;
type NeonCode = machine::VirtualCode<Opcode>;
type NeonInstruction = machine::MachineInstruction<Opcode>;

/// Address of the array of operand addresses.
const OPERANDS: GeneralRegister = 19;
/// Index of the step's first element.
const INDEX: GeneralRegister = 20;
/// Largest index at which a step fits in the row: the elements of the row minus those of a step.
const LIMIT: GeneralRegister = 21;
/// Address of the constant pool.
const CONSTANTS: GeneralRegister = 22;
/// Scratch registers.
const SCRATCH: [GeneralRegister; 2] = [16, 17];
/// Pointer registers: addresses of the first operands, in the current step if dense, else in the current row.
/// Register 18 is reserved by the platform.
const POINTERS: [GeneralRegister; 19] =
    [23, 24, 25, 26, 27, 28, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// Number of leading pointer registers, which callees preserve. Code with calls uses only these.
const PRESERVED_POINTERS: usize = 6;

/// Callee-saved registers, stored above the frame: pairs of general registers, then of the lower halves of
/// vector registers.
const CALLEE_SAVED: [[GeneralRegister; 2]; 6] =
    [[29, 30], [19, 20], [21, 22], [23, 24], [25, 26], [27, 28]];
const CALLEE_SAVED_VECTORS: [[u8; 2]; 4] = [[8, 9], [10, 11], [12, 13], [14, 15]];
const CALLEE_SAVED_BYTES: u32 = 16 * (CALLEE_SAVED.len() + CALLEE_SAVED_VECTORS.len()) as u32;

/// Frame word of the address of the strides.
const STRIDES: (GeneralRegister, u32) = (STACK, 0);
/// Frame word of the number of rows or units left.
const ROWS: (GeneralRegister, u32) = (STACK, 8);
/// Frame offset of the operand addresses of a call, three words.
const CALL_OPERANDS: u32 = 16;
/// Frame word of the number of rows of a unit. Code that folds makes no calls, so it reuses the words of
/// [`CALL_OPERANDS`].
const FOLD_ROWS: (GeneralRegister, u32) = (STACK, 16);
/// Frame word of the argument `mode` of code that folds.
const FOLD_MODE: (GeneralRegister, u32) = (STACK, 24);
/// Bytes of the words in the frame, below the vectors; a multiple of 16.
const FRAME_WORDS: u32 = 48;

/// Encodes a function. Returns the bytes of constants, tables and code, and the offset of the entry point.
/// Appends a listing to `listing` if given.
pub(super) fn emit(input: &NeonInput<'_>, listing: Option<&mut String>) -> (Vec<u8>, usize) {
    let mut bytes = input.pool.bytes(&input.body.tables);
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    let entry = bytes.len();
    let has_calls = [input.row.0, input.step.0].iter().any(|code| code.has_calls());
    let listing = listing.map(|text| CodeListing::new(text, input.body));
    let mut emitter = Emitter {
        input,
        entry,
        assembler: Assembler::new(listing),
        skip_jump: None,
        skip_count: 0,
        pointers: if has_calls { &POINTERS[..PRESERVED_POINTERS] } else { &POINTERS },
    };
    emitter.list_header();
    emitter.emit_function();
    bytes.append(&mut emitter.assembler.finish());
    (bytes, entry)
}

struct Emitter<'a> {
    input: &'a NeonInput<'a>,
    /// Offset of the entry point: bytes of the constant pool.
    entry: usize,
    assembler: Assembler<'a>,
    /// The jump over the current guarded arm, and the number of such jumps so far, which names their labels.
    skip_jump: Option<Jump>,
    skip_count: usize,
    /// All of [`POINTERS`], or in code with calls those that callees preserve.
    pointers: &'static [GeneralRegister],
}

impl Emitter<'_> {
    fn emit_function(&mut self) {
        self.emit_prologue();
        let folds = self.input.body.folds();
        if folds {
            self.assembler.store(4, FOLD_ROWS);
            self.assembler.store(5, FOLD_MODE);
        }
        let first = self.assembler.position();
        let label = if folds { "unit" } else { "row" };
        self.assembler.label(label);
        if folds {
            self.emit_unit()
        } else {
            self.emit_row()
        }
        let [rows, _] = SCRATCH;
        self.assembler.load(rows, ROWS);
        self.assembler.sub_immediate(rows, rows, 1);
        self.assembler.store(rows, ROWS);
        let next = self.assembler.jump_forward(Condition::NotZero(rows), "next");
        self.emit_epilogue();
        self.assembler.bind(next);
        self.next_row();
        self.assembler.jump(first, label);
    }

    fn frame_bytes(&self) -> u32 {
        self.input.frame.bytes() + FRAME_WORDS
    }

    /// Prologue: saves registers, allocates the frame and stores arguments there.
    fn emit_prologue(&mut self) {
        self.assembler.sub_immediate(STACK, STACK, CALLEE_SAVED_BYTES);
        for (is_vector, pair, at) in saved_pairs() {
            self.assembler.store_pair(is_vector, pair, at);
        }
        let [bytes, _] = SCRATCH;
        self.assembler.constant(bytes, self.frame_bytes().into());
        self.assembler.sub_from_any(STACK, STACK, bytes);
        self.assembler.store(1, STRIDES);
        self.assembler.store(2, ROWS);
        self.assembler.copy(OPERANDS, 0);
        self.assembler.sub_immediate(LIMIT, 3, self.input.lanes as u32);
        let distance = self.entry + 4 * self.assembler.position();
        self.assembler.address_of_this(CONSTANTS);
        self.assembler.constant(bytes, distance as u64);
        self.assembler.sub(CONSTANTS, CONSTANTS, bytes, 0);
    }

    /// Epilogue: restores registers and returns.
    fn emit_epilogue(&mut self) {
        let [bytes, _] = SCRATCH;
        self.assembler.constant(bytes, self.frame_bytes().into());
        self.assembler.add_to_any(STACK, STACK, bytes);
        for (is_vector, pair, at) in saved_pairs() {
            self.assembler.load_pair(is_vector, pair, at);
        }
        self.assembler.add_immediate(STACK, STACK, CALLEE_SAVED_BYTES);
        self.assembler.ret();
    }

    /// One row: its row code, then the loop over steps.
    fn emit_row(&mut self) {
        for operand in 0..self.input.operands.min(self.pointers.len()) {
            self.load_operand(self.pointers[operand], operand);
        }
        let (code, allocated) = self.input.row;
        self.emit_code(code, allocated);
        for &(memory, physical) in self.input.pinned {
            self.load_vector(physical, memory);
        }
        self.assembler.constant(INDEX, 0);
        self.assembler.label("step");
        let step = self.assembler.position();
        let (code, allocated) = self.input.step;
        self.emit_code(code, allocated);
        let lanes = self.input.lanes as u32;
        for (pointer, bytes) in self.dense_pointers() {
            self.assembler.add_immediate(pointer, pointer, lanes * bytes);
        }
        self.assembler.add_immediate(INDEX, INDEX, lanes);
        self.assembler.compare(INDEX, LIMIT);
        let last = self.assembler.jump_forward(Condition::Greater, "last");
        self.assembler.jump(step, "step");
        self.assembler.bind(last);
        // The last step of the row overlaps the step before it.
        let [end, _] = SCRATCH;
        self.assembler.add_immediate(end, LIMIT, lanes);
        self.assembler.compare(INDEX, end);
        let done = self.assembler.jump_forward(Condition::Equal, "done");
        let back = end;
        self.assembler.sub(back, INDEX, LIMIT, 0);
        for (pointer, bytes) in self.dense_pointers() {
            self.assembler.sub(pointer, pointer, back, bytes.ilog2());
        }
        self.assembler.copy(INDEX, LIMIT);
        self.assembler.jump(step, "step");
        self.assembler.bind(done);
    }

    /// Pointer registers of dense operands, with their element sizes in bytes.
    fn dense_pointers(&self) -> Vec<(GeneralRegister, u32)> {
        let NeonInput { body, layout, .. } = self.input;
        let outputs = body.outputs.iter().map(|(dtype, _)| (OperandForm::Dense, dtype.size()));
        let inputs = layout.inputs.iter().copied().zip(body.inputs.iter().map(|it| it.size()));
        let pointers =
            self.pointers.iter().zip(outputs.chain(inputs).skip(self.accumulator_count()));
        let dense = pointers.filter(|(_, (form, _))| *form == OperandForm::Dense);
        dense.map(|(&pointer, (_, bytes))| (pointer, bytes as u32)).collect()
    }

    /// Number of leading operands without pointer registers: the accumulators of bodies that fold.
    fn accumulator_count(&self) -> usize {
        let NeonInput { body, .. } = self.input;
        if body.folds() { body.outputs.len() } else { 0 }
    }

    /// The pointer register of an operand; `None` if it has none.
    fn pointer(&self, operand: u32) -> Option<GeneralRegister> {
        self.pointers.get(operand as usize - self.accumulator_count()).copied()
    }

    /// Advances the operands to the next row or unit.
    fn next_row(&mut self) {
        let [strides, stride] = SCRATCH;
        let (address, scratch) = (0, 1);
        self.assembler.load(strides, STRIDES);
        for operand in 0..self.input.operands {
            let at = 8 * operand as u32;
            let place = self.assembler.encodable_address(strides, at, 8, scratch);
            self.assembler.load(stride, place);
            let place = self.assembler.encodable_address(OPERANDS, at, 8, scratch);
            self.assembler.load(address, place);
            self.assembler.add(address, address, stride, 0);
            self.assembler.store(address, place);
        }
    }

    /// Loads the address of an operand in the current row.
    fn load_operand(&mut self, to: GeneralRegister, operand: usize) {
        let place = self.assembler.encodable_address(OPERANDS, 8 * operand as u32, 8, to);
        self.assembler.load(to, place);
    }

    /// Emits allocated code.
    fn emit_code(&mut self, code: &NeonCode, allocated: &[AllocatedInstruction]) {
        for (at, step) in allocated.iter().enumerate() {
            self.list_value(code, &allocated[at..]);
            match *step {
                AllocatedInstruction::Load { to, from } => self.load_vector(to, from),
                AllocatedInstruction::Store { to, from } => {
                    self.vector_move(opcode::STORE.of(REGISTER_BYTES as usize), from, to);
                }
                AllocatedInstruction::Copy { to, from } => {
                    let copied = opcode::OR.of(1).with(true, 0, to, [Some(from); 2]);
                    self.assembler.vector(copied);
                }
                AllocatedInstruction::Instruction { index, result, sources } => {
                    self.emit_instruction(&code.instructions[index], result, sources);
                }
            }
        }
    }

    fn emit_instruction(
        &mut self,
        machine: &NeonInstruction,
        result: Option<u8>,
        sources: [AllocatedOperand; 3],
    ) {
        let opcode = match machine.action {
            Action::Vector(opcode) => opcode,
            Action::Call(call) => return self.emit_call(&call),
            Action::Skip => return self.emit_skip(machine, sources[0]),
            Action::SkipEnd => {
                if let Some(skip) = self.skip_jump.take() {
                    self.assembler.bind(skip);
                }
                return;
            }
        };
        match (result, machine.destination, sources) {
            (_, Some(memory), [AllocatedOperand::Register(from), ..]) => {
                self.vector_move(opcode, from, memory);
            }
            (
                Some(to),
                _,
                [
                    AllocatedOperand::Register(index),
                    _,
                    AllocatedOperand::Memory(Memory::Table(table)),
                ],
            ) => {
                self.emit_gather(opcode, machine.is_wide, table, index, to);
            }
            (Some(to), _, [AllocatedOperand::Memory(memory), ..]) => {
                self.vector_move(opcode, to, memory)
            }
            (Some(to), _, sources) => {
                let registers = sources.map(|place| match place {
                    AllocatedOperand::Register(physical) => Some(physical),
                    _ => None,
                });
                let is_replaced =
                    machine::MachineOpcode::result(opcode) == ResultConstraint::TiedToFirst;
                let registers = match is_replaced {
                    true => [registers[1], registers[2]],
                    false => [registers[0], registers[1]],
                };
                let immediate = machine.immediate.unwrap_or_default();
                self.assembler.vector(opcode.with(machine.is_wide, immediate, to, registers));
            }
            (None, ..) => unreachable!("invariant: an instruction without result is a store"),
        }
    }

    /// Jumps to the end of a guarded arm if no lane of a mask is set.
    fn emit_skip(&mut self, machine: &NeonInstruction, mask: AllocatedOperand) {
        let AllocatedOperand::Register(mask) = mask else {
            unreachable!("invariant: the mask of a skip is in a register");
        };
        let [any, upper] = SCRATCH;
        self.assembler.lane(any, mask, 8, 0);
        if machine.is_wide {
            self.assembler.lane(upper, mask, 8, 1);
            self.assembler.or(any, any, upper);
        }
        self.skip_count += 1;
        let label = format!("skipped_{}", self.skip_count);
        self.skip_jump = Some(self.assembler.jump_forward(Condition::Zero(any), label));
    }

    /// Gathers entries of a table, lane by lane: NEON has no gather.
    fn emit_gather(&mut self, opcode: Opcode, is_wide: bool, table: u32, index: u8, to: u8) {
        let [first, entry] = SCRATCH;
        let at = self.input.pool.table_offset(&self.input.body.tables, table as usize);
        self.assembler.address(first, CONSTANTS, at as u32);
        let bytes = if is_wide { REGISTER_BYTES } else { REGISTER_BYTES / 2 };
        for lane in 0..bytes as usize / opcode.size {
            self.assembler.lane(entry, index, opcode.size, lane);
            self.assembler.add(entry, first, entry, 3);
            self.assembler.load_lane(to, opcode.size, lane, entry);
        }
    }

    /// Calls the function for a primitive on lanes in the frame.
    fn emit_call(&mut self, call: &OutOfLineCall) {
        let Some(function) = lane_function(call.primitive, call.operand, call.result) else {
            unreachable!("invariant: a primitive without an instruction has a function");
        };
        let [address, _] = SCRATCH;
        for (word, from) in (0..).zip(call.from) {
            self.assembler.address(address, STACK, FRAME_WORDS + from);
            self.assembler.store(address, (STACK, CALL_OPERANDS + 8 * word));
        }
        self.assembler.address(0, STACK, FRAME_WORDS + call.to);
        self.assembler.address(1, STACK, CALL_OPERANDS);
        let mut table_length = 0;
        if let Primitive::Lookup { table } = call.primitive {
            let tables = &self.input.body.tables;
            table_length = tables[table as usize].len();
            let at = self.input.pool.table_offset(tables, table as usize);
            self.assembler.address(2, CONSTANTS, at as u32);
        }
        self.assembler.constant(3, table_length as u64);
        self.assembler.constant(4, self.input.lanes as u64);
        self.assembler.constant(address, function as usize as u64);
        self.assembler.call(address);
    }

    /// Loads a register from the home or the spill slot of a value.
    fn load_vector(&mut self, to: u8, from: Memory) {
        // A load of a step's elements reads the lanes of the step, at most a register; a load of other memory
        // reads a whole register.
        let whole = REGISTER_BYTES as usize;
        let bytes = match from {
            Memory::Step { element_stride, .. } => {
                whole.min(self.input.copy_lanes * element_stride as usize)
            }
            _ => whole,
        };
        self.vector_move(opcode::LOAD.of(bytes), to, from);
    }

    fn vector_move(&mut self, opcode: Opcode, register: u8, memory: Memory) {
        let place = self.memory_address(memory, opcode.size as u32);
        let NeonInput { pool, .. } = self.input;
        let note = || match memory {
            Memory::Splat(index) => pool.describe((index * REGISTER_BYTES).into()),
            _ => String::new(),
        };
        self.assembler.vector_move(opcode, register, place, note);
    }

    /// The address of a memory operand of `bytes` bytes. May emit code that computes it in a scratch
    /// register.
    fn memory_address(&mut self, memory: Memory, bytes: u32) -> (GeneralRegister, u32) {
        let [scratch, other] = SCRATCH;
        let (base, displacement) = match memory {
            Memory::Splat(index) => (CONSTANTS, index * REGISTER_BYTES),
            Memory::Frame(bytes) => (STACK, FRAME_WORDS + bytes),
            Memory::Row { operand, displacement } => match self.pointer(operand) {
                Some(pointer) => (pointer, displacement),
                None => {
                    self.load_operand(scratch, operand as usize);
                    (scratch, displacement)
                }
            },
            Memory::Step { operand, element_stride, displacement } => match self.pointer(operand) {
                Some(pointer) => (pointer, displacement),
                None => {
                    self.load_operand(scratch, operand as usize);
                    self.assembler.add(scratch, scratch, INDEX, element_stride.ilog2());
                    (scratch, displacement)
                }
            },
            Memory::Table(_) => unreachable!("invariant: only gathers read tables"),
            Memory::LaneConstant(_) => {
                unreachable!("invariant: NEON has no constants with different lanes")
            }
            Memory::Accumulator { .. } => unreachable!("invariant: accumulators stay in registers"),
        };
        self.assembler.encodable_address(base, displacement, bytes, other)
    }

    /// Lists the value that the next of these allocated instructions computes.
    fn list_value(&mut self, code: &NeonCode, allocated: &[AllocatedInstruction]) {
        let Some(listing) = &mut self.assembler.listing else { return };
        listing.value_of(code, allocated);
    }

    /// Lists the roles of registers, and the values without instructions.
    fn list_header(&mut self) {
        let Some(listing) = &mut self.assembler.listing else { return };
        let pointers: Vec<String> = self.pointers.iter().copied().map(name).collect();
        listing.header(self.input, &pointers, [OPERANDS, INDEX, LIMIT].map(name));
        let accumulators = self.input.accumulators.iter();
        listing.accumulators(accumulators.map(|it| (it.output, format!("v{}", it.physical))));
    }
}

/// Pairs of callee-saved registers: whether they are vector registers, their numbers, and the byte offset
/// from the stack pointer.
fn saved_pairs() -> impl Iterator<Item = (bool, [u8; 2], u32)> {
    let general = CALLEE_SAVED.into_iter().map(|pair| (false, pair));
    let vectors = CALLEE_SAVED_VECTORS.into_iter().map(|pair| (true, pair));
    let places = (0..).map(|pair| 16 * pair);
    general.chain(vectors).zip(places).map(|((is_vector, pair), at)| (is_vector, pair, at))
}
