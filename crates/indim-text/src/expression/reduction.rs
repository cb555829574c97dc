//! Elaboration of reductions, the functions along axes.

use indim_builder::{Initial, ReduceOptions, Reduction, Value};
use indim_graph::Literal;
use indim_graph::parameter::Parameter;
use indim_ops::DType;
use indim_shape::{ReductionRuleName, RuleSet};

use super::elaborate::{ElaborateResult, ElaboratedOperand, Elaborator};
use super::elementwise::OperandNodes;
use super::error::ExprError;
use super::parameter::AttributeKey;
use super::syntax::{AttributeValue, NamedAttribute, NodeIndex};
use super::typing;
use crate::span::Span;

impl Elaborator<'_, '_> {
    /// Elaborates a reduction. Under the rules numpy and named, operands are promoted, and integers are
    /// summed in 64 bits, except by `dot` and `vecdot`; a function that takes only floats converts
    /// integers to `f64`.
    pub(super) fn reduction(
        &self,
        function: Reduction,
        nodes: &[NodeIndex],
        attributes: &[NamedAttribute],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let rule = self.rule_of(attributes)?;
        let is_numpy = typing::promotes(&rule);
        let types =
            nodes.iter().map(|&node| self.operand_type(node)).collect::<Result<Vec<_>, _>>()?;
        let dtype = typing::reduction(function, &types, is_numpy)
            .map_err(|kind| ExprError::new(kind, mark))?;
        let states_rule = attributes.iter().any(|given| given.attribute == AttributeKey::Dims);
        let operands = OperandNodes { nodes, rule: &rule, states_rule, mark };
        let mut reduction = self
            .reduce_options(function, attributes)?
            .widens_integers(is_numpy && !function.pairs())
            .rule(reduction_rule(function, &rule, attributes));
        let numbers = self.arguments(function.name(), function.parameters(), attributes)?;
        for (parameter, number) in function.parameters().iter().zip(numbers) {
            if let Some(number) = number {
                reduction = reduction.number(parameter.name(), number);
            }
        }
        let reduction = match &rule {
            RuleSet::Named { .. } => self.broadcast_by_names(reduction, nodes, mark)?,
            _ => reduction,
        };
        let (values, rule) = self.convert_operands(&operands, |_| dtype)?;
        self.builder.along_of(function, &values, reduction, &rule).map_err(|error| {
            // An error about `where` or another argument has its own operands.
            let is_about_operands = error.operation == function.name();
            self.graph_error(error, if is_about_operands { nodes } else { &[] }, mark)
        })
    }

    /// Under rule `named`, broadcasts `where` to the operand by axis names, and checks that `initial` is a
    /// scalar.
    fn broadcast_by_names(
        &self,
        reduction: ReduceOptions,
        nodes: &[NodeIndex],
        mark: Span,
    ) -> ElaborateResult<ReduceOptions> {
        let by_names = |selected: &Value| {
            let like = self.value(nodes[0])?;
            let placed = self.builder.broadcast_by_names(selected, &like);
            placed.map_err(|error| self.graph_error(error, &[], mark))
        };
        if let Some(Initial::Value(initial)) = &reduction.initial {
            // `initial` is combined with the result by position, so only a scalar is unambiguous.
            let scalar = self.builder.broadcast_by_names(initial, &self.builder.scalar(0.0f64));
            scalar.map_err(|error| self.graph_error(error, &[], mark))?;
        }
        let selected = reduction.selected.as_ref().map(by_names).transpose()?;
        let mut reduction = reduction;
        reduction.selected = selected;
        Ok(reduction)
    }

    /// The options of a reduction: axes, `keepdims`, `dtype`, `where` and `initial`.
    fn reduce_options(
        &self,
        function: Reduction,
        attributes: &[NamedAttribute],
    ) -> ElaborateResult<ReduceOptions> {
        let keepdims = self.arguments(function.name(), &[ReduceOptions::KEEPDIMS], attributes)?;
        let given = |parameter: Parameter| argument(attributes, parameter.name());
        let initial = given(ReduceOptions::INITIAL).and_then(|node| match &self.operands[node] {
            ElaboratedOperand::Array(value) => Some(Initial::Value(value.clone())),
            _ => self.literal(node).map(Initial::Number),
        });
        let mut options = ReduceOptions::new().keepdims(keepdims[0] == Some(Literal::Bool(true)));
        options.axes = axes(function, attributes);
        options.names = axis_names(attributes);
        options.dtype = element_type(attributes);
        options.selected = given(ReduceOptions::WHERE).map(|node| self.value(node)).transpose()?;
        options.initial = initial;
        Ok(options)
    }
}

/// The reduction rule by which the axes are read under a rule set. Default axes of a function may be
/// negative, so they follow numpy.
fn reduction_rule(
    function: Reduction,
    rule: &RuleSet,
    attributes: &[NamedAttribute],
) -> ReductionRuleName {
    let gives_axes = attributes.iter().any(|given| given.attribute == AttributeKey::Axes);
    match rule {
        _ if !gives_axes && function.default_axes().is_some() => ReductionRuleName::Numpy,
        RuleSet::Xla { .. } => ReductionRuleName::Xla,
        RuleSet::StableHlo | RuleSet::StableHloSelect => ReductionRuleName::StableHlo,
        RuleSet::Pdpd { .. } => ReductionRuleName::Pdpd,
        _ => ReductionRuleName::Numpy,
    }
}

/// The axes of the call, by default those of the function. `None` means all axes, unless the call names
/// axes.
fn axes(function: Reduction, attributes: &[NamedAttribute]) -> Option<Vec<i64>> {
    let given = attributes.iter().find(|given| given.attribute == AttributeKey::Axes);
    match given.map(|given| &given.value) {
        Some(AttributeValue::Integers(axes)) => Some(axes.clone()),
        Some(_) => None,
        None => function.default_axes().map(<[i64]>::to_vec),
    }
}

/// The axis names of the call, if it names axes.
fn axis_names(attributes: &[NamedAttribute]) -> Option<Vec<String>> {
    attributes.iter().find_map(|given| match &given.value {
        AttributeValue::Names(names) => Some(names.clone()),
        _ => None,
    })
}

fn element_type(attributes: &[NamedAttribute]) -> Option<DType> {
    attributes.iter().find_map(|given| match given.value {
        AttributeValue::ElementType(dtype) => Some(dtype),
        _ => None,
    })
}

/// The node of a keyword argument.
fn argument(attributes: &[NamedAttribute], name: &str) -> Option<NodeIndex> {
    attributes.iter().find_map(|given| match (given.attribute, &given.value) {
        (AttributeKey::Argument(known), AttributeValue::Number(node)) if known == name => {
            Some(*node)
        }
        _ => None,
    })
}
