//! Functions along axes: their arguments, and the nodes they become.

use indim_graph::{Along, AxisFunction, Literal, Value};
use indim_ops::{DType, DTypeClass};
use indim_shape::RuleSet;

use super::elaborate::{Elaborated, Elaborator};
use super::function::Attribute;
use super::syntax::{AttributeValue, GivenAttribute, NodeIndex};
use crate::span::Span;

impl Elaborator<'_, '_> {
    /// Under the numpy rule integers are summed in 64 bits, and are `f64` where a function takes only floats.
    pub(super) fn along(
        &self,
        function: AxisFunction,
        node: NodeIndex,
        attributes: &[GivenAttribute],
        mark: Span,
    ) -> Elaborated<Value> {
        let rule = self.rule_of(&[])?;
        let is_numpy = rule == RuleSet::Numpy;
        let keepdims = self.arguments(function.name(), &[Along::KEEPDIMS], attributes)?;
        let along = Along {
            axes: axes(attributes),
            keepdims: keepdims[0] == Some(Literal::Bool(true)),
            widens_integers: is_numpy,
        };
        let numbers = self.arguments(function.name(), function.parameters(), attributes)?;
        let x = self.value(node)?;
        let class = self.dtype(&x, mark)?.class();
        let is_whole = !matches!(class, DTypeClass::Float | DTypeClass::Complex);
        let x = match is_numpy && is_whole && function.takes_only_floats() {
            true => self.cast(node, DType::F64)?,
            false => x,
        };
        self.builder
            .along(function, x, &along, &numbers)
            .map_err(|error| self.graph_error(error, &[node], mark))
    }
}

/// The axes that are given; all without a list.
fn axes(attributes: &[GivenAttribute]) -> Option<Vec<i64>> {
    attributes.iter().find_map(|given| match (&given.attribute, &given.value) {
        (Attribute::Axes, AttributeValue::Integers(axes)) => Some(axes.clone()),
        _ => None,
    })
}
