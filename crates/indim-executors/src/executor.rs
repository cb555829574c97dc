//! The interface of an executor. Holds unsafe code.
//!
//! An [`Executor`] compiles a loop nest into [`NestCode`]. Bound to sizes and strides, the code is a
//! [`BoundNest`], whose tiles any thread may run. `indim-cpu` uses executors only through this interface, and
//! only its `run/compile.rs` chooses one.

use core::fmt;
use core::ops::{ControlFlow, Range};
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use indim_graph::Array;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::DType;
use indim_ops::Level;

/// A back end that compiles loop nests for this machine.
pub trait Executor: fmt::Debug + Sync + UnwindSafe + RefUnwindSafe {
    /// Compiles `nest` for `level`; `constants` are those of its graph.
    fn compile(
        &self,
        nest: &Arc<LoopNest>,
        constants: &Arc<[Array]>,
        level: Level,
    ) -> Arc<dyn NestCode>;

    /// Writes `length` numbers 0, 1, 2, ... of type `dtype`: a counter, which nests read.
    ///
    /// # Safety
    /// - `first` is valid for writes of `length` elements;
    /// - nothing else accesses them during the call.
    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level);
}

/// A loop nest compiled for arrays of any sizes and strides. Methods that depend on sizes take the nest with
/// its sizes, `nest`.
pub trait NestCode: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Binds the code to the sizes of `nest` and to `strides`. `is_over_input` tells for each output of the
    /// graph whether it lies exactly over an input; it is empty if no output does. Returns `None` for a nest
    /// without elements.
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>>;

    /// Cost of computing one element: the bytes that memory could move in the same time. The bytes that the
    /// nest reads and writes are not included.
    fn cost(&self) -> usize;

    /// Upper bound of the memory in bytes that one thread needs to run tiles.
    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize;

    /// Upper bound of the memory in bytes that the threads of a run share. [`BoundNest::prepare`] initialises
    /// it for tiles that read it; other tiles write partial results there, which [`BoundNest::finish`]
    /// combines.
    fn shared_bytes(&self, _nest: &SizedNest<'_>) -> usize {
        0
    }

    /// Other code for a tile of `nest` in a group of nests, which one thread runs; `None` if this code suits
    /// it. The tile differs from the nest in sizes.
    fn for_tile(&self, _nest: &LoopNest, _tile: &LoopNest) -> Option<Arc<dyn NestCode>> {
        None
    }

    /// Writes the listing; `describe` names the arrays.
    ///
    /// # Errors
    /// If the formatter fails.
    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result;

    /// The reason why the nest has no machine code, if it never has any.
    fn fallback(&self) -> KernelFallback {
        KernelFallback::Requested
    }

    /// The listing of the machine code for arrays with these strides; `describe` names the arrays. The code
    /// is generated for the listing and then dropped.
    ///
    /// # Errors
    /// The reason why kernels run the nest: [`NestCode::fallback`] for code that never has any.
    fn machine_code(
        &self,
        _nest: &Arc<LoopNest>,
        _strides: &[AxisStrides],
        _describe: &dyn Fn(&Access) -> String,
    ) -> Result<String, KernelFallback> {
        Err(self.fallback())
    }

    /// Counts the memory of the code at compile time. The nest is not included.
    fn count_bytes(&self, memory_use: &mut MemoryUse);

    /// Bytes of the machine code generated after compile time, of its recorded code and of the bindings
    /// to it.
    fn generated_bytes(&self) -> usize {
        0
    }
}

/// The reason why a nest has no machine code, so that kernels run it.
///
/// ```
/// use indim_executors::KernelFallback;
///
/// assert_eq!(KernelFallback::ArgReduction.to_string(), "it is an argmax or argmin of elements in memory");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelFallback {
    /// The options or the environment request kernels.
    Requested,
    /// The options request the baseline level on a processor that has more instructions.
    BaselineLevel,
    /// No code generator exists for this processor.
    Processor,
    /// The nest moves or reduces elements and applies no operation to them.
    NoOperation,
    /// The nest is an argmax or argmin of elements in memory.
    ArgReduction,
    /// The nest is a scatter.
    Scatter,
    /// The nest is a contraction, which runs by kernels of its own.
    Contraction,
    /// The nest is a scan.
    Scan,
    /// The nest is a sort.
    Sort,
    /// The nest is a search in a sorted table.
    SearchSorted,
    /// The nest is a loop or branch, which runs programs of its own.
    Control,
    /// The nest computes the indices of a gather, or its function would be too large.
    Unsupported,
    /// The nest has no elements.
    NoElements,
    /// The system refuses executable memory.
    Memory,
}

impl fmt::Display for KernelFallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            KernelFallback::Requested => "kernels were requested",
            KernelFallback::BaselineLevel => {
                "the requested level is the baseline, and machine code needs more instructions"
            }
            KernelFallback::Processor => "no code generator exists for this processor",
            KernelFallback::NoOperation => {
                "it applies no operation to the elements it moves or reduces"
            }
            KernelFallback::Scatter => "it is a scatter",
            KernelFallback::Contraction => "it is a contraction, which has kernels of its own",
            KernelFallback::Scan => "it is a scan, which has kernels of its own",
            KernelFallback::Sort => "it is a sort",
            KernelFallback::SearchSorted => "it is a search in a sorted table",
            KernelFallback::Control => "it is a loop or branch, which runs programs of its own",
            KernelFallback::ArgReduction => "it is an argmax or argmin of elements in memory",
            KernelFallback::Unsupported => {
                "it computes the indices of a gather, or is too large for one function"
            }
            KernelFallback::NoElements => "it has no elements",
            KernelFallback::Memory => "the system refuses executable memory",
        })
    }
}

/// A nest bound to sizes and strides, as tiles that are independent of each other.
pub trait BoundNest: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Counts a run of `work` bytes towards tier-up, and returns the faster code to run instead, if it
    /// exists. A run calls this once, before its first tile.
    fn tier_up(&self, _work: usize) -> Option<&dyn BoundNest> {
        None
    }

    /// Cost of a whole run in bytes moved, if it is less than usual for these addresses of the operands, such
    /// as for a scatter in place. `None` if it is the cost of the nest.
    fn work_for_addresses(&self, _operands: &[*mut u8]) -> Option<usize> {
        None
    }

    /// The same nest for runs after the first one on the same arrays, if it then does less work. Between the
    /// runs only this nest writes the arrays that its stores write. `None` if all runs are equal.
    fn for_later_runs(&self, _operands: &[*mut u8]) -> Option<Arc<dyn BoundNest>> {
        None
    }

    /// The same nest with operands packed for many runs; `is_constant` marks the operands that nothing writes
    /// during these runs. Takes the bytes of the packed operands, at most `spare_bytes`, from it. `None` if
    /// there is nothing to pack, or no memory for it. With `are_many`, also packs operands that a single run
    /// reads in place.
    ///
    /// # Safety
    /// - `operands` are the addresses of all runs of the result, at least for the marked operands;
    /// - until the result is dropped, the marked operands are valid for reads as in [`BoundNest::run`], and
    ///   nothing writes them;
    /// - the processor has the level for which the nest was compiled.
    unsafe fn with_packed_operands(
        &self,
        _operands: &[*mut u8],
        _is_constant: &[bool],
        _are_many: bool,
        _spare_bytes: &mut usize,
    ) -> Option<Arc<dyn BoundNest>> {
        None
    }

    /// The same nest, divided into other tiles for several threads; `None` if the tiles of this binding suit
    /// any number of threads. If it is `Some`, one thread alone runs the tiles of this binding, in order.
    fn split_for_threads(&self) -> Option<&dyn BoundNest> {
        None
    }

    /// A first pass over the operands, which some nests need: its tiles run before `prepare`, with the same
    /// bases.
    fn first_pass(&self) -> Option<&dyn BoundNest> {
        None
    }

    /// Number of tiles.
    fn tiles(&self) -> usize;

    /// Elements of a full tile.
    fn tile_elements(&self) -> usize;

    /// Initialises the shared memory that all tiles read, until `progress` stops the run. A run calls this
    /// once, before its first tile.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for all tiles, except that `prepare` has not run.
    unsafe fn prepare(&self, _: &Bases<'_>, _progress: &TileProgress<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Runs some of the tiles.
    ///
    /// # Safety
    /// - `bases.operands` are the addresses of the stores, then of the accesses, at the first point of the
    ///   nest;
    /// - with the strides of the binding, each access is valid for reads and each store for writes at every
    ///   point of `tiles`;
    /// - no two elements of a store share memory;
    /// - no store overlaps another operand, except stores for which `is_over_input` of the binding is true:
    ///   those lie exactly over an access with the same strides;
    /// - during the call no other thread accesses the elements that `tiles` write;
    /// - `bases.shared` is valid for `NestCode::shared_bytes`, and only this run of the nest accesses it;
    /// - all tiles of the first pass have run, if there is one, and `prepare` has returned, with the same
    ///   bases; nests in a group need neither;
    /// - the processor has the level for which the nest was compiled.
    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>);

    /// Runs some of the tiles until `progress` stops the run. A nest with tiles of more than a few
    /// milliseconds reports their elements while they run.
    ///
    /// # Safety
    /// Like [`BoundNest::run`].
    unsafe fn run_with_progress(
        &self,
        bases: &Bases<'_>,
        tiles: Range<usize>,
        progress: &TileProgress<'_>,
    ) -> ControlFlow<()> {
        let elements = tiles.len() * self.tile_elements();
        // SAFETY: the caller has the same obligations.
        unsafe { self.run(bases, tiles) }
        progress(elements)
    }

    /// Runs a nest of `work` bytes on this thread, until `progress` stops the run. A small nest, as in a step
    /// of a loop, costs about as much as a few virtual calls, so all its passes run in one.
    ///
    /// # Safety
    /// Like [`BoundNest::prepare`].
    unsafe fn run_whole(
        &self,
        work: usize,
        bases: &Bases<'_>,
        progress: &TileProgress<'_>,
    ) -> ControlFlow<()> {
        if let Some(faster) = self.tier_up(work) {
            // SAFETY: the caller has the same obligations; the faster code takes the same operands.
            return unsafe { faster.run_whole(work, bases, progress) };
        }
        // SAFETY: the caller has the obligations for all tiles; all tiles of the first pass run before
        // `prepare`, which returns before the first tile, and `finish` runs after the last one.
        unsafe {
            if let Some(first_pass) = self.first_pass() {
                first_pass.run_with_progress(bases, 0..first_pass.tiles(), progress)?;
            }
            self.prepare(bases, progress)?;
            self.run_with_progress(bases, 0..self.tiles(), progress)?;
            self.finish(bases);
        }
        ControlFlow::Continue(())
    }

    /// Combines the partial results in shared memory into the outputs. A run calls this once, after its last
    /// tile.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for all tiles;
    /// - all tiles have run, with the same bases.
    unsafe fn finish(&self, _: &Bases<'_>) {}

    /// Counts the memory of the binding. The code is not included.
    fn count_bytes(&self, memory_use: &mut MemoryUse);
}

/// Receives the number of elements computed since its last call, and may stop the run. Any thread may call
/// it.
pub type TileProgress<'a> = dyn Fn(usize) -> ControlFlow<()> + Sync + 'a;

/// The addresses of a run.
pub struct Bases<'a> {
    /// Addresses at the first point of the nest: the stores, then the accesses.
    pub operands: &'a [*mut u8],
    /// Memory of [`NestCode::shared_bytes`] bytes that the threads of the run share.
    pub shared: *mut u8,
}

// SAFETY:
// - the pointers are dereferenced only under the contract of `BoundNest::run`, which requires valid memory;
// - that contract excludes data races: threads run disjoint tiles, which write disjoint elements and disjoint
//   partial results.
unsafe impl Sync for Bases<'_> {}
