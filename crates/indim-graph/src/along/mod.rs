//! THE table of functions along axes: sums, means, softmax and the like, made of operations and reductions.
//!
//! A row gives the name, the numbers beside the operand, the names other systems use, and the sentence of the
//! documentation. The definition has the same name in `definitions.rs`, over an operand and axes that have been
//! checked. The rule sets differ in one thing alone: NumPy's sums and products of integers are those of 64 bits.

mod definitions;

use core::str::FromStr;

use indim_ops::{ArrayType, DType, DTypeClass, UnknownOp, is_called};

use crate::builder::{BuildResult, GraphBuilder};
use crate::composition::Parameter;
use crate::composition::parameter::argument;
use crate::error::GraphErrorKind;
use crate::literal::Literal;
use crate::operand::Operand;

/// Hands the table of functions along axes to another macro.
macro_rules! for_each_axis_function {
    ($callback:ident) => {
        $callback! {
            /// The sum, +0 of nothing: of floats in double precision and rounded once, of integers wrapping;
            /// under the numpy rule integers and truth values are summed in 64 bits.
            sum = Sum {} -> reduced, [];
            /// The product, 1 of nothing: computed as `sum` is.
            prod = Prod {} -> reduced, ["product"];
            /// The sum over the count, in double precision and rounded once; of integers `f64`, of nothing a
            /// NaN.
            mean = Mean {} -> reduced, ["average"];
            /// The mean square of the distances from the mean, in double precision and rounded once; the sum is
            /// divided by the count less `correction`, a NaN where that is not positive.
            var = Var { correction: f64 = 0.0 } -> reduced, ["variance"];
            /// The square root of `var`, rounded once.
            std = Std { correction: f64 = 0.0 } -> reduced, [];
            /// The largest element; any NaN gives a NaN, -0 is below +0.
            max = Max {} -> reduced, ["amax"];
            /// The smallest element; any NaN gives a NaN, -0 is below +0.
            min = Min {} -> reduced, ["amin"];
            /// The largest element less the smallest.
            ptp = Ptp {} -> reduced, [];
            /// Where the first NaN is, or else the first of the largest elements: an `i64`, counted in row-major
            /// order over the axes.
            argmax = ArgMax {} -> reduced, [];
            /// Where the first NaN is, or else the first of the smallest elements: an `i64`, counted in row-major
            /// order over the axes.
            argmin = ArgMin {} -> reduced, [];
            /// Whether every element is other than 0; a NaN is.
            all = All {} -> reduced, [];
            /// Whether any element is other than 0; a NaN is.
            any = Any {} -> reduced, [];
            /// How many elements are other than 0: an `i64`.
            count_nonzero = CountNonzero {} -> reduced, [];
            /// The square root of the sum of squared magnitudes, in double precision and rounded once.
            norm = Norm {} -> reduced, [];
            /// The logarithm of the sum of `exp(x)`, without overflow; of nothing -inf.
            logsumexp = LogSumExp {} -> reduced, [];
            /// `exp(x - max(x)) / sum(exp(x - max(x)))`, in the shape of `x`.
            softmax = Softmax {} -> whole, [];
            /// `x - logsumexp(x)` without cancellation, in the shape of `x`.
            log_softmax = LogSoftmax {} -> whole, [];
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

macro_rules! define_axis_functions {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident = $function:ident { $($parameter:ident: $type:ty = $default:literal),* }
            -> $result:ident, [$($alias:literal),*];
    )*) => {
        /// A function along axes.
        ///
        /// ```
        /// use indim_graph::{Along, AxisFunction, GraphBuilder};
        /// use indim_ops::DType;
        ///
        /// let b = GraphBuilder::new();
        /// let x = b.parameter("x", DType::F32, [4, 3])?;
        /// let mean = b.along(AxisFunction::Mean, &x, &Along::axes(&[0]), &[])?;
        /// assert_eq!(mean.array_type()?.to_string(), "f32[3]");
        /// # Ok::<(), indim_graph::GraphError>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum AxisFunction {
            $($(#[doc = $doc])+ $function,)*
        }

        impl AxisFunction {
            /// Every function along axes, in the order of the table.
            pub const ALL: &[AxisFunction] = &[$(AxisFunction::$function),*];

            /// The name in indim's text.
            pub const fn name(self) -> &'static str {
                match self { $(AxisFunction::$function => stringify!($name),)* }
            }

            /// What the function gives, with its edge cases.
            pub fn doc(self) -> &'static str {
                match self { $(AxisFunction::$function => concat!($($doc),+).trim(),)* }
            }

            /// The names that other systems use.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(AxisFunction::$function => &[$($alias),*],)* }
            }

            /// The numbers that it takes beside the operand and the axes.
            pub const fn parameters(self) -> &'static [Parameter] {
                match self {
                    $(AxisFunction::$function => const {
                        &[$(Parameter::new::<$type>(stringify!($parameter), &[stringify!($default)])),*]
                    },)*
                }
            }

            /// Whether the result has the shape of the operand, so that no axis goes.
            pub const fn keeps_shape(self) -> bool {
                match self { $(AxisFunction::$function => keeps_shape!($result),)* }
            }

            fn define(
                self,
                reduced: &definitions::Reduced<'_>,
                numbers: &[Option<Literal>],
            ) -> BuildResult {
                let mut numbers = numbers.iter().copied();
                let mut next = || numbers.next().flatten();
                match self {
                    $(AxisFunction::$function => {
                        definitions::$name(reduced $(, argument::<$type>(next(), Some($default)))*)
                    })*
                }
            }
        }
    };
}

for_each_axis_function!(define_axis_functions);

impl AxisFunction {
    /// Whether the function takes elements of type `dtype`.
    pub fn takes(self, dtype: DType) -> bool {
        use AxisFunction::{ArgMax, ArgMin, Max, Min, Ptp};
        match self {
            Max | Min | ArgMax | ArgMin => dtype.class() != DTypeClass::Complex,
            Ptp => dtype.is_integer() || dtype.is_float(),
            _ if self.takes_only_floats() => dtype.is_float(),
            _ => true,
        }
    }

    /// Whether the function takes floats alone.
    pub fn takes_only_floats(self) -> bool {
        use AxisFunction::{LogSoftmax, LogSumExp, Softmax};
        matches!(self, LogSumExp | Softmax | LogSoftmax)
    }
}

impl FromStr for AxisFunction {
    type Err = UnknownOp;

    /// Reads the name or another one, in any of their spellings (`log_softmax`, `LogSoftmax`).
    fn from_str(text: &str) -> Result<Self, UnknownOp> {
        let is_meant =
            |function: &AxisFunction| is_called(text, function.name(), function.aliases());
        AxisFunction::ALL.iter().copied().find(is_meant).ok_or(UnknownOp)
    }
}

/// Along which axes, and what is left of them.
///
/// ```
/// use indim_graph::{Along, Array, AxisFunction, GraphBuilder, evaluate};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let along = Along { keepdims: true, ..Along::axes(&[-1]) };
/// let largest = b.along(AxisFunction::Max, &x, &along, &[])?;
/// assert_eq!(largest.array_type()?.to_string(), "f32[2, 1]");
/// let graph = b.finish(&[largest])?;
/// let x = Array::new([2, 3], vec![1.0f32, 3.0, 2.0, -1.0, -3.0, -2.0])?;
/// assert_eq!(evaluate(&graph, &[x])?[0].elements::<f32>(), Some(&[3.0, -1.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Along {
    /// The axes, from the end where they are negative; all without a list.
    pub axes: Option<Vec<i64>>,
    /// Whether the axes stay, with size 1.
    pub keepdims: bool,
    /// Whether integers are summed in 64 bits, as under the numpy rule.
    pub widens_integers: bool,
}

impl Along {
    /// What says in a text whether the axes stay.
    pub const KEEPDIMS: Parameter = Parameter::new::<bool>("keepdims", &["false"]);

    /// Along these axes, which go; integers keep their type.
    pub fn axes(axes: &[i64]) -> Along {
        Along { axes: Some(axes.to_vec()), ..Along::default() }
    }
}

impl GraphBuilder {
    /// A function along axes; `numbers` are its [parameters](AxisFunction::parameters), or nothing for their
    /// defaults.
    ///
    /// # Errors
    /// `axis-out-of-range`; `axes-not-unique`; TY1 `element-type-not-allowed`; `empty-reduction` where an
    /// extreme is sought among nothing; E5 `too-large`.
    #[track_caller]
    pub fn along(
        &self,
        function: AxisFunction,
        operand: impl Operand,
        along: &Along,
        numbers: &[Option<Literal>],
    ) -> BuildResult {
        let id = self.given_id(function.name(), operand)?;
        let array_type = self.type_of(id);
        let broken = |kind| self.error(function.name(), &[id], kind);
        let axes = checked_axes(along, array_type.shape.rank()).map_err(broken)?;
        check_operand(function, &axes, &array_type).map_err(broken)?;
        let reduced = definitions::Reduced::new(self.value(id), array_type, axes, along);
        function.define(&reduced, numbers)
    }
}

/// The axes as they are counted from the front, in ascending order.
fn checked_axes(along: &Along, rank: usize) -> Result<Vec<usize>, GraphErrorKind> {
    let Some(given) = &along.axes else { return Ok((0..rank).collect()) };
    let mut axes = Vec::with_capacity(given.len());
    for &axis in given {
        let counted = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(counted).ok().filter(|&axis| axis < rank) {
            Some(counted) if axes.contains(&counted) => {
                return Err(GraphErrorKind::AxesNotUnique { axes: given.clone() });
            }
            Some(counted) => axes.push(counted),
            None => return Err(GraphErrorKind::AxisOutOfRange { axis, rank }),
        }
    }
    axes.sort_unstable();
    Ok(axes)
}

fn check_operand(
    function: AxisFunction,
    axes: &[usize],
    operand: &ArrayType,
) -> Result<(), GraphErrorKind> {
    use AxisFunction::{ArgMax, ArgMin, Max, Min, Ptp};
    let dtype = operand.dtype;
    if !function.takes(dtype) {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype });
    }
    let seeks = matches!(function, Max | Min | ArgMax | ArgMin | Ptp);
    let is_left = |axis: &usize| !axes.contains(axis);
    let has_results = (0..operand.shape.rank()).filter(is_left).all(|axis| operand.shape[axis] > 0);
    match axes.iter().find(|&&axis| operand.shape[axis] == 0) {
        Some(&axis) if seeks && has_results => Err(GraphErrorKind::EmptyReduction { axis }),
        _ => Ok(()),
    }
}
