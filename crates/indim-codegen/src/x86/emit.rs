//! Encoding: machine instructions with their registers become bytes, around them the loops over rows and
//! steps.
//!
//! The function is called with the addresses of its operands (which it moves from row to row), their strides
//! from row to row, the number of rows and of elements in each, by the convention of System V on every
//! system.

use core::fmt::Write;

use iced_x86::{Code, Encoder, Instruction, OpKind, Register as Real};

use super::allocate::{Frame, Place, Step};
use super::listing::{Listing, written};
use super::machine::{Action, Call, MachineCode, MachineInstruction, Memory};
use super::opcode::Widths;
use super::pool::Pool;
use crate::body::{Body, Primitive};
use crate::out_of_line::lane_function;

/// Where the constants would be if nothing was moved: the code behind them finds them by distance.
const BASE: u64 = 0x1_0000;

/// What is pushed before the frame.
const SAVED: [Real; 6] = [Real::RBX, Real::RBP, Real::R12, Real::R13, Real::R14, Real::R15];

/// Which general registers have which part.
struct Roles {
    /// The index of the step's first element.
    index: Real,
    /// The last index of a whole step.
    limit: Real,
    /// The addresses of the operands.
    operands: Real,
    /// Twice the index, for elements of 16 bytes.
    twice: Real,
    /// An address for the moment.
    scratch: Real,
    /// Addresses of the first operands in the row.
    pointers: &'static [Real],
}

const ROLES: Roles = Roles {
    index: Real::RAX,
    limit: Real::RCX,
    operands: Real::RDI,
    twice: Real::R10,
    scratch: Real::R11,
    pointers: &[
        Real::RDX,
        Real::RSI,
        Real::R8,
        Real::R9,
        Real::RBX,
        Real::RBP,
        Real::R12,
        Real::R13,
        Real::R14,
        Real::R15,
    ],
};

/// As [`ROLES`], where functions are called: those are registers that they keep.
const ROLES_WITH_CALLS: Roles = Roles {
    index: Real::RBX,
    limit: Real::RBP,
    operands: Real::R12,
    pointers: &[Real::R13, Real::R14, Real::R15],
    ..ROLES
};

/// The code of a function.
pub(super) struct Emitted {
    /// Constants, tables and code.
    pub(super) bytes: Vec<u8>,
    /// Where the code begins.
    pub(super) entry: usize,
}

/// What is to be encoded.
pub(super) struct Parts<'a> {
    pub(super) body: &'a Body,
    pub(super) pool: &'a Pool,
    pub(super) frame: &'a Frame,
    pub(super) row: (&'a MachineCode, &'a [Step]),
    /// What is loaded before the steps of a row.
    pub(super) pinned: &'a [(Memory, u8)],
    pub(super) step: (&'a MachineCode, &'a [Step]),
    pub(super) lanes: usize,
    pub(super) operands: usize,
}

/// Encodes a function; its listing goes to `listing`, if there is one.
pub(super) fn emit(parts: &Parts<'_>, listing: Option<&mut String>) -> Emitted {
    let mut bytes = parts.pool.bytes(&parts.body.tables);
    let entry = bytes.len();
    let has_calls = [parts.row.0, parts.step.0].iter().any(|code| has_calls(code));
    let mut emitter = Emitter {
        parts,
        encoder: Encoder::new(64),
        address: BASE + entry as u64,
        length: 0,
        roles: if has_calls { &ROLES_WITH_CALLS } else { &ROLES },
        listing: listing.map(|text| Listing::new(text, parts.body)),
    };
    emitter.note_operands();
    emitter.function();
    bytes.append(&mut emitter.encoder.take_buffer());
    Emitted { bytes, entry }
}

fn has_calls(code: &MachineCode) -> bool {
    code.instructions.iter().any(|instruction| matches!(instruction.action, Action::Call(_)))
}

struct Emitter<'a> {
    parts: &'a Parts<'a>,
    encoder: Encoder,
    /// The address of the next instruction.
    address: u64,
    /// The bytes of code so far.
    length: usize,
    roles: &'static Roles,
    listing: Option<Listing<'a>>,
}

/// A jump whose target is not known yet.
struct Jump {
    /// Where the distance stands in the code.
    at: usize,
    /// What the target is called in the listing.
    label: &'static str,
}

impl Emitter<'_> {
    fn function(&mut self) {
        SAVED.iter().for_each(|&register| self.push_register(register));
        self.registers(Code::Mov_r64_rm64, Real::RAX, Real::RSP);
        let frame = self.frame_bytes() as i32;
        self.immediate(Code::Sub_rm64_imm32, Real::RSP, frame);
        self.immediate(Code::And_rm64_imm32, Real::RSP, -32);
        let [stack, strides, rows] = self.saved_places();
        self.store_register(stack, Real::RAX);
        self.store_register(strides, Real::RSI);
        self.store_register(rows, Real::RDX);
        let lanes = self.parts.lanes as i64;
        self.load_address(self.roles.limit, Real::RCX, -lanes);
        if self.roles.operands != Real::RDI {
            self.registers(Code::Mov_r64_rm64, self.roles.operands, Real::RDI);
        }
        let row = self.address;
        self.label("row");
        self.row();
        let [_, strides, rows] = self.saved_places();
        self.one_memory(Code::Dec_rm64, rows);
        let end = self.jump_ahead(Code::Je_rel32_64, "end");
        self.next_row(strides);
        self.jump(Code::Jmp_rel32_64, row, "row");
        self.arrive(end);
        self.plain(Code::VEX_Vzeroupper);
        let [stack, ..] = self.saved_places();
        self.load_register(Real::RSP, stack);
        SAVED.iter().rev().for_each(|&register| self.pop_register(register));
        self.plain(Code::Retnq);
    }

    /// One row.
    fn row(&mut self) {
        for operand in 0..self.parts.operands.min(self.roles.pointers.len()) {
            let place = self.operand_place(operand);
            self.load_register(self.roles.pointers[operand], place);
        }
        let (code, steps) = self.parts.row;
        self.steps(code, steps);
        for &(memory, real) in self.parts.pinned {
            self.load_vector(real, memory);
        }
        let Roles { index, limit, scratch, .. } = *self.roles;
        self.registers(Code::Xor_r64_rm64, index, index);
        self.label("step");
        let step = self.address;
        let (code, steps) = self.parts.step;
        self.steps(code, steps);
        let lanes = self.parts.lanes as i32;
        self.immediate(Code::Add_rm64_imm32, index, lanes);
        self.registers(Code::Cmp_r64_rm64, index, limit);
        self.jump(Code::Jle_rel32_64, step, "step");
        // What is left is less than a step: the last whole step of the row is done, some of it once more.
        self.load_address(scratch, limit, i64::from(lanes));
        self.registers(Code::Cmp_r64_rm64, index, scratch);
        let done = self.jump_ahead(Code::Je_rel32_64, "done");
        self.registers(Code::Mov_r64_rm64, index, limit);
        self.jump(Code::Jmp_rel32_64, step, "step");
        self.arrive(done);
    }

    /// Moves the operands to the next row.
    fn next_row(&mut self, strides: Place64) {
        self.load_register(Real::R11, strides);
        for operand in 0..self.parts.operands {
            let stride = Place64 { base: Real::R11, displacement: 8 * operand as i64 };
            self.load_register(Real::RAX, stride);
            let place = self.operand_place(operand);
            let mut instruction = Instruction::default();
            instruction.set_code(Code::Add_rm64_r64);
            set_memory(&mut instruction, 0, place);
            set_register(&mut instruction, 1, Real::RAX);
            self.encode(&instruction);
        }
    }

    fn steps(&mut self, code: &MachineCode, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            self.note_value(code, &steps[at..]);
            match *step {
                Step::Load { to, from } => self.load_vector(to, from),
                Step::Store { to, from } => {
                    let mut instruction = Instruction::default();
                    instruction.set_code(Code::VEX_Vmovups_ymmm256_ymm);
                    self.set_place(&mut instruction, 0, to);
                    set_register(&mut instruction, 1, vector(from, true));
                    self.encode(&instruction);
                }
                Step::Copy { to, from } => {
                    let mut instruction = Instruction::default();
                    instruction.set_code(Code::VEX_Vmovaps_ymm_ymmm256);
                    set_register(&mut instruction, 0, vector(to, true));
                    set_register(&mut instruction, 1, vector(from, true));
                    self.encode(&instruction);
                }
                Step::Instruction { index, result, sources } => {
                    self.instruction(&code.instructions[index], result, sources);
                }
            }
        }
    }

    fn instruction(
        &mut self,
        machine: &MachineInstruction,
        result: Option<u8>,
        sources: [Place; 3],
    ) {
        match machine.action {
            Action::Call(call) => self.call(&call),
            Action::Ones => {
                let real = vector(result.unwrap_or_default(), machine.is_wide);
                let mut instruction = Instruction::default();
                instruction.set_code(match machine.is_wide {
                    true => Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
                    false => Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128,
                });
                (0..3).for_each(|operand| set_register(&mut instruction, operand, real));
                self.encode(&instruction);
            }
            Action::Vector(opcode) => {
                let mut instruction = Instruction::default();
                instruction.set_code(opcode.code[usize::from(machine.is_wide)]);
                if let (Some(Memory::Table(table)), Place::Register(index), Place::Register(mask)) =
                    (table_of(&sources), sources[0], sources[1])
                {
                    self.set_gathered(&mut instruction, table, index, mask, machine.is_wide);
                    set_register(
                        &mut instruction,
                        0,
                        vector(result.unwrap_or_default(), machine.is_wide),
                    );
                    return self.encode(&instruction);
                }
                let wide = |operand: usize| match (opcode.widths, operand) {
                    (Widths::Same, _) | (Widths::Inserts, 0 | 1) | (Widths::Widens, 0) => {
                        machine.is_wide
                    }
                    (Widths::Narrows, 1) => machine.is_wide,
                    _ => false,
                };
                let mut operand = 0;
                match (result, machine.target) {
                    (_, Some(memory)) => self.set_place(&mut instruction, 0, memory),
                    (Some(real), _) => set_register(&mut instruction, 0, vector(real, wide(0))),
                    _ => {}
                }
                // The first source of a product with a sum is its result too.
                let skipped = usize::from(is_replacing(machine));
                for source in sources.into_iter().skip(skipped) {
                    operand += 1;
                    match source {
                        Place::None => operand -= 1,
                        Place::Register(real) => {
                            set_register(
                                &mut instruction,
                                operand as u32,
                                vector(real, wide(operand)),
                            );
                        }
                        Place::Memory(memory) => {
                            self.set_place(&mut instruction, operand as u32, memory)
                        }
                    }
                }
                if let Some(immediate) = machine.immediate {
                    instruction.set_op_kind(operand as u32 + 1, OpKind::Immediate8);
                    instruction.set_immediate8(immediate);
                }
                self.encode(&instruction);
            }
        }
    }

    /// Calls the function for a primitive on lanes in the frame.
    fn call(&mut self, call: &Call) {
        let Some(function) = lane_function(call.primitive, call.operand, call.result) else {
            unreachable!("invariant: what has no instruction has a function");
        };
        self.plain(Code::VEX_Vzeroupper);
        let operands = self.call_operands();
        for (position, from) in call.from.into_iter().enumerate() {
            self.load_address(Real::RAX, Real::RSP, from.into());
            let place =
                Place64 { displacement: operands.displacement + 8 * position as i64, ..operands };
            self.store_register(place, Real::RAX);
        }
        self.load_address(Real::RDI, Real::RSP, call.to.into());
        self.load_address(Real::RSI, Real::RSP, operands.displacement);
        let mut table_length = 0;
        if let Primitive::Lookup { table } = call.primitive {
            let tables = &self.parts.body.tables;
            table_length = tables[table as usize].len();
            let at = BASE + self.parts.pool.table_at(tables, table as usize) as u64;
            self.load_address_of(Real::RDX, at);
        }
        self.constant(Real::RCX, table_length as u64);
        self.constant(Real::R8, self.parts.lanes as u64);
        self.constant(Real::RAX, function as usize as u64);
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Call_rm64);
        set_register(&mut instruction, 0, Real::RAX);
        self.encode(&instruction);
        // What a function keeps are not the addresses, but for those in registers of its caller's.
    }

    fn set_gathered(
        &mut self,
        instruction: &mut Instruction,
        table: u32,
        index: u8,
        mask: u8,
        is_wide: bool,
    ) {
        let tables = &self.parts.body.tables;
        let at = BASE + self.parts.pool.table_at(tables, table as usize) as u64;
        self.load_address_of(self.roles.scratch, at);
        instruction.set_op_kind(1, OpKind::Memory);
        instruction.set_memory_base(self.roles.scratch);
        instruction.set_memory_index(vector(index, is_wide));
        instruction.set_memory_index_scale(8);
        set_register(instruction, 2, vector(mask, is_wide));
    }

    fn load_vector(&mut self, to: u8, from: Memory) {
        // An operand has as many bytes as are read of it; all else has those of a register.
        let is_half = matches!(from, Memory::Step { .. }) && self.is_half(from);
        let mut instruction = Instruction::default();
        instruction.set_code(match is_half {
            true => Code::VEX_Vmovups_xmm_xmmm128,
            false => Code::VEX_Vmovups_ymm_ymmm256,
        });
        set_register(&mut instruction, 0, vector(to, !is_half));
        self.set_place(&mut instruction, 1, from);
        self.encode(&instruction);
    }

    /// Whether the lanes of an operand fill half a register.
    fn is_half(&self, memory: Memory) -> bool {
        let Memory::Step { element_bytes, .. } = memory else { return false };
        self.parts.lanes * element_bytes as usize <= 16
    }

    /// Names a place in memory as an operand; the address of an array may have to be loaded before.
    fn set_place(&mut self, instruction: &mut Instruction, operand: u32, memory: Memory) {
        match memory {
            Memory::Pool(index) => {
                let address = BASE + u64::from(index) * 32;
                instruction.set_op_kind(operand, OpKind::Memory);
                instruction.set_memory_base(Real::RIP);
                instruction.set_memory_displacement64(address);
                instruction.set_memory_displ_size(1);
            }
            Memory::Frame(bytes) => {
                set_memory(
                    instruction,
                    operand,
                    Place64 { base: Real::RSP, displacement: bytes.into() },
                );
            }
            Memory::Row { operand: array, displacement } => {
                let base = self.pointer(array);
                set_memory(
                    instruction,
                    operand,
                    Place64 { base, displacement: displacement.into() },
                );
            }
            Memory::Step { operand: array, element_bytes, displacement } => {
                let base = self.pointer(array);
                set_memory(
                    instruction,
                    operand,
                    Place64 { base, displacement: displacement.into() },
                );
                let (index, scale) = match element_bytes {
                    16 => (self.roles.twice, 8),
                    bytes => (self.roles.index, bytes),
                };
                if element_bytes == 16 {
                    self.double_index();
                }
                instruction.set_memory_index(index);
                instruction.set_memory_index_scale(scale);
            }
            Memory::Table(_) => unreachable!("invariant: tables are gathered from"),
        }
    }

    fn double_index(&mut self) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Lea_r64_m);
        set_register(&mut instruction, 0, self.roles.twice);
        set_memory(&mut instruction, 1, Place64 { base: self.roles.index, displacement: 0 });
        instruction.set_memory_index(self.roles.index);
        instruction.set_memory_index_scale(1);
        self.encode(&instruction);
    }

    /// A register with the address of an operand in this row.
    fn pointer(&mut self, operand: u32) -> Real {
        match self.roles.pointers.get(operand as usize) {
            Some(&pointer) => pointer,
            None => {
                let place = self.operand_place(operand as usize);
                self.load_register(self.roles.scratch, place);
                self.roles.scratch
            }
        }
    }

    fn operand_place(&self, operand: usize) -> Place64 {
        Place64 { base: self.roles.operands, displacement: 8 * operand as i64 }
    }

    /// The frame: vectors first, then what follows.
    fn frame_bytes(&self) -> usize {
        self.parts.frame.bytes() as usize + 64
    }

    fn frame_word(&self, word: i64) -> Place64 {
        let first = i64::from(self.parts.frame.bytes());
        Place64 { base: Real::RSP, displacement: first + 8 * word }
    }

    /// Where the stack pointer, the strides and the number of rows are kept.
    fn saved_places(&self) -> [Place64; 3] {
        [0, 1, 2].map(|word| self.frame_word(word))
    }

    /// Where the addresses of a call's operands are written.
    fn call_operands(&self) -> Place64 {
        self.frame_word(3)
    }

    fn push_register(&mut self, register: Real) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Push_r64);
        set_register(&mut instruction, 0, register);
        self.encode(&instruction);
    }

    fn pop_register(&mut self, register: Real) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Pop_r64);
        set_register(&mut instruction, 0, register);
        self.encode(&instruction);
    }

    fn plain(&mut self, code: Code) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        self.encode(&instruction);
    }

    fn registers(&mut self, code: Code, to: Real, from: Real) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        set_register(&mut instruction, 0, to);
        set_register(&mut instruction, 1, from);
        self.encode(&instruction);
    }

    fn immediate(&mut self, code: Code, register: Real, value: i32) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        set_register(&mut instruction, 0, register);
        instruction.set_op_kind(1, OpKind::Immediate32to64);
        instruction.set_immediate32to64(value.into());
        self.encode(&instruction);
    }

    fn constant(&mut self, register: Real, value: u64) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Mov_r64_imm64);
        set_register(&mut instruction, 0, register);
        instruction.set_op_kind(1, OpKind::Immediate64);
        instruction.set_immediate64(value);
        self.encode(&instruction);
    }

    fn load_register(&mut self, register: Real, place: Place64) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Mov_r64_rm64);
        set_register(&mut instruction, 0, register);
        set_memory(&mut instruction, 1, place);
        self.encode(&instruction);
    }

    fn store_register(&mut self, place: Place64, register: Real) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Mov_rm64_r64);
        set_memory(&mut instruction, 0, place);
        set_register(&mut instruction, 1, register);
        self.encode(&instruction);
    }

    fn one_memory(&mut self, code: Code, place: Place64) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        set_memory(&mut instruction, 0, place);
        self.encode(&instruction);
    }

    fn load_address(&mut self, register: Real, base: Real, displacement: i64) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Lea_r64_m);
        set_register(&mut instruction, 0, register);
        set_memory(&mut instruction, 1, Place64 { base, displacement });
        self.encode(&instruction);
    }

    fn load_address_of(&mut self, register: Real, address: u64) {
        let mut instruction = Instruction::default();
        instruction.set_code(Code::Lea_r64_m);
        set_register(&mut instruction, 0, register);
        instruction.set_op_kind(1, OpKind::Memory);
        instruction.set_memory_base(Real::RIP);
        instruction.set_memory_displacement64(address);
        instruction.set_memory_displ_size(1);
        self.encode(&instruction);
    }

    fn jump(&mut self, code: Code, target: u64, label: &'static str) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        instruction.set_op_kind(0, OpKind::NearBranch64);
        instruction.set_near_branch64(target);
        self.encode_with(&instruction, label);
    }

    fn jump_ahead(&mut self, code: Code, label: &'static str) -> Jump {
        self.jump(code, self.address, label);
        Jump { at: self.length - 4, label }
    }

    /// Lets a jump come here.
    fn arrive(&mut self, jump: Jump) {
        self.label(jump.label);
        let distance = (self.length - jump.at - 4) as u32;
        let mut buffer = self.encoder.take_buffer();
        buffer[jump.at..jump.at + 4].copy_from_slice(&distance.to_le_bytes());
        self.encoder.set_buffer(buffer);
    }

    fn encode(&mut self, instruction: &Instruction) {
        self.encode_with(instruction, "");
    }

    /// As `encode`, of an instruction that may jump to `label`.
    fn encode_with(&mut self, instruction: &Instruction, label: &str) {
        if let Some(listing) = &mut self.listing {
            written(listing.text, instruction, label, |address| {
                self.parts.pool.describe(address.wrapping_sub(BASE))
            });
        }
        let length = self.encoder.encode(instruction, self.address);
        let length = length
            .unwrap_or_else(|error| unreachable!("invariant: {error} of {:?}", instruction.code()));
        self.address += length as u64;
        self.length += length;
    }

    fn label(&mut self, label: &str) {
        if let Some(listing) = &mut self.listing {
            let _ = writeln!(listing.text, "{label}:");
        }
    }

    /// The value for which the next of these steps are, those before its instruction too.
    fn note_value(&mut self, code: &MachineCode, steps: &[Step]) {
        let Some(listing) = &mut self.listing else { return };
        let value = |step: &Step| match *step {
            Step::Instruction { index, .. } => Some(code.instructions[index].value),
            _ => None,
        };
        steps.iter().find_map(value).into_iter().for_each(|value| listing.value(value));
    }

    /// What registers and memory hold, and which values have no instruction.
    fn note_operands(&mut self) {
        let Parts { row, step, lanes, .. } = *self.parts;
        let Some(listing) = &mut self.listing else { return };
        let Roles { index, limit, operands, pointers, .. } = *self.roles;
        listing.operands(pointers, operands);
        listing.loops(index, limit, lanes);
        let instructions = row.0.instructions.iter().chain(&step.0.instructions);
        listing.values_elsewhere(instructions.map(|instruction| instruction.value));
    }
}

/// A register and a distance.
#[derive(Clone, Copy)]
struct Place64 {
    base: Real,
    displacement: i64,
}

fn set_register(instruction: &mut Instruction, operand: u32, register: Real) {
    instruction.set_op_kind(operand, OpKind::Register);
    instruction.set_op_register(operand, register);
}

fn set_memory(instruction: &mut Instruction, operand: u32, place: Place64) {
    instruction.set_op_kind(operand, OpKind::Memory);
    instruction.set_memory_base(place.base);
    instruction.set_memory_displacement64(place.displacement as u64);
    instruction.set_memory_displ_size(1);
}

fn vector(real: u8, is_wide: bool) -> Real {
    let first = if is_wide { Real::YMM0 } else { Real::XMM0 };
    first + u32::from(real)
}

fn table_of(sources: &[Place; 3]) -> Option<Memory> {
    match sources[2] {
        Place::Memory(memory @ Memory::Table(_)) => Some(memory),
        _ => None,
    }
}

fn is_replacing(machine: &MachineInstruction) -> bool {
    use super::opcode::ResultRegister;
    matches!(machine.action, Action::Vector(opcode) if opcode.result == ResultRegister::First)
}
