//! Reductions one after another along single axes, which are one reduction there.

use indim_graph::{Graph, Node, NodeKind, ValueId};
use indim_ops::ReduceOp;

/// How often each value of a graph is used.
pub(super) fn uses(graph: &Graph) -> Vec<usize> {
    let mut uses = vec![0; graph.len()];
    let operands = graph.iter().flat_map(|(_, node)| node.operands.iter());
    operands.chain(graph.outputs()).for_each(|value| uses[value.index()] += 1);
    uses
}

/// What is reduced, and along which of its axes: reductions that only this one uses belong to it.
pub(super) fn reduction(
    graph: &Graph,
    node: &Node,
    (op, axis): (ReduceOp, usize),
    uses: &[usize],
) -> (ValueId, Vec<usize>) {
    let (mut reduced, mut axes) = (node.operands[0], vec![axis]);
    while let NodeKind::Reduce { op: inner, axis } = graph[reduced].kind {
        if inner != op || uses[reduced.index()] > 1 {
            break;
        }
        // The axes behind the one that went first stood one further.
        axes.iter_mut().for_each(|later| *later += usize::from(*later >= axis));
        axes.push(axis);
        reduced = graph[reduced].operands[0];
    }
    axes.sort_unstable();
    (reduced, axes)
}
