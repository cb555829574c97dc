//! Branches. Holds unsafe code.

use core::fmt;

use indim_graph::{Region, chosen_branch};
use indim_ops::{ArrayType, DType};

use super::{ControlCode, ControlPrograms, RegionCompiler};
use crate::run::bound_program::BoundProgram;
use crate::run::error::RunError;
use crate::run::options::RunOptions;
use crate::run::packed_constants::ConstantParameters;
use crate::run::repeated_run::RepeatedRun;
use crate::run::run_arrays::Views;
use crate::run::scratch::Scratch;
use indim_arrays::{ArrayView, ArrayViewMut};

/// A compiled branch: one program for each region. Their outputs are the results that the stores write.
#[derive(Debug)]
pub(crate) struct Branch {
    programs: Vec<BoundProgram>,
}

impl Branch {
    pub(super) fn compile<E>(
        branches: &[Region],
        results: &[usize],
        operands: &ConstantParameters,
        compiler: &mut RegionCompiler<'_, E>,
    ) -> Result<Branch, E> {
        // The first operand selects the region.
        let parameters = operands.get(1..).unwrap_or_default();
        let program = |branch: &Region| {
            compiler.program(&branch.graph().with_outputs(results.iter().copied()), parameters)
        };
        Ok(Branch { programs: branches.iter().map(program).collect::<Result<_, E>>()? })
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &BoundProgram> {
        self.programs.iter()
    }

    pub(super) fn result(&self, store: usize) -> &ArrayType {
        &self.programs[0].outputs[store]
    }

    /// Cost of the costliest region, in bytes moved.
    pub(super) fn work(&self) -> usize {
        self.programs.iter().map(BoundProgram::work).max().unwrap_or(0)
    }

    /// Bytes of the memory of a run.
    pub(super) fn bytes(&self) -> usize {
        self.programs.iter().map(|program| program.scratch.bytes).max().unwrap_or(0)
    }

    pub(super) fn list(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "branch to one of {} programs", self.programs.len())
    }

    /// Runs the region that the first operand selects.
    ///
    /// # Safety
    /// Like [`ControlCode::run`].
    pub(super) unsafe fn run(
        &self,
        operands: &[ArrayView<'_>],
        outputs: &mut [ArrayViewMut<'_>],
        memory: *mut u8,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let chosen = self.chosen(&operands[0]);
        // SAFETY: the caller's memory has room for the temporaries of each program, and only one runs.
        let scratch = unsafe { Scratch::in_memory(memory) };
        self.programs[chosen].run_on(&operands[1..], outputs, &[], scratch, options)
    }

    /// The region that the index selects, which is the first operand.
    fn chosen(&self, first: &ArrayView<'_>) -> usize {
        // SAFETY: the elements of a view are readable, and the verifier has checked that the first operand
        // is a scalar.
        let index = unsafe { index(first.array_type().dtype, first.first()) };
        chosen_branch(index, self.programs.len())
    }
}

/// A branch in a step of a loop: the region of each step runs on the same arrays.
pub(crate) struct RepeatedBranch<'a> {
    branch: &'a Branch,
    index: ArrayView<'a>,
    /// The regions, each bound to the arrays when it first runs.
    regions: Vec<Option<RepeatedRun<'a>>>,
}

impl<'a> RepeatedBranch<'a> {
    /// `None` for a loop. `operands` returns the operands of the branch in every run.
    pub(crate) fn new(
        control: &'a ControlCode,
        operands: impl FnOnce() -> Vec<ArrayView<'a>>,
    ) -> Option<Self> {
        let ControlPrograms::Branch(branch) = &control.programs else { return None };
        let regions = branch.programs.iter().map(|_| None).collect();
        Some(RepeatedBranch { branch, index: operands().swap_remove(0), regions })
    }

    /// Runs the region that the index selects. `views` returns the operands and results.
    ///
    /// # Safety
    /// Like [`ControlCode::run`], with the same views and memory in each run.
    ///
    /// # Errors
    /// Like [`ControlCode::run`].
    pub(crate) unsafe fn run(
        &mut self,
        views: impl FnOnce() -> (Vec<ArrayView<'a>>, Vec<ArrayViewMut<'a>>),
        memory: *mut u8,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let chosen = self.branch.chosen(&self.index);
        let program = &self.branch.programs[chosen];
        let region = self.regions[chosen].get_or_insert_with(|| {
            let (mut operands, outputs) = views();
            // The first operand is the index.
            operands.remove(0);
            // SAFETY: the caller's memory has room for the temporaries of each program, and only one runs.
            let scratch = unsafe { Scratch::in_memory(memory) };
            let (operands, outputs) = (Views::Owned(operands), Views::Owned(outputs));
            RepeatedRun::new(program, program.arrays(operands, outputs, &[], scratch), &[])
        });
        region.run(options)
    }
}

/// The value of a scalar index; a bool is 0 or 1.
///
/// # Safety
/// The address is valid for reads of an element of this type.
unsafe fn index(dtype: DType, from: *const u8) -> i128 {
    macro_rules! read {
        ($($variant:ident $type:ident;)*) => {
            match dtype {
                // SAFETY: the caller ensures a readable element.
                $(DType::$variant => i128::from(unsafe { from.cast::<$type>().read_unaligned() }),)*
                // SAFETY: the caller ensures a readable element. The byte of a bool may be any.
                DType::Bool => i128::from(unsafe { from.read() } != 0),
                _ => unreachable!("invariant: the verifier checked the index"),
            }
        };
    }
    read! { I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64; }
}
