//! Windows as concatenations of slices, for formats without windows.

use indim_ops::ArrayType;
use indim_shape::Shape;

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};
use crate::views::{AxisSlice, AxisWindow};

/// Maximum elements of a window that becomes slices, because each element is a slice.
pub(super) const MAX_WINDOW_ELEMENTS: usize = 256;

/// Adds `node`; windows become the concatenation of a slice for each of their elements.
pub(super) fn expand_windows(arena: &mut GraphArena, node: Node) -> ValueId {
    match node.kind {
        NodeKind::Window { axis, window } if window.size() <= MAX_WINDOW_ELEMENTS => {
            let element = |element| element_of_windows(arena, &node, (axis, window), element);
            let parts: Vec<ValueId> = (0..window.size()).map(element).collect();
            let [part] = parts[..] else {
                let kind = NodeKind::Concatenate { axis: node.array_type.shape.rank() - 1 };
                let operands = Operands::new(&parts);
                return arena.add(Node { kind, operands, array_type: node.array_type });
            };
            part
        }
        _ => arena.add(node),
    }
}

/// One element of all windows, along a new last axis of size 1.
fn element_of_windows(
    arena: &mut GraphArena,
    node: &Node,
    (axis, window): (usize, AxisWindow),
    element: usize,
) -> ValueId {
    let ArrayType { dtype, shape } = &node.array_type;
    let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    slices.pop();
    let start = window.index(0, element);
    slices[axis] = AxisSlice::new(start, shape[axis], window.stride() as isize);
    let sliced: Shape = slices.iter().map(AxisSlice::count).collect();
    let unit: Shape = sliced.iter().copied().chain([1]).collect();
    let slice = arena.add(Node {
        kind: NodeKind::Slice(slices.into()),
        operands: node.operands.clone(),
        array_type: ArrayType::new(*dtype, sliced),
    });
    arena.add(Node {
        kind: NodeKind::Reshape,
        operands: Operands::new(&[slice]),
        array_type: ArrayType::new(*dtype, unit),
    })
}
