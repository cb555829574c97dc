//! The compiled nests of an executable, bound to sizes, and how they run one after another. Holds unsafe
//! code.

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
use crate::run::coded::{BoundNests, CodedNests, Place, SymbolSizes};
use crate::run::error::RunError;
use crate::run::float_environment::DefaultFloatEnvironment;
use crate::run::groups::{CompiledGroup, NestParts, WholeNest, may_be_cut};
use crate::run::indices;
use crate::run::options::RunOptions;
use crate::run::program::{Program, bind};
use crate::run::threads;
use indim_arrays::{ALIGNMENT, Buffer};
use indim_arrays::{ArrayError, ArrayView, ArrayViewMut, bytes_of_array};

/// The operands of small nests, whose runs are short, need no memory of their own.
const FEW: usize = 16;

/// The nests of a graph and their code, bound to sizes.
#[derive(Debug)]
pub(crate) struct CompiledNests {
    pub(crate) coded: Arc<CodedNests>,
    pub(crate) parameters: Types,
    pub(crate) outputs: Types,
    checks: Vec<IndexCheck>,
    /// Each nest bound to dense arrays.
    pub(crate) bound: Arc<BoundNests>,
    /// The groups that run part by part, and what they are compiled to.
    groups: Vec<NestGroup>,
    grouped: Vec<CompiledGroup>,
    /// The memory of a run, with that which the threads of a nest share.
    pub(crate) scratch: ScratchLayout,
    /// Where shared memory begins.
    shared: usize,
    /// The nests over these sizes, once they are asked for, if they are not those of the graph.
    resized: OnceLock<LoopNests>,
    programs: OnceLock<Vec<Program>>,
}

type Types = SmallVec<[ArrayType; 2]>;

impl CompiledNests {
    /// Binds the nests to these sizes, in the places of the distinct ones. What is the same in those that
    /// were bound `before` is taken from them. `check` is called after each part of the work, and may end it.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn new<E>(
        coded: &Arc<CodedNests>,
        in_place: SymbolSizes,
        before: Option<&BoundNests>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let bound = Arc::new(coded.bind(in_place, before, &mut check)?);
        let (loops, sizes) = (&coded.loops, coded.sizes(&bound.in_place));
        let shared_bytes = bound.codes.iter().map(|bound| bound.shared_bytes).max().unwrap_or(0);
        let [parameters, outputs] = loops.resized_types(sizes);
        let mut nests = CompiledNests {
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
            coded: Arc::clone(coded),
        };
        nests.compile_groups(check)?;
        let elsewhere: Vec<usize> = nests.grouped.iter().flat_map(CompiledGroup::inner).collect();
        let together: Vec<_> = nests.grouped.iter().map(|group| group.nests.clone()).collect();
        let lives = &coded.lives;
        let mut scratch = ScratchLayout::new(loops, sizes, lives, ALIGNMENT, &elsewhere, &together);
        nests.shared = scratch.append(shared_bytes, ALIGNMENT);
        nests.scratch = scratch;
        Ok(nests)
    }

    /// Compiles the groups of nests that pay.
    fn compile_groups<E>(&mut self, mut check: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        let coded = Arc::clone(&self.coded);
        for group in &coded.groups {
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

    /// The nests over these sizes.
    pub(crate) fn loops(&self) -> &LoopNests {
        let (coded, in_place) = (&self.coded, &self.bound.in_place);
        match in_place.is_empty() {
            true => &coded.loops,
            false => self.resized.get_or_init(|| coded.loops.resized(coded.sizes(in_place))),
        }
    }

    /// The nest of this index over these sizes.
    fn sized(&self, index: usize) -> SizedNest<'_> {
        SizedNest::new(&self.coded.loops.nests[index], self.coded.sizes(&self.bound.in_place))
    }

    /// The nests with their code.
    pub(crate) fn programs(&self) -> &[Program] {
        self.programs.get_or_init(|| {
            let pairs = self.loops().nests.iter().zip(&self.coded.codes);
            pairs.map(|(nest, coded)| Program::new(nest, Arc::clone(&coded.code))).collect()
        })
    }

    /// The weights of whole runs of the nests, in bytes.
    pub(crate) fn works(&self) -> impl Iterator<Item = usize> {
        self.bound.codes.iter().map(|bound| bound.work)
    }

    /// For each array of the nests the bytes of it that they walk.
    pub(crate) fn walked_bytes(&self, mut hear: impl FnMut(BufferId, usize)) {
        for index in 0..self.bound.codes.len() {
            let nest = self.sized(index);
            nest.nest.accesses.iter().for_each(|of| hear(of.buffer, nest.bytes_of(of)));
        }
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
        let codes = self.coded.codes.iter().enumerate();
        let alone = codes.map(|(index, coded)| coded.code.thread_bytes(&self.sized(index)));
        let together = self.grouped.iter().map(CompiledGroup::thread_bytes);
        alone.chain(together).max().unwrap_or(0)
    }

    /// Counts the memory that they hold beside what others share, without what is made when it is asked for.
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
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let _environment = DefaultFloatEnvironment::enter();
        let mut near = MaybeUninit::uninit();
        let scratch = Scratch::new(self.scratch.bytes, &mut near)?;
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
        let (nest, dense) = (&self.coded.loops.nests[index], &self.bound.codes[index]);
        let own;
        let mut operands: SmallVec<[*mut u8; FEW]> = SmallVec::new();
        let bound = match is_over_input.is_empty() && arrays.are_dense(nest) {
            true => {
                // Few, so that a push for each is faster than `extend`.
                let places = self.coded.places(index, dense);
                places.iter().for_each(|&place| operands.push(arrays.at(place)));
                &dense.bound
            }
            false => {
                let nest = self.sized(index);
                operands.extend(nest.nest.operands().map(|of| arrays.first(&nest, of)));
                let rank = nest.shape.len();
                let strides =
                    |_, of: &Access| of.strides(rank, &arrays.strides(of, || nest.dense(of)));
                own = bind(&self.coded.codes[index].code, &nest, strides, is_over_input);
                &own
            }
        };
        let Some(bound) = bound.as_deref() else { return Ok(()) };
        let bases = Bases { operands: &operands, shared: arrays.scratch.at(self.shared) };
        // SAFETY: shapes were checked against the views, which vouch for their memory; outputs
        // and temporaries overlap nothing, but for outputs over an input, of which the bound
        // nest knows; the layout has room for what is shared; the level was detected.
        let flow = unsafe { threads::run(dense.work, bound, &bases, options) };
        if flow.is_break() { Err(RunError::Stopped) } else { Ok(()) }
    }

    /// Writes the counters, and checks the indices, that the nest of this index needs first.
    fn prepare(&self, index: usize, arrays: &RunArrays<'_, '_, '_>) -> Result<(), RunError> {
        self.write_counters(index, arrays.scratch);
        for check in self.checks.iter().filter(|check| check.nest == index) {
            let strides = arrays.strides(&check.access, || dense(&check.access.array_type));
            let along = check.access.strides(check.shape.rank(), &strides);
            let place =
                Place { buffer: check.access.buffer, offset: check.access.offset(&strides) };
            // SAFETY: the views vouch for what is given; the rest earlier nests have written.
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
        let wholes = nests.iter().zip(&firsts).map(|(nest, firsts)| WholeNest {
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
        let wholes: Vec<WholeNest<'_>> = wholes.collect();
        let are_dense = nests.iter().all(|nest| arrays.are_dense(nest));
        // SAFETY: as in `run_nest`, for all nests; `written_over_inputs` knows of the group.
        unsafe { group.run(&wholes, are_dense, is_over_input, options) }
    }

    /// Whether an output may have been written before an index is found to name no element.
    pub(crate) fn writes_before_checks(&self) -> bool {
        let loops = &self.coded.loops;
        let Some(last) = loops.checks.last() else { return false };
        let before = loops.nests[..last.nest].iter();
        let mut targets = before.flat_map(|nest| nest.stores.iter().map(|store| &store.target));
        targets.any(|target| matches!(target.buffer, BufferId::Output(_)))
    }

    /// Writes the counters that the nest of this index is the first to read.
    fn write_counters(&self, nest: usize, scratch: &Scratch<'_>) {
        let CodedNests { loops, executor, level, .. } = &*self.coded;
        for (index, &(dtype, length)) in loops.counters.iter().enumerate() {
            if self.scratch.counter_nests[index] == nest {
                let first = scratch.at(self.scratch.counters[index]);
                let length = self.coded.sizes(&self.bound.in_place).of(length);
                // SAFETY: the layout has room for so many elements, which nobody uses yet.
                unsafe { executor.write_counter(first, dtype, length, *level) }
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
    fn first(&self, nest: &SizedNest<'_>, access: &Access) -> *mut u8 {
        let offset = match access.begins_at_first() {
            true => 0,
            false => access.offset(&self.strides(access, || nest.dense(access))),
        };
        self.at(Place { buffer: access.buffer, offset })
    }

    #[inline(always)]
    fn at(&self, place: Place) -> *mut u8 {
        let CompiledNests { coded, scratch: layout, .. } = self.nests;
        let first = match place.buffer {
            BufferId::Parameter(index) => self.inputs[index].first(),
            BufferId::Output(index) => self.outputs[index].first(),
            BufferId::Constant(index) => {
                bytes_of_array(&coded.loops.constants[index]).as_ptr().cast_mut()
            }
            BufferId::Counter(index) => self.scratch.at(layout.counters[index]),
            BufferId::Temporary(index) => self.scratch.at(layout.temporaries[index]),
        };
        first.wrapping_offset(place.offset)
    }

    /// The strides of the array's own axes in bytes; those of a `dense` one where it is ours.
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
