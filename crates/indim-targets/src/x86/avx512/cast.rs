//! Conversions with AVX-512.

use super::super::instruction_set::X86InstructionSet;
use super::super::opcode::Opcode;
use super::super::select::{AT_LEAST, ORDERED, X86Selector, by_size};
use super::Avx512;
use indim_codegen::select::RegisterGroup;
use indim_codegen::{LaneType, SsaValue};

impl X86Selector<'_, '_, Avx512> {
    /// Narrows lanes to their low bytes.
    pub(super) fn narrow(&mut self, x: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        if from == to {
            return x;
        }
        if self.is_in_row {
            let low = self.unary(narrow_opcode(from, to), from, x, None);
            // Narrowing gives at least 8 bytes of equal lanes; their low 4 bytes are broadcast.
            return low.map(|low| self.emit(Opcode::BROADCAST_32, true, &[low]));
        }
        if x.count == 1 {
            return self.unary(narrow_opcode(from, to), from, x, None);
        }
        let half = match from {
            4 | 8 => self.narrow_pairs(x, from / 2, 0),
            _ => self.narrow_with(narrow_opcode(from, from / 2), from, x, None),
        };
        self.narrow(half, from / 2, to)
    }

    pub(super) fn integer_to_float(
        &mut self,
        operand: SsaValue,
        from: LaneType,
        to: LaneType,
    ) -> RegisterGroup {
        use LaneType::{F32, F64, I64, U32, U64};
        if !matches!(from, I64 | U32 | U64) {
            let x = self.integer_to_integer(operand, from, 4);
            return match to {
                F64 => self.widen_with(Opcode::I32_TO_F64, x, 4, 8),
                _ => self.unary(Opcode::I32_TO_F32, 4, x, None),
            };
        }
        let x = self.number(operand);
        match (from, to) {
            (I64, F32) => self.narrow_with(Opcode::I64_TO_F32, 8, x, None),
            (U64, F32) => self.narrow_with(Opcode::U64_TO_F32, 8, x, None),
            (I64, _) => self.unary(Opcode::I64_TO_F64, 8, x, None),
            (U64, _) => self.unary(Opcode::U64_TO_F64, 8, x, None),
            (_, F32) => self.unary(Opcode::U32_TO_F32, 4, x, None),
            (_, _) => self.widen_with(Opcode::U32_TO_F64, x, 4, 8),
        }
    }

    pub(super) fn float_to_integer(
        &mut self,
        x: RegisterGroup,
        from: LaneType,
        to: LaneType,
    ) -> RegisterGroup {
        use LaneType::{F32, I32, I64, U32};
        match (from, to) {
            (F32, I32) => {
                let converted = self.unary(Opcode::F32_TO_I32, 4, x, None);
                let limit = 2_147_483_648f32.to_bits();
                self.saturate(4, x, converted, limit.into(), i32::MAX as u64)
            }
            (_, I32) => {
                let x = self.clamp(x, 8, f64::from(i32::MIN), f64::from(i32::MAX));
                self.narrow_with(Opcode::F64_TO_I32, 8, x, None)
            }
            (_, I64) => {
                let x = match from {
                    F32 => self.widen_with(Opcode::F32_TO_F64, x, 4, 8),
                    _ => x,
                };
                let converted = self.unary(Opcode::F64_TO_I64, 8, x, None);
                let limit = 9_223_372_036_854_775_808f64.to_bits();
                self.saturate(8, x, converted, limit, i64::MAX as u64)
            }
            // Unsigned: the conversion gives all ones for floats that are too large. The maximum with 0
            // returns its second operand, 0, for NaNs and negative floats.
            _ => {
                let size = from.size();
                let x = self.binary_constant(
                    by_size(size, Opcode::MAX_F32, Opcode::MAX_F64),
                    size,
                    x,
                    0,
                );
                match (from, to) {
                    (F32, U32) => self.unary(Opcode::F32_TO_U32, 4, x, None),
                    (F32, _) => self.widen_with(Opcode::F32_TO_U64, x, 4, 8),
                    (_, U32) => self.narrow_with(Opcode::F64_TO_U32, 8, x, None),
                    (_, _) => self.unary(Opcode::F64_TO_U64, 8, x, None),
                }
            }
        }
    }

    /// Fixes a conversion to signed integers, which gives the smallest integer for NaNs and for floats that
    /// are too large. Floats from `limit` on become the integer `max`, NaNs become 0.
    fn saturate(
        &mut self,
        size: usize,
        x: RegisterGroup,
        converted: RegisterGroup,
        limit: u64,
        max: u64,
    ) -> RegisterGroup {
        let limit = self.constant(limit, size);
        let limit = RegisterGroup::uniform(x.count, limit);
        let is_large = self.compare_floats(size, x, limit, AT_LEAST);
        let max = self.constant(max, size);
        let max = RegisterGroup::uniform(x.count, max);
        let saturated = self.blend(size, is_large, max, converted);
        let is_number = self.compare_floats(size, x, x, ORDERED);
        Avx512::move_or_zero(self, size, is_number, saturated)
    }
}

/// The instruction that truncates lanes of `from` bytes to `to` bytes.
fn narrow_opcode(from: usize, to: usize) -> Opcode<Avx512> {
    match (from, to) {
        (2, _) => Opcode::NARROW_16_8,
        (4, 2) => Opcode::NARROW_32_16,
        (4, _) => Opcode::NARROW_32_8,
        (_, 4) => Opcode::NARROW_64_32,
        (_, 2) => Opcode::NARROW_64_16,
        _ => Opcode::NARROW_64_8,
    }
}
