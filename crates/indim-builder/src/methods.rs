//! A method for each operation of the table in `op.rs`: on [`GraphBuilder`] with XLA's
//! `broadcast_dimensions`, on [`RuleScope`] under its rule set, on [`Value`] for equal shapes and scalars.

use indim_ops::Op;
use indim_shape::RuleSet;

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;
use crate::operand::sealed::Sealed;
use crate::operators::apply_operator;

impl GraphBuilder {
    /// Operations under `rule`: `b.under(RuleSet::Numpy).add(x, y)`.
    pub fn under(&self, rule: RuleSet) -> RuleScope {
        RuleScope { builder: self.clone(), rule }
    }

    /// Operations on equal shapes.
    pub fn none(&self) -> RuleScope {
        self.under(RuleSet::None)
    }

    /// Operations under NumPy's rule.
    pub fn numpy(&self) -> RuleScope {
        self.under(RuleSet::Numpy)
    }

    /// Operations under Paddle's element-wise rule: the second operand is broadcast onto the first, from
    /// `axis` on.
    pub fn pdpd(&self, axis: i64) -> RuleScope {
        self.under(RuleSet::Pdpd { axis: Some(axis) })
    }
}

/// The operations under one rule set; see [`GraphBuilder::under`].
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3, 4])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let sum = b.pdpd(1).add(&x, &v)?; // axis 0 of v maps to axis 1 of x
/// assert_eq!(sum.array_type()?.to_string(), "f32[2, 3, 4]");
/// assert_eq!(b.numpy().add(&x, &v).unwrap_err().code(), "size-mismatch");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RuleScope {
    pub(crate) builder: GraphBuilder,
    pub(crate) rule: RuleSet,
}

/// Defines the method of a binary operation, with the name of the operation. The methods of `max` and
/// `min` are called `maximum` and `minimum`, as in NumPy, because `max` and `min` of a value are
/// reductions.
macro_rules! binary_method {
    (max $(#[$attribute:meta])+ pub fn $($method:tt)+) => {
        $(#[$attribute])+
        pub fn maximum $($method)+
    };
    (min $(#[$attribute:meta])+ pub fn $($method:tt)+) => {
        $(#[$attribute])+
        pub fn minimum $($method)+
    };
    ($name:ident $(#[$attribute:meta])+ pub fn $($method:tt)+) => {
        $(#[$attribute])+
        pub fn $name $($method)+
    };
}

macro_rules! define_methods {
    (
        unary { $(
            $(#[doc = $udoc:literal])+ $uname:ident = $uop:ident $uclasses:tt
                -> $uresult:ident, $ufacts:tt, $ualiases:tt;
        )* }
        binary { $(
            $(#[doc = $bdoc:literal])+ $bname:ident = $bop:ident $bclasses:tt
                -> $bresult:ident, $bfacts:tt, $baliases:tt;
        )* }
        ternary { $(
            $(#[doc = $tdoc:literal])+ $tname:ident = $top:ident $tfirst:tt $tclasses:tt
                -> $tresult:ident, $tfacts:tt, $taliases:tt;
        )* }
    ) => {
        /// The operations of the table, with XLA's `broadcast_dimensions` on the binary ones.
        impl GraphBuilder {
            $(
                $(#[doc = $udoc])+
                ///
                /// # Errors
                /// [TY1](indim_shape::rules#element-types-ty) `element-type-not-allowed`.
                #[track_caller]
                pub fn $uname(&self, x: impl Operand) -> BuildResult {
                    self.operation(Op::$uop, &[x.into_arg()], &RuleSet::None)
                }
            )*
            $(binary_method! {
                $bname
                $(#[doc = $bdoc])+
                ///
                /// # Errors
                /// [TY1](indim_shape::rules#element-types-ty), [X1 to X9](indim_shape::rules#xla-x).
                #[track_caller]
                pub fn (
                    &self, x: impl Operand, y: impl Operand, broadcast_dimensions: &[i64],
                ) -> BuildResult {
                    let rule = RuleSet::Xla { dims: broadcast_dimensions.to_vec() };
                    self.operation(Op::$bop, &[x.into_arg(), y.into_arg()], &rule)
                }
            })*
            $(
                $(#[doc = $tdoc])+
                ///
                /// # Errors
                /// [TY1, TY2](indim_shape::rules#element-types-ty);
                /// [XT](indim_shape::rules#xla-x): each operand is a scalar, or has the shape of the others.
                #[track_caller]
                pub fn $tname(
                    &self, first: impl Operand, second: impl Operand, third: impl Operand,
                ) -> BuildResult {
                    let operands = [first.into_arg(), second.into_arg(), third.into_arg()];
                    self.operation(Op::$top, &operands, &RuleSet::Xla { dims: Vec::new() })
                }
            )*
        }

        impl RuleScope {
            $(binary_method! {
                $bname
                $(#[doc = $bdoc])+
                ///
                /// # Errors
                /// [TY1, TY2](indim_shape::rules#element-types-ty), then the
                /// labels of [the rule set](indim_shape::rules).
                #[track_caller]
                pub fn (&self, x: impl Operand, y: impl Operand) -> BuildResult {
                    self.builder.operation(Op::$bop, &[x.into_arg(), y.into_arg()], &self.rule)
                }
            })*
            $(
                $(#[doc = $tdoc])+
                ///
                /// # Errors
                /// [TY1, TY2](indim_shape::rules#element-types-ty), then the
                /// labels of [the rule set](indim_shape::rules).
                #[track_caller]
                pub fn $tname(
                    &self, first: impl Operand, second: impl Operand, third: impl Operand,
                ) -> BuildResult {
                    let operands = [first.into_arg(), second.into_arg(), third.into_arg()];
                    self.builder.operation(Op::$top, &operands, &self.rule)
                }
            )*
        }

        /// The operations of the table on equal shapes, or on a scalar and any shape.
        #[allow(clippy::should_implement_trait, reason = "the operators of the same names do the same")]
        impl Value {
            $(
                $(#[doc = $udoc])+
                #[track_caller]
                pub fn $uname(&self) -> Value {
                    apply_operator(self.builder(), Op::$uop, &[self.into_arg()])
                }
            )*
            $(binary_method! {
                $bname
                $(#[doc = $bdoc])+
                #[track_caller]
                pub fn (&self, y: impl Operand) -> Value {
                    apply_operator(self.builder(), Op::$bop, &[self.into_arg(), y.into_arg()])
                }
            })*
        }
    };
}

indim_ops::for_each_op!(define_methods);
