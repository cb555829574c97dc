//! The interface of a target to instruction selection.

use crate::{LaneType, Primitive, SsaValue};

use super::{Pattern, PatternKind, RegisterGroup, Selector};
use crate::machine::{Class, MachineOpcode, Memory, Register};

/// Lowering of primitives to the instructions of a target.
///
/// `size` is the size of a lane, in bytes.
pub trait TargetLowering: MachineOpcode {
    /// Bitwise and.
    const AND: Self;
    /// Bitwise or.
    const OR: Self;
    /// Bitwise exclusive or.
    const XOR: Self;
    /// Register class of masks.
    const MASKS: Class = Class::Vector;
    /// Bytes stored of a constant with equal lanes: a register, or eight if instructions broadcast memory
    /// operands.
    const CONSTANT_BYTES: u32 = Self::REGISTER_BYTES;

    /// Maximum number of operands of code with aligned steps. With more, no register is left for the index of
    /// the next step.
    const MAX_ALIGNED_OPERANDS: usize = 0;

    /// The load of `bytes` bytes into the low bytes of a register.
    fn load(bytes: usize) -> Self;

    /// The store of the low `bytes` bytes of a register; non-temporal if `is_non_temporal` is set and the
    /// target has such a store of this size.
    fn store(bytes: usize, is_non_temporal: bool) -> Self;

    /// The store of a mask.
    fn store_mask() -> Self {
        Self::store(Self::REGISTER_BYTES as usize, false)
    }

    /// Lowers the primitive of a value, whose last operand has type `operand`. Returns `false` if the target
    /// has no short sequence: the primitive is then called out of line. Primitives with boolean operands and
    /// result are lowered by [`TargetLowering::mask_operation`].
    fn lower_primitive(
        selector: &mut Selector<'_, Self>,
        value: SsaValue,
        operand: LaneType,
    ) -> bool;

    /// Whether the target has an instruction for a pattern on operands of this type.
    fn has_pattern(kind: PatternKind, lane: LaneType) -> bool;

    /// Lowers a pattern, which ends with `value`.
    fn lower_pattern(selector: &mut Selector<'_, Self>, value: SsaValue, pattern: Pattern);

    /// Broadcasts an element in memory to all lanes of a register.
    fn broadcast(selector: &mut Selector<'_, Self>, memory: Memory, size: usize) -> Register;

    /// Loads a dense input of integers of `from` bytes, extended to `to` bytes.
    fn load_extended(
        selector: &mut Selector<'_, Self>,
        input: u32,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> RegisterGroup;

    /// De-interleaves records in registers: for each element of a record, a register with one lane from each
    /// record. Elements have `size` bytes. Only for targets of `can_deinterleave` of `indim-targets`.
    fn deinterleave_records(
        _selector: &mut Selector<'_, Self>,
        _size: usize,
        records: &[Register],
    ) -> Vec<Register> {
        records.to_vec()
    }

    /// Converts a mask from lanes of `from` bytes to lanes of `to` bytes.
    fn resize_masks(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup;

    /// Lowers a primitive with boolean operands and result; `None` if it is not defined for booleans.
    fn mask_operation(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        size: usize,
        operands: [RegisterGroup; 3],
    ) -> Option<RegisterGroup> {
        selector.vector_mask_operation(primitive, size, operands)
    }

    /// Makes a mask with equal lanes valid for lanes of any size.
    fn uniform_mask(
        _selector: &mut Selector<'_, Self>,
        _size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup {
        x
    }

    /// Converts a mask of bytes to the bytes 1 and 0.
    fn mask_to_bytes(selector: &mut Selector<'_, Self>, mask: RegisterGroup) -> RegisterGroup {
        selector.binary_constant(Self::AND, 1, mask, 1)
    }

    /// The mask of the nonzero lanes. The lanes are bytes, or bytes zero-extended to `size` bytes.
    fn nonzero_mask(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup;

    /// Selects lanes by a mask.
    fn blend(
        selector: &mut Selector<'_, Self>,
        size: usize,
        mask: RegisterGroup,
        on_true: RegisterGroup,
        on_false: RegisterGroup,
    ) -> RegisterGroup;

    /// The even (`parity` 0) or odd (`parity` 1) lanes of two consecutive registers.
    fn deinterleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        parity: u8,
        pairs: [Register; 2],
    ) -> Register;

    /// Interleaves the lanes of two registers; returns the lower half of the result, then the upper
    /// half.
    fn interleave(
        selector: &mut Selector<'_, Self>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2];
}
