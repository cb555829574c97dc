//! Programs for arrays of any sizes: compiled once, bound to sizes at each call.
//!
//! Each symbol has a placeholder size of its own, so a size in the nests identifies its symbol. Binding
//! replaces the placeholders by the sizes of the arrays. It neither lowers nor compiles, and machine code
//! generated for some sizes runs for all.

use core::convert::Infallible;
use core::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use indim_graph::{GuardError, Guards, SymbolicCount, SymbolicGraph};
use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::run::binding_cache::BindingCache;
use crate::run::bound_program::BoundProgram;
use crate::run::compile::{CompileError, CompileOptions, lowered};
use crate::run::compiled_program::{CompiledProgram, DenseBindings};
use crate::run::error::RunError;
use crate::run::executable::Executable;
use crate::run::float_environment::DefaultFloatEnvironment;
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
    /// Hidden inputs after those of the caller: element counts that depend on the symbols.
    counts: Vec<SymbolicCount>,
    /// The compiled nests, with a placeholder size for each symbol.
    program: Arc<CompiledProgram>,
    /// Memory of `program`, in bytes.
    coded_bytes: usize,
    parameter_names: Arc<[String]>,
    bindings: Mutex<BindingCache>,
    /// Memory of the first binding without groups, in bytes; other such bindings take as much.
    bound_bytes: OnceLock<usize>,
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
    let distinct = symbolic.distinct_sizes();
    let graph = symbolic.resized_for_any(&distinct);
    let (loops, executor) = lowered(&graph, options, checkpoint)?;
    let never = || Ok::<(), Infallible>(());
    let Ok(program) = CompiledProgram::new(loops, distinct, executor, options.level, never);
    let mut held = MemoryUse::default();
    program.count_bytes(&mut held);
    let names = (0..graph.parameters().len()).map(|index| graph.parameter_name(index).to_owned());
    Ok(SymbolicExecutable {
        guards: symbolic.guards().clone(),
        counts: symbolic.counts().to_vec(),
        program: Arc::new(program),
        coded_bytes: held.bytes(),
        parameter_names: names.collect(),
        bindings: Mutex::default(),
        bound_bytes: OnceLock::new(),
    })
}

impl SymbolicExecutable {
    /// The sizes of inputs that the program accepts.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// The executable for inputs of these shapes, cached for later calls.
    ///
    /// # Errors
    /// `guard-not-met`.
    ///
    /// # Panics
    /// When there are more or fewer shapes than inputs.
    pub fn bind(&self, shapes: &[&[usize]]) -> Result<Arc<Executable>, GuardError> {
        let symbols = self.guards.symbols(shapes)?;
        let before = {
            let mut bindings = self.bindings();
            match bindings.find(&symbols) {
                Some(executable) => return Ok(executable),
                None => bindings.bound_before(),
            }
        };
        let (executable, bytes) = self.bound(&symbols, before.as_deref());
        let executable = Arc::new(executable);
        let gone = self.bindings().keep(symbols[..].into(), &executable, bytes);
        // Freeing may take long, so it follows the release of the lock.
        drop(gone);
        Ok(executable)
    }

    /// Like [`SymbolicExecutable::bind`], without caching the executable.
    ///
    /// # Errors
    /// `guard-not-met`.
    ///
    /// # Panics
    /// When there are more or fewer shapes than inputs.
    pub fn bind_once(&self, shapes: &[&[usize]]) -> Result<Executable, GuardError> {
        let symbols = self.guards.symbols(shapes)?;
        let before = self.bindings().bound_before();
        let (executable, _) = self.bound(&symbols, before.as_deref());
        self.bindings().remember(&executable.nests.bound);
        Ok(executable)
    }

    /// The executable for symbols that meet the guards, and the bytes that it does not share. Nests whose
    /// sizes have not changed since the binding `before` are reused.
    fn bound(&self, symbols: &[usize], before: Option<&DenseBindings>) -> (Executable, usize) {
        let never = || Ok::<(), Infallible>(());
        let Ok(nests) = BoundProgram::new(&self.program, symbols.into(), before, never);
        let counted = |mut held: MemoryUse| {
            let shared = held.bytes();
            nests.count_bytes(&mut held);
            held.bytes() - shared + size_of::<Executable>()
        };
        let besides_shared = || {
            let mut held = MemoryUse::default();
            self.program.count_bytes(&mut held);
            counted(held)
        };
        // Tiled groups own their nests, and their memory grows with the number of tile sizes.
        let bytes = match nests.groups().is_empty() {
            true => *self.bound_bytes.get_or_init(besides_shared),
            false => counted(MemoryUse::default()),
        };
        let counts = self.counts.iter().map(|count| count.element(symbols)).collect();
        let names = Arc::clone(&self.parameter_names);
        (Executable::holding(nests, names, counts, bytes, self.coded_bytes), bytes)
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

    /// The memory of the program in bytes, with all cached bindings.
    pub fn held_bytes(&self) -> usize {
        let made = self.program.made_bytes();
        self.coded_bytes + made + self.bindings().held_bytes() + size_of::<SymbolicExecutable>()
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

    /// The number of nests that the second executable shares with the first.
    fn taken_over(first: &Executable, second: &Executable) -> usize {
        let codes = |executable: &Executable| {
            let codes = executable.nests.bound.codes.iter();
            codes.map(|code| code.bound.clone().unwrap()).collect::<Vec<_>>()
        };
        let pairs = codes(first).into_iter().zip(codes(second));
        pairs.filter(|(first, second)| Arc::ptr_eq(first, second)).count()
    }

    #[test]
    fn nests_none_of_whose_symbols_has_changed_are_taken_over() {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [5]).unwrap();
        let y = b.parameter("y", DType::F32, [7]).unwrap();
        let z = b.parameter("z", DType::F32, [1]).unwrap();
        let graph = b.finish(&[2.0 * x, 2.0 * y, 2.0 * z]).unwrap();
        let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
        for keeps in [false, true] {
            let program = compile_symbolic(&symbolic, &CompileOptions::default()).unwrap();
            let bind = |n: usize, m: usize| {
                let shapes: [&[usize]; 3] = [&[n], &[m], &[1]];
                match keeps {
                    true => program.bind(&shapes).unwrap(),
                    false => Arc::new(program.bind_once(&shapes).unwrap()),
                }
            };
            let (first, second, third) = (bind(5, 7), bind(6, 7), bind(7, 6));
            assert_eq!([taken_over(&first, &second), taken_over(&second, &third)], [2, 1]);
        }
    }
}
