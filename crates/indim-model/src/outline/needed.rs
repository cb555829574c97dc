//! The opaque nodes that a run needs, and the values that replace them.

use super::{Outline, ValueIndex};

impl Outline {
    /// The results of opaque nodes from which the outputs are computed without another opaque node between.
    /// With these values given, the outputs can be computed.
    pub fn values_to_provide(&self) -> Vec<ValueIndex> {
        let mut is_seen = vec![false; self.values.len()];
        let mut found = Vec::new();
        let mut open = self.outputs.clone();
        while let Some(index) = open.pop() {
            if core::mem::replace(&mut is_seen[index], true) {
                continue;
            }
            let Some(node) = self.values[index].maker.map(|maker| &self.nodes[maker]) else {
                continue;
            };
            match node.is_opaque {
                true => found.push(index),
                false => open.extend(node.operands.iter().flatten()),
            }
        }
        found.sort_unstable();
        found
    }
}
