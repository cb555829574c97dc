//! Graphs over arrays that come in chunks: what may be cut, and which programs run over the chunks.
//!
//! Chunks are cut along axes. Axes that an operation walks together must be cut alike: they are one *cut*
//! ([`Cuts`], `cuts.rs`). What is reduced along an axis that is cut is computed in stages: the chunks are
//! reduced, their results are combined by pairs ([`combine`], `partial.rs`), and a later stage goes on with
//! what comes out ([`Stage`], `stage.rs`; which part of a graph it computes `demand.rs`). The program of a
//! stage is a graph for the sizes of one chunk (`template.rs`). What counts elements may be given by chunks
//! too ([`Counted`], `counted.rs`).

mod counted;
mod cuts;
mod demand;
mod partial;
mod stage;
mod template;

pub use counted::Counted;
pub use cuts::{Cut, CutPolicy, Cuts, meeting_axes};
pub use demand::RereadLimit;
pub use partial::{combine, partial_count};
pub use stage::{Stage, StageInput, stages};
