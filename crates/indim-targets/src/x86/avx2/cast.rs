//! Conversions without an instruction in AVX2, and narrowing of lanes.

use super::super::opcode::Opcode;
use super::super::select::{AT_LEAST, ORDERED, TO_ZERO, X86Selector};
use super::Avx2;
use indim_codegen::machine::Register;
use indim_codegen::select::RegisterGroup;
use indim_codegen::{LaneType, SsaValue};

/// The doubles from 2^52 to 2^53 are the integers: the low bits of `TWO_52 + x` are the integer `x`.
const TWO_52: f64 = 4_503_599_627_370_496.0;
/// The doubles from 2^84 to 2^85 are the multiples of 2^32.
const TWO_84: f64 = TWO_52 * TWO_32;
const TWO_32: f64 = 4_294_967_296.0;
const TWO_63: f64 = TWO_32 * 2_147_483_648.0;

impl X86Selector<'_, '_, Avx2> {
    /// Shifts a register right by `first` bytes: byte `first` becomes byte 0. The upper bytes of the result
    /// are unspecified.
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

    /// Narrows lanes to their low bytes, halving them repeatedly.
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

    /// Narrows masks: signed saturation keeps all bits of a lane set or clear.
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

    /// Halves lanes by a pack instruction.
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

    /// Halves lanes by `mix`, an instruction that narrows the lanes of two registers into one. The
    /// instruction works within each 128 bits, so a permutation of 64-bit parts restores the order.
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
        operand: SsaValue,
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
            // By way of `f64` the result would be rounded twice.
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

    /// Converts the 16-bit halves, which is exact, and so is scaling the upper one by 2^16. Only their sum
    /// rounds.
    fn u32_to_f32(&mut self, x: RegisterGroup) -> RegisterGroup {
        let high = self.unary(Opcode::SHIFT_RIGHT_32, 4, x, Some(16));
        let low = self.binary_constant(Opcode::BITS_AND, 4, x, 0xffff);
        let [high, low] = [high, low].map(|x| self.unary(Opcode::I32_TO_F32, 4, x, None));
        let high = self.binary_constant(Opcode::MUL_F32, 4, high, 65536f32.to_bits().into());
        self.binary(Opcode::ADD_F32, 4, high, low)
    }

    /// Converts 64-bit integers: the 32-bit halves become the low bits of the doubles 2^52 and 2^84, which
    /// are then subtracted exactly. Only the final sum rounds.
    fn wide_to_f64(&mut self, x: RegisterGroup, is_signed: bool) -> RegisterGroup {
        let low_base = self.constant(TWO_52.to_bits(), 8);
        let low_base = RegisterGroup::uniform(x.count, low_base);
        let low = self.binary_immediate(Opcode::BLEND_CONSTANT_32, 8, low_base, x, Some(0x55));
        let high = self.unary(Opcode::SHIFT_RIGHT_64, 8, x, Some(32));
        // For signed integers the base also flips the sign bit, which adds 2^63.
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

    /// Converts with saturation. The instruction gives the smallest integer for NaNs and out-of-range floats.
    /// The bits are inverted for floats that are too large, which gives the largest integer, and cleared
    /// for NaNs.
    fn f32_to_i32(&mut self, x: RegisterGroup) -> RegisterGroup {
        let truncated = self.unary(Opcode::F32_TO_I32, 4, x, None);
        let limit = self.constant(2_147_483_648f32.to_bits().into(), 4);
        let is_large = self.compare_floats(4, x, RegisterGroup::uniform(x.count, limit), AT_LEAST);
        let saturated = self.binary(Opcode::BITS_XOR, 4, truncated, is_large);
        let is_number = self.compare_floats(4, x, x, ORDERED);
        self.binary(Opcode::BITS_AND, 4, saturated, is_number)
    }

    /// Converts `f64` to `u32` or to 64-bit integers, with saturation. Adding a large double moves the
    /// integer to the low bits; 64-bit integers are converted in two halves.
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
        let (min, limit) = match to {
            LaneType::I64 => (-TWO_63, TWO_63),
            _ => (0.0, 2.0 * TWO_63),
        };
        let x = self.binary_constant(Opcode::MAX_F64, 8, x, min.to_bits());
        let limit_register = self.constant(limit.to_bits(), 8);
        let is_large =
            self.compare_floats(8, x, RegisterGroup::uniform(x.count, limit_register), AT_LEAST);
        let high = self.binary_constant(Opcode::MUL_F64, 8, x, (1.0 / TWO_32).to_bits());
        // 0x09 rounds down.
        let high = self.round(8, high, 0x09);
        let whole = self.binary_constant(Opcode::MUL_F64, 8, high, TWO_32.to_bits());
        let low = self.binary(Opcode::SUB_F64, 8, x, whole);
        // 1.5 * 2^52 keeps the sum between 2^52 and 2^53 for negative numbers too.
        let high = self.binary_constant(Opcode::ADD_F64, 8, high, (1.5 * TWO_52).to_bits());
        let low = self.binary_constant(Opcode::ADD_F64, 8, low, TWO_52.to_bits());
        let high = self.unary(Opcode::SHIFT_LEFT_64, 8, high, Some(32));
        let joined = self.binary_immediate(Opcode::BLEND_CONSTANT_32, 8, high, low, Some(0x55));
        let max = if to == LaneType::I64 { i64::MAX as u64 } else { u64::MAX };
        let max = self.constant(max, 8);
        self.blend(8, is_large, RegisterGroup::uniform(x.count, max), joined)
    }
}
