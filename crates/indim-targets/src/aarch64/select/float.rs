//! Lowering of primitives on floats.

use super::super::opcode::{self, InstructionFamily};
use super::{NeonSelector, Opcode, RegisterGroup, TargetLowering};
use indim_codegen::{Primitive, SsaValue};

impl NeonSelector<'_, '_> {
    /// Lowers a primitive whose last operand is a float; `false` for remainders, which are called out of
    /// line.
    pub(super) fn float_instruction(&mut self, value: SsaValue) -> bool {
        let instruction = *self.body.instruction(value);
        if instruction.primitive == Primitive::Rem {
            return false;
        }
        let size = self.body.lane(instruction.operands[0]).size();
        let mut operands = [RegisterGroup::NONE; 3];
        for (group, &operand) in operands.iter_mut().zip(instruction.operands()) {
            *group = self.number(operand);
        }
        let [x, y, z] = operands;
        let group = match instruction.primitive {
            Primitive::Equal => {
                let group = self.binary(opcode::EQUAL_FLOAT.of(size), size, x, y);
                return self.set_mask(value, size, group);
            }
            Primitive::Less => {
                let group = self.binary(opcode::GREATER_FLOAT.of(size), size, y, x);
                return self.set_mask(value, size, group);
            }
            Primitive::MulAdd => self.add_product(opcode::MUL_ADD, size, x, y, z),
            Primitive::Canonical => self.canonicalize_nans(size, x),
            primitive => match (unary_family(primitive), binary_family(primitive)) {
                (Some(family), _) => self.unary(family.of(size), size, x, None),
                (_, Some(family)) => self.binary(family.of(size), size, x, y),
                _ => return false,
            },
        };
        self.set(value, group)
    }

    /// Appends a fused multiply-add, `z + x * y`, or with `MUL_SUB` a multiply-subtract, `z - x * y`.
    pub(super) fn add_product(
        &mut self,
        family: InstructionFamily,
        size: usize,
        x: RegisterGroup,
        y: RegisterGroup,
        z: RegisterGroup,
    ) -> RegisterGroup {
        let is_wide = self.is_wide(size);
        RegisterGroup::new(x.count, |index| {
            let sources = [z.register(index), x.register(index), y.register(index)];
            self.emit(family.of(size), is_wide, &sources)
        })
    }

    /// Replaces NaNs by the canonical one.
    pub(super) fn canonicalize_nans(&mut self, size: usize, x: RegisterGroup) -> RegisterGroup {
        let is_number = self.binary(opcode::EQUAL_FLOAT.of(size), size, x, x);
        let bits = if size == 4 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
        let nan = self.constant(bits, size);
        Opcode::blend(self, size, is_number, x, RegisterGroup::uniform(x.count, nan))
    }
}

fn unary_family(primitive: Primitive) -> Option<InstructionFamily> {
    Some(match primitive {
        Primitive::Sqrt => opcode::SQRT,
        Primitive::Abs => opcode::ABS,
        Primitive::Neg => opcode::NEG_FLOAT,
        Primitive::Floor => opcode::ROUND_DOWN,
        Primitive::Ceil => opcode::ROUND_UP,
        Primitive::Trunc => opcode::ROUND_TO_ZERO,
        Primitive::RoundEven => opcode::ROUND_TO_EVEN,
        _ => return None,
    })
}

fn binary_family(primitive: Primitive) -> Option<InstructionFamily> {
    Some(match primitive {
        Primitive::Add => opcode::ADD_FLOAT,
        Primitive::Sub => opcode::SUB_FLOAT,
        Primitive::Mul => opcode::MUL_FLOAT,
        Primitive::Div => opcode::DIV_FLOAT,
        _ => return None,
    })
}
