//! Merging of consecutive reductions along single axes into one reduction.

use indim_graph::{Graph, Node, NodeKind, ValueId};
use indim_ops::ReduceOp;

/// The operand and the axes of the merged reduction; only reductions with a single use are merged.
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
        // The inner reduction removes `axis`. In its operand, axes of outer reductions from `axis` on are
        // one higher.
        axes.iter_mut().for_each(|later| *later += usize::from(*later >= axis));
        axes.push(axis);
        reduced = graph[reduced].operands[0];
    }
    axes.sort_unstable();
    (reduced, axes)
}
