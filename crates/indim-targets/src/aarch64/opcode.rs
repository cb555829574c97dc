//! The instructions of NEON that are used, as a table: for each its name and the 32 bits of its encoding,
//! which the registers and the size of the lanes complete.

use crate::machine::{self, ResultConstraint};

/// The bytes of a register.
pub(super) const REGISTER_BYTES: u32 = 16;

/// Whether an instruction is over 128 bits, else over 64.
const WIDE: u32 = 1 << 30;

/// An instruction for lanes of several sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    mnemonic: &'static str,
    /// The encoding with zeros for registers and size.
    bits: u32,
    field: Field,
    shape: Shape,
    result: ResultConstraint,
    /// The bytes of the lanes that it has: of the sources, where those of the result are others.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests go through all of them"))]
    pub(super) sizes: &'static [usize],
}

/// How the size of the lanes is encoded.
#[derive(Debug, Clone, Copy)]
enum Field {
    /// Not at all.
    None,
    /// From bytes on.
    Integer,
    /// From 16 bits on.
    Half,
    /// From 32 bits on.
    Float,
    /// As bits, to which the amount of a shift is added.
    Shift,
    /// As the place of the first lane.
    Lane,
    /// As the bytes that are moved.
    Moved,
}

/// Which lanes operands have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// All the same.
    Same,
    /// The result twice as wide ones, made of half of the sources': of the upper half if the encoding is of
    /// 128 bits.
    Long,
    /// The result half as wide ones, in its lower half.
    Narrow,
    /// The result half as many, twice as wide.
    Pairs,
    /// All the same, shifted by an immediate to the left.
    ShiftLeft,
    /// All the same, shifted by an immediate to the right.
    ShiftRight,
    /// In each lane the first one of the source.
    Repeat,
    /// Lanes in memory.
    Memory,
    /// Entries of a table: several instructions.
    Gather,
}

/// An instruction for lanes of one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opcode {
    mnemonic: &'static str,
    bits: u32,
    shape: Shape,
    result: ResultConstraint,
    /// The bytes of a lane, or of what is moved.
    pub(super) size: usize,
}

impl machine::Opcode for Opcode {
    const REGISTERS: usize = 32;
    const REGISTER_BYTES: u32 = REGISTER_BYTES;
    /// Two constants, and a copy of what is replaced.
    const MAX_LOADED: usize = 3;
    const JOINS_LANES: bool = false;

    fn memory_source(self) -> Option<usize> {
        None
    }

    fn result(self) -> ResultConstraint {
        self.result
    }
}

impl Family {
    /// The instruction for lanes of so many bytes.
    pub(super) const fn of(self, size: usize) -> Opcode {
        let log = size.ilog2();
        let field = match self.field {
            Field::None => 0,
            Field::Integer => log << 22,
            Field::Half => (log - 1) << 22,
            Field::Float => (log - 2) << 22,
            Field::Shift => (8 * size as u32) << 16,
            Field::Lane => (size as u32) << 16,
            Field::Moved if size == 16 => 1 << 23,
            Field::Moved => log << 30,
        };
        let Family { mnemonic, bits, shape, result, .. } = self;
        Opcode { mnemonic, bits: bits | field, shape, result, size }
    }
}

/// An instruction with its registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedInstruction {
    opcode: Opcode,
    is_wide: bool,
    immediate: u8,
    result: u8,
    /// The sources, but for one that the result replaces.
    sources: [Option<u8>; 2],
}

impl Opcode {
    /// Whether it takes entries of a table.
    #[cfg(test)]
    pub(super) fn is_gather(self) -> bool {
        self.shape == Shape::Gather
    }

    /// Whether it moves lanes from or to memory.
    #[cfg(test)]
    pub(super) fn is_move(self) -> bool {
        self.shape == Shape::Memory
    }

    /// How many registers it reads, but for one that the result replaces: the classes of encodings say it.
    #[cfg(test)]
    pub(super) fn source_count(self) -> usize {
        let is_shift = self.bits & 0x0f00_0000 == 0x0f00_0000;
        let is_two_register = self.bits & 0x003e_0c00 == 0x0020_0800;
        if is_shift || is_two_register || self.shape == Shape::Repeat { 1 } else { 2 }
    }

    /// The bits that move a register to or from memory, with the displacement in its size.
    pub(super) fn move_bits(self, register: u8, base: u8, displacement: u32) -> u32 {
        debug_assert!(displacement < 1 << 12, "invariant: in reach");
        self.bits | displacement << 10 | u32::from(base) << 5 | u32::from(register)
    }

    /// What it is called in the listing.
    pub(super) fn mnemonic(self) -> &'static str {
        self.mnemonic
    }

    /// The instruction with its registers; of one whose first source is replaced only the others.
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
    /// Its encoding.
    pub(super) fn bits(self) -> u32 {
        let EncodedInstruction { opcode, immediate, .. } = self;
        let wide = match opcode.shape {
            Shape::Long | Shape::Narrow => 0,
            _ => u32::from(self.is_wide) * WIDE,
        };
        let lane_bits = 8 * opcode.size as u32;
        let amount = match opcode.shape {
            Shape::ShiftLeft => u32::from(immediate),
            // Twice the bits of a lane, less the amount.
            Shape::ShiftRight => lane_bits - u32::from(immediate),
            _ => 0,
        };
        // The bits of a lane are there already, where the amount is added to them.
        let bits = (opcode.bits | wide) + (amount << 16);
        let [first, second] = self.sources.map(|source| u32::from(source.unwrap_or_default()));
        bits | second << 16 | first << 5 | u32::from(self.result)
    }

    /// Its text.
    pub(super) fn text(self) -> String {
        let EncodedInstruction { opcode, is_wide, immediate, result, .. } = self;
        let size = opcode.size;
        let bytes = if is_wide { 16 } else { 8 };
        let halves = if opcode.bits & WIDE != 0 { 16 } else { 8 };
        let ((result_size, result_bytes), source_bytes) = match opcode.shape {
            Shape::Long => ((2 * size, 16), halves),
            Shape::Narrow => ((size / 2, 8), 16),
            Shape::Pairs => ((2 * size, bytes), bytes),
            _ => ((size, bytes), bytes),
        };
        let mut text =
            format!("{:<8}{}", opcode.mnemonic, lanes(result, result_size, result_bytes));
        for source in self.sources.into_iter().flatten() {
            text += &match opcode.shape {
                Shape::Repeat => format!(", v{source}.{}[0]", letter(size)),
                _ => format!(", {}", lanes(source, size, source_bytes)),
            };
        }
        if matches!(opcode.shape, Shape::ShiftLeft | Shape::ShiftRight) {
            text += &format!(", #{immediate}");
        }
        text
    }
}

/// A register and its lanes, such as `v3.4s`.
fn lanes(register: u8, size: usize, bytes: usize) -> String {
    format!("v{register}.{}{}", bytes / size, letter(size))
}

/// What lanes, and registers of so many bytes, are called.
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
        $(pub(super) const $name: Family = Family {
            mnemonic: $mnemonic,
            bits: $bits,
            field: Field::$field,
            shape: Shape::$shape,
            result: ResultConstraint::$result,
            sizes: &$sizes,
        };)*

        /// All instructions.
        #[cfg(test)]
        pub(super) const ALL: &[Family] = &[$($name),*];
    };
}

families! {
    ADD_FLOAT "fadd" 0x0e20_d400 Float Same Any [4, 8];
    SUB_FLOAT "fsub" 0x0ea0_d400 Float Same Any [4, 8];
    MUL_FLOAT "fmul" 0x2e20_dc00 Float Same Any [4, 8];
    DIV_FLOAT "fdiv" 0x2e20_fc00 Float Same Any [4, 8];
    // The first source and the product of the others, rounded once.
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
    // By the bits of the first source those of the second where they are set, else of the third.
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
    // Whether any bit is set in both.
    TEST "cmtst" 0x0e20_8c00 Integer Same Any [1, 2, 4, 8];
    // To the left, or by a negative amount to the right.
    SHIFT_EACH_SIGNED "sshl" 0x0e20_4400 Integer Same Any [1, 2, 4, 8];
    SHIFT_EACH_UNSIGNED "ushl" 0x2e20_4400 Integer Same Any [1, 2, 4, 8];
    SHIFT_LEFT "shl" 0x0f00_5400 Shift ShiftLeft Any [1, 2, 4, 8];
    SHIFT_RIGHT_SIGNED "sshr" 0x0f00_0400 Shift ShiftRight Any [1, 2, 4, 8];
    SHIFT_RIGHT_UNSIGNED "ushr" 0x2f00_0400 Shift ShiftRight Any [1, 2, 4, 8];
    LEADING_ZEROS "clz" 0x2e20_4800 Integer Same Any [1, 2, 4];
    COUNT_ONES "cnt" 0x0e20_5800 None Same Any [1];
    ADD_PAIRS "uaddlp" 0x2e20_2800 Integer Pairs Any [1, 2, 4];
    // Within 64 bits the lanes from the last one to the first.
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
    // Of the lanes of two registers the even ones, and the odd ones.
    EVEN "uzp1" 0x0e00_1800 Integer Same Any [1, 2, 4, 8];
    ODD "uzp2" 0x0e00_5800 Integer Same Any [1, 2, 4, 8];
    // The lanes of two registers in turn, from the lower halves and from the upper ones.
    INTERLEAVE_LOW "zip1" 0x0e00_3800 Integer Same Any [1, 2, 4, 8];
    INTERLEAVE_HIGH "zip2" 0x0e00_7800 Integer Same Any [1, 2, 4, 8];
    BROADCAST "dup" 0x0e00_0400 Lane Repeat Any [1, 2, 4, 8];
    LOAD "ldr" 0x3d40_0000 Moved Memory Any [1, 2, 4, 8, 16];
    STORE "str" 0x3d00_0000 Moved Memory Any [1, 2, 4, 8, 16];
    // The entries of a table at the indices in the source.
    GATHER "" 0x0000_0000 None Gather EarlyClobber [4, 8];
}
