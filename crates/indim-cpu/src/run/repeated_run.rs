//! Repeated runs of a program on the same arrays: the steps of a loop. Holds unsafe code.

use std::sync::Arc;

use indim_executors::BoundNest;
use indim_loops::loop_nest::{BufferId, Store};
use smallvec::SmallVec;

use crate::run::bound_program::{Addresses, BoundProgram};
use crate::run::control::RepeatedBranch;
use crate::run::error::RunError;
use crate::run::options::RunOptions;
use crate::run::run_arrays::RunArrays;

/// A program whose nests are bound to arrays.
pub(crate) struct RepeatedRun<'a> {
    program: &'a BoundProgram,
    arrays: RunArrays<'a>,
    is_over_input: &'a [bool],
    nests: Vec<NestOnArrays<'a>>,
    /// Whether the program has run on the arrays.
    has_run: bool,
}

/// A nest bound to the arrays.
#[derive(Default)]
struct NestOnArrays<'a> {
    operands: Addresses,
    /// `None` for a nest without elements or in a group, for a loop or branch, and for a copy that the run
    /// leaves out.
    bound: Option<Arc<dyn BoundNest>>,
    /// The branch of the nest, if it is one.
    branch: Option<RepeatedBranch<'a>>,
    /// Cost of a run in bytes moved.
    work: usize,
    /// Whether each store of the nest lies over an input of the program.
    is_over_input: bool,
    /// Whether each run writes counters or checks indices before the nest.
    is_prepared: bool,
}

impl<'a> RepeatedRun<'a> {
    /// Binds the nests of the program to its arrays. `is_over_input` is that of [`BoundProgram::run`].
    pub(crate) fn new(
        program: &'a BoundProgram,
        arrays: RunArrays<'a>,
        is_over_input: &'a [bool],
    ) -> Self {
        let nest = |(index, work): (usize, usize)| {
            let is_prepared = program.is_prepared(index);
            if let Some(control) = &program.compiled.nests[index].control {
                let operands = || program.control_views(control, index, &arrays).0;
                let branch = RepeatedBranch::new(control, operands);
                let is_prepared = is_prepared && branch.is_some();
                return NestOnArrays { branch, is_prepared, ..NestOnArrays::default() };
            }
            if program.is_in_group(index) || arrays.is_omitted(index) {
                return NestOnArrays::default();
            }
            let (mut operands, mut own) = (Addresses::new(), None);
            program.bind_to_arrays(index, &arrays, is_over_input, &mut operands, &mut own);
            let bound = own.or_else(|| program.bindings.nests[index].bound.clone());
            let work_for_addresses =
                bound.as_deref().and_then(|nest| nest.work_for_addresses(&operands));
            let is_over = |store: &Store| match store.target.buffer {
                BufferId::Output(output) => is_over_input.get(output) == Some(&true),
                _ => false,
            };
            NestOnArrays {
                operands,
                bound,
                branch: None,
                work: work_for_addresses.unwrap_or(work),
                is_prepared,
                is_over_input: program.compiled.loops.nests[index].stores.iter().all(is_over),
            }
        };
        let nests = program.nest_work().enumerate().map(nest).collect();
        RepeatedRun { program, arrays, is_over_input, nests, has_run: false }
    }

    /// Packs operands for the runs to come. `is_constant` tells whether a buffer is the same array in both
    /// runs. Takes the bytes of the packed operands, at most `spare_bytes`, from it. `are_many` is that of
    /// [`BoundNest::with_packed_operands`].
    ///
    /// # Safety
    /// Both are runs of the same program on arrays with the same strides; nothing writes the constant buffers
    /// while either exists.
    pub(crate) unsafe fn pack_constants(
        [first, second]: &mut [Self; 2],
        is_constant: impl Fn(BufferId) -> bool,
        are_many: bool,
        spare_bytes: &mut usize,
    ) {
        let loops = &first.program.compiled.loops;
        for (index, nest) in loops.nests.iter().enumerate() {
            let NestOnArrays { operands, bound: Some(bound), .. } = &first.nests[index] else {
                continue;
            };
            let is_constant: SmallVec<[bool; 8]> =
                nest.operands().map(|operand| is_constant(operand.buffer)).collect();
            // SAFETY: `bind_to_arrays` gives valid addresses, and those of constant buffers are the same in
            // both runs; the caller ensures that nothing writes them.
            let packed = unsafe {
                bound.with_packed_operands(operands, &is_constant, are_many, spare_bytes)
            };
            if let Some(packed) = packed {
                second.nests[index].bound = Some(Arc::clone(&packed));
                first.nests[index].bound = Some(packed);
            }
        }
    }

    /// Runs the program once, in the default floating-point environment.
    ///
    /// # Errors
    /// Like [`BoundProgram::run`].
    pub(crate) fn run(&mut self, options: &RunOptions<'_>) -> Result<(), RunError> {
        let RepeatedRun { program, arrays, is_over_input, nests, .. } = self;
        program.run_nests_and_groups(arrays, is_over_input, options, |index| {
            let NestOnArrays { operands, bound, branch, work, is_prepared, .. } = &mut nests[index];
            if *is_prepared {
                program.prepare(index, arrays)?;
            }
            match (bound, branch, &program.compiled.nests[index].control) {
                // SAFETY: `new` has bound the nest to these arrays by `bind_to_arrays`.
                (Some(bound), ..) => unsafe {
                    program.run_bound(&**bound, *work, operands, arrays, options)
                },
                (None, Some(branch), Some(control)) => {
                    let views = || program.control_views(control, index, arrays);
                    // SAFETY:
                    // - the arrays and the memory are the same in every run;
                    // - no result lies over an operand, since a branch never replaces its operand;
                    // - other nests write the memory between two runs, but a run of a region first writes
                    //   each counter and temporary that it reads.
                    unsafe { branch.run(views, program.shared_memory(arrays), options) }
                }
                _ => program.run_nest(index, arrays, is_over_input, options),
            }
        })?;
        if !self.has_run {
            self.has_run = true;
            self.nests.iter_mut().for_each(NestOnArrays::prepare_later_runs);
        }
        Ok(())
    }
}

impl NestOnArrays<'_> {
    /// After the first run, replaces the nest by its form for later runs. Other nests write temporaries
    /// between two runs, but only one nest writes an output over an input.
    fn prepare_later_runs(&mut self) {
        let bound = self.bound.as_ref().filter(|_| self.is_over_input);
        let later = bound.and_then(|bound| bound.for_later_runs(&self.operands));
        if let Some(later) = later {
            self.work = later.work_for_addresses(&self.operands).unwrap_or(self.work);
            self.bound = Some(later);
        }
    }
}
