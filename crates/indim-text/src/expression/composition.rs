//! Calls of compositions: their operands in one type, and their numbers. The nodes are made by the builder,
//! as the definitions in `composition/` say. The rest of elaboration is in `elaborate.rs`.

use indim_builder::{Composition, Value};

use super::elaborate::{Elaborated, Elaborator};
use super::elementwise::Operands;
use super::error::{ExprError, ExprErrorKind};
use super::function::Attribute;
use super::syntax::{AttributeValue, GivenAttribute, NodeIndex};
use super::typing;
use crate::span::Span;
use indim_graph::Literal;

impl Elaborator<'_, '_> {
    /// The value of the call.
    pub(super) fn composition(
        &self,
        composition: Composition,
        nodes: &[NodeIndex],
        attributes: &[GivenAttribute],
        mark: Span,
    ) -> Elaborated<Value> {
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
            |given: &GivenAttribute| !matches!(given.attribute, Attribute::Argument(_));
        let states_rule = attributes.iter().any(is_of_rules);
        if composition == Composition::FloatPower {
            // Some exponents make another operation of a power.
            self.literal(nodes[1]);
        }
        let operands = Operands { nodes, rule: &rule, states_rule, mark };
        let (values, rule) = self.converted(&operands, |_| dtype)?;
        self.builder
            .compose(composition, &values, &arguments, &rule)
            .map_err(|error| self.graph_error(error, nodes, mark))
    }

    /// The numbers that are given, in the order of the parameters.
    pub(super) fn arguments(
        &self,
        function: &'static str,
        parameters: &[indim_builder::Parameter],
        attributes: &[GivenAttribute],
    ) -> Elaborated<Vec<Option<Literal>>> {
        let argument = |parameter: &indim_builder::Parameter| {
            let name = parameter.name();
            let given =
                attributes.iter().find(|given| given.attribute == Attribute::Argument(name));
            let Some(GivenAttribute { value: AttributeValue::Number(node), .. }) = given else {
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
