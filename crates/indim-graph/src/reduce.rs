//! Reductions along one axis: what a `Reduce` node takes and gives, and how a builder makes one.

use indim_ops::{ArrayType, DType, Element, Fold, FoldVisitor, ReduceOp, Scalars};
use indim_shape::Shape;

use crate::array::Array;
use crate::builder::{BuildResult, GraphBuilder};
use crate::error::GraphErrorKind;
use crate::graph::NodeKind;
use crate::operand::Operand;

/// The type of what `op` makes of `operand` along `axis`.
///
/// # Errors
/// `axis-out-of-range`; TY1 `element-type-not-allowed`; `empty-reduction` for a search among nothing.
pub(crate) fn check_reduction(
    op: ReduceOp,
    axis: i64,
    operand: &ArrayType,
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let rank = operand.shape.rank();
    let Some(axis) = usize::try_from(axis).ok().filter(|&axis| axis < rank) else {
        return Err(GraphErrorKind::AxisOutOfRange { axis, rank });
    };
    if !op.takes(operand.dtype) {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: operand.dtype });
    }
    let shape = without_axis(&operand.shape, axis);
    if op.is_search() && operand.shape[axis] == 0 && !shape.contains(&0) {
        return Err(GraphErrorKind::EmptyReduction { axis });
    }
    Ok((axis, ArrayType::new(op.result_dtype(operand.dtype), shape)))
}

/// The shape that is left of `shape` when `axis` goes.
pub(crate) fn without_axis(shape: &Shape, axis: usize) -> Shape {
    let kept = shape.iter().enumerate().filter(|&(other, _)| other != axis);
    kept.map(|(_, &size)| size).collect::<Vec<usize>>().into()
}

/// What `op` makes of no elements of type `dtype`: a scalar that changes none that it is combined with.
///
/// # Panics
/// When `op` does not take the type.
pub(crate) fn identity(op: ReduceOp, dtype: DType) -> Array {
    op.visit(dtype, Identity).expect("invariant: the element type has been checked")
}

struct Identity;

impl FoldVisitor for Identity {
    type Output = Array;

    fn fold<F: Fold<T>, T: Element>(self) -> Array {
        Array::scalar(F::identity::<Scalars>().canonical())
    }
}

impl GraphBuilder {
    /// Reduces along one axis, which goes; several axes are several reductions, the last axis first. The
    /// element type stays, but that `argmax` and `argmin` give `i64`: sums and products of floats are those
    /// of `f64` and `c128`, to which narrower ones are converted before.
    ///
    /// ```
    /// use indim_graph::{Array, GraphBuilder, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let graph = b.finish(&[b.reduce(ReduceOp::Add, &x, 1)?, b.reduce(ReduceOp::ArgMax, &x, 1)?])?;
    /// let results = evaluate(&graph, &[Array::new([2, 3], vec![1, 2, 3, 10, 30, 20])?])?;
    /// assert_eq!(results[0].elements::<i32>(), Some(&[6, 60][..]));
    /// assert_eq!(results[1].elements::<i64>(), Some(&[2, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`; TY1; `empty-reduction`, of a search along an axis of size 0.
    #[track_caller]
    pub fn reduce(&self, op: ReduceOp, operand: impl Operand, axis: i64) -> BuildResult {
        let id = self.given_id(op.name(), operand)?;
        match check_reduction(op, axis, &self.type_of(id)) {
            Ok((axis, array_type)) => {
                Ok(self.add_node(NodeKind::Reduce { op, axis }, &[id], array_type))
            }
            Err(kind) => Err(self.error(op.name(), &[id], kind)),
        }
    }
}
