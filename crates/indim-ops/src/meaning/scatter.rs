//! Scatters: the operation that combines an element with its updates, in order.
//!
//! `add` and `mul` compute floats in `f64` and complex numbers in `c128`, and round once at the end; integers
//! wrap. `set` keeps the last update. `min` and `max` do not depend on the order and propagate NaN.

use core::fmt;
use core::str::FromStr;

use crate::meaning::convert::ConvertTo;
use crate::op::{UnknownOp, operations};
use crate::{DType, DTypeClass, Element, Fold, ScalarBackend, bf16, c64, c128, f16};

/// The operation that combines an element with the updates of a scatter.
///
/// ```
/// use indim_ops::{DType, ScatterOp};
///
/// assert_eq!("mul".parse(), Ok(ScatterOp::Mul));
/// assert!(ScatterOp::Max.takes(DType::Bool) && !ScatterOp::Max.takes(DType::C64));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScatterOp {
    /// The last update replaces the element.
    Set,
    /// The element plus all updates.
    Add,
    /// The element times all updates.
    Mul,
    /// The smallest of the element and all updates; any NaN gives a NaN.
    Min,
    /// The largest of the element and all updates; any NaN gives a NaN.
    Max,
}

impl ScatterOp {
    /// Every operation.
    pub const ALL: [ScatterOp; 5] =
        [ScatterOp::Set, ScatterOp::Add, ScatterOp::Mul, ScatterOp::Min, ScatterOp::Max];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            ScatterOp::Set => "set",
            ScatterOp::Add => "add",
            ScatterOp::Mul => "mul",
            ScatterOp::Min => "min",
            ScatterOp::Max => "max",
        }
    }

    /// Whether the operation takes elements of this type.
    pub const fn takes(self, dtype: DType) -> bool {
        match self {
            ScatterOp::Set => !dtype.is_storage(),
            ScatterOp::Add | ScatterOp::Mul => {
                !matches!(dtype.class(), DTypeClass::Bool | DTypeClass::Storage)
            }
            ScatterOp::Min | ScatterOp::Max => {
                !matches!(dtype.class(), DTypeClass::Complex | DTypeClass::Storage)
            }
        }
    }
}

impl fmt::Display for ScatterOp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ScatterOp {
    type Err = UnknownOp;

    fn from_str(name: &str) -> Result<Self, UnknownOp> {
        ScatterOp::ALL.into_iter().find(|op| op.name() == name).ok_or(UnknownOp)
    }
}

/// The fold of a scatter: combines an element of type `T` with its updates, one after another.
pub trait ScatterFold<T: Element>: 'static {
    /// The type of the accumulator.
    type Accumulator: Element;

    /// The accumulator of the element before any update.
    fn begin(element: T) -> Self::Accumulator;

    /// The accumulator after one more update; a NaN may have any bits.
    fn combine(accumulator: Self::Accumulator, update: T) -> Self::Accumulator;

    /// The result, rounded; a computed NaN is canonical.
    fn finish(accumulator: Self::Accumulator) -> T;
}

/// The fold of [`ScatterOp::Set`], which keeps the last update.
#[derive(Debug)]
pub enum LastUpdate {}

impl<T: Element> ScatterFold<T> for LastUpdate {
    type Accumulator = T;

    #[inline(always)]
    fn begin(element: T) -> T {
        element
    }

    #[inline(always)]
    fn combine(_: T, update: T) -> T {
        update
    }

    #[inline(always)]
    fn finish(accumulator: T) -> T {
        accumulator
    }
}

macro_rules! wide_folds {
    ($op:ident: $($type:ident $wide:ident;)*) => {
        $(impl ScatterFold<$type> for operations::$op {
            type Accumulator = $wide;

            #[inline(always)]
            fn begin(element: $type) -> $wide {
                ConvertTo::<$wide>::convert(element)
            }

            #[inline(always)]
            fn combine(accumulator: $wide, update: $type) -> $wide {
                let update = ConvertTo::<$wide>::convert(update);
                <operations::$op as Fold<$wide>>::combine::<ScalarBackend>(accumulator, update)
            }

            #[inline(always)]
            fn finish(accumulator: $wide) -> $type {
                ConvertTo::<$type>::convert(accumulator)
            }
        })*
    };
}

wide_folds! { Add:
    i8 i8; i16 i16; i32 i32; i64 i64; u8 u8; u16 u16; u32 u32; u64 u64;
    f16 f64; bf16 f64; f32 f64; f64 f64; c64 c128; c128 c128;
}

wide_folds! { Mul:
    i8 i8; i16 i16; i32 i32; i64 i64; u8 u8; u16 u16; u32 u32; u64 u64;
    f16 f64; bf16 f64; f32 f64; f64 f64; c64 c128; c128 c128;
}

macro_rules! extremes {
    ($op:ident: $($type:ident)*) => {
        $(impl ScatterFold<$type> for operations::$op {
            type Accumulator = $type;

            #[inline(always)]
            fn begin(element: $type) -> $type {
                element
            }

            #[inline(always)]
            fn combine(accumulator: $type, update: $type) -> $type {
                <operations::$op as Fold<$type>>::combine::<ScalarBackend>(accumulator, update)
            }

            #[inline(always)]
            fn finish(accumulator: $type) -> $type {
                accumulator.canonical()
            }
        })*
    };
}

extremes! { Min: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 }
extremes! { Max: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 }

/// A function that is generic over the fold and the element type of a scatter, for [`ScatterOp::visit`].
pub trait ScatterVisitor {
    /// The function's result.
    type Output;

    /// Called with the fold `F` of elements of type `T`.
    fn scatter<F: ScatterFold<T>, T: Element>(self) -> Self::Output;
}

impl ScatterOp {
    /// Calls the visitor with the fold for elements of this type; `None` if the operation does not take them.
    pub fn visit<V: ScatterVisitor>(self, dtype: DType, visitor: V) -> Option<V::Output> {
        macro_rules! of_type {
            ($fold:ty: $($variant:ident $type:ident),*) => {
                match dtype {
                    $(DType::$variant => Some(visitor.scatter::<$fold, $type>()),)*
                    #[allow(unreachable_patterns, reason = "a fold of every type lists all of them")]
                    _ => None,
                }
            };
        }
        macro_rules! with_numbers {
            ($fold:ty $(, $variant:ident $type:ident)*) => {
                of_type!($fold: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
                    F16 f16, Bf16 bf16, F32 f32, F64 f64 $(, $variant $type)*)
            };
        }
        match self {
            ScatterOp::Set => with_numbers!(LastUpdate, Bool bool, C64 c64, C128 c128),
            ScatterOp::Add => with_numbers!(operations::Add, C64 c64, C128 c128),
            ScatterOp::Mul => with_numbers!(operations::Mul, C64 c64, C128 c128),
            ScatterOp::Min => with_numbers!(operations::Min, Bool bool),
            ScatterOp::Max => with_numbers!(operations::Max, Bool bool),
        }
    }
}
