//! Derivatives of reductions. A sum passes its cotangent to every element, a product passes it times the
//! product of the other elements. An extreme shares its cotangent evenly among the elements that equal
//! the extreme, or among the NaNs if the extreme is NaN.

use indim_graph::{Graph, GraphError, NodeKind, ValueId};
use indim_ops::{DType, ReduceOp};

use super::rule::conjugate;
use super::structural::broadcast_by_map;
use crate::BuildResult;
use indim_builder::Value;

/// A chain of reductions by one operation: a reduction along several axes. Ties for an extreme are counted
/// along all of these axes, so that each element gets the same share.
pub(super) struct ReductionChain {
    op: ReduceOp,
    /// The operand of the first reduction.
    pub source: ValueId,
    /// The axes of the source that are kept, in ascending order.
    kept_axes: Vec<usize>,
    /// The axes of the source that are reduced, in ascending order.
    reduced_axes: Vec<usize>,
    /// The source in the builder of the derivatives.
    like: Value,
}

impl ReductionChain {
    /// The longest chain that ends at a reduction. `value` returns the value in the builder of the
    /// derivatives.
    pub(super) fn ending_at(
        graph: &Graph,
        end: ValueId,
        value: impl Fn(ValueId) -> Value,
    ) -> ReductionChain {
        let NodeKind::Reduce { op, .. } = graph[end].kind else {
            unreachable!("invariant: a chain ends at a reduction")
        };
        let (mut source, mut axes) = (end, Vec::new());
        while let NodeKind::Reduce { op: other, axis } = graph[source].kind
            && other == op
        {
            axes.push(axis);
            source = graph[source].operands[0];
        }
        let mut kept_axes: Vec<usize> = (0..graph[source].array_type.shape.rank()).collect();
        let mut reduced_axes: Vec<usize> =
            axes.iter().rev().map(|&axis| kept_axes.remove(axis)).collect();
        reduced_axes.sort_unstable();
        ReductionChain { op, source, kept_axes, reduced_axes, like: value(source) }
    }

    /// A value with the kept axes, broadcast along the reduced ones.
    fn broadcast(&self, value: &Value) -> BuildResult {
        broadcast_by_map(value, self.kept_axes.clone(), &self.like)
    }

    /// A value with the source's shape, reduced along the reduced axes.
    fn fold(&self, op: ReduceOp, value: &Value) -> BuildResult {
        let fold = |folded: Value, &axis: &usize| folded.builder().reduce(op, &folded, axis as i64);
        self.reduced_axes.iter().rev().try_fold(value.clone(), fold)
    }
}

/// The cotangent of the source `x` of a chain with the result `y`; `None` if it is 0.
pub(super) fn cotangent(
    chain: &ReductionChain,
    x: &Value,
    y: &Value,
    cotangent: &Value,
) -> Result<Option<Value>, GraphError> {
    match chain.op {
        ReduceOp::Add => chain.broadcast(cotangent).map(Some),
        ReduceOp::Mul => product(chain, x, cotangent).map(Some),
        ReduceOp::Max | ReduceOp::Min => {
            let is_extreme = x.eq(chain.broadcast(y)?) | x.is_nan();
            divide_among_selected(chain, &is_extreme, cotangent).map(Some)
        }
        ReduceOp::Fmax | ReduceOp::Fmin => {
            let y = chain.broadcast(y)?;
            divide_among_selected(chain, &(x.eq(&y) | y.is_nan()), cotangent).map(Some)
        }
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor | ReduceOp::ArgMax | ReduceOp::ArgMin => {
            Ok(None)
        }
    }
}

/// The derivative with respect to an element is the product of the other elements. With one zero, only
/// the derivative with respect to the zero is not 0; with two zeros, all derivatives are 0. A derivative that
/// is 0 because of a single other zero has this zero as a factor, so that the second derivatives are right.
fn product(chain: &ReductionChain, x: &Value, cotangent: &Value) -> BuildResult {
    let is_zero = x.eq(0);
    let count = chain.broadcast(&chain.fold(ReduceOp::Add, &is_zero.convert(DType::I64))?)?;
    let others = chain.broadcast(&chain.fold(ReduceOp::Mul, &is_zero.select(1, x))?)?;
    // Divides by 1 instead of 0, so that the unselected branch has no NaN in a second derivative.
    let without_zeros = &others / is_zero.select(1, x);
    let zeros = chain.broadcast(&chain.fold(ReduceOp::Add, &is_zero.select(x, 0))?)?;
    // Zeros other than the element itself: their number, and their sum if there is one.
    let other_count = count - is_zero.convert(DType::I64);
    let other_zero = zeros - is_zero.select(x, 0);
    // The zero times an infinite product would be NaN.
    let finite = without_zeros.is_finite().select(&without_zeros, 1);
    let with_zeros = other_count.eq(1).select(other_zero * finite, 0);
    let derivative = other_count.eq(0).select(without_zeros, with_zeros);
    Ok(chain.broadcast(cotangent)? * conjugate(&derivative))
}

/// Shares the cotangent evenly among the elements for which `is_selected` is true.
fn divide_among_selected(
    chain: &ReductionChain,
    is_selected: &Value,
    cotangent: &Value,
) -> BuildResult {
    let dtype = cotangent.array_type()?.dtype;
    let count = chain.fold(ReduceOp::Add, &is_selected.convert(DType::I64))?;
    // In double precision, because a narrow float may not represent the count.
    let share = (cotangent.convert(DType::F64) / count.convert(DType::F64)).convert(dtype);
    Ok(is_selected.select(chain.broadcast(&share)?, 0))
}
