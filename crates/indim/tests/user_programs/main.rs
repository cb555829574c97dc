//! User programs in the style of the crate's front page: each must compile unchanged.
//!
//! - `arrays_of_ndarray.rs`: arrays of ndarray in and out; `strided.rs`: outputs in memory of any layout;
//! - `errors.rs`: errors by `?`; `options.rs`: options of compilation and of runs;
//! - `network.rs`: a graph built in a loop; `regression.rs`: gradients;
//! - `one_call.rs`: `eval!`; `own_source.rs`: a source of one's own, streamed.
#![cfg(all(feature = "files", feature = "macros", feature = "ndarray"))]

mod arrays_of_ndarray;
mod errors;
mod network;
mod one_call;
mod options;
mod own_source;
mod regression;
mod strided;
