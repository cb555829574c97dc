//! Rules of the reductions: sums hand their cotangent to every element, products that times the product of
//! the others, extremes share it evenly among the elements that are the extreme.

use indim_graph::{Graph, GraphError, NodeKind, ValueId};
use indim_ops::{DType, ReduceOp};
use indim_shape::Shape;

use super::rule::conjugate;
use super::structural::placed;
use crate::builder::{BuildResult, Value};

/// Reductions by one operation one after another: a reduction along several axes. The elements that tie for
/// an extreme are counted along all of them, so that each gets the same.
pub(super) struct Run {
    op: ReduceOp,
    /// The innermost reduction, done first.
    pub source: ValueId,
    /// The axes of the source that stay, in ascending order, and those that go.
    kept: Vec<usize>,
    gone: Vec<usize>,
    shape: Shape,
}

impl Run {
    /// The run that ends at a reduction.
    pub(super) fn ending_at(graph: &Graph, end: ValueId) -> Run {
        let NodeKind::Reduce { op, .. } = graph[end].kind else {
            unreachable!("invariant: a run ends at a reduction")
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
        let mut gone: Vec<usize> = axes.iter().rev().map(|&axis| kept.remove(axis)).collect();
        gone.sort_unstable();
        Run { op, source, kept, gone, shape }
    }

    /// A value that has the axes that stay, repeated along those that go.
    fn spread(&self, value: &Value) -> BuildResult {
        placed(value, self.kept.clone(), &self.shape)
    }

    /// A value like the source folded along the axes that go.
    fn fold(&self, op: ReduceOp, value: &Value) -> BuildResult {
        let fold = |folded: Value, &axis: &usize| folded.builder().reduce(op, &folded, axis as i64);
        self.gone.iter().rev().try_fold(value.clone(), fold)
    }
}

/// The cotangent of the source `x` of a run with the result `y`; none where nothing flows.
pub(super) fn cotangent(
    run: &Run,
    x: &Value,
    y: &Value,
    cotangent: &Value,
) -> Result<Option<Value>, GraphError> {
    match run.op {
        ReduceOp::Add => run.spread(cotangent).map(Some),
        ReduceOp::Mul => product(run, x, cotangent).map(Some),
        ReduceOp::Max | ReduceOp::Min => {
            let is_extreme = x.eq(run.spread(y)?) | x.is_nan();
            evenly(run, &is_extreme, cotangent).map(Some)
        }
        ReduceOp::Fmax | ReduceOp::Fmin => {
            let y = run.spread(y)?;
            evenly(run, &(x.eq(&y) | y.is_nan()), cotangent).map(Some)
        }
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor | ReduceOp::ArgMax | ReduceOp::ArgMin => {
            Ok(None)
        }
    }
}

/// An element's derivative is the product of the others. With one zero, only the zero's derivative is not 0;
/// with two zeros, all derivatives are 0.
fn product(run: &Run, x: &Value, cotangent: &Value) -> BuildResult {
    let is_zero = x.eq(0);
    let count = run.spread(&run.fold(ReduceOp::Add, &is_zero.convert(DType::I64))?)?;
    let others = run.spread(&run.fold(ReduceOp::Mul, &is_zero.select(1, x))?)?;
    let beside_zero = (is_zero.clone() & count.eq(1)).select(&others, 0);
    // Divided by 1 in place of a zero: what is not selected makes no NaN of a second derivative.
    let without_zero = &others / is_zero.select(1, x);
    let derivative = count.eq(0).select(without_zero, beside_zero);
    Ok(run.spread(cotangent)? * conjugate(&derivative))
}

/// Shares the cotangent among the elements that have part in the result.
fn evenly(run: &Run, has_part: &Value, cotangent: &Value) -> BuildResult {
    let dtype = cotangent.array_type()?.dtype;
    let count = run.fold(ReduceOp::Add, &has_part.convert(DType::I64))?;
    // In double precision: a narrow float may not hold the count.
    let share = (cotangent.convert(DType::F64) / count.convert(DType::F64)).convert(dtype);
    Ok(has_part.select(run.spread(&share)?, 0))
}
