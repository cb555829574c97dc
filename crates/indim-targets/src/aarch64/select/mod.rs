//! Lowering of primitives to NEON.
//!
//! - `cast.rs`: conversions between types, and between lane widths;
//! - `float.rs`: primitives on floats;
//! - `integer.rs`: primitives on integers.

mod cast;
mod float;
mod integer;

use core::ops::{Deref, DerefMut};

use indim_codegen::{LaneType, Primitive, SsaValue};

use super::opcode::{self, Opcode};
use indim_codegen::machine::{Memory, Register};
use indim_codegen::select::{Pattern, PatternKind, RegisterGroup, Selector, TargetLowering};

/// Instruction selection with the helpers of NEON.
struct NeonSelector<'s, 'a>(&'s mut Selector<'a, Opcode>);

impl<'a> Deref for NeonSelector<'_, 'a> {
    type Target = Selector<'a, Opcode>;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl DerefMut for NeonSelector<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

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

    fn lower_primitive(
        selector: &mut Selector<'_, Self>,
        value: SsaValue,
        operand: LaneType,
    ) -> bool {
        let selector = &mut NeonSelector(selector);
        match selector.body.instruction(value).primitive {
            Primitive::Select => selector.select(value),
            Primitive::Cast => selector.cast(value),
            Primitive::WidenF16 => selector.widen_f16(value),
            Primitive::RoundToF16 => selector.round_to_f16(value),
            Primitive::Bits => {
                let operand = selector.body.instruction(value).operands[0];
                let group = selector.number(operand);
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

    fn lower_pattern(selector: &mut Selector<'_, Self>, value: SsaValue, pattern: Pattern) {
        let selector = &mut NeonSelector(selector);
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

    fn broadcast(selector: &mut Selector<'_, Self>, memory: Memory, size: usize) -> Register {
        let selector = &mut NeonSelector(selector);
        let first = selector.emit_load(opcode::LOAD.of(size), true, memory);
        selector.emit(opcode::BROADCAST.of(size), true, &[first])
    }

    fn load_extended(
        selector: &mut Selector<'_, Self>,
        input: u32,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> RegisterGroup {
        let selector = &mut NeonSelector(selector);
        let x = selector.load_lanes(input, from);
        Opcode::widen(selector, x, from, to, is_signed)
    }

    fn resize_masks(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        let selector = &mut NeonSelector(selector);
        match from < to {
            true => Opcode::widen(selector, x, from, to, true),
            false => selector.narrow(x, from, to),
        }
    }

    fn nonzero_mask(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup {
        let selector = &mut NeonSelector(selector);
        selector.binary(opcode::TEST.of(size), size, x, x)
    }

    fn blend(
        selector: &mut Selector<'_, Self>,
        size: usize,
        mask: RegisterGroup,
        on_true: RegisterGroup,
        on_false: RegisterGroup,
    ) -> RegisterGroup {
        let selector = &mut NeonSelector(selector);
        let is_wide = selector.is_wide(size);
        RegisterGroup::new(on_true.count, |index| {
            let sources = [mask.register(index), on_true.register(index), on_false.register(index)];
            selector.emit(opcode::BITWISE_SELECT.of(1), is_wide, &sources)
        })
    }

    fn deinterleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        parity: u8,
        pairs: [Register; 2],
    ) -> Register {
        let selector = &mut NeonSelector(selector);
        let family = if parity == 0 { opcode::EVEN } else { opcode::ODD };
        let is_wide = selector.is_wide(size);
        selector.emit(family.of(size), is_wide, &pairs)
    }

    fn interleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2] {
        let selector = &mut NeonSelector(selector);
        let is_wide = selector.is_wide(size);
        [opcode::INTERLEAVE_LOW, opcode::INTERLEAVE_HIGH]
            .map(|family| selector.emit(family.of(size), is_wide, &lanes))
    }
}

impl Opcode {
    /// Extends integers of `from` bytes to `to` bytes.
    fn widen(
        selector: &mut NeonSelector<'_, '_>,
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
