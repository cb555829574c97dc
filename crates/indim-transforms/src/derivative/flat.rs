//! Operations with zero derivatives (steps, conditions, integer and bit operations), and those that are not
//! differentiable.

use super::rule::{BinaryArguments, NotDifferentiable, UnaryArguments, ZeroDerivative};

macro_rules! flat {
    ($operands:ident: $($name:ident)*) => {
        $(pub(super) fn $name(_: $operands<'_>) -> ZeroDerivative {
            ZeroDerivative
        })*
    };
}

flat! { UnaryArguments: floor ceil trunc round_even round_away }
flat! { UnaryArguments: is_finite is_nan is_inf }
flat! { UnaryArguments: not popcnt clz }
flat! { BinaryArguments: floor_div }
flat! { BinaryArguments: eq ne lt le gt ge total_eq total_ne total_lt total_le total_gt total_ge }
flat! { BinaryArguments: and or xor shl shr_arithmetic shr_logical mulhi }

/// The neighbour of a float depends on the spacing of the format, which has no derivative.
pub(super) fn nextafter(_: BinaryArguments<'_>) -> NotDifferentiable {
    NotDifferentiable
}

/// Its derivative is `polygamma(2, x)`, which is not an operation.
pub(super) fn trigamma(_: UnaryArguments<'_>) -> NotDifferentiable {
    NotDifferentiable
}
