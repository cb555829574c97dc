//! Options of a run.

use core::fmt;
use core::ops::{ControlFlow, Range};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use crate::run::output_order::Order;

// Without the feature `rayon` no pool exists.
#[cfg(not(feature = "rayon"))]
use core::convert::Infallible as ThreadPool;
#[cfg(feature = "rayon")]
use rayon::ThreadPool;

/// A callback for the progress of a run. It receives the number of elements computed since the last call. Any
/// thread may call it; `Break` stops the run.
///
/// ```
/// use core::ops::ControlFlow;
/// use core::sync::atomic::{AtomicUsize, Ordering};
/// use indim_cpu::{ArrayView, CompileOptions, RunOptions, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [1000])?;
/// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
/// let (x, done) = ([1.0f32; 1000], AtomicUsize::new(0));
/// let progress = |elements: usize| {
///     done.fetch_add(elements, Ordering::Relaxed);
///     ControlFlow::Continue(())
/// };
/// let options = RunOptions::new().progress(&progress);
/// executable.run_with(&[ArrayView::from_slice([1000], &x)?], &options)?;
/// assert_eq!(done.into_inner(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Progress<'a> = dyn Fn(usize) -> ControlFlow<()> + Sync + 'a;

/// A callback for the times of a run. The calling thread calls it after each loop nest that runs alone, and
/// after each group of nests that runs tile by tile, with the numbers of these nests and the time they took.
/// A loop or branch is one nest.
///
/// ```
/// use core::ops::Range;
/// use core::time::Duration;
/// use std::sync::Mutex;
/// use indim_cpu::{ArrayView, CompileOptions, RunOptions, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [1000])?;
/// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
/// let (x, times) = ([1.0f32; 1000], Mutex::new(Vec::new()));
/// let note = |nests: &Range<usize>, time: Duration| times.lock().unwrap().push((nests.clone(), time));
/// let options = RunOptions::new().nest_times(&note);
/// executable.run_with(&[ArrayView::from_slice([1000], &x)?], &options)?;
/// assert_eq!(times.into_inner().unwrap()[0].0, 0..1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type NestTimes<'a> = dyn Fn(&Range<usize>, Duration) + Sync + 'a;

/// The threads that compute. The calling thread always computes. Other threads help if a nest has enough
/// work; the call never waits for a thread to wake. Any of these threads may call the progress function.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, RunOptions, Threads, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [1000])?;
/// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
/// let x = [1.0f32; 1000];
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// for threads in [Threads::Current, Threads::Caller, Threads::Pool(&pool)] {
///     let options = RunOptions::new().threads(threads);
///     let results = executable.run_with(&[ArrayView::from_slice([1000], &x)?], &options)?;
///     assert_eq!(results[0].elements::<f32>().unwrap()[999], -1.0);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Threads<'a> {
    /// The calling thread and the current rayon pool: the pool that the caller belongs to, or else the global
    /// pool. Together they use as many threads as the pool has. Without the feature `rayon` the caller
    /// computes alone.
    #[default]
    Current,
    /// The calling thread alone.
    Caller,
    /// The calling thread and this pool; together they use as many threads as the pool has.
    Pool(&'a ThreadPool),
}

impl<'a> Threads<'a> {
    /// Number of threads, including the caller.
    pub(crate) fn count(self) -> usize {
        match self {
            #[cfg(feature = "rayon")]
            Threads::Current => rayon::current_num_threads(),
            #[cfg(feature = "rayon")]
            Threads::Pool(pool) => pool.current_num_threads(),
            _ => 1,
        }
    }

    /// The pool that helps; `None` for the current pool.
    #[cfg(feature = "rayon")]
    pub(crate) fn pool(self) -> Option<&'a ThreadPool> {
        match self {
            Threads::Pool(pool) => Some(pool),
            _ => None,
        }
    }
}

/// Options of a run.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, RunOptions, compile};
/// use indim_ops::DType;
/// use indim_builder::GraphBuilder;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [1000])?;
/// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
/// let options = RunOptions::new().memory_limit(2000);
///
/// let x = [1.0f32; 1000];
/// let error = executable.run_with(&[ArrayView::from_slice([1000], &x)?], &options).unwrap_err();
/// assert_eq!(error.code(), "memory-limit");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RunOptions<'a> {
    /// The order of elements in memory of new outputs.
    ///
    /// ```
    /// use indim_cpu::{ArrayView, CompileOptions, Order, RunOptions, compile};
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [2, 3])?;
    /// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
    /// let x = [1.0f32; 6];
    /// for (order, strides) in [(Order::C, [12, 4]), (Order::F, [4, 8]), (Order::K, [12, 4])] {
    ///     let options = RunOptions::new().order(order);
    ///     let results = executable.run_with(&[ArrayView::from_slice([2, 3], &x)?], &options)?;
    ///     assert_eq!(results[0].byte_strides(), strides);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub order: Order,
    /// Upper bound of the memory in bytes that the run may hold in addition to the arrays of the caller. A
    /// run that would exceed it fails before it allocates.
    ///
    /// The limit counts new outputs, temporaries, the virtual registers of all threads, and the executable
    /// itself ([`Executable::held_bytes`](crate::Executable::held_bytes)). Machine code that this run
    /// generates counts from the next run on. Memory pooled for later runs does not count
    /// ([`set_memory_pool_limit`](crate::set_memory_pool_limit)).
    pub memory_limit: Option<usize>,
    /// Memory of the caller for the inputs, in bytes. It counts towards the limit.
    pub input_bytes: usize,
    /// Receives the progress of the run and may stop it.
    pub progress: &'a Progress<'a>,
    /// The threads that compute.
    pub threads: Threads<'a>,
    /// Receives the time of each loop nest; without it no clock is read.
    pub nest_times: Option<&'a NestTimes<'a>>,
    /// Memory in bytes that the loops of the run may hold in addition to what the forecast counts; `None` for
    /// any amount.
    pub(crate) spare_bytes: Option<&'a AtomicUsize>,
}

impl Default for RunOptions<'_> {
    /// Row-major outputs, no limit, no progress function, the threads of the current pool.
    fn default() -> Self {
        RunOptions {
            order: Order::C,
            memory_limit: None,
            input_bytes: 0,
            progress: &|_| ControlFlow::Continue(()),
            threads: Threads::Current,
            nest_times: None,
            spare_bytes: None,
        }
    }
}

impl<'a> RunOptions<'a> {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The order of elements in memory of new outputs.
    pub fn order(self, order: Order) -> Self {
        RunOptions { order, ..self }
    }

    /// The memory limit of the run in bytes; `None` for no limit.
    pub fn memory_limit(self, bytes: impl Into<Option<usize>>) -> Self {
        RunOptions { memory_limit: bytes.into(), ..self }
    }

    /// Memory of the caller for the inputs, in bytes, which counts towards the limit.
    pub fn input_bytes(self, input_bytes: usize) -> Self {
        RunOptions { input_bytes, ..self }
    }

    /// Receives the progress of the run and may stop it.
    pub fn progress(self, progress: &'a Progress<'a>) -> Self {
        RunOptions { progress, ..self }
    }

    /// The threads that compute.
    pub fn threads(self, threads: Threads<'a>) -> Self {
        RunOptions { threads, ..self }
    }

    /// Receives the time of each loop nest.
    pub fn nest_times(self, nest_times: &'a NestTimes<'a>) -> Self {
        RunOptions { nest_times: Some(nest_times), ..self }
    }

    /// Calls `take` with the spare memory of the run in bytes, from which it may subtract. Returns the bytes
    /// taken, for [`RunOptions::return_spare_bytes`].
    pub(crate) fn take_spare_bytes(&self, take: impl FnOnce(&mut usize)) -> usize {
        let before = self.spare_bytes.map_or(usize::MAX, |bytes| bytes.load(Ordering::Relaxed));
        let mut rest = before;
        take(&mut rest);
        if let Some(bytes) = self.spare_bytes {
            bytes.store(rest, Ordering::Relaxed);
        }
        before - rest
    }

    /// Returns memory that has been freed.
    pub(crate) fn return_spare_bytes(&self, freed: usize) {
        if let Some(bytes) = self.spare_bytes {
            bytes.fetch_add(freed, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = formatter.debug_struct("RunOptions");
        options.field("order", &self.order);
        options.field("memory_limit", &self.memory_limit);
        options.field("input_bytes", &self.input_bytes);
        options.field("threads", &self.threads).finish_non_exhaustive()
    }
}
