//! Constants that follow sizes: the number of elements along some axes, such as the divisor of a mean.
//!
//! Such a constant is a node of its own, apart from equal ones. In a graph that stands for many sizes it is a
//! parameter behind the others, and bound with the sizes.

use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use super::facts::{Count, count_of};
use super::guards::Size;
use crate::array::Array;
use crate::graph::{Graph, Node, NodeKind, Operands, ValueId};
use crate::literal::Literal;

/// A count in a graph with symbols.
#[derive(Debug, Clone)]
pub struct SymbolicCount {
    /// The constant.
    value: ValueId,
    dtype: DType,
    sizes: Vec<Size>,
    less: f64,
}

impl SymbolicCount {
    /// `None` where no size is a symbol: it is a constant as others are.
    pub(super) fn new(
        graph: &Graph,
        (value, count): (ValueId, &Count),
        size: impl Fn(ValueId, usize) -> Size,
    ) -> Option<SymbolicCount> {
        let sizes: Vec<Size> = count.axes.iter().map(|&(of, axis)| size(of, axis)).collect();
        let has_symbol = sizes.iter().any(|size| matches!(size, Size::Symbol(_)));
        let dtype = graph[value].array_type.dtype;
        has_symbol.then_some(SymbolicCount { value, dtype, sizes, less: count.less })
    }

    /// The constant.
    pub(super) fn value(&self) -> ValueId {
        self.value
    }

    /// Its element, of rank 0, where the symbols stand for these sizes.
    pub fn element(&self, symbols: &[usize]) -> Array {
        let sizes = self.sizes.iter().map(|size| size.number(symbols));
        Literal::Float(count_of(sizes, self.less)).element(self.dtype)
    }
}

/// The graph with a parameter behind the others for each of these constants.
pub(super) fn as_parameters(graph: &Graph, counts: &[SymbolicCount]) -> Graph {
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
            // No parameter that others make has such a name.
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
    Graph::unchecked(nodes, outputs)
}
