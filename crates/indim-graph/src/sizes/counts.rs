//! Counts: constants computed from sizes, such as the divisor of a mean.
//!
//! A count is the number of elements along some axes, minus a correction. It is a node of its own, even if
//! an equal constant exists, because the two differ for other sizes. A program for all sizes takes each
//! count as an extra parameter after those of the graph; its value is set when sizes are bound.

use foldhash::{HashMap, HashMapExt};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use super::facts::{ElementCount, count_of};
use super::shaped::ShapedGraph;
use super::size::{Size, SymbolicShape};
use crate::graph::{Graph, Node, NodeKind, Operands, ValueId};
use crate::literal::Literal;
use indim_arrays::Array;

/// A count that depends on symbols.
#[derive(Debug, Clone)]
pub struct SymbolicCount {
    /// The constant.
    value: ValueId,
    dtype: DType,
    sizes: Vec<Size>,
    /// Subtracted from the number of elements, such as the `correction` of a variance.
    correction: f64,
}

impl SymbolicCount {
    /// The count `value`; `None` if it depends on no symbol, so that it stays a constant.
    pub(super) fn new(
        graph: &Graph,
        (value, count): (ValueId, &ElementCount),
        size: impl Fn(ValueId, usize) -> Size,
    ) -> Option<SymbolicCount> {
        let sizes: Vec<Size> = count.axes.iter().map(|&(of, axis)| size(of, axis)).collect();
        let has_symbol = sizes.iter().any(|size| matches!(size, Size::Symbol(_)));
        let dtype = graph[value].array_type.dtype;
        has_symbol.then_some(SymbolicCount { value, dtype, sizes, correction: count.correction })
    }

    /// The constant node.
    pub(super) fn value(&self) -> ValueId {
        self.value
    }

    /// The scalar for these sizes of the symbols.
    pub fn element(&self, symbols: &[usize]) -> Array {
        let sizes = self.sizes.iter().map(|size| size.resolve(symbols));
        Literal::Float(count_of(sizes, self.correction)).element(self.dtype)
    }
}

/// The graph with each of these constants replaced by a parameter, after the other parameters. `sizes` has
/// the size of each axis of each value of `graph`.
pub(super) fn as_parameters(
    graph: &Graph,
    sizes: &[Vec<Size>],
    counts: &[SymbolicCount],
) -> ShapedGraph<'static> {
    let mut order: Vec<ValueId> = graph.parameters().to_vec();
    order.extend(counts.iter().map(SymbolicCount::value));
    let first = order.clone();
    order.extend(graph.iter().map(|(value, _)| value).filter(|value| !first.contains(value)));
    let mut renamed = vec![ValueId::from_index(0); graph.len()];
    for (index, value) in order.iter().enumerate() {
        renamed[value.index()] = ValueId::from_index(index);
    }
    let given = graph.parameters().len();
    let node = |(index, value): (usize, &ValueId)| {
        let node = &graph[*value];
        if (given..first.len()).contains(&index) {
            // The NUL byte keeps the name distinct from names in texts and files.
            let kind = NodeKind::Parameter { index, name: format!("\0size {}", index - given) };
            let array_type = ArrayType::new(node.array_type.dtype, Shape::scalar());
            return Node { kind, operands: Operands::new(&[]), array_type };
        }
        let operands: Vec<ValueId> =
            node.operands.iter().map(|operand| renamed[operand.index()]).collect();
        Node { operands: Operands::new(&operands), ..node.clone() }
    };
    let nodes = order.iter().enumerate().map(node).collect();
    let outputs = graph.outputs().iter().map(|output| renamed[output.index()]).collect();
    // Equal shapes share their sizes.
    let mut distinct: HashMap<&[Size], SymbolicShape> = HashMap::new();
    let shape = |value: &ValueId| {
        let sizes = &sizes[value.index()][..];
        distinct.entry(sizes).or_insert_with(|| sizes.iter().copied().collect()).clone()
    };
    let shapes = order.iter().map(shape).collect();
    ShapedGraph::new(Graph::from_unverified(nodes, outputs), shapes)
}
