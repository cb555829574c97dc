//! Analysis of the nodes: values that must be known at build time.

use indim_onnx_file::flatten::ValueNumber;

use super::operators::Step;

/// For each value, whether it determines shapes: it is a shape operand
/// (`OperatorSignature::shape_operands`), or a value that determines shapes is computed from its elements.
pub(super) fn determines_shapes(nodes: &[Step], value_count: usize) -> Vec<bool> {
    let mut determines = vec![false; value_count];
    mark_shapes(nodes, &mut determines);
    determines
}

/// The recursion is bounded by the limit on the depth of bodies.
fn mark_shapes(nodes: &[Step], determines: &mut [bool]) {
    for step in nodes.iter().rev() {
        let Step { node, operator, regions } = step;
        let determines_result = node.results.iter().flatten().any(|&result| determines[result]);
        for region in regions {
            region
                .outputs
                .iter()
                .for_each(|&output| mark(determines, output.filter(|_| determines_result)));
            mark_shapes(&region.nodes, determines);
        }
        shape_operands(step).for_each(|operand| mark(determines, Some(operand)));
        // If the node stacks results, operands 0 and 1 (trip count and condition) determine the number of
        // steps, which is the size of the stacked axis.
        let states = node.node.proto.input.len().saturating_sub(2);
        if node.operator == "Loop" && node.results.iter().skip(states).any(Option::is_some) {
            node.operands.iter().take(2).for_each(|&operand| mark(determines, operand));
        }
        if determines_result && !operator.signature.reads_types {
            node.operands.iter().for_each(|&operand| mark(determines, operand));
        }
    }
}

/// The operands of a node whose elements must be known at build time.
pub(super) fn shape_operands(step: &Step) -> impl Iterator<Item = ValueNumber> {
    let positions = step.operator.signature.shape_operands.iter();
    positions.filter_map(|&position| step.node.operands.get(position).copied().flatten())
}

fn mark(values: &mut [bool], value: Option<ValueNumber>) {
    if let Some(value) = value {
        values[value] = true;
    }
}
