//! A program bound to sizes, and the run of its nests one after another. Holds unsafe code.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use indim_loops::MemoryUse;
use indim_loops::groups::NestGroup;
use indim_loops::loop_nest::{Access, BufferId, Local, LoopNest, LoopNests};
use indim_loops::replace::can_replace;
use indim_loops::resize::{SizedNest, Sizes};
use indim_loops::scratch::ScratchLayout;
use indim_ops::ArrayType;
use smallvec::SmallVec;

use crate::run::compiled_nest::{CompiledNest, bind};
use crate::run::compiled_program::{CompiledProgram, DenseBindings, SymbolSizes};
use crate::run::control::ControlCode;
use crate::run::dense_strides::row_major_strides;
use crate::run::error::RunError;
use crate::run::float_environment::DefaultFloatEnvironment;
use crate::run::group_cut::{GroupCut, choose_groups, may_be_cut};
use crate::run::groups::{CompiledGroup, GroupMember, TiledGroup};
use crate::run::indices::BoundCheck;
use crate::run::options::RunOptions;
use crate::run::run_arrays::{BufferOffset, RunArrays, Views};
use crate::run::scratch::{Scratch, ScratchMemory};
use crate::run::threads;
use indim_arrays::{ALIGNMENT, ArrayView, ArrayViewMut};
use indim_executors::{Bases, BoundNest};

/// Number of operands of a nest whose addresses fit inline. An allocation would slow down the short runs
/// of small nests.
const INLINE_OPERANDS: usize = 16;

/// A program bound to sizes.
#[derive(Debug)]
pub(crate) struct BoundProgram {
    pub(crate) compiled: Arc<CompiledProgram>,
    pub(crate) parameters: Types,
    pub(crate) outputs: Types,
    checks: Vec<BoundCheck>,
    /// The nests bound to dense arrays.
    pub(crate) bindings: Arc<DenseBindings>,
    /// The groups that run tile by tile, and the code of each.
    groups: Vec<NestGroup>,
    compiled_groups: Vec<CompiledGroup>,
    /// Layout of the memory of a run: temporaries, counters, and the memory that the threads of a nest share.
    pub(crate) scratch: ScratchLayout,
    /// Offset of the shared memory, in bytes.
    shared_offset: usize,
    /// The nests with these sizes, computed on demand; unused if the program has no symbols.
    resized_loops: OnceLock<LoopNests>,
    /// The nests with their code, computed on demand.
    compiled_nests: OnceLock<Vec<CompiledNest>>,
}

type Types = SmallVec<[ArrayType; 2]>;

/// The first addresses of the operands of a nest.
pub(crate) type Addresses = SmallVec<[*mut u8; INLINE_OPERANDS]>;

impl BoundProgram {
    /// Binds the nests to concrete sizes, in symbol order. Reuses the nests of the binding `before` whose
    /// sizes are equal. `check` is called after each nest and group and may stop the binding.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn new<E>(
        compiled: &Arc<CompiledProgram>,
        symbol_sizes: SymbolSizes,
        before: Option<&DenseBindings>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let bindings = Arc::new(compiled.bind(symbol_sizes, before, &mut check)?);
        let (loops, sizes) = (&compiled.loops, Sizes(&bindings.symbol_sizes));
        let [parameters, outputs] = loops.resized_types(sizes);
        let mut bound_program = BoundProgram {
            parameters,
            outputs,
            checks: loops.checks.iter().map(|check| BoundCheck::new(check, sizes)).collect(),
            bindings: Arc::clone(&bindings),
            groups: Vec::new(),
            compiled_groups: Vec::new(),
            scratch: ScratchLayout::default(),
            shared_offset: 0,
            resized_loops: OnceLock::new(),
            compiled_nests: OnceLock::new(),
            compiled: Arc::clone(compiled),
        };
        bound_program.compile_groups(check)?;
        let shared_bytes = bindings.nests.iter().enumerate().map(|(index, nest)| {
            // A group has memory of its own.
            if bound_program.is_in_group(index) { 0 } else { nest.shared_bytes }
        });
        let shared_bytes = shared_bytes.max().unwrap_or(0);
        let tile_temporaries: Vec<usize> =
            bound_program.compiled_groups.iter().flat_map(CompiledGroup::inner).collect();
        let group_ranges: Vec<_> =
            bound_program.compiled_groups.iter().map(|group| group.nests.clone()).collect();
        let live_ranges = &compiled.live_ranges;
        let mut scratch = ScratchLayout::new(
            loops,
            sizes,
            live_ranges,
            ALIGNMENT,
            &tile_temporaries,
            &group_ranges,
        );
        bound_program.shared_offset = scratch.append(shared_bytes, ALIGNMENT);
        bound_program.scratch = scratch;
        Ok(bound_program)
    }

    /// Compiles the groups that gain from tiles.
    fn compile_groups<E>(&mut self, mut check: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        let program = Arc::clone(&self.compiled);
        let mut cuts = Vec::with_capacity(program.groups.len());
        for group in &program.groups {
            let moved = self.bindings.nests[group.nests.clone()].iter().map(|bound| bound.moved);
            let moved = moved.fold(0, usize::saturating_add);
            let nests = group.nests.clone().map(|index| self.sized(index));
            let is_large = may_be_cut(moved, &program.loops, group, nests);
            cuts.push(if is_large { GroupCut::new(self.loops(), group) } else { None });
            check()?;
        }
        for index in choose_groups(&program.groups, &cuts) {
            let (group, cut) = (&program.groups[index], cuts[index].take());
            let compiled = cut.and_then(|cut| {
                CompiledGroup::new(self.loops(), group, cut, self.compiled_nests())
            });
            if let Some(compiled) = compiled {
                self.groups.push(group.clone());
                self.compiled_groups.push(compiled);
            }
            check()?;
        }
        Ok(())
    }

    /// The nests with the sizes of this binding.
    pub(crate) fn loops(&self) -> &LoopNests {
        let (program, symbol_sizes) = (&self.compiled, &self.bindings.symbol_sizes);
        match symbol_sizes.is_empty() {
            true => &program.loops,
            false => self.resized_loops.get_or_init(|| program.loops.resized(Sizes(symbol_sizes))),
        }
    }

    /// Nest `index` with the sizes of this binding.
    fn sized(&self, index: usize) -> SizedNest<'_> {
        SizedNest::new(&self.compiled.loops.nests[index], Sizes(&self.bindings.symbol_sizes))
    }

    /// The nests with their code.
    pub(crate) fn compiled_nests(&self) -> &[CompiledNest] {
        self.compiled_nests.get_or_init(|| {
            let pairs = self.loops().nests.iter().zip(&self.compiled.nests);
            pairs
                .map(|(nest, compiled)| CompiledNest::new(nest, Arc::clone(&compiled.code)))
                .collect()
        })
    }

    /// Cost of a whole run of each nest, in bytes moved.
    pub(crate) fn nest_work(&self) -> impl Iterator<Item = usize> {
        self.bindings.nests.iter().map(|bound| bound.work)
    }

    /// The bytes that these nests read and write, a nest that runs alone or those of a group. A group counts
    /// an array once, and not at all if each tile keeps its part in the cache. `None` for a loop or branch,
    /// whose steps only a run counts.
    pub(crate) fn bytes_of(&self, nests: Range<usize>) -> Option<usize> {
        if self.compiled.nests[nests.clone()].iter().any(|nest| nest.control.is_some()) {
            return None;
        }
        let Some(group) = self.compiled_groups.iter().find(|group| group.nests == nests) else {
            return Some(self.bindings.nests[nests].iter().map(|bound| bound.moved).sum());
        };
        let inner: SmallVec<[usize; 4]> = group.inner().collect();
        let mut buffers: Vec<(BufferId, usize)> = Vec::new();
        for index in nests {
            let nest = self.sized(index);
            for access in nest.nest.operands() {
                if matches!(access.buffer, BufferId::Temporary(index) if inner.contains(&index)) {
                    continue;
                }
                let bytes = nest.accessed_bytes(access);
                match buffers.iter_mut().find(|(buffer, _)| *buffer == access.buffer) {
                    Some((_, largest)) => *largest = bytes.max(*largest),
                    None => buffers.push((access.buffer, bytes)),
                }
            }
        }
        Some(buffers.iter().map(|&(_, bytes)| bytes).fold(0, usize::saturating_add))
    }

    /// Cost of a whole run in bytes moved; saturates.
    pub(crate) fn work(&self) -> usize {
        self.nest_work().fold(0, usize::saturating_add)
    }

    /// Calls `visit` with each array that a nest reads and the bytes that the nest reads of it.
    pub(crate) fn for_each_read(&self, mut visit: impl FnMut(BufferId, usize)) {
        for index in 0..self.bindings.nests.len() {
            let nest = self.sized(index);
            // A loop or branch may read all elements of its operands.
            let is_whole = self.compiled.nests[index].control.is_some();
            let bytes =
                |of: &Access| if is_whole { nest.array_bytes(of) } else { nest.accessed_bytes(of) };
            nest.nest.accesses.iter().for_each(|of| visit(of.buffer, bytes(of)));
        }
    }

    /// Whether any nests run tile by tile together.
    pub(crate) fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The groups and their cut axes.
    pub(crate) fn tiled_groups(&self) -> impl Iterator<Item = TiledGroup> + '_ {
        self.compiled_groups.iter().map(CompiledGroup::describe)
    }

    /// Upper bound of the memory in bytes that one thread needs.
    pub(crate) fn thread_bytes(&self) -> usize {
        let nests = self.compiled.nests.iter().enumerate();
        let alone = nests
            .filter(|&(index, _)| !self.is_in_group(index))
            .map(|(index, nest)| nest.code.thread_bytes(&self.sized(index)));
        let together = self.compiled_groups.iter().map(CompiledGroup::thread_bytes);
        alone.chain(together).max().unwrap_or(0)
    }

    /// Counts the memory of the binding. The shared program and fields computed on demand are not included.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        for types in [&self.parameters, &self.outputs] {
            memory_use.add_small_vec(types);
            types.iter().for_each(|of| memory_use.add_shape(&of.shape));
        }
        memory_use.add_allocation::<BoundCheck>(self.checks.capacity());
        self.checks.iter().for_each(|check| check.count_bytes(memory_use));
        self.bindings.count_bytes(memory_use);
        self.scratch.count_bytes(memory_use);
        memory_use.add_allocation::<NestGroup>(self.groups.capacity());
        self.groups.iter().for_each(|group| group.count_bytes(memory_use));
        memory_use.add_allocation::<CompiledGroup>(self.compiled_groups.capacity());
        self.compiled_groups.iter().for_each(|group| group.count_bytes(memory_use));
        if !self.compiled_groups.is_empty() {
            memory_use.add_loops(self.loops());
        }
    }

    /// Runs the nests over checked inputs and outputs. `is_over_input` tells for each output whether it lies
    /// exactly over an input; other overlaps do not exist. It is empty if no output does.
    ///
    /// # Errors
    /// If an allocation fails, an index is out of range, or `progress` stops the run.
    pub(crate) fn run(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let _environment = DefaultFloatEnvironment::enter();
        let mut memory = ScratchMemory::new();
        let scratch = Scratch::new(self.scratch.bytes, &mut memory)?;
        self.run_on(inputs, outputs, is_over_input, scratch, options)
    }

    /// Like [`BoundProgram::run`], with memory for the temporaries, in the default floating-point
    /// environment.
    pub(crate) fn run_on(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        is_over_input: &[bool],
        scratch: Scratch<'_>,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let (inputs, outputs) = (Views::Borrowed(inputs), Views::Borrowed(&*outputs));
        let arrays = self.arrays(inputs, outputs, is_over_input, scratch);
        self.run_nests_and_groups(&arrays, is_over_input, options, |index| {
            self.run_nest(index, &arrays, is_over_input, options)
        })
    }

    /// The arrays of a run of this program. The run leaves out copies, unless an output lies over an input.
    pub(crate) fn arrays<'a>(
        &'a self,
        inputs: Views<'a, ArrayView<'a>>,
        outputs: Views<'a, ArrayViewMut<'a>>,
        is_over_input: &[bool],
        scratch: Scratch<'a>,
    ) -> RunArrays<'a> {
        let constants = &self.compiled.loops.constants;
        let mut arrays = RunArrays::new(constants, &self.scratch, inputs, outputs, scratch);
        // A copy keeps the elements of an input that an output overwrites.
        if !is_over_input.contains(&true) {
            let copies = self.compiled.whole_copies.iter();
            arrays.omit_copies(copies.filter(|copy| !self.is_in_group(copy.nest)));
        }
        arrays
    }

    /// Runs the groups, and the nests outside of groups with `run_nest`, in order.
    pub(crate) fn run_nests_and_groups(
        &self,
        arrays: &RunArrays<'_>,
        is_over_input: &[bool],
        options: &RunOptions<'_>,
        mut run_nest: impl FnMut(usize) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut groups = self.compiled_groups.iter().peekable();
        let mut index = 0;
        while index < self.bindings.nests.len() {
            let (first, started) = (index, options.nest_times.map(|_| Instant::now()));
            index = match groups.next_if(|group| group.nests.start == index) {
                Some(group) => {
                    self.run_group(group, arrays, is_over_input, options)?;
                    group.nests.end
                }
                None => {
                    run_nest(index)?;
                    index + 1
                }
            };
            if let (Some(nest_times), Some(started)) = (options.nest_times, started) {
                nest_times(&(first..index), started.elapsed());
            }
        }
        Ok(())
    }

    /// Runs a nest; if the nest is a loop or branch, runs its programs.
    pub(crate) fn run_nest(
        &self,
        index: usize,
        arrays: &RunArrays<'_>,
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        self.prepare(index, arrays)?;
        // The checks of indices may be due before a nest that is left out.
        if arrays.is_omitted(index) {
            return Ok(());
        }
        if let Some(control) = &self.compiled.nests[index].control {
            return self.run_control(control, index, arrays, options);
        }
        let (mut operands, mut own) = (SmallVec::new(), None);
        let bound = self.bind_to_arrays(index, arrays, is_over_input, &mut operands, &mut own);
        let Some(bound) = bound else { return Ok(()) };
        let work = self.bindings.nests[index].work;
        // SAFETY: `bind_to_arrays` has bound the nest to these arrays and gives the addresses in them.
        unsafe { self.run_bound(bound, work, &operands, arrays, options) }
    }

    /// Runs a nest of `work` bytes that is bound to these arrays, with the first address of each operand.
    ///
    /// # Safety
    /// [`BoundProgram::bind_to_arrays`] has given the nest and the addresses, for these arrays and the
    /// `is_over_input` of the run.
    pub(crate) unsafe fn run_bound(
        &self,
        bound: &dyn BoundNest,
        work: usize,
        operands: &[*mut u8],
        arrays: &RunArrays<'_>,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let bases = Bases { operands, shared: self.shared_memory(arrays) };
        // SAFETY:
        // - `Executable` has checked the types of the views against the program, and a view's constructor
        //   ensures that all its elements are valid;
        // - temporaries and counters lie in `scratch`, at the offsets of its layout;
        // - outputs do not overlap each other: they are new buffers, or `check_overlap` has accepted them;
        // - an output overlaps an input only if `is_over_input` says so, and `bound` was bound with
        //   `is_over_input`;
        // - the layout of `scratch` has room for the shared memory of the largest nest;
        // - a `Level` exists only on a processor that has it.
        let flow = unsafe { threads::run(work, bound, &bases, options) };
        if flow.is_break() { Err(RunError::Stopped) } else { Ok(()) }
    }

    /// Nest `index` bound to these arrays, and the first address of each of its operands. `None` for a
    /// nest without elements, and for a loop or branch. If the arrays are not dense, or an output of the
    /// nest lies over an input, `own` holds the binding.
    pub(crate) fn bind_to_arrays<'a>(
        &'a self,
        index: usize,
        arrays: &RunArrays<'_>,
        is_over_input: &[bool],
        operands: &mut Addresses,
        own: &'a mut Option<Arc<dyn BoundNest>>,
    ) -> Option<&'a dyn BoundNest> {
        let (nest, dense) = (&self.compiled.loops.nests[index], &self.bindings.nests[index]);
        let is_over = |access: &Access| match access.buffer {
            BufferId::Output(output) => is_over_input.get(output) == Some(&true),
            _ => false,
        };
        let are_over = !is_over_input.is_empty() && nest.operands().any(is_over);
        if !are_over && arrays.are_dense(nest) {
            // For few operands a push for each is faster than `extend`.
            let addresses = self.compiled.addresses(index, dense);
            addresses.iter().for_each(|&address| operands.push(arrays.at(address)));
            return dense.bound.as_deref();
        }
        let nest = self.sized(index);
        operands.extend(nest.nest.operands().map(|of| arrays.first(&nest, of)));
        let rank = nest.shape.len();
        let strides =
            |_, of: &Access| of.strides(rank, &arrays.strides(of, || nest.dense_array_strides(of)));
        *own = bind(&self.compiled.nests[index].code, &nest, strides, is_over_input);
        own.as_deref()
    }

    /// Whether nest `index` is in a group.
    pub(crate) fn is_in_group(&self, index: usize) -> bool {
        self.compiled_groups.iter().any(|group| group.nests.contains(&index))
    }

    /// Whether an output may lie over a parameter of the same type; see [`can_replace`].
    pub(crate) fn can_replace(&self, parameter: usize, output: usize) -> bool {
        let loops = &self.compiled.loops;
        can_replace(loops, parameter, output)
            && self.groups.iter().all(|group| group.can_replace(loops, parameter, output))
    }

    /// Runs the loop or branch that nest `index` is.
    fn run_control(
        &self,
        control: &ControlCode,
        index: usize,
        arrays: &RunArrays<'_>,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let (operands, mut outputs) = self.control_views(control, index, arrays);
        let memory = self.shared_memory(arrays);
        // Times are those of the nests of this program; the loop or branch is one of them.
        let options = &RunOptions { nest_times: None, ..*options };
        // SAFETY:
        // - lowering gives a loop or branch its operands and results as whole arrays of these types;
        // - temporaries and outputs do not overlap, and no output of a loop or branch lies over an input
        //   (`can_replace`);
        // - the layout of `scratch` has room for the shared memory of the largest nest.
        unsafe { control.run(&operands, &mut outputs, memory, options) }
    }

    /// The operands and results of the loop or branch that nest `index` is.
    pub(crate) fn control_views<'v>(
        &self,
        control: &ControlCode,
        index: usize,
        arrays: &RunArrays<'v>,
    ) -> (Vec<ArrayView<'v>>, Vec<ArrayViewMut<'v>>) {
        let nest = &self.compiled.loops.nests[index];
        let read = |&local: &Local| Some(arrays.view(&nest.accesses[local.access()?]));
        let operands = nest.instructions[0].operands.iter().map(read).collect::<Option<_>>();
        let stores = nest.stores.iter().enumerate();
        let outputs =
            stores.map(|(number, store)| arrays.view_mut(&store.target, control.result(number)));
        (
            operands.expect("invariant: the operands of a loop or branch are in memory"),
            outputs.collect(),
        )
    }

    /// The memory that the threads of a nest share, or that a loop or branch uses.
    pub(crate) fn shared_memory(&self, arrays: &RunArrays<'_>) -> *mut u8 {
        arrays.scratch.at(self.shared_offset)
    }

    /// Writes the counters and checks the indices that nest `index` reads.
    pub(crate) fn prepare(&self, index: usize, arrays: &RunArrays<'_>) -> Result<(), RunError> {
        self.write_counters(index, arrays.scratch);
        for bound in self.checks.iter().filter(|bound| bound.check.nest == index) {
            let access = &bound.check.access;
            let strides = arrays.strides(access, || row_major_strides(&bound.array_type));
            let along = access.strides(bound.shape.rank(), &strides);
            let offset = access.offset(&strides, Sizes(&self.bindings.symbol_sizes));
            let first = BufferOffset { buffer: access.buffer, offset };
            // SAFETY:
            // - the elements of a view are valid, by its constructor;
            // - all other arrays have been written: counters above, the rest by earlier nests.
            unsafe { bound.check(arrays.at(first), &along)? }
        }
        Ok(())
    }

    /// Whether [`BoundProgram::prepare`] has anything to do for nest `index`.
    pub(crate) fn is_prepared(&self, index: usize) -> bool {
        self.scratch.counter_nests.contains(&index)
            || self.checks.iter().any(|bound| bound.check.nest == index)
    }

    /// Prepares the nests of a group, and runs the group tile by tile.
    fn run_group(
        &self,
        group: &CompiledGroup,
        arrays: &RunArrays<'_>,
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let nests = &self.loops().nests[group.nests.clone()];
        group.nests.clone().try_for_each(|index| self.prepare(index, arrays))?;
        let first_of = |nest: &Arc<LoopNest>| {
            nest.operands().map(|of| arrays.first(&SizedNest::with_own_sizes(nest), of)).collect()
        };
        let firsts = nests.iter().map(first_of);
        let firsts: Vec<Vec<*mut u8>> = firsts.collect();
        let members = nests.iter().zip(&firsts).map(|(nest, firsts)| GroupMember {
            nest,
            operands: Bases { operands: firsts, shared: core::ptr::null_mut() },
            strides: nest
                .operands()
                .map(|of| {
                    let dense = || row_major_strides(&of.array_type.concrete());
                    let strides = arrays.strides(of, dense);
                    of.strides(nest.shape.rank(), &strides)
                })
                .collect(),
        });
        let members: Vec<GroupMember<'_>> = members.collect();
        let are_dense = nests.iter().all(|nest| arrays.are_dense(nest));
        // SAFETY:
        // - the obligations of `run_nest` hold for each nest of the group, for the same reasons;
        // - `written_over_inputs` lets an output lie over an input only if `NestGroup::can_replace` allows
        //   it.
        unsafe { group.run(&members, are_dense, is_over_input, options) }
    }

    /// Writes the counters whose first reader is this nest.
    fn write_counters(&self, nest: usize, scratch: Scratch<'_>) {
        let CompiledProgram { loops, executor, level, .. } = &*self.compiled;
        for (index, &(dtype, length)) in loops.counters.iter().enumerate() {
            if self.scratch.counter_nests[index] == nest {
                let first = scratch.at(self.scratch.counters[index]);
                let length = length.resolve(&self.bindings.symbol_sizes);
                // SAFETY: the layout of `scratch` has room for `length` elements, and no nest has read them
                // yet.
                unsafe { executor.write_counter(first, dtype, length, *level) }
            }
        }
    }
}
