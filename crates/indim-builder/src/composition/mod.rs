//! The table of compositions: functions composed of several operations of `op.rs`, and the code generated
//! from the table.
//!
//! A row has the name, the parameters with their defaults, the accepted element types, the promotion
//! under NumPy's rule of integers and `bool` that are not accepted, the result type, other names, and the
//! documentation. If the documentation begins with a text in backquotes, the text is the formula in the
//! language of expressions, and a test compares it with the definition. The function of the same name in
//! one of the modules here is the definition.
//!
//! The executors fuse the nodes of a composition. Unless its documentation states otherwise, every step is
//! rounded to the operands' element type, and so are the parameters.
//!
//! - `activation.rs`: activation functions of neural networks;
//! - `numeric.rs`: functions of NumPy;
//! - `reduce_precision.rs`: `reduce_precision`, rounding to a float format with fewer bits.

mod activation;
mod numeric;
mod reduce_precision;

use core::fmt;
use core::str::FromStr;

use indim_graph::parameter::{Parameter, argument};
use indim_graph::signature::check_operands;
use indim_graph::{GraphError, GraphErrorKind, Literal};
use indim_shape::RuleSet;

pub(crate) use reduce_precision::float_format;

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::methods::RuleScope;
use crate::operand::{Operand, OperandArg};
use indim_ops::{Arity, DType, UnknownOp, is_called, is_of_word};

/// Hands the table of compositions to another macro.
macro_rules! for_each_composition {
    ($callback:ident) => {
        $callback! {
            unary {
                /// `max(x, 0)`; NaN stays NaN.
                relu = Relu {} [signed unsigned float] f64 -> same, [];
                /// `where(x > 0, x, alpha * expm1(x))`.
                elu = Elu { alpha: f64 = 1.0 } [float] f64 -> same, [];
                /// `1.0507009873554805 * elu(x, 1.6732632423543772)`.
                selu = Selu {} [float] f64 -> same, [];
                /// `x * 0.5 * erfc(x * -0.7071067811865476)`: `x` times the cumulative normal distribution.
                gelu = Gelu {} [float] f64 -> same, [];
                /// `x * 0.5 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * (square(x) * x))))`: the usual
                /// approximation of `gelu`.
                gelu_tanh = GeluTanh {} [float] f64 -> same, [];
                /// `x * logistic(beta * x)`.
                swish = Swish { beta: f64 = 1.0 } [float] f64 -> same, ["silu"];
                /// `logaddexp(x, 0)`: `log(1 + e^x)` without overflow.
                softplus = Softplus {} [float] f64 -> same, [];
                /// `x / (abs(x) + 1)`.
                softsign = Softsign {} [float] f64 -> same, [];
                /// `x * tanh(softplus(x))`.
                mish = Mish {} [float] f64 -> same, [];
                /// `clamp(0, alpha * x + beta, 1)`.
                hard_sigmoid = HardSigmoid { alpha: f64 = 0.2, beta: f64 = 0.5 } [float] f64 -> same, [];
                /// `x * clamp(0, x + 3, 6) / 6`.
                hard_swish = HardSwish {} [float] f64 -> same, [];
                /// `x` itself. Not defined for `bool`, like in NumPy.
                positive = Positive {} [signed unsigned float complex] f64 -> same, [];
                /// Degrees in radians: `x * (pi / 180)`, 16-bit floats in f32.
                deg2rad = Deg2Rad {} [float] function -> same, ["radians"];
                /// Radians in degrees: `x * (180 / pi)`, 16-bit floats in f32.
                rad2deg = Rad2Deg {} [float] function -> same, ["degrees"];
                /// 1 at 0, else `sin(pi * x) / (pi * x)`, 16-bit floats in f32. At other integers the result
                /// is not 0, but has the size of the rounding error of `pi * x`.
                sinc = Sinc {} [float complex] f64 -> same, [];
                /// Replaces NaN by `nan` and the infinities by `posinf` and `neginf`, by default the finite
                /// extremes of the type. Complex numbers: each part. Integers and `bool` are unchanged.
                nan_to_num = NanToNum {
                    nan: f64 = 0.0, posinf: Option<f64> = None, neginf: Option<f64> = None
                }
                    [boolean signed unsigned float complex] f64
                    -> same,
                    [];
                /// Rounds to `decimals` digits after the decimal point, or before it if `decimals` is
                /// negative; ties to even. Floats: `round_even(x * p) / p` with `p = 10^decimals`, or
                /// `round_even(x / p) * p` with `p = 10^-decimals`, 16-bit floats in f32; a float for which
                /// `x * p` overflows is unchanged. Integers: exact, and wrapping; 0 if their type does not
                /// represent `p`. Complex numbers: each part.
                round = Round { decimals: i64 = 0 } [signed unsigned float complex] function -> same,
                    ["around"];
                /// Rounds to a float format with these numbers of bits, ties to even. Overflow gives
                /// infinity; a subnormal number of that format becomes zero with the sign of `x`. NaN stays
                /// NaN, or becomes inf if `mantissa_bits` is 0.
                reduce_precision = ReducePrecision { exponent_bits: u32, mantissa_bits: u32 } [float] f64
                    -> same,
                    [];
            }
            binary {
                /// `where(x == 0, y, max(sign(x), 0))`: the step function, 0 below zero and 1 above, with
                /// value `y` at 0. A NaN `x` stays NaN.
                heaviside = Heaviside {} [float] function -> same, [];
                /// `(abs(x - y) <= atol + rtol * abs(y)) & is_finite(y) | (x == y)`; with `equal_nan` also
                /// true if both are NaN. Not symmetric.
                isclose = IsClose { rtol: f64 = 1e-5, atol: f64 = 1e-8, equal_nan: bool = false }
                    [float complex] f64
                    -> boolean,
                    [];
                /// `pow(x, y)` in at least double precision: under the numpy rule every operand is converted
                /// to `f64` or `c128`.
                float_power = FloatPower {} [f64_c128] f64 -> same, [];
            }
        }
    };
}

/// The promotion, under NumPy's rule, of integers and `bool` that a composition does not accept.
///
/// ```
/// use indim_builder::{Composition, IntegerPromotion};
/// assert_eq!(Composition::Gelu.integer_promotion(), IntegerPromotion::F64);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerPromotion {
    /// To `f64`, like in a formula that multiplies them by a float.
    F64,
    /// To the float type of NumPy's functions: `f16` for 8 bits, `f32` for 16 bits, else `f64`.
    FunctionFloat,
}

macro_rules! integer_promotion {
    (f64) => {
        IntegerPromotion::F64
    };
    (function) => {
        IntegerPromotion::FunctionFloat
    };
}

macro_rules! is_boolean {
    (boolean) => {
        true
    };
    (same) => {
        false
    };
}

/// A row of the table as data.
struct CompositionInfo {
    name: &'static str,
    doc: &'static str,
    arity: Arity,
    parameters: &'static [Parameter],
    takes: fn(DType) -> bool,
    integer_promotion: IntegerPromotion,
    is_predicate: bool,
    aliases: &'static [&'static str],
}

macro_rules! define_compositions {
    (
        unary { $(
            $(#[doc = $udoc:literal])+
            $uname:ident = $uop:ident { $($uparameter:ident: $utype:ty $(= $udefault:expr)?),* }
                [$($uclass:ident)*] $uwhole:ident -> $uresult:ident, [$($ualias:literal),*];
        )* }
        binary { $(
            $(#[doc = $bdoc:literal])+
            $bname:ident = $bop:ident { $($bparameter:ident: $btype:ty $(= $bdefault:expr)?),* }
                [$($bclass:ident)*] $bwhole:ident -> $bresult:ident, [$($balias:literal),*];
        )* }
    ) => {
        /// A function composed of several operations of the table.
        ///
        /// ```
        /// use indim_builder::{Composition, GraphBuilder};
        /// use indim_graph::Literal;
        /// use indim_ops::DType;
        /// use indim_shape::RuleSet;
        ///
        /// let elu: Composition = "elu".parse()?;
        /// assert_eq!((elu.name(), elu.arity().count()), ("elu", 1));
        /// assert_eq!(elu.parameters()[0].name(), "alpha");
        ///
        /// let b = GraphBuilder::new();
        /// let x = b.parameter("x", DType::F32, [3])?;
        /// let by_name = b.compose(elu, &[x.clone()], &[Some(Literal::Float(0.5))], &RuleSet::None)?;
        /// let by_method = b.elu(&x, 0.5)?;
        /// assert_eq!(b.finish(&[by_name])?, b.finish(&[by_method])?);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Composition {
            $($(#[doc = $udoc])+ $uop,)*
            $($(#[doc = $bdoc])+ $bop,)*
        }

        impl Composition {
            /// Every composition, in the order of the table.
            pub const ALL: &[Composition] = &[$(Composition::$uop,)* $(Composition::$bop,)*];

            const fn info(self) -> &'static CompositionInfo {
                match self {
                    $(Composition::$uop => const { &CompositionInfo {
                        name: stringify!($uname), doc: concat!($($udoc),+), arity: Arity::Unary,
                        parameters: &[$(
                            Parameter::new::<$utype>(stringify!($uparameter), &[$(stringify!($udefault))?])
                        ),*],
                        takes: |dtype| $(is_of_word!($uclass dtype))||*,
                        integer_promotion: integer_promotion!($uwhole),
                        is_predicate: is_boolean!($uresult), aliases: &[$($ualias),*],
                    } },)*
                    $(Composition::$bop => const { &CompositionInfo {
                        name: stringify!($bname), doc: concat!($($bdoc),+), arity: Arity::Binary,
                        parameters: &[$(
                            Parameter::new::<$btype>(stringify!($bparameter), &[$(stringify!($bdefault))?])
                        ),*],
                        takes: |dtype| $(is_of_word!($bclass dtype))||*,
                        integer_promotion: integer_promotion!($bwhole),
                        is_predicate: is_boolean!($bresult), aliases: &[$($balias),*],
                    } },)*
                }
            }
        }

        /// The compositions of the table, with XLA's `broadcast_dimensions` for compositions of two
        /// operands.
        impl GraphBuilder {
            $(
                $(#[doc = $udoc])+
                ///
                /// # Errors
                /// [TY1](indim_shape::rules#element-types-ty) `element-type-not-allowed`.
                #[track_caller]
                pub fn $uname(&self, x: impl Operand, $($uparameter: $utype),*) -> BuildResult {
                    let [x] = self.composition_operands(Composition::$uop, [x.into_arg()], &RuleSet::None)?;
                    definition::$uname(&x, $($uparameter),*)
                }
            )*
            $(
                $(#[doc = $bdoc])+
                ///
                /// # Errors
                /// [TY1](indim_shape::rules#element-types-ty), [X1 to X9](indim_shape::rules#xla-x).
                #[track_caller]
                pub fn $bname(
                    &self,
                    x: impl Operand,
                    y: impl Operand,
                    $($bparameter: $btype,)*
                    broadcast_dimensions: &[i64],
                ) -> BuildResult {
                    let rule = RuleSet::Xla { dims: broadcast_dimensions.to_vec() };
                    self.under(rule).$bname(x, y, $($bparameter),*)
                }
            )*

            /// A composition with numbers for its parameters, in order; `None` for the default.
            ///
            /// # Errors
            /// `wrong-operand-count`; [TY1, TY2](indim_shape::rules#element-types-ty), then the labels of
            /// [the rule set](indim_shape::rules).
            ///
            /// # Panics
            /// If a parameter does not accept its number, or a number without a default is missing.
            pub fn compose(
                &self,
                composition: Composition,
                operands: &[Value],
                arguments: &[Option<Literal>],
                rule: &RuleSet,
            ) -> BuildResult {
                let mut given = arguments.iter().copied();
                match (composition, operands) {
                    $((Composition::$uop, [x]) => {
                        self.$uname(x, $({
                            let default = Option::<$utype>::None $(.or(Some($udefault)))?;
                            argument::<$utype>(given.next().flatten(), default)
                        }),*)
                    })*
                    $((Composition::$bop, [x, y]) => {
                        self.under(rule.clone()).$bname(x, y, $({
                            let default = Option::<$btype>::None $(.or(Some($bdefault)))?;
                            argument::<$btype>(given.next().flatten(), default)
                        }),*)
                    })*
                    _ => {
                        let kind = GraphErrorKind::WrongOperandCount {
                            expected: composition.arity().count(), given: operands.len(),
                        };
                        Err(GraphError::new(kind, composition.name(), Vec::new()))
                    }
                }
            }
        }

        impl RuleScope {
            $(
                $(#[doc = $bdoc])+
                ///
                /// # Errors
                /// [TY1, TY2](indim_shape::rules#element-types-ty), then the
                /// labels of [the rule set](indim_shape::rules).
                #[track_caller]
                pub fn $bname(
                    &self, x: impl Operand, y: impl Operand, $($bparameter: $btype),*
                ) -> BuildResult {
                    let operands = [x.into_arg(), y.into_arg()];
                    let [x, y] = self.builder.composition_operands(Composition::$bop, operands, &self.rule)?;
                    definition::$bname(&x, &y, $($bparameter),*)
                }
            )*
        }

        /// The compositions of the table on equal shapes, or on a scalar and any shape.
        impl Value {
            $(
                $(#[doc = $udoc])+
                #[track_caller]
                pub fn $uname(&self, $($uparameter: $utype),*) -> Value {
                    self.builder().defer_error(self.builder().$uname(self, $($uparameter),*))
                }
            )*
            $(
                $(#[doc = $bdoc])+
                #[track_caller]
                pub fn $bname(&self, y: impl Operand, $($bparameter: $btype),*) -> Value {
                    self.builder().defer_error(self.builder().$bname(self, y, $($bparameter,)* &[]))
                }
            )*
        }

        /// Definitions of the compositions, by name.
        mod definition {
            pub(super) use super::activation::*;
            pub(super) use super::numeric::*;
            pub(super) use super::reduce_precision::*;
        }
    };
}

for_each_composition!(define_compositions);

impl Composition {
    /// The name in expressions, in Python and of the builder's method.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Documentation: the formula in backquotes, if any, and the edge cases.
    pub fn doc(self) -> &'static str {
        self.info().doc.trim()
    }

    /// The number of operands.
    pub const fn arity(self) -> Arity {
        self.info().arity
    }

    /// The parameters after the operands.
    pub const fn parameters(self) -> &'static [Parameter] {
        self.info().parameters
    }

    /// The names that other systems use.
    pub const fn aliases(self) -> &'static [&'static str] {
        self.info().aliases
    }

    /// Whether the composition accepts elements of type `dtype`.
    pub fn takes(self, dtype: DType) -> bool {
        (self.info().takes)(dtype)
    }

    /// The element type of the result for operands of type `dtype`.
    pub const fn result_dtype(self, dtype: DType) -> DType {
        if self.info().is_predicate { DType::Bool } else { dtype }
    }

    /// NumPy's promotion of integers and `bool`.
    pub const fn integer_promotion(self) -> IntegerPromotion {
        self.info().integer_promotion
    }
}

impl GraphBuilder {
    /// The operands of a composition, checked and broadcast to the shape of its result.
    #[track_caller]
    fn composition_operands<const COUNT: usize>(
        &self,
        composition: Composition,
        operands: [OperandArg; COUNT],
        rule: &RuleSet,
    ) -> Result<[Value; COUNT], GraphError> {
        self.broadcast_operands(composition.name(), operands, rule, |types| {
            let count = composition.arity().count();
            let dtype = check_operands(types, count, false, |dtype| composition.takes(dtype))?;
            Ok(composition.result_dtype(dtype))
        })
    }
}

impl fmt::Display for Composition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Composition {
    type Err = UnknownOp;

    /// Reads the name or an alias, in any spelling (`hard_swish`, `HardSwish`).
    fn from_str(text: &str) -> Result<Self, UnknownOp> {
        let is_meant =
            |composition: &Composition| is_called(text, composition.name(), composition.aliases());
        Composition::ALL.iter().copied().find(is_meant).ok_or(UnknownOp)
    }
}
