//! Conversions between element types.
//!
//! - float → int truncates and saturates; a NaN gives 0;
//! - anything → bool is `≠ 0`, which holds for a NaN; bool → number is 0 or 1;
//! - int → int keeps the low bits or extends by the source's sign;
//! - anything → float gives the nearest, half to even, rounded once, and an infinity on overflow;
//! - real → complex has the imaginary part 0; complex → real drops it;
//! - to and from a storage type: mostly through another type, see [`conversion_through`]. Overflow of an
//!   8-bit float without infinities gives its NaN. A 4-bit integer keeps the low bits of an integer, and
//!   saturates floats.

use super::half::round_to_odd;
use super::storage;
use crate::complex::Complex;
use crate::dtype::DType;
use crate::element::Element;
use crate::element::elements::*;
use crate::element_lanes::{ElementLanes, FromWide, NarrowElement};
use indim_lanes::ScalarBackend;
use indim_lanes::lane::{BoolLane, Cast, FloatBits, FloatLane, IntLane, Lane, LaneBackend};

/// Conversion of one element.
pub trait ConvertTo<T: Element>: Element {
    /// The converted element, in any lane back end; a NaN is canonical.
    fn convert_in<L: LaneBackend>(x: Self::In<L>) -> T::In<L>;

    /// The converted element.
    #[inline(always)]
    fn convert(self) -> T {
        Self::convert_in::<ScalarBackend>(self)
    }
}

/// A visitor of a conversion; see [`visit_convert`].
pub trait ConvertVisitor {
    /// Its result.
    type Output;
    /// Called with the two types.
    fn convert<A: ConvertTo<B>, B: Element>(self) -> Self::Output;
    /// Called for a conversion that is composed of two: to the type `through`, then from `through` to `to`.
    fn convert_through(self, from: DType, through: DType, to: DType) -> Self::Output;
}

/// The type through which elements convert from `from` to `to`; `None` if the conversion is not composed.
///
/// Most conversions to and from storage types are composed of two, which keeps the number of compiled
/// conversions small. The first step is exact, or its error does not change the result: an integer that
/// `f32` rounds overflows every 8-bit float.
///
/// ```
/// use indim_ops::{DType, conversion_through};
///
/// assert_eq!(conversion_through(DType::F8E5m2, DType::I16), Some(DType::F32));
/// assert_eq!(conversion_through(DType::F64, DType::F8E5m2), None);
/// assert_eq!(conversion_through(DType::F32, DType::I16), None);
/// ```
pub const fn conversion_through(from: DType, to: DType) -> Option<DType> {
    let through = match (from, to) {
        (DType::I4, _) => DType::I8,
        (DType::U4, _) => DType::U8,
        (from, _) if from.is_storage() => DType::F32,
        (_, to) if !to.is_storage() => return None,
        (DType::F64 | DType::C128, _) => DType::F64,
        (DType::F16 | DType::Bf16 | DType::F32 | DType::C64, _) => DType::F32,
        (_, DType::I4) => DType::I8,
        (_, DType::U4) => DType::U8,
        _ => DType::F32,
    };
    if through as usize == from as usize || through as usize == to as usize {
        return None;
    }
    Some(through)
}

/// Defines the conversion of each type of one list to each type of another. In the expression, `Self` is
/// the source type, `To` the target type, and `L` the lane back end.
macro_rules! convert_each {
    ([$($from:ident)*] to $to:tt: |$x:ident| $result:expr) => {
        $(convert_each!(@from $from to $to: |$x| $result);)*
    };
    (@from $from:ident to [$($to:ident)*]: |$x:ident| $result:expr) => {$(
        impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert_in<L: LaneBackend>($x: Self::In<L>) -> <$to as ElementLanes>::In<L> {
                #[allow(dead_code, reason = "most expressions do not use it")]
                type To = $to;
                $result
            }
        }
    )*};
}

// Between machine types.
convert_each! {
    [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] to [i8 i16 i32 i64 u8 u16 u32 u64]: |x| x.cast()
}
convert_each! {
    [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] to [f32 f64]: |x| FloatBits::with_canonical_nan(x.cast())
}

// To and from truth values.
convert_each! { [bool] to [bool]: |x| x }
convert_each! {
    [i8 i16 i32 i64 u8 u16 u32 u64] to [bool]: |x| x.equal(IntLane::constant(0)).not()
}
convert_each! { [f32 f64] to [bool]: |x| is_nonzero(x) }
convert_each! { [c64 c128] to [bool]: |x| is_nonzero(x.re).or(is_nonzero(x.im)) }
convert_each! {
    [bool] to [i8 i16 i32 i64 u8 u16 u32 u64]:
    |x| Lane::select(x, IntLane::constant(1), IntLane::constant(0))
}
convert_each! {
    [bool] to [f32 f64]: |x| Lane::select(x, FloatLane::constant(1.0), FloatLane::constant(0.0))
}

// From 16-bit floats: through `f32`, which represents all of them.
convert_each! {
    [f16 bf16] to [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]:
    |x| <f32 as ConvertTo<To>>::convert_in::<L>(Self::widen::<L>(x))
}

// To 16-bit floats: from types that fit `f32`, types that fit `f64`, and types that fit neither.
convert_each! {
    [bool i8 i16 u8 u16 f32] to [f16 bf16]:
    |x| To::from_wide::<L>(<Self as ConvertTo<f32>>::convert_in::<L>(x))
}
convert_each! {
    [f16] to [bf16]: |x| To::from_wide::<L>(Self::widen::<L>(x))
}
convert_each! {
    [bf16] to [f16]: |x| To::from_wide::<L>(Self::widen::<L>(x))
}
convert_each! { [f16] to [f16]: |x| x.with_canonical_nan() }
convert_each! { [bf16] to [bf16]: |x| x.with_canonical_nan() }
convert_each! {
    [i32 u32 f64] to [f16 bf16]:
    |x| To::from_wide::<L>(round_to_odd(<Self as ConvertTo<f64>>::convert_in::<L>(x)))
}
convert_each! {
    [i64 u64] to [f16 bf16]: |x| To::from_wide::<L>(round_to_odd(with_sticky_bit(x).cast()))
}

// Between real and complex numbers.
convert_each! {
    [bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] to [c64 c128]: |x| Complex::new(
        <Self as ConvertTo<<To as Element>::Component>>::convert_in::<L>(x),
        FloatLane::constant(0.0),
    )
}
convert_each! {
    [c64 c128] to [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64]:
    |x| <<Self as Element>::Component as ConvertTo<To>>::convert_in::<L>(x.re)
}
convert_each! {
    [c64 c128] to [c64 c128]: |x| Complex::new(x.re.cast(), x.im.cast()).with_canonical_nans()
}

// 8-bit floats.
convert_each! {
    [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz] to [f32]: |x| storage::widen_float::<_, L>(x)
}
convert_each! {
    [f32] to [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz]: |x| storage::round_to_float::<_, L>(x)
}
convert_each! {
    [f64] to [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz]:
    |x| storage::round_to_float::<_, L>(round_to_odd(x))
}

// 4-bit integers.
convert_each! { [i4] to [i8]: |x| storage::widen_i4::<_, L>(x) }
convert_each! { [u4] to [u8]: |x| storage::widen_u4::<_, L>(x) }
convert_each! { [i8] to [i4]: |x| storage::wrap_to_nibble::<_, L, _>(x) }
convert_each! { [u8] to [u4]: |x| storage::wrap_to_nibble::<_, L, _>(x) }
convert_each! {
    [f32 f64] to [i4]:
    |x| storage::wrap_to_nibble::<_, L, L::I8>(storage::clamp(x.cast(), -8, 7))
}
convert_each! {
    [f32 f64] to [u4]:
    |x| storage::wrap_to_nibble::<_, L, L::U8>(storage::clamp(x.cast(), 0, 15))
}

/// Defines the conversions that are composed of two, with the type `through` of `conversion_through`.
macro_rules! convert_through {
    ($($from:tt to $to:tt: $through:ident;)*) => {$(
        convert_each! {
            $from to $to:
            |x| <$through as ConvertTo<To>>::convert_in::<L>(
                <Self as ConvertTo<$through>>::convert_in::<L>(x),
            )
        }
    )*};
}

convert_through! {
    [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz]
        to [bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f64 c64 c128]: f32;
    [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz]
        to [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz i4 u4]: f32;
    [bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 c64]
        to [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz]: f32;
    [c128] to [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz i4 u4]: f64;
    [i4] to [bool i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128]: i8;
    [i4] to [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz i4 u4]: i8;
    [u4] to [bool i8 i16 i32 i64 u16 u32 u64 f16 bf16 f32 f64 c64 c128]: u8;
    [u4] to [f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz i4 u4]: u8;
    [bool i16 i32 i64 u8 u16 u32 u64] to [i4]: i8;
    [bool i8 i16 i32 i64 u16 u32 u64] to [u4]: u8;
    [f16 bf16 c64] to [i4 u4]: f32;
}

/// Whether a float is not 0; true for a NaN.
#[inline(always)]
fn is_nonzero<F: FloatLane>(x: F) -> F::Bool {
    x.equal(F::constant(0.0)).not()
}

/// An integer of at most 53 significant bits that rounds to 16 bits like `x`. The low 12 bits of a large `x`
/// become one sticky bit.
#[inline(always)]
fn with_sticky_bit<I: IntLane>(x: I) -> I {
    const LIMIT: i64 = 1 << 50;
    let int = I::constant;
    let is_below = x.less(int(0)).and(x.less(int(-LIMIT)));
    let is_small = x.less(int(LIMIT)).and(is_below.not());
    let has_low_bits = x.and(int(0xfff)).equal(int(0)).not();
    let sticky = I::select(has_low_bits, int(0x1000), int(0));
    I::select(is_small, x, x.and(int(!0xfff)).or(sticky))
}

macro_rules! define_visits {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// Calls `visitor` with the conversion `from` → `to`.
        pub fn visit_convert<V: ConvertVisitor>(from: DType, to: DType, visitor: V) -> V::Output {
            match from {
                $(DType::$variant => visit_target::<$type, V>(to, visitor),)*
            }
        }

        fn visit_target<A, V: ConvertVisitor>(to: DType, visitor: V) -> V::Output
        where
            A: $(ConvertTo<$type> +)* Element,
        {
            match to {
                $(DType::$variant => match const { conversion_through(A::DTYPE, DType::$variant) } {
                    Some(through) => visitor.convert_through(A::DTYPE, through, to),
                    None => visitor.convert::<A, $type>(),
                },)*
            }
        }
    };
}

crate::for_each_element!(define_visits);
