//! Builds outlines of formats that state the type of every value.

use std::sync::Arc;

use indim_shape::AnyRule;

use super::broadcast::OutlineBroadcast;
use super::contradiction::Contradiction;
use super::node::{NodeRole, OutlineNode, OutlineValue, TypeSource, ValueIndex, operator_label};
use super::value_type::ValueType;
use super::{Outline, SymbolicSize};
use crate::error::Location;

/// A node whose result types the file states.
#[derive(Debug, Clone, Default)]
pub struct StatedNode {
    /// Name in the file; may be empty.
    pub name: String,
    /// Operator.
    pub operator: String,
    /// Place in the file.
    pub place: Location,
    /// Path of the region; empty for the program itself.
    pub region: Arc<str>,
    /// The operands; `None` for an unknown one.
    pub operands: Vec<Option<ValueIndex>>,
    /// Names and types of the results.
    pub results: Vec<(String, ValueType)>,
    /// Attributes as short text.
    pub attributes: Vec<(String, String)>,
    /// Whether indim has no kernel for the node.
    pub is_opaque: bool,
    /// The part that the node plays in findings.
    pub role: NodeRole,
    /// The broadcasting rule of the operands.
    pub rule: Option<AnyRule>,
    /// The target of a target rule.
    pub target: Option<Vec<SymbolicSize>>,
}

impl Outline {
    /// Adds a value that no node makes.
    pub fn add_value(
        &mut self,
        name: String,
        value_type: ValueType,
        is_constant: bool,
    ) -> ValueIndex {
        let source = match value_type.is_known() {
            true => TypeSource::File,
            false => TypeSource::Unknown,
        };
        self.values.push(OutlineValue {
            name,
            value_type,
            source,
            is_constant,
            ..OutlineValue::default()
        });
        self.values.len() - 1
    }

    /// Adds a node, judges the broadcast of its operands, and compares its result with the stated type.
    /// Returns the values of the results.
    pub fn add_node(&mut self, node: StatedNode) -> Vec<ValueIndex> {
        let number = self.nodes.len();
        let label = operator_label(&node.operator, &node.name);
        let mut broadcasts = Vec::new();
        if let Some(rule) = &node.rule {
            let named = |&value: &ValueIndex| {
                let value = &self.values[value];
                (indim_graph::terminal::shown(&value.name), value.value_type.clone())
            };
            // A target rule broadcasts the first operand; others hold the target.
            let count = if matches!(rule, AnyRule::Target(_)) { 1 } else { usize::MAX };
            let operands = node.operands.iter().flatten().take(count).map(named).collect();
            let judged =
                OutlineBroadcast::judge(rule.clone(), operands, node.target.as_deref(), &label);
            self.compare(number, &node, &judged);
            broadcasts.push(judged);
        }
        let is_constant = node.role == NodeRole::Constant;
        let is_internal = !node.region.is_empty();
        let mut results = Vec::with_capacity(node.results.len());
        for (name, value_type) in node.results {
            let index = self.add_value(name, value_type, is_constant);
            let value = &mut self.values[index];
            (value.maker, value.is_internal) = (Some(number), is_internal);
            if value.source == TypeSource::Unknown {
                value.source = TypeSource::UnknownBecauseOf(number);
            }
            results.push(index);
        }
        self.nodes.push(OutlineNode {
            name: node.name,
            operator: node.operator,
            place: node.place,
            region: node.region,
            operands: node.operands,
            results: results.iter().copied().map(Some).collect(),
            attributes: node.attributes,
            is_opaque: node.is_opaque,
            role: node.role,
            broadcasts,
            problems: Vec::new(),
        });
        results
    }

    fn compare(&mut self, number: usize, node: &StatedNode, judged: &OutlineBroadcast) {
        let (Some(form), Some((name, stated))) = (judged.form(), node.results.first()) else {
            return;
        };
        let given = ValueType { element: None, sizes: Some(form.result.clone()) };
        if stated.contradicts(&given) {
            let name = indim_graph::terminal::shown(name);
            let message = format!("the file states {name}: {stated}, its operands give {given}");
            let (value, place) = (self.values.len(), node.place.clone());
            self.contradictions.push(Contradiction { value, node: Some(number), place, message });
        }
    }
}
