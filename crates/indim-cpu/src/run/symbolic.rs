//! Programs for arrays of any sizes: compiled once, bound to sizes at each call.
//!
//! The nests have symbols, and binding has the sizes of the arrays for them. It neither lowers nor compiles:
//! all sizes run the same kernels and machine code.

use core::convert::Infallible;
use core::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use indim_graph::{GuardError, Guards, SymbolicCount, SymbolicGraph};
use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::run::binding_cache::BindingCache;
use crate::run::bound_program::BoundProgram;
use crate::run::compile::{CompileError, CompileOptions, lower_shaped};
use crate::run::compiled_program::{CompiledProgram, DenseBindings};
use crate::run::error::RunError;
use crate::run::executable::Executable;
use crate::run::float_environment::DefaultFloatEnvironment;
use indim_arrays::{Array, ArrayView, ArrayViewMut};

/// A graph compiled for this machine, for all array sizes that meet its guards.
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
    /// Hidden inputs after those of the caller: element counts that depend on sizes.
    counts: Vec<SymbolicCount>,
    /// The compiled nests.
    program: Arc<CompiledProgram>,
    /// Memory of `program` at compile time, in bytes.
    program_bytes: usize,
    parameter_names: Arc<[String]>,
    bindings: Mutex<BindingCache>,
    /// Memory of a binding without groups, in bytes: measured at the first such binding, and the same for
    /// all.
    binding_bytes: OnceLock<usize>,
}

/// Compiles a graph for all sizes that meet its guards.
///
/// # Errors
/// Like [`compile`](crate::compile).
pub fn compile_symbolic(
    symbolic: &SymbolicGraph,
    options: &CompileOptions,
) -> Result<SymbolicExecutable, CompileError> {
    compile_symbolic_with(symbolic, options, &mut || ControlFlow::Continue(()))
}

/// Like [`compile_symbolic`]; `checkpoint` is called repeatedly and stops the compilation with `Break`.
///
/// # Errors
/// Like [`compile_with`](crate::compile_with).
pub fn compile_symbolic_with(
    symbolic: &SymbolicGraph,
    options: &CompileOptions,
    checkpoint: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<SymbolicExecutable, CompileError> {
    let _environment = DefaultFloatEnvironment::enter();
    let graph = symbolic.shaped();
    let (loops, executor) = lower_shaped(&graph, options, checkpoint)?;
    let never = || Ok::<(), Infallible>(());
    let Ok(program) = CompiledProgram::new(loops, executor, options.level, never);
    let mut memory_use = MemoryUse::default();
    program.count_bytes(&mut memory_use);
    let names = (0..graph.parameters().len()).map(|index| graph.parameter_name(index).to_owned());
    Ok(SymbolicExecutable {
        guards: symbolic.guards().clone(),
        counts: symbolic.counts().to_vec(),
        program: Arc::new(program),
        program_bytes: memory_use.bytes(),
        parameter_names: names.collect(),
        bindings: Mutex::default(),
        binding_bytes: OnceLock::new(),
    })
}

impl SymbolicExecutable {
    /// The guards: the sizes of inputs that the program accepts.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// The executable for inputs of these shapes, cached for later calls.
    ///
    /// # Errors
    /// `guard-not-met`.
    ///
    /// # Panics
    /// If the number of shapes differs from the number of inputs.
    pub fn bind(&self, shapes: &[&[usize]]) -> Result<Arc<Executable>, GuardError> {
        let symbols = self.guards.symbols(shapes)?;
        let before = {
            let mut bindings = self.bindings();
            match bindings.find(&symbols) {
                Some(executable) => return Ok(executable),
                None => bindings.last_bound(),
            }
        };
        let (executable, bytes) = self.bound(&symbols, before.as_deref());
        let executable = Arc::new(executable);
        let evicted = self.bindings().insert(symbols[..].into(), &executable, bytes);
        // Freeing may take long, so it happens after the lock is released.
        drop(evicted);
        Ok(executable)
    }

    /// Like [`SymbolicExecutable::bind`], without caching the executable.
    ///
    /// # Errors
    /// `guard-not-met`.
    ///
    /// # Panics
    /// If the number of shapes differs from the number of inputs.
    pub fn bind_once(&self, shapes: &[&[usize]]) -> Result<Executable, GuardError> {
        let symbols = self.guards.symbols(shapes)?;
        let before = self.bindings().last_bound();
        let (executable, _) = self.bound(&symbols, before.as_deref());
        self.bindings().set_last_bound(&executable.program.bindings);
        Ok(executable)
    }

    /// The executable for symbol sizes that meet the guards, and its bytes without the shared program. It
    /// reuses the nests of the binding `before` whose sizes are equal.
    fn bound(&self, symbols: &[usize], before: Option<&DenseBindings>) -> (Executable, usize) {
        let never = || Ok::<(), Infallible>(());
        let Ok(program) = BoundProgram::new(&self.program, symbols.into(), before, never);
        let counted = |mut memory_use: MemoryUse| {
            let shared = memory_use.bytes();
            program.count_bytes(&mut memory_use);
            memory_use.bytes() - shared + size_of::<Executable>()
        };
        let own_bytes = || {
            let mut memory_use = MemoryUse::default();
            self.program.count_bytes(&mut memory_use);
            counted(memory_use)
        };
        // Groups compile nests for tiles, so their memory depends on the sizes.
        let bytes = match program.has_groups() {
            true => counted(MemoryUse::default()),
            false => *self.binding_bytes.get_or_init(own_bytes),
        };
        let counts = self.counts.iter().map(|count| count.element(symbols)).collect();
        let names = Arc::clone(&self.parameter_names);
        (Executable::with_known_bytes(program, names, counts, bytes, self.program_bytes), bytes)
    }

    /// The outputs for these inputs, in new memory.
    ///
    /// # Errors
    /// `guard-not-met`; those of [`Executable::run`].
    pub fn run(&self, inputs: &[ArrayView<'_>]) -> Result<Vec<Array>, RunError> {
        self.bind_to(inputs)?.run(inputs)
    }

    /// Writes the outputs for these inputs into the caller's arrays.
    ///
    /// # Errors
    /// `guard-not-met`; those of [`Executable::run_into`].
    pub fn run_into(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
    ) -> Result<(), RunError> {
        self.bind_to(inputs)?.run_into(inputs, outputs)
    }

    /// The executable for the shapes of these arrays.
    fn bind_to(&self, inputs: &[ArrayView<'_>]) -> Result<Arc<Executable>, RunError> {
        let (expected, given) = (self.guards.parameters().len(), inputs.len());
        if expected != given {
            return Err(RunError::InputCount { expected, given });
        }
        let shapes = inputs.iter().map(|input| input.array_type().shape.sizes());
        Ok(self.bind(&shapes.collect::<SmallVec<[&[usize]; 4]>>())?)
    }

    /// Memory of the program in bytes, including all cached bindings.
    pub fn held_bytes(&self) -> usize {
        let made = self.program.generated_bytes();
        self.program_bytes + made + self.bindings().held_bytes() + size_of::<SymbolicExecutable>()
    }

    fn bindings(&self) -> MutexGuard<'_, BindingCache> {
        self.bindings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indim_builder::GraphBuilder;
    use indim_graph::SymbolicGraph;
    use indim_ops::DType;

    /// Number of nests that the second executable shares with the first.
    fn reused(first: &Executable, second: &Executable) -> usize {
        let bindings = |executable: &Executable| {
            let nests = executable.program.bindings.nests.iter();
            nests.map(|nest| nest.bound.clone().unwrap()).collect::<Vec<_>>()
        };
        let pairs = bindings(first).into_iter().zip(bindings(second));
        pairs.filter(|(first, second)| Arc::ptr_eq(first, second)).count()
    }

    #[test]
    fn nests_with_unchanged_sizes_are_reused() {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [5]).unwrap();
        let y = b.parameter("y", DType::F32, [7]).unwrap();
        let z = b.parameter("z", DType::F32, [1]).unwrap();
        let graph = b.finish(&[2.0 * x, 2.0 * y, 2.0 * z]).unwrap();
        let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
        for is_cached in [false, true] {
            let program = compile_symbolic(&symbolic, &CompileOptions::default()).unwrap();
            let bind = |n: usize, m: usize| {
                let shapes: [&[usize]; 3] = [&[n], &[m], &[1]];
                match is_cached {
                    true => program.bind(&shapes).unwrap(),
                    false => Arc::new(program.bind_once(&shapes).unwrap()),
                }
            };
            let (first, second, third) = (bind(5, 7), bind(6, 7), bind(7, 6));
            assert_eq!([reused(&first, &second), reused(&second, &third)], [2, 1]);
        }
    }
}
