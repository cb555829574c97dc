//! Executables: a graph compiled for this machine, to be run on arrays.

use std::sync::Arc;

use indim_graph::Array;
use indim_graph::lower::loop_nest::{Access, BufferId, LoopNest, LoopProgram};
use indim_ops::{ArrayType, DType};

use crate::arrays::buffer::Buffer;
use crate::arrays::order::{InputAxes, Order};
use crate::arrays::view::{ArrayError, ArrayView, ArrayViewMut, row_major_strides};
use crate::blocks::execute::Bases;
use crate::blocks::kernel::convert_kernel;
use crate::blocks::program::Program;
use crate::blocks::wiring::Wiring;
use crate::level::Level;
use crate::run::compile::{CompileOptions, compile, plan};
use crate::run::error::RunError;
use crate::run::forecast::{Forecast, Held, check_limit};
use crate::run::in_place::written_over_inputs;
use crate::run::options::RunOptions;
use crate::run::scratch::{ScratchLayout, array_bytes};
use crate::run::threads;
use crate::walk::Plan;

/// A graph compiled for this machine.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, compile};
/// use indim_ops::DType;
/// use indim_graph::GraphBuilder;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let graph = b.finish(&[b.add(x, v, &[1])?])?;
/// let executable = compile(&graph, &CompileOptions::default())?;
///
/// let x = ArrayView::from_slice([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let v = ArrayView::from_slice([3], &[7.0f32, 8.0, 9.0])?;
/// let sums = executable.run(&[x, v])?;
/// assert_eq!(sums[0].elements::<f32>().unwrap(), [8.0, 10.0, 12.0, 11.0, 13.0, 15.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Executable {
    pub(crate) loops: LoopProgram,
    pub(crate) programs: Vec<Program>,
    /// The plan of each program when every array is dense; `None` where there is nothing to do.
    pub(crate) dense_plans: Vec<Option<(Plan, Wiring)>>,
    pub(crate) scratch: ScratchLayout,
    pub(crate) input_axes: InputAxes,
    pub(crate) parameter_names: Vec<String>,
    pub(crate) level: Level,
    /// See [`Executable::held_bytes`].
    pub(crate) held_bytes: usize,
}

impl Executable {
    /// The graph as loop nests, with the arrays that they walk.
    pub fn loops(&self) -> &LoopProgram {
        &self.loops
    }

    /// The loop nests, in the order in which they run.
    pub fn nests(&self) -> &[Arc<LoopNest>] {
        &self.loops.nests
    }

    /// The loop nests compiled for the level.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The bytes of memory that the executable itself holds, its constants among them: what it costs to keep
    /// it. A run counts them towards [`RunOptions::memory_limit`].
    ///
    /// Known when it is compiled, so asking costs nothing. What allocators add is estimated.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The level it was compiled for.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The types of the inputs.
    pub fn parameters(&self) -> &[ArrayType] {
        &self.loops.parameters
    }

    pub(crate) fn parameter_names(&self) -> &[String] {
        &self.parameter_names
    }

    /// The types of the outputs.
    pub fn outputs(&self) -> &[ArrayType] {
        &self.loops.outputs
    }

    /// Whether a run has work enough for several threads.
    ///
    /// A run that has not computes on the calling thread and touches no thread pool.
    pub fn is_parallel(&self) -> bool {
        self.programs.iter().any(threads::is_parallel)
    }

    /// What a run will read, write and hold.
    pub fn forecast(&self) -> Forecast {
        let mut is_read = vec![false; self.loops.parameters.len()];
        for access in self.programs.iter().flat_map(Program::accesses) {
            if let BufferId::Parameter(index) = access.buffer {
                is_read[index] = true;
            }
        }
        let parameters = self.loops.parameters.iter().zip(is_read);
        let read = parameters.filter(|&(_, is_read)| is_read).map(|(t, _)| array_bytes(t));
        Forecast {
            bytes_read: read.fold(0, usize::saturating_add),
            bytes_written: self
                .loops
                .outputs
                .iter()
                .map(array_bytes)
                .fold(0, usize::saturating_add),
            temporary_bytes: self.scratch.bytes,
            register_bytes: self.programs.iter().map(Program::register_bytes).max().unwrap_or(0),
        }
    }

    /// For each output the strides in bytes in which its elements lie densely in this order, for those who
    /// bring their own memory; `None` for row-major.
    ///
    /// # Errors
    /// When an input does not fit.
    pub fn output_strides(
        &self,
        order: Order,
        inputs: &[ArrayView<'_>],
    ) -> Result<Vec<Option<Vec<isize>>>, RunError> {
        self.check_inputs(inputs)?;
        Ok(self.input_axes.output_strides(&self.loops, order, inputs))
    }

    /// The outputs for these inputs, in new memory.
    ///
    /// Threads are those of the current rayon pool; without the feature `rayon` there is one.
    ///
    /// # Errors
    /// When an input does not fit, or memory cannot be had.
    pub fn run(&self, inputs: &[ArrayView<'_>]) -> Result<Vec<Buffer>, RunError> {
        self.run_with(inputs, &RunOptions::default())
    }

    /// As [`Executable::run`], with options.
    ///
    /// # Errors
    /// As [`Executable::run`]; when the limit of memory does not suffice, or `progress` stops the run.
    pub fn run_with(
        &self,
        inputs: &[ArrayView<'_>],
        options: &RunOptions<'_>,
    ) -> Result<Vec<Buffer>, RunError> {
        let strides = self.output_strides(options.order, inputs)?;
        self.check_memory(options, true)?;
        // SAFETY: the nests write every element of every output.
        let allocate = |(t, strides): (&ArrayType, Option<Vec<isize>>)| unsafe {
            Buffer::uninitialised_in_order(t.clone(), strides)
        };
        let mut buffers: Vec<Buffer> =
            self.loops.outputs.iter().zip(strides).map(allocate).collect::<Result<_, _>>()?;
        let mut outputs: Vec<ArrayViewMut<'_>> = buffers.iter_mut().map(Buffer::view_mut).collect();
        self.execute(inputs, &mut outputs, &[], options)?;
        drop(outputs);
        Ok(buffers)
    }

    /// Writes the outputs for these inputs into the caller's arrays.
    ///
    /// An output may overlap inputs; the result is as if the inputs had been copied first. Nothing is
    /// copied for an output that lies exactly where an input lies, if that is read nowhere else.
    ///
    /// # Errors
    /// When an array does not fit, outputs share memory, or memory for temporaries cannot be had.
    /// Nothing has been written then.
    pub fn run_into(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
    ) -> Result<(), RunError> {
        self.run_into_with(inputs, outputs, &RunOptions::default())
    }

    /// As [`Executable::run_into`], with options.
    ///
    /// # Errors
    /// As [`Executable::run_into`]; when the limit of memory does not suffice, or `progress` stops the
    /// run, after which outputs may have been written in part.
    pub fn run_into_with(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        self.check_inputs(inputs)?;
        self.check_outputs(outputs)?;
        if let Some(is_over_input) = written_over_inputs(&self.programs, inputs, outputs) {
            self.check_memory(options, false)?;
            return self.execute(inputs, outputs, &is_over_input, options);
        }
        let results = self.run_with(inputs, options)?;
        for (result, output) in results.iter().zip(outputs) {
            copy(result, output, self.level)?;
        }
        Ok(())
    }

    fn check_memory(
        &self,
        options: &RunOptions<'_>,
        allocates_outputs: bool,
    ) -> Result<(), RunError> {
        let Some(limit) = options.memory_limit else { return Ok(()) };
        let threads = if self.is_parallel() { threads::thread_count() } else { 1 };
        self.check_held(limit, options.input_bytes, threads, allocates_outputs)
    }

    /// Whether a run by so many threads holds at most `limit` bytes beside the arrays it is given, as
    /// [`RunOptions::memory_limit`] has it; for those who allocate the outputs themselves.
    ///
    /// # Errors
    /// [`RunError::MemoryLimit`].
    pub fn check_memory_limit(
        &self,
        limit: usize,
        threads: usize,
        allocates_outputs: bool,
    ) -> Result<(), RunError> {
        self.check_held(limit, 0, threads, allocates_outputs)
    }

    fn check_held(
        &self,
        limit: usize,
        input_bytes: usize,
        threads: usize,
        allocates_outputs: bool,
    ) -> Result<(), RunError> {
        let (forecast, program_bytes) = (self.forecast(), self.held_bytes);
        let held = Held { forecast, input_bytes, program_bytes };
        check_limit(limit, &held, &self.loops, threads, allocates_outputs)
    }

    fn check_inputs(&self, inputs: &[ArrayView<'_>]) -> Result<(), RunError> {
        let expected = self.loops.parameters.len();
        if inputs.len() != expected {
            return Err(RunError::InputCount { expected, given: inputs.len() });
        }
        for (index, (expected, input)) in self.loops.parameters.iter().zip(inputs).enumerate() {
            if input.array_type() != expected {
                return Err(RunError::InputType {
                    name: self.parameter_names[index].clone(),
                    expected: expected.clone(),
                    given: input.array_type().clone(),
                });
            }
        }
        Ok(())
    }

    fn check_outputs(&self, outputs: &[ArrayViewMut<'_>]) -> Result<(), RunError> {
        let expected = self.loops.outputs.len();
        if outputs.len() != expected {
            return Err(RunError::OutputCount { expected, given: outputs.len() });
        }
        for (index, (expected, output)) in self.loops.outputs.iter().zip(outputs.iter()).enumerate()
        {
            if output.array_type() != expected {
                return Err(RunError::OutputType {
                    output: index,
                    expected: expected.clone(),
                    given: output.array_type().clone(),
                });
            }
        }
        check_overlap(outputs)
    }

    /// Runs the nests; inputs and outputs have been checked, and overlap only where an output was
    /// found to be `is_over_input`, which may be left empty.
    fn execute(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let scratch = Scratch::new(&self.scratch)?;
        let memory = Memory { inputs, outputs, constants: &self.loops.constants, scratch };
        for (nest, (program, dense_plan)) in self.programs.iter().zip(&self.dense_plans).enumerate()
        {
            self.write_counters(nest, &memory.scratch);
            let is_dense = |access: &Access| memory.is_dense(access);
            let targets = program.stores().iter().map(|store| &store.target);
            let own_plan;
            let has_dense_plan = targets.chain(program.accesses()).all(is_dense);
            let plan = match has_dense_plan && !is_over_input.contains(&true) {
                true => dense_plan,
                false => {
                    let strides = |access: &Access| access.strides(&memory.strides(access));
                    own_plan = plan(program, strides, is_over_input);
                    &own_plan
                }
            };
            let Some((plan, wiring)) = plan else { continue };
            let operands = program.stores().iter().map(|s| &s.target).chain(program.accesses());
            let bases: Vec<*mut u8> = operands.map(|access| memory.first(access)).collect();
            // SAFETY: shapes were checked against the views, which vouch for their memory; outputs
            // and temporaries overlap nothing, but for outputs over an input, of which the wiring
            // knows; the level was detected.
            let flow =
                unsafe { threads::run(program, plan, wiring, &Bases(&bases), options.progress) };
            if flow.is_break() {
                return Err(RunError::Stopped);
            }
        }
        Ok(())
    }

    /// Writes the counters that `nest` is the first to read.
    fn write_counters(&self, nest: usize, scratch: &Scratch<'_>) {
        for (index, &(dtype, length)) in self.loops.counters.iter().enumerate() {
            if self.scratch.counter_nests[index] == nest {
                // SAFETY: the layout has room for so many elements, which nobody uses yet.
                unsafe { write_counter(scratch.counter(index), dtype, length, self.level) }
            }
        }
    }
}

/// The memory of a run's temporaries and counters.
struct Scratch<'a> {
    layout: &'a ScratchLayout,
    first: *mut u8,
    /// Owns the memory; `None` when there is none.
    _buffer: Option<Buffer>,
}

impl<'a> Scratch<'a> {
    fn new(layout: &'a ScratchLayout) -> Result<Self, ArrayError> {
        let bytes = layout.bytes;
        if bytes == 0 {
            return Ok(Scratch { layout, first: core::ptr::null_mut(), _buffer: None });
        }
        if isize::try_from(bytes).is_err() {
            return Err(ArrayError::OutOfMemory { bytes });
        }
        // SAFETY: the nest that computes a temporary writes all of it before another reads it, and
        // counters are written before the first nest that reads them.
        let mut buffer = unsafe { Buffer::uninitialised(ArrayType::new(DType::U8, [bytes]))? };
        Ok(Scratch { layout, first: buffer.as_mut_ptr().as_ptr(), _buffer: Some(buffer) })
    }

    fn temporary(&self, index: usize) -> *mut u8 {
        self.first.wrapping_add(self.layout.temporaries[index])
    }

    fn counter(&self, index: usize) -> *mut u8 {
        self.first.wrapping_add(self.layout.counters[index])
    }
}

/// The arrays of a run.
struct Memory<'a, 'i, 'o> {
    inputs: &'a [ArrayView<'i>],
    outputs: &'a mut [ArrayViewMut<'o>],
    constants: &'a [Array],
    scratch: Scratch<'a>,
}

impl Memory<'_, '_, '_> {
    fn first(&self, access: &Access) -> *mut u8 {
        match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].first(),
            BufferId::Output(index) => self.outputs[index].first(),
            BufferId::Constant(index) => ArrayView::from_array(&self.constants[index]).first(),
            BufferId::Counter(index) => self.scratch.counter(index),
            BufferId::Temporary(index) => self.scratch.temporary(index),
        }
    }

    /// The strides of the array's own axes in bytes.
    fn strides(&self, access: &Access) -> Vec<isize> {
        match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].strides().to_vec(),
            BufferId::Output(index) => self.outputs[index].strides().to_vec(),
            _ => row_major_strides(&access.array_type),
        }
    }

    fn is_dense(&self, access: &Access) -> bool {
        match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].is_row_major(),
            BufferId::Output(index) => self.outputs[index].is_row_major(),
            _ => true,
        }
    }
}

/// Refuses outputs in which a byte would belong to two elements.
fn check_overlap(outputs: &[ArrayViewMut<'_>]) -> Result<(), RunError> {
    for (second, output) in outputs.iter().enumerate() {
        let layout = output.layout();
        let itself = (second, output.has_separate_elements().map(|is_separate| !is_separate));
        let earlier = outputs[..second].iter().map(|other| other.layout().shares_memory(&layout));
        for (first, shares) in earlier.enumerate().chain([itself]) {
            match shares {
                Some(false) => {}
                Some(true) => return Err(RunError::OutputsOverlap { first, second }),
                None => return Err(RunError::OverlapUndecided { first, second }),
            }
        }
    }
    Ok(())
}

/// Writes the numbers 0, 1, 2, ... in `dtype`.
///
/// # Safety
/// There is room for `length` elements from `first` on, which nobody else uses.
unsafe fn write_counter(first: *mut u8, dtype: DType, length: usize, level: Level) {
    const BLOCK: usize = 1024;
    let kernel = convert_kernel(DType::U64, dtype, level)
        .expect("invariant: lowering admits only evaluated types");
    let mut numbers = [0u64; BLOCK];
    for start in (0..length).step_by(BLOCK) {
        let count = BLOCK.min(length - start);
        numbers.iter_mut().zip(start as u64..).for_each(|(slot, number)| *slot = number);
        let source = numbers.as_ptr().cast::<u8>();
        // SAFETY: `count` numbers are read, and as many elements written from `start` on.
        unsafe { kernel(first.wrapping_add(start * dtype.size()), [source; 3], count) }
    }
}

/// Copies a result into a view of the same type that may have any strides.
fn copy(from: &Buffer, to: &mut ArrayViewMut<'_>, level: Level) -> Result<(), RunError> {
    let array_type = from.array_type().clone();
    let builder = indim_graph::GraphBuilder::new();
    let graph = builder
        .parameter("result", array_type.dtype, array_type.shape)
        .and_then(|value| builder.finish(&[value]))
        .expect("invariant: the result's type exists");
    let options = CompileOptions { level, optimize: false, ..CompileOptions::default() };
    let executable = compile(&graph, &options).expect("invariant: the result's type is evaluated");
    let options = RunOptions::default();
    executable.execute(&[from.view()], core::slice::from_mut(to), &[], &options)
}
