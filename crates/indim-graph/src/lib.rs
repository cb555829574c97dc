//! Graphs of array operations: nodes, verification, rewriting passes, and the reference
//! evaluator. `indim-builder` builds them.
//!
//! Read in this order: `graph.rs` (values and nodes), `verify.rs` (their invariants), `signature.rs` (what
//! each kind of node takes and gives), `passes/` (how graphs are rewritten), `eval.rs` (what they mean),
//! `sizes/` (for which sizes else they stand).
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
