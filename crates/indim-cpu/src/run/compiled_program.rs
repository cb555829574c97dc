//! A program compiled for any sizes: its loop nests and their code, which all bindings to sizes share.

use std::sync::Arc;

use indim_graph::Array;
use indim_loops::MemoryUse;
use indim_loops::dense_nest::DenseNest;
use indim_loops::groups::{NestGroup, groups};
use indim_loops::loop_nest::{
    Access, BufferId, Local, LoopNest, LoopNests, StandaloneInstruction, Store,
};
use indim_loops::resize::{NestStrides, SizedNest, Sizes};
use indim_loops::scratch::LiveRanges;
use indim_loops::whole_copies::{WholeCopy, whole_copies};
use indim_ops::Level;
use smallvec::SmallVec;

use crate::run::contraction::Contraction;
use crate::run::control::{ControlCode, Failure, RegionCompiler};
use crate::run::output_order::OutputOrders;
use crate::run::packed_constants::{ConstantParameters, PackedConstants, constant};
use crate::run::run_arrays::BufferOffset;
use crate::run::scan::Scan;
use crate::run::scatter::Scatter;
use crate::run::search::TableSearch;
use crate::run::sort::Sort;
use indim_executors::run_work;
use indim_executors::{BoundNest, Executor, NestCode};

/// A graph as loop nests, compiled by an executor, for arrays of any sizes.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    /// The nests. A binding has a concrete size for each of their symbols.
    pub(crate) loops: LoopNests,
    pub(crate) nests: Vec<SymbolicNest>,
    /// The groups of nests that may run tile by tile.
    pub(crate) groups: Vec<NestGroup>,
    pub(crate) live_ranges: LiveRanges,
    /// Whether a run with valid inputs may fail, by an index out of range or in a loop.
    pub(crate) may_fail: bool,
    /// Whether a nest writes an output before all indices have been checked and all loops have ended.
    pub(crate) writes_before_checks: bool,
    pub(crate) output_orders: OutputOrders,
    /// The copies that a run may leave out.
    pub(crate) whole_copies: Vec<WholeCopy>,
    /// The packed constants of this program and of its regions; none for the program of a region.
    pub(crate) packed_constants: PackedConstants,
    pub(crate) executor: &'static dyn Executor,
    pub(crate) level: Level,
}

/// The code of a nest for any sizes.
#[derive(Debug)]
pub(crate) struct SymbolicNest {
    pub(crate) code: Arc<dyn NestCode>,
    /// The loop or branch that the nest is.
    pub(crate) control: Option<Arc<ControlCode>>,
    /// Cost of computing one element; see [`NestCode::cost`].
    cost: usize,
    /// Addresses of the operands if each begins at the first element of its array; otherwise `None`,
    /// because the addresses depend on sizes.
    addresses: Option<Box<[BufferOffset]>>,
    /// Strides and axes of the nest over dense arrays, computed once for all sizes.
    dense_nest: Option<DenseNest>,
    /// Indices of the symbols on which the shape of the nest or of its arrays depends.
    symbols: Vec<usize>,
    /// Whether no nest reads what this one writes, and it writes temporaries only.
    is_unread: bool,
}

/// A nest bound to dense arrays of concrete sizes.
#[derive(Debug, Clone)]
pub(crate) struct DenseBinding {
    /// `None` for a nest without elements, and for one whose results no nest reads.
    pub(crate) bound: Option<Arc<dyn BoundNest>>,
    /// Cost of a whole run, in bytes moved.
    pub(crate) work: usize,
    /// Bytes that a whole run reads and writes.
    pub(crate) moved: usize,
    /// Upper bound of the memory in bytes that the threads of a run share.
    pub(crate) shared_bytes: usize,
    /// Addresses of the operands; `None` if those of [`SymbolicNest`] hold for all sizes.
    own_addresses: Option<Box<[BufferOffset]>>,
}

/// All nests of a program bound to dense arrays of concrete sizes.
#[derive(Debug)]
pub(crate) struct DenseBindings {
    /// Concrete sizes, in symbol order.
    pub(crate) symbol_sizes: SymbolSizes,
    pub(crate) nests: Vec<DenseBinding>,
}

/// The concrete size of each symbol.
pub(crate) type SymbolSizes = SmallVec<[usize; 4]>;

impl CompiledProgram {
    /// Whether some nest is a loop, or a branch with a loop in a region.
    pub(crate) fn has_loops(&self) -> bool {
        self.nests.iter().any(|nest| nest.control.as_ref().is_some_and(|it| it.has_loops()))
    }

    /// Compiles the nests for `level`. `check` is called after each nest and may stop the compilation.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn new<E>(
        loops: LoopNests,
        executor: &'static dyn Executor,
        level: Level,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut compiler = RegionCompiler::new(executor, level, &mut check);
        let mut program = CompiledProgram::compile(loops, &[], &mut compiler)?;
        program.packed_constants = PackedConstants::new(compiler.contractions);
        Ok(program)
    }

    /// Like [`CompiledProgram::new`], also for the program of a region, with the constants that its
    /// parameters are. The compiler collects the contractions with constants.
    ///
    /// # Errors
    /// Those of the compiler's `check`.
    pub(crate) fn compile<E>(
        loops: LoopNests,
        parameters: &ConstantParameters,
        compiler: &mut RegionCompiler<'_, E>,
    ) -> Result<Self, E> {
        let (executor, level) = (compiler.executor, compiler.level);
        let constants: Arc<[Array]> = loops.constants.iter().cloned().collect();
        let mut nests = Vec::with_capacity(loops.nests.len());
        for nest in &loops.nests {
            let control = match nest.standalone_instruction() {
                Some((StandaloneInstruction::Control { index }, instruction)) => {
                    let operand = |local: &Local| {
                        let access = &nest.accesses[local.access()?];
                        let array = constant(access.buffer, &constants, parameters)?;
                        access.starts_at_origin().then_some(array)
                    };
                    let operands: Vec<Option<Array>> =
                        instruction.operands.iter().map(operand).collect();
                    Some(compiler.compile(&loops.controls[index], &operands)?)
                }
                _ => None,
            };
            let code = match &control {
                Some(control) => Arc::clone(control) as Arc<dyn NestCode>,
                None => standalone_code(nest, &constants, parameters, compiler)
                    .unwrap_or_else(|| executor.compile(nest, &constants, level)),
            };
            nests.push(SymbolicNest::new(nest, code, control));
            (compiler.check)()?;
        }
        for index in unread_stacks(&loops, &nests) {
            nests[index].is_unread = true;
        }
        let (may_fail, writes_before_checks) = failures(&loops, &nests);
        let (groups, live_ranges) = (groups(&loops), LiveRanges::of(&loops));
        let output_orders = OutputOrders::default();
        let whole_copies = whole_copies(&loops, may_fail);
        Ok(CompiledProgram {
            whole_copies,
            loops,
            nests,
            groups,
            live_ranges,
            output_orders,
            packed_constants: PackedConstants::default(),
            may_fail,
            writes_before_checks,
            executor,
            level,
        })
    }

    /// Binds the nests to dense arrays of concrete sizes, in symbol order. Reuses the nests of the binding
    /// `before` whose sizes are equal. `check` is called after each nest and may stop the binding.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn bind<E>(
        &self,
        symbol_sizes: SymbolSizes,
        before: Option<&DenseBindings>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<DenseBindings, E> {
        let sizes = Sizes(&symbol_sizes);
        let mut nests = Vec::with_capacity(self.nests.len());
        for (index, (compiled, nest)) in self.nests.iter().zip(&self.loops.nests).enumerate() {
            let is_same = |before: &&DenseBindings| {
                let mut symbols = compiled.symbols.iter();
                symbols.all(|&symbol| before.symbol_sizes[symbol] == symbol_sizes[symbol])
            };
            nests.push(match before.filter(is_same) {
                Some(before) => before.nests[index].clone(),
                None => {
                    let nest = SizedNest::new(nest, sizes);
                    compiled.bound(&nest.with_dense_nest(compiled.dense_nest.as_ref()))
                }
            });
            check()?;
        }
        Ok(DenseBindings { symbol_sizes, nests })
    }

    /// Addresses of the operands of nest `index` in the binding `bound`.
    #[inline(always)]
    pub(crate) fn addresses<'a>(
        &'a self,
        index: usize,
        bound: &'a DenseBinding,
    ) -> &'a [BufferOffset] {
        let addresses = bound.own_addresses.as_deref().or(self.nests[index].addresses.as_deref());
        addresses.unwrap_or_default()
    }

    /// Bytes of the machine code generated after compile time.
    pub(crate) fn generated_bytes(&self) -> usize {
        self.nests.iter().map(|nest| nest.code.generated_bytes()).sum()
    }

    /// Counts the memory of the compiled program.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_loops(&self.loops);
        memory_use.add_allocation::<SymbolicNest>(self.nests.capacity());
        for nest in &self.nests {
            nest.code.count_bytes(memory_use);
            nest.addresses
                .iter()
                .for_each(|addresses| memory_use.add_allocation::<BufferOffset>(addresses.len()));
            memory_use.add_allocation::<usize>(nest.symbols.capacity());
            nest.dense_nest.iter().for_each(|dense| dense.count_bytes(memory_use));
        }
        memory_use.add_allocation::<NestGroup>(self.groups.capacity());
        self.groups.iter().for_each(|group| group.count_bytes(memory_use));
        self.live_ranges.count_bytes(memory_use);
        memory_use.add_allocation::<WholeCopy>(self.whole_copies.capacity());
    }
}

impl SymbolicNest {
    fn new(
        nest: &LoopNest,
        code: Arc<dyn NestCode>,
        control: Option<Arc<ControlCode>>,
    ) -> SymbolicNest {
        let first = |access: &Access| BufferOffset { buffer: access.buffer, offset: 0 };
        let arrays = nest.operands().flat_map(|access| access.array_type.shape.iter());
        let sizes = nest.shape.iter().chain(arrays);
        let mut symbols: Vec<usize> = sizes.filter_map(|size| size.symbol()).collect();
        symbols.extend(nest.operands().flat_map(Access::offset_symbols));
        symbols.sort_unstable();
        symbols.dedup();
        SymbolicNest {
            cost: code.cost(),
            addresses: nest
                .operands()
                .all(Access::starts_at_origin)
                .then(|| nest.operands().map(first).collect()),
            dense_nest: DenseNest::new(nest),
            symbols,
            code,
            control,
            is_unread: false,
        }
    }

    fn bound(&self, nest: &SizedNest<'_>) -> DenseBinding {
        let place = |access: &Access| BufferOffset {
            buffer: access.buffer,
            offset: access.offset(&nest.dense_array_strides(access), nest.sizes()),
        };
        let own_addresses = || nest.nest.operands().map(place).collect();
        let bind = || Arc::clone(&self.code).bind(nest, NestStrides::Dense, &[]);
        let [work, moved] = match self.is_unread {
            true => [0; 2],
            false => [run_work(nest, self.cost), nest.bytes_moved()],
        };
        DenseBinding {
            bound: if self.is_unread { None } else { bind() },
            shared_bytes: self.code.shared_bytes(nest),
            work,
            moved,
            own_addresses: self.addresses.is_none().then(own_addresses),
        }
    }
}

impl DenseBindings {
    /// Counts the memory of the bindings. The code is not included.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<DenseBindings>(1);
        memory_use.add_small_vec(&self.symbol_sizes);
        memory_use.add_allocation::<DenseBinding>(self.nests.capacity());
        self.nests.iter().for_each(|nest| nest.count_bytes(memory_use));
    }
}

impl DenseBinding {
    /// Counts the memory of the binding. The code is not included.
    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        self.bound.iter().for_each(|bound| bound.count_bytes(memory_use));
        self.own_addresses
            .iter()
            .for_each(|addresses| memory_use.add_allocation::<BufferOffset>(addresses.len()));
    }
}

/// The nests that write only the initial values of stacks, such as zeros, which their loops do not read.
fn unread_stacks(loops: &LoopNests, nests: &[SymbolicNest]) -> Vec<usize> {
    let nests = loops.nests.iter().zip(nests);
    nests
        .filter_map(|(nest, compiled)| Some((nest, compiled.control.as_deref()?)))
        .flat_map(|(nest, control)| unread_initial_values(loops, nest, control))
        .collect()
}

/// The nests that write only the initial values of the stacks of one loop.
fn unread_initial_values(loops: &LoopNests, nest: &LoopNest, control: &ControlCode) -> Vec<usize> {
    let operands = &nest.instructions[0].operands;
    let buffer = |operand: usize| Some(nest.accesses[operands[operand].access()?].buffer);
    let is_zero = |counter: usize| match buffer(counter) {
        Some(BufferId::Constant(index)) => loops.constants[index].scalar::<i64>() == Ok(0),
        _ => false,
    };
    let stacks: Vec<usize> = control
        .stacks()
        .filter(|&(_, counter)| is_zero(counter))
        .map(|(operand, _)| operand)
        .collect();
    let is_unread = |&initial: &BufferId| {
        let mut of_initial = (0..operands.len()).filter(|&other| buffer(other) == Some(initial));
        let accesses = loops.nests.iter().flat_map(|nest| &nest.accesses);
        of_initial.all(|operand| stacks.contains(&operand))
            && accesses.filter(|access| access.buffer == initial).count() == 1
    };
    let initial = stacks.iter().filter_map(|&stack| buffer(stack));
    initial
        .filter(|buffer| matches!(buffer, BufferId::Temporary(_)))
        .filter(is_unread)
        .filter_map(|buffer| only_writer(loops, buffer))
        .collect()
}

/// The nest that writes a buffer, if no other nest does and it writes nothing else.
fn only_writer(loops: &LoopNests, buffer: BufferId) -> Option<usize> {
    let is_written = |store: &Store| store.target.buffer == buffer;
    let mut writers =
        (0..loops.nests.len()).filter(|&nest| loops.nests[nest].stores.iter().any(is_written));
    let writer = writers.next()?;
    let is_only = writers.next().is_none() && loops.nests[writer].stores.iter().all(is_written);
    is_only.then_some(writer)
}

/// Whether a run with valid inputs may fail, by an index out of range or in a loop; and whether a nest writes
/// an output before all indices have been checked and all loops have ended.
fn failures(loops: &LoopNests, nests: &[SymbolicNest]) -> (bool, bool) {
    let controls = nests.iter().enumerate();
    let controls = controls.filter_map(|(index, nest)| match nest.control.as_ref()?.failure() {
        Failure::Never => None,
        Failure::BeforeResults => Some(index),
        Failure::AfterResults => Some(index + 1),
    });
    let Some(last) = loops.checks.iter().map(|check| check.nest).chain(controls).max() else {
        return (false, false);
    };
    let before = loops.nests[..last].iter();
    let mut targets = before.flat_map(|nest| nest.stores.iter().map(|store| &store.target));
    (true, targets.any(|target| matches!(target.buffer, BufferId::Output(_))))
}

/// The code of a nest that runs alone; `None` for other nests.
fn standalone_code<E>(
    nest: &LoopNest,
    constants: &[Array],
    parameters: &ConstantParameters,
    compiler: &mut RegionCompiler<'_, E>,
) -> Option<Arc<dyn NestCode>> {
    let level = compiler.level;
    let constant = |buffer| constant(buffer, constants, parameters);
    if let Some(contraction) = Contraction::compile(nest, level, constant) {
        if contraction.has_constants() {
            compiler.contractions.push(Arc::clone(&contraction));
        }
        return Some(contraction);
    }
    Scatter::compile(nest, level)
        .or_else(|| Scan::compile(nest))
        .or_else(|| Sort::compile(nest))
        .or_else(|| TableSearch::compile(nest))
}
