//! What AVX2, FMA and F16C have instructions for.

mod cast;
mod float;
mod integer;

use indim_codegen::{LaneType, Value};

use super::opcode::{self, Opcode, REGISTER_BYTES};
use crate::machine::{Memory, Register};
use crate::select::{self, Instructions, Parts, Pattern, PatternKind};

type Selector<'a> = select::Selector<'a, Opcode>;

impl Instructions for Opcode {
    const AND: Opcode = opcode::AND;
    const OR: Opcode = opcode::OR;
    const XOR: Opcode = opcode::XOR;

    fn load(bytes: usize) -> Opcode {
        match bytes {
            4 => opcode::LOAD_4_BYTES,
            8 => opcode::LOAD_8_BYTES,
            _ => opcode::LOAD,
        }
    }

    fn store(bytes: usize, streams: bool) -> Opcode {
        match bytes {
            4 => opcode::STORE_4_BYTES,
            8 => opcode::STORE_8_BYTES,
            _ if streams => opcode::STORE_PAST_CACHES,
            _ => opcode::STORE,
        }
    }

    fn compute(selector: &mut Selector<'_>, value: Value, operand: LaneType) -> bool {
        match operand.is_float() {
            true => selector.float_instruction(value),
            false => selector.integer_instruction(value),
        }
    }

    fn has_pattern(kind: PatternKind, lane: LaneType) -> bool {
        match kind {
            PatternKind::Lesser | PatternKind::Greater => {
                !matches!(lane, LaneType::Bool | LaneType::I64 | LaneType::U64)
            }
            PatternKind::Product { is_product_negated, is_addend_negated } => {
                is_product_negated || is_addend_negated
            }
            PatternKind::Negated(_) | PatternKind::Unordered => true,
        }
    }

    fn pattern(selector: &mut Selector<'_>, value: Value, pattern: Pattern) {
        selector.pattern(value, pattern);
    }

    fn broadcast(selector: &mut Selector<'_>, memory: Memory, size: usize) -> Register {
        let opcode = match size {
            1 => opcode::BROADCAST_8,
            2 => opcode::BROADCAST_16,
            4 => opcode::BROADCAST_32,
            _ => opcode::BROADCAST_64,
        };
        selector.read(opcode, true, memory)
    }

    fn load_extended(
        selector: &mut Selector<'_>,
        input: u32,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> Parts {
        let bytes_of_part = REGISTER_BYTES as usize / to * from;
        let opcode = cast::extend(from, to, is_signed);
        let is_wide = selector.is_wide(to);
        Parts::new(selector.count(to), |index| {
            let memory = selector.input(input, from, index * bytes_of_part);
            selector.read(opcode, is_wide, memory)
        })
    }

    fn widen(
        selector: &mut Selector<'_>,
        x: Parts,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> Parts {
        selector.widen(x, from, to, is_signed)
    }

    fn narrow_masks(selector: &mut Selector<'_>, x: Parts, from: usize, to: usize) -> Parts {
        selector.narrow_masks(x, from, to)
    }

    fn is_not_zero(selector: &mut Selector<'_>, x: Parts, size: usize) -> Parts {
        let zero = selector.constant(0, 8);
        let zeros = Parts::same(x.count, zero);
        // What has been extended is not negative.
        if size > 1 {
            return selector.pairs(integer::greater(size), size, x, zeros);
        }
        let is_zero = selector.pairs(opcode::EQUAL_8, 1, x, zeros);
        selector.not(is_zero, 1)
    }

    fn blend(
        selector: &mut Selector<'_>,
        size: usize,
        mask: Parts,
        on_true: Parts,
        on_false: Parts,
    ) -> Parts {
        let opcode = match size {
            4 => opcode::BLEND_32,
            8 => opcode::BLEND_64,
            _ => opcode::BLEND_8,
        };
        let is_wide = selector.is_wide(size);
        Parts::new(on_true.count, |index| {
            let sources = [on_false.part(index), on_true.part(index), mask.part(index)];
            selector.vector(opcode, is_wide, &sources)
        })
    }

    fn of_pairs(
        selector: &mut Selector<'_>,
        size: usize,
        part: u8,
        pairs: [Register; 2],
    ) -> Register {
        let is_wide = selector.is_wide(size);
        let mixed = match (size, part) {
            (4, 0) => selector.vector_with(opcode::SHUFFLE_F32, is_wide, &pairs, Some(0x88)),
            (4, _) => selector.vector_with(opcode::SHUFFLE_F32, is_wide, &pairs, Some(0xdd)),
            (_, 0) => selector.vector(opcode::UNPACK_LOW_64, is_wide, &pairs),
            _ => selector.vector(opcode::UNPACK_HIGH_64, is_wide, &pairs),
        };
        match is_wide {
            true => selector.vector_with(opcode::PERMUTE_64, true, &[mixed], Some(0xd8)),
            false => mixed,
        }
    }

    fn to_pairs(selector: &mut Selector<'_>, size: usize, lanes: [Register; 2]) -> [Register; 2] {
        let is_wide = selector.is_wide(size);
        let (low, high) = match size {
            4 => (opcode::UNPACK_LOW_32, opcode::UNPACK_HIGH_32),
            _ => (opcode::UNPACK_LOW_64, opcode::UNPACK_HIGH_64),
        };
        let mixed = [low, high].map(|opcode| selector.vector(opcode, is_wide, &lanes));
        match is_wide {
            true => [0x20, 0x31].map(|halves| {
                selector.vector_with(opcode::PERMUTE_128, true, &mixed, Some(halves))
            }),
            false => mixed,
        }
    }
}

impl Selector<'_> {
    /// Computes a value that ends a pattern.
    fn pattern(&mut self, value: Value, pattern: Pattern) {
        let size = self.body.lane(pattern.operands[0]).size();
        let [x, y] = [0, 1].map(|position| self.number(pattern.operands[position]));
        match pattern.kind {
            PatternKind::Lesser | PatternKind::Greater => {
                let (lesser, greater) = extremes(self.body.lane(value));
                let is_lesser = pattern.kind == PatternKind::Lesser;
                let parts = self.pairs(if is_lesser { lesser } else { greater }, size, x, y);
                self.set(value, parts);
            }
            PatternKind::Product { is_product_negated, is_addend_negated } => {
                let z = self.number(pattern.operands[2]);
                let opcode = float::product(is_product_negated, is_addend_negated, size);
                let parts = self.mul_add(opcode, size, x, y, z);
                self.set(value, parts);
            }
            PatternKind::Negated(comparison) => {
                let predicate = float::predicate(comparison) | float::NEGATED;
                let parts = self.compare_floats(size, x, y, predicate);
                self.set_mask(value, size, parts);
            }
            PatternKind::Unordered => {
                let parts = self.compare_floats(size, x, y, float::UNORDERED);
                self.set_mask(value, size, parts);
            }
        }
    }
}

fn extremes(lane: LaneType) -> (Opcode, Opcode) {
    match lane {
        LaneType::F32 => (opcode::MIN_F32, opcode::MAX_F32),
        LaneType::F64 => (opcode::MIN_F64, opcode::MAX_F64),
        LaneType::I8 => (opcode::MIN_I8, opcode::MAX_I8),
        LaneType::U8 => (opcode::MIN_U8, opcode::MAX_U8),
        LaneType::I16 => (opcode::MIN_I16, opcode::MAX_I16),
        LaneType::U16 => (opcode::MIN_U16, opcode::MAX_U16),
        LaneType::I32 => (opcode::MIN_I32, opcode::MAX_I32),
        LaneType::U32 => (opcode::MIN_U32, opcode::MAX_U32),
        LaneType::Bool | LaneType::I64 | LaneType::U64 => {
            unreachable!("invariant: these are no patterns")
        }
    }
}
