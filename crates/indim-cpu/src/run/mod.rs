//! Executables: compilation of graphs, binding to sizes, and runs on arrays.
//!
//! In reading order: `compile.rs` compiles a graph, with the executor of `choice.rs`; `compiled_program.rs`
//! is the program for any sizes, `compiled_nest.rs` one nest of it, `bound_program.rs` the program bound to
//! sizes, `groups.rs` its tiled groups, `scatter.rs` its scatters. `executable.rs` is the program of a
//! caller; `symbolic.rs` binds it to sizes, cached by `binding_cache.rs`. `options.rs`, `named.rs`,
//! `in_place.rs`, `overlap.rs`, `indices.rs` and `forecast.rs` prepare and check a run; `threads.rs`,
//! `chunks.rs` and `team.rs` distribute it to threads in the environment of `float_environment.rs`.
//! `error.rs` has the errors of a run.

mod binding_cache;
mod bound_program;
pub(crate) mod choice;
#[cfg(feature = "rayon")]
mod chunks;
pub(crate) mod compile;
pub(crate) mod compiled_nest;
mod compiled_program;
pub(crate) mod error;
pub(crate) mod executable;
pub(crate) mod float_environment;
pub(crate) mod forecast;
pub(crate) mod groups;
pub(crate) mod in_place;
mod indices;
mod named;
pub(crate) mod options;
mod overlap;
mod scatter;
pub(crate) mod symbolic;
#[cfg(feature = "rayon")]
mod team;
pub(crate) mod threads;
