//! Executables: a graph compiled for this machine, to be run on arrays.

use core::fmt;
use core::ops::ControlFlow;

use indim_graph::lower::loop_nest::{Access, BufferId, LoopNest, LoopProgram};
use indim_graph::lower::lower;
use indim_graph::{Array, ArrayType, DType, Graph, GraphError, optimize};

use crate::array::{ArrayError, ArrayView, ArrayViewMut, Buffer, row_major_strides};
use crate::execute::Bases;
use crate::kernel::convert_kernel;
use crate::level::Level;
use crate::parallel;
use crate::plan::Plan;
use crate::program::Program;
use crate::wiring::Wiring;

/// How a graph is compiled.
#[derive(Debug, Clone)]
pub struct CompileOptions {
    /// The instructions that may be used.
    pub level: Level,
    /// Whether passes run before lowering.
    pub optimize: bool,
}

impl Default for CompileOptions {
    /// The highest level of this processor, with passes.
    fn default() -> Self {
        CompileOptions { level: Level::detect(), optimize: true }
    }
}

/// What a run will read, write and hold, known before anything is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forecast {
    /// The bytes of the inputs, each counted once however often it is broadcast.
    pub bytes_read: usize,
    /// The bytes of the outputs.
    pub bytes_written: usize,
    /// The bytes held between nests.
    pub temporary_bytes: usize,
    /// The bytes of the registers that each thread holds while it computes.
    pub register_bytes: usize,
}

impl Forecast {
    /// The most memory that a run into new memory holds beside the inputs, with one thread.
    pub fn peak_bytes(&self) -> usize {
        self.bytes_written.saturating_add(self.temporary_bytes).saturating_add(self.register_bytes)
    }
}

/// Hears how many elements have been computed since the last call, from any thread; stops the run by
/// `Break`.
pub type Progress<'a> = dyn Fn(usize) -> ControlFlow<()> + Sync + 'a;

/// Why a run did not start, or stopped.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// There is not one input per parameter.
    InputCount {
        /// The number of parameters.
        expected: usize,
        /// The number of inputs.
        given: usize,
    },
    /// An input is not of its parameter's type.
    InputType {
        /// The parameter's name.
        name: String,
        /// The parameter's type.
        expected: ArrayType,
        /// The input's type.
        given: ArrayType,
    },
    /// There is not one array per output.
    OutputCount {
        /// The number of outputs.
        expected: usize,
        /// The number of arrays.
        given: usize,
    },
    /// An array is not of its output's type.
    OutputType {
        /// The output's position.
        output: usize,
        /// The output's type.
        expected: ArrayType,
        /// The array's type.
        given: ArrayType,
    },
    /// Elements of one output share memory, or the memory between the first and the last byte of one
    /// output overlaps that of another.
    OutputsOverlap {
        /// The position of one.
        first: usize,
        /// The position of the other; the same for one whose own elements share memory.
        second: usize,
    },
    /// Memory for outputs or temporaries.
    Memory(ArrayError),
    /// `progress` stopped the run; the caller's outputs may have been written in part.
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::InputCount { expected, given } => {
                write!(formatter, "{given} inputs were given for {expected} parameters")
            }
            RunError::InputType { name, expected, given } => {
                write!(formatter, "parameter `{name}` is {expected}, the input is {given}")
            }
            RunError::OutputCount { expected, given } => {
                write!(formatter, "{given} arrays were given for {expected} outputs")
            }
            RunError::OutputType { output, expected, given } => {
                write!(formatter, "output {output} is {expected}, the array for it is {given}")
            }
            RunError::OutputsOverlap { first, second } if first == second => {
                write!(formatter, "elements of output {first} share memory")
            }
            RunError::OutputsOverlap { first, second } => {
                write!(formatter, "outputs {first} and {second} share memory")
            }
            RunError::Memory(error) => write!(formatter, "{error}"),
            RunError::Stopped => formatter.write_str("the run was stopped"),
        }
    }
}

impl core::error::Error for RunError {}

impl From<ArrayError> for RunError {
    fn from(error: ArrayError) -> Self {
        RunError::Memory(error)
    }
}

/// A graph compiled for this machine.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, compile};
/// use indim_graph::{DType, GraphBuilder};
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
    loops: LoopProgram,
    programs: Vec<Program>,
    /// The plan of each program when every array is dense; `None` where there is nothing to do.
    dense_plans: Vec<Option<(Plan, Wiring)>>,
    parameter_names: Vec<String>,
    level: Level,
}

/// Compiles a graph.
///
/// # Errors
/// None at present: whatever the builder makes can be compiled.
pub fn compile(graph: &Graph, options: &CompileOptions) -> Result<Executable, GraphError> {
    let loops = match options.optimize {
        true => lower(&optimize(graph)),
        false => lower(graph),
    };
    let programs: Vec<Program> =
        loops.nests.iter().map(|nest| Program::compile(nest, options.level)).collect();
    let dense = |access: &Access| access.strides(&row_major_strides(&access.array_type));
    let dense_plans = programs.iter().map(|program| plan(program, dense)).collect();
    let names = 0..graph.parameters().len();
    Ok(Executable {
        loops,
        programs,
        dense_plans,
        parameter_names: names.map(|index| graph.parameter_name(index).to_owned()).collect(),
        level: options.level,
    })
}

/// A tile of which nothing passes through registers may have so many times the elements of a block.
const LONG_TILE: usize = 16;

fn plan(program: &Program, strides: impl Fn(&Access) -> Vec<isize>) -> Option<(Plan, Wiring)> {
    let operands = || program.stores().iter().map(|s| &s.target).chain(program.accesses());
    let strides: Vec<Vec<isize>> = operands().map(strides).collect();
    let sizes: Vec<usize> = operands().map(|access| access.array_type.dtype.size()).collect();
    let with_tiles_of = |block| {
        let plan = Plan::new(program.sizes(), &strides, &sizes, block, program.minimum_row())?;
        let wiring = Wiring::new(program, &plan);
        Some((plan, wiring))
    };
    if program.steps.len() == 1 {
        let long = with_tiles_of(program.block * LONG_TILE)?;
        if !long.1.uses_registers(program.accesses().len()) {
            return Some(long);
        }
    }
    with_tiles_of(program.block)
}

impl Executable {
    /// The graph as loop nests, with the arrays that they walk.
    pub fn loops(&self) -> &LoopProgram {
        &self.loops
    }

    /// The loop nests, in the order in which they run.
    pub fn nests(&self) -> &[LoopNest] {
        &self.loops.nests
    }

    /// The loop nests compiled for the level.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The level it was compiled for.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The types of the inputs.
    pub fn parameters(&self) -> &[ArrayType] {
        &self.loops.parameters
    }

    /// The types of the outputs.
    pub fn outputs(&self) -> &[ArrayType] {
        &self.loops.outputs
    }

    /// Whether a run has work enough for several threads.
    ///
    /// A run that has not computes on the calling thread and touches no thread pool.
    pub fn is_parallel(&self) -> bool {
        self.programs.iter().any(parallel::is_parallel)
    }

    /// What a run will read, write and hold.
    pub fn forecast(&self) -> Forecast {
        let bytes = |types: &[ArrayType]| -> usize {
            let size = |t: &ArrayType| t.shape.byte_count(t.dtype.size()).unwrap_or(usize::MAX);
            types.iter().map(size).fold(0, usize::saturating_add)
        };
        let counters: Vec<ArrayType> =
            self.loops.counters.iter().map(|&(dtype, n)| ArrayType::new(dtype, [n])).collect();
        Forecast {
            bytes_read: bytes(&self.loops.parameters),
            bytes_written: bytes(&self.loops.outputs),
            temporary_bytes: bytes(&self.loops.temporaries).saturating_add(bytes(&counters)),
            register_bytes: self.programs.iter().map(Program::register_bytes).max().unwrap_or(0),
        }
    }

    /// The outputs for these inputs, in new memory.
    ///
    /// Threads are those of the current rayon pool.
    ///
    /// # Errors
    /// When an input does not fit, or memory cannot be had.
    pub fn run(&self, inputs: &[ArrayView<'_>]) -> Result<Vec<Buffer>, RunError> {
        self.run_with_progress(inputs, &|_| ControlFlow::Continue(()))
    }

    /// As [`Executable::run`]; `progress` hears how many elements have been computed since the last
    /// call, and may stop the run.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_with_progress(
        &self,
        inputs: &[ArrayView<'_>],
        progress: &Progress<'_>,
    ) -> Result<Vec<Buffer>, RunError> {
        self.check_inputs(inputs)?;
        // SAFETY: the nests write every element of every output.
        let allocate = |t: &ArrayType| unsafe { Buffer::uninitialised(t.clone()) };
        let mut buffers: Vec<Buffer> =
            self.loops.outputs.iter().map(allocate).collect::<Result<_, _>>()?;
        let mut outputs: Vec<ArrayViewMut<'_>> = buffers.iter_mut().map(Buffer::view_mut).collect();
        self.execute(inputs, &mut outputs, progress)?;
        drop(outputs);
        Ok(buffers)
    }

    /// Writes the outputs for these inputs into the caller's arrays.
    ///
    /// An output may overlap inputs; the result is as if the inputs had been copied first.
    ///
    /// # Errors
    /// When an array does not fit, outputs share memory, or memory for temporaries cannot be had.
    /// Nothing has been written then.
    pub fn run_into(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
    ) -> Result<(), RunError> {
        self.run_into_with_progress(inputs, outputs, &|_| ControlFlow::Continue(()))
    }

    /// As [`Executable::run_into`]; `progress` hears how many elements have been computed since the last
    /// call, and may stop the run.
    ///
    /// # Errors
    /// As [`Executable::run_into`].
    pub fn run_into_with_progress(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        progress: &Progress<'_>,
    ) -> Result<(), RunError> {
        self.check_inputs(inputs)?;
        self.check_outputs(outputs)?;
        let overlaps_input = outputs.iter().any(|output| {
            let range = output.address_range();
            inputs.iter().any(|input| overlap(&range, &input.address_range()))
        });
        if !overlaps_input {
            return self.execute(inputs, outputs, progress);
        }
        let results = self.run_with_progress(inputs, progress)?;
        for (result, output) in results.iter().zip(outputs) {
            copy(result, output, self.level)?;
        }
        Ok(())
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
            if !output.has_separate_elements() {
                return Err(RunError::OutputsOverlap { first: index, second: index });
            }
            let range = output.address_range();
            let earlier = outputs[..index].iter();
            if let Some(other) =
                earlier.map(|o| o.address_range()).position(|o| overlap(&range, &o))
            {
                return Err(RunError::OutputsOverlap { first: other, second: index });
            }
        }
        Ok(())
    }

    /// Runs the nests; inputs and outputs have been checked and do not overlap.
    fn execute(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        progress: &Progress<'_>,
    ) -> Result<(), RunError> {
        // SAFETY: the nest that computes a temporary writes all of it before another reads it.
        let allocate = |t: &ArrayType| unsafe { Buffer::uninitialised(t.clone()) };
        let temporaries: Vec<Buffer> =
            self.loops.temporaries.iter().map(allocate).collect::<Result<_, _>>()?;
        let counters: Vec<Buffer> = self
            .loops
            .counters
            .iter()
            .map(|&(dtype, length)| counter(dtype, length, self.level))
            .collect::<Result<_, _>>()?;
        let memory =
            Memory { inputs, outputs, constants: &self.loops.constants, temporaries, counters };
        for (program, dense_plan) in self.programs.iter().zip(&self.dense_plans) {
            let is_dense = |access: &Access| memory.is_dense(access);
            let targets = program.stores().iter().map(|store| &store.target);
            let own_plan;
            let plan = match targets.chain(program.accesses()).all(is_dense) {
                true => dense_plan,
                false => {
                    own_plan = plan(program, |access| access.strides(&memory.strides(access)));
                    &own_plan
                }
            };
            let Some((plan, wiring)) = plan else { continue };
            let operands = program.stores().iter().map(|s| &s.target).chain(program.accesses());
            let bases: Vec<*mut u8> = operands.map(|access| memory.first(access)).collect();
            // SAFETY: shapes were checked against the views, which vouch for their memory; outputs
            // and temporaries overlap nothing; the level was detected.
            let flow = unsafe { parallel::run(program, plan, wiring, &Bases(&bases), progress) };
            if flow.is_break() {
                return Err(RunError::Stopped);
            }
        }
        Ok(())
    }
}

/// The arrays of a run.
struct Memory<'a, 'i, 'o> {
    inputs: &'a [ArrayView<'i>],
    outputs: &'a mut [ArrayViewMut<'o>],
    constants: &'a [Array],
    temporaries: Vec<Buffer>,
    counters: Vec<Buffer>,
}

impl Memory<'_, '_, '_> {
    fn first(&self, access: &Access) -> *mut u8 {
        match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].first(),
            BufferId::Output(index) => self.outputs[index].first(),
            BufferId::Constant(index) => ArrayView::from_array(&self.constants[index]).first(),
            BufferId::Counter(index) => self.counters[index].view().first(),
            BufferId::Temporary(index) => self.temporaries[index].view().first(),
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

/// Whether two ranges share an address; an empty one shares none.
fn overlap(a: &core::ops::Range<usize>, b: &core::ops::Range<usize>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

/// The numbers 0, 1, 2, ... in `dtype`.
fn counter(dtype: DType, length: usize, level: Level) -> Result<Buffer, RunError> {
    const BLOCK: usize = 1024;
    let kernel = convert_kernel(DType::U64, dtype, level)
        .expect("invariant: lowering admits only evaluated types");
    // SAFETY: the loop below writes every element.
    let mut buffer = unsafe { Buffer::uninitialised(ArrayType::new(dtype, [length]))? };
    let first = buffer.view_mut().first();
    let mut numbers = [0u64; BLOCK];
    for start in (0..length).step_by(BLOCK) {
        let count = BLOCK.min(length - start);
        numbers.iter_mut().zip(start as u64..).for_each(|(slot, number)| *slot = number);
        let source = numbers.as_ptr().cast::<u8>();
        // SAFETY: `count` numbers are read, and as many elements written from `start` on.
        unsafe { kernel(first.wrapping_add(start * dtype.size()), [source; 3], count) }
    }
    Ok(buffer)
}

/// Copies a result into a view of the same type that may have any strides.
fn copy(from: &Buffer, to: &mut ArrayViewMut<'_>, level: Level) -> Result<(), RunError> {
    let array_type = from.array_type().clone();
    let builder = indim_graph::GraphBuilder::new();
    let graph = builder
        .parameter("result", array_type.dtype, array_type.shape)
        .and_then(|value| builder.finish(&[value]))
        .expect("invariant: the result's type exists");
    let options = CompileOptions { level, optimize: false };
    let executable = compile(&graph, &options).expect("invariant: the result's type is evaluated");
    executable.execute(&[from.view()], core::slice::from_mut(to), &|_| ControlFlow::Continue(()))
}
