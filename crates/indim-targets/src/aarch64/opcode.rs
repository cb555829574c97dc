//! The table of NEON instructions: mnemonic and 32-bit encoding of each, with zeros in the fields for
//! registers and lane size.

use indim_codegen::machine::{self, ResultConstraint};

/// Bytes of a vector register.
pub(super) const REGISTER_BYTES: u32 = 16;

/// The bit Q of the encoding: 128 instead of 64 bits.
const WIDE: u32 = 1 << 30;

/// An instruction that exists for several lane sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct InstructionFamily {
    mnemonic: &'static str,
    /// The encoding, with zeros for registers and lane size.
    bits: u32,
    field: Field,
    shape: LaneShape,
    result: ResultConstraint,
    /// The lane sizes in bytes for which the instruction exists. If sources and result differ, the lane
    /// size is that of the sources.
    #[cfg_attr(not(test), allow(dead_code, reason = "only tests iterate over them"))]
    pub(super) sizes: &'static [usize],
}

/// Encoding of the lane size.
#[derive(Debug, Clone, Copy)]
enum Field {
    /// No field.
    None,
    /// The field `size`: log2 of the bytes.
    Integer,
    /// The field `size`, with 16 bits as 0.
    Half,
    /// The field `sz`, with 32 bits as 0.
    Float,
    /// The field `immh:immb`: the bits of a lane plus the shift amount.
    Shift,
    /// The field `imm5` of `dup`: the size as a one-hot bit, and lane 0.
    Lane,
    /// The fields `size` and `opc` of loads and stores.
    LoadStore,
}

/// Lanes of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaneShape {
    /// Operands and result have the same lanes.
    Same,
    /// The result has lanes of twice the size, from the lower half of the sources; from the upper half if the
    /// bit Q is set.
    Long,
    /// The result has lanes of half the size, in its lower half.
    Narrow,
    /// Adjacent lanes are combined into one of twice the size.
    Pairs,
    /// Left shift by an immediate.
    ShiftLeft,
    /// Right shift by an immediate.
    ShiftRight,
    /// Broadcast of the first lane.
    Repeat,
    /// Load or store.
    Memory,
    /// Gather from a table: a sequence of instructions.
    Gather,
}

/// An instruction for one lane size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opcode {
    mnemonic: &'static str,
    bits: u32,
    shape: LaneShape,
    result: ResultConstraint,
    /// Bytes of a lane; of a load or store, all bytes.
    pub(super) size: usize,
}

impl machine::MachineOpcode for Opcode {
    const REGISTERS: usize = 32;
    const REGISTER_BYTES: u32 = REGISTER_BYTES;
    /// Two constants, and a copy of the source that the result replaces.
    const MAX_EXTRA_REGISTERS: usize = 3;
    const CAN_REDUCE_LANES: bool = false;

    fn memory_source(self) -> Option<usize> {
        None
    }

    fn result(self) -> ResultConstraint {
        self.result
    }
}

impl InstructionFamily {
    /// The instruction for lanes of `size` bytes.
    pub(super) const fn of(self, size: usize) -> Opcode {
        let log = size.ilog2();
        let field = match self.field {
            Field::None => 0,
            Field::Integer => log << 22,
            Field::Half => (log - 1) << 22,
            Field::Float => (log - 2) << 22,
            Field::Shift => (8 * size as u32) << 16,
            Field::Lane => (size as u32) << 16,
            Field::LoadStore if size == 16 => 1 << 23,
            Field::LoadStore => log << 30,
        };
        let InstructionFamily { mnemonic, bits, shape, result, .. } = self;
        Opcode { mnemonic, bits: bits | field, shape, result, size }
    }
}

/// An instruction with its registers and immediate.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedInstruction {
    opcode: Opcode,
    is_wide: bool,
    immediate: u8,
    result: u8,
    /// The sources, without the one that the result replaces.
    sources: [Option<u8>; 2],
}

impl Opcode {
    /// Whether it is a gather.
    #[cfg(test)]
    pub(super) fn is_gather(self) -> bool {
        self.shape == LaneShape::Gather
    }

    /// Whether it is a load or store.
    #[cfg(test)]
    pub(super) fn is_move(self) -> bool {
        self.shape == LaneShape::Memory
    }

    /// Number of source registers, without the one that the result replaces; from the encoding class.
    #[cfg(test)]
    pub(super) fn source_count(self) -> usize {
        let is_shift = self.bits & 0x0f00_0000 == 0x0f00_0000;
        let is_two_register = self.bits & 0x003e_0c00 == 0x0020_0800;
        if is_shift || is_two_register || self.shape == LaneShape::Repeat { 1 } else { 2 }
    }

    /// The encoding of a load or store; the displacement is in units of its bytes.
    pub(super) fn move_bits(self, register: u8, base: u8, displacement: u32) -> u32 {
        debug_assert!(displacement < 1 << 12, "invariant: the displacement has 12 bits");
        self.bits | displacement << 10 | u32::from(base) << 5 | u32::from(register)
    }

    /// The mnemonic in listings.
    pub(super) fn mnemonic(self) -> &'static str {
        self.mnemonic
    }

    /// The instruction with its registers; `sources` lack the one that the result replaces.
    pub(super) fn with(
        self,
        is_wide: bool,
        immediate: u8,
        result: u8,
        sources: [Option<u8>; 2],
    ) -> EncodedInstruction {
        EncodedInstruction { opcode: self, is_wide, immediate, result, sources }
    }
}

impl EncodedInstruction {
    /// The encoding.
    pub(super) fn bits(self) -> u32 {
        let EncodedInstruction { opcode, immediate, .. } = self;
        let wide = match opcode.shape {
            LaneShape::Long | LaneShape::Narrow => 0,
            _ => u32::from(self.is_wide) * WIDE,
        };
        let lane_bits = 8 * opcode.size as u32;
        let amount = match opcode.shape {
            LaneShape::ShiftLeft => u32::from(immediate),
            // The field is `2 * lane_bits - immediate`; the sum below adds the second `lane_bits`.
            LaneShape::ShiftRight => lane_bits - u32::from(immediate),
            _ => 0,
        };
        // `opcode.bits` holds the bits of a lane in the same field.
        let bits = (opcode.bits | wide) + (amount << 16);
        let [first, second] = self.sources.map(|source| u32::from(source.unwrap_or_default()));
        bits | second << 16 | first << 5 | u32::from(self.result)
    }

    /// The text in listings.
    pub(super) fn text(self) -> String {
        let EncodedInstruction { opcode, is_wide, immediate, result, .. } = self;
        let size = opcode.size;
        let bytes = if is_wide { 16 } else { 8 };
        let halves = if opcode.bits & WIDE != 0 { 16 } else { 8 };
        let ((result_size, result_bytes), source_bytes) = match opcode.shape {
            LaneShape::Long => ((2 * size, 16), halves),
            LaneShape::Narrow => ((size / 2, 8), 16),
            LaneShape::Pairs => ((2 * size, bytes), bytes),
            _ => ((size, bytes), bytes),
        };
        let mut text =
            format!("{:<8}{}", opcode.mnemonic, lanes(result, result_size, result_bytes));
        for source in self.sources.into_iter().flatten() {
            text += &match opcode.shape {
                LaneShape::Repeat => format!(", v{source}.{}[0]", letter(size)),
                _ => format!(", {}", lanes(source, size, source_bytes)),
            };
        }
        if matches!(opcode.shape, LaneShape::ShiftLeft | LaneShape::ShiftRight) {
            text += &format!(", #{immediate}");
        }
        text
    }
}

/// The text of a register with its lanes, such as `v3.4s`.
fn lanes(register: u8, size: usize, bytes: usize) -> String {
    format!("v{register}.{}{}", bytes / size, letter(size))
}

/// The letter of a lane or register of `size` bytes.
pub(super) fn letter(size: usize) -> char {
    match size {
        1 => 'b',
        2 => 'h',
        4 => 's',
        8 => 'd',
        _ => 'q',
    }
}

macro_rules! families {
    ($(
        $name:ident $mnemonic:literal $bits:literal $field:ident $shape:ident $result:ident $sizes:expr;
    )*) => {
        $(pub(super) const $name: InstructionFamily = InstructionFamily {
            mnemonic: $mnemonic,
            bits: $bits,
            field: Field::$field,
            shape: LaneShape::$shape,
            result: ResultConstraint::$result,
            sizes: &$sizes,
        };)*

        /// All instructions.
        #[cfg(test)]
        pub(super) const ALL: &[InstructionFamily] = &[$($name),*];
    };
}

families! {
    ADD_FLOAT "fadd" 0x0e20_d400 Float Same Any [4, 8];
    SUB_FLOAT "fsub" 0x0ea0_d400 Float Same Any [4, 8];
    MUL_FLOAT "fmul" 0x2e20_dc00 Float Same Any [4, 8];
    DIV_FLOAT "fdiv" 0x2e20_fc00 Float Same Any [4, 8];
    // The first source plus or minus the product of the second and third, rounded once.
    MUL_ADD "fmla" 0x0e20_cc00 Float Same TiedToFirst [4, 8];
    MUL_SUB "fmls" 0x0ea0_cc00 Float Same TiedToFirst [4, 8];
    SQRT "fsqrt" 0x2ea1_f800 Float Same Any [4, 8];
    ABS "fabs" 0x0ea0_f800 Float Same Any [4, 8];
    NEG_FLOAT "fneg" 0x2ea0_f800 Float Same Any [4, 8];
    ROUND_DOWN "frintm" 0x0e21_9800 Float Same Any [4, 8];
    ROUND_UP "frintp" 0x0ea1_8800 Float Same Any [4, 8];
    ROUND_TO_ZERO "frintz" 0x0ea1_9800 Float Same Any [4, 8];
    ROUND_TO_EVEN "frintn" 0x0e21_8800 Float Same Any [4, 8];
    EQUAL_FLOAT "fcmeq" 0x0e20_e400 Float Same Any [4, 8];
    GREATER_FLOAT "fcmgt" 0x2ea0_e400 Float Same Any [4, 8];
    AND "and" 0x0e20_1c00 None Same Any [1];
    OR "orr" 0x0ea0_1c00 None Same Any [1];
    XOR "eor" 0x2e20_1c00 None Same Any [1];
    // For each bit: that of the second source if the bit of the first is set, else that of the third.
    BITWISE_SELECT "bsl" 0x2e60_1c00 None Same TiedToFirst [1];
    ADD "add" 0x0e20_8400 Integer Same Any [1, 2, 4, 8];
    SUB "sub" 0x2e20_8400 Integer Same Any [1, 2, 4, 8];
    NEG "neg" 0x2e20_b800 Integer Same Any [1, 2, 4, 8];
    MUL "mul" 0x0e20_9c00 Integer Same Any [1, 2, 4];
    MIN_SIGNED "smin" 0x0e20_6c00 Integer Same Any [1, 2, 4];
    MIN_UNSIGNED "umin" 0x2e20_6c00 Integer Same Any [1, 2, 4];
    MAX_SIGNED "smax" 0x0e20_6400 Integer Same Any [1, 2, 4];
    MAX_UNSIGNED "umax" 0x2e20_6400 Integer Same Any [1, 2, 4];
    EQUAL "cmeq" 0x2e20_8c00 Integer Same Any [1, 2, 4, 8];
    GREATER_SIGNED "cmgt" 0x0e20_3400 Integer Same Any [1, 2, 4, 8];
    GREATER_UNSIGNED "cmhi" 0x2e20_3400 Integer Same Any [1, 2, 4, 8];
    // All ones if the bitwise and of the lanes is not zero.
    TEST "cmtst" 0x0e20_8c00 Integer Same Any [1, 2, 4, 8];
    // Left shift of each lane by its own amount; a negative amount shifts right.
    SHIFT_EACH_SIGNED "sshl" 0x0e20_4400 Integer Same Any [1, 2, 4, 8];
    SHIFT_EACH_UNSIGNED "ushl" 0x2e20_4400 Integer Same Any [1, 2, 4, 8];
    SHIFT_LEFT "shl" 0x0f00_5400 Shift ShiftLeft Any [1, 2, 4, 8];
    SHIFT_RIGHT_SIGNED "sshr" 0x0f00_0400 Shift ShiftRight Any [1, 2, 4, 8];
    SHIFT_RIGHT_UNSIGNED "ushr" 0x2f00_0400 Shift ShiftRight Any [1, 2, 4, 8];
    LEADING_ZEROS "clz" 0x2e20_4800 Integer Same Any [1, 2, 4];
    COUNT_ONES "cnt" 0x0e20_5800 None Same Any [1];
    ADD_PAIRS "uaddlp" 0x2e20_2800 Integer Pairs Any [1, 2, 4];
    // Reverses the lanes within 64 bits.
    REVERSE "rev64" 0x0e20_0800 Integer Same Any [1, 2, 4];
    MUL_LONG_SIGNED "smull" 0x0e20_c000 Integer Long Any [1, 2, 4];
    MUL_LONG_SIGNED_HIGH "smull2" 0x4e20_c000 Integer Long Any [1, 2, 4];
    MUL_LONG_UNSIGNED "umull" 0x2e20_c000 Integer Long Any [1, 2, 4];
    MUL_LONG_UNSIGNED_HIGH "umull2" 0x6e20_c000 Integer Long Any [1, 2, 4];
    EXTEND_SIGNED "sxtl" 0x0f00_a400 Shift Long Any [1, 2, 4];
    EXTEND_SIGNED_HIGH "sxtl2" 0x4f00_a400 Shift Long Any [1, 2, 4];
    EXTEND_UNSIGNED "uxtl" 0x2f00_a400 Shift Long Any [1, 2, 4];
    EXTEND_UNSIGNED_HIGH "uxtl2" 0x6f00_a400 Shift Long Any [1, 2, 4];
    EXTEND_FLOAT "fcvtl" 0x0e21_7800 Half Long Any [2, 4];
    EXTEND_FLOAT_HIGH "fcvtl2" 0x4e21_7800 Half Long Any [2, 4];
    NARROW_FLOAT "fcvtn" 0x0e21_6800 Float Narrow Any [4, 8];
    NARROW_SIGNED "sqxtn" 0x0e21_4800 Half Narrow Any [2, 4, 8];
    NARROW_UNSIGNED "uqxtn" 0x2e21_4800 Half Narrow Any [2, 4, 8];
    FROM_SIGNED "scvtf" 0x0e21_d800 Float Same Any [4, 8];
    FROM_UNSIGNED "ucvtf" 0x2e21_d800 Float Same Any [4, 8];
    TO_SIGNED "fcvtzs" 0x0ea1_b800 Float Same Any [4, 8];
    TO_UNSIGNED "fcvtzu" 0x2ea1_b800 Float Same Any [4, 8];
    // The even lanes of two registers, and the odd ones.
    EVEN "uzp1" 0x0e00_1800 Integer Same Any [1, 2, 4, 8];
    ODD "uzp2" 0x0e00_5800 Integer Same Any [1, 2, 4, 8];
    // The lanes of two registers interleaved, from the lower halves and from the upper ones.
    INTERLEAVE_LOW "zip1" 0x0e00_3800 Integer Same Any [1, 2, 4, 8];
    INTERLEAVE_HIGH "zip2" 0x0e00_7800 Integer Same Any [1, 2, 4, 8];
    BROADCAST "dup" 0x0e00_0400 Lane Repeat Any [1, 2, 4, 8];
    LOAD "ldr" 0x3d40_0000 LoadStore Memory Any [1, 2, 4, 8, 16];
    STORE "str" 0x3d00_0000 LoadStore Memory Any [1, 2, 4, 8, 16];
    // Entries of a table at the indices in the source.
    GATHER "" 0x0000_0000 None Gather EarlyClobber [4, 8];
}
