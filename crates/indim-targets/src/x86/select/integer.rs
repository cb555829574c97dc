//! Lowering of primitives on integers.

use super::super::instruction_set::X86InstructionSet;
use super::super::opcode::Opcode;
use super::{RegisterGroup, X86Selector};
use indim_codegen::{LaneType, Primitive, SsaValue};

impl<S: X86InstructionSet> X86Selector<'_, '_, S> {
    /// Lowers a primitive whose last operand is an integer; `false` if there is no short sequence.
    pub(super) fn integer_instruction(&mut self, value: SsaValue) -> bool {
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
                if (primitive, operand) == (Primitive::MulHigh, LaneType::U64) {
                    let group = self.mul_high_64(x, y);
                    return self.set(value, group);
                }
                let y = self.number(y);
                match primitive {
                    Primitive::Equal | Primitive::Less | Primitive::LessUnsigned => {
                        let group = S::compare_integers(self, primitive, operand, x, y);
                        self.set_mask(value, operand.size(), group)
                    }
                    _ => self.arithmetic(value, primitive, x, y),
                }
            }
        }
    }

    fn arithmetic(
        &mut self,
        value: SsaValue,
        primitive: Primitive,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> bool {
        let lane = self.body.lane(value);
        let size = lane.size();
        let group = match primitive {
            Primitive::And => self.binary(Opcode::BITS_AND, size, x, y),
            Primitive::Or => self.binary(Opcode::BITS_OR, size, x, y),
            Primitive::Xor => self.binary(Opcode::BITS_XOR, size, x, y),
            Primitive::Not => self.not(x, size),
            Primitive::Add => self.binary(add(size), size, x, y),
            Primitive::Sub => self.binary(sub(size), size, x, y),
            Primitive::Mul => self.mul(size, x, y),
            Primitive::MulHigh => match lane {
                LaneType::I16 => self.binary(Opcode::MUL_HIGH_I16, size, x, y),
                LaneType::U16 => self.binary(Opcode::MUL_HIGH_U16, size, x, y),
                LaneType::I32 => self.mul_high_32(Opcode::MUL_WIDE_I32, x, y),
                LaneType::U32 => self.mul_high_32(Opcode::MUL_WIDE_U32, x, y),
                _ => return false,
            },
            Primitive::LeadingZeros => match S::leading_zeros(self, size, x) {
                Some(group) => group,
                None => return false,
            },
            _ => return false,
        };
        self.set(value, group)
    }

    fn mul(&mut self, size: usize, x: RegisterGroup, y: RegisterGroup) -> RegisterGroup {
        match size {
            1 => {
                // The low byte of a 16-bit product is the product of the low (even) bytes. The high (odd)
                // bytes are shifted down before a second product, which is shifted up again.
                let even = self.binary(Opcode::MUL_16, 1, x, y);
                let even = self.binary_constant(Opcode::BITS_AND, 2, even, 0x00ff);
                let [x, y] = [x, y].map(|x| self.unary(Opcode::SHIFT_RIGHT_16, 1, x, Some(8)));
                let odd = self.binary(Opcode::MUL_16, 1, x, y);
                let odd = self.unary(Opcode::SHIFT_LEFT_16, 1, odd, Some(8));
                self.binary(Opcode::BITS_OR, 1, even, odd)
            }
            2 => self.binary(Opcode::MUL_16, 2, x, y),
            4 => self.binary(Opcode::MUL_32, 4, x, y),
            _ => S::mul_64(self, x, y),
        }
    }

    /// The upper halves of 32-bit products, from the 64-bit products of the even and of the odd lanes.
    fn mul_high_32(
        &mut self,
        wide: Opcode<S>,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        let even = self.binary(wide, 4, x, y);
        let even = self.unary(Opcode::SHIFT_RIGHT_64, 4, even, Some(32));
        let [x, y] = [x, y].map(|x| self.unary(Opcode::SHIFT_RIGHT_64, 4, x, Some(32)));
        let odd = self.binary(wide, 4, x, y);
        S::blend_odd_32(self, even, odd)
    }

    /// The upper halves of unsigned 64-bit products, from the four products of 32-bit halves.
    fn mul_high_64(&mut self, x: RegisterGroup, y: SsaValue) -> RegisterGroup {
        let upper = |selector: &mut Self, x: RegisterGroup| {
            selector.unary(Opcode::SHIFT_RIGHT_64, 8, x, Some(32))
        };
        let wide = |selector: &mut Self, x: RegisterGroup, y: RegisterGroup| {
            selector.binary(Opcode::MUL_WIDE_U32, 8, x, y)
        };
        let sum = |selector: &mut Self, x: RegisterGroup, y: RegisterGroup| {
            selector.binary(add(8), 8, x, y)
        };
        let low_y = self.number(y);
        let high_y = match self.body.instruction(y).primitive {
            Primitive::Constant(bits) => {
                RegisterGroup::uniform(low_y.count, self.constant(bits >> 32, 8))
            }
            _ => upper(self, low_y),
        };
        let high_x = upper(self, x);
        // The sums do not overflow: a product of halves is at most 2^64 - 2^33 + 1, so two values below 2^32
        // can be added.
        let low = wide(self, x, low_y);
        let low = upper(self, low);
        let crossed = wide(self, high_x, low_y);
        let crossed = sum(self, crossed, low);
        let other = wide(self, x, high_y);
        let lower = self.binary_constant(Opcode::BITS_AND, 8, crossed, u64::from(u32::MAX));
        let other = sum(self, other, lower);
        let high = wide(self, high_x, high_y);
        let [crossed, other] = [crossed, other].map(|it| upper(self, it));
        let high = sum(self, high, crossed);
        sum(self, high, other)
    }

    fn shift(
        &mut self,
        value: SsaValue,
        primitive: Primitive,
        x: RegisterGroup,
        amount: SsaValue,
    ) -> bool {
        let size = self.body.lane(value).size();
        let group = match self.body.instruction(amount).primitive {
            Primitive::Constant(bits) => {
                let amount = (bits & (8 * size as u64 - 1)) as u8;
                Some(self.shift_by(primitive, size, x, amount))
            }
            _ => {
                let amount = self.number(amount);
                S::shift_each(self, primitive, size, x, amount)
            }
        };
        group.is_some_and(|group| self.set(value, group))
    }

    /// Shifts by a constant amount.
    pub(in crate::x86) fn shift_by(
        &mut self,
        primitive: Primitive,
        size: usize,
        x: RegisterGroup,
        amount: u8,
    ) -> RegisterGroup {
        match (primitive, size) {
            (Primitive::ShiftLeft, 1) => {
                let shifted = self.unary(Opcode::SHIFT_LEFT_16, 1, x, Some(amount));
                self.binary_constant(Opcode::BITS_AND, 1, shifted, 0xff << amount)
            }
            (Primitive::ShiftRightLogical, 1) => {
                let shifted = self.unary(Opcode::SHIFT_RIGHT_16, 1, x, Some(amount));
                self.binary_constant(Opcode::BITS_AND, 1, shifted, 0xff >> amount)
            }
            (Primitive::ShiftLeft, 2) => self.unary(Opcode::SHIFT_LEFT_16, 2, x, Some(amount)),
            (Primitive::ShiftLeft, 4) => self.unary(Opcode::SHIFT_LEFT_32, 4, x, Some(amount)),
            (Primitive::ShiftLeft, _) => self.unary(Opcode::SHIFT_LEFT_64, 8, x, Some(amount)),
            (Primitive::ShiftRightLogical, 2) => {
                self.unary(Opcode::SHIFT_RIGHT_16, 2, x, Some(amount))
            }
            (Primitive::ShiftRightLogical, 4) => {
                self.unary(Opcode::SHIFT_RIGHT_32, 4, x, Some(amount))
            }
            (Primitive::ShiftRightLogical, _) => {
                self.unary(Opcode::SHIFT_RIGHT_64, 8, x, Some(amount))
            }
            (_, 2) => self.unary(Opcode::SHIFT_SIGNED_16, 2, x, Some(amount)),
            (_, 4) => self.unary(Opcode::SHIFT_SIGNED_32, 4, x, Some(amount)),
            _ => self.shift_signed(size, x, amount),
        }
    }

    /// The arithmetic right shift of lanes of 1 or 8 bytes.
    fn shift_signed(&mut self, size: usize, x: RegisterGroup, amount: u8) -> RegisterGroup {
        match S::shift_signed_64() {
            Some(opcode) if size == 8 => self.unary(opcode, size, x, Some(amount)),
            _ => {
                let shifted = self.shift_by(Primitive::ShiftRightLogical, size, x, amount);
                let top = 8 * size as u32 - 1;
                self.sign_extend(shifted, size, 1 << (top - u32::from(amount)))
            }
        }
    }

    /// Sign-extends lanes from their bit `sign`: flips it, then subtracts it.
    pub(in crate::x86) fn sign_extend(
        &mut self,
        x: RegisterGroup,
        size: usize,
        sign: u64,
    ) -> RegisterGroup {
        let flipped = self.binary_constant(Opcode::BITS_XOR, size, x, sign);
        self.binary_constant(sub(size), size, flipped, sign)
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
        let index = self.binary_constant(Opcode::BITS_AND, size, index, last);
        let group = index.map(|register| S::gather(self, size, register, table));
        self.set(value, group)
    }
}

fn is_shift(primitive: Primitive) -> bool {
    use Primitive::{ShiftLeft, ShiftRightArithmetic, ShiftRightLogical};
    matches!(primitive, ShiftLeft | ShiftRightLogical | ShiftRightArithmetic)
}

/// The sum of lanes of `size` bytes.
fn add<S: X86InstructionSet>(size: usize) -> Opcode<S> {
    match size {
        1 => Opcode::ADD_8,
        2 => Opcode::ADD_16,
        4 => Opcode::ADD_32,
        _ => Opcode::ADD_64,
    }
}

/// The difference of lanes of `size` bytes.
fn sub<S: X86InstructionSet>(size: usize) -> Opcode<S> {
    match size {
        1 => Opcode::SUB_8,
        2 => Opcode::SUB_16,
        4 => Opcode::SUB_32,
        _ => Opcode::SUB_64,
    }
}
