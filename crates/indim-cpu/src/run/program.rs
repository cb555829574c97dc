//! Programs: loop nests compiled by an executor.

use core::fmt;
use std::sync::Arc;

use indim_loops::HeldBytes;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_loops::strides::order::row_major_strides;

use crate::executor::{BoundNest, ByKernels, NestCode};

/// A loop nest compiled for this machine.
#[derive(Clone)]
pub struct Program {
    nest: Arc<LoopNest>,
    code: Arc<dyn NestCode>,
    work: usize,
}

impl Program {
    pub(crate) fn new(nest: &Arc<LoopNest>, code: Arc<dyn NestCode>) -> Program {
        let sizes = nest.shape.iter();
        let elements = sizes.fold(1usize, |product, &size| product.saturating_mul(size));
        let moved: usize = nest.operands().map(|operand| operand.array_type.dtype.size()).sum();
        let work = elements.saturating_mul(moved + code.cost());
        Program { nest: Arc::clone(nest), code, work }
    }

    pub(crate) fn nest(&self) -> &LoopNest {
        &self.nest
    }

    /// The weight of a whole run in bytes: what is moved and what is computed, however the arrays lie in
    /// memory.
    pub(crate) fn work(&self) -> usize {
        self.work
    }

    /// The program for arrays of these strides, as [`NestCode::bind`] has it.
    pub(crate) fn bind(
        &self,
        strides: impl Fn(&Access) -> Vec<isize>,
        is_over_input: &[bool],
    ) -> Option<Box<dyn BoundNest>> {
        self.bind_to(self.nest.operands().map(strides).collect(), is_over_input)
    }

    /// As [`Program::bind`], with the strides of all operands.
    pub(crate) fn bind_to(
        &self,
        strides: Vec<Vec<isize>>,
        is_over_input: &[bool],
    ) -> Option<Box<dyn BoundNest>> {
        Arc::clone(&self.code).bind(strides, is_over_input)
    }

    /// The most bytes of memory that a thread needs to run it.
    pub(crate) fn thread_bytes(&self) -> usize {
        self.code.thread_bytes()
    }

    /// The most bytes of memory that the threads of a run share for it.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.code.shared_bytes()
    }

    /// Counts the memory that the program holds.
    pub(crate) fn count_bytes(&self, held: &mut HeldBytes) {
        held.nest(&self.nest);
        self.code.count_bytes(held);
    }

    /// The bytes of what has been made of it since it was compiled.
    pub(crate) fn made_bytes(&self) -> usize {
        self.code.made_bytes()
    }

    /// The machine code for dense arrays: its instructions below the values that they compute, with what
    /// `describe` makes of the arrays. It is made for that, and not kept.
    ///
    /// # Errors
    /// Why the nest runs by kernels in any case.
    pub fn machine_code(&self, describe: &dyn Fn(&Access) -> String) -> Result<String, ByKernels> {
        self.code.machine_code(&self.dense_strides(), describe)
    }

    /// The strides of all operands where they are dense.
    pub(crate) fn dense_strides(&self) -> Vec<Vec<isize>> {
        let rank = self.nest.shape.rank();
        let strides = |it: &Access| it.strides(rank, &row_major_strides(&it.array_type));
        self.nest.operands().map(strides).collect()
    }

    /// The listing, with what `describe` makes of the arrays.
    pub fn listing(&self, describe: &dyn Fn(&Access) -> String) -> String {
        fmt::from_fn(|formatter| self.code.list(formatter, describe)).to_string()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.list(formatter, &Access::to_string)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
