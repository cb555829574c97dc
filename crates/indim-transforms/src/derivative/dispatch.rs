//! Dispatch from operations to their derivative rules.
//!
//! Only this file matches on the operation. The match is generated from the table of operations: a row
//! without a rule of its name does not compile.

use indim_ops::{Op, for_each_op};

use super::rule::{
    BinaryArguments, NotDifferentiable, RuleResult, TernaryArguments, UnaryArguments,
};
use indim_builder::Value;

/// The rules, named like their operations.
mod rules {
    pub(super) use crate::derivative::arithmetic::*;
    pub(super) use crate::derivative::choice::*;
    pub(super) use crate::derivative::complex::*;
    pub(super) use crate::derivative::elementary::*;
    pub(super) use crate::derivative::flat::*;
}

macro_rules! define_dispatch {
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
        /// The cotangents of the operands of `op` with result `y`; `None`, or an empty list, for zero
        /// derivatives.
        pub(super) fn elementwise(
            op: Op,
            operands: &[Value],
            y: &Value,
            cotangent: &Value,
        ) -> Result<Vec<Option<Value>>, NotDifferentiable> {
            match (op, operands) {
                $((Op::$uop, [x]) => {
                    rules::$uname(UnaryArguments { x, y, cotangent }).into_cotangents()
                })*
                $((Op::$bop, [a, b]) => {
                    rules::$bname(BinaryArguments { a, b, y, cotangent }).into_cotangents()
                })*
                $((Op::$top, [a, b, c]) => {
                    rules::$tname(TernaryArguments { a, b, c, cotangent }).into_cotangents()
                })*
                _ => unreachable!("invariant: the builder checked the number of operands"),
            }
        }
    };
}

for_each_op!(define_dispatch);
