//! The rule of loops of known length.
//!
//! The loop is built again so that it also stacks, for each step, the states at the start of the step that
//! the rule of the body uses; of a state that the rule only gathers from, the gathered part. The loop of the
//! cotangents runs over the steps from the last to the first. In each step it computes the body again from
//! the saved states, and propagates the cotangents of the states through it. It adds the cotangents of values
//! from outside the loop to sums that begin as those of the uses after the loop.
//!
//! A saved counter is computed from the number of the step. A state that no step changes is not saved.

use indim_graph::{
    Graph, GraphError, GraphErrorKind, Literal, Node, NodeKind, Region, ScatterMode, TakeMode,
    ValueId,
};
use indim_ops::{ArrayType, DType, ScatterOp};
use indim_shape::Shape;

use crate::BuildResult;
use crate::control::Dependence;
use indim_builder::{GraphBuilder, Value};

use super::copy::{given_parameters, inline_used, used_values};
use super::sweep::{Sweep, SweptParameters};
use super::trip_count::{TripCount, is_constant_state};
use super::{GRADIENT, numbered_parameters};

/// The operands of a loop: the initial states, then the values from outside that it reads.
pub(super) struct LoopArguments {
    /// Their values in the builder.
    pub(super) operands: Vec<Value>,
    /// Whether they depend differentiably on a requested parameter, for a state in any step.
    pub(super) depends: Vec<bool>,
    /// The integers among them that are known.
    pub(super) integers: Vec<Option<i128>>,
}

/// A loop of known length that has saved states, and the rule of its body.
pub(super) struct SavedLoop {
    arguments: LoopArguments,
    trip_count: TripCount,
    /// The maximum number of steps.
    limit: u64,
    /// The rule of the body. Its parameters are the operands of the loop in a step, then for each of them
    /// that depends a cotangent: of a state after the step, or the sum of the cotangents of a value from
    /// outside. Its outputs are these cotangents before the step, and these sums.
    rule: Graph,
    /// The values of the rule that the loop saved, with their stacks: the values of all steps, along axis 0.
    stacks: Vec<(ValueId, Value)>,
}

impl SavedLoop {
    /// The loop in `b`, and its final states; `None` if its length is not known.
    pub(super) fn new(
        b: &GraphBuilder,
        node: &Node,
        arguments: LoopArguments,
    ) -> Result<Option<(SavedLoop, Vec<Value>)>, GraphError> {
        let &NodeKind::While { ref condition, ref body, limit, .. } = &node.kind else {
            unreachable!("invariant: the node is a loop")
        };
        let Some(trip_count) = TripCount::of(condition, body, &arguments.integers) else {
            return Ok(None);
        };
        // The body of a loop without steps may be illegal to differentiate: its stacks have no elements.
        let (rule, saved) = match trip_count.steps {
            0 => (GraphBuilder::new().finish(&[] as &[Value])?, Vec::new()),
            _ => {
                let rule = body_rule(body, &arguments)?;
                let saved = saved_values(&rule, body.graph(), trip_count.counter);
                (rule, saved)
            }
        };
        let operands = &arguments.operands;
        let (final_states, stacks) = match saved.is_empty() {
            true => (b.while_of(condition, body, operands, limit)?, Vec::new()),
            false => {
                let saved = (&rule, &saved[..], trip_count.steps);
                saving_loop(b, (condition, body, limit), operands, saved)?
            }
        };
        let stacks = saved.into_iter().zip(stacks).collect();
        Ok(Some((SavedLoop { arguments, trip_count, limit, rule, stacks }, final_states)))
    }

    /// The cotangents of the operands that depend, each with the number of its operand. `cotangents` has
    /// those of the final states, then the sums so far of those of the values from outside.
    pub(super) fn cotangents(
        &self,
        b: &GraphBuilder,
        cotangents: &[Option<Value>],
    ) -> Result<Vec<(usize, Value)>, GraphError> {
        let depends = &self.arguments.depends;
        let dependent: Vec<usize> = (0..depends.len()).filter(|&index| depends[index]).collect();
        let initial = dependent.iter().map(|&operand| match &cotangents[operand] {
            Some(cotangent) => Ok(cotangent.clone()),
            None => b.zeros(&self.arguments.operands[operand].array_type()?),
        });
        let initial = initial.collect::<Result<Vec<Value>, GraphError>>()?;
        let of_operands = match self.trip_count.steps {
            0 => initial,
            steps => self.reversed(b, steps as i64, initial)?,
        };
        Ok(dependent.into_iter().zip(of_operands).collect())
    }

    /// The cotangents before the first step, computed from those after the last one. The loop has the limit
    /// of the forward loop, and so fails like it, also if no cotangent reads a state.
    fn reversed(
        &self,
        b: &GraphBuilder,
        steps: i64,
        mut initial: Vec<Value>,
    ) -> Result<Vec<Value>, GraphError> {
        initial.insert(0, b.scalar(0i64));
        let mut results = b.while_loop_up_to(
            self.limit.min(steps as u64),
            &initial,
            |_, states| Ok(states[0].lt(steps)),
            |b, states| {
                let mut next = vec![&states[0] + 1i64];
                next.extend(self.step(b, &((steps - 1) - &states[0]), &states[1..])?);
                Ok(next)
            },
        )?;
        results.remove(0);
        Ok(results)
    }

    /// The cotangents before a step, computed from those after it.
    fn step(
        &self,
        b: &GraphBuilder,
        step: &Value,
        cotangents: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        let arguments = self.arguments.operands.iter().chain(cotangents);
        let mut given = given_parameters(&self.rule, arguments);
        let counter = self.rule.parameters()[self.trip_count.counter];
        let used = used_values(&self.rule, self.rule.outputs(), |value| {
            self.stacks.iter().any(|(saved, _)| *saved == value)
        });
        if used[counter.index()] {
            given.insert(counter, self.counter(b, step)?);
        }
        for (value, stack) in &self.stacks {
            given.insert(*value, b.take(stack, step, 0, TakeMode::Clip)?);
        }
        inline_used(b, &self.rule, self.rule.outputs(), &given)
    }

    /// The counter at the start of a step. Its arithmetic wraps like that of the loop.
    fn counter(&self, b: &GraphBuilder, step: &Value) -> BuildResult {
        let TripCount { dtype, start, stride, .. } = self.trip_count;
        if (dtype, start, stride) == (DType::I64, 0, 1) {
            return Ok(step.clone());
        }
        let distance = b.literal(Literal::Int(stride.abs()), dtype)?;
        let distance = b.mul(b.convert(step, dtype)?, distance, &[])?;
        let start = b.literal(Literal::Int(start), dtype)?;
        if stride < 0 { b.sub(start, distance, &[]) } else { b.add(start, distance, &[]) }
    }
}

/// The rule of the body of a loop: [`SavedLoop::rule`].
fn body_rule(body: &Region, arguments: &LoopArguments) -> Result<Graph, GraphError> {
    let (b, graph) = (GraphBuilder::new(), body.graph());
    let values = numbered_parameters(&b, 's', body.parameter_types().enumerate())?;
    // A state that changes has no known value.
    let known = |(index, integer): (usize, &Option<i128>)| {
        integer.filter(|_| is_constant_state(graph, index))
    };
    let integers: Vec<Option<i128>> = arguments.integers.iter().enumerate().map(known).collect();
    let wrt = &arguments.depends;
    let parameters = SweptParameters { values: &values, wrt, integers: &integers, facts: None };
    let mut sweep = Sweep::new(graph, &b, parameters)?.of_body();
    let dependent: Vec<usize> = (0..wrt.len()).filter(|&index| wrt[index]).collect();
    let types = body.parameter_types().enumerate().filter(|(index, _)| wrt[*index]);
    let cotangents = numbered_parameters(&b, 'd', types)?;
    // The sums first: a body may return a value from outside as the next state.
    let states = graph.outputs().len();
    for (&operand, cotangent) in dependent.iter().zip(&cotangents) {
        if operand >= states {
            sweep.begin_sum(graph.parameters()[operand], cotangent.clone());
        }
    }
    for (&operand, cotangent) in dependent.iter().zip(cotangents) {
        if operand < states {
            sweep.add(graph.outputs()[operand], cotangent);
        }
    }
    sweep.run()?;
    let results = dependent.iter().map(|&operand| sweep.gradient(graph.parameters()[operand]));
    b.finish(&results.collect::<Result<Vec<Value>, GraphError>>()?)
}

/// The values of the rule that depend on the step and not on cotangents, and from which the rule computes the
/// rest: states, or parts of a state.
fn saved_values(rule: &Graph, body: &Graph, counter: usize) -> Vec<ValueId> {
    let operands = body.parameters().len();
    let wrt: Vec<bool> = (0..rule.parameters().len()).map(|index| index >= operands).collect();
    let of_cotangent = Dependence::of(rule, &wrt, |_| true);
    let used = used_values(rule, rule.outputs(), |_| false);
    let users = users_of_parameters(rule, &used);
    let mut saved = Vec::new();
    for (state, users) in users.into_iter().enumerate().take(body.outputs().len()) {
        let parameter = rule.parameters()[state];
        if !used[parameter.index()] || state == counter || is_constant_state(body, state) {
            continue;
        }
        let is_known = |value: &ValueId| !of_cotangent.values()[value.index()];
        match users.iter().all(is_known) && are_smaller_parts(rule, parameter, &users) {
            true => saved.extend(users),
            false => saved.push(parameter),
        }
    }
    saved
}

/// For each parameter of a graph, the used nodes that read it.
fn users_of_parameters(graph: &Graph, used: &[bool]) -> Vec<Vec<ValueId>> {
    let mut users: Vec<Vec<ValueId>> = vec![Vec::new(); graph.parameters().len()];
    for (value, node) in graph.iter().filter(|(value, _)| used[value.index()]) {
        for operand in node.operands.iter() {
            if let NodeKind::Parameter { index, .. } = graph[*operand].kind {
                users[index].push(value);
            }
        }
    }
    users.iter_mut().for_each(Vec::dedup);
    users
}

/// Whether the users of a parameter, which is no output, are parts of it that have fewer elements in total.
fn are_smaller_parts(graph: &Graph, parameter: ValueId, users: &[ValueId]) -> bool {
    let count =
        |value: ValueId| graph[value].array_type.shape.element_count().unwrap_or(usize::MAX);
    let is_part = |&value: &ValueId| {
        let node = &graph[value];
        matches!(node.kind, NodeKind::Take { .. } | NodeKind::Slice(_))
            && node.operands[0] == parameter
    };
    let total = users.iter().map(|&value| count(value)).fold(0, usize::saturating_add);
    !graph.outputs().contains(&parameter) && users.iter().all(is_part) && total < count(parameter)
}

/// The loop, and the values `saved` of the rule in each step, stacked along a new axis 0.
fn saving_loop(
    b: &GraphBuilder,
    (condition, body, limit): (&Region, &Region, u64),
    operands: &[Value],
    (rule, saved, steps): (&Graph, &[ValueId], usize),
) -> Result<(Vec<Value>, Vec<Value>), GraphError> {
    let (initial, outside) = operands.split_at(body.result_types().len());
    let states = initial.len();
    let mut initial = initial.to_vec();
    for &value in saved {
        initial.push(b.zeros(&stack_type(steps, &rule[value].array_type)?)?);
    }
    initial.push(b.scalar(0i64));
    let operands_in = |b: &GraphBuilder, current: &[Value]| {
        let outside = outside.iter().map(|value| b.local(value));
        current[..states]
            .iter()
            .cloned()
            .map(Ok)
            .chain(outside)
            .collect::<BuildResult<Vec<Value>>>()
    };
    let mut results = b.while_loop_up_to(
        limit,
        &initial,
        |b, current| {
            let operands = operands_in(b, current)?;
            Ok(b.inline(condition.graph(), &operands)?.swap_remove(0))
        },
        |b, current| {
            let operands = operands_in(b, current)?;
            let mut next = b.inline(body.graph(), &operands)?;
            let position = &current[current.len() - 1];
            let values = inline_used(b, rule, saved, &given_parameters(rule, &operands))?;
            for (stack, value) in current[states..].iter().zip(&values) {
                let (set, drop) = (ScatterOp::Set, ScatterMode::Drop);
                next.push(b.scatter(set, stack, position, value, 0, drop)?);
            }
            next.push(position + 1i64);
            Ok(next)
        },
    )?;
    let stacks = results.drain(states..states + saved.len()).collect();
    results.truncate(states);
    Ok((results, stacks))
}

/// The type of the values of all steps; E5 `too-large` if it does not fit into memory.
fn stack_type(steps: usize, of: &ArrayType) -> Result<ArrayType, GraphError> {
    let sizes = core::iter::once(steps).chain(of.shape.iter().copied());
    let stacked = ArrayType::new(of.dtype, sizes.collect::<Shape>());
    match stacked.shape.byte_count(of.dtype.size()) {
        Ok(_) => Ok(stacked),
        Err(error) => {
            let kind = GraphErrorKind::Shape(Box::new(error));
            Err(GraphError::new(kind, GRADIENT, Vec::new()))
        }
    }
}
