//! The loops of bodies that fold: over units, strips of columns, and rows. A unit is a matrix whose rows
//! are folded into one row of accumulators. A strip is the columns of one step; its accumulators stay in
//! registers for all rows of a unit.
//!
//! Arguments of the function: the array of operand addresses, which the code advances from unit to unit; the
//! array of strides in bytes, from unit to unit and then from row to row; the number of units, columns and
//! rows; and whether accumulators begin from the identity instead of memory.

use super::super::assembler::Condition;
use super::{
    Emitter, FOLD_MODE, FOLD_ROWS, GeneralRegister, INDEX, LIMIT, OPERANDS, POINTERS,
    REGISTER_BYTES, SCRATCH, STRIDES, opcode,
};
use crate::fold_function::{MAX_FOLD_OPERANDS, MAX_FOLDS};
use indim_codegen::compile::AccumulatorRegister;

/// Number of rows left in the unit.
const ROW_COUNT: GeneralRegister = 2;
/// Address of the strides.
const ROW_STRIDES: GeneralRegister = 1;

/// Maximum number of inputs. Each has a pointer register; there are more of these registers.
pub(in crate::aarch64) const MAX_FOLD_INPUTS: usize = MAX_FOLD_OPERANDS - MAX_FOLDS;

const _: () = assert!(MAX_FOLD_INPUTS <= POINTERS.len());

impl Emitter<'_> {
    /// One unit: all its strips.
    pub(super) fn emit_unit(&mut self) {
        self.assembler.constant(INDEX, 0);
        self.point_to_strip();
        let (code, allocated) = self.input.row;
        self.emit_code(code, allocated);
        for &(memory, physical) in self.input.pinned {
            self.load_vector(physical, memory);
        }
        self.assembler.label("strip");
        let strip = self.assembler.position();
        self.load_accumulators();
        self.emit_rows();
        for it in self.input.accumulators {
            self.move_accumulators(opcode::STORE, it);
        }
        self.assembler.add_immediate(INDEX, INDEX, self.input.lanes as u32);
        self.point_to_strip();
        self.assembler.compare(INDEX, LIMIT);
        let last = self.assembler.jump_forward(Condition::Greater, "last");
        self.assembler.jump(strip, "strip");
        self.assembler.bind(last);
    }

    /// All rows of a strip.
    fn emit_rows(&mut self) {
        let [stride, scratch] = SCRATCH;
        let body = self.input.body;
        self.assembler.load(ROW_COUNT, FOLD_ROWS);
        self.assembler.load(ROW_STRIDES, STRIDES);
        self.assembler.label("row");
        let row = self.assembler.position();
        let (code, allocated) = self.input.step;
        self.emit_code(code, allocated);
        let first = self.input.operands + body.outputs.len();
        for (input, &pointer) in
            self.pointers[..body.non_accumulator_input_count()].iter().enumerate()
        {
            let at = 8 * (first + input) as u32;
            let place = self.assembler.encodable_address(ROW_STRIDES, at, 8, scratch);
            self.assembler.load(stride, place);
            self.assembler.add(pointer, pointer, stride, 0);
        }
        self.assembler.sub_immediate(ROW_COUNT, ROW_COUNT, 1);
        let folded = self.assembler.jump_forward(Condition::Zero(ROW_COUNT), "folded");
        self.assembler.jump(row, "row");
        self.assembler.bind(folded);
    }

    /// Loads the addresses of the inputs in the first row of a strip.
    fn point_to_strip(&mut self) {
        let body = self.input.body;
        for input in 0..body.non_accumulator_input_count() {
            self.load_operand(self.pointers[input], body.outputs.len() + input);
        }
        for (pointer, bytes) in self.dense_pointers() {
            self.assembler.add(pointer, pointer, INDEX, bytes.ilog2());
        }
    }

    /// Loads the accumulators of a strip: from memory, or the identity if the argument `mode` is not 0.
    fn load_accumulators(&mut self) {
        let mode = 0;
        self.assembler.load(mode, FOLD_MODE);
        let held = self.assembler.jump_forward(Condition::Zero(mode), "held");
        for it in self.input.accumulators {
            self.load_vector(it.physical, it.identity);
        }
        let ready = self.assembler.jump_forward(Condition::NotZero(mode), "ready");
        self.assembler.bind(held);
        for it in self.input.accumulators {
            self.move_accumulators(opcode::LOAD, it);
        }
        self.assembler.bind(ready);
    }

    /// Loads or stores the accumulators in a register.
    fn move_accumulators(&mut self, family: opcode::InstructionFamily, it: &AccumulatorRegister) {
        let [address, scratch] = SCRATCH;
        let bytes = (self.input.copy_lanes as u32 * it.element_bytes).min(REGISTER_BYTES);
        let place = self.assembler.encodable_address(OPERANDS, 8 * it.output, 8, scratch);
        self.assembler.load(address, place);
        self.assembler.add(address, address, INDEX, it.element_bytes.ilog2());
        let place = self.assembler.encodable_address(address, it.displacement, bytes, scratch);
        self.assembler.vector_move(family.of(bytes as usize), it.physical, place, String::new);
    }
}
