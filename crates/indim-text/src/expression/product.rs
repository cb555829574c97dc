//! Elaboration of products of arrays.

use indim_builder::Value;
use indim_graph::GraphError;
use indim_ops::DType;
use indim_shape::{ContractionRule, MAX_RANK};

use super::elaborate::{ElaborateResult, Elaborator};
use super::error::ExprError;
use super::parameter::AttributeKey;
use super::product_function::ProductFunction;
use super::syntax::{AttributeValue, NamedAttribute, NodeIndex};
use super::typing;
use crate::span::Span;

impl Elaborator<'_, '_> {
    /// Elaborates a product. The numpy rule promotes the operands; other rules require equal types.
    pub(super) fn product(
        &self,
        function: ProductFunction,
        nodes: &[NodeIndex],
        attributes: &[NamedAttribute],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let is_numpy = typing::promotes(&self.rule_of(&[])?);
        let types =
            nodes.iter().map(|&node| self.operand_type(node)).collect::<Result<Vec<_>, _>>()?;
        let dtype = typing::product(&types, is_numpy).map_err(|kind| ExprError::new(kind, mark))?;
        let values = nodes
            .iter()
            .map(|&node| self.operand_as(node, dtype, is_numpy))
            .collect::<Result<Vec<Value>, _>>()?;
        self.build_product(function, &values, attributes)
            .map_err(|error| self.graph_error(error, nodes, mark))
    }

    fn build_product(
        &self,
        function: ProductFunction,
        values: &[Value],
        attributes: &[NamedAttribute],
    ) -> Result<Value, GraphError> {
        let dtype = element_type(attributes);
        let rule = match function {
            ProductFunction::Einsum => {
                return self.builder.einsum_as(equation(attributes), values, dtype);
            }
            ProductFunction::Outer => return self.builder.outer(&values[0], &values[1]),
            ProductFunction::Matmul => ContractionRule::Matmul,
            ProductFunction::Dot => ContractionRule::Dot,
            ProductFunction::Inner => ContractionRule::Inner,
            ProductFunction::Matvec => ContractionRule::Matvec,
            ProductFunction::Vecmat => ContractionRule::Vecmat,
            ProductFunction::Vecdot => {
                let axis = integers(attributes, AttributeKey::Axis).first().copied();
                ContractionRule::Vecdot { axis: axis.unwrap_or(-1) }
            }
            ProductFunction::Tensordot => tensordot(attributes),
        };
        self.builder.product(&rule, &values[0], &values[1], dtype)
    }
}

/// The rule of `tensordot`: `axes`, or a list for each operand; without either, two axes.
fn tensordot(attributes: &[NamedAttribute]) -> ContractionRule {
    let given = |wanted| attributes.iter().find(|given| given.attribute == wanted);
    let axes = |attribute| integers(attributes, attribute).to_vec();
    match given(AttributeKey::SummedAxes).map(|given| &given.value) {
        Some(AttributeValue::AxisLists([x, y])) => {
            ContractionRule::Tensordot { x: x.clone(), y: y.clone() }
        }
        Some(AttributeValue::Integers(count)) => tensordot_rule(count.first().copied()),
        _ if given(AttributeKey::LeftAxes).or(given(AttributeKey::RightAxes)).is_some() => {
            ContractionRule::Tensordot {
                x: axes(AttributeKey::LeftAxes),
                y: axes(AttributeKey::RightAxes),
            }
        }
        _ => tensordot_rule(None),
    }
}

/// The last `count` axes of `x` with the first of `y`.
fn tensordot_rule(count: Option<i64>) -> ContractionRule {
    // Limits the length of the lists. The rule refuses more axes than an operand has.
    let count = count.unwrap_or(2).clamp(0, MAX_RANK as i64 + 1);
    ContractionRule::Tensordot { x: (-count..0).collect(), y: (0..count).collect() }
}

fn integers(attributes: &[NamedAttribute], wanted: AttributeKey) -> &[i64] {
    let given = attributes.iter().find(|given| given.attribute == wanted);
    match given.map(|given| &given.value) {
        Some(AttributeValue::Integers(values)) => values,
        _ => &[],
    }
}

fn equation(attributes: &[NamedAttribute]) -> &str {
    let words = attributes.iter().find_map(|given| match &given.value {
        AttributeValue::Word(word) => Some(word.as_str()),
        _ => None,
    });
    words.unwrap_or_default()
}

fn element_type(attributes: &[NamedAttribute]) -> Option<DType> {
    attributes.iter().find_map(|given| match given.value {
        AttributeValue::ElementType(dtype) => Some(dtype),
        _ => None,
    })
}
