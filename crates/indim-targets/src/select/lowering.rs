//! The interface between instruction selection and a target.

use indim_codegen::{LaneType, Primitive, Value};

use super::{Pattern, PatternKind, RegisterGroup, Selector};
use crate::machine::{Class, Memory, Opcode, Register};

/// The instructions of a target by their operation, and short sequences for the rest.
///
/// Lanes have `size` bytes each. Parts are registers, one after another, as many as the lanes of a step take.
pub(crate) trait TargetLowering: Opcode {
    /// Bitwise, of two sources.
    const AND: Self;
    /// Bitwise, of two sources.
    const OR: Self;
    /// Bitwise, of two sources.
    const XOR: Self;
    /// Register class of truth values.
    const MASKS: Class = Class::Vector;
    /// Bytes stored of constants that are the same in all lanes: a register, or less if instructions can
    /// broadcast memory operands.
    const CONSTANT_BYTES: u32 = Self::REGISTER_BYTES;

    /// Maximum number of operands of functions with aligned rows: more leave no register for the argument.
    const MAX_ALIGNED: usize = 0;

    /// The load of `bytes` into the low bytes of a register.
    fn load(bytes: usize) -> Self;

    /// The store of the low `bytes` of a register; non-temporal if it `streams` and the target can.
    fn store(bytes: usize, streams: bool) -> Self;

    /// The store of a mask.
    fn store_mask() -> Self {
        Self::store(Self::REGISTER_BYTES as usize, false)
    }

    /// Selects code for a value with a last operand of this type; `false` if the target has no short
    /// sequence. Primitives from truth values to truth values are handled elsewhere.
    fn compute(selector: &mut Selector<'_, Self>, value: Value, operand: LaneType) -> bool;

    /// Whether the target has an instruction for a pattern on operands of this type.
    fn has_pattern(kind: PatternKind, lane: LaneType) -> bool;

    /// Selects code for the value at the end of a pattern.
    fn pattern(selector: &mut Selector<'_, Self>, value: Value, pattern: Pattern);

    /// A register with the memory operand broadcast to every lane.
    fn broadcast(selector: &mut Selector<'_, Self>, memory: Memory, size: usize) -> Register;

    /// The lanes of a dense input of `from` bytes each, as integers of `to` bytes.
    fn load_extended(
        selector: &mut Selector<'_, Self>,
        input: u32,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> RegisterGroup;

    /// A mask converted to another lane width.
    fn resize_masks(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup;

    /// A truth value from a truth value or several; `None` for what is no primitive on them.
    fn mask_operation(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        size: usize,
        operands: [RegisterGroup; 3],
    ) -> Option<RegisterGroup> {
        selector.vector_mask_operation(primitive, size, operands)
    }

    /// A mask for lanes of any width, from a mask whose lanes are all alike.
    fn uniform_mask(
        _selector: &mut Selector<'_, Self>,
        _size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup {
        x
    }

    /// Bytes that are 1 where a mask for bytes is set, and 0 elsewhere.
    fn mask_to_bytes(selector: &mut Selector<'_, Self>, mask: RegisterGroup) -> RegisterGroup {
        selector.binary_constant(Self::AND, 1, mask, 1)
    }

    /// Masks of the lanes that are not zero, of bytes or of bytes that have been extended by zeros.
    fn nonzero_mask(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup;

    /// The lanes of `on_true` where the mask is set, else those of `on_false`.
    fn blend(
        selector: &mut Selector<'_, Self>,
        size: usize,
        mask: RegisterGroup,
        on_true: RegisterGroup,
        on_false: RegisterGroup,
    ) -> RegisterGroup;

    /// Even (0) or odd (1) lanes of two consecutive registers.
    fn deinterleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        part: u8,
        pairs: [Register; 2],
    ) -> Register;

    /// The lanes of two registers, interleaved.
    fn interleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2];
}
