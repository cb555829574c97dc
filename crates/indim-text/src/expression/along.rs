//! Functions along axes: their arguments, and the nodes they become.

use indim_builder::{Initial, ReduceOptions, Reduction, Value};
use indim_graph::Literal;
use indim_ops::DType;
use indim_shape::{ReductionRuleName, RuleSet};

use super::elaborate::{Elaborated, Elaborator, Operand};
use super::elementwise::Operands;
use super::error::ExprError;
use super::function::Attribute;
use super::syntax::{AttributeValue, GivenAttribute, NodeIndex};
use super::typing;
use crate::span::Span;

impl Elaborator<'_, '_> {
    /// Under the numpy rule operands are promoted, integers are summed in 64 bits, and are `f64` where a
    /// function takes only floats.
    pub(super) fn along(
        &self,
        function: Reduction,
        nodes: &[NodeIndex],
        attributes: &[GivenAttribute],
        mark: Span,
    ) -> Elaborated<Value> {
        let rule = self.rule_of(attributes)?;
        let is_numpy = typing::promotes(&rule);
        let types =
            nodes.iter().map(|&node| self.operand_type(node)).collect::<Result<Vec<_>, _>>()?;
        let dtype =
            typing::along(function, &types, is_numpy).map_err(|kind| ExprError::new(kind, mark))?;
        let states_rule = attributes.iter().any(|given| given.attribute == Attribute::Dims);
        let operands = Operands { nodes, rule: &rule, states_rule, mark };
        let along = ReduceOptions {
            widens_integers: is_numpy && !function.pairs(),
            rule: reduction_rule(function, &rule, attributes),
            ..self.beside_operands(function, attributes)?
        };
        let numbers = self.arguments(function.name(), function.parameters(), attributes)?;
        let along = match &rule {
            RuleSet::Named { .. } => self.selected_by_names(along, nodes, mark)?,
            _ => along,
        };
        let (values, rule) = self.converted(&operands, |_| dtype)?;
        self.builder.along_of(function, &values, &along, &numbers, &rule).map_err(|error| {
            // What is wrong with `where` or a gain names that by itself.
            let is_about_operands = error.operation == function.name();
            self.graph_error(error, if is_about_operands { nodes } else { &[] }, mark)
        })
    }

    /// What selects elements, and what the result begins with, where axes meet by their names: the first in
    /// the shape of the operand, the second a scalar.
    fn selected_by_names(
        &self,
        along: ReduceOptions,
        nodes: &[NodeIndex],
        mark: Span,
    ) -> Elaborated<ReduceOptions> {
        let by_names = |selected: &Value| {
            let like = self.value(nodes[0])?;
            let placed = self.builder.broadcast_by_names(selected, &like);
            placed.map_err(|error| self.graph_error(error, &[], mark))
        };
        if let Some(Initial::Value(initial)) = &along.initial {
            // It is no operand of the function, but meets its result by position.
            let scalar = self.builder.broadcast_by_names(initial, &self.builder.scalar(0.0f64));
            scalar.map_err(|error| self.graph_error(error, &[], mark))?;
        }
        let selected = along.selected.as_ref().map(by_names).transpose()?;
        Ok(ReduceOptions { selected, ..along })
    }

    /// The axes, and what is said of elements and of the result.
    fn beside_operands(
        &self,
        function: Reduction,
        attributes: &[GivenAttribute],
    ) -> Elaborated<ReduceOptions> {
        let keepdims = self.arguments(function.name(), &[ReduceOptions::KEEPDIMS], attributes)?;
        let given = |parameter: indim_builder::Parameter| argument(attributes, parameter.name());
        let initial = given(ReduceOptions::INITIAL).and_then(|node| match &self.operands[node] {
            Operand::Array(value) => Some(Initial::Value(value.clone())),
            _ => self.literal(node).map(Initial::Number),
        });
        Ok(ReduceOptions {
            axes: axes(function, attributes),
            names: axis_names(attributes),
            keepdims: keepdims[0] == Some(Literal::Bool(true)),
            dtype: element_type(attributes),
            selected: given(ReduceOptions::WHERE).map(|node| self.value(node)).transpose()?,
            initial,
            ..ReduceOptions::default()
        })
    }
}

/// How axes are counted under a rule set; the function's own are counted from the end.
fn reduction_rule(
    function: Reduction,
    rule: &RuleSet,
    attributes: &[GivenAttribute],
) -> ReductionRuleName {
    let gives_axes = attributes.iter().any(|given| given.attribute == Attribute::Axes);
    match rule {
        _ if !gives_axes && function.default_axes().is_some() => ReductionRuleName::Numpy,
        RuleSet::Xla { .. } => ReductionRuleName::Xla,
        RuleSet::StableHlo | RuleSet::StableHloSelect => ReductionRuleName::StableHlo,
        RuleSet::Pdpd { .. } => ReductionRuleName::Pdpd,
        _ => ReductionRuleName::Numpy,
    }
}

/// The axes that are given; without a list those of the function.
fn axes(function: Reduction, attributes: &[GivenAttribute]) -> Option<Vec<i64>> {
    let given = attributes.iter().find(|given| given.attribute == Attribute::Axes);
    match given.map(|given| &given.value) {
        Some(AttributeValue::Integers(axes)) => Some(axes.clone()),
        Some(_) => None,
        None => function.default_axes().map(<[i64]>::to_vec),
    }
}

/// The names of axes that are given in place of their positions.
fn axis_names(attributes: &[GivenAttribute]) -> Option<Vec<String>> {
    attributes.iter().find_map(|given| match &given.value {
        AttributeValue::Names(names) => Some(names.clone()),
        _ => None,
    })
}

fn element_type(attributes: &[GivenAttribute]) -> Option<DType> {
    attributes.iter().find_map(|given| match given.value {
        AttributeValue::ElementType(dtype) => Some(dtype),
        _ => None,
    })
}

/// The node of an argument that is no axis and no element type.
fn argument(attributes: &[GivenAttribute], name: &str) -> Option<NodeIndex> {
    attributes.iter().find_map(|given| match (given.attribute, &given.value) {
        (Attribute::Argument(known), AttributeValue::Number(node)) if known == name => Some(*node),
        _ => None,
    })
}
