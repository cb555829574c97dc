//! Element types: their names, classes and sizes.
//!
//! One table lists every type; parsing, printing and the classes of the op table come from it.
//! What a type's elements look like in Rust is in `element.rs`.

use core::fmt;
use core::str::FromStr;

use indim_shape::Shape;

/// The class of an element type, as the op table names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DTypeClass {
    /// Truth values.
    Bool,
    /// Two's-complement integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Binary floating point.
    Float,
    /// Pairs of floats.
    Complex,
}

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $class:ident, $size:literal, [$($alias:literal),*];)*) => {
        /// The type of one array element.
        ///
        /// A `match` may list them all: who handles every element type is to hear of a new one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType { $($(#[$doc])* $variant,)* }

        impl DType {
            /// Every element type, in the order of the table.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            /// The name in indim's text: `f32`, `bool`, `c64`.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }

            /// The class that the op table speaks of.
            pub const fn class(self) -> DTypeClass {
                match self { $(DType::$variant => DTypeClass::$class,)* }
            }

            /// The size of one element in bytes.
            pub const fn size(self) -> usize {
                match self { $(DType::$variant => $size,)* }
            }
        }

        impl FromStr for DType {
            type Err = UnknownDType;

            /// Reads indim's name, or XLA's (`pred`, `s32`), StableHLO's (`i1`, `ui8`) or NumPy's (`float32`).
            fn from_str(text: &str) -> Result<Self, UnknownDType> {
                match text {
                    $($name $(| $alias)* => Ok(DType::$variant),)*
                    _ => Err(UnknownDType),
                }
            }
        }
    };
}

dtypes! {
    /// Truth values, one byte each.
    Bool = "bool", Bool, 1, ["pred", "i1", "bool_", "boolean"];
    /// 8-bit signed integers.
    I8 = "i8", Signed, 1, ["s8", "int8", "si8"];
    /// 16-bit signed integers.
    I16 = "i16", Signed, 2, ["s16", "int16", "si16"];
    /// 32-bit signed integers.
    I32 = "i32", Signed, 4, ["s32", "int32", "si32"];
    /// 64-bit signed integers.
    I64 = "i64", Signed, 8, ["s64", "int64", "si64"];
    /// 8-bit unsigned integers.
    U8 = "u8", Unsigned, 1, ["ui8", "uint8"];
    /// 16-bit unsigned integers.
    U16 = "u16", Unsigned, 2, ["ui16", "uint16"];
    /// 32-bit unsigned integers.
    U32 = "u32", Unsigned, 4, ["ui32", "uint32"];
    /// 64-bit unsigned integers.
    U64 = "u64", Unsigned, 8, ["ui64", "uint64"];
    /// IEEE binary16.
    F16 = "f16", Float, 2, ["float16", "half"];
    /// The upper half of a binary32.
    Bf16 = "bf16", Float, 2, ["bfloat16"];
    /// IEEE binary32.
    F32 = "f32", Float, 4, ["float32", "single"];
    /// IEEE binary64.
    F64 = "f64", Float, 8, ["float64", "double"];
    /// Pairs of binary32.
    C64 = "c64", Complex, 8, ["complex64"];
    /// Pairs of binary64.
    C128 = "c128", Complex, 16, ["complex128"];
}

impl DType {
    /// Whether this is one of the integer types.
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), DTypeClass::Signed | DTypeClass::Unsigned)
    }

    /// Whether this is one of the float types.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), DTypeClass::Float)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A text that names no element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownDType;

impl fmt::Display for UnknownDType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("unknown element type; the types are ")?;
        for (index, dtype) in DType::ALL.iter().enumerate() {
            write!(formatter, "{}{dtype}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownDType {}

/// An element type and a shape: what the verifier knows of a value.
///
/// ```
/// use indim_ops::{ArrayType, DType};
/// assert_eq!(ArrayType::new(DType::F32, [4, 3]).to_string(), "f32[4, 3]");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// The type of each element.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Shape,
}

impl ArrayType {
    /// Puts an element type and a shape together.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Self {
        ArrayType { dtype, shape: shape.into() }
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.dtype, self.shape)
    }
}
