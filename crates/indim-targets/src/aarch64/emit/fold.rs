//! The loops around steps that fold: over units, in each over strips of columns, in each over rows. The
//! accumulators of a strip are held in registers for all rows of a unit.
//!
//! The function is called with the addresses of its operands (which it moves from unit to unit), their
//! strides from unit to unit and behind these from row to row, the number of units, of columns and of rows,
//! and whether accumulators begin.

use super::super::assembler::Condition;
use super::{
    Emitter, FOLD_BEGINS, FOLD_ROWS, General, INDEX, LIMIT, OPERANDS, POINTERS, REGISTER_BYTES,
    SCRATCH, STRIDES, opcode,
};
use crate::compile::Accumulators;

/// The rows that are left of a unit.
const ROW_COUNT: General = 2;
/// The strides from row to row.
const ROW_STRIDES: General = 1;

/// So many operands, outputs among them not counted, have registers.
pub(in crate::aarch64) const MAX_OPERANDS: usize = POINTERS.len();

impl Emitter<'_> {
    /// One unit: all its strips.
    pub(super) fn unit(&mut self) {
        self.assembler.constant(INDEX, 0);
        self.point_to_strip();
        let (code, steps) = self.parts.row;
        self.steps(code, steps);
        for &(memory, real) in self.parts.pinned {
            self.load_vector(real, memory);
        }
        self.assembler.label("strip");
        let strip = self.assembler.position();
        self.load_accumulators();
        self.rows();
        for it in self.parts.accumulators {
            self.move_accumulators(opcode::STORE, it);
        }
        self.assembler.add_immediate(INDEX, INDEX, self.parts.lanes as u32);
        self.point_to_strip();
        self.assembler.compare(INDEX, LIMIT);
        let last = self.assembler.jump_ahead(Condition::Greater, "last");
        self.assembler.jump(strip, "strip");
        self.assembler.arrive(last);
    }

    /// All rows of a strip.
    fn rows(&mut self) {
        let [stride, scratch] = SCRATCH;
        let body = self.parts.body;
        self.assembler.load(ROW_COUNT, FOLD_ROWS);
        self.assembler.load(ROW_STRIDES, STRIDES);
        self.assembler.label("row");
        let row = self.assembler.position();
        let (code, steps) = self.parts.step;
        self.steps(code, steps);
        let first = self.parts.operands + body.outputs.len();
        for (input, &pointer) in self.pointers[..body.operand_count()].iter().enumerate() {
            let at = 8 * (first + input) as u32;
            let place = self.assembler.reach(ROW_STRIDES, at, 8, scratch);
            self.assembler.load(stride, place);
            self.assembler.add(pointer, pointer, stride, 0);
        }
        self.assembler.sub_immediate(ROW_COUNT, ROW_COUNT, 1);
        let folded = self.assembler.jump_ahead(Condition::Zero(ROW_COUNT), "folded");
        self.assembler.jump(row, "row");
        self.assembler.arrive(folded);
    }

    /// Lets registers point to the inputs in the first row of a strip.
    fn point_to_strip(&mut self) {
        let body = self.parts.body;
        for input in 0..body.operand_count() {
            self.load_operand(self.pointers[input], body.outputs.len() + input);
        }
        for (pointer, bytes) in self.moving() {
            self.assembler.add(pointer, pointer, INDEX, bytes.ilog2());
        }
    }

    /// The accumulators of a strip: what memory holds, unless they begin.
    fn load_accumulators(&mut self) {
        let begins = 0;
        self.assembler.load(begins, FOLD_BEGINS);
        let held = self.assembler.jump_ahead(Condition::Zero(begins), "held");
        for it in self.parts.accumulators {
            self.load_vector(it.real, it.identity);
        }
        let ready = self.assembler.jump_ahead(Condition::NotZero(begins), "ready");
        self.assembler.arrive(held);
        for it in self.parts.accumulators {
            self.move_accumulators(opcode::LOAD, it);
        }
        self.assembler.arrive(ready);
    }

    /// Moves accumulators of the strip from or to memory.
    fn move_accumulators(&mut self, family: opcode::Family, it: &Accumulators) {
        let [address, scratch] = SCRATCH;
        let bytes = (self.parts.copy_lanes as u32 * it.element_bytes).min(REGISTER_BYTES);
        let place = self.assembler.reach(OPERANDS, 8 * it.output, 8, scratch);
        self.assembler.load(address, place);
        self.assembler.add(address, address, INDEX, it.element_bytes.ilog2());
        let place = self.assembler.reach(address, it.displacement, bytes, scratch);
        self.assembler.vector_move(family.of(bytes as usize), it.real, place, String::new);
    }
}
