//! Conversions between element types.
//!
//! float → int truncates and saturates, NaN gives 0; anything → bool asks for ≠ 0 (a NaN is);
//! bool → number is 0 or 1; int → int keeps the low bits or extends by the source's sign;
//! to floats: nearest even, overflow to infinity. These are Rust's casts, and for the 16-bit floats
//! what stands here: rounded once, whatever the source.

use crate::complex::{Complex, c64, c128};
use crate::dtype::DType;
use crate::element::Element;
use crate::half::{bf16, f16};

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

/// Each pair of two lists, by Rust's cast.
macro_rules! convert_by_cast {
    ([$($from:ident)*] to $to:tt) => { $(convert_by_cast!(@from $from $to);)* };
    (@from $from:ident [$($to:ident)*]) => {$(
        impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to { Element::canonical(self as $to) }
        }
    )*};
}

convert_by_cast! {
    [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] to [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]
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

/// Between a 16-bit float and the types that `f32` converts to: through `f32`, which holds every
/// 16-bit float, and from types that it holds exactly.
macro_rules! convert_half {
    ($($half:ident)*) => {$(
        convert_half!(@to $half [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
        convert_half!(@through f32 $half from_f32 [bool i8 i16 u8 u16 f32]);
        convert_half!(@through f64 $half from_f64 [i32 u32 f64]);
        convert_half!(@wide $half [i64 u64]);
        impl ConvertTo<$half> for $half {
            #[inline(always)]
            fn convert(self) -> $half { self.canonical() }
        }
    )*};
    (@to $half:ident [$($to:ident)*]) => {$(
        impl ConvertTo<$to> for $half {
            #[inline(always)]
            fn convert(self) -> $to { ConvertTo::<$to>::convert(self.to_f32()) }
        }
    )*};
    (@through $exact:ident $half:ident $round:ident [$($from:ident)*]) => {$(
        impl ConvertTo<$half> for $from {
            #[inline(always)]
            fn convert(self) -> $half { $half::$round(ConvertTo::<$exact>::convert(self)) }
        }
    )*};
    (@wide $half:ident [$($from:ident)*]) => {$(
        impl ConvertTo<$half> for $from {
            #[inline(always)]
            fn convert(self) -> $half {
                // 64 bits do not fit f64. The lowest bits matter only by being there at all.
                let low = self & 0xfff;
                let sticky = (self & !0xfff) | (((low != 0) as $from) << 12);
                let is_exact = (self >> 50) == 0 || (self >> 50) == (0 as $from).wrapping_sub(1);
                let kept = if is_exact { self } else { sticky };
                $half::from_f64(kept as f64)
            }
        }
    )*};
}

convert_half!(f16 bf16);

impl ConvertTo<bf16> for f16 {
    #[inline(always)]
    fn convert(self) -> bf16 {
        bf16::from_f32(self.to_f32())
    }
}

impl ConvertTo<f16> for bf16 {
    #[inline(always)]
    fn convert(self) -> f16 {
        f16::from_f32(self.to_f32())
    }
}

/// Real → complex: imaginary part 0. Complex → real: the imaginary part is dropped.
macro_rules! convert_complex {
    ($($complex:ident $part:ident)*) => {$(
        convert_complex!(@real $complex $part [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64]);
        impl ConvertTo<$complex> for bool {
            #[inline(always)]
            fn convert(self) -> $complex { Complex::new(self.convert(), 0.0) }
        }
        impl ConvertTo<bool> for $complex {
            #[inline(always)]
            fn convert(self) -> bool { (self.re != 0.0) | (self.im != 0.0) }
        }
    )*};
    (@real $complex:ident $part:ident [$($real:ident)*]) => {$(
        impl ConvertTo<$complex> for $real {
            #[inline(always)]
            fn convert(self) -> $complex { Complex::new(ConvertTo::<$part>::convert(self), 0.0) }
        }
        impl ConvertTo<$real> for $complex {
            #[inline(always)]
            fn convert(self) -> $real { ConvertTo::<$real>::convert(self.re) }
        }
    )*};
}

convert_complex!(c64 f32 c128 f64);

macro_rules! convert_between_complex {
    ($($from:ident to $to:ident;)*) => {$(
        impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to { Complex::new(self.re.convert(), self.im.convert()) }
        }
    )*};
}

convert_between_complex! { c64 to c64; c64 to c128; c128 to c64; c128 to c128; }

macro_rules! define_visits {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// Calls `visitor` with the conversion `from` → `to`; `None` where a type is not evaluated.
        pub fn visit_convert<V: ConvertVisitor>(from: DType, to: DType, visitor: V) -> Option<V::Output> {
            match from {
                $(DType::$variant => visit_target::<$type, V>(to, visitor),)*
            }
        }

        fn visit_target<A, V: ConvertVisitor>(to: DType, visitor: V) -> Option<V::Output>
        where
            A: $(ConvertTo<$type> +)* Element,
        {
            match to {
                $(DType::$variant => Some(visitor.convert::<A, $type>()),)*
            }
        }
    };
}

crate::for_each_element!(define_visits);
