//! Builds outlines of formats that state the type of every value.

use std::sync::Arc;

use indim_ops::ArrayType;
use indim_shape::{AnyRule, Diagnostic};

use super::axis_pair::{Agreement, AxisPair};
use super::broadcast::{OutlineBroadcast, Verdict};
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
    pub location: Location,
    /// Path of the region or function that holds the node; empty for the program itself.
    pub region: Arc<str>,
    /// The operands; `None` for an unknown one.
    pub operands: Vec<Option<ValueIndex>>,
    /// Names and types of the results.
    pub results: Vec<(String, ValueType)>,
    /// Attributes as short text.
    pub attributes: Vec<(String, String)>,
    /// Whether indim has no lowering for the node.
    pub is_opaque: bool,
    /// The nodes of its bodies, which are in the list before it.
    pub bodies: core::ops::Range<usize>,
    /// Values from outside its bodies that the bodies read.
    pub captured: Vec<ValueIndex>,
    /// Positions of the operands whose elements determine shapes or axes.
    pub shape_operands: &'static [usize],
    /// Whether its results depend only on the types of its operands.
    pub reads_types: bool,
    /// The kind of the node, as far as findings need it.
    pub role: NodeRole,
    /// The broadcasting rule of the operands.
    pub rule: Option<AnyRule>,
    /// The target of a target rule.
    pub target: Option<Vec<SymbolicSize>>,
    /// For each axis of the results, the operand and axis that have the same size, if the operator
    /// determines them. Their sizes replace those that the file leaves open, in results whose rank is
    /// the length of this list. Empty for broadcasts, permutations and nodes that keep the shape, whose
    /// sizes follow from the operands.
    pub size_sources: Vec<Option<(usize, usize)>>,
    /// Axes of the operands whose sizes must agree. They are compared if the types of the operands leave
    /// sizes open, so that `problem` has nothing to say.
    pub axis_pairs: Vec<AxisPair>,
    /// Types that operands and regions give to results, each with the position of its result: those of a
    /// reduction, a sort or a loop. The broadcast of `rule` is not among them.
    pub given: Vec<(usize, ValueType)>,
    /// The error of the operation on its operands, if it has one.
    pub problem: Option<Diagnostic>,
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

    /// Names and types of operands; `None` if one of them is no array, or one of their sizes is not known.
    pub fn array_types(&self, operands: &[Option<ValueIndex>]) -> Option<Vec<(String, ArrayType)>> {
        let typed = |operand: &Option<ValueIndex>| {
            let value = &self.values[(*operand)?];
            let name = indim_graph::terminal::printable(&value.name);
            Some((name, value.value_type.array_type()?))
        };
        operands.iter().map(typed).collect()
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
                (indim_graph::terminal::printable(&value.name), value.value_type.clone())
            };
            // A target rule broadcasts the first operand; the other operands hold the target.
            let count = if matches!(rule, AnyRule::Target(_)) { 1 } else { usize::MAX };
            let operands = node.operands.iter().flatten().take(count).map(named).collect();
            let judged =
                OutlineBroadcast::judge(rule.clone(), operands, node.target.as_deref(), &label);
            if let Some(form) = judged.form() {
                let given = ValueType { element: None, sizes: Some(form.result.clone()) };
                self.compare(number, &node, (0, &given));
            }
            broadcasts.push(judged);
        }
        for (position, given) in &node.given {
            self.compare(number, &node, (*position, given));
        }
        let agreement = match node.problem {
            None => self.agreement(&node),
            Some(_) => Agreement::default(),
        };
        let is_constant = node.role == NodeRole::Constant;
        let is_internal = !node.region.is_empty();
        let mut results = Vec::with_capacity(node.results.len());
        let has_open_size = node.results.iter().any(|(_, stated)| stated.has_open_size());
        let open_sizes = match has_open_size {
            true => self.open_sizes(&node, broadcasts.first()),
            false => Vec::new(),
        };
        for (name, value_type) in node.results {
            let mut value_type = value_type.with_open_sizes(&open_sizes);
            if has_open_size && node.role == NodeRole::Reshape {
                let operand = node.operands.first().copied().flatten();
                let operand = operand.and_then(|it| self.values[it].value_type.sizes.as_deref());
                value_type = value_type.with_the_open_size_of(operand.unwrap_or_default());
            }
            let index = self.add_value(name, value_type, is_constant);
            let value = &mut self.values[index];
            (value.producer, value.is_internal) = (Some(number), is_internal);
            if value.source == TypeSource::Unknown {
                value.source = TypeSource::UnknownBecauseOf(number);
            }
            results.push(index);
        }
        // An illegal broadcast or a contradiction is the same error, drawn with its sizes.
        let is_reported = broadcasts.iter().any(|it| matches!(it.verdict, Verdict::Illegal(_)))
            || self.contradictions.last().is_some_and(|last| last.node == Some(number));
        self.nodes.push(OutlineNode {
            name: node.name,
            operator: node.operator,
            location: node.location,
            region: node.region,
            operands: node.operands,
            results: results.iter().copied().map(Some).collect(),
            attributes: node.attributes,
            is_opaque: node.is_opaque,
            bodies: node.bodies,
            captured: node.captured,
            shape_operands: node.shape_operands,
            reads_types: node.reads_types,
            role: node.role,
            broadcasts,
            conditions: agreement.conditions,
            problems: node
                .problem
                .or(agreement.problem)
                .filter(|_| !is_reported)
                .into_iter()
                .collect(),
        });
        results
    }

    /// The size of each axis of the results, as far as the operands give it.
    fn open_sizes(
        &self,
        node: &StatedNode,
        broadcast: Option<&OutlineBroadcast>,
    ) -> Vec<Option<SymbolicSize>> {
        if let Some(form) = broadcast.and_then(OutlineBroadcast::form) {
            return form.result.iter().cloned().map(Some).collect();
        }
        let sizes = |operand: usize| {
            let value = (*node.operands.get(operand)?)?;
            self.values[value].value_type.sizes.as_deref()
        };
        let size = |&(operand, axis): &(usize, usize)| sizes(operand)?.get(axis).cloned();
        match &node.role {
            NodeRole::SameShape => sizes(0).unwrap_or_default().iter().cloned().map(Some).collect(),
            NodeRole::Transpose(from) => from.iter().map(|&axis| size(&(0, axis))).collect(),
            _ => node.size_sources.iter().map(|source| size(source.as_ref()?)).collect(),
        }
    }

    /// Records a contradiction if a result gets another type than the file states, once for each node.
    fn compare(
        &mut self,
        number: usize,
        node: &StatedNode,
        (position, given): (usize, &ValueType),
    ) {
        let is_reported = self.contradictions.last().is_some_and(|it| it.node == Some(number));
        let Some((name, stated)) = node.results.get(position).filter(|_| !is_reported) else {
            return;
        };
        if stated.contradicts(given) {
            let name = indim_graph::terminal::printable(name);
            let message = format!("the file states {name}: {stated}, its operands give {given}");
            let (value, location) = (self.values.len() + position, node.location.clone());
            self.contradictions.push(Contradiction {
                value,
                node: Some(number),
                location,
                message,
            });
        }
    }
}
