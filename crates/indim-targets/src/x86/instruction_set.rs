//! The interface of an instruction set: instructions and sequences in which AVX2 and AVX-512 differ.

use core::fmt::Debug;

use indim_codegen::{LaneType, Primitive, SsaValue};

use super::opcode::Opcode;
use super::select::X86Selector;
use indim_codegen::machine::{Class, Register};
use indim_codegen::select::RegisterGroup;

/// An instruction set of x86-64.
///
/// `size` is the size of a lane, in bytes.
pub(super) trait X86InstructionSet: Copy + Debug + 'static {
    /// Whether instructions have the EVEX encoding of AVX-512 instead of VEX.
    const IS_EVEX: bool;
    /// Number of vector registers.
    const REGISTERS: usize;
    /// Number of allocatable mask registers.
    const MASK_REGISTERS: usize;
    /// Bytes of a vector register.
    const REGISTER_BYTES: u32;
    /// Bytes stored of a constant with equal lanes: a register, or eight if instructions broadcast memory
    /// operands.
    const CONSTANT_BYTES: u32;
    /// Register class of masks.
    const MASKS: Class;

    /// The store of a mask.
    fn store_mask() -> Opcode<Self>;

    /// Converts a mask from lanes of `from` bytes to lanes of `to` bytes.
    fn resize_masks(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup;

    /// Lowers a primitive with boolean operands and result; `None` if it is not defined for booleans.
    fn mask_operation(
        selector: &mut X86Selector<'_, '_, Self>,
        primitive: Primitive,
        size: usize,
        operands: [RegisterGroup; 3],
    ) -> Option<RegisterGroup>;

    /// De-interleaves records in registers; see [`TargetLowering::deinterleave_records`].
    ///
    /// [`TargetLowering::deinterleave_records`]: indim_codegen::select::TargetLowering::deinterleave_records
    fn deinterleave_records(
        _selector: &mut X86Selector<'_, '_, Self>,
        _size: usize,
        records: &[Register],
    ) -> Vec<Register> {
        records.to_vec()
    }

    /// Makes a mask with equal lanes valid for lanes of any size.
    fn uniform_mask(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup;

    /// Converts a mask of bytes to the bytes 1 and 0.
    fn mask_to_bytes(
        selector: &mut X86Selector<'_, '_, Self>,
        mask: RegisterGroup,
    ) -> RegisterGroup;

    /// The mask of the nonzero lanes. The lanes are bytes, or bytes zero-extended to `size` bytes.
    fn nonzero_mask(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        size: usize,
    ) -> RegisterGroup;

    /// The blend: a lane of the second source if the mask, the third source, is set, else of the first.
    fn blend(size: usize) -> Opcode<Self>;

    /// Selects a lane of `x` if the mask is set, else 0.
    fn move_or_zero(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        mask: RegisterGroup,
        x: RegisterGroup,
    ) -> RegisterGroup;

    /// The comparison of floats, with a predicate as immediate.
    fn compare_floats(size: usize) -> Opcode<Self>;

    /// The mask of a comparison of integers.
    fn compare_integers(
        selector: &mut X86Selector<'_, '_, Self>,
        primitive: Primitive,
        lane: LaneType,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup;

    /// Minimum and maximum of 64-bit integers; `None` if the set lacks them.
    fn min_max_64(lane: LaneType) -> Option<(Opcode<Self>, Opcode<Self>)>;

    /// The low halves of products of 64-bit integers.
    fn mul_64(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup;

    /// Blends the even 32-bit lanes of `even` with the odd ones of `odd`.
    fn blend_odd_32(
        selector: &mut X86Selector<'_, '_, Self>,
        even: RegisterGroup,
        odd: RegisterGroup,
    ) -> RegisterGroup;

    /// The arithmetic right shift of 64-bit lanes by an immediate; `None` if the set lacks it.
    fn shift_signed_64() -> Option<Opcode<Self>>;

    /// Shifts each lane by its own amount; `None` for sizes without an instruction.
    fn shift_each(
        selector: &mut X86Selector<'_, '_, Self>,
        primitive: Primitive,
        size: usize,
        x: RegisterGroup,
        amount: RegisterGroup,
    ) -> Option<RegisterGroup>;

    /// The number of leading zero bits; `None` for sizes without an instruction.
    fn leading_zeros(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        x: RegisterGroup,
    ) -> Option<RegisterGroup>;

    /// Gathers entries of a table, for lanes of 4 or 8 bytes. The indices are in bounds.
    fn gather(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        index: Register,
        table: u32,
    ) -> Register;

    /// Shifts a register right by `first` bytes: byte `first` becomes byte 0. The upper bytes of the result
    /// are unspecified.
    fn shift_down_bytes(
        selector: &mut X86Selector<'_, '_, Self>,
        register: Register,
        first: usize,
    ) -> Register;

    /// Narrows lanes to their low bytes.
    fn narrow(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup;

    /// The upper halves of 32-bit lanes, as 16-bit lanes.
    fn upper_halves(selector: &mut X86Selector<'_, '_, Self>, x: RegisterGroup) -> RegisterGroup;

    /// The ternary bitwise instruction with a truth table; `None` if the set lacks it.
    fn ternary_logic() -> Option<Opcode<Self>>;

    /// The instruction that replaces special floats by a table (`vfixupimm`); `None` if the set lacks it.
    fn fix_up(size: usize) -> Option<Opcode<Self>>;

    /// Concatenates the lower halves of two registers.
    fn concat_halves(selector: &mut X86Selector<'_, '_, Self>, halves: [Register; 2]) -> Register;

    /// Converts integers to floats; `None` if the set has no short sequence.
    fn integer_to_float(
        selector: &mut X86Selector<'_, '_, Self>,
        operand: SsaValue,
        from: LaneType,
        to: LaneType,
    ) -> Option<RegisterGroup>;

    /// Converts floats to integers of 32 or 64 bits, saturating; NaNs become 0.
    fn float_to_integer(
        selector: &mut X86Selector<'_, '_, Self>,
        x: RegisterGroup,
        from: LaneType,
        to: LaneType,
    ) -> RegisterGroup;

    /// The even (`parity` 0) or odd (`parity` 1) lanes of two consecutive registers.
    fn deinterleave(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        parity: u8,
        pairs: [Register; 2],
    ) -> Register;

    /// Interleaves the lanes of two registers; returns the lower half of the result, then the upper
    /// half.
    fn interleave(
        selector: &mut X86Selector<'_, '_, Self>,
        size: usize,
        lanes: [Register; 2],
    ) -> [Register; 2];
}
