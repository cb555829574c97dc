//! Facts about the values of an outline: their users, whether they are constant, their channel axis.

use crate::outline::{NodeRole, Outline, OutlineNode};

/// Facts about the values of an outline.
pub(super) struct Facts {
    /// Nodes that use each value.
    users: Vec<Vec<usize>>,
    is_output: Vec<bool>,
    is_constant: Vec<bool>,
    channels: Vec<Option<usize>>,
}

impl Facts {
    pub(super) fn new(outline: &Outline) -> Facts {
        let count = outline.values.len();
        let mut facts = Facts {
            users: vec![Vec::new(); count],
            is_output: vec![false; count],
            is_constant: outline.values.iter().map(|value| value.is_constant).collect(),
            channels: vec![None; count],
        };
        outline.outputs.iter().for_each(|&output| facts.is_output[output] = true);
        for (number, node) in outline.nodes.iter().enumerate() {
            node.operands.iter().flatten().for_each(|&operand| facts.users[operand].push(number));
            facts.mark_constant_results(node);
            facts.channel_axis(outline, node);
        }
        facts
    }

    /// The nodes that use the value; empty if the value is an output of the model, too.
    pub(super) fn only_users(&self, value: usize) -> &[usize] {
        if self.is_output[value] { &[] } else { &self.users[value] }
    }

    /// Whether the value depends on constants only.
    pub(super) fn is_constant(&self, value: usize) -> bool {
        self.is_constant[value]
    }

    /// The channel axis of the value, if it is computed from a convolution or pooling and the axis is
    /// known.
    pub(super) fn channels(&self, value: usize) -> Option<usize> {
        self.channels[value]
    }

    /// Marks the results of a node as constant if all its operands are. A node without operands, or an
    /// opaque one, marks nothing.
    fn mark_constant_results(&mut self, node: &OutlineNode) {
        let mut operands = node.operands.iter().flatten().peekable();
        let is_computed = operands.peek().is_some() && !node.is_opaque;
        if is_computed && operands.all(|&operand| self.is_constant[operand]) {
            node.results.iter().flatten().for_each(|&result| self.is_constant[result] = true);
        }
    }

    /// Records the channel axis of the first result of a node, if it is known.
    fn channel_axis(&mut self, outline: &Outline, node: &OutlineNode) {
        let axis = match &node.role {
            NodeRole::Channels(axis) => Some(*axis),
            NodeRole::SameShape => self.channels_of_same_rank(outline, node),
            NodeRole::Transpose(order) => self
                .of_operand(node, 0)
                .and_then(|axis| order.iter().position(|&from| from == axis)),
            NodeRole::Elementwise => self.channels_of_same_rank(outline, node),
            _ => None,
        };
        if let (Some(axis), Some(Some(result))) = (axis, node.results.first()) {
            self.channels[*result] = Some(axis);
        }
    }

    fn of_operand(&self, node: &OutlineNode, position: usize) -> Option<usize> {
        self.channels[node.operands.get(position).copied().flatten()?]
    }

    /// The channel axis of the first operand that has the rank of the result and a known channel axis.
    fn channels_of_same_rank(&self, outline: &Outline, node: &OutlineNode) -> Option<usize> {
        let rank = |value: usize| outline.values[value].value_type.sizes.as_ref().map(Vec::len);
        let result = rank((*node.results.first()?)?)?;
        let operands = node.operands.iter().flatten();
        let same_rank = operands.filter(|&&operand| rank(operand) == Some(result));
        same_rank.filter_map(|&operand| self.channels[operand]).next()
    }
}
