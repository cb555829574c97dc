//! Loops and branches as steps of a computation: separately recorded functions as their bodies.

use std::collections::HashMap;

use indim::graph::RegionBody;
use indim::text::Binding;
use indim::{ArrayType, GraphBuilder, Value};

use crate::computation::Computation;
use crate::error::ComputationError;
use crate::operand::OperandType;

/// A recorded function of a loop or branch.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) computation: Computation,
    /// The names of the outer values that the parameters stand for.
    pub(crate) arguments: Vec<String>,
    /// For each parameter the state of the loop that it stands for, if it is one.
    pub(crate) states: Vec<Option<usize>>,
}

/// A loop or branch.
#[derive(Debug, Clone)]
pub(crate) struct RegionStep {
    /// The names of its results in later steps.
    pub(crate) names: Vec<String>,
    /// The names of the initial states of a loop, or of the index of a branch.
    pub(crate) operands: Vec<String>,
    /// The condition and the body of a loop, or the bodies of a branch.
    pub(crate) bodies: Vec<Body>,
    /// The maximum number of steps of a loop; `None` for a branch.
    pub(crate) limit: Option<u64>,
}

impl RegionStep {
    /// The number of its results.
    pub(crate) fn result_count(&self) -> usize {
        self.bodies.last().map_or(0, |body| body.computation.outputs.len())
    }

    /// Adds the step to a graph; returns a value for each result.
    pub(crate) fn build(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
    ) -> Result<Vec<Value>, ComputationError> {
        let operands: Vec<Value> =
            self.operands.iter().map(|name| array_value(values, name)).collect();
        let states = if self.limit.is_some() { &operands[..] } else { &[] };
        let bodies = self.bodies.iter().map(|body| body.build(builder, states, values));
        let bodies = bodies.collect::<Result<Vec<RegionBody>, ComputationError>>()?;
        Ok(match (self.limit, &bodies[..], &operands[..]) {
            (Some(limit), [condition, body], _) => {
                builder.loop_of(limit, &operands, condition, body)?
            }
            (_, _, [index, ..]) => builder.branch_between(index, &bodies)?,
            _ => unreachable!("invariant: a branch has an index"),
        })
    }

    /// Whether another step computes the same.
    pub(crate) fn is_same(&self, other: &RegionStep) -> bool {
        let is_same = |(x, y): (&Body, &Body)| {
            (&x.arguments, &x.states) == (&y.arguments, &y.states)
                && x.computation.is_same(&y.computation)
        };
        (&self.names, &self.operands) == (&other.names, &other.operands)
            && self.limit == other.limit
            && self.bodies.len() == other.bodies.len()
            && self.bodies.iter().zip(&other.bodies).all(is_same)
    }

    /// The bytes of the texts of its bodies.
    pub(crate) fn text_length(&self) -> usize {
        self.bodies.iter().map(|body| body.computation.text_length()).sum()
    }
}

impl Body {
    /// Builds the condition or the body of a loop over `states`; without states, the body of a branch.
    fn build(
        &self,
        builder: &GraphBuilder,
        states: &[Value],
        values: &HashMap<String, Binding>,
    ) -> Result<RegionBody, ComputationError> {
        let types = states.iter().map(Value::array_type).collect::<Result<Vec<ArrayType>, _>>()?;
        let (inner, inner_states) = builder.begin_region(&types)?;
        let argument = |(name, state): (&String, &Option<usize>)| match state {
            Some(state) => inner_states[*state].clone(),
            None => array_value(values, name),
        };
        let arguments = self.arguments.iter().zip(&self.states).map(argument);
        let arguments: Vec<Value> = arguments.collect();
        let types = arguments.iter().map(Value::array_type).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<OperandType> = types.into_iter().map(OperandType::Array).collect();
        let graph = self.computation.graph(&types, &[], false)?;
        let results = inner.inline(&graph, &arguments)?;
        Ok(inner.end_region(&results)?)
    }
}

fn array_value(values: &HashMap<String, Binding>, name: &String) -> Value {
    match values.get(name) {
        Some(Binding::Array(value)) => value.clone(),
        _ => unreachable!("invariant: traced values have the names of arrays"),
    }
}
