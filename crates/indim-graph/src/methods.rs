//! A method of the builder for each operation of the table in `op.rs`: on [`GraphBuilder`] itself with
//! XLA's `broadcast_dimensions`, on [`Under`] with a rule set said once.

use indim_shape::RuleSet;

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::op::Op;

impl GraphBuilder {
    /// Operations under `rule`: `b.under(RuleSet::Numpy).add(x, y)`.
    pub fn under(&self, rule: RuleSet) -> Under<'_> {
        Under { builder: self, rule }
    }

    /// Operations on equal shapes.
    pub fn none(&self) -> Under<'_> {
        self.under(RuleSet::None)
    }

    /// Operations under NumPy's rule.
    pub fn numpy(&self) -> Under<'_> {
        self.under(RuleSet::Numpy)
    }

    /// Operations under the PDPD rule with `axis`.
    pub fn pdpd(&self, axis: i64) -> Under<'_> {
        self.under(RuleSet::Pdpd { axis: Some(axis) })
    }
}

/// The operations under one rule set; see [`GraphBuilder::under`].
#[derive(Debug, Clone)]
pub struct Under<'b> {
    builder: &'b GraphBuilder,
    rule: RuleSet,
}

macro_rules! define_methods {
    (
        unary { $(#[doc = $udoc:literal] $uname:ident = $uop:ident $uclasses:tt -> $uresult:ident, $ulaws:tt, $ualiases:tt;)* }
        binary { $(#[doc = $bdoc:literal] $bname:ident = $bop:ident $bclasses:tt -> $bresult:ident, $blaws:tt, $baliases:tt;)* }
        ternary { $(#[doc = $tdoc:literal] $tname:ident = $top:ident $tfirst:tt $tclasses:tt -> $tresult:ident, $tlaws:tt, $taliases:tt;)* }
    ) => {
        /// The operations of the table, with XLA's `broadcast_dimensions` on the binary ones.
        impl GraphBuilder {
            $(
                #[doc = $udoc]
                ///
                /// # Errors
                /// TY1.
                pub fn $uname<'b>(&'b self, x: Value<'b>) -> BuildResult<'b> {
                    self.elementwise(Op::$uop, &[x], &RuleSet::None)
                }
            )*
            $(
                #[doc = $bdoc]
                ///
                /// # Errors
                /// TY1, X1 to X9.
                pub fn $bname<'b>(&'b self, x: Value<'b>, y: Value<'b>, broadcast_dimensions: &[i64]) -> BuildResult<'b> {
                    self.elementwise(Op::$bop, &[x, y], &RuleSet::Xla { dims: broadcast_dimensions.to_vec() })
                }
            )*
            $(
                #[doc = $tdoc]
                ///
                /// # Errors
                /// TY1, TY2, and XLA's rule for ternary operations: scalars, or equal shapes.
                pub fn $tname<'b>(&'b self, first: Value<'b>, second: Value<'b>, third: Value<'b>) -> BuildResult<'b> {
                    self.elementwise(Op::$top, &[first, second, third], &RuleSet::Xla { dims: Vec::new() })
                }
            )*
        }

        impl<'b> Under<'b> {
            $(
                #[doc = $bdoc]
                ///
                /// # Errors
                /// TY1, TY2, then the labels of the rule set.
                pub fn $bname(&self, x: Value<'b>, y: Value<'b>) -> BuildResult<'b> {
                    self.builder.elementwise(Op::$bop, &[x, y], &self.rule)
                }
            )*
            $(
                #[doc = $tdoc]
                ///
                /// # Errors
                /// TY1, TY2, then the labels of the rule set.
                pub fn $tname(&self, first: Value<'b>, second: Value<'b>, third: Value<'b>) -> BuildResult<'b> {
                    self.builder.elementwise(Op::$top, &[first, second, third], &self.rule)
                }
            )*
        }
    };
}

crate::for_each_op!(define_methods);
