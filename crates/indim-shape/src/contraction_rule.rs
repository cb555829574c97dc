//! The rules of products of two operands with their attributes, as data.
//!
//! `contraction_form.rs` elaborates each rule. `einsum.rs` has the rule of any number of operands.

use alloc::vec::Vec;
use core::fmt;

/// A system's rule for the product of two operands: the summed axes, the batch axes, and the order of
/// the remaining axes in the result.
///
/// The labels of errors are those of [the rules](crate::rules#products-p). Below, `x` is the first operand
/// and `y` the second.
///
/// ```
/// use indim_shape::{ContractionRule, Shape};
///
/// let form = ContractionRule::Matmul.elaborate(&[Shape::from([5, 3]), Shape::from([3, 4])])?;
/// assert_eq!((form.result(), form.summed()), (Shape::from([5, 4]), 1));
/// # Ok::<(), indim_shape::ContractionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContractionRule {
    /// NumPy's `matmul`: sums along the last axis of `x` and the second last of `y`. An operand of rank 1
    /// is a row on the left and a column on the right, and adds no axis to the result. The other axes
    /// broadcast.
    Matmul,
    /// NumPy's `dot`: sums along the last axis of `x` and the second last of `y`, or its only axis. No
    /// batch axes.
    Dot,
    /// NumPy's `inner`: sums along the last axis of `x` and the last of `y`. No batch axes.
    Inner,
    /// NumPy's `matvec`: matrices in the last two axes of `x` times vectors in the last axis of `y`. The
    /// other axes broadcast.
    Matvec,
    /// NumPy's `vecmat`: vectors in the last axis of `x` times matrices in the last two axes of `y`. The
    /// other axes broadcast.
    Vecmat,
    /// NumPy's `vecdot`: sums along one axis of each operand. The other axes broadcast.
    Vecdot {
        /// The axis of both operands; negative ones count from the end of each.
        axis: i64,
    },
    /// NumPy's `tensordot`: sums along the listed axes, in pairs. No batch axes.
    Tensordot {
        /// The summed axes of `x`; negative ones count from the end.
        x: Vec<i64>,
        /// The summed axes of `y`, in the order of those of `x`.
        y: Vec<i64>,
    },
    /// XLA's `dot_general`: listed batch axes and listed summed axes, each in pairs. The result has the
    /// batch axes, then the remaining axes of `x`, then those of `y`.
    DotGeneral(DotDimensions),
}

/// The attributes of XLA's `dot_general`.
///
/// ```
/// use indim_shape::{ContractionRule, DotDimensions, Shape};
///
/// let dimensions = DotDimensions {
///     lhs_batch: vec![0],
///     rhs_batch: vec![2],
///     lhs_contracting: vec![1],
///     rhs_contracting: vec![0],
/// };
/// let rule = ContractionRule::DotGeneral(dimensions);
/// let form = rule.elaborate(&[Shape::from([7, 3, 5]), Shape::from([3, 4, 7])])?;
/// assert_eq!(form.result(), Shape::from([7, 5, 4]));
/// # Ok::<(), indim_shape::ContractionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct DotDimensions {
    /// `lhs_batching_dimensions`.
    pub lhs_batch: Vec<i64>,
    /// `rhs_batching_dimensions`.
    pub rhs_batch: Vec<i64>,
    /// `lhs_contracting_dimensions`.
    pub lhs_contracting: Vec<i64>,
    /// `rhs_contracting_dimensions`.
    pub rhs_contracting: Vec<i64>,
}

/// The rule with its attributes: `tensordot axes=([1], [0])`.
impl fmt::Display for ContractionRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContractionRule::Matmul => formatter.write_str("matmul"),
            ContractionRule::Dot => formatter.write_str("dot"),
            ContractionRule::Inner => formatter.write_str("inner"),
            ContractionRule::Matvec => formatter.write_str("matvec"),
            ContractionRule::Vecmat => formatter.write_str("vecmat"),
            ContractionRule::Vecdot { axis } => write!(formatter, "vecdot axis={axis}"),
            ContractionRule::Tensordot { x, y } => {
                write!(formatter, "tensordot axes=({x:?}, {y:?})")
            }
            ContractionRule::DotGeneral(dimensions) => {
                let DotDimensions { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } =
                    dimensions;
                write!(
                    formatter,
                    "dot_general batching_dims={lhs_batch:?} x {rhs_batch:?} \
                     contracting_dims={lhs_contracting:?} x {rhs_contracting:?}"
                )
            }
        }
    }
}
