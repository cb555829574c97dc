//! Programs over arrays larger than memory: read, computed and written piece by piece.
//!
//! A graph is cut as `indim_graph::chunks` says, into stages of which each goes once over what it reads. The
//! pieces of a stage are read, computed and written one after another, on three threads.
//!
//! - `input.rs`: what a program reads, and how what it reads and writes is stored; `options.rs`: what it may
//!   take;
//! - `job.rs`: the jobs of a graph, each one pass; `extents.rs`: the largest pieces of a job that fit a
//!   limit; `cost.rs`: how many bytes such pieces move;
//! - `counter.rs`: what counts elements; `plan.rs`: which axes are cut,
//!   so that the fewest bytes are moved;
//! - `programs.rs`: what runs on the pieces; `pipeline.rs`: reading, computing and writing at the same time;
//!   `rows.rs`: the order in which pieces are read; `pair_tree.rs`: results of neighbouring pieces,
//!   combined; `carried.rs`: sums whose pieces are cut within a block; `run.rs`: a plan carried out;
//! - `error.rs`: errors of plans and streamed runs.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod carried;
mod cost;
mod counter;
mod error;
mod extents;
mod input;
mod job;
mod options;
mod pair_tree;
mod pipeline;
mod plan;
mod programs;
mod rows;
mod run;

pub use error::{Obstacle, StreamError};
pub use input::{StorageInfo, StreamInput};
pub use options::StreamOptions;
pub use plan::Plan;
pub use run::run;
