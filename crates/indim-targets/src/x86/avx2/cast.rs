//! Conversions that AVX2 has no instruction for, and lanes that move where widths change.

use super::super::opcode::Opcode;
use super::super::select::{AT_LEAST, ORDERED, Selector, TO_ZERO};
use super::Avx2;
use crate::machine::Register;
use crate::select::RegisterGroup;
use indim_codegen::{LaneType, Value};

/// Numbers above which the integers among the doubles lie one, or 2^32, apart: what is added to one of them
/// has its low bits there.
const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_84: f64 = TWO_52 * TWO_32;
const TWO_32: f64 = 4_294_967_296.0;
const TWO_63: f64 = TWO_32 * 2_147_483_648.0;

impl Selector<'_, Avx2> {
    /// A register whose low bytes are those from `first` on.
    pub(super) fn shift_down_bytes(&mut self, register: Register, first: usize) -> Register {
        let half = match first < 16 {
            true => register,
            false => self.emit_immediate(Opcode::EXTRACT_128, true, &[register], Some(1)),
        };
        match first % 16 {
            0 => half,
            bytes => {
                self.emit_immediate(Opcode::SHIFT_BYTES_RIGHT, false, &[half], Some(bytes as u8))
            }
        }
    }

    /// Narrower lanes: the low bytes.
    pub(super) fn narrow(&mut self, mut x: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        let mut size = from;
        while size > to {
            x = match size {
                8 => self.halve(x, size, |selector, is_wide, low, high| {
                    selector.emit_immediate(Opcode::SHUFFLE_F32, is_wide, &[low, high], Some(0x88))
                }),
                4 => {
                    let x = self.binary_constant(Opcode::BITS_AND, 4, x, 0xffff);
                    self.pack(x, 4, Opcode::PACK_UNSIGNED_32)
                }
                _ => {
                    let x = self.binary_constant(Opcode::BITS_AND, 2, x, 0x00ff);
                    self.pack(x, 2, Opcode::PACK_UNSIGNED_16)
                }
            };
            size /= 2;
        }
        x
    }

    /// Masks for narrower lanes.
    pub(super) fn narrow_masks(
        &mut self,
        mut x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        let mut size = from;
        while size > to {
            x = match size {
                8 => self.narrow(x, 8, 4),
                4 => self.pack(x, 4, Opcode::PACK_SIGNED_32),
                _ => self.pack(x, 2, Opcode::PACK_SIGNED_16),
            };
            size /= 2;
        }
        x
    }

    pub(super) fn pack(
        &mut self,
        x: RegisterGroup,
        size: usize,
        opcode: Opcode<Avx2>,
    ) -> RegisterGroup {
        self.halve(x, size, |selector, is_wide, low, high| {
            selector.emit(opcode, is_wide, &[low, high])
        })
    }

    /// Lanes of half as many bytes, from pairs of registers, which `mix` takes 128 bits by 128 bits.
    fn halve(
        &mut self,
        x: RegisterGroup,
        size: usize,
        mix: impl Fn(&mut Self, bool, Register, Register) -> Register,
    ) -> RegisterGroup {
        if self.is_in_row {
            let low = mix(self, false, x.register(0), x.register(0));
            return RegisterGroup::uniform(1, self.broadcast_low(low));
        }
        if !self.is_wide(size) {
            return RegisterGroup::uniform(1, mix(self, false, x.register(0), x.register(0)));
        }
        if x.count == 1 {
            let high = self.emit_immediate(Opcode::EXTRACT_128, true, &[x.register(0)], Some(1));
            return RegisterGroup::uniform(1, mix(self, false, x.register(0), high));
        }
        RegisterGroup::new(x.count / 2, |index| {
            let mixed = mix(self, true, x.register(2 * index), x.register(2 * index + 1));
            self.emit_immediate(Opcode::PERMUTE_64, true, &[mixed], Some(0xd8))
        })
    }

    pub(super) fn integer_to_float(
        &mut self,
        operand: Value,
        from: LaneType,
        to: LaneType,
    ) -> Option<RegisterGroup> {
        use LaneType::{F32, I64, U32, U64};
        Some(match (from, to) {
            (U32, F32) => {
                let x = self.number(operand);
                self.u32_to_f32(x)
            }
            (U32, _) => {
                let x = self.integer_to_integer(operand, from, 8);
                let x = self.binary_constant(Opcode::BITS_OR, 8, x, TWO_52.to_bits());
                self.binary_constant(Opcode::SUB_F64, 8, x, TWO_52.to_bits())
            }
            // It would be rounded twice.
            (I64 | U64, F32) => return None,
            (I64 | U64, _) => {
                let x = self.number(operand);
                self.wide_to_f64(x, from.is_signed())
            }
            _ => {
                let x = self.integer_to_integer(operand, from, 4);
                match to {
                    F32 => self.unary(Opcode::I32_TO_F32, 4, x, None),
                    _ => self.widen_with(Opcode::I32_TO_F64, x, 4, 8),
                }
            }
        })
    }

    /// Both halves are exact, and so is the upper one times 2^16: one sum rounds.
    fn u32_to_f32(&mut self, x: RegisterGroup) -> RegisterGroup {
        let high = self.unary(Opcode::SHIFT_RIGHT_32, 4, x, Some(16));
        let low = self.binary_constant(Opcode::BITS_AND, 4, x, 0xffff);
        let [high, low] = [high, low].map(|x| self.unary(Opcode::I32_TO_F32, 4, x, None));
        let high = self.binary_constant(Opcode::MUL_F32, 4, high, 65536f32.to_bits().into());
        self.binary(Opcode::ADD_F32, 4, high, low)
    }

    /// The halves as the low bits of two large doubles, which are exact without them: one sum rounds.
    fn wide_to_f64(&mut self, x: RegisterGroup, is_signed: bool) -> RegisterGroup {
        let low_base = self.constant(TWO_52.to_bits(), 8);
        let low_base = RegisterGroup::uniform(x.count, low_base);
        let low = self.binary_immediate(Opcode::BLEND_CONSTANT_32, 8, low_base, x, Some(0x55));
        let high = self.unary(Opcode::SHIFT_RIGHT_64, 8, x, Some(32));
        // The sign bit is flipped, which adds 2^63.
        let base = if is_signed { TWO_84 + TWO_63 } else { TWO_84 };
        let high = self.binary_constant(Opcode::BITS_XOR, 8, high, base.to_bits());
        let high = self.binary_constant(Opcode::SUB_F64, 8, high, (base + TWO_52).to_bits());
        self.binary(Opcode::ADD_F64, 8, high, low)
    }

    pub(super) fn float_to_integer(
        &mut self,
        x: RegisterGroup,
        from: LaneType,
        to: LaneType,
    ) -> RegisterGroup {
        match (from, to) {
            (LaneType::F32, LaneType::I32) => self.f32_to_i32(x),
            (_, LaneType::I32) => {
                let x = self.clamp(x, 8, f64::from(i32::MIN), f64::from(i32::MAX));
                self.narrow_with(Opcode::F64_TO_I32, 8, x, None)
            }
            (LaneType::F32, _) => {
                let x = self.widen_with(Opcode::F32_TO_F64, x, 4, 8);
                self.f64_to_wide(x, to)
            }
            _ => self.f64_to_wide(x, to),
        }
    }

    /// What is too large, and NaNs, give the smallest integer.
    fn f32_to_i32(&mut self, x: RegisterGroup) -> RegisterGroup {
        let truncated = self.unary(Opcode::F32_TO_I32, 4, x, None);
        let limit = self.constant(2_147_483_648f32.to_bits().into(), 4);
        let is_large = self.compare_floats(4, x, RegisterGroup::uniform(x.count, limit), AT_LEAST);
        let saturated = self.binary(Opcode::BITS_XOR, 4, truncated, is_large);
        let is_number = self.compare_floats(4, x, x, ORDERED);
        self.binary(Opcode::BITS_AND, 4, saturated, is_number)
    }

    /// Doubles to `u32` or integers of 64 bits, of which each half is the low bits of a large double.
    fn f64_to_wide(&mut self, x: RegisterGroup, to: LaneType) -> RegisterGroup {
        let is_number = self.compare_floats(8, x, x, ORDERED);
        let x = self.binary(Opcode::BITS_AND, 8, x, is_number);
        let x = self.round(8, x, TO_ZERO);
        if to == LaneType::U32 {
            let x = self.binary_constant(Opcode::MAX_F64, 8, x, 0f64.to_bits());
            let x = self.binary_constant(Opcode::MIN_F64, 8, x, f64::from(u32::MAX).to_bits());
            let x = self.binary_constant(Opcode::ADD_F64, 8, x, TWO_52.to_bits());
            return self.narrow(x, 8, 4);
        }
        let (least, limit) = match to {
            LaneType::I64 => (-TWO_63, TWO_63),
            _ => (0.0, 2.0 * TWO_63),
        };
        let x = self.binary_constant(Opcode::MAX_F64, 8, x, least.to_bits());
        let limit_register = self.constant(limit.to_bits(), 8);
        let is_large =
            self.compare_floats(8, x, RegisterGroup::uniform(x.count, limit_register), AT_LEAST);
        let high = self.binary_constant(Opcode::MUL_F64, 8, x, (1.0 / TWO_32).to_bits());
        let high = self.round(8, high, 0x09);
        let whole = self.binary_constant(Opcode::MUL_F64, 8, high, TWO_32.to_bits());
        let low = self.binary(Opcode::SUB_F64, 8, x, whole);
        // A multiple of 2^51 more keeps the sum above 2^52 for negative numbers too.
        let high = self.binary_constant(Opcode::ADD_F64, 8, high, (1.5 * TWO_52).to_bits());
        let low = self.binary_constant(Opcode::ADD_F64, 8, low, TWO_52.to_bits());
        let high = self.unary(Opcode::SHIFT_LEFT_64, 8, high, Some(32));
        let joined = self.binary_immediate(Opcode::BLEND_CONSTANT_32, 8, high, low, Some(0x55));
        let most = if to == LaneType::I64 { i64::MAX as u64 } else { u64::MAX };
        let most = self.constant(most, 8);
        self.blend(8, is_large, RegisterGroup::uniform(x.count, most), joined)
    }
}
