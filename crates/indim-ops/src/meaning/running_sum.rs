//! The sequential sums of scatters: floats in `f64`, complex numbers in `c128`, rounded once at the end;
//! integers wrap.

use crate::meaning::convert::ConvertTo;
use crate::{DType, Element, Fold, ScalarBackend, bf16, c64, c128, f16, operations};

/// An element type that can be summed one element after another.
pub trait RunningSum: Element {
    /// The type of the accumulator.
    type Sum: Element;

    /// The accumulator after one element.
    fn begin(self) -> Self::Sum;

    /// The accumulator after one more element; a NaN may have any bits.
    fn plus(sum: Self::Sum, element: Self) -> Self::Sum;

    /// The rounded sum; a NaN is canonical.
    fn finish(sum: Self::Sum) -> Self;
}

macro_rules! running_sums {
    ($($type:ident $sum:ident;)*) => {
        $(impl RunningSum for $type {
            type Sum = $sum;

            #[inline(always)]
            fn begin(self) -> $sum {
                ConvertTo::<$sum>::convert(self)
            }

            #[inline(always)]
            fn plus(sum: $sum, element: $type) -> $sum {
                <operations::Add as Fold<$sum>>::combine::<ScalarBackend>(sum, element.begin())
            }

            #[inline(always)]
            fn finish(sum: $sum) -> $type {
                ConvertTo::<$type>::convert(sum)
            }
        })*
    };
}

running_sums! {
    i8 i8; i16 i16; i32 i32; i64 i64; u8 u8; u16 u16; u32 u32; u64 u64;
    f16 f64; bf16 f64; f32 f64; f64 f64; c64 c128; c128 c128;
}

/// Whether elements of this type have a running sum: all except truth values.
pub fn has_running_sum(dtype: DType) -> bool {
    dtype != DType::Bool
}
