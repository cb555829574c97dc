//! Loops and branches: `If`, `Loop` and `Scan`.
//!
//! A condition that is known at build time chooses a branch of `If`; only that one is built. `Scan` and a
//! `Loop` whose number of steps is known are counted loops, which can stack results of their steps.
//!
//! By ONNX's specification, a `Loop` without a condition operand ignores the condition that its body
//! returns. ONNX Runtime, ONNX's reference implementation and OpenVINO obey this condition, and so does
//! indim.

use core::ops::Range;

use indim_builder::Value;
use indim_model::loops::{
    LoopEnd, branch, check_states, check_steps, known_true, move_stack_axis, part_of, truth,
    types_of,
};
use indim_model::shape_values::KnownValue;
use indim_model::{FormatError, FormatErrorKind, RuleNote};
use indim_ops::{ArrayType, DType};

use super::build::ProgramBuilder;
use super::call::Call;
use super::operators::{RegionSteps, Step};

/// A value of a loop or branch, or its error, which can be at a node in one of its bodies.
type ControlResult<T> = Result<T, FormatError>;

/// The results of a loop or branch; `None` for a result that nothing reads.
type ControlResults = Vec<Option<Value>>;

impl ProgramBuilder<'_> {
    /// Builds a loop or branch.
    ///
    /// # Errors
    /// Those of its bodies; `loop-state-type`, `unsupported`, `depends-on-data`, `wrong-count`.
    pub(super) fn control(&mut self, step: &Step) -> ControlResult<()> {
        let node = &step.node;
        let at = |kind: FormatErrorKind| kind.at(node.location());
        let operands = node.operands.iter().take(node.node.proto.input.len());
        let operands = operands.map(|number| number.map_or(Ok(None), |it| self.operand(it)));
        let operands = operands.collect::<Result<Vec<_>, _>>().map_err(at)?;
        let (builder, tensors) = (self.model_builder.builder.clone(), self.tensors.clone());
        let rule = RuleNote::default();
        let call =
            Call { builder: &builder, node, operands: &operands, tensors: &tensors, rule: &rule };
        let results = match node.operator {
            "If" => return self.lower_branch(step, &call),
            "Loop" => self.lower_loop(step, &call)?,
            _ => self.lower_scan(step, &call)?,
        };
        self.define_results(step, results.into_iter().map(|it| it.map(KnownValue::from)))
    }

    fn define_results(
        &mut self,
        step: &Step,
        results: impl ExactSizeIterator<Item = Option<KnownValue>>,
    ) -> ControlResult<()> {
        let (max, given) = (results.len(), step.node.results.len());
        if given > max {
            let (what, expected) = ("results", format!("at most {max}"));
            return Err(FormatErrorKind::Count { what, expected, given }.at(step.node.location()));
        }
        for (known, number) in results.zip(&step.node.results) {
            if let Some(number) = number {
                self.values[*number] = known;
            }
        }
        Ok(())
    }

    /// Builds the nodes of a body in the current builder, with these inputs; returns its outputs.
    fn region(
        &mut self,
        region: &RegionSteps,
        inputs: Vec<KnownValue>,
        call: &Call<'_>,
    ) -> ControlResult<Vec<KnownValue>> {
        let location = || call.node.location();
        for (number, input) in region.inputs.iter().zip(inputs) {
            self.values[*number] = Some(input);
        }
        for (tensor, number) in &region.initializers {
            let array = self.tensors.array(tensor).map_err(|kind| kind.at(location()))?;
            self.values[*number] = Some(self.constant(array, location)?);
        }
        for step in &region.nodes {
            self.step(step)?;
        }
        let output = |number: &Option<usize>| {
            let output = number.map_or(Ok(None), |number| self.operand(number))?;
            let missing = "a value for every output of a body".to_owned();
            output.ok_or(FormatErrorKind::Unexpected { expected: missing })
        };
        let outputs = region.outputs.iter().map(output).collect::<Result<Vec<_>, _>>();
        outputs.map_err(|kind| kind.at(location()))
    }

    fn lower_branch(&mut self, step: &Step, call: &Call<'_>) -> ControlResult<()> {
        let at = |kind: FormatErrorKind| kind.at(call.node.location());
        call.check_dtype(0, |dtype| dtype == DType::Bool).map_err(at)?;
        let condition = call.required(0).map_err(at)?;
        if let Some(flag) = truth(condition) {
            let region = &step.regions[usize::from(!flag)];
            let outputs = self.region(region, Vec::new(), call)?;
            return self.define_results(step, outputs.into_iter().map(Some));
        }
        let (mut bodies, mut counts) = (Vec::new(), Vec::new());
        for region in &step.regions {
            self.model_builder.begin_region(&[]).map_err(at)?;
            let outputs = self.region(region, Vec::new(), call)?;
            counts.push(outputs.len());
            let read = outputs.into_iter().enumerate().filter(|(at, _)| is_read(step, *at));
            let read: Vec<Value> = read.map(|(_, output)| output.value).collect();
            bodies.push(self.model_builder.end_region(&read).map_err(at)?);
        }
        let (Some(on_false), Some(on_true)) = (bodies.pop(), bodies.pop()) else { return Ok(()) };
        check_count("outputs of the branches", counts[0], counts[1]).map_err(at)?;
        let values = branch(call.builder, &condition.value, [on_true, on_false]).map_err(at)?;
        let results = all_results(step, Vec::new(), values, counts[0]);
        self.define_results(step, results.into_iter().map(|it| it.map(KnownValue::from)))
    }

    fn lower_loop(&mut self, step: &Step, call: &Call<'_>) -> ControlResult<ControlResults> {
        let at = |kind: FormatErrorKind| kind.at(call.node.location());
        let region = &step.regions[0];
        let initial = values(call, 2..call.operands.len()).map_err(at)?;
        let states = types_of(&initial).map_err(at)?;
        check_count("inputs of the body", states.len() + 2, region.inputs.len()).map_err(at)?;
        let mut inputs = self.begin_step(&states).map_err(at)?;
        // The second input is the condition, which is true in every step that runs.
        inputs.insert(1, known_true(&self.model_builder.builder));
        let mut outputs = self.region(region, inputs, call)?;
        check_count("conditions of the body", 1, outputs.len().min(1)).map_err(at)?;
        let condition = outputs.remove(0);
        check_states_of(call, 2, &states, &outputs).map_err(at)?;
        let [trips, enters] = [0, 1].map(|position| call.optional(position).cloned());
        let end = LoopEnd { trips, enters };
        let length = end.length(truth(&condition)).map_err(at)?;
        let count = outputs.len();
        let required_outputs = required_outputs(step, states.len(), outputs);
        let condition = length.has_condition.then_some(condition.value);
        let results: Vec<Value> = condition.into_iter().chain(required_outputs).collect();
        let body = self.model_builder.end_region(&results).map_err(at)?;
        let (final_states, stacks) =
            end.build(call.builder, &initial, length, &body).map_err(at)?;
        Ok(all_results(step, final_states, stacks, count))
    }

    fn lower_scan(&mut self, step: &Step, call: &Call<'_>) -> ControlResult<ControlResults> {
        let at = |kind: FormatErrorKind| kind.at(call.node.location());
        let region = &step.regions[0];
        let ScanInputs { initial, xs, length } = ScanInputs::of(call).map_err(at)?;
        let states = types_of(&initial).map_err(at)?;
        check_count("inputs of the body", call.operands.len(), region.inputs.len()).map_err(at)?;
        let mut inputs = self.begin_step(&states).map_err(at)?;
        let position = inputs.remove(0).value;
        let reverse_position = (length as i64 - 1) - &position;
        let builder = self.model_builder.builder.clone();
        for (x, axis, is_reversed) in &xs {
            let position = if *is_reversed { &reverse_position } else { &position };
            inputs.push(part_of(&builder, x, position, *axis).map_err(at)?.into());
        }
        let outputs = self.region(region, inputs, call)?;
        check_states_of(call, 0, &states, &outputs).map_err(at)?;
        let count = outputs.len();
        let required_outputs: Vec<Value> = required_outputs(step, states.len(), outputs).collect();
        let body = self.model_builder.end_region(&required_outputs).map_err(at)?;
        let looped = call.builder.counted_loop(length, &initial, &body);
        let (final_states, stacks) = looped.map_err(|error| at(error.into()))?;
        let mut results = all_results(step, final_states, stacks, count);
        let stacked = count - states.len();
        let axes = integer_list(call, "scan_output_axes", stacked).map_err(at)?;
        let directions = integer_list(call, "scan_output_directions", stacked).map_err(at)?;
        for (number, result) in results.iter_mut().skip(states.len()).enumerate() {
            if let Some(stack) = result {
                let is_reversed = directions[number] != 0;
                let rank = stack.array_type().map_err(|error| at(error.into()))?.shape.rank();
                let axis = call.axis(axes[number], rank).map_err(at)?;
                *stack = move_stack_axis(call.builder, stack, axis, is_reversed).map_err(at)?;
            }
        }
        Ok(results)
    }

    /// Begins the body of a loop; returns its parameters: the number of the step, from 0, then the
    /// states.
    fn begin_step(&mut self, states: &[ArrayType]) -> Result<Vec<KnownValue>, FormatErrorKind> {
        let mut parameters = vec![ArrayType::new(DType::I64, [])];
        parameters.extend_from_slice(states);
        let values = self.model_builder.begin_region(&parameters)?;
        Ok(values.into_iter().map(KnownValue::from).collect())
    }
}

/// The operands of a `Scan`.
struct ScanInputs {
    /// The initial states.
    initial: Vec<Value>,
    /// The scanned arrays, each with its axis and whether it is scanned backwards. Each step takes one
    /// index of the axis.
    xs: Vec<(Value, usize, bool)>,
    /// The number of steps.
    length: usize,
}

impl ScanInputs {
    fn of(call: &Call<'_>) -> Result<ScanInputs, FormatErrorKind> {
        let wrong = |problem| FormatErrorKind::attribute("num_scan_inputs", problem);
        let count = usize::try_from(call.required_int("num_scan_inputs")?);
        let count =
            count.ok().filter(|&count| count > 0).ok_or_else(|| wrong("is not positive"))?;
        let states = call.operands.len().checked_sub(count);
        let states = states.ok_or_else(|| wrong("is more than the operands"))?;
        let axes = integer_list(call, "scan_input_axes", count)?;
        let directions = integer_list(call, "scan_input_directions", count)?;
        let (mut xs, mut length) = (Vec::with_capacity(count), None);
        for (number, x) in values(call, states..call.operands.len())?.into_iter().enumerate() {
            let shape = x.array_type()?.shape;
            let axis = call.axis(axes[number], shape.rank())?;
            let expected = *length.get_or_insert(shape[axis]);
            if shape[axis] != expected {
                let expected = format!("{expected} parts of every scan input, not {}", shape[axis]);
                return Err(FormatErrorKind::Unexpected { expected });
            }
            xs.push((x, axis, directions[number] != 0));
        }
        let initial = values(call, 0..states)?;
        let length = length.unwrap_or_default();
        check_steps(length as u64)?;
        Ok(ScanInputs { initial, xs, length })
    }
}

/// An attribute that lists `count` integers; zeros if the node lacks it.
fn integer_list(call: &Call<'_>, name: &str, count: usize) -> Result<Vec<i64>, FormatErrorKind> {
    match call.ints(name)? {
        None => Ok(vec![0; count]),
        Some(numbers) if numbers.len() == count => Ok(numbers),
        Some(numbers) => {
            let problem = format!("has {} numbers, not {count}", numbers.len());
            Err(FormatErrorKind::attribute(name, problem))
        }
    }
}

/// The operands at these positions; all are required.
fn values(call: &Call<'_>, positions: Range<usize>) -> Result<Vec<Value>, FormatErrorKind> {
    positions.map(|position| call.value(position).cloned()).collect()
}

fn check_count(what: &'static str, expected: usize, given: usize) -> Result<(), FormatErrorKind> {
    let count = || FormatErrorKind::Count { what, expected: expected.to_string(), given };
    if expected == given { Ok(()) } else { Err(count()) }
}

/// Checks that the outputs of a body begin with the next states, in the types of the states. The initial
/// states are the operands from `first` on, whose names the error states.
fn check_states_of(
    call: &Call<'_>,
    first: usize,
    states: &[ArrayType],
    outputs: &[KnownValue],
) -> Result<(), FormatErrorKind> {
    if outputs.len() < states.len() {
        let (what, given) = ("outputs of the body", outputs.len());
        let expected = format!("at least {}", states.len());
        return Err(FormatErrorKind::Count { what, expected, given });
    }
    let found: Vec<Value> = outputs.iter().map(|output| output.value.clone()).collect();
    let name = |state: usize| call.node.node.proto.input[first + state].as_str();
    check_states(call.node.operator, name, states, &types_of(&found)?)
}

/// Whether anything reads a result of a loop or branch.
fn is_read(step: &Step, position: usize) -> bool {
    step.node.results.get(position).is_some_and(Option::is_some)
}

/// The outputs that the body must return: all states, and the stacked outputs that anything reads.
fn required_outputs(
    step: &Step,
    states: usize,
    outputs: Vec<KnownValue>,
) -> impl Iterator<Item = Value> + use<'_> {
    let outputs = outputs.into_iter().enumerate();
    let outputs = outputs.filter(move |(at, _)| *at < states || is_read(step, *at));
    outputs.map(|(_, output)| output.value)
}

/// All `count` results of the node: the final states, then `stacks` at the results that are read and
/// `None` at the rest.
fn all_results(
    step: &Step,
    final_states: Vec<Value>,
    stacks: Vec<Value>,
    count: usize,
) -> ControlResults {
    let states = final_states.len();
    let mut stacks = stacks.into_iter();
    let stacked = (states..count).map(|at| if is_read(step, at) { stacks.next() } else { None });
    final_states.into_iter().map(Some).chain(stacked).collect()
}
