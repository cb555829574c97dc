//! Element types: their names, classes and sizes.
//!
//! One table lists every type; it generates parsing, printing and the classes of the table of operations.
//! `element.rs` has the Rust types of elements.

use core::fmt;
use core::str::FromStr;

use indim_shape::Shape;

/// The class of an element type, as in the table of operations.
///
/// ```
/// use indim_ops::DTypeClass;
/// assert_eq!(DTypeClass::ALL.map(DTypeClass::letter), ["P", "S", "U", "F", "C", "N"]);
/// ```
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
    /// Narrow numbers that are stored, moved, selected and converted, but not computed with.
    Storage,
}

impl DTypeClass {
    /// Every class.
    pub const ALL: [DTypeClass; 6] = [
        DTypeClass::Bool,
        DTypeClass::Signed,
        DTypeClass::Unsigned,
        DTypeClass::Float,
        DTypeClass::Complex,
        DTypeClass::Storage,
    ];

    /// The letter by which the page of operations names the class.
    pub const fn letter(self) -> &'static str {
        match self {
            DTypeClass::Bool => "P",
            DTypeClass::Signed => "S",
            DTypeClass::Unsigned => "U",
            DTypeClass::Float => "F",
            DTypeClass::Complex => "C",
            DTypeClass::Storage => "N",
        }
    }
}

macro_rules! dtypes {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $name:literal, $class:ident, $size:literal, $numpy:literal $npy:literal,
            [$($alias:literal),*];
    )*) => {
        /// The type of one array element.
        ///
        /// The enum is exhaustive on purpose: a new element type makes each `match` that lists all types fail
        /// to compile.
        ///
        /// ```
        /// use indim_ops::DType;
        ///
        /// assert_eq!("float32".parse(), Ok(DType::F32));
        /// assert_eq!((DType::Bf16.name(), DType::Bf16.size()), ("bf16", 2));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType { $($(#[$doc])* $variant,)* }

        impl DType {
            /// Every element type, in the order of the table.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            /// The name in indim's text: `f32`, `bool`, `c64`.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }

            /// The class in the table of operations.
            pub const fn class(self) -> DTypeClass {
                match self { $(DType::$variant => DTypeClass::$class,)* }
            }

            /// The size of one element in bytes.
            pub const fn size(self) -> usize {
                match self { $(DType::$variant => $size,)* }
            }

            /// The type's name in NumPy or ml_dtypes: `float32`, `bfloat16`.
            pub const fn numpy_name(self) -> &'static str {
                match self { $(DType::$variant => $numpy,)* }
            }

            /// The type in the header of a `.npy` file, after the byte order: `f4`. NumPy lacks the types
            /// of ml_dtypes. It writes bfloat16 as two uninterpreted bytes, `V2`, and the narrower types as
            /// one, `V1`, except `float8_e5m2`, which becomes `f1`.
            pub const fn npy_code(self) -> &'static str {
                match self { $(DType::$variant => $npy,)* }
            }
        }

        impl FromStr for DType {
            type Err = UnknownDType;

            /// Reads indim's name, or XLA's (`pred`, `s32`), StableHLO's (`i1`, `ui8`) or NumPy's
            /// (`float32`).
            fn from_str(text: &str) -> Result<Self, UnknownDType> {
                match text {
                    $($name $(| $alias)* => Ok(DType::$variant),)*
                    _ => {
                        let mut all = DType::ALL.iter().copied();
                        all.find(|dtype| dtype.numpy_name() == text).ok_or(UnknownDType)
                    }
                }
            }
        }
    };
}

dtypes! {
    /// Truth values, one byte each.
    Bool = "bool", Bool, 1, "bool" "b1", ["pred", "i1", "bool_", "boolean"];
    /// 8-bit signed integers.
    I8 = "i8", Signed, 1, "int8" "i1", ["s8", "si8"];
    /// 16-bit signed integers.
    I16 = "i16", Signed, 2, "int16" "i2", ["s16", "si16"];
    /// 32-bit signed integers.
    I32 = "i32", Signed, 4, "int32" "i4", ["s32", "si32"];
    /// 64-bit signed integers.
    I64 = "i64", Signed, 8, "int64" "i8", ["s64", "si64"];
    /// 8-bit unsigned integers.
    U8 = "u8", Unsigned, 1, "uint8" "u1", ["ui8"];
    /// 16-bit unsigned integers.
    U16 = "u16", Unsigned, 2, "uint16" "u2", ["ui16"];
    /// 32-bit unsigned integers.
    U32 = "u32", Unsigned, 4, "uint32" "u4", ["ui32"];
    /// 64-bit unsigned integers.
    U64 = "u64", Unsigned, 8, "uint64" "u8", ["ui64"];
    /// IEEE binary16.
    F16 = "f16", Float, 2, "float16" "f2", ["half"];
    /// The upper half of a binary32.
    Bf16 = "bf16", Float, 2, "bfloat16" "V2", [];
    /// IEEE binary32.
    F32 = "f32", Float, 4, "float32" "f4", ["single"];
    /// IEEE binary64.
    F64 = "f64", Float, 8, "float64" "f8", ["double"];
    /// Pairs of binary32.
    C64 = "c64", Complex, 8, "complex64" "c8", [];
    /// Pairs of binary64.
    C128 = "c128", Complex, 16, "complex128" "c16", [];
    /// 8-bit floats: 4 bits of exponent, 3 of significand; no infinities, one NaN of each sign.
    F8E4m3fn = "f8e4m3fn", Storage, 1, "float8_e4m3fn" "V1", ["f8E4M3FN"];
    /// 8-bit floats: 5 bits of exponent, 2 of significand; the upper half of a binary16.
    F8E5m2 = "f8e5m2", Storage, 1, "float8_e5m2" "f1", ["f8E5M2"];
    /// 8-bit floats like `f8e4m3fn`, with each value halved (exponent bias 8), without -0; the bits of -0
    /// are the only NaN.
    F8E4m3fnuz = "f8e4m3fnuz", Storage, 1, "float8_e4m3fnuz" "V1", ["f8E4M3FNUZ"];
    /// 8-bit floats like `f8e5m2`, with each value halved (exponent bias 16), without infinities and -0;
    /// the bits of -0 are the only NaN.
    F8E5m2fnuz = "f8e5m2fnuz", Storage, 1, "float8_e5m2fnuz" "V1", ["f8E5M2FNUZ"];
    /// 8-bit floats like `f8e4m3fnuz`, with an exponent bias of 11.
    F8E4m3b11fnuz = "f8e4m3b11fnuz", Storage, 1, "float8_e4m3b11fnuz" "V1", ["f8E4M3B11FNUZ"];
    /// 4-bit signed integers, each in the low bits of a byte.
    I4 = "i4", Storage, 1, "int4" "V1", ["s4", "si4"];
    /// 4-bit unsigned integers, each in the low bits of a byte.
    U4 = "u4", Storage, 1, "uint4" "V1", ["ui4"];
}

impl DType {
    /// Whether this type is wider than another one: by class, in the order `bool`, storage types, integers,
    /// floats, complex numbers; then by size.
    ///
    /// ```
    /// use indim_ops::DType;
    ///
    /// assert!(DType::F32.is_wider_than(DType::I64));
    /// assert!(DType::I16.is_wider_than(DType::U8));
    /// assert!(!DType::F16.is_wider_than(DType::Bf16));
    /// ```
    pub fn is_wider_than(self, other: DType) -> bool {
        let rank = |dtype: DType| match dtype.class() {
            DTypeClass::Bool => 0,
            DTypeClass::Storage => 1,
            DTypeClass::Signed | DTypeClass::Unsigned => 2,
            DTypeClass::Float => 3,
            DTypeClass::Complex => 4,
        };
        (rank(self), self.size()) > (rank(other), other.size())
    }

    /// Whether this is one of the integer types.
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), DTypeClass::Signed | DTypeClass::Unsigned)
    }

    /// Whether this is one of the float types that compute.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), DTypeClass::Float)
    }

    /// Whether this type only stores elements: operations other than moves, selections and conversions are
    /// refused.
    ///
    /// ```
    /// use indim_ops::DType;
    ///
    /// assert!(DType::F8E5m2.is_storage() && DType::I4.is_storage() && !DType::F16.is_storage());
    /// assert!(DType::I4.is_nibble() && !DType::F8E5m2.is_nibble());
    /// assert!(DType::F8E5m2.is_float8() && !DType::I4.is_float8());
    /// assert_eq!((DType::I4.size(), DType::I4.bits(), DType::F8E5m2.bits()), (1, 4, 8));
    /// ```
    pub const fn is_storage(self) -> bool {
        matches!(self.class(), DTypeClass::Storage)
    }

    /// Whether an element has 4 bits: one byte in memory, half a byte in files that pack them.
    pub const fn is_nibble(self) -> bool {
        matches!(self, DType::I4 | DType::U4)
    }

    /// Whether this is a type of 8-bit floats.
    pub const fn is_float8(self) -> bool {
        self.is_storage() && !self.is_nibble()
    }

    /// The number of bits of an element that have a meaning.
    pub const fn bits(self) -> usize {
        if self.is_nibble() { 4 } else { 8 * self.size() }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A text that names no element type.
///
/// ```
/// use indim_ops::{DType, UnknownDType};
///
/// assert_eq!("f23".parse::<DType>(), Err(UnknownDType));
/// assert!(UnknownDType.to_string().starts_with("unknown element type; the types are bool, i8"));
/// ```
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

/// An element type and a shape: the type of a value in a graph.
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
    /// The type of arrays with this element type and shape.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Self {
        ArrayType { dtype, shape: shape.into() }
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.dtype, self.shape)
    }
}
