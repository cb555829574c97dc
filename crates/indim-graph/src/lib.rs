//! Graphs of array operations: nodes, verification, rewriting passes, and the reference
//! evaluator. `indim-builder` builds them.
//!
//! Read in this order: `graph.rs` (values and nodes), `verify.rs` (their invariants), `signature.rs` (what
//! each kind of node takes and gives), `passes/` (how graphs are rewritten), `eval.rs` (what they mean),
//! `sizes/` (for which sizes else they stand).
//!
//! - `array.rs`: dense arrays: the constants of a graph, and what the reference evaluator makes;
//! - `assemble.rs`: graphs from nodes that others describe: for builders, and readers of graphs in texts
//!   and files;
//! - `chunks/`: graphs over arrays that come in chunks: what may be cut, and which programs run over the
//!   chunks;
//! - `describe.rs`: descriptions of values without names: the piece of expression that computes each;
//! - `element_text.rs`: text of constants' elements, exact to the bit;
//! - `error.rs`: errors of graphs: typed data, one code each, drawn on request;
//! - `literal.rs`: numbers without an element type: from a text, or as an operand next to a value;
//! - `print.rs`: printing graphs;
//! - `reduce.rs`: reductions along one axis: what a `Reduce` node takes and gives;
//! - `terminal.rs`: text that others wrote - names, paths, what stood in a file - made fit for messages and
//!   terminals;
//! - `views/`: views and what is put together of parts: slices, concatenations, elements taken by their
//!   indices.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod array;
mod assemble;
pub mod chunks;
mod describe;
pub mod element_text;
mod error;
mod eval;
mod graph;
pub mod literal;
mod passes;
mod print;
mod reduce;
pub mod signature;
mod sizes;
pub mod terminal;
mod verify;
mod views;

pub use array::{Array, WrongElementCount};
pub use assemble::GraphAssembler;
pub use error::{GraphError, GraphErrorKind};
pub use eval::{EvalError, evaluate};
pub use graph::{Graph, Node, NodeKind, Operands, ValueId};
pub use literal::Literal;
pub use passes::{drop_bitcast_pairs, expand_for_loops, live_values, optimize, remove_unused};
pub use sizes::{GuardError, Guards, Size, SizeFacts, SymbolicCount, SymbolicGraph, count_of};
pub use verify::{VerifyError, VerifyErrorKind, verify};
pub use views::{AxisSlice, TakeMode};
