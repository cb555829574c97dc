//! The body of a loop nest: straight-line code over the primitives of the lane algebra, each value computed
//! once.

use std::sync::Arc;

use indim_ops::DType;

/// Lane type: the type of a value, one that processors compute in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneType {
    /// Truth values.
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
    /// The bytes of an element; a truth value takes one in memory.
    pub fn size(self) -> usize {
        match self {
            LaneType::Bool | LaneType::I8 | LaneType::U8 => 1,
            LaneType::I16 | LaneType::U16 => 2,
            LaneType::I32 | LaneType::U32 | LaneType::F32 => 4,
            LaneType::I64 | LaneType::U64 | LaneType::F64 => 8,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, LaneType::F32 | LaneType::F64)
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, LaneType::I8 | LaneType::I16 | LaneType::I32 | LaneType::I64)
    }

    /// Lane type and lane count of an element: the bits of a 16-bit float, the two parts of a complex
    /// number.
    pub fn of_element(dtype: DType) -> (LaneType, usize) {
        match dtype {
            DType::Bool => (LaneType::Bool, 1),
            DType::I8 => (LaneType::I8, 1),
            DType::I16 | DType::F16 | DType::Bf16 => (LaneType::I16, 1),
            DType::I32 => (LaneType::I32, 1),
            DType::I64 => (LaneType::I64, 1),
            DType::U8 => (LaneType::U8, 1),
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

/// What an instruction computes from its operands. All but the first three and the last four are
/// the methods of the traits in [`indim_ops::lane`], with one defined result for every input but the bits of
/// NaNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// A lane of an input's element: `part` 1 is the imaginary part of a complex number.
    Load {
        /// Index in [`Body::inputs`].
        input: u32,
        /// Index of the lane.
        part: u8,
    },
    /// The same value in every lane: the low bits; of a truth value 0 or 1.
    Constant(u64),
    /// The same bits as another type of the same width.
    Bits,
    /// The second operand where the first holds, else the third.
    Select,
    /// Equality of numbers.
    Equal,
    /// Less than, by the type of the operands.
    Less,
    /// Less than, of integers read as unsigned.
    LessUnsigned,
    /// Bitwise, also of truth values.
    And,
    /// Bitwise, also of truth values.
    Or,
    /// Bitwise, also of truth values.
    Xor,
    /// Bitwise, also of truth values.
    Not,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// The upper half of the exact product.
    MulHigh,
    /// Quotient; of integers 0 where the divisor is 0.
    Div,
    /// Remainder; of integers 0 where the divisor is 0.
    Rem,
    /// By the amount modulo the width.
    ShiftLeft,
    /// By the amount modulo the width; zeros enter.
    ShiftRightLogical,
    /// By the amount modulo the width; copies of the top bit enter.
    ShiftRightArithmetic,
    /// Zero bits above the highest one.
    LeadingZeros,
    /// One bits.
    CountOnes,
    /// The low bits of the entry of a table at the operand modulo the table's length.
    Lookup {
        /// Index in [`Body::tables`].
        table: u32,
    },
    /// The first operand times the second plus the third, rounded once.
    MulAdd,
    /// Square root.
    Sqrt,
    /// The sign bit cleared.
    Abs,
    /// The sign bit flipped.
    Neg,
    /// Largest integer not above.
    Floor,
    /// Smallest integer not below.
    Ceil,
    /// The integer part.
    Trunc,
    /// Nearest integer, half to even.
    RoundEven,
    /// Conversion from the operand's type, as [`indim_ops::lane::Cast`].
    Cast,
    /// A float, with any NaN replaced by the canonical one.
    Canonical,
    /// The value of a binary16, which is given by its bits, in 32 bits. Of a NaN the sign is kept.
    WidenF16,
    /// The bits of the nearest binary16, half to even; of a NaN those of the canonical one.
    RoundToF16,
    /// The nearest number of a `bf16`, half to even, in 32 bits; of a NaN the canonical one.
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

/// A value: the index of the instruction that computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// The index of its instruction.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One primitive applied to earlier values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The operation.
    pub primitive: Primitive,
    /// The type of the result.
    pub lane: LaneType,
    /// The operands; unused ones are value 0.
    pub operands: [Value; 3],
}

impl Instruction {
    /// The used operands.
    pub fn operands(&self) -> &[Value] {
        &self.operands[..self.primitive.operand_count()]
    }
}

/// The body of a loop nest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Body {
    /// Instructions, operands before their uses.
    pub instructions: Vec<Instruction>,
    /// Tables of [`Primitive::Lookup`]; the lengths are powers of two.
    pub tables: Vec<Arc<[u64]>>,
    /// Element types of the inputs.
    pub inputs: Vec<DType>,
    /// Outputs: element types and lanes; the second lane is that of a complex number.
    pub outputs: Vec<(DType, [Value; 2])>,
    /// Initial bits of each accumulator if outputs are accumulators; the last inputs are then their
    /// previous values. Empty if outputs are results.
    pub identities: Vec<u64>,
}

impl Body {
    /// Whether outputs are accumulators.
    pub fn folds(&self) -> bool {
        !self.identities.is_empty()
    }

    /// Number of inputs without accumulators.
    pub fn operand_count(&self) -> usize {
        self.inputs.len() - self.identities.len()
    }

    /// The instruction that computes a value.
    pub fn instruction(&self, value: Value) -> &Instruction {
        &self.instructions[value.index()]
    }

    /// The type of a value.
    pub fn lane(&self, value: Value) -> LaneType {
        self.instruction(value).lane
    }
}
