//! Lowering of primitives to the instructions of AVX2 and AVX-512.
//!
//! - `cast.rs`: conversions between types, and between lane widths;
//! - `float.rs`: primitives on floats;
//! - `integer.rs`: primitives on integers.

mod cast;
mod float;
mod integer;

pub(super) use float::{AT_LEAST, ORDERED, TO_ZERO, by_size};

use core::ops::{Deref, DerefMut};

use indim_codegen::{LaneType, Primitive, SsaValue};

use super::instruction_set::X86InstructionSet;
use super::opcode::Opcode;
use super::roles::MAX_ALIGNED_OPERANDS;
use indim_codegen::machine::{Class, Memory, Register};
use indim_codegen::select::{Pattern, PatternKind, RegisterGroup, Selector, TargetLowering};

/// Instruction selection with the helpers of x86-64.
pub(super) struct X86Selector<'s, 'a, S>(&'s mut Selector<'a, Opcode<S>>);

impl<'a, S> Deref for X86Selector<'_, 'a, S> {
    type Target = Selector<'a, Opcode<S>>;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl<S> DerefMut for X86Selector<'_, '_, S> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

impl<S: X86InstructionSet> TargetLowering for Opcode<S> {
    const AND: Self = Opcode::BITS_AND;
    const OR: Self = Opcode::BITS_OR;
    const XOR: Self = Opcode::BITS_XOR;
    const MASKS: Class = S::MASKS;
    const CONSTANT_BYTES: u32 = S::CONSTANT_BYTES;
    const MAX_ALIGNED_OPERANDS: usize = MAX_ALIGNED_OPERANDS;

    // `LOAD` and `STORE` move a whole register, or half of one if the instruction is not wide.
    fn load(bytes: usize) -> Self {
        match bytes {
            4 => Opcode::LOAD_4_BYTES,
            8 => Opcode::LOAD_8_BYTES,
            bytes if bytes < S::REGISTER_BYTES as usize / 2 => Opcode::LOAD_16_BYTES,
            _ => Opcode::LOAD,
        }
    }

    fn store(bytes: usize, is_non_temporal: bool) -> Self {
        match bytes {
            4 => Opcode::STORE_4_BYTES,
            8 => Opcode::STORE_8_BYTES,
            bytes if bytes < S::REGISTER_BYTES as usize / 2 => Opcode::STORE_16_BYTES,
            _ if is_non_temporal => Opcode::STORE_NON_TEMPORAL,
            _ => Opcode::STORE,
        }
    }

    fn store_mask() -> Self {
        S::store_mask()
    }

    fn lower_primitive(
        selector: &mut Selector<'_, Self>,
        value: SsaValue,
        operand: LaneType,
    ) -> bool {
        let selector = &mut X86Selector(selector);
        match operand.is_float() {
            true => selector.float_instruction(value),
            false => selector.integer_instruction(value),
        }
    }

    fn has_pattern(kind: PatternKind, lane: LaneType) -> bool {
        match kind {
            PatternKind::Min | PatternKind::Max => match lane {
                LaneType::Bool => false,
                LaneType::I64 | LaneType::U64 => S::min_max_64(lane).is_some(),
                _ => true,
            },
            PatternKind::MulAdd { is_product_negated, is_addend_negated } => {
                is_product_negated || is_addend_negated
            }
            PatternKind::NegatedComparison(_) | PatternKind::Unordered | PatternKind::UpperHalf => {
                true
            }
            PatternKind::TernaryLogic(_) => S::ternary_logic().is_some(),
        }
    }

    fn lower_pattern(selector: &mut Selector<'_, Self>, value: SsaValue, pattern: Pattern) {
        let selector = &mut X86Selector(selector);
        selector.lower_pattern(value, pattern);
    }

    fn broadcast(selector: &mut Selector<'_, Self>, memory: Memory, size: usize) -> Register {
        let selector = &mut X86Selector(selector);
        let opcode = match size {
            1 => Opcode::BROADCAST_8,
            2 => Opcode::BROADCAST_16,
            4 => Opcode::BROADCAST_32,
            _ => Opcode::BROADCAST_64,
        };
        let is_wide = true;
        selector.emit_load(opcode, is_wide, memory)
    }

    fn load_extended(
        selector: &mut Selector<'_, Self>,
        input: u32,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> RegisterGroup {
        let selector = &mut X86Selector(selector);
        selector.load_input_widened(input, cast::extend(from, to, is_signed), from, to)
    }

    fn deinterleave_records(
        selector: &mut Selector<'_, Self>,
        size: usize,
        records: &[Register],
    ) -> Vec<Register> {
        let selector = &mut X86Selector(selector);
        S::deinterleave_records(selector, size, records)
    }

    fn resize_masks(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        let selector = &mut X86Selector(selector);
        S::resize_masks(selector, x, from, to)
    }

    fn mask_operation(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        size: usize,
        operands: [RegisterGroup; 3],
    ) -> Option<RegisterGroup> {
        let selector = &mut X86Selector(selector);
        S::mask_operation(selector, primitive, size, operands)
    }

    fn uniform_mask(
        selector: &mut Selector<'_, Self>,
        size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup {
        let selector = &mut X86Selector(selector);
        S::uniform_mask(selector, size, x)
    }

    fn mask_to_bytes(selector: &mut Selector<'_, Self>, mask: RegisterGroup) -> RegisterGroup {
        let selector = &mut X86Selector(selector);
        S::mask_to_bytes(selector, mask)
    }

    fn nonzero_mask(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup {
        let selector = &mut X86Selector(selector);
        S::nonzero_mask(selector, x, size)
    }

    fn blend(
        selector: &mut Selector<'_, Self>,
        size: usize,
        mask: RegisterGroup,
        on_true: RegisterGroup,
        on_false: RegisterGroup,
    ) -> RegisterGroup {
        let selector = &mut X86Selector(selector);
        selector.blend(size, mask, on_true, on_false)
    }

    fn deinterleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        parity: u8,
        pairs: [Register; 2],
    ) -> Register {
        let selector = &mut X86Selector(selector);
        S::deinterleave(selector, size, parity, pairs)
    }

    fn interleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2] {
        let selector = &mut X86Selector(selector);
        S::interleave(selector, size, lanes)
    }
}

impl<S: X86InstructionSet> X86Selector<'_, '_, S> {
    /// Selects lanes by a mask.
    pub(super) fn blend(
        &mut self,
        size: usize,
        mask: RegisterGroup,
        on_true: RegisterGroup,
        on_false: RegisterGroup,
    ) -> RegisterGroup {
        let is_wide = self.is_wide(size);
        RegisterGroup::new(on_true.count, |index| {
            let sources = [on_false.register(index), on_true.register(index), mask.register(index)];
            self.emit(S::blend(size), is_wide, &sources)
        })
    }

    /// Lowers a pattern, which ends with `value`.
    fn lower_pattern(&mut self, value: SsaValue, pattern: Pattern) {
        let size = self.body.lane(pattern.operands[0]).size();
        let x = self.number(pattern.operands[0]);
        let y = match pattern.kind {
            PatternKind::UpperHalf => RegisterGroup::NONE,
            _ => self.number(pattern.operands[1]),
        };
        match pattern.kind {
            PatternKind::UpperHalf => {
                let group = S::upper_halves(self, x);
                self.set(value, group);
            }
            PatternKind::Min | PatternKind::Max => {
                let (min, max) = min_max(self.body.lane(value));
                let is_min = pattern.kind == PatternKind::Min;
                let group = self.binary(if is_min { min } else { max }, size, x, y);
                self.set(value, group);
            }
            PatternKind::MulAdd { is_product_negated, is_addend_negated } => {
                let z = self.number(pattern.operands[2]);
                let opcode = float::product(is_product_negated, is_addend_negated, size);
                let group = self.mul_add(opcode, size, x, y, z);
                self.set(value, group);
            }
            PatternKind::TernaryLogic(table) => {
                let z = self.number(pattern.operands[2]);
                let opcode = S::ternary_logic()
                    .expect("invariant: `has_pattern` checked the instruction set");
                let is_wide = self.is_wide(size);
                let group = RegisterGroup::new(x.count, |index| {
                    let sources = [x, y, z].map(|it| it.register(index));
                    self.emit_immediate(opcode, is_wide, &sources, Some(table))
                });
                self.set(value, group);
            }
            PatternKind::NegatedComparison(comparison) => {
                let predicate = float::predicate(comparison) | float::NEGATED;
                let group = self.compare_floats(size, x, y, predicate);
                self.set_mask(value, size, group);
            }
            PatternKind::Unordered => {
                let group = self.compare_floats(size, x, y, float::UNORDERED);
                self.set_mask(value, size, group);
            }
        }
    }
}

fn min_max<S: X86InstructionSet>(lane: LaneType) -> (Opcode<S>, Opcode<S>) {
    match lane {
        LaneType::F32 => (Opcode::MIN_F32, Opcode::MAX_F32),
        LaneType::F64 => (Opcode::MIN_F64, Opcode::MAX_F64),
        LaneType::I8 => (Opcode::MIN_I8, Opcode::MAX_I8),
        LaneType::U8 => (Opcode::MIN_U8, Opcode::MAX_U8),
        LaneType::I16 => (Opcode::MIN_I16, Opcode::MAX_I16),
        LaneType::U16 => (Opcode::MIN_U16, Opcode::MAX_U16),
        LaneType::I32 => (Opcode::MIN_I32, Opcode::MAX_I32),
        LaneType::U32 => (Opcode::MIN_U32, Opcode::MAX_U32),
        _ => S::min_max_64(lane).expect("invariant: `has_pattern` checked the instruction set"),
    }
}
