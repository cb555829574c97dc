//! What selection has to know of a target.

use indim_codegen::{LaneType, Primitive, Value};

use super::{Parts, Pattern, PatternKind, Selector};
use crate::machine::{Class, Memory, Opcode, Register};

/// The instructions of a target by what they do, and what takes several of them.
///
/// Lanes have `size` bytes each. Parts are registers, one after another, as many as the lanes of a step take.
pub(crate) trait Instructions: Opcode {
    /// Bitwise, of two sources.
    const AND: Self;
    /// Bitwise, of two sources.
    const OR: Self;
    /// Bitwise, of two sources.
    const XOR: Self;
    /// What truth values are in.
    const MASKS: Class = Class::Vector;
    /// How often constants that are the same in all lanes are there: those of a register, or less where
    /// instructions repeat what they read.
    const CONSTANT_BYTES: u32 = Self::REGISTER_BYTES;

    /// Functions of more operands have no register left to say where the step after the first begins.
    const MAX_ALIGNED: usize = 0;

    /// Reads so many bytes of memory into the low ones of a register.
    fn load(bytes: usize) -> Self;

    /// Writes so many low bytes of a register, past the caches if it `streams` and there is a way to.
    fn store(bytes: usize, streams: bool) -> Self;

    /// Writes a mask.
    fn store_mask() -> Self {
        Self::store(Self::REGISTER_BYTES as usize, false)
    }

    /// Computes a value whose operands are, the last one of this type; `false` for what there is no short
    /// sequence of instructions for. Truth values from truth values are not asked for.
    fn compute(selector: &mut Selector<'_, Self>, value: Value, operand: LaneType) -> bool;

    /// Whether there is an instruction for several primitives on operands of this type.
    fn has_pattern(kind: PatternKind, lane: LaneType) -> bool;

    /// Computes a value that ends a pattern.
    fn pattern(selector: &mut Selector<'_, Self>, value: Value, pattern: Pattern);

    /// A register with what lies in memory in every lane.
    fn broadcast(selector: &mut Selector<'_, Self>, memory: Memory, size: usize) -> Register;

    /// The lanes of a dense input of `from` bytes each, as integers of `to` bytes.
    fn load_extended(
        selector: &mut Selector<'_, Self>,
        input: u32,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> Parts;

    /// Masks for lanes of another width.
    fn resize_masks(selector: &mut Selector<'_, Self>, x: Parts, from: usize, to: usize) -> Parts;

    /// A truth value from a truth value or several; `None` for what is no primitive on them.
    fn of_masks(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        size: usize,
        operands: [Parts; 3],
    ) -> Option<Parts> {
        selector.of_vector_masks(primitive, size, operands)
    }

    /// Of a mask for lanes that are all alike one for lanes of any width.
    fn row_mask(_selector: &mut Selector<'_, Self>, _size: usize, x: Parts) -> Parts {
        x
    }

    /// Bytes that are 1 where a mask for bytes is set, and 0 elsewhere.
    fn truth_bytes(selector: &mut Selector<'_, Self>, mask: Parts) -> Parts {
        selector.with(Self::AND, 1, mask, 1)
    }

    /// Masks of the lanes that are not zero, of bytes or of bytes that have been extended by zeros.
    fn is_not_zero(selector: &mut Selector<'_, Self>, x: Parts, size: usize) -> Parts;

    /// The lanes of `on_true` where the mask is set, else those of `on_false`.
    fn blend(
        selector: &mut Selector<'_, Self>,
        size: usize,
        mask: Parts,
        on_true: Parts,
        on_false: Parts,
    ) -> Parts;

    /// Of pairs of lanes in two registers, one after the other, the first (0) or second (1) ones.
    fn of_pairs(
        selector: &mut Selector<'_, Self>,
        size: usize,
        part: u8,
        pairs: [Register; 2],
    ) -> Register;

    /// Pairs of the lanes of two registers, in two.
    fn to_pairs(
        selector: &mut Selector<'_, Self>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2];
}
