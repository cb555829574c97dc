//! A loop nest compiled by an executor.

use core::fmt;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use smallvec::SmallVec;

use indim_executors::run_work;
use indim_executors::{BoundNest, KernelFallback, NestCode};

/// Number of operands of a nest whose strides fit inline, without an allocation.
const INLINE_OPERANDS: usize = 6;

/// A loop nest with its code for this machine.
#[derive(Clone)]
pub struct CompiledNest {
    nest: Arc<LoopNest>,
    code: Arc<dyn NestCode>,
    work: usize,
}

impl CompiledNest {
    pub(crate) fn new(nest: &Arc<LoopNest>, code: Arc<dyn NestCode>) -> CompiledNest {
        let work = run_work(&SizedNest::with_own_sizes(nest), code.cost());
        CompiledNest { nest: Arc::clone(nest), code, work }
    }

    /// The code for a tile of the nest, a nest that differs only in sizes. One thread runs it.
    pub(crate) fn resized(&self, tile: &Arc<LoopNest>) -> CompiledNest {
        let code = self.code.for_tile(&self.nest, tile).unwrap_or_else(|| Arc::clone(&self.code));
        CompiledNest::new(tile, code)
    }

    /// Cost of a whole run in bytes moved, independent of strides.
    pub(crate) fn work(&self) -> usize {
        self.work
    }

    /// Binds the code; `strides` takes the position and the access of an operand. See [`NestCode::bind`].
    pub(crate) fn bind(
        &self,
        strides: impl Fn(usize, &Access) -> AxisStrides,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        bind(&self.code, &SizedNest::with_own_sizes(&self.nest), strides, is_over_input)
    }

    /// Upper bound of the memory in bytes that one thread needs.
    pub(crate) fn thread_bytes(&self) -> usize {
        self.code.thread_bytes(&SizedNest::with_own_sizes(&self.nest))
    }

    /// Upper bound of the memory in bytes that the threads of a run share.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.code.shared_bytes(&SizedNest::with_own_sizes(&self.nest))
    }

    /// Counts the memory of the nest and its code.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_nest(&self.nest);
        self.code.count_bytes(memory_use);
    }

    /// The listing of the machine code for dense arrays: each value, followed by its instructions. `describe`
    /// names the arrays. The code is generated for the listing and then dropped.
    ///
    /// # Errors
    /// The reason why kernels run the nest.
    pub fn machine_code(
        &self,
        describe: &dyn Fn(&Access) -> String,
    ) -> Result<String, KernelFallback> {
        let strides = self.nest.operands().map(|access| self.dense_strides(access));
        self.code.machine_code(&self.nest, &strides.collect::<Vec<AxisStrides>>(), describe)
    }

    /// Strides of an operand as a dense array.
    pub(crate) fn dense_strides(&self, access: &Access) -> AxisStrides {
        SizedNest::with_own_sizes(&self.nest).dense_strides(access)
    }

    /// The listing; `describe` names the arrays.
    pub fn listing(&self, describe: &dyn Fn(&Access) -> String) -> String {
        fmt::from_fn(|formatter| self.code.list(&self.nest, formatter, describe)).to_string()
    }
}

/// Binds `code` to a nest; `strides` takes the position and the access of an operand. See
/// [`NestCode::bind`].
pub(crate) fn bind(
    code: &Arc<dyn NestCode>,
    nest: &SizedNest<'_>,
    strides: impl Fn(usize, &Access) -> AxisStrides,
    is_over_input: &[bool],
) -> Option<Arc<dyn BoundNest>> {
    let mut along: SmallVec<[AxisStrides; INLINE_OPERANDS]> = SmallVec::new();
    // For few operands a push for each is faster than `extend`.
    for (operand, access) in nest.nest.operands().enumerate() {
        along.push(strides(operand, access));
    }
    Arc::clone(code).bind(nest, NestStrides::Explicit(&along), is_over_input)
}

impl fmt::Display for CompiledNest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.list(&self.nest, formatter, &Access::to_string)
    }
}

impl fmt::Debug for CompiledNest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
