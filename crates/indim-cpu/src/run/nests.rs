//! The compiled nests of an executable, and how they run one after another. Holds unsafe code.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use std::sync::Arc;

use indim_graph::Array;
use indim_kernels::Level;
use indim_loops::HeldBytes;
use indim_loops::groups::{NestGroup, groups as find_groups};
use indim_loops::loop_nest::{Access, BufferId, LoopNest, LoopNests};
use indim_loops::scratch::ScratchLayout;
use indim_loops::strides::AxisStrides;
use indim_loops::strides::order::dense;
use indim_ops::{ArrayType, DType};
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest, Executor, NestCode};
use crate::run::error::RunError;
use crate::run::groups::{CompiledGroup, NestParts, WholeNest};
use crate::run::indices;
use crate::run::options::Progress;
use crate::run::program::Program;
use crate::run::threads;
use indim_arrays::{ALIGNMENT, Buffer};
use indim_arrays::{ArrayError, ArrayView, ArrayViewMut, bytes_of_array};

/// The operands of small nests, whose runs are short, need no memory of their own.
const FEW: usize = 16;

/// A graph as loop nests, compiled by an executor.
#[derive(Debug)]
pub(crate) struct CompiledNests {
    pub(crate) loops: LoopNests,
    pub(crate) programs: Vec<Program>,
    /// Each program bound to dense arrays.
    dense: Vec<Dense>,
    /// The groups that run part by part, and what they are compiled to.
    groups: Vec<NestGroup>,
    grouped: Vec<CompiledGroup>,
    /// The memory of a run, with that which the threads of a nest share.
    pub(crate) scratch: ScratchLayout,
    /// Where shared memory begins.
    shared: usize,
    executor: &'static dyn Executor,
    pub(crate) level: Level,
}

/// A nest compiled, and bound to dense arrays.
#[derive(Debug, Clone)]
pub(crate) struct CompiledNest {
    program: Program,
    dense: Dense,
}

/// A nest bound to dense arrays.
#[derive(Debug, Clone)]
struct Dense {
    /// `None` where there is nothing to do.
    bound: Option<Arc<dyn BoundNest>>,
    /// Where its operands begin.
    places: SmallVec<[Place; 3]>,
}

impl CompiledNest {
    pub(crate) fn new(nest: &Arc<LoopNest>, code: Arc<dyn NestCode>) -> CompiledNest {
        let program = Program::new(nest, code);
        let places = nest.operands().map(Place::new).collect();
        CompiledNest { dense: Dense { bound: program.bind_dense(), places }, program }
    }
}

/// Where an operand of a nest begins in an array that is dense, in bytes.
#[derive(Debug, Clone, Copy)]
struct Place {
    buffer: BufferId,
    offset: isize,
}

impl Place {
    fn new(access: &Access) -> Place {
        let offset = match access.begins_at_first() {
            true => 0,
            false => access.offset(&dense(&access.array_type)),
        };
        Place { buffer: access.buffer, offset }
    }
}

impl CompiledNests {
    /// Compiles the nests for `level`; `check` is called after each part of the work, and may end it.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn new<E>(
        loops: LoopNests,
        executor: &'static dyn Executor,
        level: Level,
        check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let constants: Arc<[Array]> = loops.constants.iter().cloned().collect();
        let compile = |_, nest: &Arc<LoopNest>| {
            CompiledNest::new(nest, executor.compile(nest, &constants, level))
        };
        let groups = find_groups(&loops);
        CompiledNests::with(loops, &groups, executor, level, compile, check)
    }

    /// As [`CompiledNests::new`], where it is known which nests may run together, and `compile` gives a nest,
    /// by its number.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn with<E>(
        loops: LoopNests,
        all_groups: &[NestGroup],
        executor: &'static dyn Executor,
        level: Level,
        compile: impl Fn(usize, &Arc<LoopNest>) -> CompiledNest,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut programs = Vec::with_capacity(loops.nests.len());
        let mut dense = Vec::with_capacity(loops.nests.len());
        for (index, nest) in loops.nests.iter().enumerate() {
            let compiled = compile(index, nest);
            dense.push(compiled.dense);
            programs.push(compiled.program);
            check()?;
        }
        let (mut groups, mut grouped) = (Vec::new(), Vec::new());
        for group in all_groups {
            if let Some(compiled) = CompiledGroup::new(&loops, group, &programs) {
                groups.push(group.clone());
                grouped.push(compiled);
            }
            check()?;
        }
        let elsewhere: Vec<usize> = grouped.iter().flat_map(CompiledGroup::inner).collect();
        let together: Vec<_> = grouped.iter().map(|group| group.nests.clone()).collect();
        let mut scratch = ScratchLayout::new(&loops, ALIGNMENT, &elsewhere, &together);
        let shared_bytes = programs.iter().map(Program::shared_bytes).max().unwrap_or(0);
        let shared = scratch.append(shared_bytes, ALIGNMENT);
        Ok(CompiledNests {
            loops,
            programs,
            dense,
            groups,
            grouped,
            scratch,
            shared,
            executor,
            level,
        })
    }

    /// The groups of nests that run part by part.
    pub(crate) fn groups(&self) -> &[NestGroup] {
        &self.groups
    }

    /// How the groups are cut into parts.
    pub(crate) fn parts(&self) -> impl Iterator<Item = NestParts> + '_ {
        self.grouped.iter().map(CompiledGroup::described)
    }

    /// The most bytes of memory that a thread needs.
    pub(crate) fn thread_bytes(&self) -> usize {
        let alone = self.programs.iter().map(Program::thread_bytes);
        let together = self.grouped.iter().map(CompiledGroup::thread_bytes);
        alone.chain(together).max().unwrap_or(0)
    }

    /// The bytes of what has been made of them since they were compiled.
    pub(crate) fn made_bytes(&self) -> usize {
        self.programs.iter().map(Program::made_bytes).sum()
    }

    /// Counts the memory that they hold.
    pub(crate) fn count_bytes(&self, held: &mut HeldBytes) {
        held.loops(&self.loops);
        held.own::<Program>(self.programs.capacity());
        self.programs.iter().for_each(|program| program.count_bytes(held));
        held.own::<Dense>(self.dense.capacity());
        for Dense { bound, places } in &self.dense {
            bound.iter().for_each(|bound| bound.count_bytes(held));
            held.small(places);
        }
        self.scratch.count_bytes(held);
        held.own::<NestGroup>(self.groups.capacity());
        self.groups.iter().for_each(|group| group.count_bytes(held));
        held.own::<CompiledGroup>(self.grouped.capacity());
        self.grouped.iter().for_each(|group| group.count_bytes(held));
    }

    /// Runs the nests; inputs and outputs have been checked, and overlap only where an output was
    /// found to be `is_over_input`, which is empty if none was.
    ///
    /// # Errors
    /// When memory for temporaries cannot be had, an index names no element, or `progress` stops the run.
    pub(crate) fn run(
        &self,
        inputs: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        is_over_input: &[bool],
        progress: &Progress<'_>,
    ) -> Result<(), RunError> {
        let mut near = MaybeUninit::uninit();
        let scratch = Scratch::new(self.scratch.bytes, &mut near)?;
        let are_row_major = inputs.iter().all(ArrayView::is_row_major)
            && outputs.iter().all(ArrayViewMut::is_row_major);
        let arrays = RunArrays { nests: self, inputs, outputs, are_row_major, scratch: &scratch };
        let mut groups = self.grouped.iter().peekable();
        let mut index = 0;
        while index < self.programs.len() {
            index = match groups.next_if(|group| group.nests.start == index) {
                Some(group) => {
                    self.run_group(group, &arrays, is_over_input, progress)?;
                    group.nests.end
                }
                None => {
                    self.run_nest(index, &arrays, is_over_input, progress)?;
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
        progress: &Progress<'_>,
    ) -> Result<(), RunError> {
        self.prepare(index, arrays)?;
        let program = &self.programs[index];
        let nest = program.nest();
        let own;
        let mut operands: SmallVec<[*mut u8; FEW]> = SmallVec::new();
        let bound = match is_over_input.is_empty() && arrays.are_dense(nest) {
            true => {
                // Few, so that a push for each is faster than `extend`.
                let Dense { bound, places } = &self.dense[index];
                places.iter().for_each(|&place| operands.push(arrays.at(place)));
                bound
            }
            false => {
                operands.extend(nest.operands().map(|operand| arrays.first(operand)));
                let rank = nest.shape.rank();
                let strides = |_, access: &Access| access.strides(rank, &arrays.strides(access));
                own = program.bind(strides, is_over_input);
                &own
            }
        };
        let Some(bound) = bound.as_deref() else { return Ok(()) };
        let bases = Bases { operands: &operands, shared: arrays.scratch.at(self.shared) };
        // SAFETY: shapes were checked against the views, which vouch for their memory; outputs
        // and temporaries overlap nothing, but for outputs over an input, of which the bound
        // nest knows; the layout has room for what is shared; the level was detected.
        let flow = unsafe { threads::run(program, bound, &bases, progress) };
        if flow.is_break() { Err(RunError::Stopped) } else { Ok(()) }
    }

    /// Writes the counters, and checks the indices, that the nest of this index needs first.
    fn prepare(&self, index: usize, arrays: &RunArrays<'_, '_, '_>) -> Result<(), RunError> {
        self.write_counters(index, arrays.scratch);
        for check in self.loops.checks.iter().filter(|check| check.nest == index) {
            let strides = arrays.strides(&check.access);
            let along = check.access.strides(check.shape.rank(), &strides);
            // SAFETY: the views vouch for what is given; the rest earlier nests have written.
            unsafe { indices::check(check, arrays.first(&check.access), &along)? }
        }
        Ok(())
    }

    fn run_group(
        &self,
        group: &CompiledGroup,
        arrays: &RunArrays<'_, '_, '_>,
        is_over_input: &[bool],
        progress: &Progress<'_>,
    ) -> Result<(), RunError> {
        let nests = &self.loops.nests[group.nests.clone()];
        group.nests.clone().try_for_each(|index| self.prepare(index, arrays))?;
        let firsts = nests.iter().map(|nest| nest.operands().map(|o| arrays.first(o)).collect());
        let firsts: Vec<Vec<*mut u8>> = firsts.collect();
        let wholes = nests.iter().zip(&firsts).map(|(nest, firsts)| WholeNest {
            nest,
            operands: Bases { operands: firsts, shared: core::ptr::null_mut() },
            strides: nest
                .operands()
                .map(|it| it.strides(nest.shape.rank(), &arrays.strides(it)))
                .collect(),
        });
        let wholes: Vec<WholeNest<'_>> = wholes.collect();
        let are_dense = nests.iter().all(|nest| arrays.are_dense(nest));
        // SAFETY: as in `run_nest`, for all nests; `written_over_inputs` knows of the group.
        unsafe { group.run(&wholes, are_dense, is_over_input, progress) }
    }

    /// Whether an output may have been written before an index is found to name no element.
    pub(crate) fn writes_before_checks(&self) -> bool {
        let Some(last) = self.loops.checks.last() else { return false };
        let before = self.loops.nests[..last.nest].iter();
        let mut targets = before.flat_map(|nest| nest.stores.iter().map(|store| &store.target));
        targets.any(|target| matches!(target.buffer, BufferId::Output(_)))
    }

    /// Writes the counters that the nest of this index is the first to read.
    fn write_counters(&self, nest: usize, scratch: &Scratch<'_>) {
        for (index, &(dtype, length)) in self.loops.counters.iter().enumerate() {
            if self.scratch.counter_nests[index] == nest {
                let first = scratch.at(self.scratch.counters[index]);
                // SAFETY: the layout has room for so many elements, which nobody uses yet.
                unsafe { self.executor.write_counter(first, dtype, length, self.level) }
            }
        }
    }
}

/// The memory of a run's temporaries and counters.
pub(crate) struct Scratch<'n> {
    first: *mut u8,
    /// Owns the memory; `None` where that is near.
    _buffer: Option<Buffer>,
    _near: PhantomData<&'n mut NearMemory>,
}

/// Memory on the stack, in which small runs have their temporaries.
#[repr(align(64))]
pub(crate) struct NearMemory(#[allow(dead_code)] [u8; 1024]);

const _: () = assert!(align_of::<NearMemory>() >= ALIGNMENT);

impl<'n> Scratch<'n> {
    pub(crate) fn new(
        bytes: usize,
        near: &'n mut MaybeUninit<NearMemory>,
    ) -> Result<Self, ArrayError> {
        if bytes <= size_of::<NearMemory>() {
            let first = near.as_mut_ptr().cast();
            return Ok(Scratch { first, _buffer: None, _near: PhantomData });
        }
        if isize::try_from(bytes).is_err() {
            return Err(ArrayError::OutOfMemory { bytes });
        }
        // SAFETY: the nest that computes a temporary writes all of it before another reads it, and
        // counters are written before the first nest that reads them.
        let mut buffer = unsafe { Buffer::uninitialised(ArrayType::new(DType::U8, [bytes]))? };
        let first = buffer.as_mut_ptr().as_ptr();
        Ok(Scratch { first, _buffer: Some(buffer), _near: PhantomData })
    }

    pub(crate) fn at(&self, place: usize) -> *mut u8 {
        self.first.wrapping_add(place)
    }
}

/// The arrays of a run.
struct RunArrays<'a, 'i, 'o> {
    nests: &'a CompiledNests,
    inputs: &'a [ArrayView<'i>],
    outputs: &'a mut [ArrayViewMut<'o>],
    /// Whether all inputs and outputs are; most often they are.
    are_row_major: bool,
    scratch: &'a Scratch<'a>,
}

impl RunArrays<'_, '_, '_> {
    /// The element at which a nest begins.
    fn first(&self, access: &Access) -> *mut u8 {
        let offset = match access.begins_at_first() {
            true => 0,
            false => access.offset(&self.strides(access)),
        };
        self.at(Place { buffer: access.buffer, offset })
    }

    #[inline(always)]
    fn at(&self, place: Place) -> *mut u8 {
        let CompiledNests { loops, scratch: layout, .. } = self.nests;
        let first = match place.buffer {
            BufferId::Parameter(index) => self.inputs[index].first(),
            BufferId::Output(index) => self.outputs[index].first(),
            BufferId::Constant(index) => {
                bytes_of_array(&loops.constants[index]).as_ptr().cast_mut()
            }
            BufferId::Counter(index) => self.scratch.at(layout.counters[index]),
            BufferId::Temporary(index) => self.scratch.at(layout.temporaries[index]),
        };
        first.wrapping_offset(place.offset)
    }

    /// The strides of the array's own axes in bytes.
    fn strides(&self, access: &Access) -> AxisStrides {
        match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].strides().into(),
            BufferId::Output(index) => self.outputs[index].strides().into(),
            _ => dense(&access.array_type),
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
