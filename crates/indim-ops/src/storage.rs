//! The storage types, represented by their bits in any lane back end: 8-bit floats and 4-bit integers.
//!
//! `meaning/storage.rs` widens them and rounds to them.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use crate::meaning::half::round_to_odd;
use crate::meaning::storage::{clamp, round_to_float, widen_float, widen_i4, widen_u4};
use indim_lanes::ScalarBackend;
use indim_lanes::lane::IntLane;

/// An element of the storage type `K`, represented by its bits. A 4-bit integer is in the low half of its
/// byte.
#[repr(transparent)]
pub struct StorageElement<K, Bits>(Bits, PhantomData<K>);

impl<K, Bits: Copy> Copy for StorageElement<K, Bits> {}

impl<K, Bits: Copy> Clone for StorageElement<K, Bits> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, Bits: Default> Default for StorageElement<K, Bits> {
    fn default() -> Self {
        StorageElement(Bits::default(), PhantomData)
    }
}

impl<K, Bits: IntLane> StorageElement<K, Bits> {
    /// The element with these bits.
    #[inline(always)]
    pub fn new(bits: Bits) -> Self {
        StorageElement(bits, PhantomData)
    }

    /// The bits.
    #[inline(always)]
    pub fn bits(self) -> Bits {
        self.0
    }
}

/// The values of a float type that are not finite numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialValues {
    /// Infinities and NaNs, as in IEEE 754.
    Ieee,
    /// No infinities; the bits of the largest magnitude are a NaN.
    NoInfinity,
    /// No infinities and no -0, whose bits are the only NaN.
    NoInfinityOrNegativeZero,
}

/// The format of an 8-bit float type.
pub trait Float8: 'static {
    /// Bits of the significand without the hidden one.
    const MANTISSA_BITS: i64;
    /// The exponent bias.
    const BIAS: i64;
    /// The values that are not finite numbers.
    const SPECIALS: SpecialValues;

    /// The bits of the largest finite number.
    const MAX_BITS: i64 = match Self::SPECIALS {
        SpecialValues::Ieee => (0x7f >> Self::MANTISSA_BITS << Self::MANTISSA_BITS) - 1,
        SpecialValues::NoInfinity => 0x7e,
        SpecialValues::NoInfinityOrNegativeZero => 0x7f,
    };
    /// The bits of infinity. In a type without infinities -1, which equals no magnitude.
    const INFINITY_BITS: i64 = match Self::SPECIALS {
        SpecialValues::Ieee => Self::MAX_BITS + 1,
        SpecialValues::NoInfinity | SpecialValues::NoInfinityOrNegativeZero => -1,
    };
    /// The bits of the canonical NaN.
    const NAN_BITS: i64 = match Self::SPECIALS {
        SpecialValues::Ieee => Self::INFINITY_BITS | 1 << (Self::MANTISSA_BITS - 1),
        SpecialValues::NoInfinity => 0x7f,
        SpecialValues::NoInfinityOrNegativeZero => 0x80,
    };
}

fn float8_to_f64<K: Float8>(x: StorageElement<K, u8>) -> f64 {
    f64::from(widen_float::<K, ScalarBackend>(x))
}

fn float8_from_f64<K: Float8>(value: f64) -> StorageElement<K, u8> {
    round_to_float::<K, ScalarBackend>(round_to_odd(value))
}

fn i4_to_i8(x: i4) -> i8 {
    widen_i4::<_, ScalarBackend>(x)
}

fn i4_from_f64(value: f64) -> i4 {
    i4::from_bits(clamp(value as i8, -8, 7) as u8 & 0xf)
}

fn u4_to_u8(x: u4) -> u8 {
    widen_u4::<_, ScalarBackend>(x)
}

fn u4_from_f64(value: f64) -> u4 {
    u4::from_bits(clamp(value as u8, 0, 15))
}

/// Defines storage types. Each has a marker type (the `K` of [`StorageElement`]), a type that is generic
/// over the bits, and an element type.
macro_rules! storage_types {
    ($(
        $(#[doc = $doc:literal])+
        $kind:ident $any:ident $type:ident $wide:ident $widen:ident $narrow:ident;
    )*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub enum $kind {}

        $(#[doc = $doc])+
        pub type $any<Bits> = StorageElement<$kind, Bits>;

        $(#[doc = $doc])+
        #[allow(non_camel_case_types, reason = "element types have the names that every framework uses")]
        pub type $type = StorageElement<$kind, u8>;

        impl $type {
            /// The element with this bit pattern.
            pub const fn from_bits(bits: u8) -> Self { StorageElement(bits, PhantomData) }

            /// The bit pattern.
            pub const fn to_bits(self) -> u8 { self.0 }

            /// Converts a float. An 8-bit float type gives the nearest value, half to even, rounded once; a
            /// 4-bit integer type truncates and saturates.
            pub fn from_f64(value: f64) -> Self { $narrow(value) }

            /// The same value in 64 bits.
            pub fn to_f64(self) -> f64 { f64::from($widen(self)) }

            /// Whether this is a NaN.
            pub fn is_nan(self) -> bool { self.to_f64().is_nan() }
        }

        impl From<$type> for f64 {
            fn from(value: $type) -> f64 { value.to_f64() }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool { self.to_f64() == other.to_f64() }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&$widen(*self), formatter)
            }
        }

        impl fmt::LowerExp for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerExp::fmt(&$widen(*self), formatter)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&$widen(*self), formatter)
            }
        }

        impl FromStr for $type {
            type Err = <$wide as FromStr>::Err;

            /// Parses a number of the wider type, and rounds it; an integer must be in range.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let wide = text.parse::<$wide>()?;
                let element = Self::from_f64(wide.into());
                if size_of::<$wide>() == 1 && $widen(element) != wide {
                    // No 8-bit integer is 999, so parsing it returns the error of an integer that is out of
                    // range.
                    return "999".parse::<$wide>().map(|_| element);
                }
                Ok(element)
            }
        }
    )*};
}

storage_types! {
    /// 8-bit floats: 4 bits of exponent, 3 of significand; no infinities. The largest number is 448.
    ///
    /// ```
    /// use indim_ops::f8e4m3fn;
    /// assert_eq!(f8e4m3fn::from_f64(0.1).to_f64(), 0.1015625);
    /// assert!(f8e4m3fn::from_f64(500.0).is_nan());
    /// ```
    E4m3fn F8E4m3fn f8e4m3fn f64 float8_to_f64 float8_from_f64;
    /// 8-bit floats: 5 bits of exponent, 2 of significand. The largest number is 57344.
    ///
    /// ```
    /// use indim_ops::f8e5m2;
    /// assert_eq!(f8e5m2::from_f64(0.1).to_f64(), 0.09375);
    /// assert_eq!(f8e5m2::from_f64(-1e5).to_f64(), f64::NEG_INFINITY);
    /// ```
    E5m2 F8E5m2 f8e5m2 f64 float8_to_f64 float8_from_f64;
    /// 8-bit floats: 4 bits of exponent, 3 of significand; no infinities, no -0. The largest number is 240.
    ///
    /// ```
    /// use indim_ops::f8e4m3fnuz;
    /// assert_eq!(f8e4m3fnuz::from_f64(240.0).to_bits(), 0x7f);
    /// assert_eq!(f8e4m3fnuz::from_f64(-0.0).to_bits(), 0);
    /// ```
    E4m3fnuz F8E4m3fnuz f8e4m3fnuz f64 float8_to_f64 float8_from_f64;
    /// 8-bit floats: 5 bits of exponent, 2 of significand; no infinities, no -0. The largest number is
    /// 57344.
    ///
    /// ```
    /// use indim_ops::f8e5m2fnuz;
    /// assert_eq!(f8e5m2fnuz::from_f64(57344.0).to_bits(), 0x7f);
    /// ```
    E5m2fnuz F8E5m2fnuz f8e5m2fnuz f64 float8_to_f64 float8_from_f64;
    /// 8-bit floats: 4 bits of exponent with a bias of 11, 3 of significand; no infinities, no -0. The
    /// largest number is 30.
    ///
    /// ```
    /// use indim_ops::f8e4m3b11fnuz;
    /// assert_eq!(f8e4m3b11fnuz::from_f64(30.0).to_bits(), 0x7f);
    /// ```
    E4m3b11fnuz F8E4m3b11fnuz f8e4m3b11fnuz f64 float8_to_f64 float8_from_f64;
    /// 4-bit signed integers, each in the low bits of a byte.
    ///
    /// ```
    /// use indim_ops::i4;
    /// assert_eq!((i4::from_bits(0xf).to_string(), i4::from_f64(9.0).to_f64()), ("-1".to_owned(), 7.0));
    /// ```
    Signed4 I4 i4 i8 i4_to_i8 i4_from_f64;
    /// 4-bit unsigned integers, each in the low bits of a byte.
    ///
    /// ```
    /// use indim_ops::u4;
    /// assert_eq!((u4::from_bits(0xf).to_string(), u4::from_f64(-1.0).to_f64()), ("15".to_owned(), 0.0));
    /// ```
    Unsigned4 U4 u4 u8 u4_to_u8 u4_from_f64;
}

macro_rules! formats {
    ($($kind:ident $type:ident $mantissa:literal $bias:literal $specials:ident;)*) => {$(
        impl $type {
            /// The canonical NaN.
            pub const NAN: $type = $type::from_bits(<$kind as Float8>::NAN_BITS as u8);
            /// The largest number.
            pub const MAX: $type = $type::from_bits(<$kind as Float8>::MAX_BITS as u8);
        }

        impl Float8 for $kind {
            const MANTISSA_BITS: i64 = $mantissa;
            const BIAS: i64 = $bias;
            const SPECIALS: SpecialValues = SpecialValues::$specials;
        }
    )*};
}

formats! {
    E4m3fn f8e4m3fn 3 7 NoInfinity;
    E5m2 f8e5m2 2 15 Ieee;
    E4m3fnuz f8e4m3fnuz 3 8 NoInfinityOrNegativeZero;
    E5m2fnuz f8e5m2fnuz 2 16 NoInfinityOrNegativeZero;
    E4m3b11fnuz f8e4m3b11fnuz 3 11 NoInfinityOrNegativeZero;
}
