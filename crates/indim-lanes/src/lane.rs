//! The algebra in which every operation is defined: lanes and lane back ends.
//!
//! A lane is one element in a computation. A *lane back end* ([`LaneBackend`]) has one lane type for
//! each machine type, with primitives and conversions. A *definition* of an operation is a generic
//! function over any lane back end. `scalars.rs` is the back end of Rust's scalars: with this back end a
//! definition runs in the reference evaluator, and Rust's compiler vectorises the definition in the
//! block kernels. A second back end, in `indim-codegen`, records the definition for machine code.
//!
//! Definitions are therefore straight-line code: no `if` on a lane, only `select`, and no library
//! mathematics. Every primitive has one defined result for every input, except for the bits of a NaN. All
//! back ends give the same bits, because every result NaN is made canonical.
//!
//! `indim-ops` holds the definitions, and maps element types to lanes.

/// Defines functions over a [`FloatLane`] that other definitions call. Each call is inlined, so that Rust's
/// compiler vectorises the caller. With a recording back end, all callers share one compiled copy instead.
#[doc(hidden)]
#[macro_export]
macro_rules! shared_by_recordings {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<$lane:ident: $bound:ident>(
            $($argument:ident: $type:ty),* $(,)?
        ) -> $result:ty $body:block
    )*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        $visibility fn $name<$lane: $bound>($($argument: $type),*) -> $result {
            #[inline(always)]
            fn inlined<$lane: $bound>($($argument: $type),*) -> $result $body
            #[inline(never)]
            fn shared<$lane: $bound>($($argument: $type),*) -> $result {
                inlined::<$lane>($($argument),*)
            }
            match const { $lane::IS_RECORDED } {
                true => shared::<$lane>($($argument),*),
                false => inlined::<$lane>($($argument),*),
            }
        }
    )*};
}

/// A lane back end: one lane type for each machine type, and the conversions between them.
///
/// ```
/// use indim_lanes::ScalarBackend;
/// use indim_lanes::lane::{Cast, FloatLane, LaneBackend};
///
/// /// `x / 2`, rounded towards zero.
/// fn half<L: LaneBackend>(x: L::I64) -> L::I32 {
///     let x: L::F64 = x.cast();
///     x.mul(FloatLane::constant(0.5)).cast()
/// }
/// assert_eq!(half::<ScalarBackend>(-7), -3);
/// assert_eq!(half::<ScalarBackend>(i64::MAX), i32::MAX);
/// ```
pub trait LaneBackend: Sized + 'static {
    /// Truth values.
    type Bool: BoolLane;
    /// 8-bit signed integers.
    type I8: IntLane + NumericLane<Self>;
    /// 16-bit signed integers; also the bits of the 16-bit floats, see `half.rs` of `indim-ops`.
    type I16: IntLane + NumericLane<Self>;
    /// 32-bit signed integers.
    type I32: IntLane + NumericLane<Self>;
    /// 64-bit signed integers.
    type I64: IntLane + NumericLane<Self>;
    /// 8-bit unsigned integers.
    type U8: IntLane + NumericLane<Self>;
    /// 16-bit unsigned integers.
    type U16: IntLane + NumericLane<Self>;
    /// 32-bit unsigned integers.
    type U32: IntLane + NumericLane<Self>;
    /// 64-bit unsigned integers.
    type U64: IntLane + NumericLane<Self>;
    /// IEEE 754 binary32.
    type F32: FloatLane<Bits = Self::I32, Wide = Self::F64> + NumericLane<Self>;
    /// IEEE 754 binary64.
    type F64: FloatLane<Bits = Self::I64, Wide = Self::F64> + NumericLane<Self>;
}

/// Conversion to another lane of the back end.
///
/// Integer to integer keeps the low bits or extends by the source's sign. Any number to a float gives the
/// nearest, half to even, and an infinity on overflow. Float to integer truncates and saturates; a NaN
/// gives 0.
pub trait Cast<To> {
    /// The converted lane.
    fn cast(self) -> To;
}

macro_rules! define_number {
    ($($lane:ident)*) => {
        /// A lane that converts to every number of its back end.
        pub trait NumericLane<L: LaneBackend>: Lane<Bool = L::Bool> $(+ Cast<L::$lane>)* {}

        impl<L: LaneBackend, T> NumericLane<L> for T where T: Lane<Bool = L::Bool> $(+ Cast<L::$lane>)* {}
    };
}

define_number!(I8 I16 I32 I64 U8 U16 U32 U64 F32 F64);

/// One element, with comparison and selection.
pub trait Lane: Copy {
    /// The result of comparisons.
    type Bool: BoolLane;

    /// `on_true` if `condition` holds, else `on_false`.
    fn select(condition: Self::Bool, on_true: Self, on_false: Self) -> Self;
    /// Equality; a NaN equals nothing.
    fn equal(self, other: Self) -> Self::Bool;
    /// Less than; false if an operand is a NaN. Among truth values, `false` is less than `true`.
    fn less(self, other: Self) -> Self::Bool;
}

/// A truth value.
pub trait BoolLane: Lane<Bool = Self> {
    /// The constant `value`.
    fn constant(value: bool) -> Self;
    /// Whether both are true.
    fn and(self, other: Self) -> Self;
    /// Whether at least one is true.
    fn or(self, other: Self) -> Self;
    /// Whether exactly one is true.
    fn xor(self, other: Self) -> Self;
    /// The opposite truth value.
    fn not(self) -> Self;
}

/// A two's-complement or unsigned integer; arithmetic wraps.
pub trait IntLane: Lane {
    /// The width in bits.
    const BITS: u32;

    /// The constant with the low bits of `value`.
    fn constant(value: i64) -> Self;
    /// The smallest value of the type.
    fn minimum() -> Self;
    /// Wrapping sum.
    fn add(self, other: Self) -> Self;
    /// Wrapping difference.
    fn sub(self, other: Self) -> Self;
    /// Wrapping product.
    fn mul(self, other: Self) -> Self;
    /// The upper half of the exact product, which has twice the width.
    fn mul_high(self, other: Self) -> Self;
    /// Truncated quotient, wrapping; 0 if `other` is 0.
    fn div_or_zero(self, other: Self) -> Self;
    /// Remainder with the dividend's sign, wrapping; 0 if `other` is 0.
    fn rem_or_zero(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise complement.
    fn not(self) -> Self;
    /// Left shift by the amount modulo the width.
    fn shl(self, amount: Self) -> Self;
    /// Right shift by the amount modulo the width, filled with zeros.
    fn shr_logical(self, amount: Self) -> Self;
    /// Right shift by the amount modulo the width, filled with copies of the top bit, for signed and
    /// unsigned lanes.
    fn shr_arithmetic(self, amount: Self) -> Self;
    /// Whether the value read as unsigned is less than `other` read as unsigned.
    fn less_unsigned(self, other: Self) -> Self::Bool;
    /// The number of zero bits above the highest one bit; the width in bits for the integer 0.
    fn leading_zeros(self) -> Self;
    /// The number of one bits.
    fn count_ones(self) -> Self;
    /// The low bits of the table's entry at `self` modulo `N`, a power of two: a gather that cannot
    /// leave the table. The low bits of `self` are the index, also if `self` is negative.
    fn lookup<const N: usize>(self, table: &[u64; N]) -> Self;
}

/// A binary float as a bit pattern.
pub trait FloatBits: Lane {
    /// The signed integer of the same width.
    type Bits: IntLane<Bool = Self::Bool>;
    /// Bits of the significand without the hidden one: 7, 10, 23 or 52.
    const MANTISSA_BITS: u32;
    /// The pattern of infinity.
    const INFINITY_BITS: i64 =
        ((1 << (Self::Bits::BITS - 1 - Self::MANTISSA_BITS)) - 1) << Self::MANTISSA_BITS;
    /// The pattern of the canonical NaN: positive, quiet, no payload.
    const NAN_BITS: i64 = Self::INFINITY_BITS | 1 << (Self::MANTISSA_BITS - 1);

    /// The bit pattern.
    fn to_bits(self) -> Self::Bits;
    /// The float of this bit pattern.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The float, with any NaN replaced by the canonical, positive quiet NaN. Processors produce
    /// different NaNs: an invalid operation gives a negative NaN on x86 and a positive one on aarch64
    /// and RISC-V; x86 and aarch64 propagate the payload of a NaN operand, RISC-V does not. A back end
    /// may override this with an instruction.
    ///
    /// The bits are compared as integers. Rust's compiler treats all NaNs as equal floats, so in optimised
    /// builds it drops a float selection between two NaNs (seen after `sqrt`).
    #[inline(always)]
    fn with_canonical_nan(self) -> Self {
        let bits = self.to_bits();
        // Without the sign, only NaNs are above infinity.
        let magnitude = bits.and(Self::Bits::minimum().not());
        let is_nan = Self::Bits::constant(Self::INFINITY_BITS).less(magnitude);
        Self::from_bits(Self::Bits::select(is_nan, Self::Bits::constant(Self::NAN_BITS), bits))
    }
}

/// An IEEE 754 binary float; every primitive rounds to nearest even, subnormals are kept.
pub trait FloatLane:
    FloatBits<Bits: Cast<Self>> + Cast<<Self as FloatBits>::Bits> + Cast<<Self as FloatLane>::Wide>
{
    /// The 64-bit float of the back end, in which a definition may compute when 32 bits do not suffice.
    type Wide: FloatLane<Bool = Self::Bool> + Cast<Self>;

    /// Whether the back end records definitions. If so, functions defined by [`shared_by_recordings`],
    /// which are large, are compiled once and called, not inlined.
    const IS_RECORDED: bool = false;

    /// The same value in 64 bits.
    #[inline(always)]
    fn widen(self) -> Self::Wide {
        self.cast()
    }
    /// `value` rounded to the type, half to even; overflow gives an infinity.
    #[inline(always)]
    fn narrow(value: Self::Wide) -> Self {
        value.cast()
    }
    /// Truncates to an integer. Values outside the integer's range saturate, and a NaN gives 0.
    #[inline(always)]
    fn to_int(self) -> Self::Bits {
        self.cast()
    }
    /// The nearest float, half to even.
    #[inline(always)]
    fn from_int(value: Self::Bits) -> Self {
        value.cast()
    }

    /// The constant `value`, rounded to the type.
    fn constant(value: f64) -> Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// Quotient.
    fn div(self, other: Self) -> Self;
    /// The exact remainder with the dividend's sign, as C's `fmod`.
    fn rem(self, other: Self) -> Self;
    /// `self * factor + addend` with one rounding.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The sign bit cleared.
    fn abs(self) -> Self;
    /// The sign bit flipped.
    fn neg(self) -> Self;
    /// The largest integer not above `self`.
    fn floor(self) -> Self;
    /// The smallest integer not below `self`.
    fn ceil(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// Nearest integer, half to even.
    fn round_even(self) -> Self;
}
