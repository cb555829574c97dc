//! Functions along axes: their arguments, and the nodes they become.

use indim_builder::{Along, AxisFunction, Initial, Value};
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
        function: AxisFunction,
        nodes: &[NodeIndex],
        attributes: &[GivenAttribute],
        mark: Span,
    ) -> Elaborated<Value> {
        let rule = self.rule_of(attributes)?;
        let is_numpy = rule == RuleSet::Numpy;
        let types =
            nodes.iter().map(|&node| self.operand_type(node)).collect::<Result<Vec<_>, _>>()?;
        let dtype =
            typing::along(function, &types, is_numpy).map_err(|kind| ExprError::new(kind, mark))?;
        let states_rule = attributes.iter().any(|given| given.attribute == Attribute::Dims);
        let operands = Operands { nodes, rule: &rule, states_rule, mark };
        let along = Along {
            widens_integers: is_numpy && !function.pairs(),
            rule: reduction_rule(function, &rule, attributes),
            ..self.beside_operands(function, attributes)?
        };
        let numbers = self.arguments(function.name(), function.parameters(), attributes)?;
        let (values, rule) = self.converted(&operands, |_| dtype)?;
        self.builder.along_of(function, &values, &along, &numbers, &rule).map_err(|error| {
            // What is wrong with `where` or a gain names that by itself.
            let is_about_operands = error.operation == function.name();
            self.graph_error(error, if is_about_operands { nodes } else { &[] }, mark)
        })
    }

    /// The axes, and what is said of elements and of the result.
    fn beside_operands(
        &self,
        function: AxisFunction,
        attributes: &[GivenAttribute],
    ) -> Elaborated<Along> {
        let keepdims = self.arguments(function.name(), &[Along::KEEPDIMS], attributes)?;
        let given = |parameter: indim_builder::Parameter| argument(attributes, parameter.name());
        let initial = given(Along::INITIAL).and_then(|node| match &self.operands[node] {
            Operand::Array(value) => Some(Initial::Value(value.clone())),
            _ => self.literal(node).map(Initial::Number),
        });
        Ok(Along {
            axes: axes(function, attributes),
            keepdims: keepdims[0] == Some(Literal::Bool(true)),
            dtype: element_type(attributes),
            selected: given(Along::WHERE).map(|node| self.value(node)).transpose()?,
            initial,
            ..Along::default()
        })
    }
}

/// How axes are counted under a rule set; the function's own are counted from the end.
fn reduction_rule(
    function: AxisFunction,
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
fn axes(function: AxisFunction, attributes: &[GivenAttribute]) -> Option<Vec<i64>> {
    let given = attributes.iter().find(|given| given.attribute == Attribute::Axes);
    match given.map(|given| &given.value) {
        Some(AttributeValue::Integers(axes)) => Some(axes.clone()),
        Some(_) => None,
        None => function.default_axes().map(<[i64]>::to_vec),
    }
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
