//! The stages of a run whose sizes depend on data.
//!
//! Shapes must be known when a program is built. A stage ends at a value whose elements determine shapes and
//! are computed from data, and at a node whose results have sizes from data; the next stage is built for the
//! elements and sizes that were found.

use super::{Outline, OutlineNode, OutlineValue, ValueIndex};
use crate::part::ProgramPart;
use crate::shape_values::{self, MAX_ELEMENTS};

/// The end of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutlineStage {
    /// Values whose elements determine shapes of later stages.
    pub values: Vec<ValueIndex>,
    /// Nodes that indim does not compute within a program: indices of [`Outline::nodes`].
    pub nodes: Vec<usize>,
}

/// How the elements of a value become known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Knowledge {
    /// They follow from the file and from sizes.
    Static,
    /// They follow from an input that can hold a shape.
    ShapeInput,
    /// They are known only after a run.
    Data,
}

impl Outline {
    /// The stages of a part before the last one: empty if it can be built as one program. Nodes within bodies
    /// end no stage.
    ///
    /// ```
    /// use indim_model::ProgramPart;
    /// use indim_model::outline::{Outline, OutlineStage, StatedNode, ValueType};
    ///
    /// let mut outline = Outline::default();
    /// let image = ValueType::parse("f32[64, 64]", "x").unwrap();
    /// let x = outline.add_value("x".to_owned(), image, false);
    /// let mut node = |operands: &[usize], shape_operands, result: &str| {
    ///     let results = vec![(result.to_owned(), ValueType::default())];
    ///     let operands = operands.iter().copied().map(Some).collect();
    ///     outline.add_node(StatedNode { operands, results, shape_operands, ..StatedNode::default() })[0]
    /// };
    /// let count = node(&[x], &[], "count");
    /// let y = node(&[x, count], &[1], "y");
    /// outline.outputs = vec![y];
    /// let stage = OutlineStage { values: vec![count], nodes: Vec::new() };
    /// assert_eq!(outline.stages(&ProgramPart::default()), [stage]);
    /// ```
    pub fn stages(&self, part: &ProgramPart) -> Vec<OutlineStage> {
        let is_needed = self.needed_nodes(part);
        let is_given = self.have_name(&part.from);
        let ends_stage = self.end_stages(&is_needed, &is_given);
        let mut stages: Vec<OutlineStage> = Vec::new();
        // The number of stages that end before a value is computed.
        let mut depths = vec![0; self.values.len()];
        for (number, node) in self.nodes.iter().enumerate().filter(|&(it, _)| is_needed[it]) {
            let read = node.read().map(|value| depths[value] + usize::from(ends_stage[value]));
            let mut depth = read.max().unwrap_or(0);
            let stage = |depth: usize, stages: &mut Vec<OutlineStage>| {
                stages.resize_with(stages.len().max(depth + 1), OutlineStage::default);
            };
            if node.is_opaque && !self.is_in_body(number) {
                stage(depth, &mut stages);
                stages[depth].nodes.push(number);
                depth += 1;
            }
            for &result in node.results.iter().flatten().filter(|&&result| !is_given[result]) {
                depths[result] = depth;
                if ends_stage[result] {
                    stage(depth, &mut stages);
                    stages[depth].values.push(result);
                }
            }
        }
        stages
    }

    /// Whether the node is in a body, whose values a run cannot start or end at.
    fn is_in_body(&self, node: usize) -> bool {
        let results = self.nodes[node].results.iter().flatten();
        results.copied().any(|result| self.values[result].run_name().is_none())
    }

    /// For each value, whether a stage must end at it: its elements determine shapes, and are computed from
    /// data. Within a body this holds for the captured values from which a shape is computed.
    fn end_stages(&self, is_needed: &[bool], is_given: &[bool]) -> Vec<bool> {
        let knowledge = self.knowledge(is_given);
        let is_computed = |value: &OutlineValue| {
            value.producer.is_some_and(|producer| !self.nodes[producer].is_opaque)
        };
        let mut determines = vec![false; self.values.len()];
        let mut ends_stage = vec![false; self.values.len()];
        for (number, node) in self.nodes.iter().enumerate().rev() {
            if !is_needed[number] || node.is_opaque {
                continue;
            }
            let is_determined = node.results.iter().flatten().any(|&result| determines[result]);
            let operands = node.shape_operands.iter();
            let shapes = operands.filter_map(|&at| node.operands.get(at).copied().flatten());
            let read = node.read().filter(|_| is_determined && !node.reads_types);
            for value in shapes.chain(read) {
                match self.values[value].run_name() {
                    None => determines[value] = true,
                    Some(_) => {
                        ends_stage[value] |= knowledge[value] == Knowledge::Data
                            && is_computed(&self.values[value])
                            && !is_given[value];
                    }
                }
            }
        }
        ends_stage
    }

    /// How the elements of each value become known.
    fn knowledge(&self, is_given: &[bool]) -> Vec<Knowledge> {
        let of_start = |value: &OutlineValue| match value {
            value if value.is_constant && is_large(value) => Knowledge::Data,
            value if value.is_constant => Knowledge::Static,
            value if value.run_name().is_some() && can_hold_shape(value) => Knowledge::ShapeInput,
            _ => Knowledge::Data,
        };
        let mut knowledge: Vec<Knowledge> = self.values.iter().map(of_start).collect();
        for node in &self.nodes {
            let of_node = self.knowledge_of_results(node, &knowledge);
            for &result in node.results.iter().flatten().filter(|&&result| !is_given[result]) {
                knowledge[result] = of_node;
            }
        }
        knowledge
    }

    fn knowledge_of_results(&self, node: &OutlineNode, knowledge: &[Knowledge]) -> Knowledge {
        let is_loop = !node.bodies.is_empty() && node.operator != "If";
        if node.is_opaque || is_loop {
            return Knowledge::Data;
        }
        if node.reads_types {
            return Knowledge::Static;
        }
        let reduces = ["Reduce", "Arg", "TopK"].iter().any(|it| node.operator.starts_with(it));
        let of_operand = |value: ValueIndex| {
            let typed = &self.values[value];
            let is_open = typed.value_type.array_type().is_none();
            match knowledge[value] {
                // A reduction computes from many elements more often than from the sizes of a shape.
                Knowledge::ShapeInput if reduces && is_open => Knowledge::Data,
                _ if is_large(typed) => Knowledge::Data,
                known => known,
            }
        };
        node.read().map(of_operand).max().unwrap_or(Knowledge::Static)
    }
}

/// Whether the value is known to have too many elements for a known value (`shape_values.rs`).
fn is_large(value: &OutlineValue) -> bool {
    element_count(value).is_some_and(|count| count > MAX_ELEMENTS)
}

fn element_count(value: &OutlineValue) -> Option<usize> {
    value.value_type.array_type()?.shape.element_count().ok()
}

/// Whether an input can hold a shape.
fn can_hold_shape(value: &OutlineValue) -> bool {
    let rank = value.value_type.sizes.as_ref().map_or(0, Vec::len);
    shape_values::can_hold_shape(value.value_type.dtype(), element_count(value), rank)
}
