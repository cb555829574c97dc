//! AVX2 with FMA and F16C. Masks are vectors: all bits of a lane are set or none.
//!
//! - `cast.rs`: conversions without an instruction in AVX2, and narrowing of lanes;
//! - `opcode.rs`: the table of instructions that only AVX2 has.

mod cast;
mod opcode;

use indim_codegen::{LaneType, Primitive, SsaValue};

use super::instruction_set::X86InstructionSet;
use super::opcode::Opcode;
use super::select::{X86Selector, by_size};
use indim_codegen::machine::{Class, Register};
use indim_codegen::select::RegisterGroup;

/// The instruction set AVX2, FMA and F16C.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2;

/// Bytes of a vector register.
const REGISTER_BYTES: u32 = 32;

impl X86InstructionSet for Avx2 {
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
        selector: &mut X86Selector<'_, '_, Avx2>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        match from < to {
            true => selector.widen(x, from, to, true),
            false => selector.narrow_masks(x, from, to),
        }
    }

    fn mask_operation(
        selector: &mut X86Selector<'_, '_, Avx2>,
        primitive: Primitive,
        size: usize,
        operands: [RegisterGroup; 3],
    ) -> Option<RegisterGroup> {
        selector.vector_mask_operation(primitive, size, operands)
    }

    fn uniform_mask(
        _: &mut X86Selector<'_, '_, Avx2>,
        _: usize,
        x: RegisterGroup,
    ) -> RegisterGroup {
        x
    }

    fn mask_to_bytes(
        selector: &mut X86Selector<'_, '_, Avx2>,
        mask: RegisterGroup,
    ) -> RegisterGroup {
        selector.binary_constant(Opcode::BITS_AND, 1, mask, 1)
    }

    fn nonzero_mask(
        selector: &mut X86Selector<'_, '_, Avx2>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup {
        let zero = selector.constant(0, 8);
        let zeros = RegisterGroup::uniform(x.count, zero);
        // Zero-extended bytes are not negative, so nonzero means greater than 0.
        if size > 1 {
            return selector.binary(greater(size), size, x, zeros);
        }
        let is_zero = selector.binary(Opcode::EQUAL_8, 1, x, zeros);
        selector.not(is_zero, 1)
    }

    fn blend(size: usize) -> Opcode<Avx2> {
        match size {
            4 => Opcode::BLEND_32,
            8 => Opcode::BLEND_64,
            _ => Opcode::BLEND_8,
        }
    }

    fn move_or_zero(
        selector: &mut X86Selector<'_, '_, Avx2>,
        size: usize,
        mask: RegisterGroup,
        x: RegisterGroup,
    ) -> RegisterGroup {
        selector.binary(Opcode::BITS_AND, size, x, mask)
    }

    fn compare_floats(size: usize) -> Opcode<Avx2> {
        by_size(size, Opcode::COMPARE_F32, Opcode::COMPARE_F64)
    }

    fn compare_integers(
        selector: &mut X86Selector<'_, '_, Avx2>,
        primitive: Primitive,
        lane: LaneType,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        let size = lane.size();
        match primitive {
            Primitive::Equal => selector.binary(equal(size), size, x, y),
            Primitive::Less if lane.is_signed() => selector.binary(greater(size), size, y, x),
            _ => {
                let sign = 1 << (8 * size - 1);
                let [x, y] =
                    [x, y].map(|x| selector.binary_constant(Opcode::BITS_XOR, size, x, sign));
                selector.binary(greater(size), size, y, x)
            }
        }
    }

    fn min_max_64(_: LaneType) -> Option<(Opcode<Avx2>, Opcode<Avx2>)> {
        None
    }

    fn mul_64(
        selector: &mut X86Selector<'_, '_, Avx2>,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        let [high_x, high_y] =
            [x, y].map(|x| selector.unary(Opcode::SHIFT_RIGHT_64, 8, x, Some(32)));
        let crossed = selector.binary(Opcode::MUL_WIDE_U32, 8, high_x, y);
        let other = selector.binary(Opcode::MUL_WIDE_U32, 8, x, high_y);
        let crossed = selector.binary(Opcode::ADD_64, 8, crossed, other);
        let crossed = selector.unary(Opcode::SHIFT_LEFT_64, 8, crossed, Some(32));
        let low = selector.binary(Opcode::MUL_WIDE_U32, 8, x, y);
        selector.binary(Opcode::ADD_64, 8, low, crossed)
    }

    fn blend_odd_32(
        selector: &mut X86Selector<'_, '_, Avx2>,
        even: RegisterGroup,
        odd: RegisterGroup,
    ) -> RegisterGroup {
        selector.binary_immediate(Opcode::BLEND_CONSTANT_32, 4, even, odd, Some(0xaa))
    }

    fn shift_signed_64() -> Option<Opcode<Avx2>> {
        None
    }

    fn shift_each(
        selector: &mut X86Selector<'_, '_, Avx2>,
        primitive: Primitive,
        size: usize,
        x: RegisterGroup,
        amount: RegisterGroup,
    ) -> Option<RegisterGroup> {
        if size < 4 {
            return None;
        }
        let amount = selector.binary_constant(Opcode::BITS_AND, size, amount, 8 * size as u64 - 1);
        let opcode = match (primitive, size) {
            (Primitive::ShiftLeft, 4) => Opcode::SHIFT_LEFT_EACH_32,
            (Primitive::ShiftLeft, _) => Opcode::SHIFT_LEFT_EACH_64,
            (Primitive::ShiftRightLogical, 4) => Opcode::SHIFT_RIGHT_EACH_32,
            (_, 4) => Opcode::SHIFT_SIGNED_EACH_32,
            _ => Opcode::SHIFT_RIGHT_EACH_64,
        };
        let shifted = selector.binary(opcode, size, x, amount);
        if let (Primitive::ShiftRightArithmetic, 8) = (primitive, size) {
            let top = selector.constant(1 << 63, 8);
            let sign = selector.binary(opcode, size, RegisterGroup::uniform(x.count, top), amount);
            let flipped = selector.binary(Opcode::BITS_XOR, size, shifted, sign);
            return Some(selector.binary(Opcode::SUB_64, size, flipped, sign));
        }
        Some(shifted)
    }

    fn leading_zeros(
        _: &mut X86Selector<'_, '_, Avx2>,
        _: usize,
        _: RegisterGroup,
    ) -> Option<RegisterGroup> {
        None
    }

    fn gather(
        selector: &mut X86Selector<'_, '_, Avx2>,
        size: usize,
        index: Register,
        table: u32,
    ) -> Register {
        let is_wide = selector.is_wide(size);
        let gather = if size == 4 { Opcode::GATHER_32 } else { Opcode::GATHER_64 };
        // A gather clears its mask, so each needs a new mask of ones.
        let ones = selector.emit(Opcode::EQUAL_32, is_wide, &[index, index]);
        selector.emit_gather(gather, is_wide, [index, ones], table)
    }

    fn shift_down_bytes(
        selector: &mut X86Selector<'_, '_, Avx2>,
        register: Register,
        first: usize,
    ) -> Register {
        selector.shift_down_bytes(register, first)
    }

    fn narrow(
        selector: &mut X86Selector<'_, '_, Avx2>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        selector.narrow(x, from, to)
    }

    fn upper_halves(selector: &mut X86Selector<'_, '_, Avx2>, x: RegisterGroup) -> RegisterGroup {
        let shifted = selector.unary(Opcode::SHIFT_RIGHT_32, 4, x, Some(16));
        selector.pack(shifted, 4, Opcode::PACK_UNSIGNED_32)
    }

    fn ternary_logic() -> Option<Opcode<Avx2>> {
        None
    }

    fn fix_up(_: usize) -> Option<Opcode<Avx2>> {
        None
    }

    fn concat_halves(selector: &mut X86Selector<'_, '_, Avx2>, halves: [Register; 2]) -> Register {
        selector.emit_immediate(Opcode::INSERT_128, true, &halves, Some(1))
    }

    fn integer_to_float(
        selector: &mut X86Selector<'_, '_, Avx2>,
        operand: SsaValue,
        from: LaneType,
        to: LaneType,
    ) -> Option<RegisterGroup> {
        selector.integer_to_float(operand, from, to)
    }

    fn float_to_integer(
        selector: &mut X86Selector<'_, '_, Avx2>,
        x: RegisterGroup,
        from: LaneType,
        to: LaneType,
    ) -> RegisterGroup {
        selector.float_to_integer(x, from, to)
    }

    fn deinterleave(
        selector: &mut X86Selector<'_, '_, Avx2>,
        size: usize,
        parity: u8,
        pairs: [Register; 2],
    ) -> Register {
        let is_wide = selector.is_wide(size);
        let mixed = match (size, parity) {
            (4, 0) => selector.emit_immediate(Opcode::SHUFFLE_F32, is_wide, &pairs, Some(0x88)),
            (4, _) => selector.emit_immediate(Opcode::SHUFFLE_F32, is_wide, &pairs, Some(0xdd)),
            (_, 0) => selector.emit(Opcode::UNPACK_LOW_64, is_wide, &pairs),
            _ => selector.emit(Opcode::UNPACK_HIGH_64, is_wide, &pairs),
        };
        match is_wide {
            true => selector.emit_immediate(Opcode::PERMUTE_64, true, &[mixed], Some(0xd8)),
            false => mixed,
        }
    }

    fn interleave(
        selector: &mut X86Selector<'_, '_, Avx2>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2] {
        let is_wide = selector.is_wide(size);
        let (low, high) = match size {
            4 => (Opcode::UNPACK_LOW_32, Opcode::UNPACK_HIGH_32),
            _ => (Opcode::UNPACK_LOW_64, Opcode::UNPACK_HIGH_64),
        };
        let mixed = [low, high].map(|opcode| selector.emit(opcode, is_wide, &lanes));
        match is_wide {
            true => [0x20, 0x31].map(|halves| {
                selector.emit_immediate(Opcode::PERMUTE_128, true, &mixed, Some(halves))
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

/// The comparison "greater than" of signed lanes of `size` bytes.
fn greater(size: usize) -> Opcode<Avx2> {
    match size {
        1 => Opcode::GREATER_8,
        2 => Opcode::GREATER_16,
        4 => Opcode::GREATER_32,
        _ => Opcode::GREATER_64,
    }
}
