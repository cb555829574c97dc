//! THE table of functions along axes: sums, means, softmax and the like, made of operations and reductions.
//!
//! A row gives the name, the operands, the numeric arguments, the default axes, whether they stay, the other
//! options, the names in other systems, and the sentence of the documentation. The
//! definition has the same name in one of the modules here, over the `Reduced` of `reduced.rs`: operands,
//! axes and a mask that `arguments.rs` has checked. The rule sets differ in one thing alone:
//! NumPy's sums and products of integers are those of 64 bits.
//!
//! - `exact.rs`: the correctly rounded sum, by a superaccumulator: a fixed-point number that holds every
//!   sum of `f64`;
//! - `exponentials.rs`: logarithms of sums of exponentials, and their kin: computed from the largest
//!   element down, so that nothing overflows;
//! - `extremes.rs`: extremes, and where they are;
//! - `normalization.rs`: elements brought to mean 0 and variance 1, or to mean square 1;
//! - `sums.rs`: sums, products, means and what is counted.

mod arguments;
mod exact;
mod exponentials;
mod extremes;
mod normalization;
mod reduced;
mod sums;

use core::str::FromStr;

use indim_graph::Literal;
use indim_ops::{DType, DTypeClass, UnknownOp, is_called};

pub use arguments::{Initial, ReduceOptions};

use crate::builder::BuildResult;
use crate::composition::Parameter;
use crate::composition::parameter::argument;

/// Hands the table of functions along axes to another macro.
macro_rules! for_each_axis_function {
    ($callback:ident) => {
        $callback! {
            /// The sum, +0 of nothing: of floats in double precision and rounded once, of integers wrapping;
            /// under the numpy rule integers and truth values are summed in 64 bits. With `exact` the
            /// correctly rounded sum of `f64` or `c128`, which costs hundreds of times more. With `partial`
            /// as it is accumulated, in `f64` or `c128`: those of pieces of `512 * 2^k` elements add up to
            /// the sum of all, bit by bit.
            sum(x) = Sum { exact: bool = false, partial: bool = false } all
                -> reduced [dtype initial where], [];
            /// The product, 1 of nothing: computed as `sum` is.
            prod(x) = Prod {} all -> reduced [dtype initial where], ["product"];
            /// The sum over the count, in double precision and rounded once; of integers `f64`, of nothing a
            /// NaN.
            mean(x) = Mean {} all -> reduced [dtype where], ["average"];
            /// The mean square of the distances from the mean, in double precision and rounded once; the sum
            /// is divided by the count less `correction`, a NaN where that is not positive.
            var(x) = Var { correction: f64 = 0.0 } all -> reduced [dtype where], ["variance"];
            /// The square root of `var`, rounded once.
            std(x) = Std { correction: f64 = 0.0 } all -> reduced [dtype where], [];
            /// The largest element; any NaN gives a NaN, -0 is below +0. Of nothing what `initial` gives.
            max(x) = Max {} all -> reduced [initial where], ["amax"];
            /// The smallest element; any NaN gives a NaN, -0 is below +0. Of nothing what `initial` gives.
            min(x) = Min {} all -> reduced [initial where], ["amin"];
            /// The largest element less the smallest.
            ptp(x) = Ptp {} all -> reduced [], [];
            /// Where the first NaN is, or else the first of the largest elements, with `last` the last: an
            /// `i64`, counted in row-major order over the axes.
            argmax(x) = ArgMax { last: bool = false } all -> reduced [], [];
            /// Where the first NaN is, or else the first of the smallest elements, with `last` the last: an
            /// `i64`, counted in row-major order over the axes.
            argmin(x) = ArgMin { last: bool = false } all -> reduced [], [];
            /// Whether every element is other than 0; a NaN is.
            all(x) = All {} all -> reduced [where], [];
            /// Whether any element is other than 0; a NaN is.
            any(x) = Any {} all -> reduced [where], [];
            /// How many elements are other than 0: an `i64`.
            count_nonzero(x) = CountNonzero {} all -> reduced [where], [];
            /// The square root of the sum of squared magnitudes, in double precision and rounded once.
            norm(x) = Norm {} all -> reduced [where], [];
            /// The sum of the products of two vectors, as `sum` computes it but for integers, which keep
            /// their type; of truth values whether any pair holds. More axes than one are named.
            dot(x, y) = Dot {} all -> reduced [], [];
            /// As `dot`, along axes of what the operands broadcast to, and of the conjugate of `x`.
            vecdot(x, y) = VecDot {} last -> reduced [], [];
            /// The logarithm of the sum of `exp(x)`, without overflow; of nothing -inf.
            logsumexp(x) = LogSumExp {} all -> reduced [where], [];
            /// `exp(x - max(x)) / sum(exp(x - max(x)))`, in the shape of `x`; 0 where elements are not taken.
            softmax(x) = Softmax {} all -> whole [where], [];
            /// `x - logsumexp(x)` without cancellation, in the shape of `x`; -inf where elements are not
            /// taken.
            log_softmax(x) = LogSoftmax {} all -> whole [where], [];
            /// `(x - mean(x)) / sqrt(var(x) + epsilon) * gain + bias`, in the shape of `x`; `gain` and `bias`
            /// have that shape, or one axis for each of those named, or none. 16-bit floats are scaled in
            /// `f32`.
            layer_norm(x, gain, bias) = LayerNorm { epsilon: f64 = 1e-5 } last -> whole [], [];
            /// `x / sqrt(mean(square(x)) + epsilon) * gain`, as `layer_norm`.
            rms_norm(x, gain) = RmsNorm { epsilon: f64 = 1e-5 } last -> whole [], [];
            /// `sum` of the elements that are no NaNs.
            nansum(x) = NanSum {} all -> reduced [dtype initial where], [];
            /// `prod` of the elements that are no NaNs.
            nanprod(x) = NanProd {} all -> reduced [dtype initial where], [];
            /// `mean` of the elements that are no NaNs.
            nanmean(x) = NanMean {} all -> reduced [dtype where], [];
            /// `var` of the elements that are no NaNs.
            nanvar(x) = NanVar { correction: f64 = 0.0 } all -> reduced [dtype where], [];
            /// `std` of the elements that are no NaNs.
            nanstd(x) = NanStd { correction: f64 = 0.0 } all -> reduced [dtype where], [];
            /// The largest number; a NaN where there are only NaNs.
            nanmax(x) = NanMax {} all -> reduced [initial where], [];
            /// The smallest number; a NaN where there are only NaNs.
            nanmin(x) = NanMin {} all -> reduced [initial where], [];
            /// Where the first of the largest numbers is, -1 where there are only NaNs.
            nanargmax(x) = NanArgMax {} all -> reduced [], [];
            /// Where the first of the smallest numbers is, -1 where there are only NaNs.
            nanargmin(x) = NanArgMin {} all -> reduced [], [];
        }
    };
}

macro_rules! keeps_shape {
    (whole) => {
        true
    };
    (reduced) => {
        false
    };
}

macro_rules! default_axes {
    (all) => {
        None
    };
    (last) => {
        Some(&[-1])
    };
}

macro_rules! argument_beside {
    (dtype) => {
        ReduceOptions::DTYPE
    };
    (initial) => {
        ReduceOptions::INITIAL
    };
    (where) => {
        ReduceOptions::WHERE
    };
}

macro_rules! keepdims {
    (whole) => {
        &[]
    };
    (reduced) => {
        &[ReduceOptions::KEEPDIMS]
    };
}

macro_rules! define_axis_functions {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($($operand:ident),*) = $function:ident
            { $($parameter:ident: $type:ty = $default:literal),* }
            $axes:ident -> $result:ident [$($argument:tt)*], [$($alias:literal),*];
    )*) => {
        /// A function along axes.
        ///
        /// ```
        /// use indim_builder::{ReduceOptions, Reduction, GraphBuilder};
        /// use indim_ops::DType;
        ///
        /// let b = GraphBuilder::new();
        /// let x = b.parameter("x", DType::F32, [4, 3])?;
        /// let mean = b.along(Reduction::Mean, &x, &ReduceOptions::axes(&[0]), &[])?;
        /// assert_eq!(mean.array_type()?.to_string(), "f32[3]");
        /// # Ok::<(), indim_graph::GraphError>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Reduction {
            $($(#[doc = $doc])+ $function,)*
        }

        impl Reduction {
            /// Every function along axes, in the order of the table.
            pub const ALL: &[Reduction] = &[$(Reduction::$function),*];

            /// The name in indim's text.
            pub const fn name(self) -> &'static str {
                match self { $(Reduction::$function => stringify!($name),)* }
            }

            /// Result of the function, with its edge cases.
            pub fn doc(self) -> &'static str {
                match self { $(Reduction::$function => concat!($($doc),+).trim(),)* }
            }

            /// The names that other systems use.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Reduction::$function => &[$($alias),*],)* }
            }

            /// The names of the operands.
            pub const fn operands(self) -> &'static [&'static str] {
                match self { $(Reduction::$function => &[$(stringify!($operand)),*],)* }
            }

            /// The axes where none are given; all without a list.
            pub const fn default_axes(self) -> Option<&'static [i64]> {
                match self { $(Reduction::$function => default_axes!($axes),)* }
            }

            /// Arguments behind the operands and the axes, in order: `keepdims`, its own numbers, then
            /// `dtype`, `initial` and `where`.
            pub fn arguments(self) -> Vec<Parameter> {
                let (keepdims, others): (&[Parameter], &[Parameter]) = match self {
                    $(Reduction::$function => {
                        (keepdims!($result), &[$(argument_beside!($argument)),*])
                    })*
                };
                [keepdims, self.parameters(), others].concat()
            }

            /// Numeric arguments of the function.
            pub const fn parameters(self) -> &'static [Parameter] {
                match self {
                    $(Reduction::$function => const {
                        &[$(Parameter::new::<$type>(stringify!($parameter), &[stringify!($default)])),*]
                    },)*
                }
            }

            /// Whether the result has the shape of the operand, so that no axis goes.
            pub const fn keeps_shape(self) -> bool {
                match self { $(Reduction::$function => keeps_shape!($result),)* }
            }

            fn define(
                self,
                reduced: &reduced::Reduced<'_>,
                numbers: &[Option<Literal>],
            ) -> BuildResult {
                let mut numbers = numbers.iter().copied();
                let mut next = || numbers.next().flatten();
                match self {
                    $(Reduction::$function => {
                        definition::$name(reduced $(, argument::<$type>(next(), Some($default)))*)
                    })*
                }
            }
        }
    };
}

for_each_axis_function!(define_axis_functions);

/// Definitions of the functions, by name.
mod definition {
    pub(super) use super::exponentials::*;
    pub(super) use super::extremes::*;
    pub(super) use super::normalization::*;
    pub(super) use super::sums::*;
}

impl Reduction {
    /// Whether the function takes elements of type `dtype`.
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            Reduction::Ptp => dtype.is_integer() || dtype.is_float(),
            _ if self.is_extreme() || self.is_arg_reduction() => {
                dtype.class() != DTypeClass::Complex
            }
            _ if self.takes_only_floats() => dtype.is_float(),
            _ => true,
        }
    }

    /// Whether the function takes floats alone.
    pub fn takes_only_floats(self) -> bool {
        use Reduction::{LayerNorm, LogSoftmax, LogSumExp, RmsNorm, Softmax};
        matches!(self, LogSumExp | Softmax | LogSoftmax | LayerNorm | RmsNorm)
    }

    /// Whether the function combines the elements of two operands, which broadcast.
    pub fn pairs(self) -> bool {
        matches!(self, Reduction::Dot | Reduction::VecDot)
    }

    /// Whether the result is an extreme, or made of extremes: no elements have no extreme.
    pub(crate) fn is_extreme(self) -> bool {
        use Reduction::{Max, Min, NanMax, NanMin, Ptp};
        matches!(self, Max | Min | Ptp | NanMax | NanMin)
    }

    /// Whether the result says where an element is.
    pub(crate) fn is_arg_reduction(self) -> bool {
        use Reduction::{ArgMax, ArgMin, NanArgMax, NanArgMin};
        matches!(self, ArgMax | ArgMin | NanArgMax | NanArgMin)
    }
}

impl FromStr for Reduction {
    type Err = UnknownOp;

    /// Reads the name or another one, in any of their spellings (`log_softmax`, `LogSoftmax`).
    fn from_str(text: &str) -> Result<Self, UnknownOp> {
        let is_meant = |function: &Reduction| is_called(text, function.name(), function.aliases());
        Reduction::ALL.iter().copied().find(is_meant).ok_or(UnknownOp)
    }
}
