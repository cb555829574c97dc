//! Programs over arrays larger than memory: read, computed and written piece by piece.
//!
//! `indim_transforms::chunks` cuts a graph into stages; each stage is one pass over its inputs. A job is a
//! stage with the storage of its inputs and outputs, or the copy of an input to an output. A `Pass` is a
//! job with the shape of its pieces and its compiled programs. The pieces of a stage are read, computed
//! and written in order, by three threads at the same time.
//!
//! Planning:
//! - `input.rs`: inputs, and the storage of inputs and outputs; `options.rs`: options of a run;
//! - `job.rs`: the jobs of a graph; `counter.rs`: element indices as an input;
//! - `extents.rs`: the largest piece shapes within a memory limit; `cost.rs`: the I/O cost of piece
//!   shapes;
//! - `plan.rs`: the plan that moves the fewest bytes.
//!
//! Running:
//! - `run.rs`: the run of a plan; `pipeline.rs`: its three threads; `programs.rs`: its compiled programs;
//! - `rows.rs`: the order in which a reduction reads its pieces; `pair_tree.rs`: combination of the results
//!   of neighbouring pieces; `carried.rs`: reductions whose pieces end within a block of the summation
//!   tree;
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
