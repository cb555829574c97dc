//! Conversions between element types.
//!
//! float → int truncates and saturates, NaN gives 0; anything → bool asks for ≠ 0 (a NaN is);
//! bool → number is 0 or 1; int → int keeps the low bits or extends by the source's sign;
//! to floats: nearest even, overflow to infinity. These are Rust's casts.

use crate::dtype::DType;
use crate::element::Element;

/// Conversion of one element.
pub trait ConvertTo<T: Element>: Element {
    /// The converted element; a NaN is canonical.
    fn convert(self) -> T;
}

/// What is to be made of a conversion; see [`visit_convert`].
pub trait ConvertVisitor {
    /// What the visit makes.
    type Output;
    /// Called with the two types.
    fn convert<A: ConvertTo<B>, B: Element>(self) -> Self::Output;
}

macro_rules! convert_numbers {
    ($($from:ident => [$($to:ident)*];)*) => {$($(
        impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to { Element::canonical(self as $to) }
        }
    )*)*};
}

convert_numbers! {
    i8 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    i16 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    i32 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    i64 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    u8 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    u16 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    u32 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    u64 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    f32 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    f64 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
}

macro_rules! convert_bool {
    ($($type:ident)*) => {$(
        impl ConvertTo<bool> for $type {
            #[inline(always)]
            fn convert(self) -> bool { self != (0 as $type) }
        }
        impl ConvertTo<$type> for bool {
            #[inline(always)]
            fn convert(self) -> $type { u8::from(self) as $type }
        }
    )*};
}

convert_bool!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

impl ConvertTo<bool> for bool {
    #[inline(always)]
    fn convert(self) -> bool {
        self
    }
}

macro_rules! define_visits {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// Calls `visitor` with the conversion `from` → `to`; `None` where a type is not evaluated.
        pub fn visit_convert<V: ConvertVisitor>(from: DType, to: DType, visitor: V) -> Option<V::Output> {
            match from {
                $(DType::$variant => visit_target::<$type, V>(to, visitor),)*
                _ => None,
            }
        }

        fn visit_target<A, V: ConvertVisitor>(to: DType, visitor: V) -> Option<V::Output>
        where
            A: $(ConvertTo<$type> +)* Element,
        {
            match to {
                $(DType::$variant => Some(visitor.convert::<A, $type>()),)*
                _ => None,
            }
        }
    };
}

crate::for_each_element!(define_visits);
