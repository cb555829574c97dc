//! The nodes that a run needs, and the values that replace opaque ones.

use super::{Outline, OutlineNode, ValueIndex};
use crate::part::ProgramPart;

impl Outline {
    /// The fewest results of opaque nodes from which the outputs of the part can be computed. A caller cannot
    /// provide a value without a name, or inside a region or a function; the values that depend on it take
    /// its place.
    ///
    /// ```
    /// use indim_model::ProgramPart;
    /// use indim_model::outline::{Outline, StatedNode, ValueType};
    ///
    /// let mut outline = Outline::default();
    /// let x = outline.add_value("x".to_owned(), ValueType::default(), false);
    /// let mut node = |is_opaque, operand, result: &str| {
    ///     let results = vec![(result.to_owned(), ValueType::default())];
    ///     let operands = vec![Some(operand)];
    ///     outline.add_node(StatedNode { operands, results, is_opaque, ..StatedNode::default() })[0]
    /// };
    /// let foreign = node(true, x, "foreign");
    /// let y = node(false, foreign, "y");
    /// outline.outputs = vec![y];
    /// assert_eq!(outline.values_to_provide(&ProgramPart::default()), [foreign]);
    /// ```
    pub fn values_to_provide(&self, part: &ProgramPart) -> Vec<ValueIndex> {
        let is_given = self.have_name(&part.from);
        let is_available = self.are_available(&is_given);
        let mut worklist = self.end_values(part);
        let mut is_seen = vec![false; self.values.len()];
        let mut required_values = Vec::new();
        while let Some(index) = worklist.pop() {
            if is_given[index] || core::mem::replace(&mut is_seen[index], true) {
                continue;
            }
            let Some(node) = self.values[index].producer.map(|producer| &self.nodes[producer])
            else {
                continue;
            };
            match self.is_computed(node, &is_available) {
                true => worklist.extend(node.read()),
                false => required_values.push(index),
            }
        }
        required_values.sort_unstable();
        required_values
    }

    /// For each node, whether the outputs of the part depend on it. A loop or branch needs all nodes of its
    /// bodies.
    pub fn needed_nodes(&self, part: &ProgramPart) -> Vec<bool> {
        let is_given = self.have_name(&part.from);
        let mut is_needed = vec![false; self.nodes.len()];
        let mut worklist = self.end_values(part);
        while let Some(index) = worklist.pop() {
            let producer = self.values[index].producer.filter(|_| !is_given[index]);
            let Some(producer) = producer else { continue };
            if !core::mem::replace(&mut is_needed[producer], true) {
                let node = &self.nodes[producer];
                is_needed[node.bodies.clone()].fill(true);
                worklist.extend(node.read());
            }
        }
        is_needed
    }

    /// The outputs of the part.
    fn end_values(&self, part: &ProgramPart) -> Vec<ValueIndex> {
        if part.to.is_empty() {
            return self.outputs.clone();
        }
        let is_end = self.have_name(&part.to);
        (0..self.values.len()).filter(|&value| is_end[value]).collect()
    }

    /// For each value, whether it has one of these names.
    pub(super) fn have_name(&self, names: &[String]) -> Vec<bool> {
        let has_name = |value: &super::OutlineValue| {
            value.run_name().is_some_and(|name| names.iter().any(|known| known == name))
        };
        self.values.iter().map(has_name).collect()
    }

    /// For each value, whether the caller can provide it, or it can be computed from such values.
    fn are_available(&self, is_given: &[bool]) -> Vec<bool> {
        let mut is_available: Vec<bool> =
            self.values.iter().map(|value| value.producer.is_none()).collect();
        for node in &self.nodes {
            let is_computed = self.is_computed(node, &is_available);
            for &result in node.results.iter().flatten() {
                let is_named = self.values[result].run_name().is_some();
                is_available[result] = is_computed || is_given[result] || is_named;
            }
        }
        is_available
    }

    fn is_computed(&self, node: &OutlineNode, is_available: &[bool]) -> bool {
        !node.is_opaque
            && !self.has_opaque_body(node)
            && node.read().all(|value| is_available[value])
    }

    /// Whether a body of the node has nodes that indim does not compute.
    pub fn has_opaque_body(&self, node: &OutlineNode) -> bool {
        self.nodes[node.bodies.clone()].iter().any(|node| node.is_opaque)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::{StatedNode, ValueType};

    #[test]
    fn a_value_without_a_name_is_replaced_by_those_that_depend_on_it() {
        let mut outline = Outline::default();
        let x = outline.add_value("x".to_owned(), ValueType::default(), false);
        let mut node = |is_opaque, operand, result: &str| {
            let results = vec![(result.to_owned(), ValueType::default())];
            let operands = vec![Some(operand)];
            let node = StatedNode { operands, results, is_opaque, ..StatedNode::default() };
            outline.add_node(node)[0]
        };
        let foreign = node(true, x, "");
        let y = node(false, foreign, "y");
        let z = node(false, y, "z");
        outline.outputs = vec![z];
        assert_eq!(outline.values_to_provide(&ProgramPart::default()), [y]);
    }
}
