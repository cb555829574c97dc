//! Loops and branches: nests that run programs of their own, one for each region.
//!
//! - `branch.rs`: branches;
//! - `looped.rs`: loops, whose states are in two buffers each, or in one that every step overwrites.
//!
//! The programs are compiled with the graph. Their arrays and temporaries are in the memory that the nest
//! shares between threads, so a step allocates nothing.

mod branch;
mod looped;

use core::fmt;
use std::sync::Arc;

use indim_executors::{BoundNest, Executor, KernelFallback, NestCode};
use indim_graph::{Graph, Node, NodeKind, Operands, ValueId};
use indim_loops::loop_nest::{Access, Control, ControlKind, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::{MemoryUse, lower};
use indim_ops::{ArrayType, Level};

use crate::run::bound_program::BoundProgram;
use crate::run::compiled_program::{CompiledProgram, SymbolSizes};
use crate::run::error::RunError;
use crate::run::options::RunOptions;
use branch::Branch;
use indim_arrays::{ALIGNMENT, ArrayView, ArrayViewMut};
use looped::Loop;

/// A compiled loop or branch.
#[derive(Debug)]
pub(crate) enum ControlCode {
    /// A loop.
    Loop(Box<Loop>),
    /// A branch.
    Branch(Branch),
}

/// The compiler of regions. `check` is called after each nest and may stop the compilation.
pub(crate) struct RegionCompiler<'a, E> {
    pub(crate) executor: &'static dyn Executor,
    pub(crate) level: Level,
    pub(crate) check: &'a mut dyn FnMut() -> Result<(), E>,
}

impl<E> RegionCompiler<'_, E> {
    /// Compiles a loop or branch.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn compile(&mut self, control: &Control) -> Result<Arc<ControlCode>, E> {
        Ok(Arc::new(match &control.kind {
            ControlKind::While { condition, body, limit } => {
                let looped = Loop::compile(condition, body, *limit, &control.results, self)?;
                ControlCode::Loop(Box::new(looped))
            }
            ControlKind::Branch { branches } => {
                ControlCode::Branch(Branch::compile(branches, &control.results, self)?)
            }
        }))
    }

    /// The program of a graph.
    fn program(&mut self, graph: &Graph) -> Result<BoundProgram, E> {
        let (executor, level) = (self.executor, self.level);
        let program =
            CompiledProgram::new(lower(graph), Vec::new(), executor, level, || (self.check)())?;
        BoundProgram::new(&Arc::new(program), SymbolSizes::new(), None, || (self.check)())
    }

    /// The program that copies arrays of these types.
    fn copies<'t>(
        &mut self,
        types: impl Iterator<Item = &'t ArrayType>,
    ) -> Result<BoundProgram, E> {
        let parameter = |(index, array_type): (usize, &ArrayType)| Node {
            kind: NodeKind::Parameter { index, name: index.to_string() },
            operands: Operands::new(&[]),
            array_type: array_type.clone(),
        };
        let nodes: Vec<Node> = types.enumerate().map(parameter).collect();
        let outputs = (0..nodes.len()).map(ValueId::from_index).collect();
        let graph = Graph::from_nodes(nodes, outputs);
        self.program(&graph.expect("invariant: the types are those of a verified graph"))
    }
}

impl ControlCode {
    /// The programs.
    fn programs(&self) -> Vec<&BoundProgram> {
        match self {
            ControlCode::Loop(looped) => looped.programs().to_vec(),
            ControlCode::Branch(branch) => branch.programs().collect(),
        }
    }

    /// The type of the array that store `store` writes.
    pub(crate) fn result(&self, store: usize) -> &ArrayType {
        match self {
            ControlCode::Loop(looped) => looped.result(store),
            ControlCode::Branch(branch) => branch.result(store),
        }
    }

    /// Whether an error may occur after a store has been written.
    pub(crate) fn may_fail_late(&self) -> bool {
        match self {
            // A loop writes its results after the last step.
            ControlCode::Loop(_) => false,
            ControlCode::Branch(branch) => branch.programs().any(BoundProgram::may_fail),
        }
    }

    /// Runs the programs on these operands and writes the results.
    ///
    /// # Safety
    /// - the operands have the types of the regions' parameters, the outputs the types of the stores;
    /// - no output overlaps another output or an operand;
    /// - `memory` is valid for [`NestCode::shared_bytes`], and only this run accesses it.
    ///
    /// # Errors
    /// If a loop exceeds its limit, an index is out of range, or `progress` stops the run.
    pub(crate) unsafe fn run(
        &self,
        operands: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        memory: *mut u8,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        // SAFETY: the caller has the same obligations.
        unsafe {
            match self {
                ControlCode::Loop(looped) => looped.run(operands, outputs, memory, options),
                ControlCode::Branch(branch) => branch.run(operands, outputs, memory, options),
            }
        }
    }
}

impl NestCode for ControlCode {
    /// `BoundProgram` runs the programs.
    fn bind(
        self: Arc<Self>,
        _: &SizedNest<'_>,
        _: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        None
    }

    fn cost(&self) -> usize {
        match self {
            ControlCode::Loop(looped) => looped.work(),
            ControlCode::Branch(branch) => branch.work(),
        }
    }

    fn thread_bytes(&self, _: &SizedNest<'_>) -> usize {
        self.programs().into_iter().map(BoundProgram::thread_bytes).max().unwrap_or(0)
    }

    fn shared_bytes(&self, _: &SizedNest<'_>) -> usize {
        match self {
            ControlCode::Loop(looped) => looped.bytes(),
            ControlCode::Branch(branch) => branch.bytes(),
        }
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        match self {
            ControlCode::Loop(looped) => looped.list(formatter)?,
            ControlCode::Branch(branch) => branch.list(formatter)?,
        }
        for store in &nest.stores {
            writeln!(formatter, "  -> {}", describe(&store.target))?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::Control
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<ControlCode>(1);
        for program in self.programs() {
            program.program.count_bytes(held);
            program.count_bytes(held);
        }
    }

    fn generated_bytes(&self) -> usize {
        self.programs().into_iter().map(|program| program.program.generated_bytes()).sum()
    }
}

/// Offsets of arrays in the memory of a loop or branch.
#[derive(Debug, Default)]
struct MemoryLayout {
    bytes: usize,
}

impl MemoryLayout {
    /// Places `bytes` bytes; returns their offset. Saturates.
    fn place(&mut self, bytes: usize) -> usize {
        let offset = self.bytes;
        let end = offset.saturating_add(bytes).checked_add(ALIGNMENT - 1);
        self.bytes = end.map_or(usize::MAX, |end| end & !(ALIGNMENT - 1));
        offset
    }
}
