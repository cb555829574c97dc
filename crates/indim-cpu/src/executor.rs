//! The interface between `run/` and the executors. Holds unsafe code.
//!
//! An [`Executor`] compiles a loop nest into [`NestCode`]. Code bound to sizes and strides is a
//! [`BoundNest`], whose tiles any thread may run. `run/` uses nothing else of an executor, and only
//! `run/compile.rs` chooses one.

use core::fmt;
use core::ops::Range;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use indim_graph::Array;
use indim_kernels::Level;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::DType;

/// A back end that compiles loop nests for this machine.
pub(crate) trait Executor: fmt::Debug + Sync + UnwindSafe + RefUnwindSafe {
    /// Compiles `nest` for the instructions of `level`; `constants` are those of its graph.
    fn compile(
        &self,
        nest: &Arc<LoopNest>,
        constants: &Arc<[Array]>,
        level: Level,
    ) -> Arc<dyn NestCode>;

    /// Writes the numbers 0, 1, 2, ... in `dtype`, for nests that read counters.
    ///
    /// # Safety
    /// Memory from `first` on has room for `length` elements, and only this call uses it.
    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level);
}

/// A loop nest compiled for arrays of any sizes and strides. Methods that depend on sizes take `nest`, the
/// nest with its sizes.
pub(crate) trait NestCode: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Binds the code to the sizes of `nest` and to `strides`. `is_over_input` says which outputs of the
    /// graph lie exactly over an input; it is empty if none does. Returns `None` for a nest without
    /// elements.
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>>;

    /// Cost of computing one element, in bytes that could be moved in the same time, without the bytes that
    /// the nest reads and writes.
    fn cost(&self) -> usize;

    /// Upper bound of the memory in bytes that one thread needs to run tiles.
    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize;

    /// Upper bound of the memory in bytes that the threads of a run share. Tiles leave partial results
    /// there for [`BoundNest::finish`].
    fn shared_bytes(&self, _nest: &SizedNest<'_>) -> usize {
        0
    }

    /// Writes the listing; `describe` names the arrays.
    ///
    /// # Errors
    /// When the formatter fails.
    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result;

    /// Lists the machine code for arrays of these strides; `describe` names the arrays. The code is
    /// generated for the listing and then dropped.
    ///
    /// # Errors
    /// The reason why kernels run the nest.
    fn machine_code(
        &self,
        _nest: &Arc<LoopNest>,
        _strides: &[AxisStrides],
        _describe: &dyn Fn(&Access) -> String,
    ) -> Result<String, KernelFallback> {
        Err(KernelFallback::AskedFor)
    }

    /// Counts the memory of the code at compile time, without the nest.
    fn count_bytes(&self, held: &mut MemoryUse);

    /// Bytes of the machine code generated since compile time.
    fn made_bytes(&self) -> usize {
        0
    }
}

/// The reason why kernels run a nest and machine code never does.
///
/// ```
/// use indim_cpu::KernelFallback;
///
/// assert_eq!(KernelFallback::Searches.to_string(), "it searches for where an extreme is");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelFallback {
    /// The options or the environment ask for kernels.
    AskedFor,
    /// The options ask for fewer instructions than the processor has.
    LowLevel,
    /// No code generator exists for this processor.
    Processor,
    /// The nest only moves or reduces elements, without an operation on them.
    ComputesNothing,
    /// The nest is an arg-reduction of elements in memory.
    Searches,
    /// The nest is a scatter.
    Scatters,
    /// The nest computes the indices of a gather, or its function would be too large.
    NotCovered,
    /// The nest has no elements.
    NoElements,
    /// The system refuses executable memory.
    Memory,
}

impl fmt::Display for KernelFallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            KernelFallback::AskedFor => "kernels were asked for",
            KernelFallback::LowLevel => {
                "the level asked for is the baseline, and machine code needs more instructions"
            }
            KernelFallback::Processor => "there is no machine code for this processor",
            KernelFallback::ComputesNothing => "it applies no operation to the elements it moves or reduces",
            KernelFallback::Scatters => "it adds elements where indices say",
            KernelFallback::Searches => "it searches for where an extreme is",
            KernelFallback::NotCovered => {
                "it computes the indices by which it takes elements, or is too large for one function"
            }
            KernelFallback::NoElements => "it has no elements",
            KernelFallback::Memory => "the system gives no executable memory",
        })
    }
}

/// A nest bound to sizes and strides: independent tiles that cover it.
pub(crate) trait BoundNest: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// The faster code that replaces this one, if it has been generated by now. Asked once before a run of
    /// `work` bytes.
    fn instead(&self, _work: usize) -> Option<&dyn BoundNest> {
        None
    }

    /// The number of tiles.
    fn tiles(&self) -> usize;

    /// The number of elements of a full tile, the largest.
    fn tile_elements(&self) -> usize;

    /// Prepares the shared memory that all tiles read; called once, before the tiles.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for all tiles.
    unsafe fn prepare(&self, _: &Bases<'_>) {}

    /// Runs some of the tiles.
    ///
    /// # Safety
    /// - each operand of `bases` is the address of a store or access at the first point of the nest;
    /// - with the strides of the binding, every point is valid for reads, and for writes of the stores;
    /// - the shared memory is valid, and only this nest uses it;
    /// - no store overlaps another operand, except the stores that `is_over_input` named at the binding:
    ///   those lie exactly over an access that moves as they do;
    /// - no other thread uses the stores' elements of `tiles`;
    /// - the processor has the level for which the nest was compiled.
    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>);

    /// Combines the partial results in shared memory into the outputs; called once, after all tiles.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for all tiles; they have run with the same bases.
    unsafe fn finish(&self, _: &Bases<'_>) {}

    /// Counts the memory of the binding, without the code.
    fn count_bytes(&self, held: &mut MemoryUse);
}

/// The addresses of a run.
pub(crate) struct Bases<'a> {
    /// The addresses at the first point: the stores first, then the accesses.
    pub(crate) operands: &'a [*mut u8],
    /// Memory of [`NestCode::shared_bytes`] bytes, which only this nest uses during its run.
    pub(crate) shared: *mut u8,
}

// SAFETY: the caller of `BoundNest::run` lends this memory for the whole run, and threads write disjoint
// tiles of it.
unsafe impl Sync for Bases<'_> {}

#[cfg(test)]
#[path = "../tests/unit/simple_executor.rs"]
mod simple_executor;
