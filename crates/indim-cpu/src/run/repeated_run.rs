//! Repeated runs of a program on the same arrays: the steps of a loop. Holds unsafe code.

use std::sync::Arc;

use indim_executors::BoundNest;

use crate::run::bound_program::{Addresses, BoundProgram};
use crate::run::error::RunError;
use crate::run::options::RunOptions;
use crate::run::run_arrays::RunArrays;

/// A program whose nests are bound to arrays.
pub(crate) struct RepeatedRun<'a, 'i, 'o> {
    program: &'a BoundProgram,
    arrays: RunArrays<'a, 'i, 'o>,
    is_over_input: &'a [bool],
    nests: Vec<NestOnArrays>,
}

/// A nest bound to the arrays.
#[derive(Default)]
struct NestOnArrays {
    operands: Addresses,
    /// `None` for a nest without elements or in a group, and for a loop or branch.
    bound: Option<Arc<dyn BoundNest>>,
    /// Cost of a run in bytes moved.
    work: usize,
}

impl<'a, 'i, 'o> RepeatedRun<'a, 'i, 'o> {
    /// Binds the nests of the program to its arrays. `is_over_input` is that of [`BoundProgram::run`].
    pub(crate) fn new(
        program: &'a BoundProgram,
        arrays: RunArrays<'a, 'i, 'o>,
        is_over_input: &'a [bool],
    ) -> Self {
        let nest = |(index, work): (usize, usize)| {
            if program.is_in_group(index) || program.compiled.nests[index].control.is_some() {
                return NestOnArrays::default();
            }
            let (mut operands, mut own) = (Addresses::new(), None);
            program.bind_to_arrays(index, &arrays, is_over_input, &mut operands, &mut own);
            let bound = own.or_else(|| program.bindings.nests[index].bound.clone());
            let work_for_addresses =
                bound.as_deref().and_then(|nest| nest.work_for_addresses(&operands));
            NestOnArrays { operands, bound, work: work_for_addresses.unwrap_or(work) }
        };
        let nests = program.nest_work().enumerate().map(nest).collect();
        RepeatedRun { program, arrays, is_over_input, nests }
    }

    /// Runs the program once, in the default floating-point environment.
    ///
    /// # Errors
    /// Like [`BoundProgram::run`].
    pub(crate) fn run(&self, options: &RunOptions<'_>) -> Result<(), RunError> {
        let RepeatedRun { program, arrays, is_over_input, nests } = self;
        program.run_nests_and_groups(arrays, is_over_input, options, |index| {
            let NestOnArrays { operands, bound: Some(bound), work } = &nests[index] else {
                return program.run_nest(index, arrays, is_over_input, options);
            };
            program.prepare(index, arrays)?;
            // SAFETY: `new` has bound the nest to these arrays by `bind_to_arrays`.
            unsafe { program.run_bound(&**bound, *work, operands, arrays, options) }
        })
    }
}
