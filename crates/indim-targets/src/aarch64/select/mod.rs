//! Lowering of primitives to NEON.
//!
//! - `cast.rs`: conversions between types, and between lane widths;
//! - `float.rs`: primitives on floats;
//! - `integer.rs`: primitives on integers.

mod cast;
mod float;
mod integer;

use indim_codegen::{LaneType, Primitive, SsaValue};

use super::opcode::{self, Opcode};
use crate::machine::{Memory, Register};
use crate::select::{self, Pattern, PatternKind, RegisterGroup, TargetLowering};

type Selector<'a> = select::Selector<'a, Opcode>;

impl TargetLowering for Opcode {
    const AND: Opcode = opcode::AND.of(1);
    const OR: Opcode = opcode::OR.of(1);
    const XOR: Opcode = opcode::XOR.of(1);

    fn load(bytes: usize) -> Opcode {
        opcode::LOAD.of(bytes)
    }

    fn store(bytes: usize, _: bool) -> Opcode {
        opcode::STORE.of(bytes)
    }

    fn lower_primitive(selector: &mut Selector<'_>, value: SsaValue, operand: LaneType) -> bool {
        match selector.body.instruction(value).primitive {
            Primitive::Select => selector.select(value),
            Primitive::Cast => selector.cast(value),
            Primitive::WidenF16 => selector.widen_f16(value),
            Primitive::RoundToF16 => selector.round_to_f16(value),
            Primitive::Bits => {
                let group = selector.number(selector.body.instruction(value).operands[0]);
                selector.set(value, group)
            }
            _ if operand.is_float() => selector.float_instruction(value),
            _ => selector.integer_instruction(value),
        }
    }

    fn has_pattern(kind: PatternKind, lane: LaneType) -> bool {
        match kind {
            // `fmin` and `fmax` differ from the pattern: they return NaNs and order zeros.
            PatternKind::Min | PatternKind::Max => {
                lane != LaneType::Bool && !lane.is_float() && lane.size() < 8
            }
            PatternKind::MulAdd { is_product_negated, is_addend_negated } => {
                is_product_negated && !is_addend_negated
            }
            PatternKind::NegatedComparison(_)
            | PatternKind::Unordered
            | PatternKind::UpperHalf
            | PatternKind::TernaryLogic(_) => false,
        }
    }

    fn lower_pattern(selector: &mut Selector<'_>, value: SsaValue, pattern: Pattern) {
        let lane = selector.body.lane(value);
        let [x, y] = [0, 1].map(|position| selector.number(pattern.operands[position]));
        let extreme = match (pattern.kind, lane.is_signed()) {
            (PatternKind::Min, true) => opcode::MIN_SIGNED,
            (PatternKind::Min, false) => opcode::MIN_UNSIGNED,
            (PatternKind::Max, true) => opcode::MAX_SIGNED,
            (PatternKind::Max, false) => opcode::MAX_UNSIGNED,
            _ => {
                let z = selector.number(pattern.operands[2]);
                let group = selector.add_product(opcode::MUL_SUB, lane.size(), x, y, z);
                selector.set(value, group);
                return;
            }
        };
        let group = selector.binary(extreme.of(lane.size()), lane.size(), x, y);
        selector.set(value, group);
    }

    fn broadcast(selector: &mut Selector<'_>, memory: Memory, size: usize) -> Register {
        let first = selector.emit_load(opcode::LOAD.of(size), true, memory);
        selector.emit(opcode::BROADCAST.of(size), true, &[first])
    }

    fn load_extended(
        selector: &mut Selector<'_>,
        input: u32,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> RegisterGroup {
        let x = selector.load_lanes(input, from);
        Opcode::widen(selector, x, from, to, is_signed)
    }

    fn resize_masks(
        selector: &mut Selector<'_>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        match from < to {
            true => Opcode::widen(selector, x, from, to, true),
            false => selector.narrow(x, from, to),
        }
    }

    fn nonzero_mask(selector: &mut Selector<'_>, x: RegisterGroup, size: usize) -> RegisterGroup {
        selector.binary(opcode::TEST.of(size), size, x, x)
    }

    fn blend(
        selector: &mut Selector<'_>,
        size: usize,
        mask: RegisterGroup,
        on_true: RegisterGroup,
        on_false: RegisterGroup,
    ) -> RegisterGroup {
        let is_wide = selector.is_wide(size);
        RegisterGroup::new(on_true.count, |index| {
            let sources = [mask.register(index), on_true.register(index), on_false.register(index)];
            selector.emit(opcode::BITWISE_SELECT.of(1), is_wide, &sources)
        })
    }

    fn deinterleave(
        selector: &mut Selector<'_>,
        size: usize,
        parity: u8,
        pairs: [Register; 2],
    ) -> Register {
        let family = if parity == 0 { opcode::EVEN } else { opcode::ODD };
        selector.emit(family.of(size), selector.is_wide(size), &pairs)
    }

    fn interleave(selector: &mut Selector<'_>, size: usize, lanes: [Register; 2]) -> [Register; 2] {
        let is_wide = selector.is_wide(size);
        [opcode::INTERLEAVE_LOW, opcode::INTERLEAVE_HIGH]
            .map(|family| selector.emit(family.of(size), is_wide, &lanes))
    }
}

impl Opcode {
    /// Extends integers of `from` bytes to `to` bytes.
    fn widen(
        selector: &mut Selector<'_>,
        x: RegisterGroup,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> RegisterGroup {
        let (low, high) = match is_signed {
            true => (opcode::EXTEND_SIGNED, opcode::EXTEND_SIGNED_HIGH),
            false => (opcode::EXTEND_UNSIGNED, opcode::EXTEND_UNSIGNED_HIGH),
        };
        let mut x = x;
        let mut size = from;
        while size < to {
            x = selector.widen_lanes([low, high], size, x);
            size *= 2;
        }
        x
    }
}
