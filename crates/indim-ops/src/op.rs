//! The table of element-wise operations, and code generated from it.
//!
//! A row has the name, the classes of element types, the result type, facts, names in other systems, and
//! the documentation with the edge cases. The definition has the same name in `meaning/`, in the module of
//! each class. To add an operation, write its row here and its definition in `meaning/`; the compiler
//! reports a missing definition.
//!
//! The only operation on storage types is `select`. Views, which move them, and conversions are no
//! operations of this table.
//!
//! The table has three words for element types besides the classes:
//!
//! - `float_exact`: floats; each type computes on its own bits, while `float` computes in `f32` for the
//!   16-bit types;
//! - `complex_widened`: complex numbers; `c64` too computes in `c128`, while `complex` computes in the type
//!   itself;
//! - `f32_f64`: the floats that are parts of a complex type.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::dtype::DType;
use crate::element::Element;
use crate::element::elements::*;
use crate::element_lanes::{ElementLanes, FromWide, NarrowElement};
use crate::meaning;
use indim_lanes::ScalarBackend;
use indim_lanes::lane::LaneBackend;

/// Passes the table of operations to another macro.
#[macro_export]
macro_rules! for_each_op {
    ($callback:ident) => {
        $callback! {
            unary {
                /// `-x`. Integers wrap; the sign of a zero flips.
                neg = Neg [signed unsigned float complex] -> same, [exact cheap], ["negate", "negative"];
                /// The magnitude. `abs(MIN) = MIN`; the modulus of a complex number.
                abs = Abs [signed float complex] -> component, [exact cheap], ["absolute", "fabs"];
                /// -1, 0 or 1. A NaN stays a NaN, a zero keeps its sign.
                sign = Sign [signed unsigned float complex_widened] -> same, [exact], [];
                /// Logical on `bool`, bitwise on integers.
                not = Not [boolean signed unsigned] -> same,
                    [exact cheap], ["logical_not", "bitwise_not", "invert", "bitwise_invert"];
                /// The number of one bits.
                popcnt = Popcnt [signed unsigned] -> same, [exact], ["population_count", "bitwise_count"];
                /// The number of leading zero bits; the width for 0.
                clz = Clz [signed unsigned] -> same, [exact], ["count_leading_zeros"];
                /// The largest integer not above `x`; -0 is kept.
                floor = Floor [float] -> same, [exact], [];
                /// The smallest integer not below `x`; `ceil(-0.5) = -0`.
                ceil = Ceil [float] -> same, [exact], ["ceiling"];
                /// The integer part, towards zero; the sign of a zero result is kept.
                trunc = Trunc [float] -> same, [exact], [];
                /// The nearest integer, ties to even; the sign of a zero result is kept.
                round_even = RoundEven [float] -> same, [exact], ["round_nearest_even", "rint"];
                /// The nearest integer, ties away from zero; the sign of a zero result is kept.
                round_away = RoundAway [float] -> same, [exact], ["round_nearest_afz"];
                /// Whether `x` is neither infinite nor a NaN.
                is_finite = IsFinite [float complex] -> boolean, [exact], ["isfinite"];
                /// Whether `x` is a NaN.
                is_nan = IsNan [float complex] -> boolean, [exact], ["isnan"];
                /// Whether `x` is infinite.
                is_inf = IsInf [float complex] -> boolean, [exact], ["isinf"];
                /// The real part; a float is its own.
                real = Real [float complex] -> component, [exact], [];
                /// The imaginary part; 0 for a float.
                imag = Imag [float complex] -> component, [exact], [];
                /// The complex conjugate: the sign of the imaginary part flips. A float is unchanged.
                conj = Conj [float complex] -> same, [exact cheap], ["conjugate"];
                /// `x * x`, of floats and complex numbers. For integers, multiply instead.
                square = Square [float complex] -> same, [cheap], [];
                /// `1 / x`.
                reciprocal = Reciprocal [float complex_widened] -> same, [], [];
                /// The square root, correctly rounded; `sqrt(-0) = -0`; a NaN below zero.
                sqrt = Sqrt [float complex_widened] -> same, [cheap], [];
                /// `1 / sqrt(x)`; `rsqrt(±0) = ±inf`, `rsqrt(inf) = 0`; a NaN below zero.
                rsqrt = Rsqrt [float complex_widened] -> same, [], ["reciprocal_sqrt"];
                /// `e^x`; `exp(-inf) = 0`.
                exp = Exp [float complex_widened] -> same, [], ["exponential"];
                /// `2^x`, exact for an integer `x`.
                exp2 = Exp2 [float] -> same, [], [];
                /// `e^x - 1` without cancellation; `expm1(-0) = -0`, `expm1(-inf) = -1`.
                expm1 = Expm1 [float complex_widened] -> same, [], ["exponential_minus_one"];
                /// The natural logarithm; `log(±0) = -inf`; a NaN below zero.
                log = Log [float complex_widened] -> same, [], ["ln"];
                /// The logarithm to base 2, exact for a power of two; `log2(±0) = -inf`; a NaN below
                /// zero.
                log2 = Log2 [float] -> same, [], [];
                /// The logarithm to base 10; `log10(±0) = -inf`; a NaN below zero.
                log10 = Log10 [float] -> same, [], [];
                /// `log(1 + x)` without cancellation; `log1p(-0) = -0`, `log1p(-1) = -inf`; a NaN
                /// below -1.
                log1p = Log1p [float complex_widened] -> same, [], ["log_plus_one"];
                /// The sine of `x` radians, reduced exactly over the full range; `sin(-0) = -0`; a
                /// NaN for an infinity.
                sin = Sin [float complex_widened] -> same, [], ["sine"];
                /// The cosine of `x` radians, reduced exactly over the full range; a NaN for an infinity.
                cos = Cos [float complex_widened] -> same, [], ["cosine"];
                /// The tangent of `x` radians, reduced exactly over the full range; `tan(-0) = -0`; a
                /// NaN for an infinity.
                tan = Tan [float complex_widened] -> same, [], [];
                /// The hyperbolic tangent; `tanh(-0) = -0`, `tanh(±inf) = ±1`.
                tanh = Tanh [float complex_widened] -> same, [], [];
                /// The cube root, with the sign of `x`; `cbrt(-0) = -0`.
                cbrt = Cbrt [float] -> same, [], [];
                /// The arc sine; `asin(-0) = -0`; a NaN outside -1 ... 1.
                asin = Asin [float complex_widened] -> same, [], ["arcsin"];
                /// The arc cosine; a NaN outside -1 ... 1.
                acos = Acos [float complex_widened] -> same, [], ["arccos"];
                /// The arc tangent; `atan(-0) = -0`, `atan(±inf) = ±π/2`.
                atan = Atan [float complex_widened] -> same, [], ["arctan"];
                /// The hyperbolic sine; `sinh(-0) = -0`.
                sinh = Sinh [float complex_widened] -> same, [], [];
                /// The hyperbolic cosine.
                cosh = Cosh [float complex_widened] -> same, [], [];
                /// The inverse hyperbolic sine; `asinh(-0) = -0`.
                asinh = Asinh [float complex_widened] -> same, [], ["arcsinh"];
                /// The inverse hyperbolic cosine; a NaN below 1.
                acosh = Acosh [float complex_widened] -> same, [], ["arccosh"];
                /// The inverse hyperbolic tangent; `atanh(-0) = -0`, `atanh(±1) = ±inf`, a NaN
                /// beyond.
                atanh = Atanh [float complex_widened] -> same, [], ["arctanh"];
                /// The error function; `erf(-0) = -0`, `erf(±inf) = ±1`.
                erf = Erf [float] -> same, [], [];
                /// `1 - erf(x)` without cancellation; `erfc(-inf) = 2`, `erfc(inf) = 0`.
                erfc = Erfc [float] -> same, [], [];
                /// The inverse of `erf`; `erf_inv(-0) = -0`, `erf_inv(±1) = ±inf`, a NaN
                /// beyond.
                erf_inv = ErfInv [float] -> same, [], ["erfinv"];
                /// The logarithm of the magnitude of the gamma function; `lgamma(1) = lgamma(2) = +0`,
                /// infinite at 0, at negative integers and at both infinities.
                lgamma = Lgamma [float] -> same, [], ["gammaln"];
                /// The derivative of `lgamma`; `digamma(±0) = ∓inf`, `digamma(inf) = inf`; a NaN at
                /// negative integers and at `-inf`.
                digamma = Digamma [float] -> same, [], ["psi"];
                /// The derivative of `digamma`, which is `polygamma(1, x)`; `inf` at 0 and at negative
                /// integers, `trigamma(inf) = 0`; a NaN at `-inf`.
                trigamma = Trigamma [float] -> same, [], [];
                /// `1 / (1 + e^-x)`; `logistic(-inf) = 0`, `logistic(inf) = 1`.
                logistic = Logistic [float complex_widened] -> same, [], ["sigmoid", "expit"];
            }
            binary {
                /// `x + y`. Integers wrap; `bool` is logical or.
                add = Add [boolean signed unsigned float complex] -> same, [commutative cheap], [];
                /// `x - y`. Integers wrap.
                sub = Sub [signed unsigned float complex] -> same, [cheap], ["subtract"];
                /// `x * y`. Integers wrap; `bool` is logical and. A complex product rounds each of its four
                /// products and both sums, so a part whose terms cancel keeps their errors.
                mul = Mul [boolean signed unsigned float complex] -> same, [commutative cheap], ["multiply"];
                /// `x / y`. Integers truncate; `x / 0` has all bits set (-1, or the unsigned maximum), `MIN /
                /// -1 = MIN`.
                div = Div [signed unsigned float complex_widened] -> same, [cheap], ["divide"];
                /// The quotient rounded down, like Python's `//`. An integer divided by 0 gives 0.
                floor_div = FloorDiv [signed unsigned float] -> same, [], ["floor_divide"];
                /// The remainder with the divisor's sign, like Python's `%`. An integer divided by 0 gives 0.
                py_mod = PyMod [signed unsigned float] -> same, [], ["floor_mod"];
                /// The remainder with the dividend's sign, like C's `fmod`. For integers `x rem 0 = x`.
                rem = Rem [signed unsigned float] -> same, [exact], ["fmod"];
                /// The larger; a NaN from either side wins, `max(-0, +0) = +0`. `bool` is or.
                max = Max [boolean signed unsigned float] -> same,
                    [commutative orders exact cheap], ["maximum"];
                /// The smaller; a NaN from either side wins, `min(+0, -0) = -0`. `bool` is and.
                min = Min [boolean signed unsigned float] -> same,
                    [commutative orders exact cheap], ["minimum"];
                /// `x^y`. Floats: like C's `pow`, so `x^0 = 1` and `1^y = 1` even with a NaN, and a negative
                /// `x` to a fraction is a NaN; `(-inf)^0.5 = inf` and `(-0)^0.5 = 0`, unlike `sqrt`. Whole
                /// exponents from -3 to 16 and halves from -2.5 to 2.5 are products, with a division or a
                /// square root; `x^2`, `x^-1` and `x^0.5` are correctly rounded. Integers wrap; `x^0 = 1`;
                /// with a negative exponent 1 gives 1, -1 gives ±1, and any other base 0.
                pow = Pow [signed unsigned float complex_widened] -> same, [], ["power"];
                /// The angle of the point with ordinate `x` (the first operand) and abscissa `y`, from -π to
                /// π; the special cases of C's `atan2`.
                atan2 = Atan2 [float] -> same, [], ["arctan2"];
                /// `sqrt(x² + y²)` without overflow; infinite if either operand is, even if the other is a
                /// NaN.
                hypot = Hypot [float] -> same, [commutative], [];
                /// The magnitude of `x` with the sign of `y`, also of a zero; the canonical NaN if `x` is a
                /// NaN.
                copysign = Copysign [float] -> same, [exact], ["copy_sign"];
                /// `log(e^x + e^y)` without overflow; `logaddexp(-inf, y) = y`, `logaddexp(inf, y) = inf`. If
                /// the result is near 0 and the larger operand is not, the terms cancel; see the section on
                /// accuracy.
                logaddexp = Logaddexp [float] -> same, [commutative], ["log_add_exp"];
                /// The next float of the type after `x`, towards `y`; `y` if they are equal, the smallest
                /// subnormal from 0.
                nextafter = Nextafter [float_exact] -> same, [], ["next_after"];
                /// The larger; a number wins over a NaN, `fmax(-0, +0) = +0`.
                fmax = Fmax [float] -> same, [commutative orders exact], [];
                /// The smaller; a number wins over a NaN, `fmin(+0, -0) = -0`.
                fmin = Fmin [float] -> same, [commutative orders exact], [];
                /// `x` if `x ≥ 0`, else `y * x`: the second operand is the slope, broadcast by the given
                /// rule.
                prelu = Prelu [float] -> same, [], ["parametric_relu"];
                /// `x + y j`, for two floats of equal type.
                complex = Complex [f32_f64] -> complex, [exact], [];
                /// The upper half of the exact product, which has twice the width.
                mulhi = Mulhi [signed unsigned] -> same, [commutative], ["mul_high"];
                /// `(x - y)²`. Integers wrap.
                squared_difference = SquaredDifference [signed unsigned float complex] -> same, [], [];
                /// Bitwise and; logical on `bool`.
                and = And [boolean signed unsigned] -> same,
                    [commutative exact cheap], ["logical_and", "bitwise_and"];
                /// Bitwise or; logical on `bool`.
                or = Or [boolean signed unsigned] -> same,
                    [commutative exact cheap], ["logical_or", "bitwise_or"];
                /// Bitwise exclusive or; logical on `bool`.
                xor = Xor [boolean signed unsigned] -> same,
                    [commutative exact cheap], ["logical_xor", "bitwise_xor"];
                /// Left shift. An amount that is negative or not below the width gives 0.
                shl = Shl [signed unsigned] -> same,
                    [exact], ["shift_left", "left_shift", "bitwise_left_shift"];
                /// Right shift with copies of the top bit, also on unsigned types; an amount that is negative
                /// or not below the width gives the sign fill.
                shr_arithmetic = ShrArithmetic [signed unsigned] -> same, [exact], ["shift_right_arithmetic"];
                /// Right shift with zeros. An amount that is negative or not below the width gives 0.
                shr_logical = ShrLogical [signed unsigned] -> same, [exact], ["shift_right_logical"];
                /// `x = y`; false with a NaN.
                eq = Eq [boolean signed unsigned float complex] -> boolean,
                    [commutative exact cheap], ["equal"];
                /// `x ≠ y`; true with a NaN.
                ne = Ne [boolean signed unsigned float complex] -> boolean,
                    [commutative exact cheap], ["not_equal"];
                /// `x < y`; false with a NaN, and false < true.
                lt = Lt [boolean signed unsigned float] -> boolean,
                    [mirrors(Gt) orders exact cheap], ["less"];
                /// `x ≤ y`; false with a NaN.
                le = Le [boolean signed unsigned float] -> boolean,
                    [mirrors(Ge) orders exact cheap], ["less_equal"];
                /// `x > y`; false with a NaN.
                gt = Gt [boolean signed unsigned float] -> boolean,
                    [mirrors(Lt) orders exact cheap], ["greater"];
                /// `x ≥ y`; false with a NaN.
                ge = Ge [boolean signed unsigned float] -> boolean,
                    [mirrors(Le) orders exact cheap], ["greater_equal"];
                /// `x = y` in the total order -NaN < -inf < … < -0 < +0 < … < inf < NaN; NaNs by their
                /// payloads.
                total_eq = TotalEq [float_exact] -> boolean, [commutative exact], [];
                /// `x ≠ y` in the order of `total_eq`.
                total_ne = TotalNe [float_exact] -> boolean, [commutative exact], [];
                /// `x < y` in the order of `total_eq`.
                total_lt = TotalLt [float_exact] -> boolean, [mirrors(TotalGt) exact], [];
                /// `x ≤ y` in the order of `total_eq`.
                total_le = TotalLe [float_exact] -> boolean, [mirrors(TotalGe) exact], [];
                /// `x > y` in the order of `total_eq`.
                total_gt = TotalGt [float_exact] -> boolean, [mirrors(TotalLt) exact], [];
                /// `x ≥ y` in the order of `total_eq`.
                total_ge = TotalGe [float_exact] -> boolean, [mirrors(TotalLe) exact], [];
            }
            ternary {
                /// `on_true` if the first operand, a `bool`, holds, else `on_false`; the unselected value
                /// never affects the result.
                select = Select (boolean, same, same) [boolean signed unsigned float complex storage] -> same,
                    [exact cheap], ["where"];
                /// `min(max(x, low), high)` for the operands low, x, high. A NaN in any gives a NaN; `low >
                /// high` gives `high`.
                clamp = Clamp (same, same, same) [signed unsigned float] -> same, [orders exact], [];
                /// `x * y + z` with one rounding.
                fma = Fma (same, same, same) [float] -> same, [], [];
            }
        }
    };
}

/// The number of operands of an operation.
///
/// ```
/// use indim_ops::{Arity, Op};
/// assert_eq!((Op::Clamp.arity(), Arity::Ternary.count()), (Arity::Ternary, 3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arity {
    /// One operand.
    Unary,
    /// Two operands of the same element type.
    Binary,
    /// Three operands.
    Ternary,
}

impl Arity {
    /// The number of operands.
    pub const fn count(self) -> usize {
        match self {
            Arity::Unary => 1,
            Arity::Binary => 2,
            Arity::Ternary => 3,
        }
    }
}

/// The element type of a result, derived from those of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ResultType {
    Same,
    Boolean,
    Component,
    Complex,
}

impl ResultType {
    const fn of(self, operand: DType) -> DType {
        match (self, operand) {
            (ResultType::Boolean, _) => DType::Bool,
            (ResultType::Component, DType::C64) => DType::F32,
            (ResultType::Component, DType::C128) => DType::F64,
            (ResultType::Complex, DType::F32) => DType::C64,
            (ResultType::Complex, DType::F64) => DType::C128,
            _ => operand,
        }
    }
}

/// A property of an operation. `tests/facts.rs` checks every property except [`Fact::Cheap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fact {
    /// Exchanging the operands gives the same bits, for every element type.
    Commutative,
    /// With exchanged operands the operation is this other operation.
    Mirrors(Op),
    /// The operation compares elements as smaller or larger; complex numbers have no such order.
    Orders,
    /// Results of real operands are exact.
    Exact,
    /// For most element types the operation costs no more than moving its operands.
    Cheap,
}

impl Fact {
    /// Equality, evaluated at compile time.
    const fn is_same(self, other: Fact) -> bool {
        match (self, other) {
            (Fact::Mirrors(first), Fact::Mirrors(second)) => first as usize == second as usize,
            (Fact::Commutative, Fact::Commutative)
            | (Fact::Orders, Fact::Orders)
            | (Fact::Exact, Fact::Exact)
            | (Fact::Cheap, Fact::Cheap) => true,
            _ => false,
        }
    }
}

/// One element of type `T` in the lane back end `L`.
type In<T, L> = <T as ElementLanes>::In<L>;

/// An operation as a type.
pub trait OpType: 'static {
    /// The operation as a value.
    const OP: Op;
}

/// An operation of one operand on elements of type `T`.
pub trait Unary<T: Element>: OpType {
    /// The element type of the result.
    type Result: Element;
    /// The result for one element, in any lane back end; NaNs are canonical.
    fn apply_in<L: LaneBackend>(x: T::In<L>) -> In<Self::Result, L>;

    /// The result for one element.
    ///
    /// ```
    /// use indim_ops::{Unary, operations::Abs};
    /// assert_eq!(Abs::apply(-3), 3);
    /// ```
    #[inline(always)]
    fn apply(x: T) -> Self::Result {
        Self::apply_in::<ScalarBackend>(x)
    }

    /// Like [`Unary::apply`], compiled once in this crate and never inlined: for code that is rarely run.
    ///
    /// ```
    /// use indim_ops::{Unary, operations::Abs};
    /// assert_eq!(Abs::call(-3), 3);
    /// ```
    fn call(x: T) -> Self::Result;
}

/// An operation of two operands on elements of type `T`.
pub trait Binary<T: Element>: OpType {
    /// The element type of the result.
    type Result: Element;
    /// The result for one element, in any lane back end; NaNs are canonical.
    fn apply_in<L: LaneBackend>(x: T::In<L>, y: T::In<L>) -> In<Self::Result, L>;

    /// The result for one element of each operand.
    #[inline(always)]
    fn apply(x: T, y: T) -> Self::Result {
        Self::apply_in::<ScalarBackend>(x, y)
    }

    /// Like [`Binary::apply`], compiled once in this crate and never inlined: for code that is rarely run.
    fn call(x: T, y: T) -> Self::Result;
}

/// An operation of three operands, the last two of type `T`.
pub trait Ternary<T: Element>: OpType {
    /// The element type of the first operand.
    type First: Element;
    /// The element type of the result.
    type Result: Element;
    /// The result for one element, in any lane back end; NaNs are canonical.
    fn apply_in<L: LaneBackend>(
        first: In<Self::First, L>,
        x: T::In<L>,
        y: T::In<L>,
    ) -> In<Self::Result, L>;

    /// The result for one element of each operand.
    #[inline(always)]
    fn apply(first: Self::First, x: T, y: T) -> Self::Result {
        Self::apply_in::<ScalarBackend>(first, x, y)
    }

    /// Like [`Ternary::apply`], compiled once in this crate and never inlined: for code that is rarely run.
    fn call(first: Self::First, x: T, y: T) -> Self::Result;
}

/// A visitor that gets an operation and an element type as types; see [`Op::visit`].
///
/// The `widened` methods are called for operations that compute in a wider type. By default each calls the
/// method without `widened` in its name.
pub trait OpVisitor: Sized {
    /// The result of each method.
    type Output;
    /// Called for an operation of one operand.
    fn unary<O: Unary<T> + 'static, T: Element>(self) -> Self::Output;
    /// Called for an operation of two operands.
    fn binary<O: Binary<T> + 'static, T: Element>(self) -> Self::Output;
    /// Called for an operation of three operands.
    fn ternary<O: Ternary<T> + 'static, T: Element>(self) -> Self::Output;

    /// Called for an operation of one operand that computes in a wider type.
    fn widened_unary<O, T>(self) -> Self::Output
    where
        O: Unary<T, Result: FromWide<<O as Unary<T::Wide>>::Result>> + Unary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.unary::<O, T>()
    }

    /// Called for an operation of two operands that computes in a wider type.
    fn widened_binary<O, T>(self) -> Self::Output
    where
        O: Binary<T, Result: FromWide<<O as Binary<T::Wide>>::Result>> + Binary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.binary::<O, T>()
    }

    /// Called for an operation of three operands that computes in a wider type.
    fn widened_ternary<O, T>(self) -> Self::Output
    where
        O: Ternary<T, Result: FromWide<<O as Ternary<T::Wide>>::Result>>
            + Ternary<T::Wide>
            + 'static,
        T: NarrowElement,
    {
        self.ternary::<O, T>()
    }
}

/// Whether an element type belongs to a word of the table.
#[doc(hidden)]
#[macro_export]
macro_rules! is_of_word {
    (boolean $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Bool)
    };
    (signed $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Signed)
    };
    (unsigned $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Unsigned)
    };
    (float $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Float)
    };
    (float_exact $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Float)
    };
    (f32_f64 $dtype:ident) => {
        matches!($dtype, $crate::DType::F32 | $crate::DType::F64)
    };
    (complex $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Complex)
    };
    (complex_widened $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Complex)
    };
    (storage $dtype:ident) => {
        matches!($dtype.class(), $crate::DTypeClass::Storage)
    };
    // Only for reductions and compositions.
    (f64_c128 $dtype:ident) => {
        matches!($dtype, $crate::DType::F64 | $crate::DType::C128)
    };
}

macro_rules! result_type {
    (same) => {
        ResultType::Same
    };
    (boolean) => {
        ResultType::Boolean
    };
    (component) => {
        ResultType::Component
    };
    (complex) => {
        ResultType::Complex
    };
}

macro_rules! result_element {
    (same, $type:ty) => {
        $type
    };
    (boolean, $type:ty) => {
        bool
    };
    (component, $type:ty) => {
        <$type as Element>::Component
    };
    (complex, $type:ty) => {
        crate::complex::Complex<$type>
    };
}

macro_rules! widen_first {
    (boolean, $type:ident $first:ident) => {
        $first
    };
    (same, $type:ident $first:ident) => {
        <$type as NarrowElement>::widen::<L>($first)
    };
}

macro_rules! fact {
    (commutative) => {
        Fact::Commutative
    };
    (orders) => {
        Fact::Orders
    };
    (exact) => {
        Fact::Exact
    };
    (cheap) => {
        Fact::Cheap
    };
    (mirrors ($other:ident)) => {
        Fact::Mirrors(Op::$other)
    };
}

/// Expands `$with!(args, Variant type module)` for each element type of a word. `module` is the module of
/// the definition in `meaning/`; the word `widened` stands for the definition of the wider type.
macro_rules! for_class {
    (boolean, $with:ident, $args:tt) => { $with!($args, Bool bool boolean); };
    (signed, $with:ident, $args:tt) => {
        $with!($args, I8 i8 integer); $with!($args, I16 i16 integer);
        $with!($args, I32 i32 integer); $with!($args, I64 i64 integer);
    };
    (unsigned, $with:ident, $args:tt) => {
        $with!($args, U8 u8 integer); $with!($args, U16 u16 integer);
        $with!($args, U32 u32 integer); $with!($args, U64 u64 integer);
    };
    (float, $with:ident, $args:tt) => { for_class!(floats, widened float, $with, $args); };
    (float_exact, $with:ident, $args:tt) => { for_class!(floats, float_bits float_bits, $with, $args); };
    (floats, $narrow:ident $own:ident, $with:ident, $args:tt) => {
        $with!($args, F16 f16 $narrow); $with!($args, Bf16 bf16 $narrow);
        $with!($args, F32 f32 $own); $with!($args, F64 f64 $own);
    };
    (f32_f64, $with:ident, $args:tt) => {
        $with!($args, F32 f32 float); $with!($args, F64 f64 float);
    };
    (f64_c128, $with:ident, $args:tt) => {
        $with!($args, F64 f64 float); $with!($args, C128 c128 complex);
    };
    (complex, $with:ident, $args:tt) => {
        $with!($args, C64 c64 complex); $with!($args, C128 c128 complex);
    };
    (complex_widened, $with:ident, $args:tt) => {
        $with!($args, C64 c64 widened); $with!($args, C128 c128 complex);
    };
    (storage, $with:ident, $args:tt) => {
        $with!($args, F8E4m3fn f8e4m3fn storage); $with!($args, F8E5m2 f8e5m2 storage);
        $with!($args, F8E4m3fnuz f8e4m3fnuz storage); $with!($args, F8E5m2fnuz f8e5m2fnuz storage);
        $with!($args, F8E4m3b11fnuz f8e4m3b11fnuz storage);
        $with!($args, I4 i4 storage); $with!($args, U4 u4 storage);
    };
}

pub(crate) use {for_class, is_of_word};

macro_rules! implement {
    ((unary $name:ident $op:ident $result:ident), $variant:ident $type:ident widened) => {
        impl Unary<$type> for $op {
            type Result = result_element!($result, $type);
            #[inline(always)]
            fn apply_in<L: LaneBackend>(x: In<$type, L>) -> In<Self::Result, L> {
                let x = <$type as NarrowElement>::widen::<L>(x);
                let wide = <Self as Unary<<$type as NarrowElement>::Wide>>::apply_in::<L>(x);
                <Self::Result as FromWide<_>>::from_wide::<L>(wide)
            }
            #[inline(never)]
            fn call(x: $type) -> Self::Result {
                let x = <$type as NarrowElement>::widen::<ScalarBackend>(x);
                let wide = <Self as Unary<<$type as NarrowElement>::Wide>>::call(x);
                <Self::Result as FromWide<_>>::from_wide::<ScalarBackend>(wide)
            }
        }
    };
    ((binary $name:ident $op:ident $result:ident), $variant:ident $type:ident widened) => {
        impl Binary<$type> for $op {
            type Result = result_element!($result, $type);
            #[inline(always)]
            fn apply_in<L: LaneBackend>(x: In<$type, L>, y: In<$type, L>) -> In<Self::Result, L> {
                let x = <$type as NarrowElement>::widen::<L>(x);
                let y = <$type as NarrowElement>::widen::<L>(y);
                let wide = <Self as Binary<<$type as NarrowElement>::Wide>>::apply_in::<L>(x, y);
                <Self::Result as FromWide<_>>::from_wide::<L>(wide)
            }
            #[inline(never)]
            fn call(x: $type, y: $type) -> Self::Result {
                let x = <$type as NarrowElement>::widen::<ScalarBackend>(x);
                let y = <$type as NarrowElement>::widen::<ScalarBackend>(y);
                let wide = <Self as Binary<<$type as NarrowElement>::Wide>>::call(x, y);
                <Self::Result as FromWide<_>>::from_wide::<ScalarBackend>(wide)
            }
        }
    };
    ((ternary $first:ident $name:ident $op:ident $result:ident), $variant:ident $type:ident widened) => {
        impl Ternary<$type> for $op {
            type First = result_element!($first, $type);
            type Result = result_element!($result, $type);
            #[inline(always)]
            fn apply_in<L: LaneBackend>(
                first: In<Self::First, L>,
                x: In<$type, L>,
                y: In<$type, L>,
            ) -> In<Self::Result, L> {
                let first = widen_first!($first, $type first);
                let x = <$type as NarrowElement>::widen::<L>(x);
                let y = <$type as NarrowElement>::widen::<L>(y);
                let wide = <Self as Ternary<<$type as NarrowElement>::Wide>>::apply_in::<L>(first, x, y);
                <Self::Result as FromWide<_>>::from_wide::<L>(wide)
            }
            #[inline(never)]
            fn call(first: Self::First, x: $type, y: $type) -> Self::Result {
                Self::apply(first, x, y)
            }
        }
    };
    ((unary $name:ident $op:ident $result:ident), $variant:ident $type:ident $module:ident) => {
        impl Unary<$type> for $op {
            type Result = result_element!($result, $type);
            #[inline(always)]
            fn apply_in<L: LaneBackend>(x: In<$type, L>) -> In<Self::Result, L> {
                <Self::Result as ElementLanes>::canonical_in::<L>(meaning::$module::$name(x))
            }
            #[inline(never)]
            fn call(x: $type) -> Self::Result {
                Self::apply(x)
            }
        }
    };
    ((binary $name:ident $op:ident $result:ident), $variant:ident $type:ident $module:ident) => {
        impl Binary<$type> for $op {
            type Result = result_element!($result, $type);
            #[inline(always)]
            fn apply_in<L: LaneBackend>(x: In<$type, L>, y: In<$type, L>) -> In<Self::Result, L> {
                <Self::Result as ElementLanes>::canonical_in::<L>(meaning::$module::$name(x, y))
            }
            #[inline(never)]
            fn call(x: $type, y: $type) -> Self::Result {
                Self::apply(x, y)
            }
        }
    };
    (
        (ternary $first:ident $name:ident $op:ident $result:ident),
        $variant:ident $type:ident $module:ident
    ) => {
        impl Ternary<$type> for $op {
            type First = result_element!($first, $type);
            type Result = result_element!($result, $type);
            #[inline(always)]
            fn apply_in<L: LaneBackend>(
                first: In<Self::First, L>,
                x: In<$type, L>,
                y: In<$type, L>,
            ) -> In<Self::Result, L> {
                <Self::Result as ElementLanes>::canonical_in::<L>(meaning::$module::$name(first, x, y))
            }
            #[inline(never)]
            fn call(first: Self::First, x: $type, y: $type) -> Self::Result {
                Self::apply(first, x, y)
            }
        }
    };
}

macro_rules! visit {
    ((unary $op:ident $dtype:ident $visitor:ident), $variant:ident $type:ident widened) => {
        if $dtype == DType::$variant {
            return Some($visitor.widened_unary::<operations::$op, $type>());
        }
    };
    ((binary $op:ident $dtype:ident $visitor:ident), $variant:ident $type:ident widened) => {
        if $dtype == DType::$variant {
            return Some($visitor.widened_binary::<operations::$op, $type>());
        }
    };
    ((ternary $op:ident $dtype:ident $visitor:ident), $variant:ident $type:ident widened) => {
        if $dtype == DType::$variant {
            return Some($visitor.widened_ternary::<operations::$op, $type>());
        }
    };
    (($arity:ident $op:ident $dtype:ident $visitor:ident), $variant:ident $type:ident $module:ident) => {
        if $dtype == DType::$variant {
            return Some($visitor.$arity::<operations::$op, $type>());
        }
    };
}

macro_rules! define_ops {
    (
        unary { $(
            $(#[doc = $udoc:literal])+
            $uname:ident = $uop:ident [$($uclass:ident)*]
                -> $uresult:ident, [$($ufact:ident $(($uother:ident))?)*], [$($ualias:literal),*];
        )* }
        binary { $(
            $(#[doc = $bdoc:literal])+
            $bname:ident = $bop:ident [$($bclass:ident)*]
                -> $bresult:ident, [$($bfact:ident $(($bother:ident))?)*], [$($balias:literal),*];
        )* }
        ternary { $(
            $(#[doc = $tdoc:literal])+
            $tname:ident = $top:ident ($tfirst:ident, same, same) [$($tclass:ident)*]
                -> $tresult:ident, [$($tfact:ident $(($tother:ident))?)*], [$($talias:literal),*];
        )* }
    ) => {
        /// An element-wise operation.
        ///
        /// ```
        /// use indim_ops::{Arity, DType, Op};
        ///
        /// let op: Op = "less_equal".parse()?;
        /// assert_eq!((op, op.name(), op.arity()), (Op::Le, "le", Arity::Binary));
        /// assert!(op.takes(DType::F32) && !op.takes(DType::C64));
        /// assert_eq!(op.result_dtype(DType::F32), DType::Bool);
        /// assert_eq!(Op::Select.operand_dtype(0, DType::F32), DType::Bool);
        /// assert!(op.aliases() == ["less_equal"]);
        /// assert!(Op::Atan2.doc().contains("angle"));
        /// # Ok::<(), indim_ops::UnknownOp>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Op {
            $($(#[doc = $udoc])+ $uop,)*
            $($(#[doc = $bdoc])+ $bop,)*
            $($(#[doc = $tdoc])+ $top,)*
        }

        /// The operations as types, for code that is generic over them.
        pub mod operations {
            use super::{
                Binary, Element, ElementLanes, FromWide, In, LaneBackend, NarrowElement, Op, OpType,
                ScalarBackend, Ternary, Unary,
            };
            use super::meaning;
            use crate::element::elements::*;
            $($(#[doc = $udoc])+ #[derive(Debug, Clone, Copy)] pub struct $uop;)*
            $($(#[doc = $bdoc])+ #[derive(Debug, Clone, Copy)] pub struct $bop;)*
            $($(#[doc = $tdoc])+ #[derive(Debug, Clone, Copy)] pub struct $top;)*
            $(impl OpType for $uop { const OP: Op = Op::$uop; })*
            $(impl OpType for $bop { const OP: Op = Op::$bop; })*
            $(impl OpType for $top { const OP: Op = Op::$top; })*
            $($(for_class!($uclass, implement, (unary $uname $uop $uresult));)*)*
            $($(for_class!($bclass, implement, (binary $bname $bop $bresult));)*)*
            $($(for_class!($tclass, implement, (ternary $tfirst $tname $top $tresult));)*)*
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$uop,)* $(Op::$bop,)* $(Op::$top,)*];

            /// The row of the operation.
            const fn row(self) -> &'static Row {
                match self {
                    $(Op::$uop => const { &Row {
                        name: stringify!($uname), doc: concat!($($udoc),+),
                        arity: Arity::Unary, first_is_bool: false,
                        takes: |dtype| $(is_of_word!($uclass dtype))||*, result: result_type!($uresult),
                        facts: &[$(fact!($ufact $(($uother))?)),*], aliases: &[$($ualias),*],
                    } },)*
                    $(Op::$bop => const { &Row {
                        name: stringify!($bname), doc: concat!($($bdoc),+),
                        arity: Arity::Binary, first_is_bool: false,
                        takes: |dtype| $(is_of_word!($bclass dtype))||*, result: result_type!($bresult),
                        facts: &[$(fact!($bfact $(($bother))?)),*], aliases: &[$($balias),*],
                    } },)*
                    $(Op::$top => const { &Row {
                        name: stringify!($tname), doc: concat!($($tdoc),+), arity: Arity::Ternary,
                        first_is_bool: matches!(result_type!($tfirst), ResultType::Boolean),
                        takes: |dtype| $(is_of_word!($tclass dtype))||*, result: result_type!($tresult),
                        facts: &[$(fact!($tfact $(($tother))?)),*], aliases: &[$($talias),*],
                    } },)*
                }
            }

            /// Calls `visitor` with the definition of this operation for elements of type `dtype`
            /// (of the last operand); `None` if the operation does not take the type.
            pub fn visit<V: OpVisitor>(self, dtype: DType, visitor: V) -> Option<V::Output> {
                match self {
                    $(Op::$uop => { $(for_class!($uclass, visit, (unary $uop dtype visitor));)* })*
                    $(Op::$bop => { $(for_class!($bclass, visit, (binary $bop dtype visitor));)* })*
                    $(Op::$top => { $(for_class!($tclass, visit, (ternary $top dtype visitor));)* })*
                }
                None
            }
        }
    };
}

/// One row of the table as data.
struct Row {
    name: &'static str,
    doc: &'static str,
    arity: Arity,
    first_is_bool: bool,
    takes: fn(DType) -> bool,
    result: ResultType,
    facts: &'static [Fact],
    aliases: &'static [&'static str],
}

for_each_op!(define_ops);

impl Op {
    /// The name in indim's text.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The definition of the operation, with its edge cases.
    pub fn doc(self) -> &'static str {
        self.row().doc.trim()
    }

    /// The number of operands.
    pub const fn arity(self) -> Arity {
        self.row().arity
    }

    /// The names that other systems use.
    pub const fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// Whether the operation has this fact.
    ///
    /// ```
    /// use indim_ops::{Fact, Op};
    /// assert!(Op::Max.is(Fact::Orders) && Op::Max.is(Fact::Exact));
    /// assert!(!Op::Sub.is(Fact::Commutative));
    /// ```
    pub const fn is(self, fact: Fact) -> bool {
        let facts = self.row().facts;
        let mut index = 0;
        while index < facts.len() {
            if facts[index].is_same(fact) {
                return true;
            }
            index += 1;
        }
        false
    }

    /// The operation that gives the same result with exchanged operands, if one exists.
    ///
    /// ```
    /// use indim_ops::Op;
    /// assert_eq!(Op::Lt.swapped(), Some(Op::Gt));
    /// assert_eq!(Op::Add.swapped(), Some(Op::Add));
    /// assert_eq!(Op::Sub.swapped(), None);
    /// ```
    pub fn swapped(self) -> Option<Op> {
        self.row().facts.iter().find_map(|fact| match fact {
            Fact::Commutative => Some(self),
            Fact::Mirrors(other) => Some(*other),
            _ => None,
        })
    }

    /// Whether the operation takes elements of type `dtype`.
    pub fn takes(self, dtype: DType) -> bool {
        (self.row().takes)(dtype)
    }

    /// Whether the first operand is always a `bool`, for every type of the other operands.
    pub const fn first_is_bool(self) -> bool {
        self.row().first_is_bool
    }

    /// The element type that operand `index` must have when the last operand has type `dtype`.
    pub const fn operand_dtype(self, index: usize, dtype: DType) -> DType {
        if index == 0 && self.first_is_bool() { DType::Bool } else { dtype }
    }

    /// The element type of the result when the last operand has type `dtype`.
    pub const fn result_dtype(self, dtype: DType) -> DType {
        self.row().result.of(dtype)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The error for a text that names no operation, composition or reduction.
///
/// ```
/// use indim_ops::{Op, UnknownOp};
/// assert_eq!("no_such".parse::<Op>(), Err(UnknownOp));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownOp;

impl fmt::Display for UnknownOp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("unknown operation")
    }
}

impl core::error::Error for UnknownOp {}

impl FromStr for Op {
    type Err = UnknownOp;

    /// Parses indim's name, or the name in XLA, OpenVINO or NumPy, in any spelling (`less_equal`,
    /// `less-equal`, `LessEqual`).
    fn from_str(text: &str) -> Result<Self, UnknownOp> {
        let is_meant = |op: &Op| is_called(text, op.name(), op.aliases());
        Op::ALL.iter().copied().find(is_meant).ok_or(UnknownOp)
    }
}

/// Whether `text` is one of these names, in any spelling (`less_equal`, `less-equal`, `LessEqual`).
pub fn is_called(text: &str, name: &str, other_names: &[&str]) -> bool {
    is_same_name(name, text) || other_names.iter().any(|other| is_same_name(other, text))
}

/// Whether two names differ at most in their case, dashes and underscores.
fn is_same_name(name: &str, text: &str) -> bool {
    let letters = |text: &str| -> Vec<u8> {
        text.bytes().filter(|b| !matches!(b, b'_' | b'-')).map(|b| b.to_ascii_lowercase()).collect()
    };
    letters(name) == letters(text)
}
