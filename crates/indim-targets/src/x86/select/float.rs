//! Primitives on floats.

use super::super::opcode::{self, Opcode};
use super::{Instructions, Parts, Selector};
use indim_codegen::{Primitive, Value};

/// Predicates of comparisons: ordered, so that a NaN gives false, and quiet.
const EQUAL: u8 = 0x00;
const LESS: u8 = 0x11;
/// Whether either is a NaN; whether neither is.
pub(super) const UNORDERED: u8 = 0x03;
pub(super) const ORDERED: u8 = 0x07;
/// Makes of a comparison the opposite, which holds for NaNs.
pub(super) const NEGATED: u8 = 0x04;
/// At least, ordered and quiet.
pub(super) const AT_LEAST: u8 = 0x1d;

/// The predicate of a comparison.
pub(super) fn predicate(comparison: Primitive) -> u8 {
    if comparison == Primitive::Equal { EQUAL } else { LESS }
}

/// Ways of rounding to integers, without reporting inexact results.
const TO_EVEN: u8 = 0x08;
const DOWN: u8 = 0x09;
const UP: u8 = 0x0a;
pub(super) const TO_ZERO: u8 = 0x0b;

/// One of the two, by the bytes of a lane.
pub(super) fn either(size: usize, single: Opcode, double: Opcode) -> Opcode {
    if size == 4 { single } else { double }
}

/// A product and a sum, of which these are negated.
pub(super) fn product(is_product_negated: bool, is_addend_negated: bool, size: usize) -> Opcode {
    let (single, double) = match (is_product_negated, is_addend_negated) {
        (false, false) => (opcode::MUL_ADD_F32, opcode::MUL_ADD_F64),
        (true, false) => (opcode::ADDEND_MINUS_PRODUCT_F32, opcode::ADDEND_MINUS_PRODUCT_F64),
        (false, true) => (opcode::PRODUCT_MINUS_ADDEND_F32, opcode::PRODUCT_MINUS_ADDEND_F64),
        (true, true) => (opcode::NEGATED_SUM_F32, opcode::NEGATED_SUM_F64),
    };
    either(size, single, double)
}

impl Selector<'_> {
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
        let mut operands = [Parts::NONE; 3];
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
                self.pairs(either(size, opcode::ADD_F32, opcode::ADD_F64), size, x, y)
            }
            Primitive::Sub => {
                self.pairs(either(size, opcode::SUB_F32, opcode::SUB_F64), size, x, y)
            }
            Primitive::Mul => {
                self.pairs(either(size, opcode::MUL_F32, opcode::MUL_F64), size, x, y)
            }
            Primitive::Div => {
                self.pairs(either(size, opcode::DIV_F32, opcode::DIV_F64), size, x, y)
            }
            Primitive::MulAdd => self.mul_add(product(false, false, size), size, x, y, z),
            Primitive::Sqrt => {
                self.each(either(size, opcode::SQRT_F32, opcode::SQRT_F64), size, x, None)
            }
            Primitive::Abs => {
                self.with(either(size, opcode::AND_F32, opcode::AND_F64), size, x, !sign)
            }
            Primitive::Neg => {
                self.with(either(size, opcode::XOR_F32, opcode::XOR_F64), size, x, sign)
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

    pub(super) fn compare_floats(
        &mut self,
        size: usize,
        x: Parts,
        y: Parts,
        predicate: u8,
    ) -> Parts {
        let opcode = either(size, opcode::COMPARE_F32, opcode::COMPARE_F64);
        self.pairs_with(opcode, size, x, y, Some(predicate))
    }

    pub(super) fn round(&mut self, size: usize, x: Parts, way: u8) -> Parts {
        self.each(either(size, opcode::ROUND_F32, opcode::ROUND_F64), size, x, Some(way))
    }

    /// A product and a sum, as one of the instructions for that.
    pub(super) fn mul_add(
        &mut self,
        opcode: Opcode,
        size: usize,
        x: Parts,
        y: Parts,
        z: Parts,
    ) -> Parts {
        let is_wide = self.is_wide(size);
        Parts::new(x.count, |index| {
            self.vector(opcode, is_wide, &[x.part(index), y.part(index), z.part(index)])
        })
    }

    pub(super) fn canonical(&mut self, size: usize, x: Parts) -> Parts {
        let is_nan = self.compare_floats(size, x, x, UNORDERED);
        let bits = if size == 4 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
        let nan = self.constant(bits, size);
        Opcode::blend(self, size, is_nan, Parts::same(x.count, nan), x)
    }
}
