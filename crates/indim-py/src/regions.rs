//! Loops, branches and reductions as steps of a computation: separately recorded functions as their bodies.

use std::collections::HashMap;

use indim::graph::{RegionBody, VariadicReduction};
use indim::text::Binding;
use indim::{ArrayType, GraphBuilder, Value};
use indim_graph::PaddedWindow;

use crate::computation::Computation;
use crate::error::ComputationError;
use crate::operand::OperandType;

/// A recorded function of a loop, branch or reduction.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) computation: Computation,
    /// The names of the outer values that the parameters stand for.
    pub(crate) arguments: Vec<String>,
    /// For each parameter the state of the loop that it stands for, if it is one. The states of a reduction
    /// are the accumulators, then the elements.
    pub(crate) states: Vec<Option<usize>>,
}

/// A loop, branch or reduction.
#[derive(Debug, Clone)]
pub(crate) struct RegionStep {
    /// The names of its results in later steps.
    pub(crate) names: Vec<String>,
    /// The names of the initial states of a loop, of the index of a branch, or of the arrays that are reduced
    /// and their initial values.
    pub(crate) operands: Vec<String>,
    /// The condition and the body of a loop, the bodies of a branch, or the body of a reduction.
    pub(crate) bodies: Vec<Body>,
    pub(crate) kind: RegionKind,
}

/// The kind of a region step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RegionKind {
    /// A loop, with its maximum number of steps.
    Loop(u64),
    Branch,
    /// A reduction along these axes.
    Reduction(Vec<i64>),
    /// A reduction of the windows of each axis.
    WindowReduction(Vec<PaddedWindow>),
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
        let (arrays, initial) = operands.split_at(operands.len() / 2);
        let states = match &self.kind {
            RegionKind::Loop(_) => operands.clone(),
            RegionKind::Branch => Vec::new(),
            // Accumulators and elements are numbers of the types of the initial values.
            RegionKind::Reduction(_) | RegionKind::WindowReduction(_) => {
                [initial, initial].concat()
            }
        };
        let bodies = self.bodies.iter().map(|body| body.build(builder, &states, values));
        let bodies = bodies.collect::<Result<Vec<RegionBody>, ComputationError>>()?;
        Ok(match (&self.kind, &bodies[..], &operands[..]) {
            (RegionKind::Loop(limit), [condition, body], _) => {
                builder.loop_of(*limit, &operands, condition, body)?
            }
            (RegionKind::Reduction(axes), [body], _) => {
                VariadicReduction::new(builder, body, arrays, initial)?.reduce(axes)?
            }
            (RegionKind::WindowReduction(windows), [body], _) => {
                let windows: Vec<_> = windows.iter().copied().enumerate().collect();
                VariadicReduction::new(builder, body, arrays, initial)?.reduce_windows(&windows)?
            }
            (RegionKind::Branch, _, [index, ..]) => builder.branch_between(index, &bodies)?,
            _ => unreachable!("invariant: the recorder gives each kind its bodies and operands"),
        })
    }

    /// Whether another step computes the same.
    pub(crate) fn is_same(&self, other: &RegionStep) -> bool {
        let is_same = |(x, y): (&Body, &Body)| {
            (&x.arguments, &x.states) == (&y.arguments, &y.states)
                && x.computation.is_same(&y.computation)
        };
        (&self.names, &self.operands) == (&other.names, &other.operands)
            && self.kind == other.kind
            && self.bodies.len() == other.bodies.len()
            && self.bodies.iter().zip(&other.bodies).all(is_same)
    }

    /// The bytes of the texts of its bodies.
    pub(crate) fn text_length(&self) -> usize {
        self.bodies.iter().map(|body| body.computation.text_length()).sum()
    }
}

impl Body {
    /// Builds the condition or body of a loop or reduction over `states`; without states, the body of a
    /// branch.
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
