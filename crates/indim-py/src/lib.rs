//! The Python package `indim`: its compiled part, the module `indim._indim`.
//!
//! Read in this order: `operand.rs` (what Python gives), `computation.rs` (what is compiled),
//! `run.rs` (how it runs), then `evaluate.rs` and `jit.rs` (what users call). Unsafe code stands only
//! in `numpy_api.rs`. The other half of the package, in Python, is in `python/indim/`.
#![deny(unsafe_code)]
#![warn(clippy::unwrap_used)]

mod argument;
mod asked;
mod cached_computation;
mod captured;
mod casting;
mod chunked;
mod computation;
mod derivative;
mod detached;
mod engine;
mod error;
mod evaluate;
mod held;
mod internal_error;
mod jit;
mod layout;
mod model;
#[expect(unsafe_code, reason = "NumPy's C interface")]
mod numpy_api;
mod operand;
mod out;
mod parameters;
mod pieces;
mod pool;
mod recorder;
mod rule;
mod rules;
mod run;
mod structure;
mod text_cache;
mod variants;
mod written;

use pyo3::prelude::*;

/// The compiled part of the package `indim`.
///
/// It asks for the interpreter's lock where an interpreter can do without: nobody has tested it there.
#[pymodule(gil_used = true)]
mod _indim {
    #[pymodule_export]
    use crate::chunked::{ChunkProgram, ChunkedProgram, Combination};
    #[pymodule_export]
    use crate::engine::{_graph_by_names, _graph_of_expression, _names_axes};
    #[pymodule_export]
    use crate::evaluate::{evaluate, re_evaluate, validate};
    #[pymodule_export]
    use crate::held::held_bytes;
    #[pymodule_export]
    use crate::internal_error::{_break_invariant, explain_error};
    #[pymodule_export]
    use crate::jit::CompiledFunction;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::pool::{
        _forget_threads, get_num_threads, limit_memory, set_memory_pool_limit, set_num_threads,
    };
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
        // Lazy statics are initialised now: a process forked during initialisation would wait forever.
        indim::internal_error::install_hook();
        indim::Level::detect();
        crate::numpy_api::prepare(module.py())?;
        crate::operand::prepare(module.py())?;
        crate::argument::prepare(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
