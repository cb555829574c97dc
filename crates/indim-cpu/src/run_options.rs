//! How one run is carried out. Read by `executable.rs`.

use core::fmt;
use core::ops::ControlFlow;

/// Hears how many elements have been computed since the last call, from any thread; stops the run by
/// `Break`.
pub type Progress<'a> = dyn Fn(usize) -> ControlFlow<()> + Sync + 'a;

/// How one run is carried out.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, RunOptions, compile};
/// use indim_graph::{DType, GraphBuilder};
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
    /// The most bytes that the run may hold beside the arrays it is given; a run that would hold more
    /// is refused before anything is allocated.
    ///
    /// Outputs in new memory, temporaries, and the registers of all threads count. Memory that is kept
    /// for later runs does not ([`keep_memory`](crate::keep_memory)).
    pub memory_limit: Option<usize>,
    /// Hears how far the run is, and may stop it.
    pub progress: &'a Progress<'a>,
}

impl Default for RunOptions<'_> {
    /// No limit, nobody listens.
    fn default() -> Self {
        RunOptions { memory_limit: None, progress: &|_| ControlFlow::Continue(()) }
    }
}

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = formatter.debug_struct("RunOptions");
        options.field("memory_limit", &self.memory_limit).finish_non_exhaustive()
    }
}
