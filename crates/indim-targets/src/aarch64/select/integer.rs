//! Lowering of primitives on integers.

use super::super::opcode::{self, InstructionFamily};
use super::{NeonSelector, Opcode, RegisterGroup, TargetLowering};
use indim_codegen::{LaneType, Primitive, SsaValue};

impl NeonSelector<'_, '_> {
    /// Lowers a primitive whose last operand is an integer; `false` if there is no short sequence.
    pub(super) fn integer_instruction(&mut self, value: SsaValue) -> bool {
        let instruction = *self.body.instruction(value);
        let [first, second, _] = instruction.operands;
        let lane = self.body.lane(first);
        let size = lane.size();
        let x = self.number(first);
        match instruction.primitive {
            Primitive::ShiftLeft
            | Primitive::ShiftRightLogical
            | Primitive::ShiftRightArithmetic => {
                let group = self.shift(instruction.primitive, size, x, second);
                return self.set(value, group);
            }
            Primitive::Lookup { table } => return self.lookup(value, table),
            _ => {}
        }
        let y = match instruction.operands().len() {
            1 => x,
            _ => self.number(second),
        };
        let group = match instruction.primitive {
            Primitive::Equal => {
                let group = self.binary(opcode::EQUAL.of(size), size, x, y);
                return self.set_mask(value, size, group);
            }
            Primitive::Less if lane.is_signed() => {
                let group = self.binary(opcode::GREATER_SIGNED.of(size), size, y, x);
                return self.set_mask(value, size, group);
            }
            Primitive::Less | Primitive::LessUnsigned => {
                let group = self.binary(opcode::GREATER_UNSIGNED.of(size), size, y, x);
                return self.set_mask(value, size, group);
            }
            Primitive::And => self.binary(Opcode::AND, size, x, y),
            Primitive::Or => self.binary(Opcode::OR, size, x, y),
            Primitive::Xor => self.binary(Opcode::XOR, size, x, y),
            Primitive::Not => self.not(x, size),
            Primitive::Add => self.binary(opcode::ADD.of(size), size, x, y),
            Primitive::Sub => self.binary(opcode::SUB.of(size), size, x, y),
            Primitive::Mul if size == 8 => self.mul_64(x, y),
            Primitive::Mul => self.binary(opcode::MUL.of(size), size, x, y),
            Primitive::MulHigh if size < 8 => self.mul_high(lane, x, y),
            Primitive::LeadingZeros if size < 8 => {
                self.unary(opcode::LEADING_ZEROS.of(size), size, x, None)
            }
            Primitive::CountOnes => self.count_ones(size, x),
            _ => return false,
        };
        self.set(value, group)
    }

    /// The low halves of 64-bit products: the product of the low halves, plus the crossed products in the
    /// upper half. The crossed products need their low 32 bits only.
    fn mul_64(&mut self, x: RegisterGroup, y: RegisterGroup) -> RegisterGroup {
        let reversed = self.unary(opcode::REVERSE.of(4), 8, y, None);
        let crossed = self.binary(opcode::MUL.of(4), 8, x, reversed);
        let crossed = self.unary(opcode::ADD_PAIRS.of(4), 8, crossed, None);
        let crossed = self.unary(opcode::SHIFT_LEFT.of(8), 8, crossed, Some(32));
        let [x, y] = [x, y].map(|x| self.binary(opcode::EVEN.of(4), 8, x, x));
        let low = self.binary(opcode::MUL_LONG_UNSIGNED.of(4), 8, x, y);
        self.binary(opcode::ADD.of(8), 8, low, crossed)
    }

    /// The upper halves of products: the odd lanes of the products with lanes of twice the size.
    fn mul_high(&mut self, lane: LaneType, x: RegisterGroup, y: RegisterGroup) -> RegisterGroup {
        let size = lane.size();
        let products = match lane.is_signed() {
            true => [opcode::MUL_LONG_SIGNED, opcode::MUL_LONG_SIGNED_HIGH],
            false => [opcode::MUL_LONG_UNSIGNED, opcode::MUL_LONG_UNSIGNED_HIGH],
        };
        let [low, high] = products.map(|family| self.binary(family.of(size), size, x, y));
        RegisterGroup::new(x.count, |index| {
            self.emit(opcode::ODD.of(size), true, &[low.register(index), high.register(index)])
        })
    }

    /// The number of one bits: counts those of each byte and adds adjacent counts.
    fn count_ones(&mut self, size: usize, x: RegisterGroup) -> RegisterGroup {
        let mut counts = self.unary(opcode::COUNT_ONES.of(1), size, x, None);
        let mut width = 1;
        while width < size {
            counts = self.unary(opcode::ADD_PAIRS.of(width), size, counts, None);
            width *= 2;
        }
        counts
    }

    fn shift(
        &mut self,
        primitive: Primitive,
        size: usize,
        x: RegisterGroup,
        amount: SsaValue,
    ) -> RegisterGroup {
        let last = 8 * size as u64 - 1;
        if let Primitive::Constant(bits) = self.body.instruction(amount).primitive {
            let family: InstructionFamily = match primitive {
                Primitive::ShiftLeft => opcode::SHIFT_LEFT,
                Primitive::ShiftRightLogical => opcode::SHIFT_RIGHT_UNSIGNED,
                _ => opcode::SHIFT_RIGHT_SIGNED,
            };
            return match (bits & last) as u8 {
                0 => x,
                amount => self.unary(family.of(size), size, x, Some(amount)),
            };
        }
        let amount = self.number(amount);
        let amount = self.binary_constant(Opcode::AND, size, amount, last);
        let is_left = primitive == Primitive::ShiftLeft;
        let amount = match is_left {
            true => amount,
            false => self.unary(opcode::NEG.of(size), size, amount, None),
        };
        let family = match primitive {
            Primitive::ShiftRightArithmetic => opcode::SHIFT_EACH_SIGNED,
            _ => opcode::SHIFT_EACH_UNSIGNED,
        };
        self.binary(family.of(size), size, x, amount)
    }

    /// Lowers a table lookup; `false` for lanes narrower than 4 bytes.
    fn lookup(&mut self, value: SsaValue, table: u32) -> bool {
        let size = self.body.lane(value).size();
        if size < 4 {
            return false;
        }
        let operand = self.body.instruction(value).operands[0];
        let index = self.number(operand);
        let last = self.body.tables[table as usize].len() as u64 - 1;
        let index = self.binary_constant(Opcode::AND, size, index, last);
        let is_wide = self.is_wide(size);
        let group = index
            .map(|register| self.emit_gather(opcode::GATHER.of(size), is_wide, [register], table));
        self.set(value, group)
    }
}
