//! Executables: graphs compiled for this machine, to run on arrays. Holds unsafe code.

use core::sync::atomic::AtomicUsize;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use indim_graph::{Array, Graph, Node, NodeKind, Operands, ValueId};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{BufferId, LoopNest, LoopNests};
use indim_loops::scratch::array_bytes;
use indim_ops::ArrayType;
use indim_ops::Level;
use smallvec::SmallVec;

use crate::run::bound_program::BoundProgram;
use crate::run::choice::ExecutorChoice;
use crate::run::compile::{CompileOptions, compile};
use crate::run::compiled_nest::CompiledNest;
use crate::run::compiled_program::CompiledProgram;
use crate::run::error::RunError;
use crate::run::forecast::{Forecast, RunMemory};
use crate::run::groups::TiledGroup;
use crate::run::options::{RunOptions, Threads};
use crate::run::output_order::Order;
use crate::run::overlap::{check_overlap, written_over_inputs};
use crate::run::threads;
use indim_arrays::{ArrayView, ArrayViewMut};

/// A graph compiled for this machine.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
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
/// assert_eq!(executable.outputs()[0].to_string(), "f32[2, 3]");
/// assert!(!executable.is_parallel()); // six elements are not enough work for several threads
/// assert!(executable.held_bytes() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Executable {
    /// The program, bound to sizes.
    pub(crate) program: BoundProgram,
    pub(crate) parameter_names: Arc<[String]>,
    /// Hidden inputs after those of the caller: element counts computed from the sizes of the binding.
    pub(crate) hidden_inputs: Vec<Array>,
    /// Bytes of the executable, without the machine code generated after compile time.
    held_bytes: usize,
    /// The part of `held_bytes` that executables for other sizes share.
    shared_bytes: usize,
}

impl Executable {
    /// An executable that shares no memory.
    pub(crate) fn new(program: BoundProgram, parameter_names: Arc<[String]>) -> Executable {
        let mut memory_use = MemoryUse::default();
        program.compiled.count_bytes(&mut memory_use);
        program.count_bytes(&mut memory_use);
        memory_use.add_shared(&parameter_names);
        parameter_names.iter().for_each(|name| memory_use.add_allocation::<u8>(name.capacity()));
        let held_bytes = memory_use.bytes() + size_of::<Executable>();
        Executable {
            program,
            parameter_names,
            hidden_inputs: Vec::new(),
            held_bytes,
            shared_bytes: 0,
        }
    }

    /// An executable with known numbers of own and shared bytes.
    pub(crate) fn with_known_bytes(
        program: BoundProgram,
        parameter_names: Arc<[String]>,
        hidden_inputs: Vec<Array>,
        own_bytes: usize,
        shared_bytes: usize,
    ) -> Executable {
        let held_bytes = own_bytes + shared_bytes;
        Executable { program, parameter_names, hidden_inputs, held_bytes, shared_bytes }
    }

    /// The graph as loop nests with their arrays.
    #[doc(hidden)]
    pub fn loops(&self) -> &LoopNests {
        self.program.loops()
    }

    /// The loop nests, in the order in which they run.
    #[doc(hidden)]
    pub fn nests(&self) -> &[Arc<LoopNest>] {
        &self.program.loops().nests
    }

    /// The loop nests compiled for the level.
    #[doc(hidden)]
    pub fn compiled_nests(&self) -> &[CompiledNest] {
        self.program.compiled_nests()
    }

    /// The groups of nests that run tile by tile.
    #[doc(hidden)]
    pub fn tiled_groups(&self) -> impl Iterator<Item = TiledGroup> + '_ {
        self.program.tiled_groups()
    }

    /// The names of the parameters, without those of hidden inputs.
    #[doc(hidden)]
    pub fn parameter_names(&self) -> &[String] {
        &self.parameter_names
    }

    /// The bytes that these nests read and write: a nest that runs alone, or those of a group. `None` for a
    /// loop or branch.
    #[doc(hidden)]
    pub fn bytes_of_nests(&self, nests: Range<usize>) -> Option<usize> {
        self.program.bytes_of(nests)
    }

    /// Memory of the executable in bytes, including constants. A run counts it towards
    /// [`RunOptions::memory_limit`].
    ///
    /// It grows when nests tier up to machine code, and when the second run packs constant operands of matrix
    /// products; a run frees these panels if its memory limit leaves no room for them. The overhead of the
    /// allocator is an estimate.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes + self.program.compiled.generated_bytes()
    }

    /// Like [`Executable::held_bytes`], without the memory that executables for other sizes share. An
    /// executable from [`compile`](crate::compile) shares none.
    pub fn own_bytes(&self) -> usize {
        match self.shared_bytes {
            0 => self.held_bytes(),
            shared => self.held_bytes - shared,
        }
    }

    /// The level for which it was compiled.
    pub fn level(&self) -> Level {
        self.program.compiled.level
    }

    /// The types of the inputs.
    pub fn parameters(&self) -> &[ArrayType] {
        let all = &self.program.parameters;
        &all[..all.len() - self.hidden_inputs.len()]
    }

    /// The inputs of the caller, then the hidden inputs.
    fn with_hidden_inputs<'a>(&'a self, inputs: &'a [ArrayView<'a>]) -> Cow<'a, [ArrayView<'a>]> {
        match self.hidden_inputs.is_empty() {
            true => Cow::Borrowed(inputs),
            false => {
                let hidden = self.hidden_inputs.iter().map(ArrayView::from);
                Cow::Owned(inputs.iter().cloned().chain(hidden).collect())
            }
        }
    }

    /// The types of the outputs.
    pub fn outputs(&self) -> &[ArrayType] {
        &self.program.outputs
    }

    /// Whether a run has enough work for several threads.
    ///
    /// A smaller run computes on the calling thread and uses no thread pool.
    pub fn is_parallel(&self) -> bool {
        self.program.nest_work().any(threads::is_parallel)
    }

    /// Whether the program has a loop, so that only a run knows its number of steps.
    ///
    /// A short program without a loop ends soon, so a caller needs no progress function to stop it.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_cpu::{CompileOptions, compile};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [])?;
    /// let halved = b.while_loop(&[&x], |_, s| Ok(s[0].gt(1.0)), |_, s| Ok(vec![&s[0] * 0.5]))?;
    /// let [looped, alone] = [b.finish(&halved)?, b.finish(&[&x * 0.5])?];
    /// assert!(compile(&looped, &CompileOptions::new())?.has_loops());
    /// assert!(!compile(&alone, &CompileOptions::new())?.has_loops());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn has_loops(&self) -> bool {
        self.program.compiled.has_loops()
    }

    /// The memory that a run will read, write and hold.
    pub fn forecast(&self) -> Forecast {
        let mut read: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.program.parameters.len());
        self.program.for_each_read(|buffer, bytes| {
            if let BufferId::Parameter(index) = buffer {
                read[index] = read[index].saturating_add(bytes);
            }
        });
        // Several nests may read an array; its bytes count once.
        let parameters = self.parameters().iter().zip(read);
        let read = parameters.map(|(parameter, read)| read.min(array_bytes(parameter)));
        let written = self.outputs().iter().map(array_bytes);
        let registers = self.program.thread_bytes();
        Forecast {
            bytes_read: read.fold(0, usize::saturating_add),
            bytes_written: written.fold(0, usize::saturating_add),
            temporary_bytes: self.program.scratch.bytes,
            register_bytes: registers,
        }
    }

    /// For each output, its strides in bytes as a dense array in this order, or `None` for row-major. The
    /// list is empty if all outputs are row-major. For callers that allocate the outputs.
    ///
    /// # Errors
    /// `input-count`, `input-type` if an input does not fit.
    pub fn output_byte_strides(
        &self,
        order: Order,
        inputs: &[ArrayView<'_>],
    ) -> Result<Vec<Option<Vec<isize>>>, RunError> {
        self.check_inputs(inputs)?;
        let inputs = &self.with_hidden_inputs(inputs);
        Ok(self.strides(order, inputs))
    }

    /// Like [`Executable::output_byte_strides`], for checked inputs, including the hidden inputs.
    fn strides(&self, order: Order, inputs: &[ArrayView<'_>]) -> Vec<Option<Vec<isize>>> {
        let CompiledProgram { output_orders, loops, .. } = &*self.program.compiled;
        output_orders.strides(loops, self.outputs(), order, inputs)
    }

    /// The outputs for these inputs, in new memory.
    ///
    /// The calling thread computes, and the current rayon pool helps it; see [`Threads::Current`].
    ///
    /// [`Threads::Current`]: crate::Threads::Current
    ///
    /// # Errors
    /// `input-count`, `input-type` if an input does not fit; `out-of-memory`; `index-out-of-range`.
    pub fn run(&self, inputs: &[ArrayView<'_>]) -> Result<Vec<Array>, RunError> {
        self.run_with(inputs, &RunOptions::default())
    }

    /// Like [`Executable::run`], with options.
    ///
    /// # Errors
    /// Like [`Executable::run`]; `memory-limit`; `stopped` if `progress` stops the run.
    pub fn run_with(
        &self,
        inputs: &[ArrayView<'_>],
        options: &RunOptions<'_>,
    ) -> Result<Vec<Array>, RunError> {
        self.check_inputs(inputs)?;
        self.run_checked(&self.with_hidden_inputs(inputs), options)
    }

    /// The outputs for checked inputs, including the hidden inputs.
    fn run_checked(
        &self,
        inputs: &[ArrayView<'_>],
        options: &RunOptions<'_>,
    ) -> Result<Vec<Array>, RunError> {
        let spare_bytes = self.check_memory(options, true)?.map(AtomicUsize::new);
        let options = &RunOptions { spare_bytes: spare_bytes.as_ref(), ..*options };
        let strides = self.strides(options.order, inputs);
        let mut strides = strides.into_iter();
        let mut buffers = Vec::with_capacity(self.outputs().len());
        for output in self.outputs() {
            // SAFETY: lowering gives each output a store over its whole shape, so the nests write every
            // element before anything reads the buffer. On an error the buffer is dropped unread.
            buffers.push(unsafe {
                Array::uninitialised_in_order(output.clone(), strides.next().flatten())?
            });
        }
        let mut outputs: SmallVec<[ArrayViewMut<'_>; 1]> =
            buffers.iter_mut().map(Array::view_mut).collect();
        self.program.run(inputs, &mut outputs, &[], options)?;
        drop(outputs);
        Ok(buffers)
    }

    /// Writes the outputs for these inputs into the caller's arrays.
    ///
    /// An output may overlap inputs: the result is as if the inputs had been copied first. An output that
    /// lies exactly over an input needs no copy if no other nest reads that input.
    ///
    /// # Errors
    /// Like [`Executable::run`]; `output-count`, `output-type` if an array does not fit; `outputs-overlap`,
    /// `overlap-undecided` if outputs share memory. On an error nothing has been written, except on
    /// `out-of-memory`: a thread allocates its temporaries when it begins a group of nests, after earlier
    /// nests, so outputs may then be partly written.
    pub fn run_into(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
    ) -> Result<(), RunError> {
        self.run_into_with(inputs, outputs, &RunOptions::default())
    }

    /// Like [`Executable::run_into`], with options.
    ///
    /// # Errors
    /// Like [`Executable::run_into`]; `memory-limit`; `stopped` if `progress` stops the run, which may leave
    /// outputs partly written.
    pub fn run_into_with(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        self.check_inputs(inputs)?;
        self.check_outputs(outputs)?;
        let inputs = &self.with_hidden_inputs(inputs);
        let is_over_input = written_over_inputs(&self.program, inputs, outputs);
        if let Some(is_over_input) =
            is_over_input.filter(|_| !self.program.compiled.writes_before_checks)
        {
            let spare_bytes = self.check_memory(options, false)?.map(AtomicUsize::new);
            let options = &RunOptions { spare_bytes: spare_bytes.as_ref(), ..*options };
            return self.program.run(inputs, outputs, &is_over_input, options);
        }
        let results = self.run_checked(inputs, options)?;
        for (result, output) in results.iter().zip(outputs) {
            copy(result, output, self.level(), options.threads)?;
        }
        Ok(())
    }

    /// Checks the limit before a run, and packs constants within it. Returns the bytes that remain, if there
    /// is a limit.
    fn check_memory(
        &self,
        options: &RunOptions<'_>,
        allocates_outputs: bool,
    ) -> Result<Option<usize>, RunError> {
        let packed_constants = &self.program.compiled.packed_constants;
        let Some(limit) = options.memory_limit else {
            packed_constants.pack(&mut { usize::MAX });
            return Ok(None);
        };
        let threads = if self.is_parallel() { options.threads.count() } else { 1 };
        let bytes = self.bytes_within(limit, options.input_bytes, threads, allocates_outputs)?;
        let mut spare_bytes = limit - bytes;
        packed_constants.pack(&mut spare_bytes);
        Ok(Some(spare_bytes))
    }

    /// The bytes of a run, which are at most `limit`. Frees packed constants if they exceed it.
    fn bytes_within(
        &self,
        limit: usize,
        input_bytes: usize,
        threads: usize,
        allocates_outputs: bool,
    ) -> Result<usize, RunError> {
        let run_memory = || self.run_memory(input_bytes, threads, allocates_outputs);
        let mut of_run = run_memory();
        if of_run.bytes() > limit && self.program.compiled.packed_constants.release() {
            of_run = run_memory();
        }
        of_run.check(limit, || self.loops())?;
        Ok(of_run.bytes())
    }

    /// Checks that a run with `threads` threads holds at most `limit` bytes, counted as in
    /// [`RunOptions::memory_limit`]. For callers that allocate the outputs.
    ///
    /// # Errors
    /// `memory-limit`.
    pub fn check_memory_limit(
        &self,
        limit: usize,
        threads: usize,
        allocates_outputs: bool,
    ) -> Result<(), RunError> {
        self.bytes_within(limit, 0, threads, allocates_outputs).map(|_| ())
    }

    fn run_memory(&self, input_bytes: usize, threads: usize, allocates_outputs: bool) -> RunMemory {
        let (forecast, executable_bytes) = (self.forecast(), self.held_bytes());
        RunMemory { forecast, input_bytes, executable_bytes, threads, allocates_outputs }
    }

    fn check_inputs(&self, inputs: &[ArrayView<'_>]) -> Result<(), RunError> {
        let expected = self.parameters().len();
        if inputs.len() != expected {
            return Err(RunError::InputCount { expected, given: inputs.len() });
        }
        for (index, (expected, input)) in self.parameters().iter().zip(inputs).enumerate() {
            if !is_of_type(input.array_type(), expected) {
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
        let expected = self.outputs().len();
        if outputs.len() != expected {
            return Err(RunError::OutputCount { expected, given: outputs.len() });
        }
        for (index, (expected, output)) in self.outputs().iter().zip(outputs.iter()).enumerate() {
            if !is_of_type(output.array_type(), expected) {
                return Err(RunError::OutputType {
                    output: index,
                    expected: expected.clone(),
                    given: output.array_type().clone(),
                });
            }
        }
        check_overlap(outputs)
    }
}

/// Compares types like `==`, but without function calls: shapes have few sizes.
fn is_of_type(given: &ArrayType, expected: &ArrayType) -> bool {
    given.dtype == expected.dtype
        && given.shape.rank() == expected.shape.rank()
        && given.shape.iter().zip(expected.shape.iter()).all(|(given, expected)| given == expected)
}

/// Copies a result into a view of the same type with any strides.
fn copy(
    from: &Array,
    to: &mut ArrayViewMut<'_>,
    level: Level,
    threads: Threads<'_>,
) -> Result<(), RunError> {
    let array_type = from.array_type().clone();
    let kind = NodeKind::Parameter { index: 0, name: "result".to_owned() };
    let node = Node { kind, operands: Operands::new(&[]), array_type };
    let graph = Graph::from_nodes(vec![node], vec![ValueId::from_index(0)])
        .expect("invariant: the result's type exists");
    let executor = ExecutorChoice::Blocks;
    let options = CompileOptions { level, executor, optimize: false, memory_limit: None };
    let executable = compile(&graph, &options).expect("invariant: the result's type is evaluated");
    let options = RunOptions::new().threads(threads);
    executable.program.run(&[from.view()], core::slice::from_mut(to), &[], &options)
}
