//! AVX-512 (F, BW, CD, DQ, VL). Masks are in mask registers, with one bit per lane.
//!
//! A group of masks has one mask register per vector register. The low bits of a mask register belong to
//! the lanes of the vector register; the bits above them are unspecified. A mask with equal lanes has
//! all 64 bits equal, so it is valid for any size.
//!
//! - `cast.rs`: conversions;
//! - `opcode.rs`: the table of instructions that only AVX-512 has.

mod cast;
mod opcode;

use indim_codegen::{LaneType, Primitive, SsaValue};

use super::instruction_set::X86InstructionSet;
use super::opcode::Opcode;
use super::select::{X86Selector, by_size};
use indim_codegen::machine::{Class, Register};
use indim_codegen::select::RegisterGroup;

/// The instruction set AVX-512 (F, BW, CD, DQ and VL) with BMI2, whose `bzhi` makes the masks of tails.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512;

/// Bytes of a vector register.
const REGISTER_BYTES: u32 = 64;

/// Predicates of `vpcmpd` and the other comparisons of integers.
const EQUAL: u8 = 0;
const LESS_THAN: u8 = 1;

impl X86InstructionSet for Avx512 {
    const IS_EVEX: bool = true;
    const REGISTERS: usize = 32;
    /// K1 to K6. K0 cannot be a write mask, and K7 is the write mask of tails.
    const MASK_REGISTERS: usize = 6;
    const REGISTER_BYTES: u32 = REGISTER_BYTES;
    /// Instructions broadcast memory operands.
    const CONSTANT_BYTES: u32 = 8;
    const MASKS: Class = Class::Mask;

    fn store_mask() -> Opcode<Self> {
        Opcode::STORE_MASK
    }

    fn resize_masks(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        match from < to {
            true => selector.split_masks(x, from, to),
            false => selector.join_masks(x, from, to),
        }
    }

    fn mask_operation(
        selector: &mut X86Selector<'_, '_, Self>,
        primitive: Primitive,
        size: usize,
        [x, y, z]: [RegisterGroup; 3],
    ) -> Option<RegisterGroup> {
        Some(match primitive {
            Primitive::And => selector.binary(Opcode::MASK_AND, size, x, y),
            Primitive::Or => selector.binary(Opcode::MASK_OR, size, x, y),
            Primitive::Xor => selector.binary(Opcode::MASK_XOR, size, x, y),
            Primitive::Equal => selector.binary(Opcode::MASK_EQUAL, size, x, y),
            Primitive::Less => selector.binary(Opcode::MASK_NOT_AND, size, x, y),
            Primitive::Not => selector.unary(Opcode::MASK_NOT, size, x, None),
            Primitive::Select => {
                let on_true = selector.binary(Opcode::MASK_AND, size, x, y);
                let on_false = selector.binary(Opcode::MASK_NOT_AND, size, x, z);
                selector.binary(Opcode::MASK_OR, size, on_true, on_false)
            }
            _ => return None,
        })
    }

    fn uniform_mask(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup {
        let opcode = match size {
            1 => return x,
            2 => Opcode::FROM_MASK_16,
            4 => Opcode::FROM_MASK_32,
            _ => Opcode::FROM_MASK_64,
        };
        let lanes = selector.unary(opcode, size, x, None);
        selector.unary(Opcode::TO_MASK_8, 1, lanes, None)
    }

    fn mask_to_bytes(
        selector: &mut X86Selector<'_, '_, Self>,
        mask: RegisterGroup,
    ) -> RegisterGroup {
        let ones = selector.constant(1, 1);
        Self::move_or_zero(selector, 1, mask, RegisterGroup::uniform(mask.count, ones))
    }

    fn nonzero_mask(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup {
        assert_eq!(size, 1, "invariant: booleans are loaded as masks of bytes");
        selector.binary(Opcode::TEST_8, size, x, x)
    }

    fn blend(size: usize) -> Opcode<Self> {
        match size {
            1 => Opcode::BLEND_8,
            2 => Opcode::BLEND_16,
            4 => Opcode::BLEND_32,
            _ => Opcode::BLEND_64,
        }
    }

    fn move_or_zero(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        mask: RegisterGroup,
        x: RegisterGroup,
    ) -> RegisterGroup {
        let opcode = match size {
            1 => Opcode::MOVE_OR_ZERO_8,
            2 => Opcode::MOVE_OR_ZERO_16,
            4 => Opcode::MOVE_OR_ZERO_32,
            _ => Opcode::MOVE_OR_ZERO_64,
        };
        selector.binary(opcode, size, x, mask)
    }

    fn compare_floats(size: usize) -> Opcode<Self> {
        by_size(size, Opcode::COMPARE_F32, Opcode::COMPARE_F64)
    }

    fn compare_integers(
        selector: &mut X86Selector<'_, '_, Self>,
        primitive: Primitive,
        lane: LaneType,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        let size = lane.size();
        let is_signed = lane.is_signed() && primitive != Primitive::LessUnsigned;
        let opcode = match (size, is_signed) {
            (1, true) => Opcode::COMPARE_I8,
            (2, true) => Opcode::COMPARE_I16,
            (4, true) => Opcode::COMPARE_I32,
            (_, true) => Opcode::COMPARE_I64,
            (1, false) => Opcode::COMPARE_U8,
            (2, false) => Opcode::COMPARE_U16,
            (4, false) => Opcode::COMPARE_U32,
            (_, false) => Opcode::COMPARE_U64,
        };
        let predicate = if primitive == Primitive::Equal { EQUAL } else { LESS_THAN };
        selector.binary_immediate(opcode, size, x, y, Some(predicate))
    }

    fn min_max_64(lane: LaneType) -> Option<(Opcode<Self>, Opcode<Self>)> {
        Some(match lane.is_signed() {
            true => (Opcode::MIN_I64, Opcode::MAX_I64),
            false => (Opcode::MIN_U64, Opcode::MAX_U64),
        })
    }

    fn mul_64(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        selector.binary(Opcode::MUL_64, 8, x, y)
    }

    fn blend_odd_32(
        selector: &mut X86Selector<'_, '_, Self>,
        even: RegisterGroup,
        odd: RegisterGroup,
    ) -> RegisterGroup {
        let is_odd = selector.mask_constant(0xaaaa_aaaa_aaaa_aaaa);
        selector.blend(4, RegisterGroup::uniform(even.count, is_odd), odd, even)
    }

    fn shift_signed_64() -> Option<Opcode<Self>> {
        Some(Opcode::SHIFT_SIGNED_64)
    }

    fn shift_each(
        selector: &mut X86Selector<'_, '_, Self>,
        primitive: Primitive,
        size: usize,
        x: RegisterGroup,
        amount: RegisterGroup,
    ) -> Option<RegisterGroup> {
        let opcode = match (primitive, size) {
            (_, 1) => return None,
            (Primitive::ShiftLeft, 2) => Opcode::SHIFT_LEFT_EACH_16,
            (Primitive::ShiftLeft, 4) => Opcode::SHIFT_LEFT_EACH_32,
            (Primitive::ShiftLeft, _) => Opcode::SHIFT_LEFT_EACH_64,
            (Primitive::ShiftRightLogical, 2) => Opcode::SHIFT_RIGHT_EACH_16,
            (Primitive::ShiftRightLogical, 4) => Opcode::SHIFT_RIGHT_EACH_32,
            (Primitive::ShiftRightLogical, _) => Opcode::SHIFT_RIGHT_EACH_64,
            (_, 2) => Opcode::SHIFT_SIGNED_EACH_16,
            (_, 4) => Opcode::SHIFT_SIGNED_EACH_32,
            _ => Opcode::SHIFT_SIGNED_EACH_64,
        };
        let amount = selector.binary_constant(Opcode::BITS_AND, size, amount, 8 * size as u64 - 1);
        Some(selector.binary(opcode, size, x, amount))
    }

    fn leading_zeros(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        x: RegisterGroup,
    ) -> Option<RegisterGroup> {
        match size {
            4 => Some(selector.unary(Opcode::LEADING_ZEROS_32, size, x, None)),
            8 => Some(selector.unary(Opcode::LEADING_ZEROS_64, size, x, None)),
            _ => None,
        }
    }

    fn gather(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        index: Register,
        table: u32,
    ) -> Register {
        let is_wide = selector.is_wide(size);
        let gather = if size == 4 { Opcode::GATHER_32 } else { Opcode::GATHER_64 };
        // A gather clears its mask, so each needs a new mask of ones.
        let equal = Opcode::COMPARE_I32;
        let ones = selector.emit_immediate(equal, is_wide, &[index, index], Some(EQUAL));
        selector.emit_gather(gather, is_wide, [index, ones], table)
    }

    fn shift_down_bytes(
        selector: &mut X86Selector<'_, '_, Self>,
        register: Register,
        first: usize,
    ) -> Register {
        match first {
            0 => register,
            bytes => {
                let words = Some((bytes / 4) as u8);
                selector.emit_immediate(Opcode::ALIGN_32, true, &[register, register], words)
            }
        }
    }

    fn narrow(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        selector.narrow(x, from, to)
    }

    fn upper_halves(selector: &mut X86Selector<'_, '_, Self>, x: RegisterGroup) -> RegisterGroup {
        if x.count > 1 && !selector.is_in_row {
            return selector.narrow_pairs(x, 2, 1);
        }
        let shifted = selector.unary(Opcode::SHIFT_RIGHT_32, 4, x, Some(16));
        selector.narrow(shifted, 4, 2)
    }

    fn ternary_logic() -> Option<Opcode<Self>> {
        Some(Opcode::TERNARY_LOGIC)
    }

    fn fix_up(size: usize) -> Option<Opcode<Self>> {
        Some(by_size(size, Opcode::FIX_UP_F32, Opcode::FIX_UP_F64))
    }

    fn concat_halves(selector: &mut X86Selector<'_, '_, Self>, halves: [Register; 2]) -> Register {
        selector.emit_immediate(Opcode::INSERT_HALF, true, &halves, Some(1))
    }

    fn integer_to_float(
        selector: &mut X86Selector<'_, '_, Self>,
        operand: SsaValue,
        from: LaneType,
        to: LaneType,
    ) -> Option<RegisterGroup> {
        Some(selector.integer_to_float(operand, from, to))
    }

    fn float_to_integer(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        from: LaneType,
        to: LaneType,
    ) -> RegisterGroup {
        selector.float_to_integer(x, from, to)
    }

    fn deinterleave(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        parity: u8,
        [first, second]: [Register; 2],
    ) -> Register {
        selector.permute_two(size, [first, second], |lane, _| 2 * lane + u64::from(parity))
    }

    fn deinterleave_records(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        records: &[Register],
    ) -> Vec<Register> {
        selector.separate_members(size, records)
    }

    fn interleave(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2] {
        [0, 1].map(|half| {
            let source = |lane: u64, count: u64| (half * count + lane) / 2 + lane % 2 * count;
            selector.permute_two(size, lanes, source)
        })
    }
}

impl X86Selector<'_, '_, Avx512> {
    /// Permutes the lanes of two registers. `source` maps a result lane, and the number of lanes in a
    /// register, to a lane of the concatenated sources.
    fn permute_two(
        &mut self,
        size: usize,
        [first, second]: [Register; 2],
        source: impl Fn(u64, u64) -> u64,
    ) -> Register {
        let is_wide = self.is_wide(size);
        let count =
            u64::from(if is_wide { REGISTER_BYTES } else { REGISTER_BYTES / 2 }) / size as u64;
        let sources: Vec<u64> = (0..count).map(|lane| source(lane, count)).collect();
        let joined = |lanes: &[u64]| {
            let placed = lanes.iter().enumerate().map(|(lane, word)| word << (8 * size * lane));
            placed.sum()
        };
        let words = sources.chunks(8 / size).map(joined).collect();
        let sources = self.lane_constant(words);
        let opcode = match size {
            2 => Opcode::PERMUTE_TWO_16,
            4 => Opcode::PERMUTE_TWO_32,
            _ => Opcode::PERMUTE_TWO_64,
        };
        self.emit(opcode, is_wide, &[first, sources, second])
    }

    /// Separates the elements of records: a register for each position. Records of an even number of elements
    /// are halved, which takes fewer instructions than picking each element from all registers.
    fn separate_members(&mut self, size: usize, records: &[Register]) -> Vec<Register> {
        if records.len() == 1 {
            return records.to_vec();
        }
        if !records.len().is_multiple_of(2) {
            return (0..records.len())
                .map(|member| self.pick_member(size, records, member as u64))
                .collect();
        }
        let [even, odd] = [0, 1].map(|parity| {
            let pairs = records.chunks(2).map(|pair| {
                self.permute_two(size, [pair[0], pair[1]], |lane, _| 2 * lane + parity)
            });
            let half: Vec<Register> = pairs.collect();
            self.separate_members(size, &half)
        });
        even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
    }

    /// Picks the element at position `member` of each record.
    fn pick_member(&mut self, size: usize, records: &[Register], member: u64) -> Register {
        let factor = records.len() as u64;
        let mut picked = records[0];
        for (number, &next) in (0..factor).zip(records).skip(1) {
            picked = self.permute_two(size, [picked, next], |lane, count| {
                let element = lane * factor + member;
                match element / count {
                    source if source == number => count + element % count,
                    // The first permutation picks the lanes of the first register too.
                    0 if number == 1 => element,
                    _ => lane,
                }
            });
        }
        picked
    }

    /// Narrows lanes to `size` bytes, half of their size: keeps their lower (`parity` 0) or upper (`parity`
    /// 1) halves. Two registers become one.
    pub(super) fn narrow_pairs(
        &mut self,
        x: RegisterGroup,
        size: usize,
        parity: u64,
    ) -> RegisterGroup {
        RegisterGroup::new(x.count / 2, |index| {
            let pair = [0, 1].map(|half| x.register(2 * index + half));
            self.permute_two(size, pair, |lane, _| 2 * lane + parity)
        })
    }

    /// Splits masks for wider lanes; a vector register holds fewer of them.
    fn split_masks(&mut self, x: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        let [lanes, wider] = [from, to].map(|size| REGISTER_BYTES as usize / size);
        RegisterGroup::new(self.count(to), |index| {
            let first = index * wider;
            let mask = x.register(first / lanes);
            match first % lanes {
                0 => mask,
                bits => {
                    let bits = Some(bits as u8);
                    self.emit_immediate(Opcode::MASK_SHIFT_RIGHT, true, &[mask], bits)
                }
            }
        })
    }

    /// Joins masks for narrower lanes; a vector register holds more of them.
    fn join_masks(&mut self, mut x: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        let mut size = from;
        while size > to && x.count > 1 {
            x = RegisterGroup::new(x.count / 2, |index| {
                let [low, high] = [0, 1].map(|half| x.register(2 * index + half));
                self.concat_masks(REGISTER_BYTES as usize / size, low, high)
            });
            size /= 2;
        }
        x
    }

    /// Concatenates the low `bits` bits of two masks.
    fn concat_masks(&mut self, bits: usize, low: Register, high: Register) -> Register {
        let opcode = match bits {
            8 => Opcode::MASK_JOIN_8,
            16 => Opcode::MASK_JOIN_16,
            _ => Opcode::MASK_JOIN_32,
        };
        self.emit(opcode, true, &[high, low])
    }
}
