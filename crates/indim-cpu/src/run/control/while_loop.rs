//! Loops. Holds unsafe code.
//!
//! One program computes the next states and the condition for them. A state has two buffers, which swap roles
//! after each step, or one buffer if the program reads each element before it overwrites it. A large state
//! with one buffer lies in the loop's result itself. A state that the body returns unchanged has no buffer:
//! the programs read the operand.

use core::fmt;
use core::ptr::NonNull;

use indim_graph::{Region, loop_step};
use indim_loops::loop_nest::BufferId;
use indim_loops::scratch::array_bytes;
use indim_ops::{ArrayType, DType};

use super::stacks::counter_of_stack;
use super::{MemoryLayout, RegionCompiler};
use crate::run::bound_program::BoundProgram;
use crate::run::dense_strides::row_major_strides;
use crate::run::error::RunError;
use crate::run::options::RunOptions;
use crate::run::packed_constants::ConstantParameters;
use crate::run::repeated_run::RepeatedRun;
use crate::run::run_arrays::{Views, non_null};
use crate::run::scratch::Scratch;
use indim_arrays::{ArrayView, ArrayViewMut};

/// A compiled loop.
#[derive(Debug)]
pub(crate) struct Loop {
    limit: u64,
    /// Copies the initial value of each state into its buffer.
    enter: Vec<BoundProgram>,
    /// Computes the first condition.
    condition: BoundProgram,
    /// Computes the next states and their condition.
    step: BoundProgram,
    /// Copies the final state of each store to it.
    leave: Vec<BoundProgram>,
    /// The states that the body changes, in the order of the step's outputs.
    states: Vec<State>,
    /// For each output of the step whether it overwrites its state; empty if none does.
    is_over_input: Vec<bool>,
    /// The state that each store writes.
    results: Vec<usize>,
    /// Offsets of the condition and of the memory of the programs.
    flag: usize,
    scratch: usize,
    /// Bytes of the memory of a run.
    bytes: usize,
}

/// A state that the body changes.
#[derive(Debug)]
struct State {
    /// The operand that is its initial value.
    operand: usize,
    /// The offsets of its buffers, which are the same for a state that steps overwrite.
    buffers: [usize; 2],
    /// The store whose array is the buffer, if that array is dense.
    store: Option<usize>,
    /// The counter of steps, if the state is a stack: see [`counter_of_stack`].
    counter: Option<usize>,
}

/// Minimum size in bytes of a state that lies in the loop's result: copies of smaller ones cost little, and a
/// loop that fails then has written nothing.
const MIN_BYTES_IN_RESULT: usize = 64 * 1024;

/// Steps after which a loop packs operands that a single step would read in place: packing costs as much as
/// some of them save.
const MANY_STEPS: u64 = 8;

/// Number of steps that the cost of a loop assumes, because the real number is known only after a run.
const ASSUMED_STEPS: usize = 1024;

impl Loop {
    pub(super) fn compile<E>(
        [condition, body]: [&Region; 2],
        limit: u64,
        results: &[usize],
        operands: &ConstantParameters,
        compiler: &mut RegionCompiler<'_, E>,
    ) -> Result<Loop, E> {
        let graph = body.graph();
        let changes = |state: &usize| graph.outputs()[*state] != graph.parameters()[*state];
        let changing: Vec<usize> = (0..graph.outputs().len()).filter(changes).collect();
        let mut constants = operands.to_vec();
        changing.iter().for_each(|&state| constants[state] = None);
        let types: Vec<&ArrayType> = body.parameter_types().collect();
        let mut copies = |states: &[usize]| -> Result<Vec<BoundProgram>, E> {
            states.iter().map(|&state| compiler.copies([types[state]].into_iter())).collect()
        };
        let (enter, leave) = (copies(&changing)?, copies(results)?);
        let condition_program = compiler.program(condition.graph(), &constants)?;
        let step = compiler.program(&loop_step(condition, body, &changing), &constants)?;
        let mut layout = MemoryLayout::default();
        let flag = layout.reserve(1);
        let mut is_over_input = vec![false; changing.len() + 1];
        let place_state = |(output, &operand): (usize, &usize)| {
            is_over_input[output] = step.can_replace(operand, output);
            let bytes = array_bytes(types[operand]);
            let first = layout.reserve(bytes);
            let second = if is_over_input[output] { first } else { layout.reserve(bytes) };
            let is_in_result = is_over_input[output] && bytes >= MIN_BYTES_IN_RESULT;
            let store = results.iter().position(|&state| state == operand);
            State {
                operand,
                buffers: [first, second],
                store: store.filter(|_| is_in_result),
                counter: counter_of_stack(condition, body, operand)
                    .filter(|_| is_over_input[output]),
            }
        };
        let states = changing.iter().enumerate().map(place_state).collect();
        let programs = enter.iter().chain(&leave).chain([&condition_program, &step]);
        let bytes = programs.map(|program| program.scratch.bytes).max().unwrap_or(0);
        let scratch = layout.reserve(bytes);
        if !is_over_input.contains(&true) {
            is_over_input.clear();
        }
        Ok(Loop {
            limit,
            enter,
            condition: condition_program,
            step,
            leave,
            states,
            is_over_input,
            results: results.to_vec(),
            flag,
            scratch,
            bytes: layout.bytes,
        })
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &BoundProgram> {
        self.enter.iter().chain(&self.leave).chain([&self.condition, &self.step])
    }

    pub(super) fn result(&self, store: usize) -> &ArrayType {
        &self.leave[store].outputs[0]
    }

    /// The states that are stacks, each with its counter.
    pub(super) fn stacks(&self) -> impl Iterator<Item = (usize, usize)> {
        self.states.iter().filter_map(|state| Some((state.operand, state.counter?)))
    }

    /// Whether steps may write a result before the loop has ended.
    pub(super) fn writes_results_in_steps(&self) -> bool {
        self.states.iter().any(|state| state.store.is_some())
    }

    /// Cost of a run of many steps, in bytes moved.
    pub(super) fn work(&self) -> usize {
        self.step.work().max(1).saturating_mul(ASSUMED_STEPS)
    }

    /// Bytes of the memory of a run.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn list(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (states, nests) = (self.states.len(), self.step.compiled.nests.len());
        let in_place = self.is_over_input.iter().filter(|&&over| over).count();
        writeln!(
            formatter,
            "loop of at most {} steps over {states} states, {in_place} of them in place, with {nests} nests \
             for each step",
            self.limit
        )
    }

    /// Runs the loop.
    ///
    /// # Safety
    /// Like [`super::ControlCode::run`].
    pub(super) unsafe fn run(
        &self,
        operands: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        memory: *mut u8,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        // SAFETY: the layout has room for the buffers of every state, for the condition, and for the
        // temporaries of each program; only this run accesses them. Nothing else accesses the results during
        // the run, and no two states lie in the same result. Programs run one after another, and an output of
        // the step shares memory with an input only if `is_over_input` says so.
        let (scratch, inputs, mut written, mut flags) = unsafe {
            (
                Scratch::in_memory(memory.wrapping_add(self.scratch)),
                [0, 1].map(|side| self.inputs(operands, outputs, memory, side)),
                [0, 1].map(|side| self.buffers(outputs, memory, side)),
                [self.flag_view(memory)],
            )
        };
        for (index, (state, enter)) in self.states.iter().zip(&self.enter).enumerate() {
            // SAFETY: the elements of a view are readable; a counter is an `i64`.
            let begins_at_0 = |counter: usize| unsafe {
                operands[counter].first().cast::<i64>().read_unaligned() == 0
            };
            if !state.counter.is_some_and(begins_at_0) {
                let initial = &operands[state.operand..=state.operand];
                let buffer = &mut written[0][index..=index];
                enter.run_on(initial, buffer, &[], scratch, options)?;
            }
        }
        self.condition.run_on(&inputs[0], &mut flags, &[], scratch, options)?;
        let continues = flags[0].first().cast_const();
        let mut step = [0, 1].map(|side| {
            let inputs = Views::Borrowed(&inputs[side][..]);
            let outputs = Views::Borrowed(&written[1 - side][..]);
            let arrays = self.step.arrays(inputs, outputs, &self.is_over_input, scratch);
            RepeatedRun::new(&self.step, arrays, &self.is_over_input)
        });
        let (mut steps, mut side, mut panel_bytes) = (0, 0, 0);
        // SAFETY: the condition has been written by its program, or by the last step.
        while unsafe { continues.read() } != 0 {
            if steps == self.limit {
                return Err(RunError::StepLimit { limit: self.limit });
            }
            if steps == 1 || steps == MANY_STEPS {
                let (is_constant, are_many) = (|it| self.is_constant(it), steps > 1);
                // SAFETY: both sides have the same operands, and dense states; no step writes an operand that
                // is not a state, and no state lies over an operand.
                panel_bytes += options.take_spare_bytes(|spare_bytes| unsafe {
                    RepeatedRun::pack_constants(&mut step, is_constant, are_many, spare_bytes);
                });
            }
            step[side].run(options)?;
            steps += 1;
            side ^= 1;
        }
        drop(step);
        options.return_spare_bytes(panel_bytes);
        for (store, (&operand, leave)) in self.results.iter().zip(&self.leave).enumerate() {
            let is_in_result =
                |state: &State| state.operand == operand && state.store == Some(store);
            if !(self.states.iter().any(is_in_result) && outputs[store].is_row_major()) {
                let last = &inputs[side][operand..=operand];
                leave.run_on(last, &mut outputs[store..=store], &[], scratch, options)?;
            }
        }
        Ok(())
    }

    /// Whether all steps read the same elements in a buffer of the step.
    fn is_constant(&self, buffer: BufferId) -> bool {
        match buffer {
            BufferId::Parameter(index) => self.states.iter().all(|state| state.operand != index),
            BufferId::Constant(_) => true,
            BufferId::Output(_) | BufferId::Counter(_) | BufferId::Temporary(_) => false,
        }
    }

    /// The buffer of a state on `side`.
    fn buffer(
        state: &State,
        outputs: &[ArrayViewMut<'_>],
        memory: *mut u8,
        side: usize,
    ) -> NonNull<u8> {
        let store = state.store.map(|store| &outputs[store]).filter(|it| it.is_row_major());
        non_null(match store {
            Some(output) => output.first(),
            None => memory.wrapping_add(state.buffers[side]),
        })
    }

    /// The inputs of the condition and of the step, with the states in their buffers of `side`.
    ///
    /// # Safety
    /// `memory` is valid for the layout.
    unsafe fn inputs<'a>(
        &self,
        operands: &[ArrayView<'a>],
        outputs: &[ArrayViewMut<'_>],
        memory: *mut u8,
        side: usize,
    ) -> Vec<ArrayView<'a>> {
        let mut inputs = operands.to_vec();
        for state in &self.states {
            let array_type = self.step.parameters[state.operand].clone();
            let first = Loop::buffer(state, outputs, memory, side);
            let strides = row_major_strides(&array_type).to_vec();
            // SAFETY: the buffer is a dense array of this type in `memory` or a result.
            inputs[state.operand] = unsafe { ArrayView::from_raw(array_type, strides, first) };
        }
        inputs
    }

    /// The buffers of `side`, then the condition, as outputs.
    ///
    /// # Safety
    /// `memory` is valid for the layout.
    unsafe fn buffers<'a>(
        &self,
        outputs: &[ArrayViewMut<'_>],
        memory: *mut u8,
        side: usize,
    ) -> Vec<ArrayViewMut<'a>> {
        let buffer = |(output, state): (usize, &State)| {
            let array_type = self.step.outputs[output].clone();
            let first = Loop::buffer(state, outputs, memory, side);
            let strides = row_major_strides(&array_type).to_vec();
            // SAFETY: the buffer is a dense array of this type in `memory` or a result.
            unsafe { ArrayViewMut::from_raw(array_type, strides, first) }
        };
        let mut buffers: Vec<ArrayViewMut<'a>> =
            self.states.iter().enumerate().map(buffer).collect();
        // SAFETY: the caller has the same obligation.
        buffers.push(unsafe { self.flag_view(memory) });
        buffers
    }

    /// The condition as an output.
    ///
    /// # Safety
    /// `memory` is valid for the layout.
    unsafe fn flag_view<'a>(&self, memory: *mut u8) -> ArrayViewMut<'a> {
        let first = non_null(memory.wrapping_add(self.flag));
        // SAFETY: the layout has a byte for the condition.
        unsafe { ArrayViewMut::from_raw(ArrayType::new(DType::Bool, []), Vec::new(), first) }
    }
}
