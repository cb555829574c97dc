//! The Python package `indim`: its compiled part, the module `indim._indim`.
//!
//! Read in this order: `operand.rs` (arguments from Python), `computation.rs` (compilation), `run.rs`
//! (execution), then `evaluate.rs` and `jit.rs` (the functions that users call). Unsafe code stands only in
//! `numpy_api.rs`. The other half of the package, in Python, is in `python/indim/`.
//!
//! - `argument.rs`: the arguments of a compiled function: operands, static objects, and containers of both;
//! - `results_argument.rs`: the argument `results=` of `evaluate`, `validate` and `explain`: the requested
//!   results of a text, and their container;
//! - `cached_computation.rs`: the cache of computations and their compiled programs, and its memory limit;
//! - `captured.rs`: objects that a traced function read from outside its arguments, and checks that they
//!   are unchanged;
//! - `carried.rs`: writes programs of files, with copies of the nodes that indim lacks;
//! - `casting.rs`: NumPy's `casting`: the allowed casts of a result to the type of `out`;
//! - `chunked.rs`: programs over arrays in chunks, for `indim/_dask.py`: the legal cuts, the stages, and the
//!   program of each stage for given chunks;
//! - `detached.rs`: work without the interpreter's lock: other threads compute meanwhile, and Ctrl-C ends
//!   it;
//! - `engine.rs`: calls with arrays of other packages: Dask, Cubed, xarray and pandas;
//! - `error.rs`: errors as Python exceptions; their classes are in `indim/_errors.py`;
//! - `expression.rs`: the expression of a computation, as Python passes it: a text, or an operation;
//! - `expression_cache.rs`: the cache of computations of texts and eager operations;
//! - `lint.rs`: findings about the broadcasts of models, as `indim/_lint.py` returns them;
//! - `memory_use.rs`: the memory held by cached computations and their compiled programs;
//! - `internal_error.rs`: the boundary between Rust and Python: a panic becomes `indim.InternalError`;
//!   also the page of an error code, for `explain_error`;
//! - `model.rs`: programs read from files of other systems, as `indim/_models.py` loads them;
//! - `operation.rs`: eager operations, as the functions of the package call them on arrays;
//! - `order.rs`: NumPy's `order` argument;
//! - `out.rs`: the argument `out`: the caller's arrays for the results;
//! - `parameters.rs`: the parameters of a compiled function, and the arguments of a call in their order;
//! - `value_texts.rs`: the expression text of each value of a recording, for messages;
//! - `profile.rs`: times of the loop nests of runs, for `indim/_profile.py`;
//! - `progress.rs`: progress of long runs, for `indim/_progress.py`;
//! - `pool.rs`: the thread pool, made at its first use, with a size that users choose; the memory limit of a
//!   run;
//! - `recorder.rs`: recording the operations of a Python function, one by one, with their types;
//! - `regions.rs`: loops, branches and reductions as steps of a computation: recorded functions as their
//!   bodies;
//! - `rule.rs`: the rules by their names in Python;
//! - `rules.rs`: functions on rules: shapes, conversions between rule sets, explanations, the oracle;
//! - `structure.rs`: the container of several results, and of their arrays in `out`: none, a tuple, a list
//!   or a dict;
//! - `transformation.rs`: transformed functions as steps of a computation: derivatives, and the function for
//!   every element of a batch;
//! - `variants.rs`: the compiled variants of a computation, found by operand types;
//! - `written.rs`: writes programs in the formats of other systems, for `indim/_written.py`.
#![deny(unsafe_code)]
#![warn(clippy::unwrap_used)]

mod argument;
mod cached_computation;
mod captured;
mod carried;
mod casting;
mod chunked;
mod computation;
mod detached;
mod engine;
mod error;
mod evaluate;
mod expression;
mod expression_cache;
mod internal_error;
mod jit;
mod lint;
mod memory_use;
mod model;
#[expect(unsafe_code, reason = "NumPy's C interface")]
mod numpy_api;
mod operand;
mod operation;
mod order;
mod out;
mod parameters;
mod pool;
mod profile;
mod progress;
mod recorder;
mod regions;
mod results_argument;
mod rule;
mod rules;
mod run;
mod structure;
mod transformation;
mod value_texts;
mod variants;
mod written;

use pyo3::prelude::*;

/// The compiled part of the package `indim`.
///
/// It does not need the lock of the interpreter: its classes are frozen, its state is behind mutexes or
/// belongs to one thread, and no Python code runs under a mutex. `tests/test_free_threads.py` runs it in many
/// threads.
#[pymodule(gil_used = false)]
mod _indim {
    #[pymodule_export]
    use crate::carried::_write_carried;
    #[pymodule_export]
    use crate::chunked::{ChunkProgram, ChunkedProgram, Combination};
    #[pymodule_export]
    use crate::engine::{_graph_by_names, _graph_of_expression, _names_axes};
    #[pymodule_export]
    use crate::evaluate::{evaluate, re_evaluate, validate};
    #[pymodule_export]
    use crate::internal_error::{_break_invariant, explain_error};
    #[pymodule_export]
    use crate::jit::CompiledFunction;
    #[pymodule_export]
    use crate::lint::{_foreign_nodes, _lint};
    #[pymodule_export]
    use crate::memory_use::held_bytes;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::operation::_apply;
    #[pymodule_export]
    use crate::pool::{
        _forget_threads, get_num_threads, limit_memory, set_memory_pool_limit, set_num_threads,
    };
    #[pymodule_export]
    use crate::profile::{_end_profile, _start_profile};
    #[pymodule_export]
    use crate::recorder::Recorder;
    #[pymodule_export]
    use crate::rules::{
        _axis_functions, _compositions, _element_types, _explain_expression, _explain_shapes,
        _explain_types, _names_of, _operations, _verdict, _view_functions, broadcast_shapes,
        convert,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Initialise lazy statics now: a child that is forked while another thread initialises one would
        // wait for it forever.
        indim::internal_error::install_hook();
        indim::run::Level::detect();
        crate::numpy_api::prepare(module.py())?;
        crate::operand::prepare(module.py())?;
        crate::argument::prepare(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
