//! Conversions between numbers, and between widths of lanes.

use super::super::opcode::{self, Opcode, REGISTER_BYTES};
use super::float::{AT_LEAST, ORDERED, TO_ZERO, either};
use super::{Instructions, Parts, Register, Selector};
use indim_codegen::{LaneType, Primitive, Value};

/// Numbers above which the integers among the doubles lie one, or 2^32, apart: what is added to one of them
/// has its low bits there.
const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_84: f64 = TWO_52 * TWO_32;
const TWO_32: f64 = 4_294_967_296.0;
const TWO_63: f64 = TWO_32 * 2_147_483_648.0;

/// How numbers are rounded to 16 bits.
const TO_NEAREST_EVEN: u8 = 0;

impl Selector<'_> {
    /// Converts a number; `false` for what has no short sequence of instructions.
    pub(super) fn cast(&mut self, value: Value) -> bool {
        let to = self.body.lane(value);
        let operand = self.body.instruction(value).operands[0];
        let from = self.body.lane(operand);
        let parts = match (from.is_float(), to.is_float()) {
            (false, false) => self.integer_to_integer(operand, from, to.size()),
            (false, true) => {
                let Some(parts) = self.integer_to_float(operand, from, to) else { return false };
                parts
            }
            (true, false) => self.float_to_integer(operand, from, to),
            (true, true) => self.float_to_float(operand, from, to),
        };
        self.set(value, parts)
    }

    fn integer_to_integer(&mut self, operand: Value, from: LaneType, to: usize) -> Parts {
        if let Some(parts) = self.load_extended(operand, from, to) {
            return parts;
        }
        let x = self.number(operand);
        self.resize(x, from, to)
    }

    /// Integers of `to` bytes: the low bytes, or extended by the sign of `from`.
    fn resize(&mut self, x: Parts, from: LaneType, to: usize) -> Parts {
        match from.size() {
            size if size < to => self.widen(x, size, to, from.is_signed()),
            size => self.narrow(x, size, to),
        }
    }

    /// Integers read from memory and extended at once; only what nothing else has read.
    fn load_extended(&mut self, operand: Value, from: LaneType, to: usize) -> Option<Parts> {
        let Primitive::Load { input, .. } = self.body.instruction(operand).primitive else {
            return None;
        };
        let is_read = self.has_number(operand);
        let is_single = self.layout.inputs[input as usize].is_one();
        if is_read || is_single || from.size() >= to {
            return None;
        }
        Some(Opcode::load_extended(self, input, from.size(), to, from.is_signed()))
    }

    /// Wider lanes.
    pub(super) fn widen(&mut self, x: Parts, from: usize, to: usize, is_signed: bool) -> Parts {
        self.widen_with(extend(from, to, is_signed), x, from, to)
    }

    /// One instruction for each part of the result, on as many lanes of the source.
    fn widen_with(&mut self, opcode: Opcode, x: Parts, from: usize, to: usize) -> Parts {
        let bytes = from * REGISTER_BYTES as usize / to;
        let is_wide = self.is_wide(to);
        Parts::new(self.count(to), |index| {
            let first = index * bytes;
            let part = x.part(first / REGISTER_BYTES as usize);
            let low = self.bytes_from(part, first % REGISTER_BYTES as usize);
            self.vector(opcode, is_wide, &[low])
        })
    }

    /// A register whose low bytes are those from `first` on.
    fn bytes_from(&mut self, register: Register, first: usize) -> Register {
        let half = match first < 16 {
            true => register,
            false => self.vector_with(opcode::EXTRACT_128, true, &[register], Some(1)),
        };
        match first % 16 {
            0 => half,
            bytes => self.vector_with(opcode::SHIFT_BYTES_RIGHT, false, &[half], Some(bytes as u8)),
        }
    }

    /// Narrower lanes: the low bytes.
    fn narrow(&mut self, mut x: Parts, from: usize, to: usize) -> Parts {
        let mut size = from;
        while size > to {
            x = match size {
                8 => self.halve(x, size, |selector, is_wide, low, high| {
                    selector.vector_with(opcode::SHUFFLE_F32, is_wide, &[low, high], Some(0x88))
                }),
                4 => {
                    let x = self.with(opcode::AND, 4, x, 0xffff);
                    self.pack(x, 4, opcode::PACK_UNSIGNED_32)
                }
                _ => {
                    let x = self.with(opcode::AND, 2, x, 0x00ff);
                    self.pack(x, 2, opcode::PACK_UNSIGNED_16)
                }
            };
            size /= 2;
        }
        x
    }

    /// Masks for narrower lanes.
    pub(super) fn narrow_masks(&mut self, mut x: Parts, from: usize, to: usize) -> Parts {
        let mut size = from;
        while size > to {
            x = match size {
                8 => self.narrow(x, 8, 4),
                4 => self.pack(x, 4, opcode::PACK_SIGNED_32),
                _ => self.pack(x, 2, opcode::PACK_SIGNED_16),
            };
            size /= 2;
        }
        x
    }

    fn pack(&mut self, x: Parts, size: usize, opcode: Opcode) -> Parts {
        self.halve(x, size, |selector, is_wide, low, high| {
            selector.vector(opcode, is_wide, &[low, high])
        })
    }

    /// Lanes of half as many bytes, from pairs of registers, which `mix` takes 128 bits by 128 bits.
    fn halve(
        &mut self,
        x: Parts,
        size: usize,
        mix: impl Fn(&mut Self, bool, Register, Register) -> Register,
    ) -> Parts {
        if self.is_in_row {
            let low = mix(self, false, x.part(0), x.part(0));
            return Parts::same(1, self.repeated(low));
        }
        if !self.is_wide(size) {
            return Parts::same(1, mix(self, false, x.part(0), x.part(0)));
        }
        if x.count == 1 {
            let high = self.vector_with(opcode::EXTRACT_128, true, &[x.part(0)], Some(1));
            return Parts::same(1, mix(self, false, x.part(0), high));
        }
        Parts::new(x.count / 2, |index| {
            let mixed = mix(self, true, x.part(2 * index), x.part(2 * index + 1));
            self.vector_with(opcode::PERMUTE_64, true, &[mixed], Some(0xd8))
        })
    }

    /// A register full of what its low bytes have, which is the same in all lanes there.
    fn repeated(&mut self, low: Register) -> Register {
        self.vector(opcode::BROADCAST_64, true, &[low])
    }

    fn integer_to_float(&mut self, operand: Value, from: LaneType, to: LaneType) -> Option<Parts> {
        use LaneType::{F32, I64, U32, U64};
        Some(match (from, to) {
            (U32, F32) => {
                let x = self.number(operand);
                self.u32_to_f32(x)
            }
            (U32, _) => {
                let x = self.integer_to_integer(operand, from, 8);
                let x = self.with(opcode::OR, 8, x, TWO_52.to_bits());
                self.with(opcode::SUB_F64, 8, x, TWO_52.to_bits())
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
                    F32 => self.each(opcode::I32_TO_F32, 4, x, None),
                    _ => self.widen_with(opcode::I32_TO_F64, x, 4, 8),
                }
            }
        })
    }

    /// Both halves are exact, and so is the upper one times 2^16: one sum rounds.
    fn u32_to_f32(&mut self, x: Parts) -> Parts {
        let high = self.each(opcode::SHIFT_RIGHT_32, 4, x, Some(16));
        let low = self.with(opcode::AND, 4, x, 0xffff);
        let [high, low] = [high, low].map(|x| self.each(opcode::I32_TO_F32, 4, x, None));
        let high = self.with(opcode::MUL_F32, 4, high, 65536f32.to_bits().into());
        self.pairs(opcode::ADD_F32, 4, high, low)
    }

    /// The halves as the low bits of two large doubles, which are exact without them: one sum rounds.
    fn wide_to_f64(&mut self, x: Parts, is_signed: bool) -> Parts {
        let low_base = self.constant(TWO_52.to_bits(), 8);
        let low_base = Parts::same(x.count, low_base);
        let low = self.pairs_with(opcode::BLEND_CONSTANT_32, 8, low_base, x, Some(0x55));
        let high = self.each(opcode::SHIFT_RIGHT_64, 8, x, Some(32));
        // The sign bit is flipped, which adds 2^63.
        let base = if is_signed { TWO_84 + TWO_63 } else { TWO_84 };
        let high = self.with(opcode::XOR, 8, high, base.to_bits());
        let high = self.with(opcode::SUB_F64, 8, high, (base + TWO_52).to_bits());
        self.pairs(opcode::ADD_F64, 8, high, low)
    }

    fn float_to_float(&mut self, operand: Value, from: LaneType, to: LaneType) -> Parts {
        let x = self.number(operand);
        match (from, to) {
            (LaneType::F32, LaneType::F64) => self.widen_with(opcode::F32_TO_F64, x, 4, 8),
            (LaneType::F64, LaneType::F32) => self.narrow_with(opcode::F64_TO_F32, 8, x, None),
            _ => x,
        }
    }

    /// A number of 16 bits as one of 32.
    pub(super) fn widen_f16(&mut self, value: Value) -> bool {
        let x = self.number(self.body.instruction(value).operands[0]);
        let parts = self.widen_with(opcode::F16_TO_F32, x, 2, 4);
        self.set(value, parts)
    }

    /// The instruction keeps the sign and the upper bits of a NaN.
    pub(super) fn round_to_f16(&mut self, value: Value) -> bool {
        let x = self.number(self.body.instruction(value).operands[0]);
        let x = self.canonical(4, x);
        let parts = self.narrow_with(opcode::F32_TO_F16, 4, x, Some(TO_NEAREST_EVEN));
        self.set(value, parts)
    }

    /// Lanes of `size` bytes to lanes of half as many, each register to half of one.
    fn narrow_with(
        &mut self,
        opcode: Opcode,
        size: usize,
        x: Parts,
        immediate: Option<u8>,
    ) -> Parts {
        let is_wide = self.is_wide(size);
        let halves = x.map(|part| self.vector_with(opcode, is_wide, &[part], immediate));
        if self.is_in_row {
            return Parts::same(1, self.repeated(halves.part(0)));
        }
        if x.count == 1 {
            return halves;
        }
        Parts::new(x.count / 2, |index| {
            let halves = [halves.part(2 * index), halves.part(2 * index + 1)];
            self.vector_with(opcode::INSERT_128, true, &halves, Some(1))
        })
    }

    fn float_to_integer(&mut self, operand: Value, from: LaneType, to: LaneType) -> Parts {
        use LaneType::{F32, F64, I32, I64, U32, U64};
        let x = self.number(operand);
        match (from, to) {
            (F32, I32) => self.f32_to_i32(x),
            (F64, I32) => {
                let x = self.clamped(x, 8, f64::from(i32::MIN), f64::from(i32::MAX));
                self.narrow_with(opcode::F64_TO_I32, 8, x, None)
            }
            (F32, U32 | I64 | U64) => {
                let x = self.widen_with(opcode::F32_TO_F64, x, 4, 8);
                self.f64_to_wide(x, to)
            }
            (F64, U32 | I64 | U64) => self.f64_to_wide(x, to),
            _ => self.float_to_narrow(x, from, to),
        }
    }

    /// What is too large, and NaNs, give the smallest integer.
    fn f32_to_i32(&mut self, x: Parts) -> Parts {
        let truncated = self.each(opcode::F32_TO_I32, 4, x, None);
        let limit = self.constant(2_147_483_648f32.to_bits().into(), 4);
        let is_large = self.compare_floats(4, x, Parts::same(x.count, limit), AT_LEAST);
        let saturated = self.pairs(opcode::XOR, 4, truncated, is_large);
        let is_number = self.compare_floats(4, x, x, ORDERED);
        self.pairs(opcode::AND, 4, saturated, is_number)
    }

    /// Floats between two numbers; NaNs become 0.
    fn clamped(&mut self, x: Parts, size: usize, least: f64, most: f64) -> Parts {
        let is_number = self.compare_floats(size, x, x, ORDERED);
        let x = self.pairs(opcode::AND, size, x, is_number);
        let bits = |limit: f64| match size {
            4 => u64::from((limit as f32).to_bits()),
            _ => limit.to_bits(),
        };
        let x = self.with(either(size, opcode::MAX_F32, opcode::MAX_F64), size, x, bits(least));
        self.with(either(size, opcode::MIN_F32, opcode::MIN_F64), size, x, bits(most))
    }

    /// Integers of 8 or 16 bits: those of 32 bits, between the limits.
    fn float_to_narrow(&mut self, x: Parts, from: LaneType, to: LaneType) -> Parts {
        let (least, most) = match to {
            LaneType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
            LaneType::U8 => (0.0, f64::from(u8::MAX)),
            LaneType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
            _ => (0.0, f64::from(u16::MAX)),
        };
        let x = self.clamped(x, from.size(), least, most);
        let x = match from {
            LaneType::F32 => self.each(opcode::F32_TO_I32, 4, x, None),
            _ => self.narrow_with(opcode::F64_TO_I32, 8, x, None),
        };
        self.narrow(x, 4, to.size())
    }

    /// Doubles to `u32` or integers of 64 bits, of which each half is the low bits of a large double.
    fn f64_to_wide(&mut self, x: Parts, to: LaneType) -> Parts {
        let is_number = self.compare_floats(8, x, x, ORDERED);
        let x = self.pairs(opcode::AND, 8, x, is_number);
        let x = self.round(8, x, TO_ZERO);
        if to == LaneType::U32 {
            let x = self.with(opcode::MAX_F64, 8, x, 0f64.to_bits());
            let x = self.with(opcode::MIN_F64, 8, x, f64::from(u32::MAX).to_bits());
            let x = self.with(opcode::ADD_F64, 8, x, TWO_52.to_bits());
            return self.narrow(x, 8, 4);
        }
        let (least, limit) = match to {
            LaneType::I64 => (-TWO_63, TWO_63),
            _ => (0.0, 2.0 * TWO_63),
        };
        let x = self.with(opcode::MAX_F64, 8, x, least.to_bits());
        let limit_register = self.constant(limit.to_bits(), 8);
        let is_large = self.compare_floats(8, x, Parts::same(x.count, limit_register), AT_LEAST);
        let high = self.with(opcode::MUL_F64, 8, x, (1.0 / TWO_32).to_bits());
        let high = self.round(8, high, 0x09);
        let whole = self.with(opcode::MUL_F64, 8, high, TWO_32.to_bits());
        let low = self.pairs(opcode::SUB_F64, 8, x, whole);
        // A multiple of 2^51 more keeps the sum above 2^52 for negative numbers too.
        let high = self.with(opcode::ADD_F64, 8, high, (1.5 * TWO_52).to_bits());
        let low = self.with(opcode::ADD_F64, 8, low, TWO_52.to_bits());
        let high = self.each(opcode::SHIFT_LEFT_64, 8, high, Some(32));
        let joined = self.pairs_with(opcode::BLEND_CONSTANT_32, 8, high, low, Some(0x55));
        let most = if to == LaneType::I64 { i64::MAX as u64 } else { u64::MAX };
        let most = self.constant(most, 8);
        Opcode::blend(self, 8, is_large, Parts::same(x.count, most), joined)
    }
}

/// What makes lanes of `to` bytes from lanes of `from`.
pub(super) fn extend(from: usize, to: usize, is_signed: bool) -> Opcode {
    match (from, to, is_signed) {
        (1, 2, true) => opcode::EXTEND_I8_16,
        (1, 4, true) => opcode::EXTEND_I8_32,
        (1, _, true) => opcode::EXTEND_I8_64,
        (2, 4, true) => opcode::EXTEND_I16_32,
        (2, _, true) => opcode::EXTEND_I16_64,
        (_, _, true) => opcode::EXTEND_I32_64,
        (1, 2, false) => opcode::EXTEND_U8_16,
        (1, 4, false) => opcode::EXTEND_U8_32,
        (1, _, false) => opcode::EXTEND_U8_64,
        (2, 4, false) => opcode::EXTEND_U16_32,
        (2, _, false) => opcode::EXTEND_U16_64,
        (_, _, false) => opcode::EXTEND_U32_64,
    }
}
