//! Elaboration of compositions: operands of one type, and numeric arguments. The builder adds the nodes,
//! by the definitions in `composition/` of `indim-builder`.

use indim_builder::{Composition, Value};

use super::elaborate::{ElaborateResult, Elaborator};
use super::elementwise::OperandNodes;
use super::error::{ExprError, ExprErrorKind};
use super::parameter::AttributeKey;
use super::syntax::{AttributeValue, NamedAttribute, NodeIndex};
use super::typing;
use crate::span::Span;
use indim_graph::Literal;

impl Elaborator<'_, '_> {
    /// The value of the call.
    pub(super) fn composition(
        &self,
        composition: Composition,
        nodes: &[NodeIndex],
        attributes: &[NamedAttribute],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let parameters = composition.parameters();
        let arguments = self.arguments(composition.name(), parameters, attributes)?;
        let rule = self.rule_of(attributes)?;
        let types =
            nodes.iter().map(|&node| self.operand_type(node)).collect::<Result<Vec<_>, _>>()?;
        let dtype = match typing::promotes(&rule) {
            true => typing::numpy_composition(composition, &types),
            false => typing::strict_composition(composition, &types),
        };
        let dtype = dtype.map_err(|kind| ExprError::new(kind, mark))?;
        let is_of_rules =
            |given: &NamedAttribute| !matches!(given.attribute, AttributeKey::Argument(_));
        let states_rule = attributes.iter().any(is_of_rules);
        if composition == Composition::FloatPower {
            // The lowering of a power depends on the exponent, so pin it.
            self.literal(nodes[1]);
        }
        let operands = OperandNodes { nodes, rule: &rule, states_rule, mark };
        let (values, rule) = self.convert_operands(&operands, |_| dtype)?;
        self.builder
            .compose(composition, &values, &arguments, &rule)
            .map_err(|error| self.graph_error(error, nodes, mark))
    }

    /// The numeric arguments of a call, in the order of the parameters.
    pub(super) fn arguments(
        &self,
        function: &'static str,
        parameters: &[indim_graph::parameter::Parameter],
        attributes: &[NamedAttribute],
    ) -> ElaborateResult<Vec<Option<Literal>>> {
        let argument = |parameter: &indim_graph::parameter::Parameter| {
            let name = parameter.name();
            let given =
                attributes.iter().find(|given| given.attribute == AttributeKey::Argument(name));
            let Some(NamedAttribute { value: AttributeValue::Number(node), .. }) = given else {
                return Ok(None);
            };
            match self.literal(*node) {
                Some(number) if parameter.accepts(number) => Ok(Some(number)),
                _ => {
                    let expected = parameter.expected();
                    let kind = ExprErrorKind::BadArgument { function, argument: name, expected };
                    Err(ExprError::new(kind, self.extent(*node)))
                }
            }
        };
        parameters.iter().map(argument).collect()
    }
}
