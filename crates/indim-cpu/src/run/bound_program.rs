//! A program bound to sizes, and the run of its nests one after another. Holds unsafe code.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use std::sync::{Arc, OnceLock};

use indim_loops::MemoryUse;
use indim_loops::groups::NestGroup;
use indim_loops::loop_nest::{Access, BufferId, IndexCheck, LoopNest, LoopNests};
use indim_loops::resize::SizedNest;
use indim_loops::scratch::ScratchLayout;
use indim_loops::strides::AxisStrides;
use indim_loops::strides::order::dense;
use indim_ops::{ArrayType, DType};
use smallvec::SmallVec;

use crate::executor::Bases;
use crate::run::compiled_nest::{CompiledNest, bind};
use crate::run::compiled_program::{BufferOffset, CompiledProgram, DenseBindings, SymbolSizes};
use crate::run::error::RunError;
use crate::run::float_environment::DefaultFloatEnvironment;
use crate::run::groups::{CompiledGroup, GroupMember, TiledGroup, may_be_cut};
use crate::run::indices;
use crate::run::options::RunOptions;
use crate::run::threads;
use indim_arrays::{ALIGNMENT, Buffer};
use indim_arrays::{ArrayError, ArrayView, ArrayViewMut, bytes_of_array};

/// Operands of a nest that fit the stack: small nests have short runs, which an allocation would slow down.
const FEW: usize = 16;

/// The nests of a program and their code, bound to sizes.
#[derive(Debug)]
pub(crate) struct BoundProgram {
    pub(crate) program: Arc<CompiledProgram>,
    pub(crate) parameters: Types,
    pub(crate) outputs: Types,
    checks: Vec<IndexCheck>,
    /// The nests bound to dense arrays.
    pub(crate) bound: Arc<DenseBindings>,
    /// The groups that run tile by tile, and their code.
    groups: Vec<NestGroup>,
    grouped: Vec<CompiledGroup>,
    /// The layout of a run's memory: temporaries, counters, and the shared memory of a nest's threads.
    pub(crate) scratch: ScratchLayout,
    /// Offset of the shared memory.
    shared: usize,
    /// The nests over these sizes, computed on demand, if a substitution is needed.
    resized: OnceLock<LoopNests>,
    programs: OnceLock<Vec<CompiledNest>>,
}

type Types = SmallVec<[ArrayType; 2]>;

impl BoundProgram {
    /// Binds the nests; `in_place` has the concrete sizes, in symbol order. Nests whose sizes have not
    /// changed since the binding `before` are reused. `check` is called after each nest and group and may
    /// stop the binding.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn new<E>(
        program: &Arc<CompiledProgram>,
        in_place: SymbolSizes,
        before: Option<&DenseBindings>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let bound = Arc::new(program.bind(in_place, before, &mut check)?);
        let (loops, sizes) = (&program.loops, program.sizes(&bound.in_place));
        let shared_bytes = bound.codes.iter().map(|bound| bound.shared_bytes).max().unwrap_or(0);
        let [parameters, outputs] = loops.resized_types(sizes);
        let mut nests = BoundProgram {
            parameters,
            outputs,
            checks: loops.checks.iter().map(|check| check.resized(sizes)).collect(),
            bound: Arc::clone(&bound),
            groups: Vec::new(),
            grouped: Vec::new(),
            scratch: ScratchLayout::default(),
            shared: 0,
            resized: OnceLock::new(),
            programs: OnceLock::new(),
            program: Arc::clone(program),
        };
        nests.compile_groups(check)?;
        let elsewhere: Vec<usize> = nests.grouped.iter().flat_map(CompiledGroup::inner).collect();
        let together: Vec<_> = nests.grouped.iter().map(|group| group.nests.clone()).collect();
        let lives = &program.lives;
        let mut scratch = ScratchLayout::new(loops, sizes, lives, ALIGNMENT, &elsewhere, &together);
        nests.shared = scratch.append(shared_bytes, ALIGNMENT);
        nests.scratch = scratch;
        Ok(nests)
    }

    /// Compiles the groups for which tiles pay.
    fn compile_groups<E>(&mut self, mut check: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        let program = Arc::clone(&self.program);
        for group in &program.groups {
            let moved = self.bound.codes[group.nests.clone()].iter().map(|bound| bound.moved);
            let moved = moved.fold(0, usize::saturating_add);
            let nests = group.nests.clone().map(|index| self.sized(index));
            if may_be_cut(moved, nests)
                && let Some(compiled) = CompiledGroup::new(self.loops(), group, self.programs())
            {
                self.groups.push(group.clone());
                self.grouped.push(compiled);
            }
            check()?;
        }
        Ok(())
    }

    /// The nests over the sizes of this binding.
    pub(crate) fn loops(&self) -> &LoopNests {
        let (program, in_place) = (&self.program, &self.bound.in_place);
        match in_place.is_empty() {
            true => &program.loops,
            false => self.resized.get_or_init(|| program.loops.resized(program.sizes(in_place))),
        }
    }

    /// Nest `index` over the sizes of this binding.
    fn sized(&self, index: usize) -> SizedNest<'_> {
        SizedNest::new(&self.program.loops.nests[index], self.program.sizes(&self.bound.in_place))
    }

    /// The nests with their code.
    pub(crate) fn programs(&self) -> &[CompiledNest] {
        self.programs.get_or_init(|| {
            let pairs = self.loops().nests.iter().zip(&self.program.codes);
            pairs
                .map(|(nest, program)| CompiledNest::new(nest, Arc::clone(&program.code)))
                .collect()
        })
    }

    /// Weights of whole runs of the nests, in bytes.
    pub(crate) fn works(&self) -> impl Iterator<Item = usize> {
        self.bound.codes.iter().map(|bound| bound.work)
    }

    /// Calls `hear` with each array that a nest reads and the bytes that the nest walks of it.
    pub(crate) fn walked_bytes(&self, mut hear: impl FnMut(BufferId, usize)) {
        for index in 0..self.bound.codes.len() {
            let nest = self.sized(index);
            nest.nest.accesses.iter().for_each(|of| hear(of.buffer, nest.bytes_of(of)));
        }
    }

    /// The groups of nests that run tile by tile.
    pub(crate) fn groups(&self) -> &[NestGroup] {
        &self.groups
    }

    /// The groups and their cut axes.
    pub(crate) fn tiled_groups(&self) -> impl Iterator<Item = TiledGroup> + '_ {
        self.grouped.iter().map(CompiledGroup::described)
    }

    /// Upper bound of the memory in bytes that one thread needs.
    pub(crate) fn thread_bytes(&self) -> usize {
        let codes = self.program.codes.iter().enumerate();
        let alone = codes.map(|(index, program)| program.code.thread_bytes(&self.sized(index)));
        let together = self.grouped.iter().map(CompiledGroup::thread_bytes);
        alone.chain(together).max().unwrap_or(0)
    }

    /// Counts the memory of the binding, without the shared program and without lazily computed fields.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        for types in [&self.parameters, &self.outputs] {
            held.small(types);
            types.iter().for_each(|of| held.shape(&of.shape));
        }
        held.own::<IndexCheck>(self.checks.capacity());
        self.bound.count_bytes(held);
        self.scratch.count_bytes(held);
        held.own::<NestGroup>(self.groups.capacity());
        self.groups.iter().for_each(|group| group.count_bytes(held));
        held.own::<CompiledGroup>(self.grouped.capacity());
        self.grouped.iter().for_each(|group| group.count_bytes(held));
        if !self.grouped.is_empty() {
            held.loops(self.loops());
        }
    }

    /// Runs the nests over checked inputs and outputs. Outputs overlap inputs only where `is_over_input`
    /// says so; it is empty if none does.
    ///
    /// # Errors
    /// When an allocation fails, an index is out of range, or `progress` stops the run.
    pub(crate) fn run(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let _environment = DefaultFloatEnvironment::enter();
        let mut on_stack = MaybeUninit::uninit();
        let scratch = Scratch::new(self.scratch.bytes, &mut on_stack)?;
        let are_row_major = inputs.iter().all(ArrayView::is_row_major)
            && outputs.iter().all(ArrayViewMut::is_row_major);
        let arrays = RunArrays { nests: self, inputs, outputs, are_row_major, scratch: &scratch };
        let mut groups = self.grouped.iter().peekable();
        let mut index = 0;
        while index < self.bound.codes.len() {
            index = match groups.next_if(|group| group.nests.start == index) {
                Some(group) => {
                    self.run_group(group, &arrays, is_over_input, options)?;
                    group.nests.end
                }
                None => {
                    self.run_nest(index, &arrays, is_over_input, options)?;
                    index + 1
                }
            };
        }
        Ok(())
    }

    fn run_nest(
        &self,
        index: usize,
        arrays: &RunArrays<'_, '_, '_>,
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        self.prepare(index, arrays)?;
        let (nest, dense) = (&self.program.loops.nests[index], &self.bound.codes[index]);
        let own;
        let mut operands: SmallVec<[*mut u8; FEW]> = SmallVec::new();
        let bound = match is_over_input.is_empty() && arrays.are_dense(nest) {
            true => {
                // For so few operands a push for each is faster than `extend`.
                let places = self.program.places(index, dense);
                places.iter().for_each(|&place| operands.push(arrays.at(place)));
                &dense.bound
            }
            false => {
                let nest = self.sized(index);
                operands.extend(nest.nest.operands().map(|of| arrays.first(&nest, of)));
                let rank = nest.shape.len();
                let strides =
                    |_, of: &Access| of.strides(rank, &arrays.strides(of, || nest.dense(of)));
                own = bind(&self.program.codes[index].code, &nest, strides, is_over_input);
                &own
            }
        };
        let Some(bound) = bound.as_deref() else { return Ok(()) };
        let bases = Bases { operands: &operands, shared: arrays.scratch.at(self.shared) };
        // SAFETY:
        // - `Executable` has checked the shapes against the views, which vouch for their memory;
        // - outputs and temporaries overlap nothing, except outputs over an input, which the bound nest
        //   knows;
        // - the scratch layout has room for the shared memory;
        // - the level was detected on this processor.
        let flow = unsafe { threads::run(dense.work, bound, &bases, options) };
        if flow.is_break() { Err(RunError::Stopped) } else { Ok(()) }
    }

    /// Writes the counters and checks the indices that nest `index` reads.
    fn prepare(&self, index: usize, arrays: &RunArrays<'_, '_, '_>) -> Result<(), RunError> {
        self.write_counters(index, arrays.scratch);
        for check in self.checks.iter().filter(|check| check.nest == index) {
            let strides = arrays.strides(&check.access, || dense(&check.access.array_type));
            let along = check.access.strides(check.shape.rank(), &strides);
            let place =
                BufferOffset { buffer: check.access.buffer, offset: check.access.offset(&strides) };
            // SAFETY: the views vouch for arrays of the caller; earlier nests have written all others.
            unsafe { indices::check(check, arrays.at(place), &along)? }
        }
        Ok(())
    }

    fn run_group(
        &self,
        group: &CompiledGroup,
        arrays: &RunArrays<'_, '_, '_>,
        is_over_input: &[bool],
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let nests = &self.loops().nests[group.nests.clone()];
        group.nests.clone().try_for_each(|index| self.prepare(index, arrays))?;
        let first_of = |nest: &Arc<LoopNest>| {
            nest.operands().map(|of| arrays.first(&SizedNest::own(nest), of)).collect()
        };
        let firsts = nests.iter().map(first_of);
        let firsts: Vec<Vec<*mut u8>> = firsts.collect();
        let wholes = nests.iter().zip(&firsts).map(|(nest, firsts)| GroupMember {
            nest,
            operands: Bases { operands: firsts, shared: core::ptr::null_mut() },
            strides: nest
                .operands()
                .map(|of| {
                    let strides = arrays.strides(of, || dense(&of.array_type));
                    of.strides(nest.shape.rank(), &strides)
                })
                .collect(),
        });
        let wholes: Vec<GroupMember<'_>> = wholes.collect();
        let are_dense = nests.iter().all(|nest| arrays.are_dense(nest));
        // SAFETY: as in `run_nest`, for all nests; `written_over_inputs` has asked the group which outputs
        // may lie over inputs.
        unsafe { group.run(&wholes, are_dense, is_over_input, options) }
    }

    /// Whether an output may have been written before an index is found out of range.
    pub(crate) fn writes_before_checks(&self) -> bool {
        let loops = &self.program.loops;
        let Some(last) = loops.checks.last() else { return false };
        let before = loops.nests[..last.nest].iter();
        let mut targets = before.flat_map(|nest| nest.stores.iter().map(|store| &store.target));
        targets.any(|target| matches!(target.buffer, BufferId::Output(_)))
    }

    /// Writes the counters whose first reader is this nest.
    fn write_counters(&self, nest: usize, scratch: &Scratch<'_>) {
        let CompiledProgram { loops, executor, level, .. } = &*self.program;
        for (index, &(dtype, length)) in loops.counters.iter().enumerate() {
            if self.scratch.counter_nests[index] == nest {
                let first = scratch.at(self.scratch.counters[index]);
                let length = self.program.sizes(&self.bound.in_place).of(length);
                // SAFETY: the scratch layout has room for `length` elements, and no nest has read them yet.
                unsafe { executor.write_counter(first, dtype, length, *level) }
            }
        }
    }
}

/// Memory for the temporaries and counters of a run.
pub(crate) struct Scratch<'n> {
    first: *mut u8,
    /// Owner of the memory; `None` for memory on the stack.
    _buffer: Option<Buffer>,
    _on_stack: PhantomData<&'n mut StackMemory>,
}

/// Memory on the stack for the temporaries of small runs.
#[repr(align(64))]
pub(crate) struct StackMemory(#[allow(dead_code)] [u8; 1024]);

const _: () = assert!(align_of::<StackMemory>() >= ALIGNMENT);

impl<'n> Scratch<'n> {
    pub(crate) fn new(
        bytes: usize,
        on_stack: &'n mut MaybeUninit<StackMemory>,
    ) -> Result<Self, ArrayError> {
        if bytes <= size_of::<StackMemory>() {
            let first = on_stack.as_mut_ptr().cast();
            return Ok(Scratch { first, _buffer: None, _on_stack: PhantomData });
        }
        if isize::try_from(bytes).is_err() {
            return Err(ArrayError::OutOfMemory { bytes });
        }
        // SAFETY: each temporary is written by one nest before others read it, and counters are written
        // before their first reader.
        let mut buffer = unsafe { Buffer::uninitialised(ArrayType::new(DType::U8, [bytes]))? };
        let first = buffer.as_mut_ptr().as_ptr();
        Ok(Scratch { first, _buffer: Some(buffer), _on_stack: PhantomData })
    }

    pub(crate) fn at(&self, place: usize) -> *mut u8 {
        self.first.wrapping_add(place)
    }
}

/// The arrays of a run.
struct RunArrays<'a, 'i, 'o> {
    nests: &'a BoundProgram,
    inputs: &'a [ArrayView<'i>],
    outputs: &'a mut [ArrayViewMut<'o>],
    /// Whether all inputs and outputs are row-major, the common case.
    are_row_major: bool,
    scratch: &'a Scratch<'a>,
}

impl RunArrays<'_, '_, '_> {
    /// Address of the first element that a nest walks.
    fn first(&self, nest: &SizedNest<'_>, access: &Access) -> *mut u8 {
        let offset = match access.begins_at_first() {
            true => 0,
            false => access.offset(&self.strides(access, || nest.dense(access))),
        };
        self.at(BufferOffset { buffer: access.buffer, offset })
    }

    #[inline(always)]
    fn at(&self, place: BufferOffset) -> *mut u8 {
        let BoundProgram { program, scratch: layout, .. } = self.nests;
        let first = match place.buffer {
            BufferId::Parameter(index) => self.inputs[index].first(),
            BufferId::Output(index) => self.outputs[index].first(),
            BufferId::Constant(index) => {
                bytes_of_array(&program.loops.constants[index]).as_ptr().cast_mut()
            }
            BufferId::Counter(index) => self.scratch.at(layout.counters[index]),
            BufferId::Temporary(index) => self.scratch.at(layout.temporaries[index]),
        };
        first.wrapping_offset(place.offset)
    }

    /// Strides of the array's own axes in bytes; `dense` computes them for arrays of the run.
    fn strides(&self, access: &Access, dense: impl FnOnce() -> AxisStrides) -> AxisStrides {
        match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].strides().into(),
            BufferId::Output(index) => self.outputs[index].strides().into(),
            _ => dense(),
        }
    }

    /// Whether all arrays of a nest are row-major.
    fn are_dense(&self, nest: &LoopNest) -> bool {
        let is_dense = |access: &Access| match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].is_row_major(),
            BufferId::Output(index) => self.outputs[index].is_row_major(),
            _ => true,
        };
        self.are_row_major || nest.operands().all(is_dense)
    }
}
