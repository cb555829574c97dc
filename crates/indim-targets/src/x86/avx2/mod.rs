//! AVX2 with FMA and F16C: masks are vectors, all bits of a lane set or none.
//!
//! - `cast.rs`: conversions that AVX2 has no instruction for, and lanes that move where widths change;
//! - `opcode.rs`: the instructions that only AVX2 has, for 128 and 256 bits each.

mod cast;
mod opcode;

use indim_codegen::{LaneType, Primitive, Value};

use super::instruction_set::InstructionSet;
use super::opcode::Opcode;
use super::select::{Selector, either};
use crate::machine::{Class, Register};
use crate::select::RegisterGroup;

/// AVX2, FMA and F16C.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2;

/// The bytes of a register.
const REGISTER_BYTES: u32 = 32;

impl InstructionSet for Avx2 {
    const IS_EVEX: bool = false;
    const REGISTERS: usize = 16;
    const MASK_REGISTERS: usize = 0;
    const REGISTER_BYTES: u32 = REGISTER_BYTES;
    const CONSTANT_BYTES: u32 = REGISTER_BYTES;
    const MASKS: Class = Class::Vector;

    fn store_mask() -> Opcode<Avx2> {
        Opcode::STORE
    }

    fn resize_masks(
        selector: &mut Selector<'_, Avx2>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        match from < to {
            true => selector.widen(x, from, to, true),
            false => selector.narrow_masks(x, from, to),
        }
    }

    fn of_masks(
        selector: &mut Selector<'_, Avx2>,
        primitive: Primitive,
        size: usize,
        operands: [RegisterGroup; 3],
    ) -> Option<RegisterGroup> {
        selector.of_vector_masks(primitive, size, operands)
    }

    fn row_mask(_: &mut Selector<'_, Avx2>, _: usize, x: RegisterGroup) -> RegisterGroup {
        x
    }

    fn truth_bytes(selector: &mut Selector<'_, Avx2>, mask: RegisterGroup) -> RegisterGroup {
        selector.with(Opcode::BITS_AND, 1, mask, 1)
    }

    fn is_not_zero(
        selector: &mut Selector<'_, Avx2>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup {
        let zero = selector.constant(0, 8);
        let zeros = RegisterGroup::same(x.count, zero);
        // What has been extended is not negative.
        if size > 1 {
            return selector.pairs(greater(size), size, x, zeros);
        }
        let is_zero = selector.pairs(Opcode::EQUAL_8, 1, x, zeros);
        selector.not(is_zero, 1)
    }

    fn blend(size: usize) -> Opcode<Avx2> {
        match size {
            4 => Opcode::BLEND_32,
            8 => Opcode::BLEND_64,
            _ => Opcode::BLEND_8,
        }
    }

    fn kept(
        selector: &mut Selector<'_, Avx2>,
        size: usize,
        mask: RegisterGroup,
        x: RegisterGroup,
    ) -> RegisterGroup {
        selector.pairs(Opcode::BITS_AND, size, x, mask)
    }

    fn compare_floats(size: usize) -> Opcode<Avx2> {
        either(size, Opcode::COMPARE_F32, Opcode::COMPARE_F64)
    }

    fn compare_integers(
        selector: &mut Selector<'_, Avx2>,
        primitive: Primitive,
        lane: LaneType,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        let size = lane.size();
        match primitive {
            Primitive::Equal => selector.pairs(equal(size), size, x, y),
            Primitive::Less if lane.is_signed() => selector.pairs(greater(size), size, y, x),
            _ => {
                let sign = 1 << (8 * size - 1);
                let [x, y] = [x, y].map(|x| selector.with(Opcode::BITS_XOR, size, x, sign));
                selector.pairs(greater(size), size, y, x)
            }
        }
    }

    fn extremes_64(_: LaneType) -> Option<(Opcode<Avx2>, Opcode<Avx2>)> {
        None
    }

    fn mul_64(
        selector: &mut Selector<'_, Avx2>,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        let [high_x, high_y] =
            [x, y].map(|x| selector.each(Opcode::SHIFT_RIGHT_64, 8, x, Some(32)));
        let crossed = selector.pairs(Opcode::MUL_WIDE_U32, 8, high_x, y);
        let other = selector.pairs(Opcode::MUL_WIDE_U32, 8, x, high_y);
        let crossed = selector.pairs(Opcode::ADD_64, 8, crossed, other);
        let crossed = selector.each(Opcode::SHIFT_LEFT_64, 8, crossed, Some(32));
        let low = selector.pairs(Opcode::MUL_WIDE_U32, 8, x, y);
        selector.pairs(Opcode::ADD_64, 8, low, crossed)
    }

    fn alternating(
        selector: &mut Selector<'_, Avx2>,
        even: RegisterGroup,
        odd: RegisterGroup,
    ) -> RegisterGroup {
        selector.pairs_with(Opcode::BLEND_CONSTANT_32, 4, even, odd, Some(0xaa))
    }

    fn shift_signed_64() -> Option<Opcode<Avx2>> {
        None
    }

    fn shift_each(
        selector: &mut Selector<'_, Avx2>,
        primitive: Primitive,
        size: usize,
        x: RegisterGroup,
        amount: RegisterGroup,
    ) -> Option<RegisterGroup> {
        if size < 4 {
            return None;
        }
        let amount = selector.with(Opcode::BITS_AND, size, amount, 8 * size as u64 - 1);
        let opcode = match (primitive, size) {
            (Primitive::ShiftLeft, 4) => Opcode::SHIFT_LEFT_EACH_32,
            (Primitive::ShiftLeft, _) => Opcode::SHIFT_LEFT_EACH_64,
            (Primitive::ShiftRightLogical, 4) => Opcode::SHIFT_RIGHT_EACH_32,
            (_, 4) => Opcode::SHIFT_SIGNED_EACH_32,
            _ => Opcode::SHIFT_RIGHT_EACH_64,
        };
        let shifted = selector.pairs(opcode, size, x, amount);
        if let (Primitive::ShiftRightArithmetic, 8) = (primitive, size) {
            let top = selector.constant(1 << 63, 8);
            let sign = selector.pairs(opcode, size, RegisterGroup::same(x.count, top), amount);
            let flipped = selector.pairs(Opcode::BITS_XOR, size, shifted, sign);
            return Some(selector.pairs(Opcode::SUB_64, size, flipped, sign));
        }
        Some(shifted)
    }

    fn leading_zeros(
        _: &mut Selector<'_, Avx2>,
        _: usize,
        _: RegisterGroup,
    ) -> Option<RegisterGroup> {
        None
    }

    fn entries(
        selector: &mut Selector<'_, Avx2>,
        size: usize,
        index: Register,
        table: u32,
    ) -> Register {
        let is_wide = selector.is_wide(size);
        let gather = if size == 4 { Opcode::GATHER_32 } else { Opcode::GATHER_64 };
        // The mask of ones is lost: each time there must be another one.
        let ones = selector.vector(Opcode::EQUAL_32, is_wide, &[index, index]);
        selector.read_table(gather, is_wide, [index, ones], table)
    }

    fn bytes_from(selector: &mut Selector<'_, Avx2>, register: Register, first: usize) -> Register {
        selector.bytes_from(register, first)
    }

    fn narrow(
        selector: &mut Selector<'_, Avx2>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        selector.narrow(x, from, to)
    }

    fn upper_halves(selector: &mut Selector<'_, Avx2>, x: RegisterGroup) -> RegisterGroup {
        let shifted = selector.each(Opcode::SHIFT_RIGHT_32, 4, x, Some(16));
        selector.pack(shifted, 4, Opcode::PACK_UNSIGNED_32)
    }

    fn bitwise_of_three() -> Option<Opcode<Avx2>> {
        None
    }

    fn fix_up(_: usize) -> Option<Opcode<Avx2>> {
        None
    }

    fn join(selector: &mut Selector<'_, Avx2>, halves: [Register; 2]) -> Register {
        selector.vector_with(Opcode::INSERT_128, true, &halves, Some(1))
    }

    fn integer_to_float(
        selector: &mut Selector<'_, Avx2>,
        operand: Value,
        from: LaneType,
        to: LaneType,
    ) -> Option<RegisterGroup> {
        selector.integer_to_float(operand, from, to)
    }

    fn float_to_integer(
        selector: &mut Selector<'_, Avx2>,
        x: RegisterGroup,
        from: LaneType,
        to: LaneType,
    ) -> RegisterGroup {
        selector.float_to_integer(x, from, to)
    }

    fn of_pairs(
        selector: &mut Selector<'_, Avx2>,
        size: usize,
        part: u8,
        pairs: [Register; 2],
    ) -> Register {
        let is_wide = selector.is_wide(size);
        let mixed = match (size, part) {
            (4, 0) => selector.vector_with(Opcode::SHUFFLE_F32, is_wide, &pairs, Some(0x88)),
            (4, _) => selector.vector_with(Opcode::SHUFFLE_F32, is_wide, &pairs, Some(0xdd)),
            (_, 0) => selector.vector(Opcode::UNPACK_LOW_64, is_wide, &pairs),
            _ => selector.vector(Opcode::UNPACK_HIGH_64, is_wide, &pairs),
        };
        match is_wide {
            true => selector.vector_with(Opcode::PERMUTE_64, true, &[mixed], Some(0xd8)),
            false => mixed,
        }
    }

    fn to_pairs(
        selector: &mut Selector<'_, Avx2>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2] {
        let is_wide = selector.is_wide(size);
        let (low, high) = match size {
            4 => (Opcode::UNPACK_LOW_32, Opcode::UNPACK_HIGH_32),
            _ => (Opcode::UNPACK_LOW_64, Opcode::UNPACK_HIGH_64),
        };
        let mixed = [low, high].map(|opcode| selector.vector(opcode, is_wide, &lanes));
        match is_wide {
            true => [0x20, 0x31].map(|halves| {
                selector.vector_with(Opcode::PERMUTE_128, true, &mixed, Some(halves))
            }),
            false => mixed,
        }
    }
}

fn equal(size: usize) -> Opcode<Avx2> {
    match size {
        1 => Opcode::EQUAL_8,
        2 => Opcode::EQUAL_16,
        4 => Opcode::EQUAL_32,
        _ => Opcode::EQUAL_64,
    }
}

/// Greater than, of signed lanes of `size` bytes.
fn greater(size: usize) -> Opcode<Avx2> {
    match size {
        1 => Opcode::GREATER_8,
        2 => Opcode::GREATER_16,
        4 => Opcode::GREATER_32,
        _ => Opcode::GREATER_64,
    }
}
