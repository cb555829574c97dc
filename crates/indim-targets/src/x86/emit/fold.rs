//! The loops of bodies that fold: over units, strips of columns, and rows. A strip is the columns of one
//! step; its accumulators stay in registers for all rows of a unit.
//!
//! Arguments of the function: the array of operand addresses, which the code advances from unit to unit; the
//! array of strides in bytes, from unit to unit and then from row to row; the number of units, columns and
//! rows; and the mode, how accumulators begin: 0 from memory, 1 from the identity, `REDUCE_LANES_MODE` from
//! the identity and combined at the end of a unit.

use iced_x86::{Code, Register as PhysicalRegister};

use super::moves::move_codes;
use super::{Address, CALLEE_SAVED, Emitter, Operand, Roles, X86Input, vector_register};
use crate::fold_function::REDUCE_LANES_MODE;
use crate::x86::assembler::Jump;
use crate::x86::instruction_set::X86InstructionSet;
use indim_codegen::compile::AccumulatorRegister;
use indim_codegen::layout::OperandForm;

/// Frame word of the number of rows.
const ROWS_WORD: i64 = 6;

/// Frame word of the argument `mode`.
const MODE_WORD: i64 = 7;

/// Row counter. Bodies that fold do not use it as a pointer register.
const ROW_COUNT: PhysicalRegister = PhysicalRegister::R15;

/// Rows of one iteration of the unrolled loop. A summation block has 16 rows, so its loop ends after four
/// iterations instead of 16. `sum((x-y)^2)` of 64 KiB takes 0.87 of the time (Xeon with AVX-512).
const UNROLLED_ROWS: i32 = 4;

/// Maximum number of instructions of an unrolled step: the loop then has at most about 1 KiB of code.
const MAX_UNROLLED_STEP: usize = 40;

/// Bytes of a cache line, which a prefetch loads.
const CACHE_LINE: usize = 64;

/// Maximum number of inputs, each with a pointer register.
pub(in crate::x86) const MAX_FOLD_INPUTS: usize = 9;

impl<S: X86InstructionSet> Emitter<'_, S> {
    pub(super) fn emit_fold_function(&mut self) {
        for register in CALLEE_SAVED {
            self.assembler.emit(Code::Push_r64, &[Operand::Register(register)]);
        }
        self.emit_prologue();
        let [rows, mode] = [ROWS_WORD, MODE_WORD].map(|word| self.frame_word(word));
        self.store(rows, PhysicalRegister::R8);
        self.store(mode, PhysicalRegister::R9);
        let unit = self.assembler.address();
        self.assembler.label("unit");
        self.emit_unit();
        let [_, strides, units] = self.saved_words();
        self.assembler.emit(Code::Dec_rm64, &[Operand::Memory(units)]);
        let end = self.assembler.jump_forward(Code::Je_rel32_64, "end");
        self.load(self.roles.scratch, strides);
        self.move_operands(0);
        self.assembler.jump(Code::Jmp_rel32_64, unit, "unit");
        self.assembler.bind(end);
        self.emit_epilogue();
    }

    /// One unit: all its strips.
    fn emit_unit(&mut self) {
        let Roles { index, limit, .. } = *self.roles;
        self.load_pointers();
        let (code, allocated) = self.input.row;
        self.emit_code(code, allocated);
        self.load_pinned();
        self.assembler.registers(Code::Xor_r64_rm64, index, index);
        self.assembler.label("strip");
        let strip = self.assembler.address();
        self.load_accumulators();
        self.emit_rows();
        self.store_or_reduce_accumulators();
        self.load_pointers();
        self.immediate(Code::Add_rm64_imm32, index, self.input.lanes as i32);
        self.assembler.registers(Code::Cmp_r64_rm64, index, limit);
        self.assembler.jump(Code::Jle_rel32_64, strip, "strip");
    }

    /// All rows of a strip. A short step is unrolled; single steps fold the rows that remain.
    fn emit_rows(&mut self) {
        self.load(ROW_COUNT, self.frame_word(ROWS_WORD));
        let folded = self.is_unrolled().then(|| self.emit_unrolled_rows());
        self.assembler.label("row");
        let row = self.assembler.address();
        self.emit_row_step();
        self.assembler.emit(Code::Dec_rm64, &[Operand::Register(ROW_COUNT)]);
        self.assembler.jump(Code::Jne_rel32_64, row, "row");
        if let Some(folded) = folded {
            self.assembler.bind(folded);
        }
    }

    fn is_unrolled(&self) -> bool {
        self.input.step.1.len() <= MAX_UNROLLED_STEP
    }

    /// Loop over groups of `UNROLLED_ROWS` rows. Returns the jump for the case that no row remains.
    fn emit_unrolled_rows(&mut self) -> Jump {
        self.immediate(Code::Cmp_rm64_imm32, ROW_COUNT, UNROLLED_ROWS);
        let too_few_rows = self.assembler.jump_forward(Code::Jb_rel32_64, "few");
        self.assembler.label("rows");
        let rows = self.assembler.address();
        for _ in 0..UNROLLED_ROWS {
            self.emit_row_step();
        }
        self.immediate(Code::Sub_rm64_imm32, ROW_COUNT, UNROLLED_ROWS);
        self.immediate(Code::Cmp_rm64_imm32, ROW_COUNT, UNROLLED_ROWS);
        self.assembler.jump(Code::Jae_rel32_64, rows, "rows");
        self.immediate(Code::Cmp_rm64_imm32, ROW_COUNT, 0);
        let folded = self.assembler.jump_forward(Code::Je_rel32_64, "folded");
        self.assembler.bind(too_few_rows);
        folded
    }

    /// The step of one row; advances the pointers to the next row.
    fn emit_row_step(&mut self) {
        let (code, allocated) = self.input.step;
        self.emit_code(code, allocated);
        if self.input.layout.has_prefetch {
            self.prefetch_next_strip();
        }
        let X86Input { body, operands, .. } = *self.input;
        let [_, strides, _] = self.saved_words();
        let scratch = self.roles.scratch;
        self.load(scratch, strides);
        for input in 0..body.non_accumulator_input_count() {
            let stride = 8 * (operands + body.outputs.len() + input) as i64;
            let pointer = Operand::Register(self.roles.pointers[input]);
            let stride = Operand::Memory(Address::new(scratch, stride));
            self.assembler.emit(Code::Add_r64_rm64, &[pointer, stride]);
        }
    }

    /// Prefetches the elements of the next strip in the current row.
    fn prefetch_next_strip(&mut self) {
        let X86Input { body, layout, lanes, .. } = *self.input;
        for input in (0..body.non_accumulator_input_count())
            .filter(|&it| layout.inputs[it] == OperandForm::Dense)
        {
            let size = body.inputs[input].size();
            let index = match size {
                16 => (self.double_index(), 8),
                bytes => (self.roles.index, bytes as u32),
            };
            for line in (0..lanes * size).step_by(CACHE_LINE) {
                let displacement = (lanes * size + line) as i64;
                let base = self.roles.pointers[input];
                let ahead = Operand::Memory(Address { base, index: Some(index), displacement });
                self.assembler.emit(Code::Prefetcht0_m8, &[ahead]);
            }
        }
    }

    /// Loads the addresses of the inputs in the first row of the unit.
    fn load_pointers(&mut self) {
        let body = self.input.body;
        for input in 0..body.non_accumulator_input_count() {
            let place = self.operand_address(body.outputs.len() + input);
            self.load(self.roles.pointers[input], place);
        }
    }

    /// Loads the accumulators of a strip: from memory, or the identity if the argument `mode` is not 0.
    fn load_accumulators(&mut self) {
        let mode = Operand::Memory(self.frame_word(MODE_WORD));
        self.assembler.emit(Code::Cmp_rm64_imm32, &[mode, Operand::Immediate32(0)]);
        let held = self.assembler.jump_forward(Code::Je_rel32_64, "held");
        for it in self.input.accumulators {
            self.load_vector(it.physical, it.identity);
        }
        let ready = self.assembler.jump_forward(Code::Jmp_rel32_64, "ready");
        self.assembler.bind(held);
        for it in self.input.accumulators {
            let place = Operand::Memory(self.accumulator_address(it));
            let bytes = self.accumulator_bytes(it);
            let register = Operand::Register(vector_register(it.physical, bytes));
            self.assembler.emit(move_codes::<S>(bytes)[0], &[register, place]);
        }
        self.assembler.bind(ready);
    }

    /// Stores the accumulators of a strip, or combines those of each output into one, a node of the
    /// summation tree, if `mode` is `REDUCE_LANES_MODE`.
    fn store_or_reduce_accumulators(&mut self) {
        let Some(reductions) = self.input.lane_reductions else { return self.store_accumulators() };
        let mode = Operand::Memory(self.frame_word(MODE_WORD));
        let reduce_mode = Operand::Immediate32(REDUCE_LANES_MODE as i32);
        self.assembler.emit(Code::Cmp_rm64_imm32, &[mode, reduce_mode]);
        let apart = self.assembler.jump_forward(Code::Jne_rel32_64, "lanes");
        self.store_nodes(reductions);
        let left = self.assembler.jump_forward(Code::Jmp_rel32_64, "left");
        self.assembler.bind(apart);
        self.store_accumulators();
        self.assembler.bind(left);
    }

    fn store_accumulators(&mut self) {
        for it in self.input.accumulators {
            let place = Operand::Memory(self.accumulator_address(it));
            let bytes = self.accumulator_bytes(it);
            let register = Operand::Register(vector_register(it.physical, bytes));
            self.assembler.emit(move_codes::<S>(bytes)[1], &[place, register]);
        }
    }

    /// Bytes of the accumulators in a register.
    fn accumulator_bytes(&self, it: &AccumulatorRegister) -> u32 {
        (self.input.copy_lanes as u32 * it.element_bytes).min(S::REGISTER_BYTES)
    }

    /// Address in memory of the accumulators in a register.
    fn accumulator_address(&mut self, it: &AccumulatorRegister) -> Address {
        let Roles { index, scratch, .. } = *self.roles;
        self.load(scratch, self.operand_address(it.output as usize));
        let index = Some((index, it.element_bytes));
        Address { base: scratch, index, displacement: it.displacement.into() }
    }
}
