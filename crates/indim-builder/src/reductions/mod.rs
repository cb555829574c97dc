//! The table of functions along axes: sums, means, softmax and others, composed of graph nodes.
//!
//! A row has the name, the operands, the numeric parameters, the default axes, the shape of the result
//! (`reduced`, or `whole` for the operand's shape), the accepted options, the names in other systems, and
//! the documentation. The definition has the same name, in one of the modules here, and takes a
//! `ReductionContext` (`context.rs`): operands, axes and mask, which `options.rs` has checked. The rule
//! set of a call determines the legal axes and whether an extreme needs elements; `options.rs` checks
//! both. A definition depends on one choice only: sums and products of integers have 64 bits under
//! NumPy's rule.
//!
//! - `exact.rs`: correctly rounded sums, by a superaccumulator;
//! - `exponentials.rs`: `logsumexp`, `softmax` and `log_softmax`, without overflow;
//! - `extremes.rs`: extremes and arg-reductions;
//! - `normalization.rs`: layer normalisation and RMS normalisation;
//! - `outer_products.rs`: sums of outer products, which are contractions;
//! - `recurrences.rs`: cumulative `logsumexp` and linear recurrences, composed in runs of 16;
//! - `scans.rs`: cumulative sums, products and extremes;
//! - `sums.rs`: sums, products, means, variances and counts.

mod context;
mod exact;
mod exponentials;
mod extremes;
mod normalization;
mod options;
mod outer_products;
mod recurrences;
mod scans;
mod sums;

use core::str::FromStr;

use indim_graph::Literal;
use indim_graph::parameter::{Parameter, argument};
use indim_ops::{DType, DTypeClass, UnknownOp, is_called};

pub use options::{Initial, ReduceOptions};

use crate::builder::{BuildResult, Value};
use crate::operand::Operand;
use crate::operand::sealed::Sealed;

/// Hands the table of functions along axes to another macro.
macro_rules! for_each_reduction {
    ($callback:ident) => {
        $callback! {
            /// The sum; +0 of no elements. Floats are summed in double precision and rounded once; integers
            /// wrap, and under the numpy rule integers and `bool` are summed in 64 bits. The sum of an outer
            /// product of floats is a product of matrices (`docs/products.md`). With `exact` the
            /// correctly rounded sum of `f64` or `c128`, hundreds of times slower. With `partial` the
            /// unrounded accumulator, in `f64` or `c128`: the partial sums of pieces of `512 * 2^k` elements
            /// add up to the bits of the whole sum.
            sum(x) = Sum { exact: bool = false, partial: bool = false } all
                -> reduced [dtype initial where], [];
            /// The product, computed like `sum`; 1 of no elements.
            prod(x) = Prod {} all -> reduced [dtype initial where], ["product"];
            /// The sum divided by the count, in double precision and rounded once. Integers have an `f64`
            /// result; NaN of no elements.
            mean(x) = Mean {} all -> reduced [dtype where], ["average"];
            /// The variance, in double precision and rounded once: the sum of squared distances from the
            /// mean, divided by the count minus `correction`; NaN if that is not positive.
            var(x) = Var { correction: f64 = 0.0 } all -> reduced [dtype where], ["variance"];
            /// The square root of `var`, rounded once.
            std(x) = Std { correction: f64 = 0.0 } all -> reduced [dtype where], [];
            /// The largest element; NaN if any element is NaN; -0 is less than +0. Without elements it
            /// requires `initial`.
            max(x) = Max {} all -> reduced [initial where], ["amax"];
            /// The smallest element; NaN if any element is NaN; -0 is less than +0. Without elements it
            /// requires `initial`.
            min(x) = Min {} all -> reduced [initial where], ["amin"];
            /// The largest element minus the smallest.
            ptp(x) = Ptp {} all -> reduced [], [];
            /// The index of the first NaN, or else of the first largest element (with `last` the last one):
            /// an `i64`, in row-major order over the axes.
            argmax(x) = ArgMax { last: bool = false } all -> reduced [], [];
            /// The index of the first NaN, or else of the first smallest element (with `last` the last one):
            /// an `i64`, in row-major order over the axes.
            argmin(x) = ArgMin { last: bool = false } all -> reduced [], [];
            /// Whether every element is nonzero; NaN is nonzero.
            all(x) = All {} all -> reduced [where], [];
            /// Whether any element is nonzero; NaN is nonzero.
            any(x) = Any {} all -> reduced [where], [];
            /// The number of nonzero elements, an `i64`.
            count_nonzero(x) = CountNonzero {} all -> reduced [where], [];
            /// The square root of the sum of squared magnitudes, in double precision and rounded once.
            norm(x) = Norm {} all -> reduced [where], [];
            /// The dot product of two vectors, summed like `sum`, but integers keep their type; for `bool`
            /// whether any pair is true. Operands with several axes require `axis`.
            dot(x, y) = Dot {} all -> reduced [], [];
            /// Like `dot` with the conjugate of `x`, along axes of the operands' broadcast shape.
            vecdot(x, y) = VecDot {} last -> reduced [], [];
            /// The logarithm of the sum of `exp(x)`, without overflow; -inf of no elements.
            logsumexp(x) = LogSumExp {} all -> reduced [where], [];
            /// `exp(x - max(x)) / sum(exp(x - max(x)))`, in the shape of `x`; 0 for unselected elements.
            softmax(x) = Softmax {} all -> whole [where], [];
            /// `x - logsumexp(x)` without cancellation, in the shape of `x`; -inf for unselected elements.
            log_softmax(x) = LogSoftmax {} all -> whole [where], [];
            /// `(x - mean(x)) / sqrt(var(x) + epsilon) * gain + bias`, in the shape of `x`. `gain` and `bias`
            /// have that shape, or the shape of the normalised axes, or are scalars. 16-bit floats are scaled
            /// in `f32`.
            layer_norm(x, gain, bias) = LayerNorm { epsilon: f64 = 1e-5 } last -> whole [], [];
            /// `x / sqrt(mean(square(x)) + epsilon) * gain`, with the shapes and types of `layer_norm`.
            rms_norm(x, gain) = RmsNorm { epsilon: f64 = 1e-5 } last -> whole [], [];
            /// For each position along one axis, the sum of the elements up to it, in the shape of `x`.
            /// Without an axis the result is a vector, for the elements in row-major order. Floats are summed
            /// in double precision and each result is rounded; integers are summed as by `sum`. With
            /// `reverse` the scan runs from the last element to the first; with `exclusive` each sum leaves
            /// its own element out.
            cumsum(x) = CumSum { reverse: bool = false, exclusive: bool = false } all
                -> whole [dtype where], ["cumulative_sum"];
            /// For each position, the product of the elements up to it; otherwise like `cumsum`.
            cumprod(x) = CumProd { reverse: bool = false, exclusive: bool = false } all
                -> whole [dtype where], ["cumulative_prod"];
            /// For each position, the largest element up to it; NaN from the first NaN on; -0 is less than
            /// +0. Axes and options as for `cumsum`; the first exclusive result is the least value of the
            /// type.
            cummax(x) = CumMax { reverse: bool = false, exclusive: bool = false } all
                -> whole [where], [];
            /// For each position, the smallest element up to it; NaN from the first NaN on; -0 is less than
            /// +0. Axes and options as for `cumsum`; the first exclusive result is the greatest value of the
            /// type.
            cummin(x) = CumMin { reverse: bool = false, exclusive: bool = false } all
                -> whole [where], [];
            /// Whether every element up to each position is nonzero. Axes and options as for `cumsum`.
            cumall(x) = CumAll { reverse: bool = false, exclusive: bool = false } all
                -> whole [where], [];
            /// Whether any element up to each position is nonzero. Axes and options as for `cumsum`.
            cumany(x) = CumAny { reverse: bool = false, exclusive: bool = false } all
                -> whole [where], [];
            /// For each position, the logarithm of the sum of `exp(x)` of the elements up to it, without
            /// overflow. It combines elements by `logaddexp` in double precision, in runs of 16, and rounds
            /// each result. Axes and options as for `cumsum`; the first exclusive result is -inf.
            cumlogsumexp(x) = CumLogSumExp { reverse: bool = false, exclusive: bool = false } all
                -> whole [where], ["logcumsumexp"];
            /// `y[i] = a[i] * y[i - 1] + b[i]` along one axis, such as an exponential average. Before the
            /// first element `y` is `initial`, which has the shape without the axis, or 0. Floats are
            /// computed in double precision, in runs of 16, and each result is rounded. With `reverse` the
            /// recurrence runs from the last element to the first.
            linear_recurrence(a, b) = LinearRecurrence { reverse: bool = false } last
                -> whole [initial], [];
            /// `cumsum` with 0 in place of each NaN.
            nancumsum(x) = NanCumSum { reverse: bool = false, exclusive: bool = false } all
                -> whole [dtype where], [];
            /// `cumprod` with 1 in place of each NaN.
            nancumprod(x) = NanCumProd { reverse: bool = false, exclusive: bool = false } all
                -> whole [dtype where], [];
            /// `sum` of the elements that are not NaN.
            nansum(x) = NanSum {} all -> reduced [dtype initial where], [];
            /// `prod` of the elements that are not NaN.
            nanprod(x) = NanProd {} all -> reduced [dtype initial where], [];
            /// `mean` of the elements that are not NaN.
            nanmean(x) = NanMean {} all -> reduced [dtype where], [];
            /// `var` of the elements that are not NaN.
            nanvar(x) = NanVar { correction: f64 = 0.0 } all -> reduced [dtype where], [];
            /// `std` of the elements that are not NaN.
            nanstd(x) = NanStd { correction: f64 = 0.0 } all -> reduced [dtype where], [];
            /// The largest number; NaN if all elements are NaN.
            nanmax(x) = NanMax {} all -> reduced [initial where], [];
            /// The smallest number; NaN if all elements are NaN.
            nanmin(x) = NanMin {} all -> reduced [initial where], [];
            /// The index of the first largest number; -1 if all elements are NaN.
            nanargmax(x) = NanArgMax {} all -> reduced [], [];
            /// The index of the first smallest number; -1 if all elements are NaN.
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

macro_rules! extra_argument {
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

/// The method of a value for a function along axes: the value is the first operand.
macro_rules! reduction_method {
    ($name:ident($first:ident $($other:ident)*) $(#[doc = $doc:literal])+ $function:ident) => {
        $(#[doc = $doc])+
        #[track_caller]
        pub fn $name(
            &self, $($other: impl Operand,)* options: impl Into<ReduceOptions>,
        ) -> Value {
            let operands = [self.into_arg() $(, $other.into_arg())*];
            self.builder().along_deferred(Reduction::$function, &operands, options.into())
        }
    };
}

macro_rules! define_reductions {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($($operand:ident),*) = $function:ident
            { $($parameter:ident: $type:ty = $default:literal),* }
            $axes:ident -> $result:ident [$($argument:tt)*], [$($alias:literal),*];
    )*) => {
        /// The functions along axes. Pass the axes as an integer, several integers, names, or `()` for all;
        /// to set other options, pass [`ReduceOptions`].
        ///
        /// ```
        /// use indim_builder::{GraphBuilder, ReduceOptions};
        /// use indim_ops::DType;
        ///
        /// let b = GraphBuilder::new();
        /// let x = b.parameter("x", DType::F32, [4, 3])?;
        /// let centred = b.numpy().sub(&x, x.mean(ReduceOptions::axes(1).keepdims(true)))?;
        /// let spread = centred.std(ReduceOptions::axes([0]).correction(1.0));
        /// assert_eq!(spread.array_type()?.to_string(), "f32[3]");
        /// let graph = b.finish(&[x.softmax(-1), spread, x.max(())])?;
        /// # Ok::<(), indim_graph::GraphError>(())
        /// ```
        impl Value {
            $(reduction_method! {
                $name($($operand)*)
                $(#[doc = $doc])+
                $function
            })*
        }

        /// A function along axes.
        ///
        /// ```
        /// use indim_builder::{GraphBuilder, Reduction};
        /// use indim_ops::DType;
        ///
        /// let b = GraphBuilder::new();
        /// let x = b.parameter("x", DType::F32, [4, 3])?;
        /// let mean = b.along(Reduction::Mean, &x, 0)?;
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

            /// Documentation: the result, with its edge cases.
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

            /// The default axes; `None` for all.
            pub const fn default_axes(self) -> Option<&'static [i64]> {
                match self { $(Reduction::$function => default_axes!($axes),)* }
            }

            /// The arguments after the operands and the axes, in order: `keepdims`, the numeric parameters,
            /// then `dtype`, `initial` and `where`.
            pub fn arguments(self) -> Vec<Parameter> {
                let (keepdims, others): (&[Parameter], &[Parameter]) = match self {
                    $(Reduction::$function => {
                        (keepdims!($result), &[$(extra_argument!($argument)),*])
                    })*
                };
                [keepdims, self.parameters(), others].concat()
            }

            /// The numeric parameters.
            pub const fn parameters(self) -> &'static [Parameter] {
                match self {
                    $(Reduction::$function => const {
                        &[$(Parameter::new::<$type>(stringify!($parameter), &[stringify!($default)])),*]
                    },)*
                }
            }

            /// Whether the result has the shape of the operand. A scan without an axis is an exception: its
            /// result is a vector.
            pub const fn keeps_shape(self) -> bool {
                match self { $(Reduction::$function => keeps_shape!($result),)* }
            }

            fn define(
                self,
                call: &context::ReductionContext<'_>,
                numbers: &[Option<Literal>],
            ) -> BuildResult {
                let mut numbers = numbers.iter().copied();
                let mut next = || numbers.next().flatten();
                match self {
                    $(Reduction::$function => {
                        definition::$name(call $(, argument::<$type>(next(), Some($default)))*)
                    })*
                }
            }
        }
    };
}

for_each_reduction!(define_reductions);

/// Definitions of the functions, by name.
mod definition {
    pub(super) use super::exponentials::*;
    pub(super) use super::extremes::*;
    pub(super) use super::normalization::*;
    pub(super) use super::recurrences::*;
    pub(super) use super::scans::*;
    pub(super) use super::sums::*;
}

impl Reduction {
    /// Whether the function accepts elements of type `dtype`.
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            _ if dtype.is_storage() => false,
            Reduction::Ptp => dtype.is_integer() || dtype.is_float(),
            Reduction::CumMax | Reduction::CumMin => dtype.class() != DTypeClass::Complex,
            _ if self.is_extreme() || self.is_arg_reduction() => {
                dtype.class() != DTypeClass::Complex
            }
            _ if self.takes_only_floats() => dtype.is_float(),
            _ => true,
        }
    }

    /// Whether the function accepts only floats.
    pub fn takes_only_floats(self) -> bool {
        use Reduction::{CumLogSumExp, LayerNorm, LogSoftmax, LogSumExp, RmsNorm, Softmax};
        matches!(self, LogSumExp | CumLogSumExp | Softmax | LogSoftmax | LayerNorm | RmsNorm)
    }

    /// Whether the function pairs the elements of two operands, which are broadcast.
    pub fn pairs(self) -> bool {
        matches!(self, Reduction::Dot | Reduction::VecDot | Reduction::LinearRecurrence)
    }

    /// Whether the function is a scan, which runs along one axis.
    pub fn is_scan(self) -> bool {
        use Reduction::{CumAll, CumAny, CumLogSumExp, CumMax, CumMin, CumProd, CumSum};
        use Reduction::{LinearRecurrence, NanCumProd, NanCumSum};
        let is_composed = matches!(self, CumLogSumExp | LinearRecurrence);
        is_composed
            || matches!(self, CumSum | CumProd | CumMax | CumMin | CumAll | CumAny)
            || matches!(self, NanCumSum | NanCumProd)
    }

    /// Whether the result depends on an extreme, which does not exist without elements.
    pub(crate) fn is_extreme(self) -> bool {
        use Reduction::{Max, Min, NanMax, NanMin, Ptp};
        matches!(self, Max | Min | Ptp | NanMax | NanMin)
    }

    /// Whether the function is an arg-reduction.
    pub(crate) fn is_arg_reduction(self) -> bool {
        use Reduction::{ArgMax, ArgMin, NanArgMax, NanArgMin};
        matches!(self, ArgMax | ArgMin | NanArgMax | NanArgMin)
    }
}

impl FromStr for Reduction {
    type Err = UnknownOp;

    /// Reads the name or an alias, in any spelling (`log_softmax`, `LogSoftmax`).
    fn from_str(text: &str) -> Result<Self, UnknownOp> {
        let is_meant = |function: &Reduction| is_called(text, function.name(), function.aliases());
        Reduction::ALL.iter().copied().find(is_meant).ok_or(UnknownOp)
    }
}
