//! How one run is carried out.

use core::fmt;
use core::ops::ControlFlow;

use indim_arrays::Order;

// Without the feature `rayon` no pool exists.
#[cfg(not(feature = "rayon"))]
use core::convert::Infallible as ThreadPool;
#[cfg(feature = "rayon")]
use rayon::ThreadPool;

/// Hears how many elements have been computed since the last call, from any thread; stops the run by
/// `Break`.
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
/// let options = RunOptions { progress: &progress, ..RunOptions::default() };
/// executable.run_with(&[ArrayView::from_slice([1000], &x)?], &options)?;
/// assert_eq!(done.into_inner(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Progress<'a> = dyn Fn(usize) -> ControlFlow<()> + Sync + 'a;

/// The threads that compute. The calling thread always does; others help where a nest has enough work, and
/// the call never waits for one to wake. A progress function may be called by any of them.
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
///     let options = RunOptions { threads, ..RunOptions::default() };
///     let results = executable.run_with(&[ArrayView::from_slice([1000], &x)?], &options)?;
///     assert_eq!(results[0].elements::<f32>().unwrap()[999], -1.0);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Threads<'a> {
    /// The calling thread, helped by the current rayon pool: the pool that the caller is a worker of, or else
    /// the global one. Together they are as many threads as the pool has. Without the feature `rayon` nobody
    /// helps.
    #[default]
    Current,
    /// The calling thread alone.
    Caller,
    /// The calling thread, helped by this pool; together as many threads as the pool has.
    Pool(&'a ThreadPool),
}

impl<'a> Threads<'a> {
    /// How many threads these are, with the caller.
    pub(crate) fn count(self) -> usize {
        match self {
            #[cfg(feature = "rayon")]
            Threads::Current => rayon::current_num_threads(),
            #[cfg(feature = "rayon")]
            Threads::Pool(pool) => pool.current_num_threads(),
            _ => 1,
        }
    }

    /// The pool that helps, where it is not the current one.
    #[cfg(feature = "rayon")]
    pub(crate) fn pool(self) -> Option<&'a ThreadPool> {
        match self {
            Threads::Pool(pool) => Some(pool),
            _ => None,
        }
    }
}

/// How one run is carried out.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, RunOptions, compile};
/// use indim_ops::DType;
/// use indim_builder::GraphBuilder;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [1000])?;
/// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
/// let options = RunOptions { memory_limit: Some(2000), ..RunOptions::default() };
///
/// let x = [1.0f32; 1000];
/// let error = executable.run_with(&[ArrayView::from_slice([1000], &x)?], &options).unwrap_err();
/// assert_eq!(error.code(), "memory-limit");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// In which order the elements of new outputs lie.
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
    ///     let options = RunOptions { order, ..RunOptions::default() };
    ///     let results = executable.run_with(&[ArrayView::from_slice([2, 3], &x)?], &options)?;
    ///     assert_eq!(results[0].strides(), strides);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub order: Order,
    /// The most bytes that the run may hold beside the arrays it is given; a run that would hold more
    /// is refused before anything is allocated.
    ///
    /// Outputs in new memory, temporaries, the registers of all threads, and the executable itself
    /// ([`Executable::held_bytes`](crate::Executable::held_bytes)) count; machine code that this run makes
    /// does from the next one on. Memory that is kept for later runs does not
    /// ([`set_memory_pool_limit`](crate::set_memory_pool_limit)).
    pub memory_limit: Option<usize>,
    /// The bytes of memory that the caller holds for the inputs and that are to count towards the limit.
    pub input_bytes: usize,
    /// Hears how far the run is, and may stop it.
    pub progress: &'a Progress<'a>,
    /// The threads that compute.
    pub threads: Threads<'a>,
}

impl Default for RunOptions<'_> {
    /// Row-major, no limit, nobody listens, the threads of the current pool.
    fn default() -> Self {
        RunOptions {
            order: Order::C,
            memory_limit: None,
            input_bytes: 0,
            progress: &|_| ControlFlow::Continue(()),
            threads: Threads::Current,
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
