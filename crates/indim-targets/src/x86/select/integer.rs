//! Primitives on integers.

use super::super::opcode::{self, Opcode};
use super::{Parts, Selector};
use indim_codegen::{LaneType, Primitive, Value};

impl Selector<'_> {
    /// Computes a value whose last operand is an integer; not all there are.
    pub(super) fn integer_instruction(&mut self, value: Value) -> bool {
        let instruction = *self.body.instruction(value);
        match instruction.primitive {
            Primitive::Select => self.select(value),
            Primitive::Cast => self.cast(value),
            Primitive::WidenF16 => self.widen_f16(value),
            Primitive::Lookup { table } => self.lookup(value, table),
            primitive => {
                let operand = self.body.lane(instruction.operands[0]);
                let x = self.number(instruction.operands[0]);
                if let Primitive::Bits = primitive {
                    return self.set(value, x);
                }
                let y = instruction.operands()[instruction.operands().len() - 1];
                if is_shift(primitive) {
                    return self.shift(value, primitive, x, y);
                }
                let y = self.number(y);
                match primitive {
                    Primitive::Equal | Primitive::Less | Primitive::LessUnsigned => {
                        self.compare_integers(value, primitive, operand, x, y)
                    }
                    _ => self.arithmetic(value, primitive, x, y),
                }
            }
        }
    }

    fn arithmetic(&mut self, value: Value, primitive: Primitive, x: Parts, y: Parts) -> bool {
        let lane = self.body.lane(value);
        let size = lane.size();
        let parts = match primitive {
            Primitive::And => self.pairs(opcode::AND, size, x, y),
            Primitive::Or => self.pairs(opcode::OR, size, x, y),
            Primitive::Xor => self.pairs(opcode::XOR, size, x, y),
            Primitive::Not => self.not(x, size),
            Primitive::Add => self.pairs(add(size), size, x, y),
            Primitive::Sub => self.pairs(sub(size), size, x, y),
            Primitive::Mul => self.mul(size, x, y),
            Primitive::MulHigh => match lane {
                LaneType::I16 => self.pairs(opcode::MUL_HIGH_I16, size, x, y),
                LaneType::U16 => self.pairs(opcode::MUL_HIGH_U16, size, x, y),
                LaneType::I32 => self.mul_high_32(opcode::MUL_WIDE_I32, x, y),
                LaneType::U32 => self.mul_high_32(opcode::MUL_WIDE_U32, x, y),
                _ => return false,
            },
            _ => return false,
        };
        self.set(value, parts)
    }

    fn mul(&mut self, size: usize, x: Parts, y: Parts) -> Parts {
        match size {
            1 => {
                // The products of the even bytes are in the low halves, those of the odd ones in the high.
                let even = self.pairs(opcode::MUL_16, 1, x, y);
                let even = self.with(opcode::AND, 2, even, 0x00ff);
                let [x, y] = [x, y].map(|x| self.each(opcode::SHIFT_RIGHT_16, 1, x, Some(8)));
                let odd = self.pairs(opcode::MUL_16, 1, x, y);
                let odd = self.each(opcode::SHIFT_LEFT_16, 1, odd, Some(8));
                self.pairs(opcode::OR, 1, even, odd)
            }
            2 => self.pairs(opcode::MUL_16, 2, x, y),
            4 => self.pairs(opcode::MUL_32, 4, x, y),
            _ => {
                let [high_x, high_y] =
                    [x, y].map(|x| self.each(opcode::SHIFT_RIGHT_64, 8, x, Some(32)));
                let crossed = self.pairs(opcode::MUL_WIDE_U32, 8, high_x, y);
                let other = self.pairs(opcode::MUL_WIDE_U32, 8, x, high_y);
                let crossed = self.pairs(opcode::ADD_64, 8, crossed, other);
                let crossed = self.each(opcode::SHIFT_LEFT_64, 8, crossed, Some(32));
                let low = self.pairs(opcode::MUL_WIDE_U32, 8, x, y);
                self.pairs(opcode::ADD_64, 8, low, crossed)
            }
        }
    }

    fn mul_high_32(&mut self, wide: Opcode, x: Parts, y: Parts) -> Parts {
        let even = self.pairs(wide, 4, x, y);
        let even = self.each(opcode::SHIFT_RIGHT_64, 4, even, Some(32));
        let [x, y] = [x, y].map(|x| self.each(opcode::SHIFT_RIGHT_64, 4, x, Some(32)));
        let odd = self.pairs(wide, 4, x, y);
        self.pairs_with(opcode::BLEND_CONSTANT_32, 4, even, odd, Some(0xaa))
    }

    fn compare_integers(
        &mut self,
        value: Value,
        primitive: Primitive,
        lane: LaneType,
        x: Parts,
        y: Parts,
    ) -> bool {
        let size = lane.size();
        let parts = match primitive {
            Primitive::Equal => self.pairs(equal(size), size, x, y),
            Primitive::Less if lane.is_signed() => self.pairs(greater(size), size, y, x),
            _ => {
                let sign = 1 << (8 * size - 1);
                let [x, y] = [x, y].map(|x| self.with(opcode::XOR, size, x, sign));
                self.pairs(greater(size), size, y, x)
            }
        };
        self.set_mask(value, size, parts)
    }

    fn shift(&mut self, value: Value, primitive: Primitive, x: Parts, amount: Value) -> bool {
        let size = self.body.lane(value).size();
        let parts = match self.body.instruction(amount).primitive {
            Primitive::Constant(bits) => {
                let amount = (bits & (8 * size as u64 - 1)) as u8;
                Some(self.shift_by(primitive, size, x, amount))
            }
            _ => {
                let amount = self.number(amount);
                self.shift_each(primitive, size, x, amount)
            }
        };
        parts.is_some_and(|parts| self.set(value, parts))
    }

    /// Shifts by a constant.
    fn shift_by(&mut self, primitive: Primitive, size: usize, x: Parts, amount: u8) -> Parts {
        let bits = 8 * size as u32;
        match (primitive, size) {
            (Primitive::ShiftLeft, 1) => {
                let shifted = self.each(opcode::SHIFT_LEFT_16, 1, x, Some(amount));
                self.with(opcode::AND, 1, shifted, 0xff << amount)
            }
            (Primitive::ShiftRightLogical, 1) => {
                let shifted = self.each(opcode::SHIFT_RIGHT_16, 1, x, Some(amount));
                self.with(opcode::AND, 1, shifted, 0xff >> amount)
            }
            (Primitive::ShiftLeft, 2) => self.each(opcode::SHIFT_LEFT_16, 2, x, Some(amount)),
            (Primitive::ShiftLeft, 4) => self.each(opcode::SHIFT_LEFT_32, 4, x, Some(amount)),
            (Primitive::ShiftLeft, _) => self.each(opcode::SHIFT_LEFT_64, 8, x, Some(amount)),
            (Primitive::ShiftRightLogical, 2) => {
                self.each(opcode::SHIFT_RIGHT_16, 2, x, Some(amount))
            }
            (Primitive::ShiftRightLogical, 4) => {
                self.each(opcode::SHIFT_RIGHT_32, 4, x, Some(amount))
            }
            (Primitive::ShiftRightLogical, _) => {
                self.each(opcode::SHIFT_RIGHT_64, 8, x, Some(amount))
            }
            (_, 2) => self.each(opcode::SHIFT_SIGNED_16, 2, x, Some(amount)),
            (_, 4) => self.each(opcode::SHIFT_SIGNED_32, 4, x, Some(amount)),
            _ => {
                let shifted = self.shift_by(Primitive::ShiftRightLogical, size, x, amount);
                self.extended(shifted, size, 1 << (bits - 1 - u32::from(amount)))
            }
        }
    }

    /// Numbers with copies of their top bit above it, where that is `sign`.
    fn extended(&mut self, x: Parts, size: usize, sign: u64) -> Parts {
        let flipped = self.with(opcode::XOR, size, x, sign);
        self.with(sub(size), size, flipped, sign)
    }

    /// Shifts by an amount for each lane.
    fn shift_each(
        &mut self,
        primitive: Primitive,
        size: usize,
        x: Parts,
        amount: Parts,
    ) -> Option<Parts> {
        if size < 4 {
            return None;
        }
        let amount = self.with(opcode::AND, size, amount, 8 * size as u64 - 1);
        let opcode = match (primitive, size) {
            (Primitive::ShiftLeft, 4) => opcode::SHIFT_LEFT_EACH_32,
            (Primitive::ShiftLeft, _) => opcode::SHIFT_LEFT_EACH_64,
            (Primitive::ShiftRightLogical, 4) => opcode::SHIFT_RIGHT_EACH_32,
            (_, 4) => opcode::SHIFT_SIGNED_EACH_32,
            _ => opcode::SHIFT_RIGHT_EACH_64,
        };
        let shifted = self.pairs(opcode, size, x, amount);
        if let (Primitive::ShiftRightArithmetic, 8) = (primitive, size) {
            let top = self.constant(1 << 63, 8);
            let sign = self.pairs(opcode, size, Parts::same(x.count, top), amount);
            let flipped = self.pairs(opcode::XOR, size, shifted, sign);
            return Some(self.pairs(opcode::SUB_64, size, flipped, sign));
        }
        Some(shifted)
    }

    /// The entries of a table; `false` for types without an instruction.
    fn lookup(&mut self, value: Value, table: u32) -> bool {
        let size = self.body.lane(value).size();
        let gather = match size {
            4 => opcode::GATHER_32,
            8 => opcode::GATHER_64,
            _ => return false,
        };
        let index = self.number(self.body.instruction(value).operands[0]);
        let last = self.body.tables[table as usize].len() as u64 - 1;
        let index = self.with(opcode::AND, size, index, last);
        let is_wide = self.is_wide(size);
        let parts = index.map(|part| {
            // The mask of ones is lost: each time there must be another one.
            let ones = self.vector(opcode::EQUAL_32, is_wide, &[part, part]);
            self.read_table(gather, is_wide, [part, ones], table)
        });
        self.set(value, parts)
    }
}

fn is_shift(primitive: Primitive) -> bool {
    use Primitive::{ShiftLeft, ShiftRightArithmetic, ShiftRightLogical};
    matches!(primitive, ShiftLeft | ShiftRightLogical | ShiftRightArithmetic)
}

pub(super) fn add(size: usize) -> Opcode {
    match size {
        1 => opcode::ADD_8,
        2 => opcode::ADD_16,
        4 => opcode::ADD_32,
        _ => opcode::ADD_64,
    }
}

pub(super) fn sub(size: usize) -> Opcode {
    match size {
        1 => opcode::SUB_8,
        2 => opcode::SUB_16,
        4 => opcode::SUB_32,
        _ => opcode::SUB_64,
    }
}

fn equal(size: usize) -> Opcode {
    match size {
        1 => opcode::EQUAL_8,
        2 => opcode::EQUAL_16,
        4 => opcode::EQUAL_32,
        _ => opcode::EQUAL_64,
    }
}

/// Greater than, of signed lanes of `size` bytes.
pub(super) fn greater(size: usize) -> Opcode {
    match size {
        1 => opcode::GREATER_8,
        2 => opcode::GREATER_16,
        4 => opcode::GREATER_32,
        _ => opcode::GREATER_64,
    }
}
