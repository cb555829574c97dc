//! Exact float functions that `core` lacks: from the standard library, or from `libm`, which gives the same
//! bits.

/// Float functions that are exact, or rounded once.
pub(crate) trait ExactFloat: Copy {
    /// `self * factor + addend` with one rounding.
    fn mul_add_once(self, factor: Self, addend: Self) -> Self;
    /// The nearest float to the square root.
    fn square_root(self) -> Self;
    /// The largest integer that is not above `self`.
    fn round_down(self) -> Self;
    /// The smallest integer that is not below `self`.
    fn round_up(self) -> Self;
    /// The integer part.
    fn round_to_zero(self) -> Self;
    /// The nearest integer, half to even.
    fn round_to_even(self) -> Self;
}

#[cfg(feature = "std")]
macro_rules! exact_float {
    ($type:ident $($of_libm:ident)*) => {
        impl ExactFloat for $type {
            #[inline(always)]
            fn mul_add_once(self, factor: Self, addend: Self) -> Self {
                self.mul_add(factor, addend)
            }
            #[inline(always)]
            fn square_root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn round_down(self) -> Self {
                self.floor()
            }
            #[inline(always)]
            fn round_up(self) -> Self {
                self.ceil()
            }
            #[inline(always)]
            fn round_to_zero(self) -> Self {
                self.trunc()
            }
            #[inline(always)]
            fn round_to_even(self) -> Self {
                self.round_ties_even()
            }
        }
    };
}

#[cfg(not(feature = "std"))]
macro_rules! exact_float {
    ($type:ident $fma:ident $sqrt:ident $floor:ident $ceil:ident $trunc:ident $rint:ident) => {
        impl ExactFloat for $type {
            #[inline(always)]
            fn mul_add_once(self, factor: Self, addend: Self) -> Self {
                libm::$fma(self, factor, addend)
            }
            #[inline(always)]
            fn square_root(self) -> Self {
                libm::$sqrt(self)
            }
            #[inline(always)]
            fn round_down(self) -> Self {
                libm::$floor(self)
            }
            #[inline(always)]
            fn round_up(self) -> Self {
                libm::$ceil(self)
            }
            #[inline(always)]
            fn round_to_zero(self) -> Self {
                libm::$trunc(self)
            }
            #[inline(always)]
            fn round_to_even(self) -> Self {
                libm::$rint(self)
            }
        }
    };
}

exact_float!(f32 fmaf sqrtf floorf ceilf truncf rintf);
exact_float!(f64 fma sqrt floor ceil trunc rint);

#[cfg(all(not(feature = "std"), not(feature = "libm")))]
compile_error!("without the feature `std`, indim-lanes needs the feature `libm`");
