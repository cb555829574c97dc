//! The seam between `run/` and the executors: all that the one knows of the others. Holds unsafe code.
//!
//! An [`Executor`] compiles a loop nest into [`NestCode`]. Bound to the strides of arrays, that is a
//! [`BoundNest`], which runs any of its tiles, by any thread. Nothing else is asked of an executor, and
//! `run/compile.rs` is the only place that chooses one.

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

/// What runs loop nests on this machine.
pub(crate) trait Executor: fmt::Debug + Sync + UnwindSafe + RefUnwindSafe {
    /// Compiles a nest, of a graph with these constants, for the instructions of `level`.
    fn compile(
        &self,
        nest: &Arc<LoopNest>,
        constants: &Arc<[Array]>,
        level: Level,
    ) -> Arc<dyn NestCode>;

    /// Writes the numbers 0, 1, 2, ... in `dtype`, for nests that read counters.
    ///
    /// # Safety
    /// There is room for `length` elements from `first` on, which nobody else uses.
    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level);
}

/// A nest compiled by an executor, for arrays of any sizes and strides. What depends on sizes takes the
/// `nest` over those.
pub(crate) trait NestCode: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// How it runs over arrays of the sizes of `nest` and of these strides. `is_over_input` says which
    /// outputs of the graph lie exactly where an input lies; it is empty if none does. `None` where there is
    /// nothing to do.
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>>;

    /// What one element costs, in bytes that could be moved instead of computing it. What the nest reads
    /// and writes comes on top.
    fn cost(&self) -> usize;

    /// The most bytes of memory that a thread needs to run tiles.
    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize;

    /// The most bytes of memory that the threads of a run share: tiles leave there what
    /// [`BoundNest::finish`] makes results of.
    fn shared_bytes(&self, _nest: &SizedNest<'_>) -> usize {
        0
    }

    /// Writes the listing, with what `describe` makes of the arrays.
    ///
    /// # Errors
    /// When the formatter fails.
    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result;

    /// The machine code for arrays of these strides, listed for people with what `describe` makes of the
    /// arrays. It is made for that, and not kept.
    ///
    /// # Errors
    /// Why kernels run the nest.
    fn machine_code(
        &self,
        _nest: &Arc<LoopNest>,
        _strides: &[AxisStrides],
        _describe: &dyn Fn(&Access) -> String,
    ) -> Result<String, KernelFallback> {
        Err(KernelFallback::AskedFor)
    }

    /// Counts the memory that the code itself holds when it is compiled, without the nest.
    fn count_bytes(&self, held: &mut MemoryUse);

    /// The bytes of what has been made since then.
    fn made_bytes(&self) -> usize {
        0
    }
}

/// Why kernels run a nest, and machine code never does.
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
    /// There is no machine code for this processor.
    Processor,
    /// No operation is applied to what it moves or reduces.
    ComputesNothing,
    /// It finds where the smallest or largest elements of what lies in memory are.
    Searches,
    /// It adds elements where indices say.
    Scatters,
    /// It computes the indices by which it takes elements, or its function would be too large.
    NotCovered,
    /// There is nothing to do.
    NoElements,
    /// The system gives no executable memory.
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

/// Compiled code bound to strides: independent tiles, which cover the nest.
pub(crate) trait BoundNest: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// What is to be run instead, if there is anything better by now; asked once before a run, which weighs
    /// `work` bytes.
    fn instead(&self, _work: usize) -> Option<&dyn BoundNest> {
        None
    }

    /// The number of tiles.
    fn tiles(&self) -> usize;

    /// The most elements of a tile.
    fn tile_elements(&self) -> usize;

    /// Leaves in shared memory what all tiles read; called once, before them.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for all tiles.
    unsafe fn prepare(&self, _: &Bases<'_>) {}

    /// Runs some of the tiles.
    ///
    /// # Safety
    /// - the operands of `bases` are the places of the nest's stores and accesses at its first point; with
    ///   the strides that it was bound to every point is valid for reads, and for writes of the stores; so is
    ///   the shared memory, which nobody else uses;
    /// - no store overlaps another operand, but for those that it was told of, which lie exactly over an
    ///   access that moves as they do; nobody else uses the stores' elements in `tiles`;
    /// - the processor has the level for which the nest was compiled.
    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>);

    /// Makes results of what tiles have left in shared memory; called once, after all of them.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for all tiles; they have been run with the same bases.
    unsafe fn finish(&self, _: &Bases<'_>) {}

    /// Counts the memory that it holds beside the code.
    fn count_bytes(&self, held: &mut MemoryUse);
}

/// The memory of a run.
pub(crate) struct Bases<'a> {
    /// The addresses at the first point: the stores first, then the accesses.
    pub(crate) operands: &'a [*mut u8],
    /// What [`NestCode::shared_bytes`] asks for, which only this nest uses while it runs.
    pub(crate) shared: *mut u8,
}

// SAFETY: the addresses are of memory that the caller of `BoundNest::run` lends for the run; threads
// write disjoint tiles.
unsafe impl Sync for Bases<'_> {}

#[cfg(test)]
#[path = "../tests/unit/simple_executor.rs"]
mod simple_executor;
