//! Dispatch from operations to their derivative rules.
//!
//! This is the only place that matches on the operation, and the table of operations writes the match: a row
//! without a function of its name among the rules does not compile.

use indim_ops::{Op, for_each_op};

use super::rule::{Binary, Given, Refused, Ternary, Unary};
use crate::builder::Value;

/// The rules by the names of their operations.
mod rules {
    pub(super) use crate::derivative::arithmetic::*;
    pub(super) use crate::derivative::choice::*;
    pub(super) use crate::derivative::elementary::*;
    pub(super) use crate::derivative::flat::*;
    pub(super) use crate::derivative::parts::*;
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
        /// The cotangents of the operands of `op`, whose result is `y`; none where nothing flows.
        pub(super) fn elementwise(
            op: Op,
            operands: &[Value],
            y: &Value,
            cotangent: &Value,
        ) -> Result<Vec<Option<Value>>, Refused> {
            match (op, operands) {
                $((Op::$uop, [x]) => rules::$uname(Unary { x, y, cotangent }).given(),)*
                $((Op::$bop, [a, b]) => rules::$bname(Binary { a, b, y, cotangent }).given(),)*
                $((Op::$top, [a, b, c]) => rules::$tname(Ternary { a, b, c, cotangent }).given(),)*
                _ => unreachable!("invariant: the builder checked the number of operands"),
            }
        }
    };
}

for_each_op!(define_dispatch);
