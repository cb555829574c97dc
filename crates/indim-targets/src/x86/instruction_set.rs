//! What differs between the instruction sets of x86-64.

use core::fmt::Debug;

use indim_codegen::{LaneType, Primitive, Value};

use super::opcode::Opcode;
use super::select::Selector;
use crate::machine::{Class, Register};
use crate::select::Parts;

/// An instruction set, and what takes it other instructions than the others.
///
/// Lanes have `size` bytes each.
pub(super) trait InstructionSet: Copy + Debug + 'static {
    /// Whether its instructions have the encoding of AVX-512.
    const IS_EVEX: bool;
    /// The vector registers.
    const REGISTERS: usize;
    /// The registers of masks.
    const MASK_REGISTERS: usize;
    /// The bytes of a vector register.
    const REGISTER_BYTES: u32;
    /// The bytes that are there of constants which are the same in all lanes.
    const CONSTANT_BYTES: u32;
    /// What masks are in.
    const MASKS: Class;

    /// Writes a mask.
    fn store_mask() -> Opcode<Self>;

    /// Masks for lanes of another width.
    fn resize_masks(selector: &mut Selector<'_, Self>, x: Parts, from: usize, to: usize) -> Parts;

    /// A truth value from a truth value or several; `None` for what is no primitive on them.
    fn of_masks(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        size: usize,
        operands: [Parts; 3],
    ) -> Option<Parts>;

    /// Of a mask for lanes that are all alike one for lanes of any width.
    fn row_mask(selector: &mut Selector<'_, Self>, size: usize, x: Parts) -> Parts;

    /// Bytes that are 1 where a mask for bytes is set, and 0 elsewhere.
    fn truth_bytes(selector: &mut Selector<'_, Self>, mask: Parts) -> Parts;

    /// Masks of the lanes that are not zero, of bytes or of bytes that have been extended by zeros.
    fn is_not_zero(selector: &mut Selector<'_, Self>, x: Parts, size: usize) -> Parts;

    /// What takes the lanes of its second source where the third, a mask, is set, else those of the first.
    fn blend(size: usize) -> Opcode<Self>;

    /// The lanes where the mask is set, else 0.
    fn kept(selector: &mut Selector<'_, Self>, size: usize, mask: Parts, x: Parts) -> Parts;

    /// What makes a mask of a comparison of floats.
    fn compare_floats(size: usize) -> Opcode<Self>;

    /// The mask of a comparison of integers.
    fn compare_integers(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        lane: LaneType,
        x: Parts,
        y: Parts,
    ) -> Parts;

    /// The lesser and the greater of two integers of 64 bits, if there are such instructions.
    fn extremes_64(lane: LaneType) -> Option<(Opcode<Self>, Opcode<Self>)>;

    /// The low halves of products of 64 bits.
    fn mul_64(selector: &mut Selector<'_, Self>, x: Parts, y: Parts) -> Parts;

    /// The even numbers of 32 bits of one, the odd ones of another.
    fn alternating(selector: &mut Selector<'_, Self>, even: Parts, odd: Parts) -> Parts;

    /// What shifts 64 bits to the right by a constant, where copies of the top bit enter, if there is such an
    /// instruction.
    fn shift_signed_64() -> Option<Opcode<Self>>;

    /// Shifts by an amount for each lane; `None` for types without an instruction.
    fn shift_each(
        selector: &mut Selector<'_, Self>,
        primitive: Primitive,
        size: usize,
        x: Parts,
        amount: Parts,
    ) -> Option<Parts>;

    /// Zero bits above the highest one; `None` for types without an instruction.
    fn leading_zeros(selector: &mut Selector<'_, Self>, size: usize, x: Parts) -> Option<Parts>;

    /// The entries of a table of 32 or 64 bits at indices within it.
    fn entries(
        selector: &mut Selector<'_, Self>,
        size: usize,
        index: Register,
        table: u32,
    ) -> Register;

    /// A register whose low bytes are those from `first` on.
    fn bytes_from(selector: &mut Selector<'_, Self>, register: Register, first: usize) -> Register;

    /// Narrower lanes: the low bytes.
    fn narrow(selector: &mut Selector<'_, Self>, x: Parts, from: usize, to: usize) -> Parts;

    /// Of lanes of 32 bits the upper halves.
    fn upper_halves(selector: &mut Selector<'_, Self>, x: Parts) -> Parts;

    /// What gives, by a table, a bit for those of three sources, if there is such an instruction.
    fn bitwise_of_three() -> Option<Opcode<Self>>;

    /// What fixes up its second source as its third says, in the place of the first, if there is such an
    /// instruction.
    fn fix_up(size: usize) -> Option<Opcode<Self>>;

    /// The lower halves of two registers, in one.
    fn join(selector: &mut Selector<'_, Self>, halves: [Register; 2]) -> Register;

    /// Integers as floats; `None` for what has no short sequence of instructions.
    fn integer_to_float(
        selector: &mut Selector<'_, Self>,
        operand: Value,
        from: LaneType,
        to: LaneType,
    ) -> Option<Parts>;

    /// Floats as integers of 32 or 64 bits.
    fn float_to_integer(
        selector: &mut Selector<'_, Self>,
        x: Parts,
        from: LaneType,
        to: LaneType,
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
