//! Idioms: subgraphs that are one OpenVINO operation.

use indim_builder::{Composition, Reduction};
use indim_graph::{Graph, Node, NodeKind, ValueId};
use indim_model::{
    AxisOperation, CompositionMatcher, Epsilon, ProductMatch, ReductionMatch, ReductionMatcher,
};
use indim_ops::{DType, Op, ReduceOp};

use crate::write::merge_reductions::reduction;

/// An operation that replaces a subgraph.
#[derive(Debug, Clone)]
pub(super) enum Idiom {
    /// A composition with its parameters.
    Composition(Composition, Vec<f64>),
    /// A clamp whose bounds are attributes.
    Clamp([f64; 2]),
    /// `log(1 + exp(x))`.
    SoftPlus,
    /// A sum, mean or product in double precision with a rounded result: the name of the operation, and
    /// the axes.
    Sum(&'static str, Vec<usize>),
    /// `SoftMax` or `LogSoftmax` along one axis.
    OneAxis((&'static str, u32), usize),
    /// A standardisation along these axes.
    Mvn(Epsilon, Vec<usize>),
    /// A matrix product; it has two operands.
    Product(Box<ProductMatch>),
}

/// The idiom whose result is this value, and its operand; for a product its first operand.
pub(super) fn idiom(
    graph: &Graph,
    value: ValueId,
    uses: &[usize],
    along: &mut ReductionMatcher,
) -> Option<(Idiom, ValueId)> {
    if let Some(found) = ProductMatch::find(graph, value) {
        let first = found.operands()[0];
        return Some((Idiom::Product(Box::new(found)), first));
    }
    if let Some(found) = CompositionMatcher::shared().find(graph, value) {
        return Some((Idiom::Composition(found.composition, found.numbers), found.operand));
    }
    if let Some(found) = along.find(graph, value)
        && let Some(idiom) = along_axes(&found)
    {
        return Some((idiom, found.operand));
    }
    let node = &graph[value];
    match (&node.kind, &node.operands[..]) {
        (NodeKind::Elementwise(Op::Clamp), [low, x, high]) => {
            let (low, high) = (number(graph, *low)?, number(graph, *high)?);
            (low <= high).then_some((Idiom::Clamp([low, high]), *x))
        }
        (NodeKind::Elementwise(Op::Logaddexp), &[x, y]) => match [x, y].map(|v| number(graph, v)) {
            [_, Some(0.0)] => Some((Idiom::SoftPlus, x)),
            [Some(0.0), _] => Some((Idiom::SoftPlus, y)),
            _ => None,
        },
        (NodeKind::Convert, [_]) => sum(graph, node, uses),
        _ => None,
    }
}

/// The idiom of a function along axes that keep their size; `None` if OpenVINO has no such operation.
fn along_axes(found: &ReductionMatch) -> Option<Idiom> {
    match (found.function, &found.axes[..]) {
        (AxisOperation::Function(Reduction::Softmax), &[axis]) => {
            Some(Idiom::OneAxis(("SoftMax", 8), axis))
        }
        (AxisOperation::Function(Reduction::LogSoftmax), &[axis]) => {
            Some(Idiom::OneAxis(("LogSoftmax", 5), axis))
        }
        (AxisOperation::Standardised(epsilon), axes) => Some(Idiom::Mvn(epsilon, axes.to_vec())),
        _ => None,
    }
}

/// The number of a scalar constant or of its broadcast.
fn number(graph: &Graph, value: ValueId) -> Option<f64> {
    /// Just below 2^53: `f64` represents every smaller integer.
    const EXACT: f64 = 9e15;
    let shown = match graph[value].kind {
        NodeKind::BroadcastInDim(_) => graph[value].operands[0],
        _ => value,
    };
    let NodeKind::Constant(array) = &graph[shown].kind else { return None };
    let number: f64 = array.scalar_text()?.parse().ok()?;
    (array.dtype().is_float() || number.abs() < EXACT).then_some(number)
}

/// The idiom of a sum, mean or product whose nodes convert elements to double precision, add or multiply
/// them, divide by their number for a mean, and round.
fn sum(graph: &Graph, node: &Node, uses: &[usize]) -> Option<(Idiom, ValueId)> {
    let (mut current, mut divisor) = (node.operands[0], None);
    let folded = loop {
        let step = &graph[current];
        if uses[current.index()] > 1 || step.array_type.dtype != DType::F64 {
            return None;
        }
        match step.kind {
            NodeKind::Reshape => {}
            NodeKind::Elementwise(Op::Div) if divisor.is_none() => {
                divisor = Some(number(graph, step.operands[1])?);
            }
            NodeKind::Reduce { op, axis } => break (step, op, axis),
            _ => return None,
        }
        current = step.operands[0];
    };
    let (step, op, axis) = folded;
    let (wide, axes) = reduction(graph, step, (op, axis), uses);
    let x = narrow(graph, wide, node.array_type.dtype)?;
    let count: f64 = axes.iter().map(|&axis| graph[x].array_type.shape[axis] as f64).product();
    let operation = match (op, divisor) {
        (ReduceOp::Add, None) => "ReduceSum",
        (ReduceOp::Add, Some(divisor)) if divisor == count => "ReduceMean",
        (ReduceOp::Mul, None) => "ReduceProd",
        _ => return None,
    };
    Some((Idiom::Sum(operation, axes), x))
}

/// The operand of the conversion to double precision that gives `wide`, if the operand has the float
/// type `dtype`.
fn narrow(graph: &Graph, wide: ValueId, dtype: DType) -> Option<ValueId> {
    let NodeKind::Convert = graph[wide].kind else { return None };
    let x = graph[wide].operands[0];
    (graph[x].array_type.dtype == dtype && dtype.is_float()).then_some(x)
}
