//! Mapping of element types to the lanes of a back end, and element types that compute in a wider type.

use crate::complex::Complex;
use crate::dtype::DType;
use crate::element::Element;
use crate::element::elements::*;
use crate::half::{Bf16, F16};
use crate::meaning::half;
use crate::storage::{F8E4m3b11fnuz, F8E4m3fn, F8E4m3fnuz, F8E5m2, F8E5m2fnuz, I4, U4};
use indim_lanes::lane::{Cast, FloatBits, LaneBackend};

/// The lanes of an element type in any back end.
///
/// ```
/// use indim_ops::{ElementLanes, ScalarBackend, f16, lane::LaneBackend};
///
/// fn canonical_nan<T: ElementLanes, L: LaneBackend>(x: T::In<L>) -> T::In<L> {
///     T::canonical_in::<L>(x)
/// }
/// assert_eq!(canonical_nan::<f16, ScalarBackend>(f16::from_bits(0xfe01)).to_bits(), 0x7e00);
/// ```
pub trait ElementLanes {
    /// One element in the back end `L`: a lane; for a 16-bit float or a storage type its bits, for a
    /// complex number two lanes. In `ScalarBackend` it is the element itself.
    type In<L: LaneBackend>: Copy;

    /// The element with any NaN in it replaced by the canonical quiet NaN of the type.
    fn canonical_in<L: LaneBackend>(x: Self::In<L>) -> Self::In<L>;
    /// The lanes with their element type as a value.
    fn into_any<L: LaneBackend>(x: Self::In<L>) -> AnyLane<L>;
    /// The lanes, if the element is of this type.
    fn from_any<L: LaneBackend>(any: AnyLane<L>) -> Option<Self::In<L>>;
}

macro_rules! define_element_lanes {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// One element of any type, in the lane back end `L`.
        pub enum AnyLane<L: LaneBackend> {
            $(
                #[doc = concat!("An element of type `", stringify!($type), "`.")]
                $variant(<$type as ElementLanes>::In<L>),
            )*
        }

        impl<L: LaneBackend> Copy for AnyLane<L> {}

        impl<L: LaneBackend> Clone for AnyLane<L> {
            fn clone(&self) -> Self { *self }
        }

        impl<L: LaneBackend> core::fmt::Debug for AnyLane<L>
        where
            $(<$type as ElementLanes>::In<L>: core::fmt::Debug,)*
        {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $(AnyLane::$variant(element) => {
                        write!(formatter, concat!(stringify!($type), "({:?})"), element)
                    })*
                }
            }
        }

        impl<L: LaneBackend> AnyLane<L> {
            /// The element type.
            pub fn dtype(&self) -> DType {
                match self { $(AnyLane::$variant(_) => DType::$variant,)* }
            }
        }

        $(
            impl ElementLanes for $type {
                type In<L: LaneBackend> = define_element_lanes!(@in $class $variant $type L);
                #[inline(always)]
                fn canonical_in<L: LaneBackend>(x: Self::In<L>) -> Self::In<L> {
                    define_element_lanes!(@canonical $class x)
                }
                fn into_any<L: LaneBackend>(x: Self::In<L>) -> AnyLane<L> { AnyLane::$variant(x) }
                fn from_any<L: LaneBackend>(any: AnyLane<L>) -> Option<Self::In<L>> {
                    match any { AnyLane::$variant(x) => Some(x), _ => None }
                }
            }
        )*
    };
    (@in half $variant:ident $type:ident $lanes:ident) => { $variant<$lanes::I16> };
    (@in float8 $variant:ident $type:ident $lanes:ident) => { $variant<$lanes::U8> };
    (@in nibble $variant:ident $type:ident $lanes:ident) => { $variant<$lanes::U8> };
    (@in complex $variant:ident $type:ident $lanes:ident) => {
        Complex<<<$type as Element>::Component as ElementLanes>::In<$lanes>>
    };
    (@in $class:ident $variant:ident $type:ident $lanes:ident) => { $lanes::$variant };
    (@canonical half $x:ident) => { $x.with_canonical_nan() };
    (@canonical float $x:ident) => { $x.with_canonical_nan() };
    (@canonical complex $x:ident) => { $x.with_canonical_nans() };
    (@canonical $class:ident $x:ident) => { $x };
}

crate::for_each_element!(define_element_lanes);

/// An element type whose operations compute in a wider type, and round once at the end.
///
/// This holds for the operations on 16-bit floats that the table of operations marks as `float`, and for
/// the operations on `c64` that it marks as `complex_widened`. The `float_exact` operations compute on the
/// bits of the type itself.
pub trait NarrowElement: Element {
    /// The type in which operations compute.
    type Wide: Element;
    /// The same value in the wider type; the sign of a NaN is kept.
    fn widen<L: LaneBackend>(x: Self::In<L>) -> <Self::Wide as ElementLanes>::In<L>;
}

/// Rounding of a result from the wider type. A truth value is unchanged.
pub trait FromWide<Wide: Element>: Element {
    /// The nearest value, half to even; overflow gives an infinity.
    fn from_wide<L: LaneBackend>(wide: Wide::In<L>) -> Self::In<L>;
}

macro_rules! define_half {
    ($($type:ident $widen:ident $round:ident;)*) => {$(
        impl NarrowElement for $type {
            type Wide = f32;
            #[inline(always)]
            fn widen<L: LaneBackend>(x: Self::In<L>) -> L::F32 { half::$widen::<L>(x) }
        }
        impl FromWide<f32> for $type {
            #[inline(always)]
            fn from_wide<L: LaneBackend>(wide: L::F32) -> Self::In<L> { half::$round::<L>(wide) }
        }
    )*};
}

define_half! { f16 widen_f16 round_to_f16; bf16 widen_bf16 round_to_bf16; }

impl NarrowElement for c64 {
    type Wide = c128;
    #[inline(always)]
    fn widen<L: LaneBackend>(x: Complex<L::F32>) -> Complex<L::F64> {
        Complex::new(x.re.cast(), x.im.cast())
    }
}

impl FromWide<c128> for c64 {
    #[inline(always)]
    fn from_wide<L: LaneBackend>(wide: Complex<L::F64>) -> Complex<L::F32> {
        Complex::new(wide.re.cast(), wide.im.cast()).with_canonical_nans()
    }
}

impl FromWide<bool> for bool {
    #[inline(always)]
    fn from_wide<L: LaneBackend>(wide: L::Bool) -> L::Bool {
        wide
    }
}
