//! Compilation of graphs, and runs over arrays.
//!
//! ```
//! use indim::run::{CompileOptions, RunOptions, Threads, compile};
//! use indim::{ArrayView, DType, GraphBuilder};
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [4])?;
//! let executable = compile(&b.finish(&[2 * x])?, &CompileOptions::default())?;
//!
//! let options = RunOptions::new().threads(Threads::Caller);
//! let x = ArrayView::from(&[1.0f32, 2.0, 3.0, 4.0]);
//! let results = executable.run_with(&[x], &options)?;
//! assert_eq!(results[0].to_string(), "[2. 4. 6. 8.]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(hidden)]
pub use indim_cpu::in_default_float_environment;
pub use indim_cpu::{
    CompileError, CompileOptions, Executable, ExecutorChoice, Forecast, InPlace, Level,
    MemoryPiece, NestTimes, Progress, RunError, RunOptions, SymbolicExecutable, Threads,
    UnknownExecutor, UnknownLevel, compile, compile_symbolic, compile_symbolic_with, compile_with,
};
