//! Operations with zero derivatives (steps, conditions, integer and bit operations), and those that are not
//! differentiable.

use super::rule::{Binary, NotDifferentiable, Unary, ZeroDerivative};

macro_rules! flat {
    ($operands:ident: $($name:ident)*) => {
        $(pub(super) fn $name(_: $operands<'_>) -> ZeroDerivative {
            ZeroDerivative
        })*
    };
}

flat! { Unary: floor ceil trunc round_even round_away }
flat! { Unary: is_finite is_nan is_inf }
flat! { Unary: not popcnt clz }
flat! { Binary: floor_div }
flat! { Binary: eq ne lt le gt ge total_eq total_ne total_lt total_le total_gt total_ge }
flat! { Binary: and or xor shl shr_arithmetic shr_logical mulhi }

/// The neighbour of a float depends on the spacing of the format, which has no derivative.
pub(super) fn nextafter(_: Binary<'_>) -> NotDifferentiable {
    NotDifferentiable
}

/// Its derivative is `polygamma(2, x)`, which is not an operation.
pub(super) fn trigamma(_: Unary<'_>) -> NotDifferentiable {
    NotDifferentiable
}
