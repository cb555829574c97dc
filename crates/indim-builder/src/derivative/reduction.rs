//! Derivatives of reductions. A sum passes its cotangent to every element, a product passes it times the
//! product of the other elements. An extreme shares its cotangent evenly among the elements that equal
//! the extreme.

use indim_graph::{Graph, GraphError, NodeKind, ValueId};
use indim_ops::{DType, ReduceOp};
use indim_shape::Shape;

use super::rule::conjugate;
use super::structural::placed;
use crate::builder::{BuildResult, Value};

/// A chain of reductions by one operation: a reduction along several axes. Ties for an extreme are counted
/// along all of these axes, so that each element gets the same share.
pub(super) struct ReductionChain {
    op: ReduceOp,
    /// The operand of the first reduction.
    pub source: ValueId,
    /// The axes of the source that are kept, in ascending order.
    kept: Vec<usize>,
    /// The axes of the source that are reduced, in ascending order.
    reduced: Vec<usize>,
    shape: Shape,
}

impl ReductionChain {
    /// The longest chain that ends at a reduction.
    pub(super) fn ending_at(graph: &Graph, end: ValueId) -> ReductionChain {
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
        let shape = graph[source].array_type.shape.clone();
        let mut kept: Vec<usize> = (0..shape.rank()).collect();
        let mut reduced: Vec<usize> = axes.iter().rev().map(|&axis| kept.remove(axis)).collect();
        reduced.sort_unstable();
        ReductionChain { op, source, kept, reduced, shape }
    }

    /// A value with the kept axes, broadcast along the reduced ones.
    fn spread(&self, value: &Value) -> BuildResult {
        placed(value, self.kept.clone(), &self.shape)
    }

    /// A value with the source's shape, reduced along the reduced axes.
    fn fold(&self, op: ReduceOp, value: &Value) -> BuildResult {
        let fold = |folded: Value, &axis: &usize| folded.builder().reduce(op, &folded, axis as i64);
        self.reduced.iter().rev().try_fold(value.clone(), fold)
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
        ReduceOp::Add => chain.spread(cotangent).map(Some),
        ReduceOp::Mul => product(chain, x, cotangent).map(Some),
        ReduceOp::Max | ReduceOp::Min => {
            let is_extreme = x.eq(chain.spread(y)?) | x.is_nan();
            share_evenly(chain, &is_extreme, cotangent).map(Some)
        }
        ReduceOp::Fmax | ReduceOp::Fmin => {
            let y = chain.spread(y)?;
            share_evenly(chain, &(x.eq(&y) | y.is_nan()), cotangent).map(Some)
        }
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor | ReduceOp::ArgMax | ReduceOp::ArgMin => {
            Ok(None)
        }
    }
}

/// The derivative with respect to an element is the product of the other elements. With one zero, only
/// the derivative with respect to the zero is not 0; with two zeros, all derivatives are 0.
fn product(chain: &ReductionChain, x: &Value, cotangent: &Value) -> BuildResult {
    let is_zero = x.eq(0);
    let count = chain.spread(&chain.fold(ReduceOp::Add, &is_zero.convert(DType::I64))?)?;
    let others = chain.spread(&chain.fold(ReduceOp::Mul, &is_zero.select(1, x))?)?;
    let for_zero = (is_zero.clone() & count.eq(1)).select(&others, 0);
    // Divides by 1 instead of 0, so that the unselected branch has no NaN in a second derivative.
    let without_zero = &others / is_zero.select(1, x);
    let derivative = count.eq(0).select(without_zero, for_zero);
    Ok(chain.spread(cotangent)? * conjugate(&derivative))
}

/// Shares the cotangent evenly among the elements for which `has_part` is true.
fn share_evenly(chain: &ReductionChain, has_part: &Value, cotangent: &Value) -> BuildResult {
    let dtype = cotangent.array_type()?.dtype;
    let count = chain.fold(ReduceOp::Add, &has_part.convert(DType::I64))?;
    // In double precision, because a narrow float may not represent the count.
    let share = (cotangent.convert(DType::F64) / count.convert(DType::F64)).convert(dtype);
    Ok(has_part.select(chain.spread(&share)?, 0))
}
