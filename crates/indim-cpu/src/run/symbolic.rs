//! Programs for arrays of any sizes: compiled once, and bound to sizes when arrays come.
//!
//! The nests are made for sizes of which no two are equal, so that each says what it stands for. To bind them
//! puts the sizes of arrays in their places: nothing is lowered and nothing compiled, and machine code that
//! is made for some sizes runs for all.

use core::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use indim_graph::{Array, GuardError, Guards, SymbolicCount, SymbolicGraph};
use indim_kernels::Level;
use indim_loops::HeldBytes;
use indim_loops::groups::{NestGroup, groups};
use indim_loops::loop_nest::{LoopNest, LoopNests};
use smallvec::SmallVec;

use crate::executor::{Executor, NestCode};
use crate::run::bindings::Bindings;
use crate::run::compile::{CompileError, CompileOptions, lowered};
use crate::run::error::RunError;
use crate::run::executable::Executable;
use crate::run::nests::{CompiledNest, CompiledNests};
use indim_arrays::{ArrayView, ArrayViewMut, Buffer};

/// A graph compiled for this machine and for arrays of all sizes that meet its guards.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, compile_symbolic};
/// use indim_builder::GraphBuilder;
/// use indim_graph::SymbolicGraph;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [100])?;
/// let graph = b.finish(&[2.0 * x])?;
/// let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
/// let doubled = compile_symbolic(&symbolic, &CompileOptions::default())?;
/// assert_eq!(doubled.guards().to_string(), "x: [n]; n >= 2");
///
/// let results = doubled.run(&[ArrayView::from(&[1.0f32, 2.0, 3.0])])?;
/// assert_eq!(results[0].elements::<f32>().unwrap(), [2.0, 4.0, 6.0]);
/// assert_eq!(doubled.run(&[ArrayView::from(&[1.0f32])]).unwrap_err().code(), "guard-not-met");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SymbolicExecutable {
    guards: Guards,
    /// The inputs behind those that are given.
    counts: Vec<SymbolicCount>,
    /// The size that stands for each symbol.
    distinct: Vec<usize>,
    /// The nests for these sizes, and their code.
    loops: LoopNests,
    codes: Vec<Arc<dyn NestCode>>,
    /// Those that have no symbol among their sizes, once they are bound.
    fixed: Vec<OnceLock<CompiledNest>>,
    /// Which of them may run together, whatever the sizes are.
    groups: Vec<NestGroup>,
    executor: &'static dyn Executor,
    level: Level,
    parameter_names: Arc<[String]>,
    bindings: Mutex<Bindings>,
    /// What the first of them holds: the others hold as much, but for groups of nests.
    bound_bytes: OnceLock<usize>,
}

/// Compiles a graph for all sizes that meet its guards.
///
/// # Errors
/// As [`compile`](crate::compile).
pub fn compile_symbolic(
    symbolic: &SymbolicGraph,
    options: &CompileOptions,
) -> Result<SymbolicExecutable, CompileError> {
    compile_symbolic_with(symbolic, options, &mut || ControlFlow::Continue(()))
}

/// As [`compile_symbolic`]; `checkpoint` is called again and again, and stops it by `Break`.
///
/// # Errors
/// As [`compile_with`](crate::compile_with).
pub fn compile_symbolic_with(
    symbolic: &SymbolicGraph,
    options: &CompileOptions,
    checkpoint: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<SymbolicExecutable, CompileError> {
    let distinct = symbolic.distinct_sizes();
    let graph = symbolic.resized_for_any(&distinct);
    let (loops, executor) = lowered(&graph, options, checkpoint)?;
    let constants: Arc<[Array]> = loops.constants.iter().cloned().collect();
    let code = |nest: &Arc<LoopNest>| executor.compile(nest, &constants, options.level);
    let names = (0..graph.parameters().len()).map(|index| graph.parameter_name(index).to_owned());
    Ok(SymbolicExecutable {
        guards: symbolic.guards().clone(),
        counts: symbolic.counts().to_vec(),
        codes: loops.nests.iter().map(code).collect(),
        fixed: loops.nests.iter().map(|_| OnceLock::new()).collect(),
        groups: groups(&loops),
        parameter_names: names.collect(),
        distinct,
        loops,
        executor,
        level: options.level,
        bindings: Mutex::default(),
        bound_bytes: OnceLock::new(),
    })
}

impl SymbolicExecutable {
    /// Which sizes of the inputs it takes.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// The executable for inputs of these shapes, which is kept for when they come again.
    ///
    /// # Errors
    /// `guard-not-met`.
    ///
    /// # Panics
    /// When there are more or fewer shapes than inputs.
    pub fn bind(&self, shapes: &[&[usize]]) -> Result<Arc<Executable>, GuardError> {
        let symbols = self.guards.symbols(shapes)?;
        if let Some(executable) = self.bindings().find(&symbols) {
            return Ok(executable);
        }
        let executable = Arc::new(self.bound(&symbols));
        let gone = self.bindings().keep(symbols[..].into(), &executable);
        // What takes long to free is freed after the lock.
        drop(gone);
        Ok(executable)
    }

    /// As [`SymbolicExecutable::bind`], for those who keep it themselves.
    ///
    /// # Errors
    /// `guard-not-met`.
    ///
    /// # Panics
    /// When there are more or fewer shapes than inputs.
    pub fn bind_once(&self, shapes: &[&[usize]]) -> Result<Executable, GuardError> {
        Ok(self.bound(&self.guards.symbols(shapes)?))
    }

    /// The executable where the symbols stand for these sizes, which meet the guards.
    fn bound(&self, symbols: &[usize]) -> Executable {
        let size = |size: usize| {
            let symbol = self.distinct.iter().position(|&distinct| distinct == size);
            symbol.map_or(size, |symbol| symbols[symbol])
        };
        let loops = self.loops.resized(&size);
        let compiled = |index: usize, nest: &Arc<LoopNest>| {
            let new = || CompiledNest::new(nest, Arc::clone(&self.codes[index]));
            match Arc::ptr_eq(nest, &self.loops.nests[index]) {
                true => self.fixed[index].get_or_init(new).clone(),
                false => new(),
            }
        };
        let never = || Ok::<(), core::convert::Infallible>(());
        let Ok(nests) =
            CompiledNests::with(loops, &self.groups, self.executor, self.level, compiled, never);
        let names = Arc::clone(&self.parameter_names);
        // Those of nests that run together hold more the more parts are of another size.
        let executable = match self.bound_bytes.get() {
            Some(&bytes) if nests.groups().is_empty() => Executable::holding(nests, names, bytes),
            _ => {
                let executable = Executable::new(nests, names);
                self.bound_bytes.get_or_init(|| executable.held_bytes);
                executable
            }
        };
        let counts = self.counts.iter().map(|count| count.element(symbols)).collect();
        Executable { counts, ..executable }
    }

    /// The outputs for these inputs, in new memory.
    ///
    /// # Errors
    /// `guard-not-met`; as [`Executable::run`].
    pub fn run(&self, inputs: &[ArrayView<'_>]) -> Result<Vec<Buffer>, RunError> {
        self.fitting(inputs)?.run(inputs)
    }

    /// Writes the outputs for these inputs into the caller's arrays.
    ///
    /// # Errors
    /// `guard-not-met`; as [`Executable::run_into`].
    pub fn run_into(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
    ) -> Result<(), RunError> {
        self.fitting(inputs)?.run_into(inputs, outputs)
    }

    /// The executable for arrays of these shapes.
    fn fitting(&self, inputs: &[ArrayView<'_>]) -> Result<Arc<Executable>, RunError> {
        let (expected, given) = (self.guards.parameters().len(), inputs.len());
        if expected != given {
            return Err(RunError::InputCount { expected, given });
        }
        let shapes = inputs.iter().map(|input| input.array_type().shape.sizes());
        Ok(self.bind(&shapes.collect::<SmallVec<[&[usize]; 4]>>())?)
    }

    /// The bytes of memory that it holds, with what is bound.
    pub fn held_bytes(&self) -> usize {
        let mut held = HeldBytes::default();
        held.loops(&self.loops);
        self.codes.iter().for_each(|code| code.count_bytes(&mut held));
        let made: usize = self.codes.iter().map(|code| code.made_bytes()).sum();
        held.bytes() + made + self.bindings().held_bytes() + size_of::<SymbolicExecutable>()
    }

    fn bindings(&self) -> MutexGuard<'_, Bindings> {
        self.bindings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
