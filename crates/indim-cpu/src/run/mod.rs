//! Executables: compilation of graphs, binding to sizes, and runs on arrays.
//!
//! Public interface:
//! - `executable.rs`: a graph compiled for one set of sizes;
//! - `symbolic.rs`: a graph compiled for any sizes, with its bindings cached by `binding_cache.rs`;
//! - `named.rs`, `in_place.rs`: runs with inputs by name, and with outputs written over inputs;
//! - `options.rs`, `forecast.rs`, `memory_piece.rs`, `error.rs`: options, memory and errors of a run.
//!
//! Compilation and binding:
//! - `choice.rs`: the option that names the executor; `compile.rs`: compiles a graph for that executor;
//! - `compiled_program.rs`: the program for any sizes;
//! - `bound_program.rs`: the program bound to sizes, and the run of its nests; `run_arrays.rs`: the arrays of
//!   a run; `repeated_run.rs`: repeated runs on the same arrays;
//! - `compiled_nest.rs`: one nest with its code;
//! - `scratch.rs`: memory for temporaries and counters (the numbers 0, 1, 2, ... that `iota` reads);
//! - `groups.rs`: groups of nests that run tile by tile; `group_cut.rs`: the choice of tiles;
//! - `control/`: loops and branches, which run programs of their own;
//! - `packed_constants.rs`: constant operands of contractions, packed once for all runs;
//! - `scatter/`, `contraction.rs`, `scan.rs`, `sort/`, `search.rs`: scatters, contractions, scans, sorts
//!   and searches in sorted tables, which no executor compiles; `scan_strips.rs`: the strips of scans.
//!
//! Strides, checks before a run, and threads:
//! - `output_order.rs`: memory order of new outputs; `dense_strides.rs`: row-major strides, without an
//!   allocation for a few axes;
//! - `overlap.rs`: arrays that share memory; `indices.rs`: indices out of range;
//! - `threads.rs`: distribution of tiles to threads; `chunks.rs`: chunks of tiles; `team.rs`: the helpers of
//!   a calling thread;
//! - `float_environment.rs`: the floating-point environment of each thread.

mod binding_cache;
mod bound_program;
pub(crate) mod choice;
#[cfg(feature = "rayon")]
mod chunks;
pub(crate) mod compile;
pub(crate) mod compiled_nest;
mod compiled_program;
mod contraction;
mod control;
mod dense_strides;
pub(crate) mod error;
pub(crate) mod executable;
pub(crate) mod float_environment;
pub(crate) mod forecast;
mod group_cut;
pub(crate) mod groups;
pub(crate) mod in_place;
mod indices;
pub(crate) mod memory_piece;
pub(crate) mod named;
pub(crate) mod options;
pub(crate) mod output_order;
mod overlap;
mod packed_constants;
mod repeated_run;
mod run_arrays;
mod scan;
mod scan_strips;
mod scatter;
mod scratch;
mod search;
mod sort;
pub(crate) mod symbolic;
#[cfg(feature = "rayon")]
mod team;
pub(crate) mod threads;
