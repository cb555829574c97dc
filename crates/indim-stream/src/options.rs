//! Options of a streamed run: memory limit, compiler options and progress.

use core::fmt;
use core::ops::ControlFlow;

use indim_cpu::{CompileOptions, Progress};

/// Default memory limit, in bytes: larger pieces do not speed up reading from a disk.
const DEFAULT_BYTES: usize = 256 << 20;

/// Options for planning and running a streamed program.
///
/// ```
/// use indim_stream::StreamOptions;
///
/// let options = StreamOptions::new().memory_limit(64 << 20);
/// assert_eq!(options.input_bytes, 0);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct StreamOptions<'a> {
    /// Maximum memory of a run, in bytes: the pieces being read, computed and written, results kept between
    /// passes, scratch memory of sources and sinks, and compiled programs.
    pub memory_limit: usize,
    /// Memory that the caller holds for the inputs, in bytes; it counts towards the limit.
    pub input_bytes: usize,
    /// How programs are compiled.
    pub compile: CompileOptions,
    /// Called with the number of elements processed since the last call; it may stop the run.
    pub progress: &'a Progress<'a>,
}

impl Default for StreamOptions<'_> {
    /// A limit of 256 MiB, compiled for this processor, without progress.
    fn default() -> Self {
        StreamOptions {
            memory_limit: DEFAULT_BYTES,
            input_bytes: 0,
            compile: CompileOptions::default(),
            progress: &|_| ControlFlow::Continue(()),
        }
    }
}

impl<'a> StreamOptions<'a> {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The memory limit of the run in bytes.
    pub fn memory_limit(self, bytes: usize) -> Self {
        StreamOptions { memory_limit: bytes, ..self }
    }

    /// The memory of the caller for the inputs, in bytes, which counts towards the limit.
    pub fn input_bytes(self, input_bytes: usize) -> Self {
        StreamOptions { input_bytes, ..self }
    }

    /// The compiler options.
    pub fn compile(self, compile: CompileOptions) -> Self {
        StreamOptions { compile, ..self }
    }

    /// Receives the progress of the run and may stop it.
    pub fn progress(self, progress: &'a Progress<'a>) -> Self {
        StreamOptions { progress, ..self }
    }
}

impl fmt::Debug for StreamOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = formatter.debug_struct("StreamOptions");
        options.field("memory_limit", &self.memory_limit);
        options.field("input_bytes", &self.input_bytes);
        options.field("compile", &self.compile).finish_non_exhaustive()
    }
}
