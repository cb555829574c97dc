//! Graphs over arrays in chunks: legal cuts, and the programs that run over the chunks.
//!
//! Arrays are cut into chunks along axes. Axes that an operation traverses together must be cut at the
//! same positions: they are one *cut* ([`Cuts`], `cuts.rs`). A reduction or contraction along a cut axis
//! ([`ChunkReduction`], `reduction.rs`) ends a stage: the chunks are reduced, their partial results are
//! combined in pairs ([`combine`], `partial.rs`), and a later stage reads the combined result ([`Stage`],
//! `stage.rs`; `demand.rs` finds the values that a stage computes). The program of a stage is a graph for
//! the sizes of one chunk (`template.rs`). Counters such as `iota` become parameters, so that they can be
//! cut too ([`CounterGraph`], `counters.rs`). A float sum can be cut within a block if its lanes are
//! carried from chunk to chunk (`lanes.rs`). Slices of inputs can be read instead of whole inputs
//! ([`SlicedGraph`], `sliced.rs`).

mod counters;
mod cuts;
mod demand;
mod lanes;
mod partial;
mod reduction;
mod sliced;
mod stage;
mod template;

pub use counters::CounterGraph;
pub use cuts::{Cut, CutPolicy, Cuts, axis_classes};
pub use demand::RereadLimit;
pub use lanes::{fold_lanes, lane_groups, run_length, whole_blocks};
pub use partial::{combine, partial_count};
pub use reduction::ChunkReduction;
pub use sliced::{InputSlice, SlicedGraph};
pub use stage::{Stage, StageInput, stages};
