//! The operations without a derivative to hand on: steps, conditions and what computes on integers or bits;
//! and those that are refused.

use super::rule::{Binary, Flat, Refused, Unary};

macro_rules! flat {
    ($operands:ident: $($name:ident)*) => {
        $(pub(super) fn $name(_: $operands<'_>) -> Flat {
            Flat
        })*
    };
}

flat! { Unary: floor ceil trunc round_even round_away }
flat! { Unary: is_finite is_nan is_inf }
flat! { Unary: not popcnt clz }
flat! { Binary: floor_div }
flat! { Binary: eq ne lt le gt ge total_eq total_ne total_lt total_le total_gt total_ge }
flat! { Binary: and or xor shl shr_arithmetic shr_logical mulhi }

/// The neighbour of a float moves with it in steps of the format, which no derivative tells of.
pub(super) fn nextafter(_: Binary<'_>) -> Refused {
    Refused
}

/// It would be `polygamma(2, x)`, which is no operation.
pub(super) fn trigamma(_: Unary<'_>) -> Refused {
    Refused
}
