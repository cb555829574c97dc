//! Primitives on Rust scalars: signatures and results.
//!
//! Each primitive on fixed types is a type that implements [`ScalarFunction`] by a method of the traits in
//! `indim_ops::lane`. A [`ScalarVisitor`] uses the type: to evaluate it here, and to compile a loop over
//! memory in `out_of_line.rs` of `indim-targets`.

use indim_ops::lane::{BoolLane, Cast, FloatBits, FloatLane, IntLane, Lane};
use indim_ops::{bf16, f16};

use crate::body::{LaneType, Primitive};

/// Conversion of a scalar to and from a word with its bits, zero-extended.
pub(crate) trait Word: Copy + 'static {
    /// Lane type of the scalar.
    const LANE: LaneType;
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

impl Word for bool {
    const LANE: LaneType = LaneType::Bool;
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.into()
    }
    #[inline(always)]
    fn from_word(word: u64) -> bool {
        word & 1 != 0
    }
}

macro_rules! integer_words {
    ($($lane:ident $type:ident $unsigned:ident;)*) => {$(
        impl Word for $type {
            const LANE: LaneType = LaneType::$lane;
            #[inline(always)]
            fn to_word(self) -> u64 { (self as $unsigned).into() }
            #[inline(always)]
            fn from_word(word: u64) -> $type { word as $type }
        }
    )*};
}

integer_words! {
    I8 i8 u8; I16 i16 u16; I32 i32 u32; I64 i64 u64;
    U8 u8 u8; U16 u16 u16; U32 u32 u32; U64 u64 u64;
}

macro_rules! float_words {
    ($($lane:ident $type:ident $bits:ident;)*) => {$(
        impl Word for $type {
            const LANE: LaneType = LaneType::$lane;
            #[inline(always)]
            fn to_word(self) -> u64 { self.to_bits().into() }
            #[inline(always)]
            fn from_word(word: u64) -> $type { $type::from_bits(word as $bits) }
        }
    )*};
}

float_words! { F32 f32 u32; F64 f64 u64; }

/// A primitive on scalars of fixed types.
pub trait ScalarFunction {
    /// The types of the operands.
    const OPERANDS: &'static [LaneType];
    /// The type of the result.
    const RESULT: LaneType;
    /// The result as a word, from operands as words; `table` is the table of [`Primitive::Lookup`].
    fn apply(operands: [u64; 3], table: &[u64]) -> u64;
}

/// Receives the scalar function of a primitive as a type.
pub trait ScalarVisitor {
    /// Result of the visit.
    type Output;
    /// Receives the primitive `F`.
    fn visit<F: ScalarFunction>(self) -> Self::Output;
}

/// Calls `visitor` with the scalar function of a primitive; `operand` is the type of the last operand.
/// `None` if the primitive is undefined for these types or has no operands.
pub fn visit_scalar_function<V: ScalarVisitor>(
    primitive: Primitive,
    operand: LaneType,
    result: LaneType,
    visitor: V,
) -> Option<V::Output> {
    let expected = match primitive {
        Primitive::Bits => return bits(operand, result, visitor),
        Primitive::Cast => return cast(operand, result, visitor),
        Primitive::WidenF16 | Primitive::RoundToF16 | Primitive::RoundBf16 => {
            return sixteen_bits(primitive, operand, result, visitor);
        }
        Primitive::Equal | Primitive::Less | Primitive::LessUnsigned => LaneType::Bool,
        _ => operand,
    };
    if result != expected {
        return None;
    }
    match operand {
        LaneType::Bool => bool::visit(primitive, visitor),
        LaneType::I8 => i8::visit(primitive, visitor),
        LaneType::I16 => i16::visit(primitive, visitor),
        LaneType::I32 => i32::visit(primitive, visitor),
        LaneType::I64 => i64::visit(primitive, visitor),
        LaneType::U8 => u8::visit(primitive, visitor),
        LaneType::U16 => u16::visit(primitive, visitor),
        LaneType::U32 => u32::visit(primitive, visitor),
        LaneType::U64 => u64::visit(primitive, visitor),
        LaneType::F32 => f32::visit(primitive, visitor),
        LaneType::F64 => f64::visit(primitive, visitor),
    }
}

/// Visits a scalar function, given as an expression or as a trait method.
macro_rules! function {
    ($visitor:ident, |$($operand:ident: $type:ty),+; $table:pat_param| -> $result:ty { $value:expr }) => {{
        struct Function;
        impl ScalarFunction for Function {
            const OPERANDS: &'static [LaneType] = &[$(<$type as Word>::LANE),+];
            const RESULT: LaneType = <$result as Word>::LANE;
            #[inline(always)]
            fn apply(operands: [u64; 3], $table: &[u64]) -> u64 {
                let [$($operand),+, ..] = operands;
                $(let $operand = <$type as Word>::from_word($operand);)+
                let result: $result = $value;
                result.to_word()
            }
        }
        $visitor.visit::<Function>()
    }};
    ($visitor:ident, $trait:ident::$method:ident($type:ty) -> $result:ty) => {
        function!($visitor, |x: $type; _| -> $result { $trait::$method(x) })
    };
    ($visitor:ident, $trait:ident::$method:ident($type:ty, $second:ty) -> $result:ty) => {
        function!($visitor, |x: $type, y: $second; _| -> $result { $trait::$method(x, y) })
    };
    ($visitor:ident, $trait:ident::$method:ident($type:ty, $second:ty, $third:ty) -> $result:ty) => {
        function!($visitor, |x: $type, y: $second, z: $third; _| -> $result { $trait::$method(x, y, z) })
    };
}

/// Visits the primitives whose last operand has this type.
trait ScalarOperand {
    fn visit<V: ScalarVisitor>(primitive: Primitive, visitor: V) -> Option<V::Output>;
}

impl ScalarOperand for bool {
    fn visit<V: ScalarVisitor>(primitive: Primitive, visitor: V) -> Option<V::Output> {
        Some(match primitive {
            Primitive::Select => function!(visitor, Lane::select(bool, bool, bool) -> bool),
            Primitive::Equal => function!(visitor, Lane::equal(bool, bool) -> bool),
            Primitive::Less => function!(visitor, Lane::less(bool, bool) -> bool),
            Primitive::And => function!(visitor, BoolLane::and(bool, bool) -> bool),
            Primitive::Or => function!(visitor, BoolLane::or(bool, bool) -> bool),
            Primitive::Xor => function!(visitor, BoolLane::xor(bool, bool) -> bool),
            Primitive::Not => function!(visitor, BoolLane::not(bool) -> bool),
            _ => return None,
        })
    }
}

macro_rules! integer_operands {
    ($($type:ident)*) => {$(
        impl ScalarOperand for $type {
            fn visit<V: ScalarVisitor>(primitive: Primitive, visitor: V) -> Option<V::Output> {
                Some(match primitive {
                    Primitive::Select => function!(visitor, Lane::select(bool, $type, $type) -> $type),
                    Primitive::Equal => function!(visitor, Lane::equal($type, $type) -> bool),
                    Primitive::Less => function!(visitor, Lane::less($type, $type) -> bool),
                    Primitive::LessUnsigned => {
                        function!(visitor, IntLane::less_unsigned($type, $type) -> bool)
                    }
                    Primitive::And => function!(visitor, IntLane::and($type, $type) -> $type),
                    Primitive::Or => function!(visitor, IntLane::or($type, $type) -> $type),
                    Primitive::Xor => function!(visitor, IntLane::xor($type, $type) -> $type),
                    Primitive::Not => function!(visitor, IntLane::not($type) -> $type),
                    Primitive::Add => function!(visitor, IntLane::add($type, $type) -> $type),
                    Primitive::Sub => function!(visitor, IntLane::sub($type, $type) -> $type),
                    Primitive::Mul => function!(visitor, IntLane::mul($type, $type) -> $type),
                    Primitive::MulHigh => function!(visitor, IntLane::mul_high($type, $type) -> $type),
                    Primitive::Div => function!(visitor, IntLane::div_or_zero($type, $type) -> $type),
                    Primitive::Rem => function!(visitor, IntLane::rem_or_zero($type, $type) -> $type),
                    Primitive::ShiftLeft => function!(visitor, IntLane::shl($type, $type) -> $type),
                    Primitive::ShiftRightLogical => {
                        function!(visitor, IntLane::shr_logical($type, $type) -> $type)
                    }
                    Primitive::ShiftRightArithmetic => {
                        function!(visitor, IntLane::shr_arithmetic($type, $type) -> $type)
                    }
                    Primitive::LeadingZeros => function!(visitor, IntLane::leading_zeros($type) -> $type),
                    Primitive::CountOnes => function!(visitor, IntLane::count_ones($type) -> $type),
                    // `IntLane::lookup` needs the length of the table at compile time.
                    Primitive::Lookup { .. } => function!(visitor, |x: $type; table| -> $type {
                        entry(table, x as usize) as $type
                    }),
                    _ => return None,
                })
            }
        }
    )*};
}

integer_operands!(i8 i16 i32 i64 u8 u16 u32 u64);

/// The entry at `index` modulo the length of the table, which is a power of two.
fn entry(table: &[u64], index: usize) -> u64 {
    table.get(index & table.len().wrapping_sub(1)).copied().unwrap_or_default()
}

macro_rules! float_operands {
    ($($type:ident)*) => {$(
        impl ScalarOperand for $type {
            fn visit<V: ScalarVisitor>(primitive: Primitive, visitor: V) -> Option<V::Output> {
                Some(match primitive {
                    Primitive::Select => function!(visitor, Lane::select(bool, $type, $type) -> $type),
                    Primitive::Equal => function!(visitor, Lane::equal($type, $type) -> bool),
                    Primitive::Less => function!(visitor, Lane::less($type, $type) -> bool),
                    Primitive::Add => function!(visitor, FloatLane::add($type, $type) -> $type),
                    Primitive::Sub => function!(visitor, FloatLane::sub($type, $type) -> $type),
                    Primitive::Mul => function!(visitor, FloatLane::mul($type, $type) -> $type),
                    Primitive::Div => function!(visitor, FloatLane::div($type, $type) -> $type),
                    Primitive::Rem => function!(visitor, FloatLane::rem($type, $type) -> $type),
                    Primitive::MulAdd => function!(visitor, FloatLane::mul_add($type, $type, $type) -> $type),
                    Primitive::Sqrt => function!(visitor, FloatLane::sqrt($type) -> $type),
                    Primitive::Abs => function!(visitor, FloatLane::abs($type) -> $type),
                    Primitive::Neg => function!(visitor, FloatLane::neg($type) -> $type),
                    Primitive::Floor => function!(visitor, FloatLane::floor($type) -> $type),
                    Primitive::Ceil => function!(visitor, FloatLane::ceil($type) -> $type),
                    Primitive::Trunc => function!(visitor, FloatLane::trunc($type) -> $type),
                    Primitive::RoundEven => function!(visitor, FloatLane::round_even($type) -> $type),
                    Primitive::Canonical => {
                        function!(visitor, FloatBits::with_canonical_nan($type) -> $type)
                    }
                    _ => return None,
                })
            }
        }
    )*};
}

float_operands!(f32 f64);

/// A bitcast between numbers of the same size.
fn bits<V: ScalarVisitor>(operand: LaneType, result: LaneType, visitor: V) -> Option<V::Output> {
    let is_number = operand != LaneType::Bool && result != LaneType::Bool;
    if !is_number || operand.size() != result.size() {
        return None;
    }
    Some(match operand.size() {
        1 => function!(visitor, |x: u8; _| -> u8 { x }),
        2 => function!(visitor, |x: u16; _| -> u16 { x }),
        4 => function!(visitor, |x: u32; _| -> u32 { x }),
        _ => function!(visitor, |x: u64; _| -> u64 { x }),
    })
}

/// Conversions of 16-bit floats.
fn sixteen_bits<V: ScalarVisitor>(
    primitive: Primitive,
    operand: LaneType,
    result: LaneType,
    visitor: V,
) -> Option<V::Output> {
    match (primitive, operand, result) {
        (Primitive::WidenF16, LaneType::I16, LaneType::F32) => {
            Some(function!(visitor, |x: i16; _| -> f32 { f16::from_bits(x as u16).to_f32() }))
        }
        (Primitive::RoundToF16, LaneType::F32, LaneType::I16) => {
            Some(function!(visitor, |x: f32; _| -> i16 { f16::from_f32(x).to_bits() as i16 }))
        }
        (Primitive::RoundBf16, LaneType::F32, LaneType::F32) => {
            Some(function!(visitor, |x: f32; _| -> f32 { bf16::from_f32(x).to_f32() }))
        }
        _ => None,
    }
}

macro_rules! define_cast {
    ($($lane:ident $type:ident;)*) => { define_cast!(@from [$($lane $type)*] [$($lane $type)*]); };
    (@from [$($lane:ident $type:ident)*] $to:tt) => {
        fn cast<V: ScalarVisitor>(operand: LaneType, result: LaneType, visitor: V) -> Option<V::Output> {
            match operand {
                LaneType::Bool => None,
                $(LaneType::$lane => define_cast!(@to result visitor $type $to),)*
            }
        }
    };
    (@to $result:ident $visitor:ident $from:ident [$($lane:ident $type:ident)*]) => {
        match $result {
            LaneType::Bool => None,
            $(LaneType::$lane => Some(function!($visitor, Cast::cast($from) -> $type)),)*
        }
    };
}

define_cast! {
    I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64; F32 f32; F64 f64;
}

struct Evaluation<'a> {
    operands: [u64; 3],
    table: &'a [u64],
}

impl ScalarVisitor for Evaluation<'_> {
    type Output = u64;
    #[inline(always)]
    fn visit<F: ScalarFunction>(self) -> u64 {
        F::apply(self.operands, self.table)
    }
}

/// Evaluates a primitive. Operands and result are words with the bits of the scalar, zero-extended; a boolean
/// is 0 or 1. `operand` is the type of the last operand, `table` the table of [`Primitive::Lookup`].
///
/// ```
/// use indim_codegen::{LaneType, Primitive, evaluate};
/// let sum = evaluate(Primitive::Add, LaneType::I8, LaneType::I8, [100, 100, 0], &[]);
/// assert_eq!(sum, 200, "the bits of -56");
/// ```
///
/// # Panics
/// If the primitive is undefined for operands and results of these types, and for [`Primitive::Load`].
pub fn evaluate(
    primitive: Primitive,
    operand: LaneType,
    result: LaneType,
    operands: [u64; 3],
    table: &[u64],
) -> u64 {
    match primitive {
        Primitive::Constant(bits) => bits,
        _ => visit_scalar_function(primitive, operand, result, Evaluation { operands, table })
            .unwrap_or_else(|| panic!("{primitive:?} is undefined from {operand:?} to {result:?}")),
    }
}

struct OperandTypesVisitor;

impl ScalarVisitor for OperandTypesVisitor {
    type Output = &'static [LaneType];
    fn visit<F: ScalarFunction>(self) -> &'static [LaneType] {
        F::OPERANDS
    }
}

/// Whether the primitive is defined for operands and a result of these types.
pub(crate) fn accepts(primitive: Primitive, operands: &[LaneType], result: LaneType) -> bool {
    let Some(&last) = operands.last() else { return false };
    match visit_scalar_function(primitive, last, result, OperandTypesVisitor) {
        // A bitcast accepts any operand type of the result's size.
        Some(_) if primitive == Primitive::Bits => operands.len() == 1,
        found => found == Some(operands),
    }
}
