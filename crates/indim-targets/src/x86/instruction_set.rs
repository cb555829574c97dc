//! Differences between the instruction sets of x86-64.

use core::fmt::Debug;

use indim_codegen::{LaneType, Primitive, Value};

use super::opcode::Opcode;
use super::select::Selector;
use crate::machine::{Class, Register};
use crate::select::RegisterGroup;

/// An instruction set, with the instructions and sequences in which it differs.
///
/// Lanes have `size` bytes each.
pub(super) trait InstructionSet: Copy + Debug + 'static {
    /// Whether its instructions have the encoding of AVX-512.
    const IS_EVEX: bool;
    /// Number of vector registers.
    const REGISTERS: usize;
    /// Number of mask registers.
    const MASK_REGISTERS: usize;
    /// Bytes of a vector register.
    const REGISTER_BYTES: u32;
    /// Bytes stored of constants that are the same in all lanes.
    const CONSTANT_BYTES: u32;
    /// Register class of masks.
    const MASKS: Class;

    /// The store of a mask.
    fn store_mask() -> Opcode<Self>;

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
    ) -> Option<RegisterGroup>;

    /// A mask for lanes of any width, from a mask whose lanes are all alike.
    fn uniform_mask(
        selector: &mut Selector<'_, Self>,
        size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup;

    /// Bytes that are 1 where a mask for bytes is set, and 0 elsewhere.
    fn mask_to_bytes(selector: &mut Selector<'_, Self>, mask: RegisterGroup) -> RegisterGroup;

    /// Masks of the lanes that are not zero, of bytes or of bytes that have been extended by zeros.
    fn nonzero_mask(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup;

    /// The blend: lanes of the second source where the third, a mask, is set, else of the first.
    fn blend(size: usize) -> Opcode<Self>;

    /// The lanes where the mask is set, else 0.
    fn move_or_zero(
        selector: &mut Selector<'_, Self>,
        size: usize,
        mask: RegisterGroup,
        x: RegisterGroup,
    ) -> RegisterGroup;

    /// The comparison of floats that makes a mask.
    fn compare_floats(size: usize) -> Opcode<Self>;

    /// The mask of a comparison of integers.
    fn compare_integers(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        lane: LaneType,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup;

    /// Minimum and maximum of 64-bit integers, if the set has them.
    fn min_max_64(lane: LaneType) -> Option<(Opcode<Self>, Opcode<Self>)>;

    /// The low halves of products of 64 bits.
    fn mul_64(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup;

    /// The even 32-bit lanes of one register and the odd ones of another.
    fn blend_odd_32(
        selector: &mut Selector<'_, Self>,
        even: RegisterGroup,
        odd: RegisterGroup,
    ) -> RegisterGroup;

    /// The arithmetic right shift of 64-bit lanes by a constant, if the set has one.
    fn shift_signed_64() -> Option<Opcode<Self>>;

    /// Shifts by an amount for each lane; `None` for types without an instruction.
    fn shift_each(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        size: usize,
        x: RegisterGroup,
        amount: RegisterGroup,
    ) -> Option<RegisterGroup>;

    /// Zero bits above the highest one; `None` for types without an instruction.
    fn leading_zeros(
        selector: &mut Selector<'_, Self>,
        size: usize,
        x: RegisterGroup,
    ) -> Option<RegisterGroup>;

    /// The entries of a table of 32 or 64 bits at indices within it.
    fn gather(
        selector: &mut Selector<'_, Self>,
        size: usize,
        index: Register,
        table: u32,
    ) -> Register;

    /// A register whose low bytes are those from `first` on.
    fn shift_down_bytes(
        selector: &mut Selector<'_, Self>,
        register: Register,
        first: usize,
    ) -> Register;

    /// Narrowed lanes: the low bytes.
    fn narrow(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup;

    /// The upper halves of 32-bit lanes.
    fn upper_halves(selector: &mut Selector<'_, Self>, x: RegisterGroup) -> RegisterGroup;

    /// The ternary bitwise instruction with a truth table, if the set has one.
    fn ternary_logic() -> Option<Opcode<Self>>;

    /// The instruction that fixes up special floats (`vfixupimm`), if the set has one.
    fn fix_up(size: usize) -> Option<Opcode<Self>>;

    /// The lower halves of two registers in one.
    fn concat_halves(selector: &mut Selector<'_, Self>, halves: [Register; 2]) -> Register;

    /// Integers as floats; `None` without a short sequence.
    fn integer_to_float(
        selector: &mut Selector<'_, Self>,
        operand: Value,
        from: LaneType,
        to: LaneType,
    ) -> Option<RegisterGroup>;

    /// Floats as integers of 32 or 64 bits.
    fn float_to_integer(
        selector: &mut Selector<'_, Self>,
        x: RegisterGroup,
        from: LaneType,
        to: LaneType,
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
