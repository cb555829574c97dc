//! Programs: loop nests compiled by an executor.

use core::fmt;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use smallvec::SmallVec;

use crate::executor::{BoundNest, KernelFallback, NestCode};
use crate::tiles::work;

/// The strides of so few operands need no memory of their own.
const FEW: usize = 6;

/// A loop nest compiled for this machine.
#[derive(Clone)]
pub struct Program {
    nest: Arc<LoopNest>,
    code: Arc<dyn NestCode>,
    work: usize,
}

impl Program {
    pub(crate) fn new(nest: &Arc<LoopNest>, code: Arc<dyn NestCode>) -> Program {
        let work = work::of_run(&SizedNest::own(nest), code.cost());
        Program { nest: Arc::clone(nest), code, work }
    }

    /// The same code for a part of the nest, which differs from it in sizes alone.
    pub(crate) fn of_part(&self, part: &Arc<LoopNest>) -> Program {
        Program::new(part, Arc::clone(&self.code))
    }

    /// The weight of a whole run in bytes: what is moved and what is computed, however the arrays lie in
    /// memory.
    pub(crate) fn work(&self) -> usize {
        self.work
    }

    /// The program for arrays whose strides are given for each operand, by its place, as
    /// [`NestCode::bind`] has it.
    pub(crate) fn bind(
        &self,
        strides: impl Fn(usize, &Access) -> AxisStrides,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        bind(&self.code, &SizedNest::own(&self.nest), strides, is_over_input)
    }

    /// The most bytes of memory that a thread needs to run it.
    pub(crate) fn thread_bytes(&self) -> usize {
        self.code.thread_bytes(&SizedNest::own(&self.nest))
    }

    /// The most bytes of memory that the threads of a run share for it.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.code.shared_bytes(&SizedNest::own(&self.nest))
    }

    /// Counts the memory that the program holds.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.nest(&self.nest);
        self.code.count_bytes(held);
    }

    /// The machine code for dense arrays: its instructions below the values that they compute, with what
    /// `describe` makes of the arrays. It is made for that, and not kept.
    ///
    /// # Errors
    /// Why the nest runs by kernels in any case.
    pub fn machine_code(
        &self,
        describe: &dyn Fn(&Access) -> String,
    ) -> Result<String, KernelFallback> {
        let strides = self.nest.operands().map(|access| self.dense_strides(access));
        self.code.machine_code(&self.nest, &strides.collect::<Vec<AxisStrides>>(), describe)
    }

    /// The strides of an operand where it is dense.
    pub(crate) fn dense_strides(&self, access: &Access) -> AxisStrides {
        SizedNest::own(&self.nest).dense_strides(access)
    }

    /// The listing, with what `describe` makes of the arrays.
    pub fn listing(&self, describe: &dyn Fn(&Access) -> String) -> String {
        fmt::from_fn(|formatter| self.code.list(&self.nest, formatter, describe)).to_string()
    }
}

/// The code of a nest for arrays whose strides are given for each operand, by its place, as
/// [`NestCode::bind`] has it.
pub(crate) fn bind(
    code: &Arc<dyn NestCode>,
    nest: &SizedNest<'_>,
    strides: impl Fn(usize, &Access) -> AxisStrides,
    is_over_input: &[bool],
) -> Option<Arc<dyn BoundNest>> {
    let mut along: SmallVec<[AxisStrides; FEW]> = SmallVec::new();
    // Few, so that a push for each is faster than `extend`.
    for (operand, access) in nest.nest.operands().enumerate() {
        along.push(strides(operand, access));
    }
    Arc::clone(code).bind(nest, NestStrides::Given(&along), is_over_input)
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.list(&self.nest, formatter, &Access::to_string)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
