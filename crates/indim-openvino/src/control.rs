//! Loops and branches: `TensorIterator`, `Loop` and `If`.
//!
//! A back edge passes a result of the body to a parameter of the next step: this parameter is a state of
//! the loop. An input port with an axis slices an array: each step takes one part. An output port with an
//! axis concatenates the results of all steps along this axis.

use std::collections::{BTreeMap, HashMap};

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, AxisSlice, MAX_REGION_DEPTH};
use indim_model::loops::{
    LoopEnd, branch, check_states, move_stack_axis, part_of, truth, types_of, whole_number,
};
use indim_model::shape_values::KnownValue;
use indim_model::{FormatError, FormatErrorKind};
use indim_ops::{ArrayType, DType};

use crate::build::{Frame, ProgramBuilder};
use crate::call::LoweringResult;
use crate::element_type::element_type;
use crate::layer::{Layer, Port};
use crate::network::Body;
use crate::port_map::{MappedPort, Partition};

/// The results of a loop or branch; `None` for a result that no layer reads.
type ControlResults = Result<Vec<Option<KnownValue>>, FormatError>;

/// A loop or branch with its operands.
struct ControlLayer<'m> {
    layer: &'m Layer,
    operands: Vec<KnownValue>,
    /// Index of the operand at each input port, by the identifier of the port.
    inputs: HashMap<u64, usize>,
    /// Index of the output at each output port, by the identifier of the port.
    outputs: HashMap<u64, usize>,
    /// Whether a layer reads each output.
    is_read: Vec<bool>,
}

impl<'m> ControlLayer<'m> {
    fn of(frame: &Frame<'m>, position: usize) -> Result<ControlLayer<'m>, FormatError> {
        let layer = &frame.network.layers[position];
        let operands = layer.sources.iter().map(|source| frame.source(source));
        let operands = operands.collect::<LoweringResult<Vec<_>>>();
        let numbered =
            |ports: &[Port]| ports.iter().enumerate().map(|(at, port)| (port.id, at)).collect();
        let outputs = 0..layer.outputs.len();
        Ok(ControlLayer {
            layer,
            operands: operands.map_err(|kind| layer.fault(kind))?,
            inputs: numbered(&layer.inputs),
            outputs: numbered(&layer.outputs),
            is_read: outputs.map(|output| frame.read.contains(&(position, output))).collect(),
        })
    }

    fn fault(&self, kind: FormatErrorKind) -> FormatError {
        self.layer.fault(kind)
    }

    /// The operand at a port.
    fn operand(&self, port: &MappedPort) -> LoweringResult<&KnownValue> {
        let position = port.external.and_then(|id| self.inputs.get(&id).copied());
        position.and_then(|position| self.operands.get(position)).ok_or_else(|| missing_port(port))
    }

    /// The index of the output at a port of a loop.
    fn output(&self, port: &MappedPort) -> LoweringResult<usize> {
        let position = port.external.and_then(|id| self.outputs.get(&id).copied());
        position.ok_or_else(|| missing_port(port))
    }

    /// The output ports of a branch, in the order of the layer's outputs. As in OpenVINO, the n-th
    /// smallest `external_port_id` of the body's port map belongs to output n of the layer, whether or
    /// not the layer has a port with this identifier.
    fn branch_outputs<'p>(&self, body: &'p Body) -> LoweringResult<Vec<&'p MappedPort>> {
        let mut ports = BTreeMap::new();
        for port in &body.ports.outputs {
            let id = port.external.ok_or_else(|| missing_port(port))?;
            if ports.insert(id, port).is_some() {
                let (what, name) = ("output port of a branch", id.to_string());
                return Err(FormatErrorKind::Duplicate { what, name });
            }
        }
        match ports.values().nth(self.outputs.len()) {
            Some(port) => Err(missing_port(port)),
            None => Ok(ports.into_values().collect()),
        }
    }
}

fn missing_port(port: &MappedPort) -> FormatErrorKind {
    let name = port.external.map_or_else(|| "-1".to_owned(), |port| port.to_string());
    FormatErrorKind::Undefined { what: "port of the layer", name }
}

impl<'m> ProgramBuilder<'m> {
    /// Builds a loop or branch.
    ///
    /// # Errors
    /// Those of its bodies; `loop-state-type`, `unsupported`, `depends-on-data`, `undefined`.
    pub(super) fn control(&mut self, frame: &Frame<'m>, position: usize) -> ControlResults {
        let control = ControlLayer::of(frame, position)?;
        let bodies = frame.network.bodies_of(position);
        let plans = &frame.plan.bodies[bodies.clone()];
        let body = |name: &str| {
            let bodies = frame.network.bodies[bodies.clone()].iter().zip(plans);
            let mut of_name = bodies.filter(|(body, _)| body.name == name);
            match (of_name.next(), of_name.next()) {
                (Some((body, plan)), None) => Ok((body, Frame::new(&body.network, plan))),
                _ => {
                    let expected = format!("one `<{name}>` in the layer");
                    Err(control.fault(FormatErrorKind::Unexpected { expected }))
                }
            }
        };
        match control.layer.is("If") {
            true => self.build_branch(&control, [body("then_body")?, body("else_body")?]),
            false => self.build_loop(&control, body("body")?),
        }
    }

    /// Sets the value of the body's parameter at position `internal`. Known elements become a constant in
    /// the body; another value is captured.
    fn define(
        &self,
        frame: &mut Frame<'m>,
        internal: usize,
        value: &KnownValue,
    ) -> LoweringResult<()> {
        let builder = &self.model_builder.builder;
        frame.values[internal] = vec![Some(match &value.elements {
            Some(array) => KnownValue::constant(builder, array.clone()),
            None => builder.local(&value.value)?.into(),
        })];
        Ok(())
    }

    /// Builds the layers of a body, after a check that each of its parameters has a value.
    fn run_body(
        &mut self,
        control: &ControlLayer<'m>,
        frame: &mut Frame<'m>,
    ) -> Result<(), FormatError> {
        let layers = frame.network.layers.iter().zip(&frame.values);
        for (parameter, values) in layers.filter(|(layer, _)| layer.is("Parameter")) {
            if values.is_empty() {
                let (what, name) = ("port of the parameter", parameter.name.clone());
                return Err(control.fault(FormatErrorKind::Undefined { what, name }));
            }
        }
        if self.depth == MAX_REGION_DEPTH {
            let what = "nested loops and branches";
            return Err(control.fault(FormatErrorKind::Limit { what, limit: MAX_REGION_DEPTH }));
        }
        self.depth += 1;
        self.run(frame)?;
        self.depth -= 1;
        Ok(())
    }

    fn build_branch(
        &mut self,
        control: &ControlLayer<'m>,
        bodies: [(&'m Body, Frame<'m>); 2],
    ) -> ControlResults {
        let at = |kind| control.fault(kind);
        let condition = &control.operands[0];
        let known = truth(condition);
        let count = control.layer.outputs.len();
        let mut regions = Vec::new();
        for (flag, (body, mut frame)) in [true, false].into_iter().zip(bodies) {
            if known == Some(!flag) {
                continue;
            }
            if known.is_none() {
                self.model_builder.begin_region(&[]).map_err(at)?;
            }
            for port in &body.ports.inputs {
                let operand = control.operand(port).map_err(at)?;
                self.define(&mut frame, port.internal, operand).map_err(at)?;
            }
            self.run_body(control, &mut frame)?;
            let mut results: Vec<Option<KnownValue>> = vec![None; count];
            let ports = control.branch_outputs(body).map_err(at)?;
            for (result, port) in results.iter_mut().zip(ports) {
                *result = Some(result_of(&frame, port.internal).map_err(at)?);
            }
            if known.is_some() {
                return Ok(results);
            }
            let read =
                results.into_iter().enumerate().filter(|(output, _)| control.is_read[*output]);
            let values = read.map(|(_, result)| result.map(|result| result.value));
            let values: Option<Vec<Value>> = values.collect();
            let values = values.ok_or_else(|| {
                let expected = "a port of each branch for every output".to_owned();
                at(FormatErrorKind::Unexpected { expected })
            })?;
            regions.push(self.model_builder.end_region(&values).map_err(at)?);
        }
        let (Some(on_false), Some(on_true)) = (regions.pop(), regions.pop()) else {
            return Ok(Vec::new());
        };
        let builder = &self.model_builder.builder;
        let values = branch(builder, &condition.value, [on_true, on_false]).map_err(at)?;
        let mut values = values.into_iter();
        let results = control.is_read.iter().map(|&is_read| {
            let value = if is_read { values.next() } else { None };
            value.map(KnownValue::from)
        });
        Ok(results.collect())
    }

    fn build_loop(
        &mut self,
        control: &ControlLayer<'m>,
        (body, mut frame): (&'m Body, Frame<'m>),
    ) -> ControlResults {
        let at = |kind| control.fault(kind);
        let builder = self.model_builder.builder.clone();
        let plan = LoopPlan::of(control, body, &builder).map_err(at)?;
        let types = types_of(&plan.initial).map_err(at)?;
        let mut parameters = vec![ArrayType::new(DType::I64, [])];
        parameters.extend_from_slice(&types);
        let given = self.model_builder.begin_region(&parameters).map_err(at)?;
        for port in &body.ports.inputs {
            let value = self.step_input(control, &plan, port, &given, &frame).map_err(at)?;
            self.define(&mut frame, port.internal, &value).map_err(at)?;
        }
        self.run_body(control, &mut frame)?;
        let result = |internal| result_of(&frame, internal).map_err(at);
        let condition = body.ports.outputs.iter().find(|port| port.purpose == CONDITION);
        let condition = condition.map(|port| result(port.internal)).transpose()?;
        let is_condition_true = condition.as_ref().map_or(Some(true), truth);
        let length = plan.end.length(is_condition_true).map_err(at)?;
        let condition = condition.filter(|_| length.has_condition);
        let mut results: Vec<Value> = condition.into_iter().map(|known| known.value).collect();
        let states = plan.states.iter().map(|&(from, _)| Ok(result(from)?.value));
        let states: Vec<Value> = states.collect::<Result<_, FormatError>>()?;
        let name = |state: usize| body.network.layers[plan.states[state].1].name.as_str();
        let found = types_of(&states).map_err(at)?;
        check_states("Loop", name, &types, &found).map_err(at)?;
        results.extend(states);
        // A result becomes a state too, if only its value in the last step is read. The body does not
        // read these states, so they start as zeros.
        let mut initial = plan.initial.clone();
        for &internal in &plan.last {
            let last = result(internal)?.value;
            let zeros = last.array_type().and_then(|of| builder.zeros(&of));
            initial.push(zeros.map_err(|error| at(error.into()))?);
            results.push(last);
        }
        for port in &plan.stacked {
            results.push(result(port.internal)?.value);
        }
        let region = self.model_builder.end_region(&results).map_err(at)?;
        let (final_states, stacks) =
            plan.end.build(&builder, &initial, length, &region).map_err(at)?;
        let mut results: Vec<Option<KnownValue>> = vec![None; control.layer.outputs.len()];
        for port in body.ports.outputs.iter().filter(|port| port.parts.is_none()) {
            let Some(&state) = plan.state_of_result.get(&port.internal) else { continue };
            if port.external.is_some() {
                results[control.output(port).map_err(at)?] =
                    Some(final_states[state].clone().into());
            }
        }
        for (port, stack) in plan.stacked.iter().zip(stacks) {
            if let Some(parts) = &port.parts {
                let joined = parts.join(&builder, &stack).map_err(at)?;
                results[control.output(port).map_err(at)?] = Some(joined.into());
            }
        }
        Ok(results)
    }

    /// The value of a parameter of the body in a step; `given` are the number of the step and the states.
    fn step_input(
        &self,
        control: &ControlLayer<'m>,
        plan: &LoopPlan<'_>,
        port: &MappedPort,
        given: &[Value],
        frame: &Frame<'m>,
    ) -> LoweringResult<KnownValue> {
        let builder = &self.model_builder.builder;
        if let Some(state) = plan.state_of_parameter.get(&port.internal) {
            return Ok(given[1 + state].clone().into());
        }
        let Some(position) = given.first() else { return Err(missing_port(port)) };
        if port.purpose == ITERATION {
            let layer = &frame.network.layers[port.internal];
            let dtype = layer.attribute("element_type").map_or(Ok(None), element_type)?;
            let sizes = vec![1; layer.outputs.first().map_or(0, |port| port.sizes.len())];
            let number = builder.convert(position, dtype.unwrap_or(DType::I64))?;
            return Ok(builder.reshape(number, sizes)?.into());
        }
        match plan.slices.get(&port.internal) {
            None => Ok(control.operand(port)?.clone()),
            Some((x, axis, is_reversed)) => {
                let count = x.array_type()?.shape[*axis] as i64;
                let position = match is_reversed {
                    true => (count - 1) - position,
                    false => position.clone(),
                };
                Ok(part_of(builder, x, &position, *axis)?.into())
            }
        }
    }
}

/// The `purpose` of the output port that has the condition of the loop.
const CONDITION: &str = "execution_condition";
/// The `purpose` of the input port that gets the number of the step.
const ITERATION: &str = "current_iteration";

/// The states, parts and results of a loop.
struct LoopPlan<'p> {
    end: LoopEnd,
    /// For each state, the result of the body that gives its next value, and the parameter that receives
    /// it. Results and parameters are positions of layers in the body, here and in the fields below.
    states: &'p [(usize, usize)],
    /// Index of the state of each parameter.
    state_of_parameter: HashMap<usize, usize>,
    /// Index of the state of each result. The results in `last` are states after those of back edges.
    state_of_result: HashMap<usize, usize>,
    /// The initial values of the states of back edges.
    initial: Vec<Value>,
    /// For each sliced parameter: the array, split into parts, the axis that counts the parts, and
    /// whether the first step takes the last part.
    slices: HashMap<usize, (Value, usize, bool)>,
    /// Results whose value in the last step is read, and that no back edge makes states.
    last: Vec<usize>,
    /// The output ports that concatenate the results of all steps, and that a layer reads.
    stacked: Vec<&'p MappedPort>,
}

impl<'p> LoopPlan<'p> {
    fn of(
        control: &ControlLayer<'_>,
        body: &'p Body,
        builder: &GraphBuilder,
    ) -> LoweringResult<LoopPlan<'p>> {
        let ports = &body.ports;
        let inputs: HashMap<usize, &MappedPort> =
            ports.inputs.iter().map(|port| (port.internal, port)).collect();
        let mut initial = Vec::with_capacity(ports.back_edges.len());
        for (_, to) in &ports.back_edges {
            let name = || body.network.layers[*to].name.clone();
            let undefined = || FormatErrorKind::Undefined { what: "initial state", name: name() };
            let port = inputs.get(to).ok_or_else(undefined)?;
            initial.push(control.operand(port)?.value.clone());
        }
        let (mut slices, mut count) = (HashMap::new(), None);
        for port in &ports.inputs {
            let Some(parts) = &port.parts else { continue };
            let (x, axis) = parts.split(builder, &control.operand(port)?.value)?;
            let found = x.array_type()?.shape[axis];
            let expected = *count.get_or_insert(found);
            if found != expected {
                let expected = format!("{expected} parts of every sliced input, not {found}");
                return Err(FormatErrorKind::Unexpected { expected });
            }
            slices.insert(port.internal, (x, axis, parts.stride < 0));
        }
        let end = loop_end(control, builder, count)?;
        let edges = ports.back_edges.iter().enumerate();
        let state_of_parameter = edges.clone().map(|(state, &(_, to))| (to, state)).collect();
        let mut state_of_result: HashMap<usize, usize> =
            edges.map(|(state, &(from, _))| (from, state)).collect();
        let (mut last, mut stacked) = (Vec::new(), Vec::new());
        for port in ports.outputs.iter().filter(|port| port.external.is_some()) {
            let is_read = control.is_read[control.output(port)?];
            match &port.parts {
                Some(_) if is_read => stacked.push(port),
                None if is_read && !state_of_result.contains_key(&port.internal) => {
                    state_of_result.insert(port.internal, initial.len() + last.len());
                    last.push(port.internal);
                }
                _ => {}
            }
        }
        let states = &ports.back_edges;
        Ok(LoopPlan {
            end,
            states,
            state_of_parameter,
            state_of_result,
            initial,
            slices,
            last,
            stacked,
        })
    }
}

/// The trip count and the first condition. A `Loop` has them as operands 0 and 1; a `TensorIterator` runs
/// once per part of its sliced inputs, or once without such inputs.
fn loop_end(
    control: &ControlLayer<'_>,
    builder: &GraphBuilder,
    parts: Option<usize>,
) -> LoweringResult<LoopEnd> {
    let number = |count: usize| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        KnownValue::constant(builder, Array::from_scalar(count))
    };
    if !control.layer.is("Loop") {
        return Ok(LoopEnd { trips: Some(number(parts.unwrap_or(1))), enters: None });
    }
    let trips = &control.operands[0];
    let enters = control.operands.get(1).cloned();
    let known = whole_number(trips);
    let trips = match (known, parts) {
        // A negative trip count sets no limit; the number of parts then does, if there are any.
        (Some(..0), parts) => parts.map(number),
        (Some(steps), Some(parts)) if usize::try_from(steps).is_ok_and(|steps| steps > parts) => {
            let expected =
                format!("at most {parts} steps, the parts of the sliced inputs, not {steps}");
            return Err(FormatErrorKind::Unexpected { expected });
        }
        (None, None) => {
            let count = builder.convert(&trips.value, DType::I64)?;
            Some(count.lt(0).select(i64::MAX, &count).into())
        }
        (None, Some(_)) => {
            let chain = vec!["the trip count of a loop over parts".to_owned()];
            return Err(FormatErrorKind::DependsOnData { chain });
        }
        (Some(_), _) => Some(trips.clone()),
    };
    Ok(LoopEnd { trips, enters })
}

impl Partition {
    /// The array with its axis split into two, `[number of parts, size of a part]`, and the position of
    /// the first of them.
    fn split(&self, builder: &GraphBuilder, x: &Value) -> LoweringResult<(Value, usize)> {
        let shape = x.array_type()?.shape;
        let axis = self.axis_of(shape.rank())?;
        let space = i128::from(shape[axis] as u64);
        let bound = |bound: i64| i128::from(bound) + if bound < 0 { space + 1 } else { 0 };
        let (start, end) = (bound(self.start), bound(self.end));
        let (low, high) = if self.stride < 0 { (end, start) } else { (start, end) };
        let part = i128::from(self.checked_part_size()?);
        if low < 0 || low > high || high > space || (high - low) % part != 0 {
            let problem = format!("gives no parts of {part} between {low} and {high} of {space}");
            return Err(FormatErrorKind::attribute("start", problem));
        }
        // These numbers are at most the size of the axis, so the casts are exact.
        let [low, count, part] = [low, (high - low) / part, part].map(|number| number as usize);
        let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[axis] = AxisSlice::new(low, count * part, 1);
        let mut sizes = shape.to_vec();
        sizes.splice(axis..=axis, [count, part]);
        Ok((builder.reshape(builder.slice(x, &slices)?, sizes)?, axis))
    }

    /// Concatenates the results of all steps along the axis of the port; `stack` has them along axis 0.
    fn join(&self, builder: &GraphBuilder, stack: &Value) -> LoweringResult<Value> {
        let shape = stack.array_type()?.shape;
        let axis = self.axis_of(shape.rank() - 1)?;
        if shape[axis + 1] as i64 != self.checked_part_size()? {
            let problem =
                format!("is {}, the results have {}", self.checked_part_size()?, shape[axis + 1]);
            return Err(FormatErrorKind::attribute("part_size", problem));
        }
        let mut sizes: Vec<usize> = shape[1..].to_vec();
        sizes[axis] = sizes[axis].saturating_mul(shape[0]);
        let stack = move_stack_axis(builder, stack, axis, self.stride < 0)?;
        Ok(builder.reshape(stack, sizes)?)
    }

    fn axis_of(&self, rank: usize) -> LoweringResult<usize> {
        let axis = if self.axis < 0 { self.axis.saturating_add(rank as i64) } else { self.axis };
        let wrong =
            || FormatErrorKind::attribute("axis", format!("is {}, of {rank} axes", self.axis));
        usize::try_from(axis).ok().filter(|&axis| axis < rank).ok_or_else(wrong)
    }

    /// The size of a part, which must equal the distance between the starts of neighbouring parts.
    fn checked_part_size(&self) -> LoweringResult<i64> {
        let (part, stride) = (self.part_size, self.stride.checked_abs());
        let what = || {
            format!(
                "parts of {part} with the stride {}, which overlap or leave gaps, are",
                self.stride
            )
        };
        match stride == Some(part) && part > 0 {
            true => Ok(part),
            false => Err(FormatErrorKind::Unsupported { what: what() }),
        }
    }
}

/// The value of a result of a body.
fn result_of(frame: &Frame<'_>, internal: usize) -> LoweringResult<KnownValue> {
    let layer = &frame.network.layers[internal];
    let missing = || FormatErrorKind::Unexpected { expected: "a layer of type Result".to_owned() };
    let source = layer.sources.first().filter(|_| layer.is("Result"));
    frame.source(source.ok_or_else(missing)?)
}
