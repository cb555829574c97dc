//! Scalars on which every NaN that an operation makes has the sign that the type says.

use indim_ops::{lane::FloatBits, lane::FloatLane, lane::Lane};

/// A float whose arithmetic makes negative NaNs, as x86 does, or positive ones, as Arm and RISC-V do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signed<T, const NEGATIVE: bool>(pub(crate) T);

macro_rules! signed_lane {
    ($($type:ident $bits:ident $mantissa:literal;)*) => {$(
        impl<const NEGATIVE: bool> Signed<$type, NEGATIVE> {
            /// What an operation made.
            fn made(value: $type) -> Self {
                let nan = if NEGATIVE { -$type::NAN } else { $type::NAN };
                Signed(if value.is_nan() { nan } else { value })
            }
        }

        impl<const NEGATIVE: bool> Lane for Signed<$type, NEGATIVE> {
            type Bool = bool;
            fn select(condition: bool, on_true: Self, on_false: Self) -> Self {
                if condition { on_true } else { on_false }
            }
            fn equal(self, other: Self) -> bool { self.0 == other.0 }
            fn less(self, other: Self) -> bool { self.0 < other.0 }
        }

        impl<const NEGATIVE: bool> FloatBits for Signed<$type, NEGATIVE> {
            type Bits = $bits;
            fn to_bits(self) -> $bits { FloatBits::to_bits(self.0) }
            fn from_bits(bits: $bits) -> Self { Signed(FloatBits::from_bits(bits)) }
        }

        impl<const NEGATIVE: bool> FloatLane for Signed<$type, NEGATIVE> {
            type Wide = Signed<f64, NEGATIVE>;
            const MANTISSA_BITS: u32 = $mantissa;
            fn widen(self) -> Self::Wide { Signed::<f64, NEGATIVE>::made(self.0.widen()) }
            fn narrow(value: Self::Wide) -> Self { Self::made(FloatLane::narrow(value.0)) }
            fn constant(value: f64) -> Self { Self::made(FloatLane::constant(value)) }
            fn to_int(self) -> $bits { self.0.to_int() }
            fn from_int(value: $bits) -> Self { Signed(FloatLane::from_int(value)) }
            fn add(self, other: Self) -> Self { Self::made(self.0 + other.0) }
            fn sub(self, other: Self) -> Self { Self::made(self.0 - other.0) }
            fn mul(self, other: Self) -> Self { Self::made(self.0 * other.0) }
            fn div(self, other: Self) -> Self { Self::made(self.0 / other.0) }
            fn rem(self, other: Self) -> Self { Self::made(self.0 % other.0) }
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                Self::made(self.0.mul_add(factor.0, addend.0))
            }
            fn sqrt(self) -> Self { Self::made(self.0.sqrt()) }
            // These two are operations on bits.
            fn abs(self) -> Self { Signed(self.0.abs()) }
            fn neg(self) -> Self { Signed(-self.0) }
            fn floor(self) -> Self { Self::made(self.0.floor()) }
            fn ceil(self) -> Self { Self::made(self.0.ceil()) }
            fn trunc(self) -> Self { Self::made(self.0.trunc()) }
            fn round_even(self) -> Self { Self::made(FloatLane::round_even(self.0)) }
        }
    )*};
}

signed_lane! {
    f32 i32 23;
    f64 i64 52;
}
