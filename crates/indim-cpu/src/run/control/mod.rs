//! Loops and branches: nests that run programs of their own, one for each region.
//!
//! - `branch.rs`: branches;
//! - `stacks.rs`: states whose rows a loop writes once each;
//! - `while_loop.rs`: loops, whose states are in two buffers each, or in one that every step overwrites.
//!
//! The programs are compiled with the graph. Their arrays and temporaries are in the memory that the nest
//! shares between threads, so a step allocates nothing. A loop allocates the views of its arrays when it
//! begins, and those of a region of a branch in it when that region first runs.

mod branch;
mod stacks;
mod while_loop;

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
use crate::run::contraction::Contraction;
use crate::run::error::RunError;
use crate::run::options::RunOptions;
use crate::run::packed_constants::ConstantParameters;
use branch::Branch;
pub(crate) use branch::RepeatedBranch;
use indim_arrays::{ALIGNMENT, Array, ArrayView, ArrayViewMut};
use while_loop::Loop;

/// A compiled loop or branch.
#[derive(Debug)]
pub(crate) struct ControlCode {
    programs: ControlPrograms,
    /// Upper bound of the memory in bytes that a thread needs.
    thread_bytes: usize,
}

/// The programs of a loop or of a branch.
#[derive(Debug)]
enum ControlPrograms {
    Loop(Box<Loop>),
    Branch(Branch),
}

/// The compiler of the nests of a program and of its regions. `check` is called after each nest and may stop
/// the compilation.
pub(crate) struct RegionCompiler<'a, E> {
    pub(crate) executor: &'static dyn Executor,
    pub(crate) level: Level,
    pub(crate) check: &'a mut dyn FnMut() -> Result<(), E>,
    /// The contractions with constant operands compiled so far.
    pub(crate) contractions: Vec<Arc<Contraction>>,
    /// The loops and branches compiled so far, with the constants that their operands are. A loop compiles
    /// its condition twice, so without this list a loop inside the condition of a loop would be compiled
    /// twice at each level of nesting.
    compiled: Vec<(Control, Vec<Option<Array>>, Arc<ControlCode>)>,
}

impl<'a, E> RegionCompiler<'a, E> {
    pub(crate) fn new(
        executor: &'static dyn Executor,
        level: Level,
        check: &'a mut dyn FnMut() -> Result<(), E>,
    ) -> Self {
        RegionCompiler { executor, level, check, contractions: Vec::new(), compiled: Vec::new() }
    }

    /// Compiles a loop or branch; `operands` has the constants among its operands.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn compile(
        &mut self,
        control: &Control,
        operands: &ConstantParameters,
    ) -> Result<Arc<ControlCode>, E> {
        let address = |array: &Option<Array>| array.as_ref().map(|array| array.bytes().as_ptr());
        let is_compiled = |(known, constants, _): &&(Control, Vec<Option<Array>>, _)| {
            known == control && constants.iter().map(address).eq(operands.iter().map(address))
        };
        if let Some((.., code)) = self.compiled.iter().find(is_compiled) {
            return Ok(Arc::clone(code));
        }
        let programs = match &control.kind {
            ControlKind::While { condition, body, limit } => {
                let looped =
                    Loop::compile([condition, body], *limit, &control.results, operands, self)?;
                ControlPrograms::Loop(Box::new(looped))
            }
            ControlKind::Branch { branches } => ControlPrograms::Branch(Branch::compile(
                branches,
                &control.results,
                operands,
                self,
            )?),
        };
        let bytes = programs.programs().into_iter().map(BoundProgram::thread_bytes);
        let thread_bytes = bytes.max().unwrap_or(0);
        let code = Arc::new(ControlCode { programs, thread_bytes });
        self.compiled.push((control.clone(), operands.to_vec(), Arc::clone(&code)));
        Ok(code)
    }

    /// The program of a graph, with the constants that its parameters are in every run.
    fn program(
        &mut self,
        graph: &Graph,
        parameters: &ConstantParameters,
    ) -> Result<BoundProgram, E> {
        let program = CompiledProgram::compile(lower(graph), parameters, self)?;
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
        self.program(&graph.expect("invariant: the types are those of a verified graph"), &[])
    }
}

impl ControlPrograms {
    /// The programs.
    fn programs(&self) -> Vec<&BoundProgram> {
        match self {
            ControlPrograms::Loop(looped) => looped.programs().collect(),
            ControlPrograms::Branch(branch) => branch.programs().collect(),
        }
    }
}

/// When a loop or branch may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Never,
    /// Before any result is written: most loops write their results after the last step.
    BeforeResults,
    /// Also after some results are written.
    AfterResults,
}

impl ControlCode {
    /// The type of the array that store `store` writes.
    pub(crate) fn result(&self, store: usize) -> &ArrayType {
        match &self.programs {
            ControlPrograms::Loop(looped) => looped.result(store),
            ControlPrograms::Branch(branch) => branch.result(store),
        }
    }

    /// When a run may fail.
    pub(crate) fn failure(&self) -> Failure {
        match &self.programs {
            ControlPrograms::Loop(looped) if looped.writes_results_in_steps() => {
                Failure::AfterResults
            }
            ControlPrograms::Loop(_) => Failure::BeforeResults,
            ControlPrograms::Branch(branch) if branch.programs().any(|it| it.compiled.may_fail) => {
                Failure::AfterResults
            }
            ControlPrograms::Branch(_) => Failure::Never,
        }
    }

    /// The operands that are initial values of stacks, each with the operand that is the first position. If
    /// this is 0, the loop does not read the initial value.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = (usize, usize)> {
        let looped = match &self.programs {
            ControlPrograms::Loop(looped) => Some(looped),
            ControlPrograms::Branch(_) => None,
        };
        looped.into_iter().flat_map(|looped| looped.stacks())
    }

    /// Whether this is a loop, or a branch with a loop in a region.
    pub(crate) fn has_loops(&self) -> bool {
        match &self.programs {
            ControlPrograms::Loop(_) => true,
            ControlPrograms::Branch(branch) => branch.programs().any(|it| it.compiled.has_loops()),
        }
    }

    /// Bytes of generated code; `seen` has the loops and branches that are counted already.
    fn generated(&self, seen: &mut Vec<*const ControlCode>) -> usize {
        if seen.contains(&core::ptr::from_ref(self)) {
            return 0;
        }
        seen.push(core::ptr::from_ref(self));
        let programs = self.programs.programs();
        let nests = programs.iter().flat_map(|program| &program.compiled.nests);
        let bytes = nests.map(|nest| match &nest.control {
            Some(control) => control.generated(seen),
            None => nest.code.generated_bytes(),
        });
        bytes.sum()
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
            match &self.programs {
                ControlPrograms::Loop(looped) => looped.run(operands, outputs, memory, options),
                ControlPrograms::Branch(branch) => branch.run(operands, outputs, memory, options),
            }
        }
    }
}

impl NestCode for ControlCode {
    /// Binds nothing: `BoundProgram` runs the programs of a loop or branch.
    fn bind(
        self: Arc<Self>,
        _: &SizedNest<'_>,
        _: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        None
    }

    fn cost(&self) -> usize {
        match &self.programs {
            ControlPrograms::Loop(looped) => looped.work(),
            ControlPrograms::Branch(branch) => branch.work(),
        }
    }

    fn thread_bytes(&self, _: &SizedNest<'_>) -> usize {
        self.thread_bytes
    }

    fn shared_bytes(&self, _: &SizedNest<'_>) -> usize {
        match &self.programs {
            ControlPrograms::Loop(looped) => looped.bytes(),
            ControlPrograms::Branch(branch) => branch.bytes(),
        }
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        match &self.programs {
            ControlPrograms::Loop(looped) => looped.list(formatter)?,
            ControlPrograms::Branch(branch) => branch.list(formatter)?,
        }
        for store in &nest.stores {
            writeln!(formatter, "  -> {}", describe(&store.target))?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::Control
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        if !memory_use.add_shared(core::slice::from_ref(self)) {
            return;
        }
        for program in self.programs.programs() {
            program.compiled.count_bytes(memory_use);
            program.count_bytes(memory_use);
        }
    }

    fn generated_bytes(&self) -> usize {
        self.generated(&mut Vec::new())
    }
}

/// Offsets of arrays in the memory of a loop or branch.
#[derive(Debug, Default)]
struct MemoryLayout {
    bytes: usize,
}

impl MemoryLayout {
    /// Places `bytes` bytes; returns their offset. Saturates.
    fn reserve(&mut self, bytes: usize) -> usize {
        let offset = self.bytes;
        let end = offset.saturating_add(bytes).checked_add(ALIGNMENT - 1);
        self.bytes = end.map_or(usize::MAX, |end| end & !(ALIGNMENT - 1));
        offset
    }
}
