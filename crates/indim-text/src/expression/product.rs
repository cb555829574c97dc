//! Products of arrays: their names and parameters, and their elaboration.
//!
//! Recorded calls alone have them. `dot` and `vecdot` of a text are reductions, so NumPy's functions of these
//! names are called `numpy.dot` and `numpy.vecdot` here.

use indim_builder::Value;
use indim_graph::GraphError;
use indim_ops::DType;
use indim_shape::ContractionRule;

use super::elaborate::{ElaborateResult, Elaborator};
use super::error::ExprError;
use super::function::{Attribute, CallParameter};
use super::syntax::{AttributeValue, NamedAttribute, NodeIndex};
use super::typing;
use crate::span::Span;

/// A product of NumPy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProductFunction {
    Matmul,
    Dot,
    Inner,
    Outer,
    Matvec,
    Vecmat,
    Vecdot,
    Tensordot,
    Einsum,
}

const PRODUCTS: &[(&str, ProductFunction)] = &[
    ("@", ProductFunction::Matmul),
    // With an element type, which an operator cannot have.
    ("matmul", ProductFunction::Matmul),
    ("numpy.dot", ProductFunction::Dot),
    ("inner", ProductFunction::Inner),
    ("outer", ProductFunction::Outer),
    ("matvec", ProductFunction::Matvec),
    ("vecmat", ProductFunction::Vecmat),
    ("numpy.vecdot", ProductFunction::Vecdot),
    ("tensordot", ProductFunction::Tensordot),
    ("einsum", ProductFunction::Einsum),
];

impl ProductFunction {
    pub(super) fn from_name(name: &str) -> Option<ProductFunction> {
        PRODUCTS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// The parameter at a position of a call. A list of operands is one argument.
    pub(super) fn parameter(self, position: usize) -> Option<CallParameter> {
        let operands = if self == ProductFunction::Einsum { 1 } else { 2 };
        let Some(position) = position.checked_sub(operands) else {
            return Some(CallParameter::Operand);
        };
        let attributes: &[Attribute] = match self {
            ProductFunction::Outer => &[],
            ProductFunction::Vecdot => &[Attribute::Axis, Attribute::ElementType],
            ProductFunction::Tensordot => {
                &[Attribute::LeftAxes, Attribute::RightAxes, Attribute::ElementType]
            }
            ProductFunction::Einsum => &[Attribute::Equation, Attribute::ElementType],
            _ => &[Attribute::ElementType],
        };
        attributes.get(position).copied().map(CallParameter::Attribute)
    }
}

impl Elaborator<'_, '_> {
    /// Under the numpy rule, operands are promoted; under other rules their types are equal.
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
        self.built_product(function, &values, attributes)
            .map_err(|error| self.graph_error(error, nodes, mark))
    }

    fn built_product(
        &self,
        function: ProductFunction,
        values: &[Value],
        attributes: &[NamedAttribute],
    ) -> Result<Value, GraphError> {
        let dtype = element_type(attributes);
        let axes = |attribute| integers(attributes, attribute).to_vec();
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
                let axis = integers(attributes, Attribute::Axis).first().copied();
                ContractionRule::Vecdot { axis: axis.unwrap_or(-1) }
            }
            ProductFunction::Tensordot => ContractionRule::Tensordot {
                x: axes(Attribute::LeftAxes),
                y: axes(Attribute::RightAxes),
            },
        };
        self.builder.product(&rule, &values[0], &values[1], dtype)
    }
}

fn integers(attributes: &[NamedAttribute], wanted: Attribute) -> &[i64] {
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
