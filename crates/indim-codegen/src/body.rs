//! The body of a loop nest: straight-line SSA code over the primitives of `indim_ops::lane`.

use std::sync::Arc;

use indim_ops::DType;

/// The type of a value: a machine type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneType {
    /// Booleans.
    Bool,
    /// 8-bit signed integers.
    I8,
    /// 16-bit signed integers; also the bits of the 16-bit floats.
    I16,
    /// 32-bit signed integers.
    I32,
    /// 64-bit signed integers.
    I64,
    /// 8-bit unsigned integers.
    U8,
    /// 16-bit unsigned integers.
    U16,
    /// 32-bit unsigned integers.
    U32,
    /// 64-bit unsigned integers.
    U64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl LaneType {
    /// Size in memory, in bytes; a boolean takes one byte.
    pub fn size(self) -> usize {
        match self {
            LaneType::Bool | LaneType::I8 | LaneType::U8 => 1,
            LaneType::I16 | LaneType::U16 => 2,
            LaneType::I32 | LaneType::U32 | LaneType::F32 => 4,
            LaneType::I64 | LaneType::U64 | LaneType::F64 => 8,
        }
    }

    /// Whether the type is a float.
    pub fn is_float(self) -> bool {
        matches!(self, LaneType::F32 | LaneType::F64)
    }

    /// Whether the type is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, LaneType::I8 | LaneType::I16 | LaneType::I32 | LaneType::I64)
    }

    /// Lane type and number of lanes of an element. A 16-bit float or a storage type is one lane with
    /// its bits, a complex number two lanes.
    pub fn of_element(dtype: DType) -> (LaneType, usize) {
        match dtype {
            DType::Bool => (LaneType::Bool, 1),
            DType::I8 => (LaneType::I8, 1),
            DType::I16 | DType::F16 | DType::Bf16 => (LaneType::I16, 1),
            DType::I32 => (LaneType::I32, 1),
            DType::I64 => (LaneType::I64, 1),
            DType::U8 => (LaneType::U8, 1),
            DType::F8E4m3fn | DType::F8E5m2 | DType::F8E4m3fnuz => (LaneType::U8, 1),
            DType::F8E5m2fnuz | DType::F8E4m3b11fnuz | DType::I4 | DType::U4 => (LaneType::U8, 1),
            DType::U16 => (LaneType::U16, 1),
            DType::U32 => (LaneType::U32, 1),
            DType::U64 => (LaneType::U64, 1),
            DType::F32 => (LaneType::F32, 1),
            DType::F64 => (LaneType::F64, 1),
            DType::C64 => (LaneType::F32, 2),
            DType::C128 => (LaneType::F64, 2),
        }
    }
}

/// The operation of an instruction.
///
/// The primitives from [`Primitive::Select`] to [`Primitive::Cast`] are the methods of the traits in
/// [`indim_ops::lane`]. The result is defined for every input, except for the bits of NaNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// Loads a lane of an input's element. Component 1 is the imaginary part of a complex number.
    Load {
        /// Index in [`Body::inputs`].
        input: u32,
        /// 0, or 1 for the imaginary part.
        component: u8,
    },
    /// A constant in the low bits; 0 or 1 for a boolean.
    Constant(u64),
    /// Bitcast to another type of the same width.
    Bits,
    /// The second operand if the first is true, else the third.
    Select,
    /// Equality. A NaN equals nothing; the two zeros are equal.
    Equal,
    /// Less than: signed or unsigned by the type of the operands; false for floats if one is a NaN.
    Less,
    /// Less than, with integers taken as unsigned.
    LessUnsigned,
    /// `and`: bitwise for integers, logical for booleans.
    And,
    /// `or`: bitwise for integers, logical for booleans.
    Or,
    /// Exclusive `or`: bitwise for integers, logical for booleans.
    Xor,
    /// `not`: bitwise for integers, logical for booleans.
    Not,
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product; integers wrap.
    Mul,
    /// The upper half of the exact product of integers, which has twice the width.
    MulHigh,
    /// Quotient; an integer divided by 0 gives 0.
    Div,
    /// Remainder; 0 for an integer divisor of 0.
    Rem,
    /// Left shift by the amount modulo the width.
    ShiftLeft,
    /// Logical right shift by the amount modulo the width.
    ShiftRightLogical,
    /// Arithmetic right shift by the amount modulo the width.
    ShiftRightArithmetic,
    /// Number of leading zero bits.
    LeadingZeros,
    /// Number of one bits.
    CountOnes,
    /// Table lookup: the entry at the operand modulo the table's length, truncated to the type.
    Lookup {
        /// Index in [`Body::tables`].
        table: u32,
    },
    /// Fused multiply-add: the first operand times the second plus the third, rounded once.
    MulAdd,
    /// Square root.
    Sqrt,
    /// Clears the sign bit.
    Abs,
    /// Flips the sign bit.
    Neg,
    /// Rounds down to an integer.
    Floor,
    /// Rounds up to an integer.
    Ceil,
    /// Rounds towards zero to an integer.
    Trunc,
    /// Rounds to the nearest integer, half to even.
    RoundEven,
    /// Conversion from the operand's type, as [`indim_ops::lane::Cast`].
    Cast,
    /// Replaces any NaN by the canonical one.
    Canonical,
    /// Converts the bits of a binary16 to an `f32`. A NaN keeps its sign.
    WidenF16,
    /// Rounds an `f32` to the bits of the nearest binary16, half to even. A NaN becomes canonical.
    RoundToF16,
    /// Rounds an `f32` to the nearest `bf16` value, half to even, held as `f32`. A NaN becomes canonical.
    RoundBf16,
}

impl Primitive {
    /// Number of operands.
    pub fn operand_count(self) -> usize {
        use Primitive::*;
        match self {
            Load { .. } | Constant(_) => 0,
            Bits
            | Not
            | LeadingZeros
            | CountOnes
            | Lookup { .. }
            | Sqrt
            | Abs
            | Neg
            | Floor
            | Ceil
            | Trunc
            | RoundEven
            | Cast
            | Canonical
            | WidenF16
            | RoundToF16
            | RoundBf16 => 1,
            Select | MulAdd => 3,
            _ => 2,
        }
    }
}

/// An SSA value: the index of the instruction that computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SsaValue(pub u32);

impl SsaValue {
    /// The index as `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One primitive applied to earlier values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SsaInstruction {
    /// The operation.
    pub primitive: Primitive,
    /// The type of the result.
    pub lane: LaneType,
    /// The operands; unused ones are value 0.
    pub operands: [SsaValue; 3],
}

impl SsaInstruction {
    /// The used operands.
    pub fn operands(&self) -> &[SsaValue] {
        &self.operands[..self.primitive.operand_count()]
    }
}

/// The body of a loop nest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Body {
    /// Instructions, operands before their uses.
    pub instructions: Vec<SsaInstruction>,
    /// Tables of [`Primitive::Lookup`]; the lengths are powers of two.
    pub tables: Vec<Arc<[u64]>>,
    /// Element types of the inputs.
    pub inputs: Vec<DType>,
    /// Element type and lanes of each output. Only complex numbers use the second lane.
    pub outputs: Vec<(DType, [SsaValue; 2])>,
    /// Initial bits of each accumulator of a body that folds: the outputs of this body are accumulators,
    /// and its last inputs are their previous values. Empty for other bodies.
    pub identities: Vec<u64>,
}

impl Body {
    /// Whether the body folds: whether its outputs are accumulators.
    pub fn folds(&self) -> bool {
        !self.identities.is_empty()
    }

    /// Number of inputs that are not accumulators.
    pub fn non_accumulator_input_count(&self) -> usize {
        self.inputs.len() - self.identities.len()
    }

    /// The instruction that computes a value.
    pub fn instruction(&self, value: SsaValue) -> &SsaInstruction {
        &self.instructions[value.index()]
    }

    /// The type of a value.
    pub fn lane(&self, value: SsaValue) -> LaneType {
        self.instruction(value).lane
    }
}
