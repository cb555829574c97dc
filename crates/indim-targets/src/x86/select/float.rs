//! Primitives on floats.

use super::super::instruction_set::InstructionSet;
use super::super::opcode::Opcode;
use super::{RegisterGroup, Selector};
use indim_codegen::{Primitive, Value};

/// Predicates of comparisons: ordered, so that a NaN gives false, and quiet.
const EQUAL: u8 = 0x00;
const LESS: u8 = 0x11;
/// Whether either is a NaN; whether neither is.
pub(super) const UNORDERED: u8 = 0x03;
pub(in crate::x86) const ORDERED: u8 = 0x07;
/// Makes of a comparison the opposite, which holds for NaNs.
pub(super) const NEGATED: u8 = 0x04;
/// At least, ordered and quiet.
pub(in crate::x86) const AT_LEAST: u8 = 0x1d;

/// The predicate of a comparison.
pub(super) fn predicate(comparison: Primitive) -> u8 {
    if comparison == Primitive::Equal { EQUAL } else { LESS }
}

/// Ways of rounding to integers, without reporting inexact results.
const TO_EVEN: u8 = 0x08;
const DOWN: u8 = 0x09;
const UP: u8 = 0x0a;
pub(in crate::x86) const TO_ZERO: u8 = 0x0b;

/// How floats are fixed up, four bits for each kind of them: of NaNs, the first two kinds, what was in the
/// result stays; all others are taken as they are.
const KEEP_NUMBERS: u64 = 0x1111_1100;

/// Fixing up is one instruction in the place of two, and is waited for less; but in bodies that are shorter
/// than this, processors do fewer of it at a time than of the two.
const LONG_BODY: usize = 16;

/// One of the two, by the bytes of a lane.
pub(in crate::x86) fn by_size<S>(size: usize, single: Opcode<S>, double: Opcode<S>) -> Opcode<S> {
    if size == 4 { single } else { double }
}

/// A product and a sum, of which these are negated.
pub(super) fn product<S: InstructionSet>(
    is_product_negated: bool,
    is_addend_negated: bool,
    size: usize,
) -> Opcode<S> {
    let (single, double) = match (is_product_negated, is_addend_negated) {
        (false, false) => (Opcode::MUL_ADD_F32, Opcode::MUL_ADD_F64),
        (true, false) => (Opcode::ADDEND_MINUS_PRODUCT_F32, Opcode::ADDEND_MINUS_PRODUCT_F64),
        (false, true) => (Opcode::PRODUCT_MINUS_ADDEND_F32, Opcode::PRODUCT_MINUS_ADDEND_F64),
        (true, true) => (Opcode::NEGATED_MUL_ADD_F32, Opcode::NEGATED_MUL_ADD_F64),
    };
    by_size(size, single, double)
}

impl<S: InstructionSet> Selector<'_, S> {
    /// Computes a value whose last operand is a float; remainders are not among them.
    pub(super) fn float_instruction(&mut self, value: Value) -> bool {
        let instruction = *self.body.instruction(value);
        let size = match instruction.operands().last() {
            Some(&operand) => self.body.lane(operand).size(),
            None => return false,
        };
        match instruction.primitive {
            Primitive::Select => return self.select(value),
            Primitive::Cast => return self.cast(value),
            Primitive::RoundToF16 => return self.round_to_f16(value),
            Primitive::Rem => return false,
            _ => {}
        }
        let mut operands = [RegisterGroup::NONE; 3];
        for (parts, &operand) in operands.iter_mut().zip(instruction.operands()) {
            *parts = self.number(operand);
        }
        let [x, y, z] = operands;
        let sign = 1u64 << (8 * size - 1);
        let parts = match instruction.primitive {
            Primitive::Bits => x,
            primitive @ (Primitive::Equal | Primitive::Less) => {
                let predicate = predicate(primitive);
                let parts = self.compare_floats(size, x, y, predicate);
                return self.set_mask(value, size, parts);
            }
            Primitive::Add => {
                self.binary(by_size(size, Opcode::ADD_F32, Opcode::ADD_F64), size, x, y)
            }
            Primitive::Sub => {
                self.binary(by_size(size, Opcode::SUB_F32, Opcode::SUB_F64), size, x, y)
            }
            Primitive::Mul => {
                self.binary(by_size(size, Opcode::MUL_F32, Opcode::MUL_F64), size, x, y)
            }
            Primitive::Div => {
                self.binary(by_size(size, Opcode::DIV_F32, Opcode::DIV_F64), size, x, y)
            }
            Primitive::MulAdd => self.mul_add(product(false, false, size), size, x, y, z),
            Primitive::Sqrt => {
                self.unary(by_size(size, Opcode::SQRT_F32, Opcode::SQRT_F64), size, x, None)
            }
            Primitive::Abs => self.binary_constant(
                by_size(size, Opcode::AND_F32, Opcode::AND_F64),
                size,
                x,
                !sign,
            ),
            Primitive::Neg => {
                self.binary_constant(by_size(size, Opcode::XOR_F32, Opcode::XOR_F64), size, x, sign)
            }
            Primitive::Floor => self.round(size, x, DOWN),
            Primitive::Ceil => self.round(size, x, UP),
            Primitive::Trunc => self.round(size, x, TO_ZERO),
            Primitive::RoundEven => self.round(size, x, TO_EVEN),
            Primitive::Canonical => self.canonical(size, x),
            _ => return false,
        };
        self.set(value, parts)
    }

    pub(in crate::x86) fn round(
        &mut self,
        size: usize,
        x: RegisterGroup,
        way: u8,
    ) -> RegisterGroup {
        self.unary(by_size(size, Opcode::ROUND_F32, Opcode::ROUND_F64), size, x, Some(way))
    }

    /// A product and a sum, as one of the instructions for that.
    pub(super) fn mul_add(
        &mut self,
        opcode: Opcode<S>,
        size: usize,
        x: RegisterGroup,
        y: RegisterGroup,
        z: RegisterGroup,
    ) -> RegisterGroup {
        let is_wide = self.is_wide(size);
        RegisterGroup::new(x.count, |index| {
            self.emit(opcode, is_wide, &[x.register(index), y.register(index), z.register(index)])
        })
    }

    /// The mask of a comparison.
    pub(in crate::x86) fn compare_floats(
        &mut self,
        size: usize,
        x: RegisterGroup,
        y: RegisterGroup,
        predicate: u8,
    ) -> RegisterGroup {
        self.binary_immediate(S::compare_floats(size), size, x, y, Some(predicate))
    }

    pub(super) fn canonical(&mut self, size: usize, x: RegisterGroup) -> RegisterGroup {
        let bits = if size == 4 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
        let nan = self.constant(bits, size);
        match S::fix_up(size) {
            Some(fix_up) if self.body.instructions.len() >= LONG_BODY => {
                let answers = self.constant(KEEP_NUMBERS, size);
                let is_wide = self.is_wide(size);
                x.map(|part| self.emit_immediate(fix_up, is_wide, &[nan, part, answers], Some(0)))
            }
            _ => {
                let is_nan = self.compare_floats(size, x, x, UNORDERED);
                self.blend(size, is_nan, RegisterGroup::uniform(x.count, nan), x)
            }
        }
    }
}
