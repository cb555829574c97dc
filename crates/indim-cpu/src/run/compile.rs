//! Compilation of a graph: passes, lowering, code, with a memory limit and checkpoints. This file chooses the
//! executor.

use core::fmt;
use core::ops::ControlFlow;
use std::borrow::Cow;
use std::sync::Arc;

use indim_graph::{Graph, Node, NodeKind, ShapedGraph, optimize};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{LoopNest, LoopNests};
use indim_loops::{lower_shaped_with, lower_with};
use indim_ops::Level;
use indim_shape::{Diagnostic, ErrorCode};

use crate::run::bound_program::BoundProgram;
use crate::run::choice::ExecutorChoice;
use crate::run::compiled_program::{CompiledProgram, SymbolSizes};
use crate::run::executable::Executable;
use crate::run::float_environment::DefaultFloatEnvironment;
use indim_executors::Blocks;
use indim_executors::Executor;
use indim_executors::Machine;

/// The executor for `choice`.
fn executor(choice: ExecutorChoice) -> &'static dyn Executor {
    match choice {
        // WebAssembly cannot map executable memory, and the module is a tenth smaller without a code
        // generator.
        _ if cfg!(target_family = "wasm") => &Blocks,
        ExecutorChoice::Automatic => &Machine { is_forced: false },
        ExecutorChoice::Blocks => &Blocks,
        ExecutorChoice::Machine => &Machine { is_forced: true },
    }
}

/// Options of a compilation.
///
/// ```
/// use indim_cpu::{CompileOptions, Level, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let graph = b.finish(&[-b.parameter("x", DType::F32, [3])?])?;
/// let options = CompileOptions::new().level(Level::BASELINE);
/// assert_eq!(compile(&graph, &options)?.level(), Level::BASELINE);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompileOptions {
    /// The instruction set that the code may use.
    pub level: Level,
    /// Whether passes run before lowering.
    pub optimize: bool,
    /// Upper bound of the memory in bytes that compilation may hold in addition to the graph; `None` for no
    /// limit. Compilation refuses a graph that could exceed it.
    ///
    /// The limit is compared with an upper bound for graphs of this size, not with a measurement.
    pub memory_limit: Option<usize>,
    /// The executor of the loop nests.
    pub executor: ExecutorChoice,
}

impl Default for CompileOptions {
    /// The highest level of this processor, with passes, without a limit, and machine code for nests that
    /// repay it.
    fn default() -> Self {
        let (level, executor) = (Level::detect(), ExecutorChoice::Automatic);
        CompileOptions { level, optimize: true, memory_limit: None, executor }
    }
}

impl CompileOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The instruction set that the code may use.
    pub fn level(self, level: Level) -> Self {
        CompileOptions { level, ..self }
    }

    /// Whether passes run before lowering.
    pub fn optimize(self, optimize: bool) -> Self {
        CompileOptions { optimize, ..self }
    }

    /// The memory limit of the compilation in bytes; `None` for no limit.
    pub fn memory_limit(self, bytes: impl Into<Option<usize>>) -> Self {
        CompileOptions { memory_limit: bytes.into(), ..self }
    }

    /// The executor of the loop nests.
    pub fn executor(self, executor: ExecutorChoice) -> Self {
        CompileOptions { executor, ..self }
    }
}

/// The reason why a graph is not compiled: a memory limit, or a checkpoint that stopped it.
///
/// ```
/// use indim_cpu::CompileError;
///
/// let error = CompileError::MemoryLimit { bytes: 2000, limit: 1000 };
/// assert_eq!(error.code(), "memory-limit");
/// assert!(error.diagnostic().headline.ends_with("raise the limit, or compute in several steps"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// Compilation could exceed the memory limit.
    MemoryLimit {
        /// The upper bound of the memory, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The checkpoint stopped the compilation.
    Stopped,
}

impl CompileError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            CompileError::MemoryLimit { .. } => ErrorCode::MEMORY_LIMIT,
            CompileError::Stopped => ErrorCode::STOPPED,
        }
    }

    /// The error with its code, as users read it.
    pub fn diagnostic(self) -> Diagnostic {
        Diagnostic::new(self.error_code(), self.to_string())
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::MemoryLimit { bytes, limit } => write!(
                formatter,
                "to compile the graph takes up to {bytes} bytes of memory, the limit is {limit}: raise the \
                 limit, or compute in several steps"
            ),
            CompileError::Stopped => formatter.write_str("compiling was stopped"),
        }
    }
}

impl core::error::Error for CompileError {}

/// Compiles a graph. Without a memory limit every graph compiles.
///
/// ```
/// use indim_cpu::{CompileOptions, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let graph = b.finish(&[-b.parameter("x", DType::F32, [3])?])?;
/// assert!(compile(&graph, &CompileOptions::default()).is_ok());
///
/// let options = CompileOptions::new().memory_limit(100);
/// assert_eq!(compile(&graph, &options).unwrap_err().code(), "memory-limit");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
///
/// # Errors
/// `memory-limit`, when compilation could exceed [`CompileOptions::memory_limit`].
pub fn compile(graph: &Graph, options: &CompileOptions) -> Result<Executable, CompileError> {
    compile_with(graph, options, &mut || ControlFlow::Continue(()))
}

/// Like [`compile`]; `checkpoint` is called repeatedly and stops the compilation with `Break`.
///
/// ```
/// use core::ops::ControlFlow;
/// use indim_cpu::{CompileError, CompileOptions, compile_with};
/// use indim_ops::DType;
/// use indim_builder::GraphBuilder;
///
/// let b = GraphBuilder::new();
/// let graph = b.finish(&[-b.parameter("x", DType::F32, [3])?])?;
/// let stopped = compile_with(&graph, &CompileOptions::default(), &mut || ControlFlow::Break(()));
/// assert_eq!(stopped.unwrap_err(), CompileError::Stopped);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
///
/// # Errors
/// Like [`compile`]; `stopped`, when `checkpoint` returns `Break`.
pub fn compile_with(
    graph: &Graph,
    options: &CompileOptions,
    checkpoint: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Executable, CompileError> {
    compile_for(executor(options.executor), graph, options, checkpoint)
}

/// Like [`compile_with`], with a given executor.
pub(crate) fn compile_for(
    executor: &'static dyn Executor,
    graph: &Graph,
    options: &CompileOptions,
    checkpoint: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Executable, CompileError> {
    let _environment = DefaultFloatEnvironment::enter();
    let (loops, mut compiler) = lower_graph(graph, options, checkpoint)?;
    let program = CompiledProgram::new(loops, executor, options.level, || compiler.check())?;
    let program =
        BoundProgram::new(&Arc::new(program), SymbolSizes::new(), None, || compiler.check())?;
    let names = (0..graph.parameters().len()).map(|index| graph.parameter_name(index).to_owned());
    Ok(Executable::new(program, names.collect()))
}

/// The loop nests of a graph for any sizes after passes, and the executor that the options choose.
pub(crate) fn lower_shaped(
    graph: &ShapedGraph<'_>,
    options: &CompileOptions,
    checkpoint: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(LoopNests, &'static dyn Executor), CompileError> {
    let mut compiler = Compiler::new(graph, options, checkpoint);
    compiler.check()?;
    let optimized = match options.optimize {
        true => Cow::Owned(graph.optimize()),
        false => Cow::Borrowed(graph),
    };
    compiler.check()?;
    let loops = compiler.loops(|on_nest| lower_shaped_with(&optimized, on_nest))?;
    Ok((loops, executor(options.executor)))
}

/// The loop nests of a graph after passes, and the compiler, which has counted their memory.
fn lower_graph<'a>(
    graph: &Graph,
    options: &'a CompileOptions,
    checkpoint: &'a mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(LoopNests, Compiler<'a>), CompileError> {
    let mut compiler = Compiler::new(graph, options, checkpoint);
    compiler.check()?;
    let optimized = match options.optimize {
        true => Cow::Owned(optimize(graph)),
        false => Cow::Borrowed(graph),
    };
    compiler.check()?;
    let loops = compiler.loops(|on_nest| lower_with(&optimized, on_nest))?;
    Ok((loops, compiler))
}

/// Upper bounds of the memory of passes and lowering, for each node and for each byte of the graph: they hold
/// a few graphs of its size. `tests/compile_memory.rs` compares them with the count of an allocator.
const BYTES_PER_NODE: usize = 700;
const BYTES_PER_GRAPH_BYTE: usize = 5;

/// Upper bound of the memory for the smallest graph, in bytes.
const MIN_GRAPH_BYTES: usize = 4096;

/// Upper bounds of the memory for each instruction and each nest, in bytes. Instructions are counted in each
/// nest, because several nests may compute the same value.
const BYTES_PER_INSTRUCTION: usize = 500;
const BYTES_PER_NEST: usize = 1000;

/// Upper bounds of the memory for folded constants, in bytes: for a graph, and for each node.
const MAX_FOLDED_BYTES: usize = 5 << 20;
const FOLDED_BYTES_PER_NODE: usize = 17 * 1024;

/// Upper bound of the memory for the passes and the lowering of a graph, without its nests, in bytes.
fn bytes_for_graph(graph: &Graph) -> usize {
    let is_list =
        |node: &Node| matches!(&node.kind, NodeKind::Constant(array) if array.element_count() > 1);
    let folded = match graph.iter().any(|(_, node)| is_list(node)) {
        true => MAX_FOLDED_BYTES.min(graph.len().saturating_mul(FOLDED_BYTES_PER_NODE)),
        false => 0,
    };
    let mut memory_use = MemoryUse::default();
    memory_use.add_graph(graph);
    let of_nodes = graph.len().saturating_mul(BYTES_PER_NODE);
    let of_graph = memory_use.bytes().saturating_mul(BYTES_PER_GRAPH_BYTE);
    of_graph.saturating_add(of_nodes).saturating_add(folded).saturating_add(MIN_GRAPH_BYTES)
}

/// The options of a compilation, and its memory so far.
struct Compiler<'a> {
    options: &'a CompileOptions,
    checkpoint: &'a mut dyn FnMut() -> ControlFlow<()>,
    /// Upper bound of the memory so far, in bytes; used only with a limit.
    bytes: usize,
}

impl<'a> Compiler<'a> {
    fn new(
        graph: &Graph,
        options: &'a CompileOptions,
        checkpoint: &'a mut dyn FnMut() -> ControlFlow<()>,
    ) -> Self {
        // The count walks the whole graph, so it is skipped without a limit.
        let bytes = options.memory_limit.map_or(0, |_| bytes_for_graph(graph));
        Compiler { options, checkpoint, bytes }
    }

    /// Compares the memory with the limit and calls the checkpoint.
    fn check(&mut self) -> Result<(), CompileError> {
        match self.options.memory_limit {
            Some(limit) if self.bytes > limit => {
                return Err(CompileError::MemoryLimit { bytes: self.bytes, limit });
            }
            _ => {}
        }
        match (self.checkpoint)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(CompileError::Stopped),
        }
    }

    /// Lowers a graph by `lower`, which takes a function for each new nest; counts the memory of each nest,
    /// and checks the limit after it.
    fn loops(
        &mut self,
        lower: impl FnOnce(&mut dyn FnMut(&LoopNest) -> ControlFlow<()>) -> Option<LoopNests>,
    ) -> Result<LoopNests, CompileError> {
        let mut checked = Ok(());
        let mut visit = |nest: &LoopNest| {
            let bytes = nest.instructions.len().saturating_mul(BYTES_PER_INSTRUCTION);
            self.bytes = self.bytes.saturating_add(bytes).saturating_add(BYTES_PER_NEST);
            checked = self.check();
            if checked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let loops = lower(&mut visit);
        checked.and_then(|()| loops.ok_or(CompileError::Stopped))
    }
}
