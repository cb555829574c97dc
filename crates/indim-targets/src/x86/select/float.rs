//! Lowering of primitives on floats.

use super::super::instruction_set::X86InstructionSet;
use super::super::opcode::Opcode;
use super::{RegisterGroup, X86Selector};
use indim_codegen::{Primitive, SsaValue};

/// Predicates of `vcmpps`: ordered (false if an operand is a NaN) and quiet (no exception for quiet NaNs).
const EQUAL: u8 = 0x00;
const LESS_THAN: u8 = 0x11;
/// True if an operand is a NaN.
pub(super) const UNORDERED: u8 = 0x03;
/// True if no operand is a NaN.
pub(in crate::x86) const ORDERED: u8 = 0x07;
/// Bit that negates a predicate: the result is true if an operand is a NaN.
pub(super) const NEGATED: u8 = 0x04;
/// Greater than or equal, ordered and quiet.
pub(in crate::x86) const AT_LEAST: u8 = 0x1d;

/// The predicate of a comparison.
pub(super) fn predicate(comparison: Primitive) -> u8 {
    if comparison == Primitive::Equal { EQUAL } else { LESS_THAN }
}

/// Rounding modes of `vroundps`, with the inexact exception suppressed.
const NEAREST_EVEN: u8 = 0x08;
const ROUND_DOWN: u8 = 0x09;
const ROUND_UP: u8 = 0x0a;
pub(in crate::x86) const TO_ZERO: u8 = 0x0b;

/// Table of `vfixupimm`, four bits per class of floats. For the two classes of NaNs (quiet and signalling),
/// 0 keeps the destination, which holds the canonical NaN; for others, 1 copies the source.
const FIX_UP_NANS: u64 = 0x1111_1100;

/// Minimum instructions of a body that makes NaNs canonical by `vfixupimm`. This instruction replaces
/// two and has less latency than the two, but lower throughput, which dominates in shorter bodies.
const MIN_FIX_UP_INSTRUCTIONS: usize = 16;

/// Chooses the instruction for lanes of 4 or of 8 bytes.
pub(in crate::x86) fn by_size<S>(size: usize, single: Opcode<S>, double: Opcode<S>) -> Opcode<S> {
    if size == 4 { single } else { double }
}

/// The fused multiply-add with a negated product or addend.
pub(super) fn product<S: X86InstructionSet>(
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

impl<S: X86InstructionSet> X86Selector<'_, '_, S> {
    /// Lowers a primitive whose last operand is a float; `false` for remainders, which are called out of
    /// line.
    pub(super) fn float_instruction(&mut self, value: SsaValue) -> bool {
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
        for (group, &operand) in operands.iter_mut().zip(instruction.operands()) {
            *group = self.number(operand);
        }
        let [x, y, z] = operands;
        let sign = 1u64 << (8 * size - 1);
        let group = match instruction.primitive {
            Primitive::Bits => x,
            primitive @ (Primitive::Equal | Primitive::Less) => {
                let predicate = predicate(primitive);
                let group = self.compare_floats(size, x, y, predicate);
                return self.set_mask(value, size, group);
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
            Primitive::Floor => self.round(size, x, ROUND_DOWN),
            Primitive::Ceil => self.round(size, x, ROUND_UP),
            Primitive::Trunc => self.round(size, x, TO_ZERO),
            Primitive::RoundEven => self.round(size, x, NEAREST_EVEN),
            Primitive::Canonical => self.canonicalize_nans(size, x),
            _ => return false,
        };
        self.set(value, group)
    }

    pub(in crate::x86) fn round(
        &mut self,
        size: usize,
        x: RegisterGroup,
        mode: u8,
    ) -> RegisterGroup {
        self.unary(by_size(size, Opcode::ROUND_F32, Opcode::ROUND_F64), size, x, Some(mode))
    }

    /// Appends a fused multiply-add.
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

    /// Appends a comparison, whose result is a mask.
    pub(in crate::x86) fn compare_floats(
        &mut self,
        size: usize,
        x: RegisterGroup,
        y: RegisterGroup,
        predicate: u8,
    ) -> RegisterGroup {
        self.binary_immediate(S::compare_floats(size), size, x, y, Some(predicate))
    }

    /// Replaces NaNs by the canonical one.
    pub(super) fn canonicalize_nans(&mut self, size: usize, x: RegisterGroup) -> RegisterGroup {
        let bits = if size == 4 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
        let nan = self.constant(bits, size);
        match S::fix_up(size) {
            Some(fix_up) if self.body.instructions.len() >= MIN_FIX_UP_INSTRUCTIONS => {
                let table = self.constant(FIX_UP_NANS, size);
                let is_wide = self.is_wide(size);
                x.map(|register| {
                    self.emit_immediate(fix_up, is_wide, &[nan, register, table], Some(0))
                })
            }
            _ => {
                let is_nan = self.compare_floats(size, x, x, UNORDERED);
                self.blend(size, is_nan, RegisterGroup::uniform(x.count, nan), x)
            }
        }
    }
}
